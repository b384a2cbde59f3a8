/* SPDX-License-Identifier: Apache-2.0 */
/* test_accept_budget.c - the burst and the pace of an address, by a clock of its own. */
#include "net.h"
#include <netinet/in.h>
#include "core/http/accept_budget.h"

static void an_address_has_its_pace(void **state)
{
    (void)state;
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0x20, 1, 0xd, 0xb8 } };
    struct sockaddr local = { .sa_family = AF_UNIX };
    const struct sockaddr *four = (const void *)&a, *v6 = (const void *)&six;
    struct accept_budget *b = accept_budget_new(2);
    int64_t now = 1000000000;
    for (int i = 0; i < 2 * ACCEPT_BURST_S; i++) {
        assert_true(accept_budget_take(b, four, now));
        six.sin6_addr.s6_addr[15]++;                /* all of one /64 */
        assert_true(accept_budget_take(b, v6, now));
    }
    assert_false(accept_budget_take(b, four, now));
    assert_false(accept_budget_take(b, v6, now));
    six.sin6_addr.s6_addr[7] = 1;
    assert_true(accept_budget_take(b, v6, now));
    assert_true(accept_budget_take(b, &local, now));
    assert_false(accept_budget_take(b, four, now + 499999));
    assert_true(accept_budget_take(b, four, now + 500000));
    assert_false(accept_budget_take(b, four, now + 500000));
    for (uint32_t i = 0; i < 100000; i++) {         /* strangers cost nobody a place that is not full */
        a.sin_addr.s_addr = htonl(0x0a000000 + i);
        assert_true(accept_budget_take(b, four, now + 600000));
    }
    accept_budget_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_address_has_its_pace) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
