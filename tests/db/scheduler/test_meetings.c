/* SPDX-License-Identifier: Apache-2.0 */
/* test_meetings.c - two acts meet on the same job, in each way that two transactions can: one after the other; the second begins
 * while the first has written and not committed, which then commits, or is taken back. Either may be the first. Whatever the way,
 * what the job is afterwards follows from what was committed, all invariants hold, and driven on it ends once. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"
#include "audit/event.h"
#include "core/base/clock.h"
#include "scheduler/engine/lease_member.h"
#include "scheduler/evict.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan_apply.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RANKS = 2, TRIES = 5 };
enum way { IN_TURN, COMMITS, TAKEN_BACK, WAYS };
static const char *const way_names[] = { "one after the other", "the first commits late", "the first is taken back" };

static struct machine m[RANKS];
static struct uuid job;
static struct lease_grant g[RANKS];     /* by rank */
static int at[RANKS];                   /* which machine has it */

FIXTURE_GROUP((machine_up(&f, &m[0], "ae-dxb-1", "w1", 1, 0), machine_up(&f, &m[1], "ae-dxb-1", "w2", 1, 0),
               fixture_exec(&f, "UPDATE node SET gangs = true")), NOTHING_MORE)

/* A transaction of the scheduler, of a machine's call or of the tenant's. */
enum whose { SCHEDULER, MACHINE, TENANT };
struct act {
    enum whose whose;
    enum errc (*once)(struct work *w, struct act *x, struct err *e);
    enum lease_event event;             /* of a machine's: rank 0 says this */
    struct planned *plan;               /* of a leader's */
    bool counted;                       /* it did something: was heard, admitted, ended or told somebody */
    bool is_committed;
    struct work w;
    atomic_bool is_over;
};
struct planned { struct snapshot s; struct plan p; struct arena *a; };

static enum errc says(struct work *w, struct act *x, struct err *e)
{
    struct lease_item item = { .tenant_id = g[0].tenant_id, .attempt_id = g[0].attempt_id, .fence = g[0].fence,
                               .event = x->event, .message = STR(""), .result.text = STR("{}") };
    struct slice rows;
    TRY(lease_report(w, &m[at[0]].node, NULL, &item, 1, 60000, &rows, e));
    x->counted = str_eq_c(((const struct lease_verdict *)rows.items)->verdict, "ok");
    return ERR_OK;
}

static enum errc reaps(struct work *w, struct act *x, struct err *e)
{
    struct reaper_result r;
    TRY(reaper_pass(w, 100, &r, e));
    x->counted = r.requeued > 0;
    return ERR_OK;
}

static enum errc cancels(struct work *w, struct act *x, struct err *e)
{
    struct job j;
    struct audit_event ev = audit_event_of(w, AUDIT_JOB_CANCEL);
    TRY(job_cancel(w, job, &j, e));
    x->counted = true;
    return audit_append(w, &ev, e);
}

static enum errc preempts(struct work *w, struct act *x, struct err *e)
{
    const struct evict_one one = { g[0].tenant_id, job, g[0].attempt_id, m[at[0]].node.node_id, g[0].fence, 40, STR("room") };
    struct slice nodes;
    TRY(evict_one(w, &one, &nodes, e));
    x->counted = nodes.n > 0;
    return ERR_OK;
}

static enum errc admits(struct work *w, struct act *x, struct err *e)
{
    struct plan_result r;
    TRY(plan_apply(w, &x->plan->s, &x->plan->p, 60000, &r, e));
    x->counted = r.admitted > 0;
    return ERR_OK;
}

static void begin(struct act *x)
{
    static const struct app *const apps[] = { &f.scheduler, &f.api, &f.api };
    struct db_pool *const pools[] = { f.scheduler.pool, f.api.node_pool, f.api.pool };
    x->w = (struct work){ .app = apps[x->whose], .arena = arena_new((size_t)64 << 20), .now_us = clock_wall_us(&clock_system),
                          .tenant_id = x->whose == TENANT ? f.tenant_a : UUID_NIL };
    const struct db_scope scope = x->whose == TENANT ? SCOPE_TENANT(f.tenant_a) : SCOPE_SYSTEM;
    OK(db_begin(pools[x->whose], scope, 0, x->w.arena, &x->w.tx, e));
}

static void end(struct act *x, bool commits)
{
    if (commits)
        OK(db_commit(x->w.tx, e));
    else
        db_rollback(x->w.tx);
    x->counted &= commits;
    x->is_committed = commits;
    arena_free(x->w.arena);
}

