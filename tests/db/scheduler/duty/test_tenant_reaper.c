/* SPDX-License-Identifier: Apache-2.0 */
/* test_tenant_reaper.c - a stopped tenant's queue empties with its books right; a due tenant goes row by row, what must
 * stay stays, and nothing of another tenant moves. */
#include "audit/event.h"
#include "scheduler/jobs/job_hold.h"
#include "scheduler/jobs/job_suspend.h"
#include "tests/db/scheduler/fixture.h"

static struct fixture f;
static struct machine m;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static bool pass(void)
{
    struct arena *a = arena_new(64 << 20);
    bool more;
    OK(loop_end_tenants_once(&f.scheduler, a, &more, e));
    arena_free(a);
    return more;
}

static const char *hex_of(struct uuid u)
{
    static _Thread_local char text[4][UUID_TEXT];
    static _Thread_local int next;
    char *t = text[next++ % 4];
    uuid_text(u, t);
    return t;
}

/* As a person does it. */
static void put_aside(struct uuid job, enum errc (*act)(struct work *w, struct uuid job_id, struct job *ret, struct err *e))
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = f.tenant_a, .now_us = clock_wall_us(&clock_system) };
    const struct audit_event ev = audit_event_of(&w, AUDIT_JOB_HOLD);
    struct job j;
    OK(db_begin(f.api.pool, SCOPE_TENANT(f.tenant_a), 0, w.arena, &w.tx, e));
    OK(act(&w, job, &j, e));
    OK(audit_append(&w, &ev, e));
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
}

static void a_stopped_tenants_queue_empties(void **state)
{
    (void)state;
    struct lease_grant g[2];
    struct uuid ids[4];
    size_t aside = 0;
    assert_int_equal(submit(&f, f.tenant_a, 4, 4, 1, ids), 4);
    assert_int_equal(submit(&f, f.tenant_b, 2, 1, 1, NULL), 2);
    fixture_exec(&f, "UPDATE tenant SET state = 'SUSPENDED' WHERE tenant_id = '%s'", hex_of(f.tenant_b));
    assert_int_equal(plan(&f), 2);                                  /* nothing of b */
    assert_int_equal(take(&f, &m, 2, g), 2);
    assert_int_equal(tell(&f, &m, g, 2, LE_START, NULL), 2);
    pass();
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'PENDING'"), 4);     /* finish: b's jobs wait */
    for (size_t i = 0; i < 4; i++)
        if (str_eq_c(str_c(state_of(&f, ids[i])), "PENDING"))
            put_aside(ids[i], aside++ ? job_suspend : job_hold);    /* no machine has them, and no queue */
    assert_int_equal(aside, 2);
    fixture_exec(&f, "UPDATE tenant SET state = 'SUSPENDED' WHERE tenant_id = '%s';"
                 "UPDATE job SET cancel_requested = true WHERE finished_at IS NULL", hex_of(f.tenant_a));
    pass();
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'CANCELLED'"), 4);
    /* Each end is an event of the job's own tenant, by its row and by what is signed. */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event e CROSS JOIN convert_from(e.body, 'UTF8') AS says\n"
                                       " WHERE says LIKE '%%tenant:stopped%%'\n"
                                       "   AND (strpos(says, e.tenant_id::text) > 0\n"
                                       "        OR strpos(says, replace(e.tenant_id::text, '-', '')) > 0)"), 4);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'RUNNING'"), 2);     /* their worker ends them */
    bool cancel = false;
    assert_int_equal(tell(&f, &m, g, 2, LE_RENEW, &cancel), 2);
    assert_true(cancel);
    assert_int_equal(tell(&f, &m, g, 2, LE_CANCEL, NULL), 2);
    assert_int_equal(fixture_count(&f, "SELECT (SELECT sum(" JOBS_USED ") FROM quota WHERE resource = 'jobs') +"
                                       " (SELECT count(*) FROM attempt WHERE live)"), 0);
    fixture_check(&f);
    fixture_exec(&f, "UPDATE tenant SET state = 'ACTIVE'");
}

