/* SPDX-License-Identifier: Apache-2.0 */
/* test_budget_watch.c - from the price book to the ledger to the budget: what attempts are charged, thresholds, jobs held and let go, and
 * quota rules as the database and the planner see them. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"
#include "scheduler/duty/budget_watch.h"
#include "tenants/accounts/budget.h"
#include "tenants/home/project.h"
#include "tenants/accounts/price.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota_rule.h"
#include "tenants/accounts/usage.h"

#include <pthread.h>
#include <string.h>

static struct fixture f;
static struct machine m;
static struct principal who;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w", 64, 0);
    who.user_id = uuid_v7(1);
    who.tenant_id = f.tenant_a;
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_check(&f);
    fixture_close(&f);
    return 0;
}

static struct work unit(struct uuid tenant)
{
    struct work w = { .app = &f.api, .arena = arena_new(64 << 20), .tenant_id = tenant, .now_us = clock_wall_us(&clock_system), .principal = &who };
    OK(db_begin(f.api.pool, SCOPE_TENANT(tenant), 0, w.arena, &w.tx, e));
    return w;
}
static void done(struct work *w)
{
    OK(db_commit(w->tx, e));
    arena_free(w->arena);
}

static struct budget_watch_result look(void)
{
    struct arena *a = arena_new(64 << 20);
    struct budget_watch_result r;
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(budget_watch_pass(&w, 100, &r, e));
    OK(db_commit(w.tx, e));
    arena_free(a);
    return r;
}

static void work_off(size_t n)
{
    struct lease_grant g[64];
    plan(&f);
    assert_int_equal(take(&f, &m, 64, g), n);
    assert_int_equal(run_through(&f, &m, g, n), 2 * n);
}

static void an_attempt_is_charged_by_the_price_of_its_lease(void **state)
{
    (void)state;
    struct slice rows = { 0 };
    fixture_exec(&f, "INSERT INTO price (price_id, flavor, valid_from, currency, slot_hour, gpu_hour, kwh, slot_watts, gpu_watts, created_by) VALUES"
                     " (gen_random_uuid(), 'cpu', now() - interval '2 days', 'AED', 7200, 0, 0, 0, 0, gen_random_uuid()),"
                     " (gen_random_uuid(), 'cpu', now() - interval '1 day', 'AED', 3600, 0, 1000, 360, 0, gen_random_uuid()),"
                     " (gen_random_uuid(), 'cpu', now() + interval '1 day', 'AED', 999999, 0, 0, 0, 0, gen_random_uuid())");
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    plan(&f);
    fixture_exec(&f, "UPDATE attempt SET leased_at = leased_at - interval '1 hour' WHERE live");
    /* Open: two slots for an hour are 7200 minor units, 2 x 360 W x 1 h = 0.72 kWh, that is 720 more. */
    assert_in_range(fixture_count(&f, "SELECT round(money_micro / 1000000.0) FROM usage_open"), 7920, 8000);
    assert_in_range(fixture_count(&f, "SELECT round(energy_mj / 3600000.0) FROM usage_open"), 720, 730);
    fixture_check(&f);
    struct lease_grant g[1];
    assert_int_equal(take(&f, &m, 1, g), 1);
    /* Ended, it is charged from when its machine took it. */
    fixture_exec(&f, "UPDATE attempt SET taken_at = taken_at - interval '1 hour' WHERE live");
    assert_int_equal(run_through(&f, &m, g, 1), 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM usage_debit"), 1);
    assert_in_range(fixture_count(&f, "SELECT round(max(money_micro) / 1000000.0) FROM usage_debit"), 7920, 8100);
    struct work w = unit(f.tenant_a);
    OK(usage_sums(&w, 0, 0, USAGE_DAY | USAGE_FLAVOR, &rows, e));
    assert_int_equal(rows.n, 1);
    const struct usage_sum *s = rows.items;
    assert_true(str_eq_c(s->flavor, "cpu") && str_eq_c(s->currency, "AED") && !s->zone.ptr && s->amount_minor > 7919 && s->attempts == 1);
    OK(usage_lines(&w, 0, 0, (struct timestamp){ 0 }, UUID_NIL, 10, &rows, e));
    assert_int_equal(rows.n, 1);
    struct buf b = BUF(4096);
    usage_line_csv(rows.items, &b);
    csv_cell(&b, STR("=1+\"2\""));
    assert_non_null(strstr(b.ptr, ",default,cpu,ae-dxb-1,default,7"));
    assert_non_null(strstr(b.ptr, "\"'=1+\"\"2\"\"\""));
    buf_release(&b);
    done(&w);
}