/* As the product does: what is told to try again is tried again. */
static void *whole(void *arg)
{
    struct act *x = arg;
    for (int i = 0; i < TRIES && !x->is_committed; i++) {
        struct err e = { 0 };
        begin(x);
        const enum errc rc = x->once(&x->w, x, &e);
        if (rc != ERR_OK && rc != ERR_RETRY)
            fail_msg("%s (%s) at %s:%d", e.msg, e.detail, e.file ? e.file : "?", e.line);
        end(x, rc == ERR_OK);
    }
    atomic_store(&x->is_over, true);
    return NULL;
}

static void meet(struct act *first, struct act *second, enum way way)
{
    pthread_t t;
    if (way == IN_TURN) {
        whole(first);
        whole(second);
        return;
    }
    begin(first);
    OK(first->once(&first->w, first, e));
    OK(db_mark(first->w.tx, e));        /* what it has asked for is done */
    pthread_create(&t, NULL, whole, second);
    WAIT_WHILE(!atomic_load(&second->is_over) &&
               !fixture_count(&f, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"));
    end(first, way == COMMITS);
    pthread_join(t, NULL);
    assert_true(second->is_committed);
}

/* --- what they meet on --- */

static void on_a_lease(void)
{
    struct lease_grant one;
    assert_int_equal(plan(&f), 1);
    for (int i = 0; i < RANKS; i++) {
        struct uuid after = UUID_LEAST;
        if (!offer(&f, &m[i], &after, 1, &one))
            continue;
        g[one.rank] = one;
        at[one.rank] = i;
    }
}

static void on_a_leased_job(void)
{
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    on_a_lease();
}

static void on_a_running_job(void)
{
    on_a_leased_job();
    assert_int_equal(tell(&f, &m[at[0]], &g[0], 1, LE_START, NULL), 1);
}

static void on_a_silent_job(void)
{
    on_a_running_job();
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 second' WHERE live");
}

static void on_a_gang_without_a_rank(void)
{
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    fixture_exec(&f, "UPDATE job SET nodes = %d WHERE queued", RANKS);
    on_a_lease();
    for (int r = 0; r < RANKS; r++) {
        struct work w = { .app = &f.api, .arena = arena_new(1 << 20) };
        struct lease l;
        struct lease_gang_out out;
        OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
        OK(lease_check(&w, g[r].tenant_id, g[r].attempt_id, g[r].fence, m[at[r]].identity, &l, e));
        OK(lease_meet(&w, &l, STR("127.0.0.1:1001"), &out, e));
        OK(db_commit(w.tx, e));
        arena_free(w.arena);
    }
    assert_int_equal(tell(&f, &m[at[1]], &g[1], 1, LE_START, NULL), 1);
    fixture_exec(&f, "UPDATE attempt_member SET lease_until = clock_timestamp() - interval '1 second' WHERE rank = 1");
}

static struct planned seen[2];

/* Both leaders have read the same and planned. */
static void on_a_waiting_job(void)
{
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    for (int i = 0; i < 2; i++) {
        seen[i] = (struct planned){ .a = arena_new((size_t)64 << 20) };
        struct work w = { .app = &f.scheduler, .arena = seen[i].a, .now_us = clock_wall_us(&clock_system) };
        OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_READ_ONLY, w.arena, &w.tx, e));
        OK(snapshot_read(&w, 64, true, &seen[i].s, e));
        OK(db_commit(w.tx, e));
        placement_plan(&seen[i].s, w.arena, &seen[i].p);
        assert_int_equal(seen[i].p.places.n, 1);
    }
}

/* --- what came of it --- */

#define STATE(s) assert_string_equal(state_of(&f, job), s)
#define LIVE "SELECT count(*) FROM attempt WHERE live"

/* Whose word was taken has its lease; else it is over, unless the reaper left alone what it found locked. */
static void renewed_or_expired(const struct act *a, const struct act *b, bool both)
{
    assert_false(a->counted && b->counted);
    assert_true(!both || a->counted || b->counted);
    STATE(b->counted ? "PENDING" : "RUNNING");
    assert_int_equal(fixture_count(&f, LIVE), !b->counted);
    reap(&f);
    STATE(a->counted ? "RUNNING" : "PENDING");
}

