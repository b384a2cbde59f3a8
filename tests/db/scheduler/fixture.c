/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/db/scheduler/fixture.h"
#include "registry/catalog/secret.h"
#include "scheduler/jobs/idle_policy.h"
#include "scheduler/jobs/inside.h"
#include "scheduler/jobs/secret_use.h"
#include "scheduler/jobs/environment.h"
#include "scheduler/jobs/environment_shared.h"
#include "scheduler/jobs/registry_host.h"
#include "registry/registry.h"
#include "scheduler/engine/node_state.h"
#include "scheduler/jobs/priority_class.h"
#include "scheduler/jobs/submit_names.h"
#include "audit/event.h"
#include "scheduler/duty/budget_watch.h"
#include "scheduler/duty/idle_watch.h"
#include "audit/tail.h"
#include "scheduler/duty/job_pages.h"
#include "scheduler/duty/notices.h"
#include "scheduler/jobs/job_search.h"
#include "scheduler/mirror/capacity.h"
#include "scheduler/invariants.h"
#include "scheduler/evict.h"
#include "scheduler/grow.h"
#include "scheduler/mirror/ends.h"
#include "scheduler/mirror/holders.h"
#include "scheduler/plan_apply.h"
#include "scheduler/plan_check.h"
#include "scheduler/plan_gang.h"
#include "scheduler/duty/due_jobs.h"
#include "scheduler/duty/arrays.h"
#include "scheduler/duty/queue_usage.h"
#include "scheduler/duty/reservations.h"
#include "scheduler/engine/reservation.h"
#include "scheduler/engines/demand.h"
#include "scheduler/engines/lent.h"
#include "scheduler/engines/run.h"
#include "tenants/home/zone.h"
#include "scheduler/jobs/job_queue.h"
#include "scheduler/jobs/queue_share.h"
#include "scheduler/jobs/forecast.h"
#include "scheduler/jobs/dependency.h"
#include "scheduler/duty/dependencies.h"
#include "scheduler/jobs/job_hold.h"
#include "scheduler/jobs/job_suspend.h"
#include "scheduler/jobs/array_act.h"
#include "scheduler/mirror/board.h"
#include "scheduler/mirror/rules.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/waiting.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/round.h"
#include "scheduler/jobs/series.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_output.h"
#include "scheduler/jobs/job_prepare.h"
#include "scheduler/jobs/submit.h"
#include "scheduler/jobs/watch.h"
#include "scheduler/duty/tenant_reaper.h"
#include "tenants/home/project.h"
#include "tenants/accounts/budget.h"
#include "tenants/accounts/price.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"
#include "tenants/accounts/quota_rule.h"
#include "tenants/accounts/usage.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/person.h"
#include "tenants/home/legal_clock.h"
#include "tenants/notice/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA = 256 << 20 };

struct number { int64_t n; struct str t; };
SCHEMA_OF(number, "A number", FIELD(number, n, 0), FIELD(number, t, 0));
static const struct stmt run_count = { .name = "run_count", .params = "s", .row = &number_schema, .card = CARD_ONE, .sql =
    "SELECT (xpath('/row/n/text()', query_to_xml('SELECT (' || $1 || ')::bigint AS n', false, true, '')))[1]::text::bigint AS n" };
static const struct stmt run_state = { .name = "run_state", .params = "u", .row = &number_schema, .card = CARD_ONE, .sql =
    "SELECT state AS t FROM job WHERE job_id = $1" };
static const struct stmt *const probe_stmts[] = { &run_count, &run_state, NULL };

static struct db_pool *pool_new(struct fixture *f, const char *role, int size, unsigned allow, const struct stmt *const *const *lists)
{
    struct err e = { 0 };
    struct db_pool *p = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(f->pg, role, NULL), .size = size, .lists = lists,
                                                            .role_allow = allow, .checkout_timeout_ms = 120000,
                                                            .statement_timeout_ms = 120000 });
    if (db_pool_check(p, &e) != ERR_OK)
        fail_msg("%s: %s %s", role ? role : "postgres", e.msg, e.detail);
    return p;
}

