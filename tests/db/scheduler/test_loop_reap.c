/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop_reap.c - a turn ends what is over, once, and says when there is nothing left of it. */
#include "tests/db/scheduler/fixture.h"

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 4, 0), NOTHING_MORE)

static int64_t live(void)
{
    return fixture_count(&f, "SELECT count(*) FROM attempt WHERE live");
}

static void what_is_over_ends_once(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)64 << 20);
    bool more = true;
    assert_int_equal(submit(&f, f.tenant_a, 2, 1, 3, NULL), 2);
    assert_int_equal(plan(&f), 2);
    OK(loop_reap_once(&f.scheduler, a, &more, e));
    assert_int_equal(live(), 2);                /* their leases go on */
    fixture_exec(&f, "UPDATE attempt SET lease_until = leased_at");
    for (int i = 0; i < 2; i++) {
        more = true;
        OK(loop_reap_once(&f.scheduler, a, &more, e));
        assert_false(more);
        assert_int_equal(live(), 0);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued"), 2);
    }
    OK(loop_end_tenants_once(&f.scheduler, a, &more, e));
    assert_false(more);                         /* no tenant has ended */
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_over_ends_once) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
