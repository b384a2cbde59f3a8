/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_queue.c - queues are declared, changed and forgotten by their tenant alone; what a plan makes of modes and stops,
 * also when a queue is stopped behind its back; a drained queue's jobs go back; and what a queue lent does. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/evict.h"
#include "scheduler/jobs/job_queue.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/claims.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/rulebook.h"
#include "scheduler/plan_apply.h"
#include "tenants/access/principal.h"

#include <string.h>

static struct machine m;
static struct claims claims;
FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0), f.scheduler.claims = &claims), NOTHING_MORE)

static struct principal who;

static struct work begin(struct uuid tenant)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = tenant, .principal = &who,
                      .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(f.api.pool, SCOPE_TENANT(tenant), 0, w.arena, &w.tx, e));
    return w;
}

static void end(struct work *w)
{
    OK(db_commit(w->tx, e));
    arena_free(w->arena);
}

static struct job_queue declared(const char *name, int mode, int stop)
{
    struct job_queue q = { .name = str_c(name), .mode = mode, .stop_policy = stop }, got;
    struct work w = begin(f.tenant_a);
    OK(job_queue_create(&w, &q, &got, e));
    end(&w);
    got.name = str_c(name);
    return got;
}

static void stop(struct uuid id, int policy)
{
    struct work w = begin(f.tenant_a);
    struct job_queue got;
    OK(job_queue_set(&w, id, &(struct job_queue_change){ .has_stop_policy = true, .stop_policy = policy }, -1, &got, e));
    assert_int_equal(got.stop_policy, policy);
    end(&w);
}

static void forget(struct uuid id)
{
    struct work w = begin(f.tenant_a);
    OK(job_queue_delete(&w, id, -1, e));
    end(&w);
}

static int64_t because(const char *reason)
{
    return fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND reason = '%s'", reason);
}

static int64_t guarded(void)
{
    return fixture_count(&f, "SELECT count(*) FROM quota WHERE guarded");
}

static void a_queue_is_its_tenants(void **state)
{
    (void)state;
    struct err why = { 0 };
    struct job_queue q = declared("night", QUEUE_STRICT_FIFO, QUEUE_GOES), got;
    struct slice rows = { 0 };
    assert_int_equal(guarded(), 1);
    struct work w = begin(f.tenant_b);
    assert_int_equal(job_queue_get(&w, q.queue_id, &got, &why), ERR_NOT_FOUND);
    assert_int_equal(job_queue_set(&w, q.queue_id, &(struct job_queue_change){ .has_mode = true }, -1, &got, &why),
        ERR_NOT_FOUND);
    assert_int_equal(job_queue_delete(&w, q.queue_id, -1, &why), ERR_NOT_FOUND);
    OK(job_queue_list(&w, UUID_NIL, 10, &rows, e));
    assert_int_equal(rows.n, 0);
    q.mode = QUEUE_BEST_EFFORT_FIFO;
    OK(job_queue_create(&w, &q, &got, e));      /* the same name is another tenant's own */
    OK(job_queue_delete(&w, got.queue_id, 1, e));
    end(&w);
    w = begin(f.tenant_a);
    OK(job_queue_get(&w, q.queue_id, &got, e));
    assert_true(got.mode == QUEUE_STRICT_FIFO && got.stop_policy == QUEUE_GOES && got.version == 1);
    const struct job_queue_change c = { .has_reclaim_within_cohort = true, .reclaim_within_cohort = RECLAIM_ANY };
    assert_int_equal(job_queue_set(&w, q.queue_id, &c, 7, &got, &why), ERR_PRECONDITION);
    OK(job_queue_set(&w, q.queue_id, &c, 1, &got, e));
    assert_true(got.mode == QUEUE_STRICT_FIFO && got.reclaim_within_cohort == RECLAIM_ANY && got.version == 2);
    OK(job_queue_list(&w, UUID_NIL, 10, &rows, e));
    assert_int_equal(rows.n, 1);
    end(&w);
    w = begin(f.tenant_a);
    assert_int_equal(job_queue_create(&w, &(struct job_queue){ .name = STR("night"), .project_id = q.queue_id }, &got, &why),
                     ERR_NOT_FOUND);
    assert_string_equal(why.field, "/project_id");
    assert_int_equal(job_queue_create(&w, &(struct job_queue){ .name = STR("night") }, &got, &why), ERR_EXISTS);
    assert_string_equal(why.field, "/name");
    db_rollback(w.tx);
    arena_free(w.arena);
    forget(q.queue_id);
    assert_int_equal(guarded(), 0);
}

