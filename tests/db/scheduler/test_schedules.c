/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedules.c - seeded schedules of all that may happen to jobs, on a real database: two schedulers that believe to lead,
 * one of which dies before it commits; machines whose answers and reports are lost or come twice, that fall silent, start anew or
 * say what they must not; clocks that jump over leases; people who cancel. All invariants hold all the way, and each job ends
 * once. 6 schedules, 10,000 in the full tier; FALAJ_SEED begins elsewhere. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/share.h"
#include "audit/event.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/mirror/waiting.h"
#include "scheduler/plan/claims.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/random.h"
#include "scheduler/plan_apply.h"

#include <stdlib.h>

enum { MACHINES = 2, SLOTS = 3, HELD = 64, JOBS = 256, STEPS = 24, EVENTS = 9, LOOKS = 4 };

static struct machine m[MACHINES];
static struct held { struct lease_grant g; int at; } held[HELD];        /* what machines were ever told, the newest last */
static size_t nheld;
static struct job_id { struct uuid tenant, job; } jobs[JOBS];
static size_t njobs;
static struct app leaders[2];
static struct claims claims[2];
static uint64_t seed;

static void begin_all(void);
static void end_all(void);
FIXTURE_GROUP((begin_all(), fixture_exec(&f, "INSERT INTO priority_class (class, value, preemptible, grace_s, min_runtime_s)"
                                             " VALUES ('low', -10, true, 40, 0), ('high', 10, false, 0, 0)")), end_all())

static void begin_all(void)
{
    static const char *const names[] = { "w1", "w2" };
    for (int i = 0; i < MACHINES; i++)
        machine_up(&f, &m[i], "ae-dxb-1", names[i], SLOTS, 0);
    for (int i = 0; i < 2; i++) {
        leaders[i] = f.scheduler;
        leaders[i].waiting = waiting_new();
        leaders[i].machines = machines_new();
        leaders[i].claims = &claims[i];
    }
}

static void end_all(void)
{
    for (int i = 0; i < 2; i++) {
        waiting_free(leaders[i].waiting);
        machines_free(leaders[i].machines);
    }
}

static void submits(struct random *r)
{
    static const char *const classes[] = { "low", "low", "default", "high" };
    struct uuid ids[3];
    char text[UUID_TEXT];
    const struct uuid tenant = random_below(r, 2) ? f.tenant_a : f.tenant_b;
    const size_t n = submit(&f, tenant, 1 + random_below(r, 3), (int64_t)(1 + random_below(r, SLOTS)), 3, ids);
    for (size_t i = 0; i < n && njobs < JOBS; i++) {
        uuid_text(ids[i], text);
        fixture_exec(&f, "UPDATE job SET class = '%s' WHERE job_id = '%s'", classes[random_below(r, 4)], text);
        jobs[njobs++] = (struct job_id){ tenant, ids[i] };
    }
}

static void plans(struct random *r)
{
    struct app *who = &leaders[random_below(r, 2)];
    struct arena *a = arena_new((size_t)256 << 20);
    int64_t admitted;
    bool more;
    struct err e = { 0 };
    const enum errc rc = loop_plan_once(who, a, random_below(r, 2), &admitted, &more, &e);
    if (rc != ERR_OK && rc != ERR_RETRY)
        fail_msg("seed %lu: a plan: %s", (unsigned long)seed, e.msg);
    arena_free(a);
}

/* It has planned, and dies before it commits; the one that takes its place knows nothing. */
static void dies(struct random *r)
{
    struct app *who = &leaders[random_below(r, 2)];
    struct work w = { .app = &f.scheduler, .arena = arena_new((size_t)64 << 20), .now_us = clock_wall_us(&clock_system) };
    struct snapshot s;
    struct plan p;
    struct plan_result done;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(snapshot_read(&w, 64, true, &s, e));
    placement_plan(&s, w.arena, &p);
    OK(plan_apply(&w, &s, &p, 60000, &done, e));
    db_rollback(w.tx);
    arena_free(w.arena);
    waiting_forget(who->waiting);
    *who->claims = (struct claims){ 0 };
}

/* Its answer may be lost on the way: then the machine does not know of it. */
static void takes(struct random *r)
{
    struct lease_grant got[SLOTS];
    const int at = (int)random_below(r, MACHINES);
    const size_t n = take(&f, &m[at], SLOTS, got);
    for (size_t i = 0; random_below(r, 4) && i < n; i++)
        held[nheld++ % HELD] = (struct held){ got[i], at };
}

static bool says_once(const struct held *h, enum lease_event event, bool commits)
{
    struct work w = { .app = &f.api, .arena = arena_new((size_t)64 << 20), .now_us = clock_wall_us(&clock_system) };
    const struct lease_item item = { .tenant_id = h->g.tenant_id, .attempt_id = h->g.attempt_id, .fence = h->g.fence,
                                     .event = event, .message = STR(""), .result.text = STR("{}") };
    struct slice rows;
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(lease_report(&w, &m[h->at].node, NULL, &item, 1, 60000, &rows, e));
    const bool is_heard = str_eq_c(((const struct lease_verdict *)rows.items)->verdict, "ok");
    if (commits)
        OK(db_commit(w.tx, e));
    else
        db_rollback(w.tx);
    arena_free(w.arena);
    return is_heard;
}

