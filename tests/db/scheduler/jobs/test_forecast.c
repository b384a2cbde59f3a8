/* SPDX-License-Identifier: Apache-2.0 */
/* test_forecast.c - the place of a job among its tenant's is the planner's order, and when it may start is told where it is
 * known. What a check says is compared with submissions by tests/http/routes/job_forecast.test.ts. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/forecast.h"

static struct machine one;
FIXTURE_GROUP(machine_up(&f, &one, "ae-dxb-1", "one", 8, 0), NOTHING_MORE)

static struct job_wait wait_of(struct uuid job_id, struct work *w)
{
    struct job j;
    struct job_wait ret;
    *w = fixture_reader(&f, f.tenant_a);
    w->now_us = clock_wall_us(&clock_system);
    OK(job_get(w, job_id, &j, e));
    OK(forecast_wait(w, &j, &ret, e));
    return ret;
}

static int64_t position_of(struct uuid job_id)
{
    struct work w;
    const int64_t n = wait_of(job_id, &w).position;
    fixture_reader_done(&w);
    return n;
}

static void the_value_of_the_class_goes_before_priority(void **state)
{
    (void)state;
    struct uuid ids[4];
    char hex[4][UUID_TEXT];
    fixture_exec(&f, "INSERT INTO priority_class (class, value) VALUES ('urgent', 10), ('night', -10)");
    assert_int_equal(submit(&f, f.tenant_a, 4, 1, 3, ids), 4);
    for (int i = 0; i < 4; i++)
        uuid_text(ids[i], hex[i]);
    fixture_exec(&f, "UPDATE job SET class = 'urgent', priority = -1 WHERE job_id = '%s'", hex[3]);
    fixture_exec(&f, "UPDATE job SET class = 'night', priority = 1000 WHERE job_id = '%s'", hex[0]);
    fixture_exec(&f, "UPDATE job SET priority = 5 WHERE job_id = '%s'", hex[2]);
    assert_int_equal(position_of(ids[3]), 1);
    assert_int_equal(position_of(ids[2]), 2);
    assert_int_equal(position_of(ids[1]), 3);
    assert_int_equal(position_of(ids[0]), 4);
    fixture_exec(&f, "DELETE FROM priority_class WHERE class IN ('urgent', 'night')");     /* then they count as of 0 */
    assert_int_equal(position_of(ids[0]), 1);
    assert_int_equal(position_of(ids[3]), 4);
    for (int i = 0; i < 4; i++)
        cancel_job(&f, f.tenant_a, ids[i]);
}

static int64_t window_end(void)
{
    return fixture_count(&f, "SELECT (extract(epoch FROM until_at) * 1000000)::bigint FROM reservation");
}

static void a_start_is_told_where_it_is_known(void **state)
{
    (void)state;
    struct uuid first, second;
    struct work w;
    char hex[UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 1, 6, 3, &first), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(submit(&f, f.tenant_a, 1, 4, 3, &second), 1);
    struct job_wait x = wait_of(second, &w);
    assert_true(str_eq_c(x.code, "Resources"));
    assert_true(str_eq_c(x.room.nearest.lacks, "asked 4 slots, it has 2 free"));
    assert_true(str_eq_c(x.start.basis, "room"));
    const int64_t left_s = (x.start.at.us - clock_wall_us(&clock_system)) / 1000000;
    assert_in_range(left_s, 0, 61);             /* its max_runtime_s is 60 */
    fixture_reader_done(&w);
    fixture_exec(&f, "WITH r AS (INSERT INTO reservation (reservation_id, purpose, from_at, until_at) VALUES (gen_random_uuid(),"
                     " 'maintenance', now() + interval '1 day', now() + interval '2 days') RETURNING reservation_id)"
                     " INSERT INTO reservation_machine SELECT r.reservation_id, n.node_id FROM r, node n");
    x = wait_of(second, &w);
    assert_true(str_eq_c(x.start.basis, "room"));       /* it will have ended by then */
    fixture_reader_done(&w);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = CASE WHEN queued THEN 1800 ELSE 3600 END");
    fixture_exec(&f, "UPDATE reservation SET from_at = now() + interval '3630 s'");
    x = wait_of(second, &w);
    /* There is room within an hour, and too little time behind it: behind the window then. */
    assert_true(str_eq_c(x.start.basis, "room"));
    assert_int_equal(x.start.at.us, window_end());
    fixture_reader_done(&w);
    fixture_exec(&f, "UPDATE job SET slots = CASE WHEN queued THEN 2 ELSE slots END");
    x = wait_of(second, &w);
    assert_true(str_eq_c(x.code, "Priority"));          /* what fits starts now: the window is an hour away */
    fixture_reader_done(&w);
    fixture_exec(&f, "UPDATE reservation SET from_at = now() - interval '1 s', until_at = now() + interval '600 s'");
    x = wait_of(second, &w);
    assert_true(str_eq_c(x.code, "Reserved") && str_eq_c(x.start.basis, "room"));     /* it has room, and is kept */
    assert_int_equal(x.start.at.us, window_end());
    fixture_reader_done(&w);
    fixture_exec(&f, "UPDATE job SET slots = CASE WHEN queued THEN 4 ELSE slots END");
    fixture_exec(&f, "DELETE FROM reservation");
    uuid_text(second, hex);
    fixture_exec(&f, "UPDATE job SET not_before = now() + interval '1 hour' WHERE job_id = '%s'", hex);
    x = wait_of(second, &w);
    assert_true(str_eq_c(x.start.basis, "not_before"));
    fixture_reader_done(&w);
    uuid_text(first, hex);
    fixture_exec(&f, "UPDATE job SET kind = 'serve' WHERE job_id = '%s'", hex);
    uuid_text(second, hex);
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE job_id = '%s'", hex);
    x = wait_of(second, &w);
    assert_int_equal(x.start.at.us, 0);         /* what stays has no end */
    fixture_reader_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_value_of_the_class_goes_before_priority),
                                        cmocka_unit_test(a_start_is_told_where_it_is_known) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
