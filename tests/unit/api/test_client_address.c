/* SPDX-License-Identifier: Apache-2.0 */
/* test_client_address.c - only what trusted proxies wrote is believed, from the right; nothing that a client writes itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "api/client_address.h"

static void is(const char *proxies, const char *peer, const char *first, const char *second, const char *want)
{
    struct proxies p;
    struct err e = { 0 };
    struct http_header h[3] = { { STR("Host"), STR("x") } };
    size_t n = 1;
    assert_int_equal(proxies_parse(str_c(proxies), &p, &e), ERR_OK);
    if (first)
        h[n++] = (struct http_header){ STR("x-forwarded-for"), str_c(first) };
    if (second)
        h[n++] = (struct http_header){ STR("X-Forwarded-For"), str_c(second) };
    struct http_request r = { .remote_addr = str_c(peer), .headers = h, .nheaders = n };
    struct str got = client_address(&p, &r);
    if (!str_eq_c(got, want))
        fail_msg("%s behind %s: %.*s, not %s", first ? first : "", proxies, STR_ARG(got), want);
}

static void what_is_believed(void **state)
{
    (void)state;
    is("", "10.0.0.1", "198.51.100.7", NULL, "10.0.0.1");                       /* nobody is trusted */
    is("10.0.0.0/8", "192.0.2.1", "198.51.100.7", NULL, "192.0.2.1");           /* a client that is no proxy */
    is("10.0.0.0/8", "10.0.0.1", NULL, NULL, "10.0.0.1");
    is("10.0.0.0/8", "10.0.0.1", "198.51.100.7", NULL, "198.51.100.7");
    is("10.0.0.0/8", "10.0.0.1", "1.1.1.1, 198.51.100.7", NULL, "198.51.100.7");    /* the left one was the client's own word */
    is("10.0.0.0/8", "10.0.0.1", "1.1.1.1, 198.51.100.7, 10.0.0.2", NULL, "198.51.100.7");
    is("10.0.0.0/8", "10.0.0.1", "1.1.1.1", "198.51.100.7, 10.0.0.2", "198.51.100.7");  /* two headers are one list */
    is("10.0.0.0/8", "10.0.0.1", "198.51.100.7", "10.0.0.2", "198.51.100.7");
    is("10.0.0.0/8,192.0.2.7", "192.0.2.7", "10.0.0.9,10.0.0.2", NULL, "10.0.0.9");
    is("10.0.0.0/8", "::ffff:10.0.0.1", "2001:db8::5", NULL, "2001:db8::5");
    is("10.0.0.0/8", "10.0.0.1", "[2001:db8::5]:4711", NULL, "2001:db8::5");
    is("10.0.0.0/8", "10.0.0.1", "198.51.100.7:80", NULL, "198.51.100.7");
}

static void what_is_no_address_ends_it(void **state)
{
    (void)state;
    is("10.0.0.0/8", "10.0.0.1", "unknown", NULL, "10.0.0.1");
    is("10.0.0.0/8", "10.0.0.1", "", NULL, "10.0.0.1");
    is("10.0.0.0/8", "10.0.0.1", "198.51.100.7, , 10.0.0.2", NULL, "10.0.0.2");
    is("10.0.0.0/8", "10.0.0.1", "198.51.100.7, _hidden", NULL, "10.0.0.1");
    is("10.0.0.0/8", "unix", "198.51.100.7", NULL, "unix");
}

static void settings_that_are_refused(void **state)
{
    (void)state;
    struct proxies p;
    struct err e = { 0 };
    assert_int_equal(proxies_parse(STR("10.0.0.0/8, proxy"), &p, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "\"proxy\""));
    assert_int_equal(proxies_parse(STR("10.0.0.1/8"), &p, &e), ERR_INVALID);
    char many[33 * 9 + 1] = "10.0.0.1";
    for (int i = 1; i < 33; i++)
        strcat(many, ",10.0.0.1");
    assert_int_equal(proxies_parse(str_c(many), &p, &e), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_believed), cmocka_unit_test(what_is_no_address_ends_it),
                                        cmocka_unit_test(settings_that_are_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