static void there_are_at_most_so_many(void **state)
{
    (void)state;
    char tenant[UUID_TEXT];
    struct err why = { 0 };
    struct job_queue got;
    uuid_text(f.tenant_a, tenant);
    fixture_exec(&f, "INSERT INTO queue (tenant_id, queue_id, name, created_by) SELECT '%s', gen_random_uuid(), 'q' || n, '%s'"
                     " FROM generate_series(1, %d) n", tenant, tenant, QUEUES_MAX);
    struct work w = begin(f.tenant_a);
    assert_int_equal(job_queue_create(&w, &(struct job_queue){ .name = STR("more") }, &got, &why), ERR_LIMIT);
    db_rollback(w.tx);
    arena_free(w.arena);
    fixture_exec(&f, "DELETE FROM queue");
}

/* Two jobs of eight and one slots, and one that fits beside what runs. */
static void modes_and_stops_bind(void **state)
{
    (void)state;
    struct uuid jobs[3];
    struct lease_grant g;
    struct job_queue q = declared("default", QUEUE_STRICT_FIFO, QUEUE_GOES);
    submit(&f, f.tenant_a, 1, 4, 3, &jobs[0]);
    assert_int_equal(plan(&f), 1);
    submit(&f, f.tenant_a, 1, 8, 3, &jobs[1]);
    submit(&f, f.tenant_a, 1, 1, 3, &jobs[2]);
    assert_int_equal(plan(&f), 0);
    assert_int_equal(because("Resources"), 1);
    assert_int_equal(because("Priority"), 1);
    stop(q.queue_id, QUEUE_HOLD);
    assert_int_equal(plan(&f), 0);
    assert_int_equal(because("QueueStopped"), 2);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    stop(q.queue_id, QUEUE_HOLD_AND_DRAIN);
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24), .now_us = clock_wall_us(&clock_system) };
    struct slice nodes;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(evict_drain(&w, &nodes, e));
    assert_int_equal(nodes.n, 1);
    OK(evict_drain(&w, &nodes, e));     /* once */
    assert_int_equal(nodes.n, 0);
    end(&w);
    assert_string_equal(state_of(&f, jobs[0]), "PREEMPTING");
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
    assert_int_equal(plan(&f), 0);
    assert_int_equal(because("QueueStopped"), 3);
    stop(q.queue_id, QUEUE_GOES);
    assert_int_equal(plan(&f), 1);
    forget(q.queue_id);
    assert_int_equal(plan(&f), 1);      /* the one that fits, now that the order is not strict */
    for (int i = 0; i < 3; i++)
        cancel_job(&f, f.tenant_a, jobs[i]);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() - interval '1 minute' WHERE live");
    reap(&f);
    fixture_check(&f);
}

/* A plan that was made before the queue was stopped starts nothing. */
static void a_stop_binds_under_the_lock(void **state)
{
    (void)state;
    struct uuid job;
    struct plan p;
    struct plan_result r;
    struct snapshot s;
    struct job_queue q = declared("default", QUEUE_BEST_EFFORT_FIFO, QUEUE_GOES);
    submit(&f, f.tenant_a, 1, 1, 3, &job);
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 26), .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(snapshot_read(&w, 100, true, &s, e));
    OK(db_commit(w.tx, e));
    placement_plan(&s, w.arena, &p);
    assert_int_equal(p.places.n, 1);
    stop(q.queue_id, QUEUE_HOLD);
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(plan_apply(&w, &s, &p, 30000, &r, e));
    assert_int_equal(r.admitted, 0);
    end(&w);
    cancel_job(&f, f.tenant_a, job);
    forget(q.queue_id);
    fixture_check(&f);
}

