/* SPDX-License-Identifier: Apache-2.0 */
/* test_servers.c - one of two servers takes connections and says nothing: it is asked once, not each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/base/str.h"
#include "core/db/session.h"
#include "tests/db/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CALLS = 4 };

static struct pg_harness *pg;
static struct err e;
static char silent_dir[] = "/tmp/falaj-silent-XXXXXX", path[64];
static char silent_host[64];        /* a link to it, whose name's hash shares its last bits with that of the other server */
static int silent_fd;

static struct str real_host(void)
{
    const char *words = pg_harness_conninfo(pg, NULL, NULL) + strlen("host=");
    return (struct str){ words, strcspn(words, " ") };
}

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    assert_non_null(mkdtemp(silent_dir));
    for (int i = 0; !i || (str_hash(str_c(silent_host)) - str_hash(real_host())) % 64; i++)
        snprintf(silent_host, sizeof silent_host, "%s/%d", silent_dir, i);
    assert_int_equal(symlink(silent_dir, silent_host), 0);
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", silent_dir);
    memcpy(at.sun_path, path, sizeof path);
    silent_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(silent_fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(silent_fd, 64), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(silent_fd);
    unlink(path);
    unlink(silent_host);
    rmdir(silent_dir);
    pg_harness_free(pg);
    return 0;
}

/* How many were taken by the kernel for the silent server since it was asked last. */
static int asked(void)
{
    int n = 0, fd;
    for (; (fd = accept(silent_fd, NULL, NULL)) >= 0; n++)
        close(fd);
    return n;
}

static enum errc reach(const char *hosts, const char *more)
{
    const char *rest = strchr(pg_harness_conninfo(pg, NULL, NULL), ' ');
    char words[400];
    snprintf(words, sizeof words, "host=%s%s connect_timeout=2 %s", hosts, rest, more);
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    TRY(db_session_new(words, "test", 0, &s, &e));
    return db_session_alive(s, &e);
}

static const char *with_silent(char buf[300], bool is_first)
{
    const struct str real = real_host();
    if (is_first)
        snprintf(buf, 300, "%s,%.*s", silent_host, (int)real.len, real.ptr);
    else
        snprintf(buf, 300, "%.*s,%s", (int)real.len, real.ptr, silent_host);
    return buf;
}

static void test_silent_server_is_asked_once(void **state)
{
    (void)state;
    char buf[300];
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(reach(with_silent(buf, true), ""), ERR_OK);
    assert_int_equal(asked(), 1);
    /* Who took a connection last is first, wherever it stands. */
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(reach(with_silent(buf, i % 2), ""), ERR_OK);
    assert_int_equal(asked(), 0);
}

static void test_none_takes_it(void **state)
{
    (void)state;
    char buf[300];
    /* The other one is there and is no standby: what it said is told. */
    assert_int_equal(reach(with_silent(buf, true), "target_session_attrs=standby"), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.detail, "standby"));
    assert_int_equal(reach("/nowhere/a,/nowhere/b", ""), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.detail, "/nowhere/a"));
    assert_non_null(strstr(e.detail, "/nowhere/b"));
    /* As many ports as servers, or one: libpq says so. */
    assert_int_equal(reach(with_silent(buf, true), "port=1,2,3"), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.detail, "port"));
    assert_int_equal(reach("one=two", ""), ERR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_server_is_asked_once),
        cmocka_unit_test(test_none_takes_it),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
