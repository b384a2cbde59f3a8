/* SPDX-License-Identifier: Apache-2.0 */
/* test_waiting_read.c - what the planner keeps of waiting jobs is at every moment what it would read, and so is what another one
 * keeps that stands by and reads now and then: after random submissions, plans, returns, holds, cancellations, changes,
 * removals and transactions that end late; only what changed is read; what left no trace is found by comparing. */
#include "tests/db/scheduler/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/loop_int.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/mirror/waiting_int.h"
#include "scheduler/plan/random.h"

enum { STEPS = 180, ROOM = 24 };
static struct machine m;
static struct waiters *standby;
FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", ROOM, 0), f.scheduler.waiting = waiting_new(), standby = waiting_new()),
              (waiting_free(f.scheduler.waiting), waiting_free(standby)))

/* A submission by another connection, whose transaction ends later. */
static const struct stmt late = { .name = "late", .params = "ii", .card = CARD_NONE, .sql =
    "INSERT INTO job (tenant_id, job_id, name, kind, spec, pool, data_class, slots, priority, max_runtime_s, created_by)\n"
    " SELECT tenant_id, gen_random_uuid(), 'late', 'noop', '{}', 'default', 'internal', $1, $2, 60, gen_random_uuid()\n"
    "   FROM tenant WHERE tenant_id IN (SELECT tenant_id FROM quota) LIMIT 1" };

/* Ten seconds without a statement would end it on a busy machine. */
static const struct stmt patient = { .name = "patient", .card = CARD_NONE, .sql =
    "SET LOCAL idle_in_transaction_session_timeout = 0" };

/* What follows is the other one's. */
static void change_over(void)
{
    struct waiters *kept = f.scheduler.waiting;
    f.scheduler.waiting = standby;
    standby = kept;
}

static void load_all(void)
{
    for (bool more = true; more;)
        OK(waiting_load(&f.scheduler, waiting_one_part, NULL, &more, e));
    assert_true(waiting_is_whole(f.scheduler.waiting));
}

static void same_jobs(const struct snapshot *x, const struct snapshot *y)
{
    assert_int_equal(x->jobs.n, y->jobs.n);
    for (size_t i = 0; i < x->jobs.n; i++) {
        const struct snap_job *p = &x->jobs.items[i], *q = &y->jobs.items[i];
        if (!uuid_eq(p->job_id, q->job_id) || !uuid_eq(p->tenant_id, q->tenant_id))
            fail_msg("place %zu of %zu is another job's", i, x->jobs.n);
        assert_true(str_eq(p->reason, q->reason) && p->said == q->said);
        assert_true(!p->zone.ptr == !q->zone.ptr && str_eq(p->zone, q->zone) && str_eq(p->pool, q->pool) &&
                    str_eq(p->queue, q->queue));
        assert_true(str_eq(p->kind, q->kind) && str_eq(p->data_class, q->data_class) && str_eq(p->cls, q->cls) &&
                    str_eq(p->gpu_models, q->gpu_models) && str_eq(p->engine, q->engine) &&
                    uuid_eq(p->project_id, q->project_id));
        assert_true(p->slots == q->slots && p->gpus == q->gpus && p->priority == q->priority && p->fence == q->fence &&
                    p->version == q->version && p->cpu_milli == q->cpu_milli && p->memory_bytes == q->memory_bytes);
        assert_true(p->gpu_milli == q->gpu_milli && p->nodes == q->nodes && p->max_runtime_s == q->max_runtime_s &&
                    p->class_value == q->class_value && p->shape == q->shape && p->depth == q->depth && p->is_cut == q->is_cut &&
                    p->submitted_at.us == q->submitted_at.us && p->needs_programs == q->needs_programs);
    }
}

/* By what is kept and by the statement, of the same limit. */
static void compare(int64_t limit, bool is_full)
{
    struct waiters *kept = f.scheduler.waiting;
    struct arena *a = arena_new((size_t)256 << 20);
    struct work w = loop_work(&f.scheduler, a);
    struct snapshot x, y;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, TX_READ_ONLY, snapshot_read(&w, limit, is_full, &x, e), e));
    assert_true(waiting_is_whole(kept));
    f.scheduler.waiting = NULL;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, TX_READ_ONLY, snapshot_read(&w, limit, is_full, &y, e), e));
    f.scheduler.waiting = kept;
    same_jobs(&x, &y);
    arena_free(a);
}

static void round_of(bool is_full)
{
    struct arena *a = arena_new((size_t)256 << 20);
    int64_t admitted = 0;
    bool more;
    OK(loop_plan_once(&f.scheduler, a, is_full, &admitted, &more, e));
    arena_free(a);
}

