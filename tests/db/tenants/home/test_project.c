/* SPDX-License-Identifier: Apache-2.0 */
/* test_project.c - projects, and the second wall: a transaction of some projects sees, changes and makes rows of those alone. */
#include "tests/db/tenants/fixture.h"
#include "tenants/home/project.h"

#define NAMES(...) &(struct shown_name){ __VA_ARGS__ }

static struct uuid tenant, other, user, red, blue;
static struct principal *boss;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { project_stmts, NULL };
    struct project p;
    world_new(lists, 3);
    tenant = new_id();
    other = new_id();
    tenant_make(tenant, "amana");
    tenant_make(other, "bahr");
    user = user_make(tenant, "layla", "tenant-admin");
    boss = principal_with(tenant, user, ROLES(TENANT_ADMIN));
    struct work *w = unit_open(tenant, boss);
    OK(project_create(w, STR("red"), NAMES(0), &p, &e));
    red = p.project_id;
    OK(project_create(w, STR("blue"), NAMES(STR("Blue sky"), STR("سماء زرقاء")), &p, &e));
    blue = p.project_id;
    unit_commit(w);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(boss);
    world_free();
    return 0;
}

/* A unit of work that sees these projects only. */
static struct work *within(struct uuid *projects, size_t n)
{
    struct work *w = unit_open(tenant, boss);
    db_rollback(w->tx);
    w->projects = (struct slice){ projects, n };
    OK(db_begin(app.pool, scope_of(w), 0, w->arena, &w->tx, &e));
    return w;
}

