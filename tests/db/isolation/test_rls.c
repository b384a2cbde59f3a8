/* SPDX-License-Identifier: Apache-2.0 */
/* test_rls.c - the wall between tenants, asked of the database itself: every table stands behind it, and what a role can really do.
 *
 * The tables come from pg_class, so a table that somebody adds without row-level security fails here until it is walled in or
 * stands on the list below with its reason. */
#include "tests/db/isolation/fill_identity.h"

static const struct { const char *table, *reason; } open_tables[] = {
    { "zone", "places under a law: platform data, the same for all tenants" },
    { "node", "machines of the platform; what runs on them is in attempt" },
    { "tenant_kept", "names of tables that outlive a tenant, constants" },
    { "job_edge", "the state machine, constants" },
    { "zone_law", "the law of a zone: the platform's, the same for all tenants" },
    { "zone_rule", "part of zone_law" },
    { "zone_clock", "part of zone_law" },
    { "residency_revision", "how often anything that the judge of residency knows has changed; one number" },
    { "price", "the price book of the platform, the same for all tenants" },
    { "priority_class", "the classes of the platform, the same for all tenants" },
    { "root_key", "versions of the zones' roots: the platform's, and no key is in it" },
    { "key_edge", "the life of a key version, constants" },
    { "job_change", "what became of waiting jobs, for the planner: as reservation" },
    { "plan_change", "as job_change" },
    { "change_swept", "how far notes of both were removed; one number" },
    { "reservation_revision", "how often any reservation has changed; one number" },
    { "reservation", "machines kept for a time: platform data, as join_token" },
    { "reservation_machine", "as reservation" },
    { "engine", "outside schedulers: platform data, as join_token" },
    { "engine_run", "as engine; whose job it is for is an id" },
    { "shared_environment", "images that staff publish to all tenants; made in the owner's scope, changed in the platform's" },
    { "registry_host", "registries that images of a zone may come from: set by staff, read by everybody" },
    { "join_token", "rights to enrol machines: platform data, behind a wall of their own, see tenants_do_not_see_the_platforms_tables" },
    { "node_cert", "certificates of machines: as join_token" },
    { "auth_key", "the sign-in secret of a zone, wrapped: of the platform" },
    { "login_guard", "tries are counted before it is known whose account it is; digests only" },
    { "device_grant", "a device has no tenant until somebody lets it in; found by digests of random codes only" },
    { "oidc_login", "a login on its way has no tenant until it is answered; found by the digest of a random state only" },
    { "audit_cursor", "how far the sequencer is; one row, no tenant" },
    { "usage_fence", "up to where charges are summed up; one row, no tenant" },
    { "database_epoch", "which cluster the database was last seen in; one row, no tenant" },
    { "audit_task", "when the log's regular work was done; no tenant" },
    { "scheduler_round", "when planning last went well; one row, no tenant, and falaj_app has no right to it" },
};

static struct uuid a, b;
static char tables[96][64];
static size_t ntables;

static bool is_open(const char *table)
{
    for (size_t i = 0; i < sizeof open_tables / sizeof *open_tables; i++)
        if (!strcmp(table, open_tables[i].table))
            return true;
    return false;
}

