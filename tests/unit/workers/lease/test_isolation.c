/* SPDX-License-Identifier: Apache-2.0 */
/* test_isolation.c - the leases of an agent that is root, and how accounts are given and taken back. */
#include "isolation_kit.h"

static void two_leases_of_one_agent_are_apart(void **state)
{
    (void)state;
    two_leases_are_apart(NULL);
}

static void an_account_is_one_lease_s_at_a_time(void **state)
{
    (void)state;
    enum { FEW = 4096 };
    struct err e;
    struct config *cfg = config_new_default();
    static uid_t taken[FEW];
    uid_t more;
    assert_int_equal(config_set(cfg, "worker.uid_count", "4096", &e), ERR_OK);
    struct isolation *i = isolation_new(cfg);
    assert_true(isolation_take(i, &taken[0]));
    if (!taken[0]) {
        assert_true(isolation_take(i, &more) && more == 0);
    } else {
        static bool seen[FEW];
        for (int n = 1; n < FEW; n++)
            assert_true(isolation_take(i, &taken[n]));
        for (int n = 0; n < FEW; n++) {
            assert_in_range(taken[n], BASE, BASE + FEW - 1);
            assert_false(seen[taken[n] - BASE]);
            seen[taken[n] - BASE] = true;
        }
        assert_false(isolation_take(i, &more));
        isolation_give(i, taken[7]);
        assert_true(isolation_take(i, &more) && more == taken[7]);
    }
    isolation_free(i);
    config_free(cfg);
}

static void without_a_range_all_are_nobody(void **state)
{
    (void)state;
    struct err e;
    struct config *cfg = config_new_default();
    uid_t uid = 1;
    assert_int_equal(config_set(cfg, "worker.uid_base", "0", &e), ERR_OK);
    struct isolation *i = isolation_new(cfg);
    assert_true(isolation_take(i, &uid) && uid == 0);
    isolation_give(i, uid);
    isolation_free(i);
    config_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(two_leases_of_one_agent_are_apart),
                                        cmocka_unit_test(an_account_is_one_lease_s_at_a_time),
                                        cmocka_unit_test(without_a_range_all_are_nobody) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
