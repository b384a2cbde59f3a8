/* SPDX-License-Identifier: Apache-2.0 */
/* test_cidr.c - networks at their edges, in both families, and everything that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/access/cidr.h"

static bool in(const char *net, const char *address)
{
    struct cidr c;
    assert_true(cidr_parse(str_c(net), &c));
    return cidr_has(&c, str_c(address));
}

static void edges(void **state)
{
    (void)state;
    assert_true(in("192.0.2.0/24", "192.0.2.0") && in("192.0.2.0/24", "192.0.2.255"));
    assert_false(in("192.0.2.0/24", "192.0.3.0") || in("192.0.2.0/24", "192.0.1.255"));
    assert_true(in("192.0.2.128/25", "192.0.2.128") && !in("192.0.2.128/25", "192.0.2.127"));
    assert_true(in("10.0.0.0/9", "10.127.255.255") && !in("10.0.0.0/9", "10.128.0.0"));
    assert_true(in("192.0.2.7", "192.0.2.7") && !in("192.0.2.7", "192.0.2.6"));
    assert_true(in("0.0.0.0/0", "255.255.255.255") && !in("0.0.0.0/0", "2001:db8::1"));
    assert_true(in("2001:db8::/33", "2001:db8:7fff::1") && !in("2001:db8::/33", "2001:db8:8000::"));
    assert_true(in("::1", "::1") && !in("::1", "::2"));
    assert_true(in("::/0", "2001:db8::1"));
}

static void an_ipv4_address_in_ipv6_clothes_is_the_same(void **state)
{
    (void)state;
    assert_true(in("192.0.2.0/24", "::ffff:192.0.2.9") && in("::ffff:192.0.2.0/120", "192.0.2.9"));
    assert_false(in("192.0.2.0/24", "::192.0.2.9"));
}

static void what_is_no_network(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "/", "/8", "192.0.2.0/", "192.0.2.0/33", "192.0.2.0/-1", "192.0.2.0/24/8", "192.0.2.1/24", "192.0.2",
                                       "192.0.2.256", "2001:db8::/129", "2001:db8::1/32", "localhost", "192.0.2.0 /24", "1.2.3.4/08x" };
    struct cidr c;
    const char *why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cidr_parse(str_c(bad[i]), &c));
        assert_false(check_cidr(str_c(bad[i]), &why));
    }
    assert_false(cidr_parse(str_n("192.0.2.0\0/24", 13), &c));
}

static void what_is_no_address_is_in_no_network(void **state)
{
    (void)state;
    struct cidr all;
    assert_true(cidr_parse(STR("::/0"), &all));
    assert_false(cidr_has(&all, STR_NULL) || cidr_has(&all, STR("")) || cidr_has(&all, STR("unix")) || cidr_has(&all, STR("1.2.3.4:80")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges), cmocka_unit_test(an_ipv4_address_in_ipv6_clothes_is_the_same), cmocka_unit_test(what_is_no_network),
        cmocka_unit_test(what_is_no_address_is_in_no_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