/* Of processors and of GPUs what was measured, each, or else the watts of the price. */
static void what_was_measured_is_charged(void **state)
{
    (void)state;
    static const struct { bool has_cpu, has_gpu; int64_t cpu_mj, gpu_mj; const char *energy; } rows[] = {
        { true, false, 5000000, 7, "5000000::bigint" }, { true, true, 5000000, 7, "5000007::bigint" },
        { false, true, 5000000, 7, "slot_ms * 360 + 7" }, { false, false, 5, 7, "slot_ms * 360" },
        { true, false, 0, 7, "0::bigint" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lease_grant g;
        char a[UUID_TEXT];
        submit(&f, f.tenant_a, 1, 2, 3, NULL);
        plan(&f);
        assert_int_equal(take(&f, &m, 1, &g), 1);
        uuid_text(g.attempt_id, a);
        const struct lease_item start = { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence,
                                          .event = LE_START, .message = STR("") };
        struct lease_item items[2] = { start, start };
        items[1].event = LE_SUCCEED;
        items[1].has_cpu_mj = rows[i].has_cpu;
        items[1].cpu_mj = rows[i].cpu_mj;
        items[1].has_gpu_mj = rows[i].has_gpu;
        items[1].gpu_mj = rows[i].gpu_mj;
        assert_int_equal(say_all(&f, &m, items, 2, NULL), 2);
        int64_t got = fixture_count(&f, "SELECT energy_mj FROM usage_record WHERE attempt_id = '%s'", a);
        int64_t want = fixture_count(&f, "SELECT %s FROM usage_record WHERE attempt_id = '%s'", rows[i].energy, a);
        if (got != want)
            fail_msg("row %zu: %lld of %lld", i, (long long)got, (long long)want);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE attempt_id = '%s' AND (cpu_mj IS NOT NULL) = %s"
                                           " AND (gpu_mj IS NOT NULL) = %s", a, rows[i].has_cpu ? "true" : "false",
                                       rows[i].has_gpu ? "true" : "false"), 1);
    }
}

/* What is charged belongs to the period that begins with it, and not to the one that ends with it: two months count it once. */
static void each_debit_is_in_one_period(void **state)
{
    (void)state;
    const int64_t at = fixture_count(&f, "SELECT extract(epoch FROM min(at)) * 1000000 FROM usage_debit"), day = INT64_C(86400000000);
    const int64_t last = fixture_count(&f, "SELECT extract(epoch FROM max(at)) * 1000000 FROM usage_debit");
    const int64_t all = fixture_count(&f, "SELECT count(*) FROM usage_debit");
    const struct { int64_t from, to; bool has; } rows[] = { { at, at + day, true }, { at - day, at, false },
                                                            { last + 1, last + day, false }, { at - day, last + 1, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slice sums = { 0 }, lines = { 0 };
        struct work w = unit(f.tenant_a);
        OK(usage_sums(&w, rows[i].from, rows[i].to, USAGE_ZONE, &sums, e));
        OK(usage_lines(&w, rows[i].from, rows[i].to, (struct timestamp){ 0 }, UUID_NIL, 100, &lines, e));
        assert_int_equal(lines.n, rows[i].has ? all : 0);
        assert_int_equal(sums.n ? ((const struct usage_sum *)sums.items)->attempts : 0, lines.n);
        done(&w);
    }
    struct slice none;
    struct work w = unit(f.tenant_a);
    struct err err = { 0 };
    assert_int_equal(usage_sums(&w, at, at, 0, &none, &err), ERR_INVALID);
    assert_int_equal(usage_sums(&w, at, at + 401 * day, 0, &none, &err), ERR_INVALID);
    done(&w);
}

/* Prices of the past stand; thresholds are percents in ascending order. What is refused leaves nothing. */
static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct work w = unit(f.tenant_a);
    struct err err = { 0 };
    struct price price = { .flavor = STR("cpu"), .currency = STR("AED"), .valid_from = { w.now_us - 1 } };
    struct budget b;
    assert_int_equal(price_add(&w, &price, &price, &err), ERR_INVALID);
    price.valid_from.us = w.now_us;
    OK(price_add(&w, &price, &price, e));               /* from this moment on is no past */
    const struct { int64_t p[3]; size_t n; bool is_good; } rows[] = {
        { { 0 }, 1, false }, { { 1001 }, 1, false }, { { 50, 50 }, 2, false }, { { 80, 50 }, 2, false }, { { -5, 50 }, 2, false },
        { { 1, 50, 1000 }, 3, true }, { { 100 }, 1, true },
    };
    struct budget_new in = { .name = STR("thresholds"), .measure = 0, .amount = 1000000, .currency = STR("AED") };
    OK(budget_create(&w, &in, &b, e));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct budget_change change = { .warn_percent = { (int64_t *)(uintptr_t)rows[i].p, rows[i].n } };
        assert_int_equal(budget_set(&w, b.budget_id, &change, -1, &b, &err), rows[i].is_good ? ERR_OK : ERR_INVALID);
    }
    in.currency = STR_NULL;
    assert_int_equal(budget_create(&w, &in, &b, &err), ERR_INVALID);
    in.measure = 1, in.currency = STR("AED");
    assert_int_equal(budget_create(&w, &in, &b, &err), ERR_INVALID);
    db_rollback(w.tx);
    arena_free(w.arena);
}

