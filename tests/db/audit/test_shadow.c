/* SPDX-License-Identifier: Apache-2.0 */
/* test_shadow.c - what a database administrator does past Falaj is seen, and its own roles cannot rewrite the log. */
#include "keeping_kit.h"
#include "core/db/session.h"

static size_t shadow_pass(void)
{
    size_t n;
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(audit_shadow_pass(&u->w, 1000, &n, &e));
    unit_commit(u);
    return n;
}

/* The way around the triggers on rows: switch one off, change, switch it on again. The change itself is not seen, the way is. */
static void a_guard_switched_off_is_seen(void **state)
{
    (void)state;
    pg_harness_exec_file(pg, DB, "migrations/superuser.sql");
    pg_harness_exec_file(pg, DB, "migrations/superuser.sql");
    sql("UPDATE audit_shadow SET event_id = gen_random_uuid()");
    shadow_pass();
    sql("ALTER TABLE quota DISABLE TRIGGER audit_shadow");
    sql("UPDATE quota SET hard_limit = 7");
    sql("ALTER TABLE quota ENABLE ALWAYS TRIGGER audit_shadow");
    sql("SET session_replication_role = replica; ALTER TABLE quota NO FORCE ROW LEVEL SECURITY");
    sql("ALTER TABLE quota FORCE ROW LEVEL SECURITY");
    sql("CREATE TABLE passing (n int)");
    sql("CREATE TRIGGER t AFTER INSERT ON passing EXECUTE FUNCTION audit_shadow_note()");
    sql("DROP TRIGGER t ON passing");
    sql("DROP TABLE passing");
    assert_int_equal(number("SELECT count(*) FROM audit_shadow WHERE event_id IS NULL AND op = 'ALTER TABLE' AND table_name = "
        "'public.quota'"), 4);
    assert_int_equal(number("SELECT count(*) FROM audit_shadow WHERE event_id IS NULL AND row_key LIKE '%off=audit_shadow'"), 1);
    assert_int_equal(number("SELECT count(*) FROM audit_shadow WHERE event_id IS NULL AND row_key LIKE 'rls=t forced=f %'"), 1);
    assert_int_equal(number("SELECT count(*) FROM audit_shadow WHERE event_id IS NULL AND op = 'DROP TRIGGER' AND row_key = "
        "'dropped'"), 1);
    assert_true(shadow_pass() >= 8);
    tick(1000);
    assert_true(number("SELECT count(*) FROM audit_event WHERE position('ALTER TABLE' in convert_from(body, 'UTF8')) > 0") >= 4);
}

static void what_an_administrator_does_past_falaj_is_seen(void **state)
{
    (void)state;
    act(ann, AUDIT_JOB_SUBMIT, 8, clock_wall_us(&clock_system));
    tick(1000);
    sign_heads();
    sql("UPDATE audit_shadow SET event_id = gen_random_uuid()");
    shadow_pass();
    sql("INSERT INTO quota (tenant_id, resource, hard_limit) VALUES ('%s', 'jobs', 5)", hex(tenant_b));
    sql("SET session_replication_role = replica; UPDATE quota SET hard_limit = 500000 WHERE resource = "
        "'jobs'");     /* does not switch it off */
    sql("UPDATE role_binding SET role = 'tenant-admin'");           /* no row: nothing was changed */
    sql("DELETE FROM audit_event WHERE (tenant_id, event_id) = (SELECT tenant_id, event_id FROM audit_seq WHERE tenant_id = "
        "'%s' AND tseq = 5)",
        hex(tenant_a));
    sql("DELETE FROM audit_seq WHERE tenant_id = '%s' AND tseq = 6", hex(tenant_a));
    assert_in_range(shadow_pass(), 4, 6);       /* a trigger on quota may change another table in turn */
    assert_int_equal(shadow_pass(), 0);
    tick(1000);
    assert_int_equal(number("SELECT count(*) FROM audit_event WHERE tenant_id = '00000000-0000-0000-0000-000000000000' AND "
                            "convert_from(body, 'UTF8') ~ "
                            "'FLJ-AUD-008S.*\"id\":\"(quota|audit_event|audit_seq)\".*\"login\":\"postgres\"'"), 4);
    assert_int_equal(number("SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE "
                            "'%\"id\":\"quota\"%\"op\":\"UPDATE\"%\"first\":\"resource=jobs\"%'"), 1);
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_a));       /* and the log itself has a hole, at the right place */
    struct buf b = BUF(64 << 20);
    struct audit_export_result r;
    assert_int_equal(audit_export(&u->w, &(struct audit_export_opts){ .tenant_id = tenant_a, .sink = sink, .sink_ctx = &b },
        &r, &e), ERR_DAMAGED);
    assert_non_null(strstr(e.msg, "6"));
    unit_close(u);
    buf_release(&b);
}

static void refused(const char *role, const char *text)
{
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    char all[600];
    OK(db_session_new(pg_harness_conninfo(pg, role, DB), "test", 30000, &s, &e));
    snprintf(all, sizeof all, "BEGIN; SET LOCAL app.tenant = '%s'; %s; COMMIT", hex(tenant_a), text);
    assert_int_not_equal(db_session_exec_script(s, all, &e), ERR_OK);
}

static void falajs_own_roles_cannot_rewrite_the_log(void **state)
{
    (void)state;
    static const char *const roles[] = { "falaj_app", "falaj_worker_api", "falaj_scheduler", "falaj_sequencer",
        "falaj_retention" };
    static const char *const tables[] = { "audit_event", "audit_seq", "audit_head", "audit_shadow" };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
            char text[128];
            snprintf(text, sizeof text, "DELETE FROM %s", tables[t]);
            refused(roles[i], text);
            snprintf(text, sizeof text, "UPDATE %s SET tenant_id = tenant_id", tables[t]);
            refused(roles[i], text);
        }
    refused("falaj_migrate", "SET LOCAL ROLE falaj_owner; DELETE FROM audit_seq");      /* the owner's rights do not help */
    refused("falaj_app", "SELECT * FROM audit_retention_drop(1)");
    int64_t bare = number("SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' "
        "AND c.relname NOT IN "
                          "('idempotency', 'job_log', 'job_metric', 'audit_cursor', 'audit_task') AND c.relname NOT LIKE "
                          "'schema\\_%' AND NOT EXISTS "
                          "(SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'audit_shadow' AND t.tgenabled = "
                          "'A')");
    assert_int_equal(bare, 0);
}

static void a_log_begins_with_its_genesis(void **state)
{
    (void)state;
    struct audit_view *v = test_malloc(sizeof *v);
    struct audit_row *rows;
    size_t n;
    struct uuid c = uuid_v7(3000);
    add_tenant(c, "ccc");
    tick(1000);
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(c));
    OK(audit_list(&u->w, c, 0, 10, &rows, &n, &e));
    assert_int_equal(n, 1);
    assert_true(audit_record_read(rows[0].body, v));                /* what the database spells is canonical */
    assert_int_equal(v->code, AUDIT_GENESIS);
    assert_true(uuid_eq(v->event_id, rows[0].event_id) && str_eq_c(v->zone, "ae-dxb-1"));
    unit_commit(u);
    test_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_an_administrator_does_past_falaj_is_seen),
        cmocka_unit_test(falajs_own_roles_cannot_rewrite_the_log), cmocka_unit_test(a_log_begins_with_its_genesis),
        cmocka_unit_test(a_guard_switched_off_is_seen) };
    return cmocka_run_group_tests(tests, begin, end);
}