static struct uuid of_queue(struct uuid tenant, const char *queue)
{
    struct uuid id;
    char text[UUID_TEXT];
    submit(&f, tenant, 1, 4, 3, &id);
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET queue = '%s' WHERE job_id = '%s'", queue, text);
    return id;
}

/* Two jobs that borrow fill the machine; one that is owed its own sends one away, and has what it held. */
static void comes_back(struct uuid owner, struct uuid borrower, int64_t told)
{
    struct lease_grant g[2], h;
    struct uuid lent[2] = { of_queue(borrower, "lent"), of_queue(borrower, "lent") };
    assert_int_equal(plan(&f), 2);
    assert_int_equal(take(&f, &m, 2, g), 2);
    assert_int_equal(tell(&f, &m, g, 2, LE_START, NULL), 2);
    struct uuid owed = of_queue(owner, "owns"), more = of_queue(borrower, "lent");
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'PREEMPTING'"), 1);
    assert_int_equal(because("Preempting"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live AND evict_why LIKE '%%job_%%'"), told);
    assert_int_equal(plan(&f), 0);      /* one is enough, also at the second look */
    const int gone = strcmp(state_of(&f, lent[0]), "PREEMPTING") ? 1 : 0;
    const size_t which = uuid_eq(g[0].job_id, lent[gone]) ? 0 : 1;
    assert_int_equal(tell(&f, &m, &g[which], 1, LE_PREEMPT, NULL), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &h), 1);
    assert_true(uuid_eq(h.job_id, owed));
    assert_int_equal(plan(&f), 0);      /* and nobody sends it away */
    assert_string_equal(state_of(&f, lent[gone]), "PENDING");
    assert_int_equal(run_through(&f, &m, &h, 1), 2);
    cancel_job(&f, borrower, more);
    cancel_job(&f, borrower, lent[0]);
    cancel_job(&f, borrower, lent[1]);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() - interval '1 minute' WHERE live");
    reap(&f);
    fixture_check(&f);
}

static void what_was_lent_comes_back(void **state)
{
    (void)state;
    char a[UUID_TEXT], b[UUID_TEXT];
    struct job_queue q = declared("owns", QUEUE_BEST_EFFORT_FIFO, QUEUE_GOES), got;
    struct work w = begin(f.tenant_a);
    const struct job_queue_change any = { .has_reclaim_within_cohort = true, .reclaim_within_cohort = RECLAIM_ANY };
    OK(job_queue_set(&w, q.queue_id, &any, -1, &got, e));
    end(&w);
    uuid_text(f.tenant_a, a);
    uuid_text(f.tenant_b, b);
    fixture_exec(&f, "INSERT INTO quota_rule (tenant_id, rule_id, place, queue, resource, nominal, created_by) VALUES"
                     " ('%s', gen_random_uuid(), 'queue', 'owns', 'slots', 4, '%s'),"
                     " ('%s', gen_random_uuid(), 'queue', 'lent', 'slots', 4, '%s')",
                 a, a, a, a);
    comes_back(f.tenant_a, f.tenant_a, 1);
    fixture_exec(&f, "DELETE FROM quota_rule;"
                     "INSERT INTO quota_rule (tenant_id, rule_id, place, resource, nominal, created_by) VALUES"
                     " ('%s', gen_random_uuid(), 'tenant', 'slots', 4, '%s'),"
                     " ('%s', gen_random_uuid(), 'tenant', 'slots', 4, '%s')", a, a, b, b);
    comes_back(f.tenant_a, f.tenant_b, 0);      /* whom it is for is not told to another tenant */
    fixture_exec(&f, "DELETE FROM quota_rule");
    forget(q.queue_id);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_queue_is_its_tenants), cmocka_unit_test(there_are_at_most_so_many),
                                        cmocka_unit_test(modes_and_stops_bind), cmocka_unit_test(a_stop_binds_under_the_lock),
                                        cmocka_unit_test(what_was_lent_comes_back) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
