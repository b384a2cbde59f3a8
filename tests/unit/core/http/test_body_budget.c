/* SPDX-License-Identifier: Apache-2.0 */
/* test_body_budget.c - who may have how much of the memory of bodies, at the edges. */
#include "net.h"
#include "core/http/body_budget.h"

enum { MIB = 1 << 20 };

static struct body_owner known(uint8_t id)
{
    return (struct body_owner){ .key = { id }, .n = SHARE_KEY_MAX, .is_known = true };
}

static void an_owner_leaves_as_much_as_it_has(void **state)
{
    (void)state;
    struct body_budget *b = body_budget_new(12 * MIB);
    struct body_owner one = known(1), two = known(2), three = known(3);
    struct body_hold h[4] = { 0 };
    assert_int_equal(body_budget_take(b, &one, 6 * MIB + 1, &h[0]), BODY_ALL_USED);
    assert_int_equal(body_budget_take(b, &one, 4 * MIB, &h[0]), BODY_TAKEN);
    assert_int_equal(body_budget_take(b, &one, 2 * MIB, &h[0]), BODY_TAKEN);       /* 6 of 12: a half, and no byte more */
    assert_int_equal(h[0].bytes, 6 * MIB);
    assert_int_equal(body_budget_take(b, &one, 1, &h[1]), BODY_SHARE_USED);
    assert_int_equal(body_budget_take(b, &two, 3 * MIB, &h[1]), BODY_TAKEN);
    assert_int_equal(body_budget_take(b, &two, 1, &h[1]), BODY_SHARE_USED);
    assert_int_equal(body_budget_take(b, &three, 2 * MIB, &h[2]), BODY_ALL_USED);
    assert_int_equal(body_budget_take(b, &three, MIB, &h[2]), BODY_TAKEN);
    assert_int_equal(body_budget_used(b, true), 10 * MIB);
    assert_int_equal(body_budget_refused(b, BODY_SHARE_USED), 2);
    assert_int_equal(body_budget_refused(b, BODY_ALL_USED), 2);
    for (int i = 0; i < 3; i++)
        body_budget_give(b, &h[i]);
    body_budget_give(b, &h[0]);                         /* it has nothing any more */
    assert_int_equal(body_budget_used(b, true), 0);
    assert_int_equal(body_budget_take(b, &three, 6 * MIB, &h[3]), BODY_TAKEN);
    body_budget_give(b, &h[3]);
    body_budget_free(b);
}

static void the_unknown_have_a_half_together(void **state)
{
    (void)state;
    enum { N = 64 };
    struct body_budget *b = body_budget_new(16 * MIB);
    struct body_hold h[N] = { 0 }, mine = { 0 };
    struct body_owner me = known(1);
    char address[32];
    int taken = 0;
    for (int i = 0; i < N; i++) {
        snprintf(address, sizeof address, "2001:db8:0:%x::%x", i, i);
        struct body_owner o = body_owner_address(str_c(address));
        taken += body_budget_take(b, &o, MIB, &h[i]) == BODY_TAKEN;
    }
    assert_int_equal(taken, 7);                         /* the eighth would leave nothing to others */
    assert_int_equal(body_budget_take(b, &me, 4 * MIB, &mine), BODY_TAKEN);
    body_budget_give(b, &mine);
    for (int i = 0; i < N; i++)
        body_budget_give(b, &h[i]);
    assert_int_equal(body_budget_used(b, false), 0);
    struct body_owner alone = body_owner_address(STR("192.0.2.1"));      /* BODY_LARGEST_IN */
    assert_int_equal(body_budget_take(b, &alone, 16 * MIB / BODY_LARGEST_IN, &mine), BODY_TAKEN);
    body_budget_give(b, &mine);
    body_budget_free(b);
}

static void an_address_is_one_owner(void **state)
{
    (void)state;
    static const struct { const char *one, *other; bool is_same; } cases[] = {
        { "192.0.2.1", "192.0.2.1", true }, { "192.0.2.1", "192.0.2.2", false }, { "192.0.2.1", "::ffff:192.0.2.1", true },
        { "2001:db8::1", "2001:db8::ffff:1", true }, { "2001:db8::1", "2001:db8:0:1::1", false }, { "unix", "unix", true },
        { "unix", "192.0.2.1", false }, { "", "unix", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct body_owner a = body_owner_address(str_c(cases[i].one)), b = body_owner_address(str_c(cases[i].other));
        assert_false(a.is_known);
        assert_int_equal(a.n == b.n && memcmp(a.key, b.key, a.n) == 0, cases[i].is_same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_leaves_as_much_as_it_has),
        cmocka_unit_test(the_unknown_have_a_half_together),
        cmocka_unit_test(an_address_is_one_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
