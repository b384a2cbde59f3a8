/* SPDX-License-Identifier: Apache-2.0 */
/* test_dial.c - which addresses a reach has, and that a refused one is not connected to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/base/cleanup.h"
#include "workers/lease/dial.h"
#include "workers/lease/sandbox.h"

static bool may(enum pull_reach reach, const char *text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return dial_may(reach, (const struct sockaddr *)(const void *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return dial_may(reach, (const struct sockaddr *)(const void *)&v6);
}

static void each_reach_has_its_addresses(void **state)
{
    (void)state;
    static const struct { const char *address; int least; } rows[] = {
        { "8.8.8.8", PULL_PUBLIC }, { "172.32.0.1", PULL_PUBLIC }, { "100.128.0.1", PULL_PUBLIC }, 
        { "2606:4700::1", PULL_PUBLIC },
        { "10.1.2.3", PULL_PRIVATE }, { "172.31.255.255", PULL_PRIVATE }, { "192.168.0.1", PULL_PRIVATE },
        { "100.64.0.1", PULL_PRIVATE }, { "fd00::1", PULL_PRIVATE }, { "127.0.0.1", PULL_LOCAL }, { "127.9.9.9", PULL_LOCAL },
        { "::1", PULL_LOCAL }, { "169.254.169.254", 9 }, { "0.0.0.0", 9 }, { "224.0.0.1", 9 }, { "255.255.255.255", 9 },
        { "fe80::1", 9 }, { "ff02::1", 9 }, { "::", 9 }, { "::ffff:127.0.0.1", 9 }, { "::ffff:8.8.8.8", 9 }, 
        { "64:ff9b::a00:1", 9 },
        { "168.63.129.16", 9 }, { "168.63.129.17", PULL_PUBLIC }, { "100.100.100.200", 9 }, { "fd00:ec2::254", 9 },
        { "fd20:ce::254", 9 }, { "2002:a00:1::", 9 }, { "2001:db8::1", 9 }, { "198.18.0.1", 9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int reach = PULL_PUBLIC; reach <= PULL_LOCAL; reach++)
            if (may((enum pull_reach)reach, rows[i].address) != (reach >= rows[i].least))
                fail_msg("%s at %s", rows[i].address, pull_reach_names[reach]);
}

static void who_listens_is_reached_where_the_reach_says_so(void **state)
{
    (void)state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    CLEANUP(fd_closep) int listener = socket(AF_INET, SOCK_STREAM, 0), fd = -1;
    struct err e = { 0 };
    assert_int_equal(bind(listener, (const struct sockaddr *)(const void *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)(void *)&at, &n), 0);
    const int port = ntohs(at.sin_port);
    assert_int_equal(dial("localhost", port, PULL_PRIVATE, &fd, &e), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "does not let machines reach (reach private)"));
    assert_int_equal(dial("127.0.0.1", port, PULL_LOCAL, &fd, &e), ERR_OK);
    assert_true(fd >= 0);
    fd_closep(&listener);
    fd_closep(&fd);
    assert_int_equal(dial("127.0.0.1", port, PULL_LOCAL, &fd, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "does not answer"));
    assert_int_equal(dial("nobody.invalid", port, PULL_LOCAL, &fd, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "cannot be looked up"));
}

/* What the child does with a connection that it was given: it can neither be turned elsewhere nor asked for anew. */
static int turn_elsewhere(int given, const struct sockaddr_in *to)
{
    const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
    struct sockaddr_in peer;
    socklen_t n = sizeof peer;
    struct err e = { 0 };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || sandbox_keep_peers(&e) != ERR_OK)
        return 2;
    if (connect(given, &nowhere, sizeof nowhere) == 0 || errno != EINPROGRESS ||
        connect(given, (const struct sockaddr *)(const void *)to, sizeof *to) == 0 || errno != EINPROGRESS)
        return 3;
    return getpeername(given, (struct sockaddr *)(void *)&peer, &n) == 0 && peer.sin_port == to->sin_port ? 0 : 4;
}

static void a_socket_that_was_given_keeps_its_peer(void **state)
{
    (void)state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    CLEANUP(fd_closep) int listener = socket(AF_INET, SOCK_STREAM, 0), given = -1;
    struct err e = { 0 };
    int status = -1;
    assert_int_equal(bind(listener, (const struct sockaddr *)(const void *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)(void *)&at, &n), 0);
    assert_int_equal(dial("127.0.0.1", ntohs(at.sin_port), PULL_LOCAL, &given, &e), ERR_OK);
    pid_t pid = fork();
    if (pid == 0)
        _exit(turn_elsewhere(given, &at));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_reach_has_its_addresses),
        cmocka_unit_test(who_listens_is_reached_where_the_reach_says_so),
        cmocka_unit_test(a_socket_that_was_given_keeps_its_peer) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
