/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_wish.c - failures that a job wants tried again, on a real PostgreSQL: through reports and through the reaper,
 * counted over all causes; repeats of a report; a cancel that comes between; what every attempt says of its cause. */
#include "tests/db/scheduler/fixture.h"
#include "core/wire/lease_wire.h"

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0), NOTHING_MORE)

static int wipe(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    return 0;
}

static struct uuid job_with(const char *retry)
{
    struct uuid id;
    char text[UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &id), 1);
    uuid_text(id, text);
    if (retry)
        fixture_exec(&f, "UPDATE job SET retry = '%s' WHERE job_id = '%s'", retry, text);
    return id;
}

/* Its pause passes, and it runs on the machine. */
static struct lease_grant run(void)
{
    struct lease_grant g[4];
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 4, g), 1);
    assert_int_equal(tell(&f, &m, g, 1, LE_START, NULL), 1);
    return g[0];
}

static int64_t of_job(struct uuid id, const char *what)
{
    char text[UUID_TEXT];
    uuid_text(id, text);
    return fixture_count(&f, "SELECT (%s)::bigint FROM job j WHERE job_id = '%s'", what, text);
}

static void listed_causes_are_tried_again_until_they_are_spent(void **state)
{
    (void)state;
    const struct uuid id = job_with("{\"max\": 2, \"on\": [\"program\", \"memory\", \"machine\"], \"backoff_s\": 40}");
    struct lease_grant g = run();
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 1);
    assert_string_equal(state_of(&f, id), "PENDING");
    assert_int_equal(of_job(id, "(reason = 'Backoff' AND not_before BETWEEN clock_timestamp() + interval '10 s' AND "
                                "clock_timestamp() + interval '40 s')::int"), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 1);           /* the same words again: no news, and no lie */
    assert_int_equal(of_job(id, "requeue_count"), 1);
    g = run();
    assert_int_equal(tell(&f, &m, &g, 1, LE_OOM, NULL), 1);
    assert_int_equal(of_job(id, "(not_before > clock_timestamp() + interval '50 s')::int"), 1);
    struct lease_grant third = run();
    assert_int_equal(tell(&f, &m, &g, 1, LE_OOM, NULL), 1);            /* of the attempt before */
    assert_int_equal(tell(&f, &m, &third, 1, LE_FAIL, NULL), 1);
    assert_string_equal(state_of(&f, id), "FAILED");
    assert_int_equal(of_job(id, "SELECT (string_agg(cause, ',' ORDER BY fence) = 'program,memory,program')::int FROM attempt a "
                                "WHERE a.job_id = j.job_id"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE "
                                       "'%%job.requeue%%' AND convert_from(body, 'UTF8') LIKE '%%\"cause\":\"memory\"%%'"), 1);
    fixture_check(&f);
}

