/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop_stand.c - a scheduler that stands by knows what waits: its first plan as leader is made from that and reads what
 * changed since; one that did not read for too long, or that finds another database, reads all anew; what it reads follows what
 * changed. */
#include "tests/db/scheduler/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/leader.h"
#include "scheduler/loop_int.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/rules.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/mirror/waiting_int.h"
#include "scheduler/plan_apply.h"
#include "scheduler/plan_check.h"
#include "scheduler/plan_gang.h"
#include "audit/event.h"
#include "tenants/home/residency_facts.h"
#include "tests/lib/wait.h"

#include <pthread.h>
#include <string.h>

enum { MANY = 300, ROOM = 8 };
#define ADMISSIONS "SELECT count(*) FROM plan_change WHERE versions IS NOT NULL"
static struct machine m;
static struct app other;                /* who stands by */
static struct standing standing;
static int64_t ahead_us;                /* of its clock: it need not wait for the second */

static int64_t wall(void *ctx)
{
    (void)ctx;
    return clock_wall_us(&clock_system);
}
static int64_t mono(void *ctx)
{
    (void)ctx;
    return clock_mono_us(&clock_system) + ahead_us;
}
static const struct clock ahead = { .wall_us = wall, .mono_us = mono };

FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", ROOM, 0), f.scheduler.waiting = waiting_new(),
               f.config->scheduler_lease_ms = 600000),          /* a busy machine loses none */
              waiting_free(f.scheduler.waiting))

static void look(int64_t after_us)
{
    struct arena *a = arena_new((size_t)256 << 20);
    ahead_us += after_us;
    loop_stand_by(&other, a, &standing);
    arena_free(a);
}

static struct waiting_count knows(const struct app *app)
{
    return waiting_counted(app->waiting);
}

static int64_t plan_of(const struct app *app, bool is_full)
{
    struct arena *a = arena_new((size_t)256 << 20);
    int64_t admitted = 0;
    bool more;
    OK(loop_plan_once(app, a, is_full, &admitted, &more, e));
    arena_free(a);
    return admitted;
}

