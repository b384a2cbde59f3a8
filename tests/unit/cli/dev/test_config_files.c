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

/* falaj dev holds its ports until it ends; so does this program, by descriptors that nobody names. */
static void let_go(const struct dev *d)
{
    for (int fd = 3; fd < 64; fd++) {
        struct sockaddr_in at;
        socklen_t n = sizeof at;
        if (getsockname(fd, (struct sockaddr *)&at, &n) == 0 && at.sin_family == AF_INET && ntohs(at.sin_port) == d->port)
            close(fd);
    }
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

static void the_last_start_s_port_is_taken_again(void **state)
{
    (void)state;
    char folder[] = "/tmp/falaj-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/api.conf", folder);
    int64_t former = 0;
    for (int start = 0; start < 3; start++) {
        struct with_cli w;
        struct err e = { 0 };
        with_cli_init(&w);
        /* First any port, then that one by the file, then one that somebody else holds meanwhile. */
        struct dev d = { .c = &w.c, .arena = w.c.arena, .nzones = 1, .etc = folder, .is_port_fixed = start == 0 };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)former),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        if (start == 2)
            assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
        assert_int_equal(ports_choose(&d, &e), ERR_OK);
        if (start)
            assert_true((d.port == former) == (start == 1));
        former = d.port;
        FILE *f = fopen(path, "w");
        fprintf(f, "# x\napi.bind = 127.0.0.1\napi.port = %lld\napi.x = 1\n", (long long)former);
        fclose(f);
        close(fd);
        let_go(&d);
        with_cli_release(&w);
    }
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_chosen_port_is_nobody_else_s),
                                        cmocka_unit_test(the_last_start_s_port_is_taken_again) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