#define ONE "(SELECT job_id FROM job WHERE %s ORDER BY md5(job_id::text || '%d') LIMIT 1)"
/* A change around the planner, by hand, as a program would commit it. */
static void change(struct random *r, int i)
{
    static const char *const sets[][2] = {
        { "state = 'HELD', queued = false, version = version + 1, reason = 'HeldByUser'", "queued" },
        { "state = 'PENDING', queued = true, version = version + 1, reason = 'Resources'", "state = 'HELD'" },
        { "priority = 1 - priority", "queued" },
        { "not_before = now() + interval '1 hour', reason = 'BeginTime'", "queued AND not_before IS NULL" },
        { "not_before = NULL, reason = 'Resources'", "queued AND not_before IS NOT NULL" },
        { "slots = 1 + slots % 3", "queued" },
        { "engine = CASE engine WHEN '' THEN 'onnxruntime' ELSE '' END", "queued" },
        { "cancel_requested = NOT cancel_requested", "queued" },
        { "max_runtime_s = max_runtime_s + 1", "queued" },
        { "state = 'CANCELLED', queued = false, version = version + 1, reason = '', finished_at = now()", "queued" } };
    const size_t k = random_below(r, sizeof sets / sizeof *sets);
    fixture_exec(&f, "UPDATE job SET %s WHERE job_id = " ONE, sets[k][0], sets[k][1], i);
}

static void step(struct random *r, int i, struct db_pool *other, struct arena *a, struct db_tx **open)
{
    struct lease_grant g[ROOM];
    switch (random_below(r, 8)) {
    case 0:
    case 1:
        (void)submit(&f, random_below(r, 2) ? f.tenant_a : f.tenant_b, 1 + random_below(r, 6),
                     1 + (int64_t)random_below(r, 4), 9, NULL);
        break;
    case 2:
        round_of(random_below(r, 2));
        break;
    case 3: {                                           /* some end, some come back */
        const size_t n = take(&f, &m, ROOM, g), back = n / 2;
        (void)run_through(&f, &m, g, n - back);
        (void)tell(&f, &m, g + n - back, back, LE_RETURN, NULL);
        break;
    }
    case 4:
        if (*open) {
            if (random_below(r, 3))
                OK(db_commit(*open, e));
            else
                db_rollback(*open);
            *open = NULL;
        } else {
            OK(db_begin(other, SCOPE_SYSTEM, 0, a, open, e));
            OK(db_exec(*open, &patient, NULL, 0, NULL, e));
            OK(db_exec(*open, &late, ARGS(A_I64(1 + (int64_t)random_below(r, 3)), A_I64((int64_t)random_below(r, 2))), NULL, e));
        }
        break;
    case 5:
        if (random_below(r, 6) == 0)
            fixture_exec(&f, "DELETE FROM job WHERE fence = 0 AND name = 'late' AND job_id = " ONE, "queued AND fence = 0", i);
        fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE reason = 'Backoff' AND queued");
        break;
    default:
        change(r, i);
    }
}

/* Who came late is started as others are, whoever stands before it. */
static void late_ones_start(struct db_pool *other, struct arena *a)
{
    struct db_tx *tx;
    struct lease_grant g[ROOM];
    OK(db_begin(other, SCOPE_SYSTEM, 0, a, &tx, e));
    OK(db_exec(tx, &late, ARGS(A_I64(1), A_I64(2)), NULL, e));
    compare(1000, true);
    OK(db_commit(tx, e));
    for (int i = 0; i < STEPS && !fixture_count(&f, "SELECT count(*) FROM job WHERE name = 'late' AND fence > 0"); i++) {
        (void)run_through(&f, &m, g, take(&f, &m, ROOM, g));
        round_of(false);
    }
    assert_true(fixture_count(&f, "SELECT count(*) FROM job WHERE name = 'late' AND fence > 0") > 0);
}

static void random_interleavings(void **state)
{
    (void)state;
    static const struct stmt *const stmts[] = { &late, &patient, NULL }, *const *const lists[] = { stmts, NULL };
    struct db_pool *other = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(f.pg, NULL, NULL), .size = 1,
        .lists = lists, .role_allow = DB_ALLOW_SUPERUSER | DB_ALLOW_BYPASSRLS | DB_ALLOW_OWNER });
    struct arena *a = arena_new(64 << 20);
    struct random r = { 20 };
    struct db_tx *open = NULL;
    submit(&f, f.tenant_a, 20, 2, 9, NULL);
    load_all();
    change_over();
    load_all();
    for (int i = 0; i < STEPS; i++) {
        step(&r, i, other, a, &open);
        const bool is_other = random_below(&r, 3) == 0;         /* one reads seldom, then the other plans for a while */
        if (is_other)
            change_over();
        if (random_below(&r, 3))
            compare(1 + (int64_t)random_below(&r, 60), random_below(&r, 4) > 0);
        if (is_other && random_below(&r, 8))
            change_over();
    }
    if (open)
        OK(db_commit(open, e));
    late_ones_start(other, a);
    for (int i = 0; i < 2; i++, change_over()) {
        compare(1000, true);
        const struct waiting_count c = waiting_counted(f.scheduler.waiting);
        assert_int_equal(c.loads, 1);                   /* it was right all the time */
        assert_int_equal(c.differing, 0);
        assert_true(c.compared > STEPS);
    }
    arena_free(a);
    db_pool_free(other);
}