/* It is what the database says, row by row. */
static void knows_all(struct app *app)
{
    const int64_t differing = knows(app).differing;
    for (int i = 0; i < 2; i++) {
        struct arena *a = arena_new((size_t)64 << 20);
        struct work w = loop_work(app, a);
        OK(RUN_SYSTEM(&w, app->pool, TX_READ_ONLY, waiting_read(&w, waiting_asked(&w, true), e), e));
        arena_free(a);
    }
    assert_true(waiting_is_whole(app->waiting));
    assert_int_equal(knows(app).differing, differing);
    assert_int_equal(knows(app).jobs, fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND not_before IS NULL"));
}

static int begin(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    fixture_exec(&f, "DELETE FROM job_change; DELETE FROM plan_change");
    other = f.scheduler;
    other.waiting = waiting_new();
    other.machines = machines_new();
    other.clock = &ahead;
    standing = (struct standing){ 0 };
    waiting_forget(f.scheduler.waiting);
    submit(&f, f.tenant_a, MANY, ROOM + 1, 3, NULL);            /* which fit nowhere */
    return 0;
}

static int end(void **state)
{
    (void)state;
    waiting_free(other.waiting);
    machines_free(other.machines);
    fixture_end_all(&f);
    return 0;
}

/* The leader plans, tells and takes back. */
static void a_while_of_the_leader(void)
{
    struct lease_grant g[ROOM];
    submit(&f, f.tenant_b, ROOM + 4, 1, 9, NULL);
    assert_int_equal(plan_of(&f.scheduler, true), ROOM);
    const size_t n = take(&f, &m, ROOM, g);
    assert_int_equal(n, ROOM);
    assert_int_equal(tell(&f, &m, g, 2, LE_RETURN, NULL), 2);
    assert_int_equal(run_through(&f, &m, g + 2, n - 2), 2 * (n - 2));
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
    assert_int_equal(plan_of(&f.scheduler, false), 6);
}

static void what_it_reads_follows_what_changed(void **state)
{
    (void)state;
    look(0);
    assert_int_equal(knows(&other).loads, 1);
    assert_int_equal(knows(&other).jobs, MANY);
    a_while_of_the_leader();
    look(2000000);
    knows_all(&other);
    const struct waiting_count was = knows(&other);
    look(60000000);
    const int64_t machines = machines_counted(other.machines).changed;
    for (int i = 0; i < 20; i++)
        look(1000000);
    assert_int_equal(knows(&other).changed, was.changed);               /* nothing changed, whatever waits */
    assert_int_equal(machines_counted(other.machines).changed, machines);
    fixture_exec(&f, "UPDATE node SET cpus = cpus + 1, cpu_milli = cpu_milli + 1000 WHERE name = 'w1'");
    look(1000000);
    assert_int_equal(machines_counted(other.machines).changed, machines + 1);
    assert_int_equal(machines_counted(other.machines).loads, 1);
    assert_true(knows(&other).compared - was.compared <= 3 * WAITING_SLICE);
    submit(&f, f.tenant_b, 3, ROOM + 1, 3, NULL);
    look(100000);
    assert_int_equal(knows(&other).changed, was.changed);               /* nor is each look a read */
    look(1000000);
    assert_int_equal(knows(&other).changed, was.changed + 3);
    struct lease_grant g[ROOM];
    assert_int_equal(run_through(&f, &m, g, take(&f, &m, ROOM, g)), 2 * 6);
    look(1000000);
    assert_int_equal(knows(&other).changed, was.changed + 3);           /* what runs and ends is none of what waits */
    const int64_t notes = fixture_count(&f, ADMISSIONS);
    submit(&f, f.tenant_b, 2, 1, 3, NULL);
    assert_int_equal(plan_of(&f.scheduler, false), 2);
    assert_int_equal(fixture_count(&f, ADMISSIONS), notes + 1);         /* a plan's admissions are one note */
    look(1000000);
    assert_int_equal(knows(&other).changed, was.changed + 5);
    assert_int_equal(knows(&other).loads, 1);
    knows_all(&other);
}

static void *run(void *arg)
{
    loop_run(arg);
    return NULL;
}

/* A real loop leads and is gone; the other one's first plan starts the job that came last, and has read one row for it. */
static void a_new_leader_plans_from_what_it_kept(void **state)
{
    (void)state;
    struct uuid jobs[ROOM], last;
    pthread_t thread;
    struct leader *a = leader_new(pg_harness_conninfo(f.pg, NULL, NULL), &clock_system);
    struct leader *b = leader_new(pg_harness_conninfo(f.pg, NULL, NULL), &clock_system);
    struct loop *l = loop_new(&f.scheduler, a);
    WAIT_WHILE(!leader_check(a));
    assert_int_equal(pthread_create(&thread, NULL, run, l), 0);
    submit(&f, f.tenant_b, ROOM, 1, 3, jobs);
    assert_true(loop_wake(l, false));
    WAIT_WHILE(!leader_is_connected(b) && !leader_check(b));
    for (int i = 0; i < ROOM; i++)
        WAIT_WHILE((look(1000000), strcmp(state_of(&f, jobs[i]), "ADMITTED")));
    loop_stop(l);
    pthread_join(thread, NULL);
    loop_free(l);
    look(1000000);
    assert_int_equal(knows(&other).jobs, MANY);
    leader_free(a);                                                     /* it is gone */
    struct lease_grant g[ROOM];
    assert_int_equal(run_through(&f, &m, g, take(&f, &m, ROOM, g)), 2 * ROOM);
    submit(&f, f.tenant_b, 1, 1, 3, &last);
    WAIT_WHILE(!leader_check(b));
    const struct waiting_count was = knows(&other);
    const struct machines_count had = machines_counted(other.machines);
    assert_int_equal(had.loads, 1);
    loop_lead(&other);
    assert_true(waiting_is_whole(other.waiting));
    assert_int_equal(plan_of(&other, false), 1);
    assert_string_equal(state_of(&f, last), "ADMITTED");
    assert_int_equal(knows(&other).loads, was.loads);
    assert_int_equal(knows(&other).changed, was.changed + 1);
    assert_int_equal(machines_counted(other.machines).loads, 1);
    assert_int_equal(machines_counted(other.machines).changed, had.changed);
    knows_all(&other);
    leader_free(b);
}

static void tidy(void)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = loop_work(&f.scheduler, a);
    bool more;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, waiting_tidy(&w, &more, e), e));
    assert_false(more);
    arena_free(a);
}

static void who_fell_behind_reads_all_anew(void **state)
{
    (void)state;
    look(0);
    assert_int_equal(plan_of(&f.scheduler, true), 0);
    tidy();
    a_while_of_the_leader();
    (void)plan_of(&f.scheduler, true);
    tidy();
    look(2000000);
    assert_int_equal(knows(&other).loads, 1);           /* notes outlive one purge, and what was removed it had read */
    assert_true(fixture_count(&f, ADMISSIONS) > 0);
    struct lease_grant g[ROOM];
    assert_int_equal(run_through(&f, &m, g, take(&f, &m, ROOM, g)), 2 * 6);
    submit(&f, f.tenant_b, ROOM, 1, 3, NULL);
    assert_int_equal(plan_of(&f.scheduler, false), ROOM);
    for (int i = 0; i < 2; i++) {
        (void)plan_of(&f.scheduler, true);
        tidy();
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM plan_change"), 0);
    look(1000000);
    assert_false(waiting_is_begun(other.waiting));
    look(1000000);
    assert_int_equal(knows(&other).loads, 1);           /* it began so a moment ago */
    look(60000000);
    assert_int_equal(knows(&other).loads, 2);
    assert_int_equal(knows(&other).differing, 0);
    knows_all(&other);
}

static struct db_pool *pool_to(struct pg_harness *to, size_t size)
{
    static const struct stmt *const *const lists[] = { residency_stmts, audit_event_stmts, snapshot_stmts, machines_stmts,
        waiting_stmts, rules_stmts, plan_apply_stmts, plan_check_stmts, plan_gang_stmts, job_apply_stmts, NULL };
    return db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(to, "falaj_scheduler", NULL), .size = size,
                                               .lists = lists });
}

