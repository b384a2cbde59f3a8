/* SPDX-License-Identifier: Apache-2.0 */
/* test_evict_gang.c - attempts on several machines and room for such jobs, on a real database: all machines are told and woken,
 * the job goes back once, and a job on several machines starts when all that made room for it have ended. */
#include "core/db/run_tx.h"
#include "scheduler/engine/lease_member.h"
#include "scheduler/evict.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/claims.h"
#include "tests/db/scheduler/fixture.h"

enum { MACHINES = 2 };

static struct machine m[MACHINES];
static struct claims claims;
static struct bookings bookings;

FIXTURE_GROUP((machine_up(&f, &m[0], "ae-dxb-1", "w1", 4, 0), machine_up(&f, &m[1], "ae-dxb-1", "w2", 4, 0),
               f.scheduler.claims = &claims, f.scheduler.bookings = &bookings,
               fixture_exec(&f, "UPDATE node SET gangs = true;"
                                "INSERT INTO priority_class (class, value, preemptible, grace_s, min_runtime_s) VALUES"
                                " ('low', -10, true, 40, 0), ('high', 10, false, 0, 0)")),
              NOTHING_MORE)

static int done(void **state)
{
    (void)state;
    fixture_end_all(&f);
    claims = (struct claims){ 0 };
    bookings = (struct bookings){ 0 };
    return 0;
}

static struct uuid one(const char *cls, int nodes, int64_t slots)
{
    struct uuid id;
    char text[UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 1, slots, 3, &id), 1);
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET class = '%s', nodes = %d WHERE job_id = '%s'", cls, nodes, text);
    return id;
}

static void meet(const struct machine *at, const struct lease_grant *g, const char *endpoint)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 20) };
    struct lease l;
    struct lease_gang_out out = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(lease_check(&w, g->tenant_id, g->attempt_id, g->fence, at->identity, &l, e));
    OK(lease_meet(&w, &l, str_c(endpoint), &out, e));
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
}

/* A job of the low class on both machines. */
static struct uuid gang_runs(struct lease_grant g[MACHINES])
{
    static const char *const where[] = { "127.0.0.1:1001", "127.0.0.1:1002" };
    const struct uuid id = one("low", MACHINES, 3);
    assert_int_equal(plan(&f), 1);
    for (int i = 0; i < MACHINES; i++) {
        struct uuid after = UUID_LEAST;
        assert_int_equal(offer(&f, &m[i], &after, 4, &g[i]), 1);
        meet(&m[i], &g[i], where[i]);
    }
    for (int i = 0; i < MACHINES; i++)
        assert_int_equal(tell(&f, &m[i], &g[i], 1, LE_START, NULL), 1);
    assert_string_equal(state_of(&f, id), "RUNNING");
    return id;
}

static size_t notices(int machine)
{
    struct arena *a = arena_new(1 << 20);
    struct db_tx *tx = NULL;
    struct slice rows = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, TX_READ_ONLY, a, &tx, e));
    struct work w = { .app = &f.api, .arena = a, .tx = tx };
    OK(lease_notices_told(&w, lease_notices_ask(&w, m[machine].node.node_id, (struct slice){ 0 }), &rows, e));
    OK(db_commit(tx, e));
    const size_t n = rows.n;
    arena_free(a);
    return n;
}

static void a_gang_makes_room_as_a_whole(void **state)
{
    (void)state;
    struct lease_grant g[MACHINES];
    const struct uuid low = gang_runs(g), high = one("high", 1, 2);
    assert_int_equal(plan(&f), 0);
    assert_string_equal(state_of(&f, low), "PREEMPTING");
    assert_int_equal(notices(0), 1);
    assert_int_equal(notices(1), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"
                                       " WHERE convert_from(body, 'UTF8') LIKE '%%job.preempt%%'"), 1);
    assert_int_equal(plan(&f), 0);
    for (int i = 0; i < MACHINES; i++)  /* rank 0 ends it for all */
        if (!g[i].rank)
            assert_int_equal(tell(&f, &m[i], &g[i], 1, LE_PREEMPT, NULL), 1);
    assert_string_equal(state_of(&f, low), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), 0);
    assert_int_equal(plan(&f), 1);
    assert_string_equal(state_of(&f, high), "ADMITTED");
}

static size_t woken_by_suspend(void)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.scheduler, .arena = a };
    struct slice told = { 0 };
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, evict_suspend(&w, &told, e), e));
    const struct uuid *nodes = told.items;
    if (told.n == 2)
        assert_false(uuid_eq(nodes[0], nodes[1]));
    const size_t n = told.n;
    arena_free(a);
    return n;
}

