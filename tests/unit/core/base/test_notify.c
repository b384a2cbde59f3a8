/* SPDX-License-Identifier: Apache-2.0 */
/* test_notify.c - what a service manager hears, over a real socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/base/notify.h"

/* A manager's socket at a name of its own; returns the descriptor. */
static int listen_at(const char *name)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    size_t n = strlen(name);
    memcpy(at.sun_path, name, n);
    if (*name == '@')
        *at.sun_path = 0;
    assert_int_equal(bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)), 0);
    setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

static void heard(int fd, const char *expected)
{
    char text[512];
    ssize_t n = recv(fd, text, sizeof text - 1, 0);
    if (!expected) {
        assert_int_equal(n, -1);
        assert_int_equal(errno, EAGAIN);
        return;
    }
    assert_true(n >= 0);
    text[n] = 0;
    assert_string_equal(text, expected);
}

static void tells(const char *name)
{
    int fd = listen_at(name);
    notify_ready("serves");
    heard(fd, "READY=1\nSTATUS=serves");
    notify_status("waits for PostgreSQL");
    heard(fd, "STATUS=waits for PostgreSQL");
    notify_stopping();
    heard(fd, "STOPPING=1");
    heard(fd, NULL);
    close(fd);
}

static void at_a_path_and_at_an_abstract_name(void **state)
{
    (void)state;
    char dir[] = "/tmp/falaj-notify-XXXXXX", path[64], name[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/socket", dir);
    tells(path);
    unlink(path);
    rmdir(dir);
    snprintf(name, sizeof name, "@falaj-notify-%d", (int)getpid());
    tells(name);
}

static void nobody_listens_and_nothing_happens(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "/", "relative", "/tmp/falaj-no-such-socket" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("NOTIFY_SOCKET", bad[i], 1);
        notify_ready("x");
    }
    unsetenv("NOTIFY_SOCKET");
    notify_ready("x");
}

static void the_watchdog_hears_at_most_each_quarter(void **state)
{
    (void)state;
    char name[64], pid[24];
    snprintf(name, sizeof name, "@falaj-watchdog-%d", (int)getpid());
    int fd = listen_at(name);
    notify_alive();
    heard(fd, NULL);
    assert_int_equal(notify_alive_ms(), -1);
    setenv("WATCHDOG_USEC", "3600000000", 1);
    setenv("WATCHDOG_PID", "1", 1);         /* meant for another process */
    notify_alive();
    heard(fd, NULL);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("WATCHDOG_PID", pid, 1);
    assert_int_equal(notify_alive_ms(), 900000);
    notify_alive();
    heard(fd, "WATCHDOG=1");
    for (int i = 0; i < 100; i++)
        notify_alive();
    heard(fd, NULL);
    setenv("WATCHDOG_USEC", "4", 1);
    notify_alive();
    heard(fd, "WATCHDOG=1");
    unsetenv("WATCHDOG_USEC");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_a_path_and_at_an_abstract_name),
        cmocka_unit_test(nobody_listens_and_nothing_happens),
        cmocka_unit_test(the_watchdog_hears_at_most_each_quarter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