/* A row of every tenant table, whatever its columns: made from the catalogue would be clever; spelled out is clear. */
static void fill(struct uuid t)
{
    char id[UUID_TEXT];
    uuid_text(t, id);
    struct uuid u = user_make(t, "u", "viewer");
    char token[TOKEN_TEXT];
    sql("INSERT INTO password (tenant_id, user_id, phc, zone) VALUES ('%s', '%s', '$argon2id$x', 'z');"
        "INSERT INTO totp (tenant_id, user_id, sealed, zone) VALUES ('%s', '%s', 'x', 'z');"
        "INSERT INTO recovery_code (tenant_id, user_id, hash) VALUES ('%s', '%s', sha256('x'))", id, hex(u), id, hex(u), id, hex(u));
    sql("INSERT INTO break_glass (tenant_id, approval_id, zone, user_id, requested_by, approved_by, until) VALUES"
        " ('%s', '%s', 'ae-dxb-1', '%s', '%s', gen_random_uuid(), now())", id, id, hex(u), hex(u));
    sql("INSERT INTO session (tenant_id, session_id, user_id, hash, method, stage, proved_at, until) VALUES"
        " ('%s', '%s', '%s', sha256('%s'), 'password', 'full', now(), now());"
        "INSERT INTO invitation (tenant_id, invitation_id, name, hash, created_by, expires_at) VALUES ('%s', '%s', 'n', sha256('%s'), '%s', now())",
        id, id, hex(u), id, id, id, id, hex(u));
    token_give(t, u, "1 hour", "{}", token);
    const char *node = rows_of("SELECT node_id FROM node").cells[0].ptr;
    sql("INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha) VALUES ('%s', '%s', 'r', 'k', 'x');"
        "INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider) VALUES ('%s', 'ae-dxb-1', 1, 'PRIMARY', 'x', 1, 's');"
        "INSERT INTO object (tenant_id, object_id, zone, kind, state) VALUES ('%s', '%s', 'ae-dxb-1', 'model', 'WRITING');"
        "INSERT INTO dek (tenant_id, dek_id, object_id, zone, key_version) VALUES ('%s', '%s', '%s', 'ae-dxb-1', 1)",
        id, hex(u), id, id, id, id, id, id);
    sql("INSERT INTO dataset (tenant_id, dataset_id, name, label_column, classes, created_by) VALUES ('%s', '%s', 'd', 'y', 2, '%s');"
        "INSERT INTO dataset_version (tenant_id, dataset_id, version, object_id, row_count, column_count, created_by) VALUES"
        " ('%s', '%s', 1, '%s', 1, 1, '%s');"
        "INSERT INTO model (tenant_id, model_id, name, created_by) VALUES ('%s', '%s', 'm', '%s')",
        id, id, hex(u), id, id, id, hex(u), id, id, hex(u));
    sql("INSERT INTO upload (tenant_id, upload_id, dataset_id, zone, size_bytes, created_by, expires_at) VALUES"
        " ('%s', '%s', '%s', 'ae-dxb-1', 1, '%s', now());"
        "INSERT INTO upload_part (tenant_id, upload_id, start, object_id) VALUES ('%s', '%s', 0, '%s')", id, id, id, hex(u), id, id, id);
    sql("INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by) VALUES ('%s', '%s', 'j', 'noop', '{}', '%s');"
        "INSERT INTO job_event (tenant_id, job_id, version, state) VALUES ('%s', '%s', 1, 'PENDING');"
        "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id) VALUES ('%s', '%s', 'input', 'i', '%s');"
        "INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until) VALUES"
        " ('%s', '%s', '%s', 1, '%s', 1, 0, now())", id, id, hex(u), id, id, id, id, id, id, id, id, node);
    sql("INSERT INTO attempt_member (tenant_id, attempt_id, rank, job_id, node_id, slots, gpus, cpu_milli, memory_bytes,"
        " gpu_milli, devices, lease_until) VALUES ('%s', '%s', 0, '%s', '%s', 1, 0, 0, 0, 1000, 0, now())", id, id, id, node);
    sql("INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by) VALUES"
        " ('%s', md5('%s')::uuid, 'j', 'noop', '{}', '%s');"
        "INSERT INTO job_dependency (tenant_id, job_id, on_job_id, type) VALUES ('%s', '%s', md5('%s')::uuid, 'afterok')",
        id, id, hex(u), id, id, id);
    sql("INSERT INTO notice_rule (tenant_id, notification_id, name, kind, events, url, sealed, zone, created_by) VALUES"
        " ('%s', '%s', 'n', 'webhook', '{job-failed}', 'https://x.example/', 'x', 'z', '%s');"
        "INSERT INTO notice_person (tenant_id, user_id, address) VALUES ('%s', '%s', 'u@x.example');"
        "INSERT INTO notice_cursor (tenant_id, tseq) VALUES ('%s', 0)", id, id, hex(u), id, hex(u), id);
    sql("INSERT INTO notice_delivery (tenant_id, delivery_id, notification_id, target, kind, event, source, at) VALUES"
        " ('%s', '%s', '%s', '%s', 'webhook', 'test', 's', now())", id, id, id, id);
    sql("INSERT INTO saved_view (tenant_id, view_id, owner_id, list, name, query, shared) VALUES"
        " ('%s', '%s', '%s', '/v1/jobs', 'v', '', true)", id, id, hex(u));
    sql("INSERT INTO checkpoint (tenant_id, job_id, object_id, fence) VALUES ('%s', '%s', '%s', 1)", id, id, id);
    sql("INSERT INTO job_end (tenant_id, ended) VALUES ('%s', 1);"
        "INSERT INTO audit_gone (tenant_id, kind, thing_id, name) VALUES ('%s', 'model', '%s', 'm');"
        "INSERT INTO job_page (tenant_id, after_id, last_id, jobs, names, ids, facets) VALUES"
        " ('%s', '00000000-0000-0000-0000-000000000000', '%s', 1, 'j', '{}', '{}')", id, id, id, id, id);
    sql("INSERT INTO job_log (tenant_id, job_id, fence, stream, text) VALUES ('%s', '%s', 1, 'stdout', 'x');"
        "INSERT INTO job_metric (tenant_id, job_id, fence, step, values) VALUES ('%s', '%s', 1, 1, '{}');"
        "INSERT INTO usage_record (tenant_id, attempt_id, job_id, zone, pool, slots, gpus, wall_ms, slot_ms, gpu_ms) VALUES"
        " ('%s', '%s', '%s', 'z', 'p', 1, 0, 1, 1, 0);"
        "INSERT INTO model_version (tenant_id, model_id, version, object_id, family, inputs, outputs, created_by) VALUES"
        " ('%s', '%s', 1, '%s', 'mlp', 1, 1, '%s');"
        "INSERT INTO deployment (tenant_id, deployment_id, name, model_id, model_version, job_id, created_by) VALUES"
        " ('%s', '%s', 'd', '%s', 1, '%s', '%s')", id, id, id, id, id, id, id, id, id, id, hex(u), id, id, id, id, hex(u));
    sql("INSERT INTO deployment_minute (tenant_id, deployment_id, minute, writer_id, requests, errors, refused, classes) VALUES"
        " ('%s', '%s', 1, '%s', 1, 0, 0, '{1}')", id, id, id);
    sql("INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%s', '%s', 'p', '%s');"
        "INSERT INTO approval (tenant_id, approval_id, kind, subject, payload, payload_sha, needed, requested_by, expires_at) VALUES"
        " ('%s', '%s', 'k', 's', '{}', sha256('x'), 1, '%s', now() + interval '1 hour');"
        "INSERT INTO approval_decision (tenant_id, approval_id, user_id, approve) VALUES ('%s', '%s', '%s', true)",
        id, id, hex(u), id, id, hex(u), id, id, hex(u));
    sql("INSERT INTO quota_rule (tenant_id, rule_id, place, resource, nominal, created_by) VALUES ('%s', '%s', 'tenant', 'slots', 1, '%s');"
        "INSERT INTO budget (tenant_id, budget_id, name, measure, amount, period, period_start, created_by) VALUES"
        " ('%s', '%s', 'b', 'gpu_hours', 1, 'total', now(), '%s');"
        "INSERT INTO ledger_entry (tenant_id, transaction_id, line, account, queue, zone, pool, flavor, slot_ms, gpu_ms, energy_mj, money_micro)"
        " VALUES ('%s', '%s', 1, 'tenant', 'default', 'z', 'p', 'cpu', 1, 0, 0, 0)", id, id, hex(u), id, id, hex(u), id, id);
    sql("INSERT INTO job_array (tenant_id, array_id, name, tasks, first_index, step, total, most, template, started, created_by)"
        " VALUES ('%s', '%s', 'a', '0', 0, 1, 1, 1, '{}', 1, '%s');"
        "INSERT INTO array_task (tenant_id, array_id, task_index, try, job_id) VALUES ('%s', '%s', 0, 1, '%s');"
        "INSERT INTO array_dependency (tenant_id, job_id, array_id, type) VALUES ('%s', '%s', '%s', 'afterok')",
        id, id, hex(u), id, id, id, id, id, id);
    sql("INSERT INTO queue (tenant_id, queue_id, name, created_by) VALUES ('%s', '%s', 'q', '%s')", id, id, hex(u));
    sql("INSERT INTO secret (tenant_id, secret_id, name, zone, created_by) VALUES ('%s', '%s', 's', 'ae-dxb-1', '%s');"
        "INSERT INTO secret_version (tenant_id, secret_id, version, object_id, created_by) VALUES ('%s', '%s', 1, '%s', '%s')",
        id, id, hex(u), id, id, id, hex(u));
    sql("INSERT INTO environment (tenant_id, environment_id, name, dataset_version, object_id, allow_setuid, owns_archive, "
        "job_id,"
        " created_by) VALUES ('%s', '%s', 'e', 1, '%s', false, false, '%s', '%s');"
        "INSERT INTO environment_key (tenant_id, key_id, name, public_key, created_by) VALUES ('%s', '%s', 'k', sha256('x'), "
            "'%s');"
        "INSERT INTO environment_policy (tenant_id, require_signed, changed_by) VALUES ('%s', true, '%s')", id, id, id, id,
        hex(u), id, id, hex(u), id, hex(u));
    sql("INSERT INTO environment_signature (tenant_id, digest, signature, key_id, signed_by) VALUES ('%s', "
        "'sha256:' || repeat('a', 64), decode(repeat('ab', 64), 'hex'), '%s', '%s')", id, id, hex(u));
    sql("INSERT INTO job_session (tenant_id, session_id, job_id, attempt_id, node_id, user_id, kind, ask) "
        "VALUES ('%s', '%s', '%s', '%s', '%s', '%s', 'shell', '{}');"
        "INSERT INTO inside_policy (tenant_id, changed_by) VALUES ('%s', '%s')", id, id, id, id, id, hex(u), id, hex(u));
    sql("INSERT INTO attempt_idle (tenant_id, attempt_id, rank) VALUES ('%s', '%s', 0);"
        "INSERT INTO idle_policy (tenant_id, after_minutes, notice_minutes, changed_by) VALUES ('%s', 60, 15, '%s')",
        id, id, id, hex(u));
    sql("INSERT INTO key_rewrap (tenant_id, rewrap_id, zone, kind, to_version) VALUES ('%s', '%s', 'ae-dxb-1', 'tenant', 2);"
        "INSERT INTO erasure_certificate (tenant_id, certificate_id, zone, key_version, objects, destroyed_at, root_version, backups_until, body,"
        " signature, key_id) VALUES ('%s', '%s', 'ae-dxb-1', 1, 0, now(), 1, now(), '{}', sha512('x'), 'k')", id, id, id, id);
    sql("INSERT INTO audit_event (tenant_id, event_id, body) VALUES ('%s', '%s', 'x');"
        "INSERT INTO audit_seq (tenant_id, tseq, event_id, leaf, chain) VALUES ('%s', 1, '%s', sha256('x'), sha256('x'));"
        "INSERT INTO audit_log_state (tenant_id, size, chain, frontier) VALUES ('%s', 1, 'x', 'x');"
        "INSERT INTO audit_head (tenant_id, size, root, chain, ts_us, key_id, zone, body, signature) VALUES"
        " ('%s', 1, sha256('x'), 'x', 1, 'k', 'z', 'x', sha512('x'));"
        "INSERT INTO audit_backlog (tenant_id, event_id, ord) VALUES ('%s', '%s', 1)", id, id, id, id, id, id, id, id);
    sql("INSERT INTO person_origin (tenant_id, user_id, maker, what, at) VALUES ('%s', '%s', '%s', 'account', now())", id, hex(u),
            id);
    sql("INSERT INTO audit_page (tenant_id, first_tseq, last_tseq) VALUES ('%s', 1, 256)", id);
    sql("INSERT INTO legal_clock (tenant_id, clock_id, kind, zone, reference, opened_at, first_due_at, due_at, opened_by) VALUES"
        " ('%s', '%s', 'access', 'ae-dxb-1', 'r', now(), now() + interval '1 day', now() + interval '1 day', '%s')", id, id,
        hex(u));
    sql("INSERT INTO audit_hold (tenant_id, hold_id, reason, placed_by) VALUES ('%s', '%s', 'r', '%s');"
        "INSERT INTO audit_retention (tenant_id, class, keep_days) VALUES ('%s', 'JOB', 3000);"
        "INSERT INTO audit_subject_key (tenant_id, subject_id, key_id, zone, key_version, wrapped) VALUES ('%s', '%s', '%s', 'ae-dxb-1', 1, 'x');"
        "INSERT INTO audit_export (tenant_id, export_id, format, from_tseq, to_tseq, head_size, created_us, created_by) VALUES"
        " ('%s', '%s', 'csv', 1, 1, 1, 1, '%s');"
        "INSERT INTO audit_anchor (tenant_id, anchor_id, kind, target, size, head_sha, outcome) VALUES ('%s', '%s', 'file', 'f', 1, sha256('x'), 'success')",
        id, id, hex(u), id, id, id, id, id, id, hex(u), id, id);
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { NULL };
    world_new(lists, 2);
    a = new_id();
    b = new_id();
    tenant_make(a, "aaa");
    tenant_make(b, "bbb");
    sql("INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, version, boot_id) VALUES"
        " ('%s', 'ae-dxb-1', 'default', 'n', 'spiffe://ae-dxb-1/worker/default/n', 1, 1, 1, '1', '%s')", hex(new_id()), hex(new_id()));
    fill(a);
    fill(b);
    fill_residency(a);
    fill_federation(a);
    fill_groups(a);
    fill_groups(b);
    fill_residency(b);
    fill_federation(b);
    struct db_text_rows r = rows_of("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1");
    for (size_t i = 0; i < r.nrows; i++)
        if (!is_open(r.cells[i].ptr) && strncmp(r.cells[i].ptr, "schema_", 7))
            snprintf(tables[ntables++], sizeof *tables, "%.63s", r.cells[i].ptr);
    assert_in_range(ntables, 25, 96);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void every_table_is_walled_in_or_excused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ntables; i++) {
        int64_t walled = NUMBER("SELECT count(*) FROM pg_class c WHERE relname = '%s' AND relnamespace = 'public'::regnamespace AND relrowsecurity"
                                " AND relforcerowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid)", tables[i]);
        if (!walled)
            fail_msg("table %s has no forced row-level security with policies, and stands on no list", tables[i]);
        assert_int_equal(NUMBER("SELECT count(*) FROM pg_attribute WHERE attrelid = 'public.%s'::regclass AND attname = 'tenant_id' AND attnotnull",
                                tables[i]), 1);
    }
    for (size_t i = 0; i < sizeof open_tables / sizeof *open_tables; i++) {
        assert_int_equal(NUMBER("SELECT count(*) FROM pg_class WHERE relname = '%s'", open_tables[i].table), 1);    /* no stale excuse */
        assert_int_equal(NUMBER("SELECT count(*) FROM pg_attribute WHERE attrelid = 'public.%s'::regclass AND attname = 'tenant_id'",
                                open_tables[i].table), 0);
    }
}

