/* SPDX-License-Identifier: Apache-2.0 */
/* test_ends.c - when attempts will have ended: by their limit, by what their like took, after their grace, never. */
#include "scheduler/mirror/ends.h"
#include "core/db/run_tx.h"
#include "tests/db/scheduler/fixture.h"

#include <string.h>

static const int64_t SECOND_US = 1000000;
static struct machine m[2];

FIXTURE_GROUP((machine_up(&f, &m[0], "ae-dxb-1", "w1", 4, 0), machine_up(&f, &m[1], "ae-dxb-1", "w2", 4, 0),
               fixture_exec(&f, "UPDATE node SET gangs = true")),
              NOTHING_MORE)

/* In seconds from a moment that is the caller's. */
static size_t read_all(struct snap_end *ret, size_t most)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.scheduler, .arena = a };
    struct ends r = { 0 };
    struct err *e = &(struct err){ 0 };
    assert_int_equal(RUN_SYSTEM(&w, f.scheduler.pool, TX_READ_ONLY, ends_read(&w, 1000 * SECOND_US, &r, e), e), ERR_OK);
    assert_true(r.n <= most);
    memcpy(ret, r.items, r.n * sizeof *ret);
    arena_free(a);
    return r.n;
}

static int done(void **state)
{
    (void)state;
    fixture_end_all(&f);
    return 0;
}

static void one_ends_by_its_limit_or_as_its_like_did(void **state)
{
    (void)state;
    struct snap_end end[2];
    struct lease_grant g[4];
    submit(&f, f.tenant_a, 3, 2, 3, NULL);
    assert_int_equal(plan(&f), 3);
    for (size_t i = 0; i < 2; i++)
        run_through(&f, &m[i], g, take(&f, &m[i], 4, g));
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 500 WHERE queued");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(read_all(end, 2), 1);      /* the others took less than it has run */
    assert_true(end[0].is_first && end[0].all_slots == 2 && end[0].ask.slots == 2);
    assert_true(uuid_eq(end[0].tenant_id, f.tenant_a));
    assert_true(end[0].ends_us > 1300 * SECOND_US && end[0].ends_us <= 1500 * SECOND_US);
    fixture_exec(&f, "UPDATE job SET started_at = now() - interval '1 hour', finished_at = now() - interval '1 hour'"
                     " + interval '200 seconds' WHERE ended = 'COMPLETED'");
    assert_int_equal(read_all(end, 2), 1);
    assert_true(end[0].ends_us > 1100 * SECOND_US && end[0].ends_us <= 1200 * SECOND_US);
}

static void who_was_told_to_go_ends_after_its_grace(void **state)
{
    (void)state;
    struct snap_end end[2];
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    assert_int_equal(plan(&f), 1);
    fixture_exec(&f, "UPDATE attempt SET evict_until = clock_timestamp() + interval '300 seconds',"
                     " evict_for = job_id, evict_why = 'a test'");
    assert_int_equal(read_all(end, 2), 1);
    assert_true(end[0].ends_us > 1200 * SECOND_US && end[0].ends_us <= 1300 * SECOND_US);
}

static void what_stays_has_no_end(void **state)
{
    (void)state;
    struct snap_end end[2];
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    assert_int_equal(plan(&f), 1);
    fixture_exec(&f, "UPDATE job SET kind = 'serve'");
    assert_int_equal(read_all(end, 2), 1);
    assert_true(end[0].ends_us == INT64_MAX);
}

static void a_gang_has_a_row_for_each_machine(void **state)
{
    (void)state;
    struct snap_end end[4];
    submit(&f, f.tenant_b, 1, 3, 3, NULL);
    fixture_exec(&f, "UPDATE job SET nodes = 2 WHERE queued");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(read_all(end, 4), 2);
    const size_t first = end[0].is_first ? 0 : 1;
    assert_true(end[first].is_first && !end[1 - first].is_first);
    assert_true(end[first].all_slots == 6 && end[1 - first].all_slots == 0 && end[0].ask.slots == 3 && end[1].ask.slots == 3);
    assert_false(uuid_eq(end[0].node_id, end[1].node_id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_ends_by_its_limit_or_as_its_like_did, done),
        cmocka_unit_test_teardown(who_was_told_to_go_ends_after_its_grace, done),
        cmocka_unit_test_teardown(what_stays_has_no_end, done),
        cmocka_unit_test_teardown(a_gang_has_a_row_for_each_machine, done),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