static void add_tenant(struct fixture *f, struct uuid u, const char *name, const char *zones)
{
    char t[UUID_TEXT];
    uuid_text(u, t);
    fixture_exec(f, "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES ('%s', '%s', 'x', 'ae-dxb-1', '%s');"
                    "INSERT INTO quota (tenant_id, resource, hard_limit) VALUES ('%s','jobs',100000), ('%s','slots',100000), ('%s','gpus',8),"
                    "('%s','stored_bytes',1000000), ('%s','objects',100)", t, name, zones, t, t, t, t, t);
}

void fixture_open(struct fixture *f)
{
    fixture_open_wide(f, 4);
}

void fixture_open_wide(struct fixture *f, int connections)
{
    static const struct stmt *const *const app_lists[] = { residency_stmts, job_stmts, submit_names_stmts,
        job_apply_stmts, node_stmts,
        invariants_stmts, watch_stmts, series_stmts, capacity_stmts, priority_class_stmts, job_queue_stmts, queue_share_stmts,
        reservation_stmts, engine_stmts, zone_stmts,
        secret_stmts, secret_use_stmts, inside_stmts, idle_policy_stmts,
        environment_stmts, environment_trust_stmts, shared_environment_stmts, registry_host_stmts, environment_pull_stmts,
        job_dataset_stmts,
            job_output_stmts,
            project_stmts, quota_stmts, quota_rule_stmts,
                                                         price_stmts, budget_stmts, usage_stmts, audit_event_stmts,
                                                         job_search_stmts, job_hold_stmts, job_suspend_stmts,
                                                         job_array_stmts, array_act_stmts,
                                                         dependency_stmts, forecast_stmts,
                                                         outlook_stmts, rules_own_stmts, board_stmts,
                                                         node_state_stmts, registry_stmts,
                                                       NULL };
    static const struct stmt *const *const node_lists[] = { residency_stmts, lease_stmts, lease_call_stmts, lease_member_stmts,
        lease_idle_stmts, lease_back_stmts, lease_end_stmts, job_apply_stmts, node_worker_stmts,
        environment_node_stmts, environment_pull_node_stmts, environment_lease_stmts, shared_environment_lease_stmts, inside_node_stmts, audit_event_stmts, NULL };
    static const struct stmt *const *const sched_lists[] = { residency_stmts, audit_event_stmts, snapshot_stmts, machines_stmts,
                                                             waiting_stmts,
                                                             rules_stmts,
                                                             plan_apply_stmts, holders_stmts, ends_stmts, evict_stmts,
                                                             grow_stmts,
                                                             reservations_stmts, engine_run_stmts, engine_demand_stmts,
                                                             plan_check_stmts, plan_gang_stmts, lent_stmts,
                                                             reaper_stmts, budget_watch_stmts, idle_watch_stmts,
                                                             queue_usage_stmts, due_jobs_stmts, dependencies_stmts,
                                                             arrays_stmts, job_submit_stmts,
                                                                 tenant_reaper_stmts,
                                                             node_scheduler_stmts, round_scheduler_stmts, system_facts_stmts,
                                                             lease_end_stmts, job_apply_stmts, job_pages_stmts,
                                                             audit_tail_stmts, notices_stmts, notice_rule_daemon_stmts,
                                                             legal_clock_daemon_stmts,
                                                             notice_person_daemon_stmts, notice_delivery_daemon_stmts, NULL };
    static const struct stmt *const *const probe_lists[] = { probe_stmts, NULL };
    *f = (struct fixture){ .pg = pg_harness_new(), .config = config_new_default() };
    pg_harness_migrate(f->pg, NULL);
    fixture_exec(f, "INSERT INTO zone (code, name, country, data_classes) VALUES ('ae-dxb-1', 'Dubai', 'AE', data_classes()), ('ae-auh-1', 'Abu Dhabi', 'AE', data_classes())");
    f->tenant_a = uuid_v7(1000000);
    f->tenant_b = uuid_v7(2000000);
    add_tenant(f, f->tenant_a, "aaa", "{ae-dxb-1}");
    add_tenant(f, f->tenant_b, "bbb", "{ae-dxb-1,ae-auh-1}");
    f->api = (struct app){ .config = f->config, .clock = &clock_system, .pool = pool_new(f, "falaj_app", 2 * connections, 0, app_lists),
                           .node_pool = pool_new(f, "falaj_worker_api", 8, 0, node_lists) };
    f->scheduler = (struct app){ .config = f->config, .clock = &clock_system, .pool = pool_new(f, "falaj_scheduler", connections, 0, sched_lists) };
    f->probe = pool_new(f, NULL, 2, DB_ALLOW_SUPERUSER | DB_ALLOW_BYPASSRLS | DB_ALLOW_OWNER, probe_lists);
}