static void all_its_machines_are_woken(void **state)
{
    (void)state;
    struct lease_grant g[MACHINES];
    (void)gang_runs(g);
    fixture_exec(&f, "UPDATE job SET suspend_requested = true WHERE ended IS NULL");
    assert_int_equal(woken_by_suspend(), MACHINES);
    assert_int_equal(woken_by_suspend(), 0);
}

static void room_is_made_for_a_gang_and_kept_for_it(void **state)
{
    (void)state;
    struct lease_grant g[MACHINES];
    struct uuid low[MACHINES];
    for (int i = 0; i < MACHINES; i++) {
        low[i] = one("low", 1, 4);
        assert_int_equal(plan(&f), 1);
    }
    for (int i = 0; i < MACHINES; i++) {
        assert_int_equal(take(&f, &m[i], 1, &g[i]), 1);
        assert_int_equal(tell(&f, &m[i], &g[i], 1, LE_START, NULL), 1);
    }
    const struct uuid gang = one("high", MACHINES, 4);
    assert_int_equal(plan(&f), 0);
    assert_string_equal(state_of(&f, low[0]), "PREEMPTING");
    assert_string_equal(state_of(&f, low[1]), "PREEMPTING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE nodes > 1 AND reason = 'Preempting'"), 1);
    const struct uuid small = one("low", 1, 1);
    assert_int_equal(tell(&f, &m[0], &g[0], 1, LE_PREEMPT, NULL), 1);
    assert_int_equal(plan(&f), 0);      /* half of its room is kept for it */
    assert_int_equal(plan(&f), 0);
    assert_int_equal(tell(&f, &m[1], &g[1], 1, LE_PREEMPT, NULL), 1);
    assert_int_equal(plan(&f), 1);
    assert_string_equal(state_of(&f, gang), "ADMITTED");
    assert_string_equal(state_of(&f, small), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE state = 'PREEMPTED'"), 2);
}

/* It had a booking for when they were to end by themselves; now they are sent away, and what they leave is lent to nobody who
 * would still be there when the last of them has gone. */
static void a_booking_moves_to_when_room_is_made(void **state)
{
    (void)state;
    struct lease_grant g[MACHINES];
    struct arena *a = arena_new(64 << 20);
    int64_t admitted = -1;
    bool more;
    fixture_exec(&f, "UPDATE priority_class SET min_runtime_s = 3600 WHERE class = 'low'");
    for (int i = 0; i < MACHINES; i++) {
        (void)one("low", 1, 4);
        fixture_exec(&f, "UPDATE job SET max_runtime_s = 86400 WHERE queued");
        assert_int_equal(plan(&f), 1);
        assert_int_equal(take(&f, &m[i], 1, &g[i]), 1);
        assert_int_equal(tell(&f, &m[i], &g[i], 1, LE_START, NULL), 1);
    }
    const struct uuid gang = one("high", MACHINES, 4);
    assert_int_equal(plan(&f), 0);
    assert_int_equal(bookings.n, 1);
    assert_true(bookings.items[0].start_us > clock_wall_us(&clock_system) + 2400 * INT64_C(1000000));
    fixture_exec(&f, "UPDATE priority_class SET min_runtime_s = 0 WHERE class = 'low'");
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'PREEMPTING'"), MACHINES);
    assert_int_equal(bookings.n, 1);
    assert_true(bookings.items[0].start_us < clock_wall_us(&clock_system) + 60 * INT64_C(1000000));
    const struct uuid small = one("low", 1, 1);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 600 WHERE queued AND nodes = 1");
    assert_int_equal(tell(&f, &m[0], &g[0], 1, LE_PREEMPT, NULL), 1);
    OK(loop_plan_once(&f.scheduler, a, false, &admitted, &more, e));
    assert_int_equal(admitted, 0);
    assert_int_equal(tell(&f, &m[1], &g[1], 1, LE_PREEMPT, NULL), 1);
    OK(loop_plan_once(&f.scheduler, a, false, &admitted, &more, e));
    assert_string_equal(state_of(&f, gang), "ADMITTED");
    assert_string_equal(state_of(&f, small), "PENDING");
    assert_int_equal(bookings.n, 0);    /* it has begun: what is left of its machines is anybody's */
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(a_gang_makes_room_as_a_whole, done),
                                        cmocka_unit_test_teardown(all_its_machines_are_woken, done),
                                        cmocka_unit_test_teardown(room_is_made_for_a_gang_and_kept_for_it, done),
                                        cmocka_unit_test_teardown(a_booking_moves_to_when_room_is_made, done) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