static void a_budget_tells_stops_holds_and_lets_go(void **state)
{
    (void)state;
    struct budget b;
    struct budget_new in = { .name = STR("month"), .measure = 0, .amount = 10000, .currency = STR("AED"), .has_stop_percent = true, .stop_percent = 100 };
    struct work w = unit(f.tenant_a);
    OK(budget_create(&w, &in, &b, e));
    done(&w);
    assert_true(b.used > 7919 && b.forecast >= b.used);         /* what this month has seen already counts */
    struct budget_watch_result r = look();
    assert_int_equal(r.told, 0);
    struct uuid ids[3];
    assert_int_equal(submit(&f, f.tenant_a, 3, 1, 3, ids), 3);
    fixture_exec(&f, "INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until) SELECT tenant_id,"
                     " gen_random_uuid(), job_id, 99, (SELECT node_id FROM node), 1, 0, now() FROM job WHERE queued LIMIT 1");
    fixture_exec(&f, "UPDATE attempt SET leased_at = now() - interval '40 minutes' WHERE live");        /* runs up 2640 */
    r = look();
    assert_int_equal(r.told, 1);
    assert_int_equal(r.held, 3);
    assert_string_equal(state_of(&f, ids[1]), "HELD");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE reason = 'BudgetExhausted'"), 3);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, NULL), 0);  /* refused */
    assert_int_equal(submit(&f, f.tenant_b, 1, 1, 3, NULL), 1);  /* somebody else's */
    assert_int_equal(look().told, 0);                             /* once */
    fixture_exec(&f, "DELETE FROM attempt WHERE fence = 99");
    w = unit(f.tenant_a);
    OK(budget_set(&w, b.budget_id, &(struct budget_change){ .amount = 100000 }, b.version, &b, e));
    done(&w);
    r = look();
    assert_int_equal(r.released, 3);
    assert_string_equal(state_of(&f, ids[1]), "PENDING");
    work_off(4);
    fixture_check(&f);
}

/* A budget of a project that is spent stops that project: the tenant's other jobs wait, run and are taken in as before. */
static void a_spent_project_stops_itself_alone(void **state)
{
    (void)state;
    struct project project;
    struct budget b;
    struct work w = unit(f.tenant_a);
    OK(project_create(&w, STR("spent"), &(struct shown_name){ 0 }, &project, e));
    const struct budget_new in = { .project_id = project.project_id, .name = STR("of a project"), .amount = 10,
                                   .currency = STR("AED"), .has_stop_percent = true, .stop_percent = 100 };
    OK(budget_create(&w, &in, &b, e));
    done(&w);
    struct uuid ids[4];
    assert_int_equal(submit(&f, f.tenant_a, 4, 1, 3, ids), 4);
    fixture_exec(&f, "UPDATE job SET project_id = (SELECT project_id FROM project WHERE name = 'spent')"
                     " WHERE job_id IN (SELECT job_id FROM job WHERE queued ORDER BY job_id LIMIT 2)");
    fixture_exec(&f, "INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until)"
                     " SELECT tenant_id, gen_random_uuid(), job_id, 99, (SELECT node_id FROM node), 1, 0, now() FROM job"
                     "  WHERE queued AND project_id IS NOT NULL LIMIT 1");
    fixture_exec(&f, "UPDATE attempt SET leased_at = now() - interval '40 minutes' WHERE live AND fence = 99");
    struct budget_watch_result r = look();
    assert_int_equal(r.held, 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'HELD' AND project_id IS NOT NULL"), 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'PENDING' AND project_id IS NULL"), 2);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, NULL), 1);
    fixture_exec(&f, "DELETE FROM attempt WHERE fence = 99");
    w = unit(f.tenant_a);
    OK(budget_delete(&w, b.budget_id, -1, e));
    done(&w);
    assert_int_equal(look().released, 2);
    work_off(5);
    fixture_check(&f);
}