void fixture_close(struct fixture *f)
{
    db_pool_free(f->api.pool);
    db_pool_free(f->api.node_pool);
    db_pool_free(f->scheduler.pool);
    db_pool_free(f->probe);
    config_free(f->config);
    pg_harness_free(f->pg);
}

void fixture_exec(struct fixture *f, const char *fmt, ...)
{
    char sql[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sql, sizeof sql, fmt, ap);
    va_end(ap);
    pg_harness_exec(f->pg, NULL, sql);
}

void fixture_forget_jobs(struct fixture *f)
{
    fixture_exec(f, "DELETE FROM job_event; DELETE FROM audit_event; DELETE FROM idempotency; DELETE FROM ledger_entry;"
                    "DELETE FROM usage_record; DELETE FROM attempt_member; DELETE FROM attempt; DELETE FROM array_dependency;"
                    "DELETE FROM array_task;"
                    "DELETE FROM job_array; DELETE FROM job; DELETE FROM job_end;"
                    "UPDATE quota SET used = 0, ended = 0");
}

void fixture_end_all(struct fixture *f)
{
    fixture_check(f);
    fixture_exec(f, "UPDATE node SET state = 'QUARANTINED'");
    reap(f);
    fixture_check(f);
    fixture_exec(f, "UPDATE node SET state = 'READY'");
    fixture_forget_jobs(f);
}

int64_t fixture_count(struct fixture *f, const char *fmt, ...)
{
    char sql[4096];
    struct number n = { 0 };
    struct db_tx *tx;
    struct arena *a = arena_new(1 << 20);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sql, sizeof sql, fmt, ap);
    va_end(ap);
    OK(db_begin(f->probe, SCOPE_SYSTEM, 0, a, &tx, e));
    OK(db_one(tx, &run_count, ARGS(A_TEXT(sql)), &n, e));
    db_rollback(tx);
    arena_free(a);
    return n.n;
}

/* A unit of work on a pool. */
struct unit { struct work w; };
static struct unit unit_open(const struct app *app, struct db_pool *pool, struct db_scope scope)
{
    struct unit u = { .w = { .app = app, .arena = arena_new(ARENA), .tenant_id = scope.tenant_id, .now_us = clock_wall_us(&clock_system) } };
    OK(db_begin(pool, scope, 0, u.w.arena, &u.w.tx, e));
    return u;
}
static void unit_commit(struct unit *u)
{
    OK(db_commit(u->w.tx, e));
    arena_free(u->w.arena);
}

void fixture_check(struct fixture *f)
{
    struct unit u = unit_open(&f->api, f->api.pool, SCOPE_TENANT(UUID_NIL));
    struct slice rows = { 0 };
    OK(invariants_check(&u.w, &rows, e));
    assert_true(rows.n >= 8);
    for (size_t i = 0; i < rows.n; i++) {
        const struct invariant *v = (const struct invariant *)rows.items + i;
        if (v->violations)
            fail_msg("%.*s broken %ld times: %.*s", STR_ARG(v->name), (long)v->violations, STR_ARG(v->doc));
    }
    unit_commit(&u);
}

