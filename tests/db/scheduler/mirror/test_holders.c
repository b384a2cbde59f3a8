/* SPDX-License-Identifier: Apache-2.0 */
/* test_holders.c - which running attempts could be asked to make room. */
#include "scheduler/mirror/holders.h"
#include "core/db/run_tx.h"
#include "tests/db/scheduler/fixture.h"

static struct machine m;

FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 4, 0), NOTHING_MORE)

static size_t read_all(struct snap_holder *first)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.scheduler, .arena = a };
    struct holders h = { 0 };
    struct err *e = &(struct err){ 0 };
    assert_int_equal(RUN_SYSTEM(&w, f.scheduler.pool, TX_READ_ONLY, holders_read(&w, &h, e), e), ERR_OK);
    if (h.n)
        *first = h.items[0];
    const size_t n = h.n;
    arena_free(a);
    return n;
}

static void test_who(void **state)
{
    (void)state;
    struct lease_grant g;
    struct snap_holder h = { .slots = 0 };
    assert_int_equal(submit(&f, f.tenant_a, 1, 2, 3, NULL), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    assert_int_equal(read_all(&h), 0);  /* there is no class that goes before its own */
    fixture_exec(&f, "INSERT INTO priority_class (class, value) VALUES ('high', 10)");
    assert_int_equal(read_all(&h), 1);
    assert_true(uuid_eq(h.attempt_id, g.attempt_id) && h.slots == 2 && h.grace_s == 60 && !h.is_leaving && h.preempted == 0);
    assert_true(h.ran_ms >= 0 && h.lost_ms >= 0 && h.lost_ms <= h.ran_ms + 1000);
    fixture_exec(&f, "UPDATE job SET cancel_requested = true WHERE job_id IS NOT NULL");
    assert_int_equal(read_all(&h), 0);  /* it ends anyhow */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_who) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