static void counting_twice_changes_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        look();
        assert_int_equal(fixture_count(&f, "SELECT round(n.settled - (SELECT sum(money_micro) FROM usage_debit l WHERE l.tenant_id ="
                                           " n.tenant_id)) FROM budget_now(NULL) n"), 0);
        submit(&f, f.tenant_a, 2, 1, 3, NULL);
        work_off(2);
    }
}

/* A charge that has its place, of a transaction that ends when it is told. */
static void *charge_late(void *arg)
{
    (void)arg;
    fixture_exec(&f, "DO $$ BEGIN INSERT INTO usage_record (tenant_id, attempt_id, job_id, project_id, queue, zone, pool, flavor,"
                     " slots, gpus, wall_ms, slot_ms, gpu_ms, energy_mj, money_micro, currency)"
                     " SELECT tenant_id, gen_random_uuid(),"
                     " job_id, project_id, queue, zone, pool, flavor, slots, gpus, 1, 1, 0, 50000, 70000000, currency"
                     " FROM usage_record WHERE queue IS NOT NULL AND currency <> '' LIMIT 1;"
                     " WHILE NOT EXISTS (SELECT FROM late_go) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$");
    return NULL;
}

/* What is summed up is not read again, however much ended within the hour; not by a budget that none of it is about either. And
 * nothing is missed that a slow transaction inserts before others and commits after three passes. */
static void a_pass_reads_what_is_new(void **state)
{
    (void)state;
    enum { CHARGES = 3000 };
    static const char difference[] = "SELECT sum(abs(round(n.settled -"
                                     " CASE WHEN b.measure = 'money' THEN s.money ELSE s.kwh END)))"
                                     " FROM budget_now(NULL) n JOIN budget b USING (tenant_id, budget_id) CROSS JOIN LATERAL ("
                                     " SELECT coalesce(sum(money_micro), 0) AS money, coalesce(sum(energy_mj), 0) AS kwh"
                                     " FROM usage_debit l"
                                     " WHERE l.tenant_id = n.tenant_id AND n.project_id IS NULL) s";
    /* Who read a charge a second time would count it, too: its transaction is a new one now. */
    static const char again[] = "UPDATE usage_record SET xid = pg_current_xact_id()";
    fixture_exec(&f, "INSERT INTO budget (tenant_id, budget_id, name, measure, amount, currency, period, period_start,"
                     " created_by) SELECT tenant_id, gen_random_uuid(), 'w', 'kwh', 1000000, '', 'total', '-infinity', budget_id"
                     " FROM budget LIMIT 1");
    fixture_exec(&f, "INSERT INTO usage_record (tenant_id, attempt_id, job_id, project_id, queue, zone, pool, flavor, slots,"
                     " gpus, wall_ms, slot_ms, gpu_ms, energy_mj, money_micro, currency)"
                     " SELECT tenant_id, gen_random_uuid(), job_id,"
                     " project_id, queue, zone, pool, flavor, slots, gpus, 1, 1, 0, 5, 7, currency"
                     " FROM (SELECT * FROM usage_record WHERE queue IS NOT NULL"
                     " AND currency <> '' LIMIT 1) u CROSS JOIN generate_series(1, %d)", CHARGES);
    fixture_exec(&f, "ANALYZE usage_record");
    assert_int_equal(fixture_count(&f, difference), 0);
    for (int i = 0; i < 4; i++)
        look();
    assert_int_equal(fixture_count(&f, difference), 0);
    fixture_exec(&f, again);
    assert_int_equal(fixture_count(&f, difference), 0);
    pthread_t late;
    fixture_exec(&f, "CREATE TABLE late_go ()");
    const int64_t given = fixture_count(&f, "SELECT pg_sequence_last_value('usage_ord'::regclass)");
    assert_int_equal(pthread_create(&late, NULL, charge_late, NULL), 0);
    WAIT_WHILE(fixture_count(&f, "SELECT pg_sequence_last_value('usage_ord'::regclass)") == given);
    submit(&f, f.tenant_a, 2, 1, 3, NULL);
    work_off(2);
    for (int i = 0; i < 4; i++)
        look();
    assert_int_equal(fixture_count(&f, difference), 0);
    fixture_exec(&f, "INSERT INTO late_go DEFAULT VALUES");
    pthread_join(late, NULL);
    fixture_exec(&f, "DROP TABLE late_go");
    assert_int_equal(fixture_count(&f, difference), 0);
    for (int i = 0; i < 4; i++) {
        look();
        assert_int_equal(fixture_count(&f, difference), 0);
    }
    fixture_exec(&f, again);
    look();
    assert_int_equal(fixture_count(&f, difference), 0);
    fixture_exec(&f, "DELETE FROM usage_record u WHERE NOT EXISTS (SELECT FROM attempt a WHERE a.attempt_id = u.attempt_id);"
                     " DELETE FROM budget WHERE name = 'w'; UPDATE budget SET counted_epoch = 0");
}