void machine_says(struct fixture *f, struct machine *m, const char *zone, const char *name, int64_t slots, const char *engines)
{
    struct node_register in = { .name = str_c(name), .zone = str_c(zone), .pool = STR("default"), .slots = slots, .cpus = 4, .memory_bytes = 1 << 30,
                                .gpus = m->node.gpus, .programs = true, .engines = str_c(engines), .backend = STR("ref"),
                                .version = STR("0"), .boot_id = uuid_v7(clock_wall_us(&clock_system)) };
    snprintf(m->identity_text, sizeof m->identity_text, "spiffe://%s/worker/default/%s", zone, name);
    m->identity = str_c(m->identity_text);
    struct unit u = unit_open(&f->api, f->api.node_pool, SCOPE_SYSTEM);
    struct node n;
    if (!uuid_is_nil(m->node.node_id))      /* another run of the same agent */
        in.boot_id = m->node.boot_id;
    OK(node_register(&u.w, &in, m->identity, &n, e));
    n.zone = str_c(zone);
    m->node = n;
    unit_commit(&u);
}

void machine_up(struct fixture *f, struct machine *m, const char *zone, const char *name, int64_t slots, int64_t gpus)
{
    *m = (struct machine){ .node.gpus = gpus };
    machine_says(f, m, zone, name, slots, "");
}

size_t submit(struct fixture *f, struct uuid tenant, size_t n, int64_t slots, int64_t max_attempts, struct uuid *ids)
{
    struct work w = { .app = &f->api, .arena = arena_new(ARENA), .tenant_id = tenant, .now_us = clock_wall_us(&clock_system) };
    struct job_submission *all = ARENA_ARRAY(w.arena, struct job_submission, n), **items = ARENA_ARRAY(w.arena, struct job_submission *, n);
    struct audit_event *evs = ARENA_ARRAY(w.arena, struct audit_event, n);
    struct audit_rows rows;
    size_t stored = 0;
    for (size_t i = 0; i < n; i++)
        evs[i] = audit_event_of(&w, AUDIT_JOB_SUBMIT);
    OK(audit_encode_many(w.arena, evs, n, &rows, e));
    for (size_t i = 0; i < n; i++) {
        struct uuid id = uuid_v7(w.now_us);
        all[i] = (struct job_submission){
            .job = { .tenant_id = tenant, .job_id = id, .name = STR("j"), .kind = JOB_NOOP, .spec = { STR("{}") }, .pool = STR("default"),
                     .data_class = STR("internal"), .queue = STR("default"), .slots = slots, .max_attempts = max_attempts, .max_runtime_s = 60, .created_by = id },
            .kind_name = STR("noop"), .route = STR("job_submit"), .key = id_text(w.arena, "", id), .sha = STR("01234567890123456789012345678901"),
            .event_id = rows.event_ids[i], .event = rows.bodies[i] };
        items[i] = &all[i];
        if (ids)
            ids[i] = id;
    }
    OK(job_submit_many(&w, items, n, e));
    for (size_t i = 0; i < n; i++)
        stored += items[i]->verdict == JOB_STORED;
    arena_free(w.arena);
    return stored;
}

int64_t plan(struct fixture *f)
{
    struct arena *a = arena_new(ARENA);
    int64_t admitted = 0;
    bool more;
    OK(loop_plan_once(&f->scheduler, a, true, &admitted, &more, e));
    arena_free(a);
    return admitted;
}

size_t take(struct fixture *f, const struct machine *m, int64_t max, struct lease_grant *out)
{
    struct unit u = unit_open(&f->api, f->api.node_pool, SCOPE_SYSTEM);
    struct node n;
    struct slice rows = { 0 };
    OK(node_beat(&u.w, m->node.node_id, m->node.boot_id, m->identity, &n, e));
    OK(lease_take(&u.w, &n, 4096, max, f->config->scheduler_lease_ms, &rows, e));
    memcpy(out, rows.items ? rows.items : out, rows.n * sizeof *out);
    unit_commit(&u);
    return rows.n;
}

