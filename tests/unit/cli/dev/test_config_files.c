/* SPDX-License-Identifier: Apache-2.0 */
/* test_config_files.c - a port that falaj dev chose stays its daemon's until that begins, however long it takes. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "with_cli.h"
#include "cli/dev/dev.h"

/* 0, or the errno of taking the port, as a daemon does (which reuses addresses) or as anybody else. */
static int take(int64_t port, bool as_daemon)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, failed = 0;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_true(fd >= 0);
    if (as_daemon)
        for (int option = 0; option < 2; option++)
            assert_int_equal(setsockopt(fd, SOL_SOCKET, option ? SO_REUSEPORT : SO_REUSEADDR, &on, sizeof on), 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1) != 0)
        failed = errno;
    close(fd);
    return failed;
}

static void a_chosen_port_is_nobody_else_s(void **state)
{
    (void)state;
    struct with_cli w;
    struct err e = { 0 };
    with_cli_init(&w);
    struct dev d = { .c = &w.c, .arena = w.c.arena, .nzones = 1 };
    assert_int_equal(ports_choose(&d, &e), ERR_OK);
    const int64_t ports[] = { d.port, d.worker_port, d.ops_port[DEV_SCHEDULER], d.ops_port[DEV_KEYD_OF(0)],
                              d.ops_port[DEV_WORKER_OF(0)] };
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        assert_int_equal(take(ports[i], false), EADDRINUSE);
        assert_int_equal(take(ports[i], true), 0);
        assert_int_equal(take(ports[i], true), 0);      /* and again: a daemon may be started anew */
    }
    with_cli_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_chosen_port_is_nobody_else_s) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