/* A pass of a leader that does not know yet that another leads: it begins before the other's ends, and commits after it. */
static void *look_beside(void *arg)
{
    *(struct budget_watch_result *)arg = look();
    return NULL;
}

/* Each round's charges are new to both: whoever counted what the other has counted, or moved the fence by what it saw before,
 * would be off by that, and each warning is told by one of them. */
static void two_leaders_count_a_charge_once(void **state)
{
    (void)state;
    static const char difference[] = "SELECT sum(abs(round(n.settled - (SELECT sum(money_micro) FROM usage_debit l"
                                     " WHERE l.tenant_id = n.tenant_id)))) FROM budget_now(NULL) n";
    fixture_exec(&f, "UPDATE budget SET warned = 0, warn_percent = ARRAY[1]");
    for (int i = 0; i < 5; i++) {
        struct budget_watch_result r, beside;
        pthread_t other;
        submit(&f, f.tenant_a, 2, 1, 3, NULL);
        work_off(2);
        struct work w = { .app = &f.scheduler, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) };
        OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
        OK(budget_watch_pass(&w, 100, &r, e));
        assert_int_equal(pthread_create(&other, NULL, look_beside, &beside), 0);
        WAIT_WHILE(fixture_count(&f, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0);
        OK(db_commit(w.tx, e));
        arena_free(w.arena);
        pthread_join(other, NULL);
        assert_int_equal(fixture_count(&f, difference), 0);
        assert_int_equal(r.told + beside.told, i == 0);
    }
    for (int i = 0; i < 4; i++) {
        look();
        assert_int_equal(fixture_count(&f, difference), 0);
    }
}

/* What a dump brings into a new cluster has numbers of transactions from far ahead; what ends there begins from low. */
static void a_restore_counts_each_entry_once(void **state)
{
    (void)state;
    static const char difference[] = "SELECT round(n.settled - (SELECT sum(money_micro) FROM usage_debit l"
                                     " WHERE l.tenant_id = n.tenant_id)) FROM budget_now(NULL) n";
    look();
    submit(&f, f.tenant_a, 2, 1, 3, NULL);
    work_off(2);                                    /* not summed up when the dump is made */
    fixture_exec(&f, "UPDATE usage_record SET xid = (xid::text::bigint + 4000000000)::text::xid8;"
                     " UPDATE budget SET counted_xid = (counted_xid::text::bigint + 4000000000)::text::xid8;"
                     " UPDATE database_epoch SET cluster = 'another/1/00000001', stage = 'open'");
    submit(&f, f.tenant_a, 1, 1, 3, NULL);
    work_off(1);
    assert_int_equal(fixture_count(&f, difference), 0);     /* nobody has looked yet */
    for (int i = 0; i < 4; i++)
        fixture_exec(&f, "SELECT * FROM audit_epoch_take()");
    assert_int_equal(fixture_count(&f, "SELECT epoch FROM database_epoch"), 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fixture_count(&f, difference), 0);
        look();
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM budget, database_epoch WHERE counted_epoch <> epoch"), 0);
        submit(&f, f.tenant_a, 2, 1, 3, NULL);
        work_off(2);
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM budget WHERE counted_xid > pg_current_xact_id() OR settled = 0"), 0);
    fixture_exec(&f, "DELETE FROM budget");
}