size_t offer(struct fixture *f, const struct machine *m, struct uuid *after, int64_t max, struct lease_grant *out)
{
    struct unit u = unit_open(&f->api, f->api.node_pool, SCOPE_SYSTEM);
    struct slice rows = { 0 };
    bool left;
    OK(lease_offer(&u.w, &m->node, *after, 4096, max, f->config->scheduler_lease_ms,
                   &rows, &left, e));
    memcpy(out, rows.items ? rows.items : out, rows.n * sizeof *out);
    for (size_t i = 0; i < rows.n; i++)
        *after = uuid_cmp(out[i].attempt_id, *after) > 0 ? out[i].attempt_id : *after;
    unit_commit(&u);
    return rows.n;
}

size_t say_all(struct fixture *f, const struct machine *m, const struct lease_item *items, size_t n, bool *cancel)
{
    struct unit u = unit_open(&f->api, f->api.node_pool, SCOPE_SYSTEM);
    struct slice rows = { 0 };
    size_t good = 0;
    OK(lease_report(&u.w, &m->node, NULL, items, n, f->config->scheduler_lease_ms, &rows, e));
    assert_int_equal(rows.n, n);
    const struct lease_verdict *v = rows.items;
    for (size_t i = 0; i < n; i++) {
        good += str_eq_c(v[i].verdict, "ok");
        if (cancel)
            *cancel = v[i].cancel;
    }
    unit_commit(&u);
    return good;
}

size_t tell(struct fixture *f, const struct machine *m, const struct lease_grant *g, size_t n, enum lease_event event, bool *cancel)
{
    struct lease_item *items = calloc(n, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct lease_item){ .tenant_id = g[i].tenant_id, .attempt_id = g[i].attempt_id, .fence = g[i].fence, .event = (int)event,
                                        .message = STR("") };
    size_t good = say_all(f, m, items, n, cancel);
    free(items);
    return good;
}

size_t run_through(struct fixture *f, const struct machine *m, const struct lease_grant *g, size_t n)
{
    struct lease_item *items = calloc(2 * n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++) {
        items[2 * i] = (struct lease_item){ .tenant_id = g[i].tenant_id, .attempt_id = g[i].attempt_id, .fence = g[i].fence, .event = LE_START,
                                            .message = STR("") };
        items[2 * i + 1] = items[2 * i];
        items[2 * i + 1].event = LE_SUCCEED;
        items[2 * i + 1].result.text = STR("{\"ok\":true}");
    }
    size_t good = say_all(f, m, items, 2 * n, NULL);
    free(items);
    return good;
}

void reap(struct fixture *f)
{
    struct arena *a = arena_new(ARENA);
    bool more;
    OK(loop_reap_once(&f->scheduler, a, &more, e));
    arena_free(a);
}

void cancel_job(struct fixture *f, struct uuid tenant, struct uuid job)
{
    struct unit u = unit_open(&f->api, f->api.pool, SCOPE_TENANT(tenant));
    struct job j;
    struct audit_event ev = audit_event_of(&u.w, AUDIT_JOB_CANCEL);
    OK(job_cancel(&u.w, job, &j, e));
    OK(audit_append(&u.w, &ev, e));
    unit_commit(&u);
}

const char *state_of(struct fixture *f, struct uuid job)
{
    struct arena *a = arena_new(1 << 20);
    struct number n = { 0 };
    struct db_tx *tx;
    const char *found = "?";
    OK(db_begin(f->probe, SCOPE_SYSTEM, 0, a, &tx, e));
    OK(db_one(tx, &run_state, ARGS(A_UUID(job)), &n, e));
    for (int i = 0; job_state_names[i]; i++)
        if (str_eq_c(n.t, job_state_names[i]))
            found = job_state_names[i];
    db_rollback(tx);
    arena_free(a);
    return found;
}

struct work fixture_reader(struct fixture *f, struct uuid tenant)
{
    struct work w = { .app = &f->api, .arena = arena_new(64 << 20), .tenant_id = tenant };
    OK(db_begin(f->api.pool, SCOPE_TENANT(tenant), TX_READ_ONLY, w.arena, &w.tx, e));
    return w;
}

void fixture_reader_done(struct work *w)
{
    db_rollback(w->tx);
    arena_free(w->arena);
}
