/* SPDX-License-Identifier: Apache-2.0 */
/* test_servers.c - one of two servers takes connections and says nothing: it is asked once, not each time, and
 * holds nobody up. */
#include "core/base/str.h"
#include "silent_kit.h"

enum { CALLS = 4 };

static struct pg_harness *pg;
static struct err e;
static char silent_host[64];        /* its name's hash shares its last bits with that of the other server */

static struct str real_host(void)
{
    const char *words = pg_harness_conninfo(pg, NULL, NULL) + strlen("host=");
    return (struct str){ words, strcspn(words, " ") };
}

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    silent_start();
    for (int i = 0; !i || (str_hash(str_c(silent_host)) - str_hash(real_host())) % 64; i++)
        silent_name(silent_host, i);
    silent_link(silent_host);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    silent_stop(silent_host);
    pg_harness_free(pg);
    return 0;
}

static enum errc reach(const char *hosts, const char *more)
{
    return silent_reach(pg, hosts, more, &e);
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
    assert_int_equal(silent_asked(), 1);
    /* Who took a connection last is first, wherever it stands. */
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(reach(with_silent(buf, i % 2), ""), ERR_OK);
    assert_int_equal(silent_asked(), 0);
}

static void test_none_takes_it(void **state)
{
    (void)state;
    char buf[300];
    /* The other one is there and is no standby: what it said is told. */
    assert_int_equal(reach(with_silent(buf, true), "target_session_attrs=standby connect_timeout=2"), ERR_UNAVAILABLE);
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