static void every_table_has_rows_of_both(void **state)
{
    (void)state;
    for (size_t i = 0; i < ntables; i++)
        if (NUMBER("SELECT count(DISTINCT tenant_id) FROM %s WHERE tenant_id IN ('%s', '%s')", tables[i], hex(a), hex(b)) != 2)
            fail_msg("the test has no rows in %s: extend fill()", tables[i]);
}

static struct db_session *session_of(const char *role)
{
    struct db_session *s = NULL;
    OK(db_session_new(pg_harness_conninfo(pg, role, DB), "test", 30000, &s, &e));
    return s;
}

static enum errc in_scope(struct db_session *s, const char *scope, const char *fmt, ...) PRINTF_LIKE(3, 4);
static enum errc in_scope(struct db_session *s, const char *scope, const char *fmt, ...)
{
    char statement[1024], all[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(statement, sizeof statement, fmt, ap);
    va_end(ap);
    snprintf(all, sizeof all, "BEGIN; SET LOCAL app.tenant = '%s'; %s; ROLLBACK", scope, statement);
    enum errc rc = db_session_exec_script(s, scope[0] ? all : statement, &e);
    if (rc != ERR_OK) {
        struct err ignored;
        if (db_session_exec_script(s, "ROLLBACK", &ignored) != ERR_OK)
            fail_msg("%s", ignored.msg);
    }
    return rc;
}

static void the_wrong_scope_sees_nothing(void **state)
{
    (void)state;
    struct db_session *s = session_of("falaj_app");
    for (size_t i = 0; i < ntables; i++) {
        if (!NUMBER("SELECT has_table_privilege('falaj_app', 'public.%s', 'SELECT')::int", tables[i]))
            continue;
        /* Division by zero is the alarm: an error exactly when a row of the other tenant is seen, or none of the own. */
        if (in_scope(s, hex(a), "SELECT 1 / (count(*) = 0)::int FROM %s WHERE tenant_id <> '%s'", tables[i], hex(a)) != ERR_OK)
            fail_msg("%s shows another tenant's rows: %s", tables[i], e.msg);
        if (in_scope(s, hex(a), "SELECT 1 / (count(*) > 0)::int FROM %s", tables[i]) != ERR_OK)
            fail_msg("%s does not show the own rows: %s", tables[i], e.msg);
        if (in_scope(s, hex(new_id()), "SELECT 1 / (count(*) = 0)::int FROM %s", tables[i]) != ERR_OK)
            fail_msg("%s shows rows to a tenant that has none: %s", tables[i], e.msg);
    }
    db_session_free(s);
}

static void the_platform_sees_the_directory_and_no_more(void **state)
{
    (void)state;
    struct db_session *s = session_of("falaj_app");
    for (size_t i = 0; i < ntables; i++)
        if (strcmp(tables[i], "tenant") && NUMBER("SELECT has_table_privilege('falaj_app', 'public.%s', 'SELECT')::int", tables[i]) &&
            in_scope(s, hex(UUID_NIL), "SELECT 1 / (count(*) = 0)::int FROM %s WHERE tenant_id <> '%s'", tables[i], hex(UUID_NIL)) != ERR_OK)
            fail_msg("the platform's scope sees %s: %s", tables[i], e.msg);
    assert_int_equal(in_scope(s, hex(UUID_NIL), "SELECT 1 / (count(*) = 3)::int FROM tenant"), ERR_OK);
    db_session_free(s);
}

static void tenants_do_not_see_the_platforms_tables(void **state)
{
    (void)state;
    static const char *const walled[] = { "join_token", "node_cert", "reservation", "reservation_machine", "engine",
        "engine_run" };
    struct db_session *s = session_of("falaj_app");
    sql("INSERT INTO join_token (join_token_id, zone, pool, hash, hint, uses, expires_at, created_by) VALUES"
        " (gen_random_uuid(), 'ae-dxb-1', 'p', sha256('x'), 'x', 1, now(), gen_random_uuid());"
        "INSERT INTO node_cert (fingerprint, identity, source, not_after, ends_at) VALUES (sha256('x'), 'x', 'join', now(), now());"
        "INSERT INTO reservation (reservation_id, purpose, from_at, until_at) VALUES"
        " (gen_random_uuid(), 'maintenance', now(), now() + interval '1 hour');"
        "INSERT INTO reservation_machine SELECT r.reservation_id, n.node_id FROM reservation r, node n LIMIT 1;"
        "INSERT INTO engine (engine_id, name, kind, zone, pool, address, account, worker, worker_config, folder, machines,"
        " longest_seconds, created_by) VALUES (gen_random_uuid(), 'x', 'slurm', 'ae-dxb-1', 'x', 'unix:/x', '', '/x', '/x', '/x',"
        " 1, 60, gen_random_uuid());"
        "INSERT INTO engine_run (run_id, engine_id, for_tenant, for_job, seats, slots, cpus, gpus, memory_bytes, minutes)"
        " SELECT gen_random_uuid(), engine_id, gen_random_uuid(), gen_random_uuid(), '{1}', 1, 1, 0, 0, 1 FROM engine");
    for (size_t i = 0; i < sizeof walled / sizeof *walled; i++) {
        assert_int_equal(in_scope(s, hex(UUID_NIL), "SELECT 1 / (count(*) > 0)::int FROM %s", walled[i]), ERR_OK);
        assert_int_equal(in_scope(s, hex(a), "SELECT 1 / (count(*) = 0)::int FROM %s", walled[i]), ERR_OK);
        assert_int_not_equal(in_scope(s, "", "SELECT count(*) FROM %s", walled[i]), ERR_OK);
    }
    assert_int_not_equal(in_scope(s, hex(a), "SELECT node_move(gen_random_uuid(), 'READY', '{LOST}', '')"), ERR_OK);
    assert_int_not_equal(in_scope(s, hex(a), "SELECT node_jobs(gen_random_uuid(), 1)"), ERR_OK);
    assert_int_not_equal(in_scope(s, hex(a), "SELECT node_work(gen_random_uuid(), NULL, 1)"), ERR_OK);
    assert_int_not_equal(in_scope(s, hex(a), "SELECT FROM system_facts()"), ERR_OK);
    assert_int_equal(in_scope(s, hex(UUID_NIL), "SELECT FROM system_facts()"), ERR_OK);
    assert_int_not_equal(in_scope(s, hex(UUID_NIL), "SELECT FROM scheduler_round"), ERR_OK);
    assert_int_equal(in_scope(s, hex(UUID_NIL), "SELECT 1 / (count(*) > 0)::int FROM node_load(gen_random_uuid())"), ERR_OK);
    assert_int_equal(in_scope(s, hex(a), "SELECT 1 / (count(*) = 0)::int FROM node_load(gen_random_uuid())"), ERR_OK);
    assert_int_not_equal(in_scope(s, hex(UUID_NIL), "UPDATE node SET state = 'READY'"), ERR_OK);
    db_session_free(s);
}

static void without_a_scope_nothing_works(void **state)
{
    (void)state;
    struct db_session *s = session_of("falaj_app");
    for (size_t i = 0; i < ntables; i++)
        if (in_scope(s, "", "SELECT count(*) FROM %s", tables[i]) == ERR_OK)
            fail_msg("%s answers without a scope", tables[i]);
    db_session_free(s);
}

static void another_tenants_rows_cannot_be_written(void **state)
{
    (void)state;
    struct db_session *s = session_of("falaj_app");
    const char *other = hex(b);
    char theirs[UUID_TEXT], mine[UUID_TEXT];
    memcpy(theirs, other, sizeof theirs);
    memcpy(mine, hex(a), sizeof mine);
    for (size_t i = 0; i < ntables; i++) {
        const char *t = tables[i];
        /* A statement that names their rows touches none of them or is refused. */
        sql("CREATE OR REPLACE VIEW pg_temp_count AS SELECT count(*) AS n FROM %s WHERE tenant_id = '%s'", t, theirs);
        int64_t before = NUMBER("SELECT n FROM pg_temp_count");
        char all[512];
        snprintf(all, sizeof all, "BEGIN; SET LOCAL app.tenant = '%s'; DELETE FROM %s WHERE tenant_id = '%s'; COMMIT", mine, t, theirs);
        if (db_session_exec_script(s, all, &e) != ERR_OK)
            OK(db_session_exec_script(s, "ROLLBACK", &e));
        snprintf(all, sizeof all, "BEGIN; SET LOCAL app.tenant = '%s'; UPDATE %s SET tenant_id = '%s' WHERE tenant_id = '%s'; COMMIT", mine, t, mine,
                 theirs);
        if (db_session_exec_script(s, all, &e) != ERR_OK)
            OK(db_session_exec_script(s, "ROLLBACK", &e));
        assert_int_equal(NUMBER("SELECT n FROM pg_temp_count"), before);
        sql("DROP VIEW pg_temp_count");
        /* Rows of one's own do not become another's, nor are new ones written under another's name. */
        if (NUMBER("SELECT has_table_privilege('falaj_app', 'public.%s', 'UPDATE')::int", t))
            assert_int_not_equal(in_scope(s, mine, "UPDATE %s SET tenant_id = '%s'", t, theirs), ERR_OK);
        if (NUMBER("SELECT has_table_privilege('falaj_app', 'public.%s', 'INSERT')::int", t)) {
            struct db_text_rows c = rows_of("SELECT string_agg(quote_ident(attname), ', '), string_agg(CASE attname WHEN 'tenant_id' THEN '''%s'''"
                " ELSE quote_ident(attname) END, ', ') FROM pg_attribute WHERE attrelid = 'public.%s'::regclass AND attnum > 0 AND NOT attisdropped"
                " AND attidentity = '' AND attgenerated = ''", theirs, t);
            assert_int_not_equal(in_scope(s, mine, "INSERT INTO %s (%s) SELECT %s FROM %s LIMIT 1", t, c.cells[0].ptr, c.cells[1].ptr, t), ERR_OK);
            if (!strstr(e.msg, "row-level security") && !strstr(e.detail, "row-level security") && !strstr(e.detail, "42501"))
                fail_msg("%s refused a foreign row for another reason: %s (%s)", t, e.msg, e.detail);
        }
    }
    db_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_is_walled_in_or_excused), cmocka_unit_test(every_table_has_rows_of_both),
        cmocka_unit_test(the_wrong_scope_sees_nothing), cmocka_unit_test(the_platform_sees_the_directory_and_no_more),
        cmocka_unit_test(tenants_do_not_see_the_platforms_tables),
        cmocka_unit_test(without_a_scope_nothing_works), cmocka_unit_test(another_tenants_rows_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