static void make_content(struct uuid t)
{
    const char *id = hex_of(t);
    fixture_exec(&f,
        "INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%1$s', '%1$s', 'p', '%1$s');"
        "INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider) VALUES"
        " ('%1$s', 'ae-dxb-1', 9, 'PRIMARY', 'x', 1, 's');"
        "INSERT INTO object (tenant_id, object_id, zone, kind, state) SELECT '%1$s', gen_random_uuid(), 'ae-dxb-1', 'dataset', 'WRITING'"
        "  FROM generate_series(1, 50);"
        "INSERT INTO dek (tenant_id, dek_id, object_id, zone, key_version) SELECT tenant_id, object_id, object_id, zone, 9 FROM object"
        "  WHERE tenant_id = '%1$s';"
        "INSERT INTO dataset (tenant_id, dataset_id, name, label_column, classes, created_by, project_id) VALUES"
        " ('%1$s', '%1$s', 'd', 'y', 2, '%1$s', '%1$s');"
        "INSERT INTO dataset_version (tenant_id, dataset_id, version, object_id, row_count, column_count, created_by) SELECT tenant_id, '%1$s',"
        "  row_number() OVER (), object_id, 1, 1, '%1$s' FROM object WHERE tenant_id = '%1$s';"
        "INSERT INTO job_log (tenant_id, job_id, fence, stream, text) SELECT tenant_id, job_id, 1, 'stdout', 'secret words' FROM job"
        "  WHERE tenant_id = '%1$s';"
        "INSERT INTO approval (tenant_id, approval_id, kind, subject, payload, payload_sha, needed, requested_by, expires_at) VALUES"
        " ('%1$s', '%1$s', 'k', 's', '{}', sha256('x'), 1, '%1$s', now())", id);
}

static int64_t rows_of(struct uuid t)
{
    return fixture_count(&f,
        "SELECT sum((xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %%I WHERE tenant_id = ''%s''', c.relname), false, true,"
        " '')))[1]::text::bigint)::bigint FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN (SELECT table_name FROM tenant_kept)", hex_of(t));
}

static void a_due_tenant_is_removed(void **state)
{
    (void)state;
    make_content(f.tenant_a);
    make_content(f.tenant_b);
    int64_t theirs = rows_of(f.tenant_b);
    assert_true(theirs > 100);
    int64_t log = fixture_count(&f, "SELECT count(*) FROM audit_event WHERE tenant_id = '%s'", hex_of(f.tenant_a));
    fixture_exec(&f, "UPDATE tenant SET state = 'DELETING', delete_after = now() + interval '1 hour' WHERE tenant_id = '%s'", hex_of(f.tenant_a));
    assert_false(pass());                                           /* the days of grace */
    fixture_exec(&f, "UPDATE tenant SET delete_after = now() - interval '1 s' WHERE tenant_id = '%s'", hex_of(f.tenant_a));
    fixture_exec(&f, "CREATE OR REPLACE FUNCTION tenant_has_hold(t uuid) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT true'");
    assert_false(pass());                                           /* a hold */
    assert_true(rows_of(f.tenant_a) > 100);
    fixture_exec(&f, "CREATE OR REPLACE FUNCTION tenant_has_hold(t uuid) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT false'");
    for (int i = 0; i < 50 && pass(); i++)
        continue;
    assert_int_equal(rows_of(f.tenant_a), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM tenant WHERE state = 'DELETING'"), 1);     /* its key is not destroyed yet */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM tenant_key WHERE tenant_id = '%s' AND state = 'DESTROY_SCHEDULED' AND"
                                   " destroy_after <= now()", hex_of(f.tenant_a)), 1);
    fixture_exec(&f, "UPDATE tenant_key SET state = 'DESTROYED', wrapped = NULL, destroyed_at = now() WHERE tenant_id = '%s'", hex_of(f.tenant_a));
    pass();
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM tenant WHERE state = 'DELETED' AND name LIKE 'deleted-%%' AND display_name = ''"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE tenant_id = '%s'", hex_of(f.tenant_a)), log + 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM approval WHERE tenant_id = '%s'", hex_of(f.tenant_a)), 1);
    assert_int_equal(rows_of(f.tenant_b), theirs);
    assert_false(pass());                                           /* once */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE tenant_id = '%s'", hex_of(f.tenant_a)), log + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_stopped_tenants_queue_empties),
                                        cmocka_unit_test(a_due_tenant_is_removed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