/* Who cancelled is obeyed: the machine hears it with its next word, or has no lease any more. */
static void cancelled_or_running(const struct act *a, const struct act *b, bool both)
{
    bool cancel = false;
    assert_int_equal(a->counted + b->counted, 1 + (both && fixture_count(&f, LIVE)));
    if (!a->counted) {
        STATE("RUNNING");
        return;
    }
    const size_t heard = tell(&f, &m[at[0]], &g[0], 1, LE_RENEW, &cancel);
    assert_true(!heard || cancel);
    assert_int_equal(tell(&f, &m[at[0]], &g[0], 1, LE_CANCEL, NULL), heard);
    STATE("CANCELLED");
    assert_int_equal(plan(&f), 0);
}

/* An end is an end, whenever it comes; nobody is told to go who has ended. */
static void preempted_or_done(const struct act *a, const struct act *b, bool both)
{
    (void)both;
    assert_true(a->counted || b->counted);
    STATE(b->counted ? "COMPLETED" : "PREEMPTING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE state = 'SUCCEEDED'"), b->counted);
    assert_int_equal(fixture_count(&f, LIVE), !b->counted);
}

/* It started or not: without one of its machines it does not go on, seen now or, where the reaper found it locked, soon. */
static void started_or_lost(const struct act *a, const struct act *b, bool both)
{
    assert_true(!both || a->counted || b->counted);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), b->counted ? 0 : RANKS);
    reap(&f);
    STATE("PENDING");
    assert_int_equal(tell(&f, &m[at[0]], &g[0], 1, LE_SUCCEED, NULL), 0);
    assert_int_equal(fixture_count(&f, LIVE) + fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), 0);
}

static void admitted_once(const struct act *a, const struct act *b, bool both)
{
    (void)both;
    assert_int_equal(a->counted + b->counted, 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt"), 1);
    STATE("ADMITTED");
    for (int i = 0; i < 2; i++)
        arena_free(seen[i].a);
}

/* Whatever it is: machines say that they are done with what they have, and it is planned until it has ended. */
static void ends_once(void)
{
    struct lease_grant got[RANKS];
    for (int i = 0; i < TRIES && fixture_count(&f, "SELECT count(*) FROM job WHERE finished_at IS NULL"); i++) {
        (void)tell(&f, &m[at[0]], &g[0], 1, LE_SUCCEED, NULL);
        fixture_exec(&f, "UPDATE job SET not_before = NULL, nodes = 1 WHERE queued");
        (void)plan(&f);
        for (int k = 0; k < RANKS; k++)
            (void)run_through(&f, &m[k], got, take(&f, &m[k], 1, got));
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state IN ('COMPLETED', 'CANCELLED')"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE state = 'SUCCEEDED'"),
                     fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'COMPLETED'"));
    fixture_check(&f);
}

static const struct meeting {
    void (*on)(void);
    struct act a, b;
    void (*judge)(const struct act *a, const struct act *b, bool both);
} renew_and_expire = { on_a_silent_job, { .whose = MACHINE, .once = says, .event = LE_RENEW }, { .once = reaps },
                       renewed_or_expired },
  cancel_and_start = { on_a_leased_job, { .whose = TENANT, .once = cancels },
                       { .whose = MACHINE, .once = says, .event = LE_START },
                       cancelled_or_running },
  preempt_and_finish = { on_a_running_job, { .once = preempts }, { .whose = MACHINE, .once = says, .event = LE_SUCCEED },
                         preempted_or_done },
  start_and_lose = { on_a_gang_without_a_rank, { .whose = MACHINE, .once = says, .event = LE_START }, { .once = reaps },
                     started_or_lost },
  lead_and_lead = { on_a_waiting_job, { .once = admits, .plan = &seen[0] }, { .once = admits, .plan = &seen[1] },
                    admitted_once };

static void every_way(void **state)
{
    const struct meeting *x = *state;
    for (int i = 0; i < 2 * WAYS; i++) {
        const enum way way = (enum way)(i / 2);
        struct act a = x->a, b = x->b;
        printf("%s, the %s first\n", way_names[way], i % 2 ? "second" : "first");
        x->on();
        meet(i % 2 ? &b : &a, i % 2 ? &a : &b, way);
        fixture_check(&f);
        x->judge(&a, &b, way != TAKEN_BACK);
        ends_once();
        fixture_end_all(&f);
    }
}

#define WAYS_OF(x) { .name = #x, .test_func = every_way, .initial_state = (void *)&(x) }
int main(void)
{
    const struct CMUnitTest tests[] = { WAYS_OF(renew_and_expire), WAYS_OF(cancel_and_start), WAYS_OF(preempt_and_finish),
                                        WAYS_OF(start_and_lose), WAYS_OF(lead_and_lead) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