static void a_cause_that_is_not_listed_ends_it_at_once(void **state)
{
    (void)state;
    const struct uuid id = job_with("{\"max\": 5, \"on\": [\"memory\"], \"backoff_s\": 1}");
    struct lease_grant g = run();
    assert_int_equal(tell(&f, &m, &g, 1, LE_TIMEOUT, NULL), 1);
    assert_string_equal(state_of(&f, id), "TIMEOUT");
    const struct uuid other = job_with("{\"max\": 5, \"on\": [\"memory\"], \"backoff_s\": 1}");
    g = run();
    fixture_exec(&f, "UPDATE attempt SET lease_until = 'epoch' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, other), "NODE_FAIL");
    assert_int_equal(of_job(other, "SELECT (cause = 'machine')::int FROM attempt a WHERE a.job_id = j.job_id"), 1);
    fixture_check(&f);
}

static void a_lost_machine_counts_against_its_own_number(void **state)
{
    (void)state;
    const struct uuid id = job_with("{\"max\": 4, \"on\": [\"machine\"], \"backoff_s\": 0}");
    for (int i = 0; i < 5; i++) {
        assert_string_equal(state_of(&f, id), "PENDING");
        (void)run();
        fixture_exec(&f, "UPDATE attempt SET lease_until = 'epoch' WHERE live");
        reap(&f);
    }
    assert_string_equal(state_of(&f, id), "NODE_FAIL");
    assert_int_equal(of_job(id, "fence"), 5);                           /* max_attempts was 3 */
    fixture_check(&f);
}

/* Three lost machines end it. What its machine gave back is no loss, and neither is an attempt that got further than others. */
static void losses_that_got_further_do_not_count(void **state)
{
    (void)state;
    const struct uuid id = job_with(NULL);
    for (int i = 0; i < 8; i++) {
        const bool is_back = i % 2, got_further = i == 0 || i == 4;     /* lost are 0, 2, 4 and 6 */
        const struct lease_grant g = run();
        fixture_exec(&f, "UPDATE attempt SET got_further = %s WHERE live", got_further ? "true" : "false");
        if (is_back) {
            assert_int_equal(tell(&f, &m, &g, 1, LE_RETURN, NULL), 1);
        } else {
            fixture_exec(&f, "UPDATE attempt SET lease_until = 'epoch' WHERE live");
            reap(&f);
        }
        assert_string_equal(state_of(&f, id), "PENDING");
        if (got_further)                /* it begins again soon, however often it came back */
            assert_int_equal(of_job(id, "(not_before < clock_timestamp() + interval '2 s')::int"), 1);
    }
    (void)run();
    fixture_exec(&f, "UPDATE attempt SET lease_until = 'epoch' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, id), "NODE_FAIL");                 /* the third that counts, of nine */
    assert_int_equal(of_job(id, "fence"), 9);
    const struct uuid once = job_with(NULL);
    fixture_exec(&f, "UPDATE job SET max_attempts = 1 WHERE queued");
    (void)run();
    fixture_exec(&f, "UPDATE attempt SET got_further = true, lease_until = 'epoch' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, once), "NODE_FAIL");               /* who wants one attempt gets one */
    fixture_check(&f);
}

static void a_job_that_says_nothing_fails_as_ever(void **state)
{
    (void)state;
    const struct uuid id = job_with(NULL);
    struct lease_grant g = run();
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 1);
    assert_string_equal(state_of(&f, id), "FAILED");
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_OOM, NULL), 0);
    fixture_check(&f);
}

static void a_cancel_is_stronger(void **state)
{
    (void)state;
    const struct uuid id = job_with("{\"max\": 5, \"on\": [\"program\"], \"backoff_s\": 1}");
    struct lease_grant g = run();
    cancel_job(&f, f.tenant_a, id);
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 1);
    assert_string_equal(state_of(&f, id), "FAILED");
    fixture_check(&f);
}

static void one_of_a_batch_is_tried_again_and_its_neighbours_are_not(void **state)
{
    (void)state;
    struct lease_grant g[3];
    const struct uuid again = job_with("{\"max\": 1, \"on\": [\"program\"], \"backoff_s\": 1}"), ends = job_with(NULL);
    assert_int_equal(plan(&f), 2);
    assert_int_equal(take(&f, &m, 3, g), 2);
    assert_int_equal(tell(&f, &m, g, 2, LE_FAIL, NULL), 2);             /* never said that they began */
    assert_string_equal(state_of(&f, again), "PENDING");
    assert_string_equal(state_of(&f, ends), "FAILED");
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(listed_causes_are_tried_again_until_they_are_spent, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_cause_that_is_not_listed_ends_it_at_once, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_lost_machine_counts_against_its_own_number, NULL, wipe),
        cmocka_unit_test_setup_teardown(losses_that_got_further_do_not_count, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_job_that_says_nothing_fails_as_ever, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_cancel_is_stronger, NULL, wipe),
        cmocka_unit_test_setup_teardown(one_of_a_batch_is_tried_again_and_its_neighbours_are_not, NULL, wipe) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