static void made_renamed_closed(void **state)
{
    (void)state;
    struct project p, q;
    struct work *w = unit_open(tenant, boss);
    OK(project_create(w, STR("green"), NAMES(0), &p, &e));
    unit_commit(w);
    w = unit_open(tenant, boss);
    REFUSED(project_create(w, STR("green"), NAMES(0), &q, &e), EXISTS);
    assert_string_equal(e.field, "/name");
    unit_drop(w);
    w = unit_open(tenant, boss);
    OK(project_update(w, p.project_id, STR("lime"), NAMES(STR("Lime"), STR("ليمون")), 1, &q, &e));
    assert_true(str_eq_c(q.name, "lime") && q.version == 2);
    assert_true(str_eq_c(q.display_name, "Lime") && str_eq_c(q.display_name_ar, "ليمون"));
    REFUSED(project_update(w, p.project_id, STR("x"), NAMES(0), 1, &q, &e), PRECONDITION);
    OK(project_close(w, p.project_id, 2, &q, &e));
    OK(project_close(w, p.project_id, -1, &q, &e));
    assert_true(str_eq_c(q.state, "CLOSED") && q.version == 3);
    REFUSED(project_update(w, p.project_id, STR("x"), NAMES(0), -1, &q, &e), CONFLICT);
    struct uuid id;
    REFUSED(project_for_new(w, w->tx, p.project_id, &id, &e), CONFLICT);
    REFUSED(project_get(w, new_id(), &q, &e), NOT_FOUND);
    struct slice page;
    OK(project_list(w, &(struct project_filter){ .state = STR("ACTIVE"), .sort = STR("name") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 2);
    assert_true(str_eq_c(((struct project *)page.items)->name, "blue"));
    OK(project_list(w, &(struct project_filter){ .q = STR("زرقاء") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 1);
    assert_true(str_eq_c(((struct project *)page.items)->name, "blue"));
    OK(project_list(w, &(struct project_filter){ .name = STR("li") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 1);
    unit_drop(w);
}

static void which_project_something_new_is_of(void **state)
{
    (void)state;
    struct uuid id, both[] = { red, blue };
    struct work *w = unit_open(tenant, boss);
    OK(project_for_new(w, w->tx, UUID_NIL, &id, &e));
    assert_true(uuid_is_nil(id));
    OK(project_for_new(w, w->tx, blue, &id, &e));
    assert_true(uuid_eq(id, blue));
    REFUSED(project_for_new(w, w->tx, new_id(), &id, &e), NOT_FOUND);
    unit_drop(w);
    w = within(&red, 1);
    OK(project_for_new(w, w->tx, UUID_NIL, &id, &e));
    assert_true(uuid_eq(id, red));
    REFUSED(project_for_new(w, w->tx, blue, &id, &e), NOT_FOUND);
    unit_drop(w);
    w = within(both, 2);
    REFUSED(project_for_new(w, w->tx, UUID_NIL, &id, &e), MISSING_FIELD);
    unit_drop(w);
    assert_true(project_is_in((struct slice){ both, 2 }, blue) && project_is_in((struct slice){ 0 }, blue));
    assert_false(project_is_in((struct slice){ &red, 1 }, blue) || project_is_in((struct slice){ &red, 1 }, UUID_NIL));
}

static void a_project_sees_itself(void **state)
{
    (void)state;
    struct slice page;
    struct project p;
    struct work *w = within(&red, 1);
    OK(project_list(w, &(struct project_filter){ 0 }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 1);
    REFUSED(project_get(w, blue, &p, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(tenant, boss);                                /* the next one on the same connection sees all again */
    OK(project_get(w, blue, &p, &e));
    unit_drop(w);
    struct work *stranger = unit_open(other, boss);
    REFUSED(project_get(stranger, red, &p, &e), NOT_FOUND);
    unit_drop(stranger);
}

/* By SQL, for every table that belongs to projects: a row of red, one of blue, one of none. */
static void every_table_of_projects_is_walled_in(void **state)
{
    (void)state;
    const char *t = hex(tenant), *u = hex(user);
    const char *ids[3] = { hex(red), hex(blue), NULL };
    for (int i = 0; i < 3; i++) {
        char p[64] = "NULL";
        if (ids[i])
            snprintf(p, sizeof p, "'%s'", ids[i]);
        const char *x = hex(new_id());
        sql("INSERT INTO object (tenant_id, object_id, zone, kind, state) VALUES ('%1$s', '%2$s', 'ae-dxb-1', 'model', 'WRITING');"
            "INSERT INTO dataset (tenant_id, dataset_id, name, label_column, classes, created_by, project_id) VALUES ('%1$s', '%2$s', 'd%4$d', 'y', 2, '%3$s', %5$s);"
            "INSERT INTO dataset_version (tenant_id, dataset_id, version, object_id, row_count, column_count, created_by) VALUES ('%1$s', '%2$s', 1, '%2$s', 1, 1, '%3$s');"
            "INSERT INTO upload (tenant_id, upload_id, dataset_id, zone, size_bytes, created_by, expires_at) VALUES ('%1$s', '%2$s', '%2$s', 'ae-dxb-1', 1, '%3$s', now());"
            "INSERT INTO upload_part (tenant_id, upload_id, start, object_id) VALUES ('%1$s', '%2$s', 0, '%2$s');"
            "INSERT INTO model (tenant_id, model_id, name, created_by, project_id) VALUES ('%1$s', '%2$s', 'm%4$d', '%3$s', %5$s);"
            "INSERT INTO model_version (tenant_id, model_id, version, object_id, family, inputs, outputs, created_by) VALUES ('%1$s', '%2$s', 1, '%2$s', 'mlp', 1, 1, '%3$s');"
            "INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by, project_id) VALUES ('%1$s', '%2$s', 'j', 'noop', '{}', '%3$s', %5$s);",
            t, x, u, i, p);
        sql("INSERT INTO job_event (tenant_id, job_id, version, state) VALUES ('%1$s', '%2$s', 1, 'PENDING');"
            "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id) VALUES ('%1$s', '%2$s', 'input', 'i', '%2$s');"
            "INSERT INTO checkpoint (tenant_id, job_id, object_id, fence) VALUES ('%1$s', '%2$s', '%2$s', 1);"
            "INSERT INTO job_log (tenant_id, job_id, fence, stream, text) VALUES ('%1$s', '%2$s', 1, 'stdout', 'x');"
            "INSERT INTO job_metric (tenant_id, job_id, fence, step, values) VALUES ('%1$s', '%2$s', 1, 1, '{}');"
            "INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, version, boot_id) VALUES"
            " ('%2$s', 'ae-dxb-1', 'p', 'n%4$d', 'n%4$d', 1, 1, 1, '1', '%2$s');"
            "INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until) VALUES ('%1$s', '%2$s', '%2$s', 1, '%2$s', 1, 0, now());"
            "INSERT INTO usage_record (tenant_id, attempt_id, job_id, zone, pool, slots, gpus, wall_ms, slot_ms, gpu_ms) VALUES ('%1$s', '%2$s', '%2$s', 'z', 'p', 1, 0, 1, 1, 0);"
            "INSERT INTO deployment (tenant_id, deployment_id, name, model_id, model_version, job_id, created_by, project_id) VALUES"
            " ('%1$s', '%2$s', 'd%4$d', '%2$s', 1, '%2$s', '%3$s', %5$s);"
            "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by, place, project_id) VALUES"
            " ('%1$s', '%2$s', '%3$s', 'viewer', '%3$s', CASE WHEN %5$s::uuid IS NULL THEN 'tenant' ELSE 'project' END, %5$s);"
            "INSERT INTO quota_rule (tenant_id, rule_id, place, project_id, queue, resource, nominal, created_by) VALUES"
            " ('%1$s', '%2$s', 'queue', %5$s, 'q', 'slots', 1, '%3$s');"
            "INSERT INTO job_array (tenant_id, array_id, project_id, name, tasks, first_index, step, total, most, "
            "template, started,"
            " created_by) VALUES ('%1$s', '%2$s', %5$s, 'a', '0', 0, 1, 1, 1, '{}', 1, '%3$s');"
            "INSERT INTO array_task (tenant_id, array_id, task_index, try, job_id) VALUES ('%1$s', '%2$s', 0, 1, '%2$s');"
            "INSERT INTO array_dependency (tenant_id, job_id, array_id, type) VALUES ('%1$s', '%2$s', '%2$s', 'afterok');"
            "INSERT INTO queue (tenant_id, queue_id, project_id, name, created_by) VALUES ('%1$s', '%2$s', %5$s, 'q', '%3$s');"
            "INSERT INTO secret (tenant_id, secret_id, project_id, name, zone, created_by) VALUES"
            " ('%1$s', '%2$s', %5$s, 's%4$d', 'ae-dxb-1', '%3$s');"
            "INSERT INTO secret_version (tenant_id, secret_id, version, object_id, created_by) VALUES"
            " ('%1$s', '%2$s', 1, '%2$s', '%3$s');"
            "INSERT INTO environment (tenant_id, environment_id, project_id, name, dataset_id, dataset_version, object_id, "
                "allow_setuid,"
            " owns_archive, job_id, created_by) VALUES"
            " ('%1$s', '%2$s', %5$s, 'e%4$d', '%2$s', 1, '%2$s', false, false, '%2$s', '%3$s');"
            "INSERT INTO notice_rule (tenant_id, notification_id, project_id, name, kind, events, url, sealed, zone, created_by)"
            " VALUES ('%1$s', '%2$s', %5$s, 'n%4$d', 'webhook', '{job-failed}', 'https://a.example', 'x', 'ae-dxb-1', '%3$s');"
            "INSERT INTO notice_delivery (tenant_id, delivery_id, notification_id, target, kind, event, source, project_id, at)"
            " VALUES ('%1$s', '%2$s', '%2$s', '%2$s', 'webhook', 'job-failed', 'e', %5$s, now());"
            "INSERT INTO budget (tenant_id, budget_id, project_id, name, measure, amount, period, period_start, created_by) VALUES"
            " ('%1$s', '%2$s', %5$s, 'b%4$d', 'kwh', 1, 'total', now(), '%3$s');"
            "INSERT INTO ledger_entry (tenant_id, transaction_id, line, account, project_id, queue, zone, pool, flavor, slot_ms, gpu_ms, energy_mj, money_micro)"
            " VALUES ('%1$s', '%2$s', 1, 'tenant', %5$s, 'q', 'z', 'p', 'cpu', 1, 0, 0, 0)", t, x, u, i, p);
    }
    struct db_text_rows tables = rows_of("SELECT relname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = 'in_projects' ORDER BY 1");
    assert_int_equal(tables.nrows, 29);
    struct db_session *s = NULL;
    OK(db_session_new(pg_harness_conninfo(pg, "falaj_app", DB), "test", 30000, &s, &e));
    for (size_t i = 0; i < tables.nrows; i++) {
        char text[512];
        bool is_binding = str_eq_c(tables.cells[i], "role_binding");
        snprintf(text, sizeof text, "BEGIN; SET LOCAL app.tenant = '%s'; SET LOCAL app.projects = '{%s}'; SELECT 1 / (count(*) = 1)::int FROM %.*s;"
                 " SET LOCAL app.projects = ''; SELECT 1 / (count(*) = %d)::int FROM %.*s; ROLLBACK", t, ids[0], STR_ARG(tables.cells[i]),
                 is_binding ? 4 : 3, STR_ARG(tables.cells[i]));
        if (db_session_exec_script(s, text, &e) != ERR_OK)
            fail_msg("%.*s: %s %s", STR_ARG(tables.cells[i]), e.msg, e.detail);
    }
    /* A limit of the tenant has all of the tenant's jobs in use, whoever asks; of another tenant nothing. */
    char count[512];
    snprintf(count, sizeof count, "BEGIN; SET LOCAL app.tenant = '%s'; SET LOCAL app.projects = '{%s}'; SELECT 1 / (quota_counted('%s', 'running_jobs') = 3)::int;"
             " SELECT 1 / (quota_counted('%s', 'running_jobs') = 0)::int; ROLLBACK", t, ids[0], t, hex(new_id()));
    OK(db_session_exec_script(s, count, &e));
    /* What is written is walled in as well. */
    char writes[4][512];
    snprintf(writes[0], sizeof *writes, "INSERT INTO dataset (tenant_id, dataset_id, name, label_column, classes, created_by, project_id) VALUES"
             " ('%s', gen_random_uuid(), 'n', 'y', 2, '%s', '%s')", t, t, ids[1]);
    snprintf(writes[1], sizeof *writes, "INSERT INTO dataset (tenant_id, dataset_id, name, label_column, classes, created_by) VALUES"
             " ('%s', gen_random_uuid(), 'n', 'y', 2, '%s')", t, t);
    snprintf(writes[2], sizeof *writes, "UPDATE dataset SET project_id = '%s' WHERE project_id = '%s'", ids[1], ids[0]);
    snprintf(writes[3], sizeof *writes, "UPDATE job SET project_id = NULL WHERE project_id = '%s'", ids[0]);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        char text[2304];
        snprintf(text, sizeof text, "BEGIN; SET LOCAL app.tenant = '%s'; SET LOCAL app.projects = '{%s}'; %s; ROLLBACK", t, ids[0], writes[i]);
        if (db_session_exec_script(s, text, &e) == ERR_OK)
            fail_msg("allowed: %s", writes[i]);
        struct err ignored;
        OK(db_session_exec_script(s, "ROLLBACK", &ignored));
    }
    db_session_free(s);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(made_renamed_closed), T(which_project_something_new_is_of), T(a_project_sees_itself), T(every_table_of_projects_is_walled_in),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
