/* SPDX-License-Identifier: Apache-2.0 */
/* test_backfill.c - a job on all machines of a real database starts while small jobs stream in, says when, and the others say
 * what they wait for; who ends before runs on the machines that are kept. */
#include "scheduler/plan/bookings.h"
#include "tests/db/scheduler/fixture.h"

enum { MACHINES = 3, SLOTS = 4 };

static struct machine m[MACHINES];
static struct bookings bookings;

FIXTURE_GROUP((machine_up(&f, &m[0], "ae-dxb-1", "w1", SLOTS, 0), machine_up(&f, &m[1], "ae-dxb-1", "w2", SLOTS, 0),
               machine_up(&f, &m[2], "ae-dxb-1", "w3", SLOTS, 0), fixture_exec(&f, "UPDATE node SET gangs = true")),
              NOTHING_MORE)

static int fresh(void **state)
{
    (void)state;
    bookings = (struct bookings){ 0 };
    f.scheduler.bookings = &bookings;
    return 0;
}

static int done(void **state)
{
    (void)state;
    fixture_end_all(&f);
    return 0;
}

static struct uuid submit_gang(void)
{
    struct uuid id;
    char text[UUID_TEXT];
    submit(&f, f.tenant_b, 1, SLOTS, 3, &id);
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET nodes = %d WHERE job_id = '%s'", MACHINES, text);
    return id;
}

/* The one that runs longest ends, and as many come as have ended. */
static void one_ends_and_one_comes(struct lease_grant *runs, size_t *n, const struct machine **where)
{
    if (*n) {
        assert_int_equal(run_through(&f, where[0], &runs[0], 1), 2);
        --*n;
        for (size_t i = 0; i < *n; i++) {
            runs[i] = runs[i + 1];
            where[i] = where[i + 1];
        }
    }
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
}

static void take_all(struct lease_grant *runs, size_t *n, const struct machine **where)
{
    for (size_t i = 0; i < MACHINES; i++) {
        const size_t got = take(&f, &m[i], 8, &runs[*n]);
        for (size_t k = 0; k < got; k++)
            where[*n + k] = &m[i];
        *n += got;
    }
}

static void a_job_on_all_machines_starts_while_small_ones_stream_in(void **state)
{
    (void)state;
    struct lease_grant runs[64];
    const struct machine *where[64];
    size_t n = 0;
    submit(&f, f.tenant_a, 12, 2, 3, NULL);
    assert_int_equal(plan(&f), 6);
    take_all(runs, &n, where);
    assert_int_equal(n, 6);
    const struct uuid gang = submit_gang();
    for (int i = 0; i < 20; i++) {
        plan(&f);
        if (fixture_count(&f, "SELECT count(*) FROM attempt WHERE nodes > 1"))
            break;
        take_all(runs, &n, where);
        one_ends_and_one_comes(runs, &n, where);
    }
    assert_string_equal(state_of(&f, gang), "ADMITTED");
    assert_int_equal(n, 0);             /* each that ran has ended, and none has followed it */
    assert_true(fixture_count(&f, "SELECT count(*) FROM job WHERE queued") >= 6);
}

static void it_says_when_and_the_others_say_why(void **state)
{
    (void)state;
    submit(&f, f.tenant_a, 5, 2, 3, NULL);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 86400 WHERE queued");
    assert_int_equal(plan(&f), 5);
    submit_gang();
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE nodes > 1 AND reason = 'Resources'"
                                       " AND message ~ 'it is to start by 20[0-9-]{8}T[0-9:]{5}Z'"), 1);
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 86400 WHERE queued");
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND nodes = 1"
                                       " AND message LIKE 'the machines with room are kept for a job on several machines%%'"), 1);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 3600 WHERE queued AND nodes = 1");
    assert_int_equal(plan(&f), 1);      /* it ends long before the others' limits */
}

/* As the quick rounds between the full ones, which count nothing anew. */
static void a_quick_round_keeps_to_it(void **state)
{
    (void)state;
    struct arena *a = arena_new(64 << 20);
    int64_t admitted = -1;
    bool more;
    submit(&f, f.tenant_a, 5, 2, 3, NULL);
    assert_int_equal(plan(&f), 5);
    submit_gang();
    assert_int_equal(plan(&f), 0);
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    OK(loop_plan_once(&f.scheduler, a, false, &admitted, &more, e));
    assert_int_equal(admitted, 0);
    fixture_exec(&f, "UPDATE job SET cancel_requested = true WHERE queued AND nodes > 1");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(bookings.n, 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_on_all_machines_starts_while_small_ones_stream_in, fresh, done),
        cmocka_unit_test_setup_teardown(it_says_when_and_the_others_say_why, fresh, done),
        cmocka_unit_test_setup_teardown(a_quick_round_keeps_to_it, fresh, done),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