static enum errc rule(struct work *w, const char *place, const char *queue, int64_t nominal, int64_t borrowing, struct quota_rule *ret, struct err *e)
{
    struct quota_rule in = { .place = str_c(place), .queue = str_c(queue), .resource = STR("slots"), .flavor = STR(""), .zone = STR(""), .nominal = nominal,
                             .has_borrowing_limit = borrowing >= 0, .borrowing_limit = borrowing, .weight = 1000 };
    return quota_rule_create(w, &in, ret, e);
}

/* The statement that is asked each second goes from stopped budgets to their tenants' jobs, whatever the statistics say. */
static void jobs_of_nobody_who_is_stopped_are_not_read(void **state)
{
    (void)state;
    const struct stmt *hold = NULL;
    for (const struct stmt *const *s = budget_watch_stmts; *s; s++)
        hold = strcmp((*s)->name, "budget_to_hold") == 0 ? *s : hold;
    assert_non_null(hold);
    fixture_exec(&f, "CREATE FUNCTION plan_lines(q text, likes text) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off"
                     " SET enable_bitmapscan = off SET enable_mergejoin = off SET random_page_cost = 1.1 AS $f$ DECLARE l text;"
                     " n bigint := 0; BEGIN FOR l IN EXECUTE 'EXPLAIN ' || replace(q, '$1', '100') LOOP"
                     " n := n + (l LIKE likes)::int; END LOOP; RETURN n; END $f$");
    submit(&f, f.tenant_a, 400, 1, 3, NULL);
    fixture_exec(&f, "ANALYZE job");
    assert_int_equal(fixture_count(&f, "SELECT plan_lines($q$%s$q$, '%%Scan using job_queue on job%%')", hold->sql), 1);
    assert_int_equal(fixture_count(&f, "SELECT plan_lines($q$%s$q$, '%% on job%%')", hold->sql), 1);
    assert_true(fixture_count(&f, "SELECT plan_lines($q$%s$q$, '%%Cond: (tenant_id = budget.tenant_id)%%')", hold->sql) > 0);
    fixture_exec(&f, "DROP FUNCTION plan_lines");
}

static void rules_bind_and_borrow(void **state)
{
    (void)state;
    struct quota_rule t, q, n;
    struct err err = { 0 };
    struct work w = unit(f.tenant_a);
    OK(rule(&w, "tenant", "", 8, 0, &t, e));
    OK(rule(&w, "queue", "default", 3, 2, &q, e));
    OK(rule(&w, "queue", "night", 5, 0, &n, e));
    done(&w);
    w = unit(f.tenant_a);
    assert_int_equal(rule(&w, "queue", "third", 1, 0, &n, &err), ERR_CONFLICT);         /* 3 + 5 + 1 of 8 */
    assert_non_null(strstr(err.msg, "9"));
    db_rollback(w.tx);
    arena_free(w.arena);
    submit(&f, f.tenant_a, 10, 1, 3, NULL);
    assert_int_equal(plan(&f), 5);                              /* its 3 and the 2 that it may borrow */
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE reason = 'QuotaExceeded' AND message LIKE 'needs 1 slots, the queue default uses 5 of its 3%%'"), 5);
    w = unit(f.tenant_a);
    assert_int_equal(quota_rule_set(&w, q.rule_id, false, &(struct quota_rule){ .nominal = 2, .has_borrowing_limit = true, .borrowing_limit = 2, .weight = 1 },
                                    -1, &q, &err), ERR_CONFLICT);
    assert_non_null(strstr(err.msg, "5 are in use, so the maximum cannot be 4"));
    db_rollback(w.tx);
    arena_free(w.arena);
    struct lease_grant g[8];
    assert_int_equal(take(&f, &m, 8, g), 5);
    run_through(&f, &m, g, 5);
    work_off(5);
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_is_charged_by_the_price_of_its_lease), cmocka_unit_test(each_debit_is_in_one_period),
        cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(a_budget_tells_stops_holds_and_lets_go),
        cmocka_unit_test(a_spent_project_stops_itself_alone),
        cmocka_unit_test(counting_twice_changes_nothing), cmocka_unit_test(a_pass_reads_what_is_new),
        cmocka_unit_test(two_leaders_count_a_charge_once), cmocka_unit_test(a_restore_counts_each_entry_once),
        cmocka_unit_test(rules_bind_and_borrow), cmocka_unit_test(what_was_measured_is_charged),
        cmocka_unit_test(jobs_of_nobody_who_is_stopped_are_not_read),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