/* Any of the last that it was told, old fences among them: lost before it was kept, once, or twice. */
static void says(struct random *r)
{
    const size_t known = nheld < HELD ? nheld : HELD;
    if (!known)
        return;
    const size_t back = random_below(r, known < 3 ? known : 3);
    const struct held *h = &held[random_below(r, 4) ? (nheld - 1 - back) % HELD : random_below(r, known)];
    static const enum lease_event mostly[] = { LE_START, LE_SUCCEED, LE_SUCCEED, LE_RENEW };
    const enum lease_event event = random_below(r, 4) ? mostly[random_below(r, 4)] : (enum lease_event)random_below(r, EVENTS);
    const uint64_t how = random_below(r, 8);
    (void)says_once(h, event, how != 0);
    if (how < 3)
        (void)says_once(h, event, true);
}

/* A machine does as it should. */
static void works(struct random *r)
{
    struct lease_grant got[SLOTS];
    const int at = (int)random_below(r, MACHINES);
    const size_t n = take(&f, &m[at], SLOTS, got);
    (void)run_through(&f, &m[at], got, n);
}

/* One that has ended cannot be cancelled any more. */
static void cancel_one(const struct job_id *x)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 20), .tenant_id = x->tenant,
                      .now_us = clock_wall_us(&clock_system) };
    struct audit_event ev = audit_event_of(&w, AUDIT_JOB_CANCEL);
    struct job j;
    struct err why = { 0 };
    char text[UUID_TEXT];
    OK(db_begin(f.api.pool, SCOPE_TENANT(x->tenant), 0, w.arena, &w.tx, e));
    const enum errc rc = job_cancel(&w, x->job, &j, &why);
    if (rc == ERR_OK) {
        OK(audit_append(&w, &ev, e));
        OK(db_commit(w.tx, e));
    } else {
        db_rollback(w.tx);
        uuid_text(x->job, text);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE ended IS NOT NULL AND job_id = '%s'", text), 1);
    }
    arena_free(w.arena);
}

static void cancels(struct random *r)
{
    cancel_one(&jobs[random_below(r, njobs)]);
}

static void jumps(struct random *r)
{
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 second' WHERE attempt_id IN"
                     " (SELECT attempt_id FROM attempt WHERE live ORDER BY md5(attempt_id::text || %d) LIMIT %d);"
                     "UPDATE job SET not_before = NULL WHERE queued", (int)random_below(r, 1000), (int)random_below(r, 3));
    if (random_below(r, 2))
        reap(&f);
}

static void starts_anew(struct random *r)
{
    const int at = (int)random_below(r, MACHINES);
    machine_up(&f, &m[at], "ae-dxb-1", at ? "w2" : "w1", SLOTS, 0);
}

/* Nobody says anything any more, and all is cancelled. */
static void all_ends(void)
{
    for (size_t i = 0; i < njobs; i++)
        cancel_one(&jobs[i]);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 second' WHERE live");
    reap(&f);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE ended IS NULL"), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live"), 0);
    assert_int_equal(fixture_count(&f, "SELECT sum(" JOBS_USED ") FROM quota WHERE resource = 'jobs'"), 0);
    /* who completed has one attempt that succeeded, everybody else none */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job j WHERE (j.ended = 'COMPLETED')::int <> (SELECT count(*) FROM"
                                       " attempt a WHERE a.tenant_id = j.tenant_id AND a.job_id = j.job_id"
                                       " AND a.state = 'SUCCEEDED')"), 0);
    fixture_check(&f);
}

static void invariants_hold_in_every_schedule(void **state)
{
    (void)state;
    static void (*const acts[])(struct random *r) = { submits, submits, plans, plans, plans, takes, takes, works, works,
                                                      says, says, says, says, says, cancels, jumps, dies, starts_anew };
    const int schedules = share_of("seeded schedules of what happens to jobs", 6, 10000);
    const char *first = getenv("FALAJ_SEED");
    int64_t completed = 0, all = 0;
    for (int i = 0; i < schedules; i++) {
        seed = (first ? strtoul(first, NULL, 10) : 1) + (uint64_t)i;
        struct random r = { seed };
        nheld = njobs = 0;
        submits(&r);
        for (int k = 0; k < STEPS; k++) {
            acts[random_below(&r, sizeof acts / sizeof *acts)](&r);
            if (k % LOOKS == 0)
                fixture_check(&f);
        }
        all_ends();
        completed += fixture_count(&f, "SELECT count(*) FROM job WHERE ended = 'COMPLETED'");
        all += (int64_t)njobs;
        fixture_forget_jobs(&f);
        for (int k = 0; k < 2; k++)
            waiting_forget(leaders[k].waiting);
    }
    print_message("%ld jobs, %ld completed\n", (long)all, (long)completed);
    assert_true(completed >= schedules / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(invariants_hold_in_every_schedule) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