static void only_changes_are_read(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    waiting_forget(f.scheduler.waiting);
    submit(&f, f.tenant_a, 500, 60, 3, NULL);           /* none of which fits */
    load_all();
    round_of(true);
    compare(20, false);                                 /* what it told them is known, too */
    const int64_t before = waiting_counted(f.scheduler.waiting).changed;
    for (int i = 0; i < 10; i++)
        round_of(i % 2);
    assert_int_equal(waiting_counted(f.scheduler.waiting).changed, before);
    submit(&f, f.tenant_b, 3, 1, 3, NULL);
    round_of(false);
    assert_int_equal(waiting_counted(f.scheduler.waiting).changed, before + 3);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'ADMITTED'"), 3);
    round_of(true);
    assert_int_equal(waiting_counted(f.scheduler.waiting).changed, before + 3);     /* its own plan is no news */
    fixture_exec(&f, "UPDATE job SET priority = 5 WHERE job_id = (SELECT job_id FROM job WHERE queued LIMIT 1)");
    round_of(true);
    assert_int_equal(waiting_counted(f.scheduler.waiting).changed, before + 4);
    compare(100, true);
}

static bool tidy(void)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = loop_work(&f.scheduler, a);
    bool more;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, waiting_tidy(&w, &more, e), e));
    arena_free(a);
    return more;
}

#define NOTES "SELECT (SELECT count(*) FROM job_change) + (SELECT count(*) FROM plan_change)"
/* Notes go when they had been read before the last time, so that who stands by may be slower; so many at a time; and
 * as late where the leader keeps nothing and reads none. How far is known. */
static void notes_are_swept(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        compare(10, true);
        assert_false(tidy());
    }
    assert_int_equal(fixture_count(&f, NOTES), 0);
    fixture_exec(&f, "UPDATE job SET priority = 6 WHERE priority = 5");
    assert_false(tidy());
    assert_true(fixture_count(&f, NOTES) > 0);
    compare(10, true);
    assert_false(tidy());
    assert_true(fixture_count(&f, NOTES) > 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM change_swept, job_change WHERE changed_xid <= upto"), 0);
    const int64_t newest = fixture_count(&f, "SELECT max(changed_xid::text::bigint) FROM job_change");
    assert_false(tidy());
    assert_int_equal(fixture_count(&f, NOTES), 0);
    assert_int_equal(fixture_count(&f, "SELECT upto::text::bigint FROM change_swept"), newest);
    fixture_exec(&f, "INSERT INTO job_change SELECT '3', tenant_id, tenant_id FROM generate_series(1, %d), (SELECT tenant_id"
                 " FROM tenant LIMIT 1) t", WAITING_SWEPT + 1);
    assert_true(tidy());
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_change"), 1);
    waiting_forget(f.scheduler.waiting);
    assert_false(tidy());
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_change"), 1);
    f.scheduler.waiting->is_off = true;                 /* as one that grew too large */
    assert_false(tidy());
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_change"), 1);
    assert_false(tidy());
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_change"), 0);
    waiting_forget(f.scheduler.waiting);
    load_all();
}

/* A change that left no trace, as one by hand around the triggers may; and a job that is gone so. */
static void what_differs_is_found(void **state)
{
    (void)state;
    static const char *const by_hand[] = {
        "UPDATE job SET priority = 9 WHERE job_id = (SELECT max(job_id::text)::uuid FROM job WHERE queued)",
        "DELETE FROM job WHERE job_id = (SELECT min(job_id::text)::uuid FROM job WHERE queued)" };
    for (int i = 0; i < 2; i++) {
        const struct waiting_count before = waiting_counted(f.scheduler.waiting);
        fixture_exec(&f, "SET session_replication_role = replica; %s", by_hand[i]);
        round_of(false);
        assert_int_equal(waiting_counted(f.scheduler.waiting).differing, before.differing);
        for (int k = 0; k < 3 && waiting_counted(f.scheduler.waiting).differing == before.differing; k++)
            round_of(true);
        assert_int_equal(waiting_counted(f.scheduler.waiting).differing, before.differing + 1);
        load_all();
        assert_int_equal(waiting_counted(f.scheduler.waiting).loads, before.loads + 1);
        compare(100, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_interleavings), cmocka_unit_test(only_changes_are_read),
                                        cmocka_unit_test(notes_are_swept), cmocka_unit_test(what_differs_is_found) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