/* Of which database a read in the pool's session is; "": it was another one than that of the read before. */
static const char *epoch_read(char epoch[static 64])
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct work w = loop_work(&other, a);
    struct snapshot s;
    struct slice held;
    OK(RUN_SYSTEM(&w, other.pool, TX_READ_ONLY, waiting_read(&w, waiting_asked(&w, false), e), e));
    OK(RUN_SYSTEM(&w, other.pool, TX_READ_ONLY, machines_read(&w, machines_asked(&w, false), false, &s, &held, e), e));
    snprintf(epoch, 64, "%s", other.waiting->epoch ? other.waiting->epoch : "");
    arena_free(a);
    return epoch;
}

static void another_than(const char *was)
{
    char now[64];
    assert_string_equal(epoch_read(now), "");
    assert_string_not_equal(epoch_read(now), was);
    assert_memory_equal(now, was, (size_t)(strrchr(was, '/') - was) + 1);       /* of the same cluster */
}

/* A table that is made anew under a live session, whose statements are prepared long since, is another one; so is one that
 * has another file; and the session knows its cluster when the transaction that asked is rolled back. */
static void another_table_is_seen_in_a_live_session(void **state)
{
    (void)state;
    enum { GENERIC = 8 };               /* times after which PostgreSQL has kept its plan */
    char first[64], now[64];
    struct db_pool *pool = pool_to(f.pg, 1);
    struct arena *a = arena_new(1 << 20);
    struct db_tx *tx;
    other.pool = pool;
    for (int i = 0; i < 2; i++) {
        OK(db_begin(pool, SCOPE_SYSTEM, TX_READ_ONLY, a, &tx, e));
        struct work w = loop_work(&other, a);
        w.tx = tx;
        OK(waiting_read(&w, waiting_asked(&w, false), e));
        db_rollback(tx);
    }
    (void)epoch_read(first);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM pg_control_system() c, pg_database d WHERE d.datname ="
                                   " current_database() AND '%s' LIKE c.system_identifier || '/' || d.oid || '/________/%%'"
                                   " AND '%s' LIKE '%%/' || pg_relation_filenode('job')", first, first), 1);
    for (int i = 0; i < GENERIC; i++)
        assert_string_equal(epoch_read(now), first);
    assert_int_equal(machines_counted(other.machines).loads, 1);
    fixture_exec(&f, "ALTER TABLE job RENAME TO job_was; CREATE TABLE job (LIKE job_was INCLUDING GENERATED);"
                 "GRANT SELECT ON job TO falaj_scheduler");
    another_than(first);
    assert_int_equal(machines_counted(other.machines).loads, 2);
    fixture_exec(&f, "DROP TABLE job; ALTER TABLE job_was RENAME TO job");
    assert_string_equal(epoch_read(now), "");
    for (int i = 0; i < GENERIC; i++)
        assert_string_equal(epoch_read(now), first);
    assert_int_equal(machines_counted(other.machines).loads, 3);
    fixture_exec(&f, "VACUUM FULL job");
    another_than(first);
    assert_int_equal(machines_counted(other.machines).loads, 4);
    other.pool = f.scheduler.pool;
    arena_free(a);
    db_pool_free(pool);
}

/* The leader died, and the database is another one, made from a dump: nothing of what was known is believed. */
static void a_restored_database_is_read_anew(void **state)
{
    (void)state;
    look(0);
    char was[64], now[64];
    (void)snprintf(was, sizeof was, "%s", other.waiting->epoch);
    struct pg_harness *to = pg_harness_new_cluster();
    pg_harness_restore(f.pg, to, "postgres");
    submit(&f, f.tenant_b, 4, 1, 3, NULL);              /* which the dump lacks */
    look(2000000);
    assert_int_equal(knows(&other).jobs, MANY + 4);
    struct db_pool *pool = pool_to(to, 4);
    other.pool = pool;
    loop_lead(&other);
    assert_int_equal(machines_counted(other.machines).loads, 1);
    assert_int_equal(plan_of(&other, false), 0);
    assert_int_equal(machines_counted(other.machines).loads, 2);
    WAIT_WHILE((plan_of(&other, false), !waiting_is_whole(other.waiting)));
    assert_int_equal(knows(&other).jobs, MANY);
    assert_int_equal(knows(&other).loads, 2);
    (void)snprintf(now, sizeof now, "%s", other.waiting->epoch);
    assert_memory_not_equal(was, now, strcspn(was, "/"));       /* of another cluster, whatever files its tables have */
    other.pool = f.scheduler.pool;
    db_pool_free(pool);
    pg_harness_free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_it_reads_follows_what_changed, begin, end),
        cmocka_unit_test_setup_teardown(a_new_leader_plans_from_what_it_kept, begin, end),
        cmocka_unit_test_setup_teardown(who_fell_behind_reads_all_anew, begin, end),
        cmocka_unit_test_setup_teardown(another_table_is_seen_in_a_live_session, begin, end),
        cmocka_unit_test_setup_teardown(a_restored_database_is_read_anew, begin, end) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
