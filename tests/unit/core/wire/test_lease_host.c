/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_host.c - the name of a lease's process: one per attempt and zone, and of nothing but what a name may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/wire/lease_host.h"

static void a_lease_has_one_name(void **state)
{
    (void)state;
    const struct uuid id = { { 1, 2, 3, [15] = 0xff } };
    char host[LEASE_HOST_MAX], longest[LEASE_HOST_ZONE_MAX + 2];
    assert_true(lease_host(id, STR("ae-dxb-1"), host));
    assert_string_equal(host, "010203000000000000000000000000ff.ae-dxb-1.lease.falaj.internal");
    memset(longest, 'z', sizeof longest);
    assert_true(lease_host(id, str_n(longest, LEASE_HOST_ZONE_MAX), host));
    assert_int_equal(strlen(host) + 1, LEASE_HOST_MAX);
    static const char *const bad[] = { "", "a.b", "A", "a b", "a/b", "a*", "a\n", "\xc3\xa9" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(lease_host(id, str_c(bad[i]), host));
    assert_false(lease_host(id, str_n(longest, LEASE_HOST_ZONE_MAX + 1), host));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_lease_has_one_name) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
