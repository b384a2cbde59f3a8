/* SPDX-License-Identifier: Apache-2.0 */
/* test_export.c - bundles of a real log verify offline, and a row changed behind our back is found. */
#include "tests/db/audit/fixture.h"
#include "core/db/session.h"

static void every_kind_of_bundle_verifies(void **state)
{
    (void)state;
    append_committed(tenant_a, 32);
    append_committed(tenant_b, 20);
    assert_int_equal(tick(1000), 52);
    assert_int_equal(sign_heads(), 2);
    static const uint64_t some[] = { 1, 2, 17, 31, 32 };
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a }, NULL);
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_b, .from = 5, .to = 11 }, NULL);
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a, .only = some, .only_count = 5 }, NULL);
    struct verify_result before = export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a }, NULL);
    append_committed(tenant_a, 9);
    assert_int_equal(tick(1000), 9);
    assert_int_equal(sign_heads(), 1);
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a }, &before.head);       /* a checkpoint lies at 32 */
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a, .from = 35, .prev_size = 32 }, &before.head);
}

/* For a backup, by who sees all rows: each log once, with its newest head. */
static void all_logs_are_named(void **state)
{
    (void)state;
    struct db_session *s;
    struct db_text_rows rows;
    struct arena *a = arena_new(1 << 20);
    char name[UUID_TEXT];
    OK(db_session_new(pg_harness_conninfo(pg, NULL, DB), "test", 0, &s, &e));
    OK(audit_logs(s, a, &rows, &e));
    assert_int_equal(rows.nrows, 2);
    for (int i = 0; i < 2; i++) {
        int found = 0;
        uuid_text(i ? tenant_b : tenant_a, name);
        for (size_t k = 0; k < rows.nrows; k++)
            found += str_eq_c(rows.cells[2 * k], name) && str_eq_c(rows.cells[2 * k + 1], i ? "20" : "41");
        assert_int_equal(found, 1);
    }
    db_session_free(s);
    arena_free(a);
}

static void an_export_says_no_to_what_is_not_signed(void **state)
{
    (void)state;
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_a));
    struct buf b = BUF(1 << 20);
    struct audit_export_result r;
    struct audit_export_opts o = { .tenant_id = tenant_a, .to = 1000, .sink = sink, .sink_ctx = &b };
    assert_int_equal(audit_export(&u->w, &o, &r, &e), ERR_INVALID);
    o.to = 0;
    o.tenant_id = uuid_v7(9);
    assert_int_equal(audit_export(&u->w, &o, &r, &e), ERR_NOT_FOUND);
    assert_int_equal(b.len, 0);
    unit_close(u);
    buf_release(&b);
}

static enum errc gone(void *ctx, const void *p, size_t n, struct err *err)
{
    (void)p, (void)n;
    ++*(int *)ctx;
    return FAIL(err, UNAVAILABLE, "the reader went away");
}

/* Whoever went away is written to once: an export of years does not go on for nobody. */
static void an_export_ends_with_its_reader(void **state)
{
    (void)state;
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_a));
    int calls = 0;
    struct audit_export_result r;
    struct audit_export_opts o = { .tenant_id = tenant_a, .sink = gone, .sink_ctx = &calls };
    assert_int_equal(audit_export(&u->w, &o, &r, &e), ERR_UNAVAILABLE);
    assert_int_equal(calls, 1);
    unit_close(u);
}

static void a_row_changed_in_the_database_is_found(void **state)
{
    (void)state;
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_b));
    struct buf b = BUF(1 << 20);
    struct audit_export_result r;
    struct audit_export_opts o = { .tenant_id = tenant_b, .sink = sink, .sink_ctx = &b };
    char sql[512], text[UUID_TEXT];
    uuid_text(tenant_b, text);
    snprintf(sql, sizeof sql, "UPDATE audit_event e SET body = convert_to(replace(convert_from(body, 'UTF8'), 'success', 'damaged'), 'UTF8')"
             " FROM audit_seq s WHERE s.event_id = e.event_id AND s.tenant_id = '%s' AND s.tseq = 13", text);
    pg_harness_exec(pg, DB, sql);
    OK(audit_export(&u->w, &o, &r, &e));
    struct verify_result v = verify_text(buf_str(&b), key, NULL);
    assert_true(v.damage == VERIFY_EDITED && v.tseq == 13);
    snprintf(sql, sizeof sql, "DELETE FROM audit_seq WHERE tenant_id = '%s' AND tseq = 9", text);
    pg_harness_exec(pg, DB, sql);
    assert_int_equal(audit_export(&u->w, &o, &r, &e), ERR_DAMAGED);
    unit_close(u);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_kind_of_bundle_verifies), cmocka_unit_test(all_logs_are_named),
        cmocka_unit_test(an_export_says_no_to_what_is_not_signed), cmocka_unit_test(an_export_ends_with_its_reader),
        cmocka_unit_test(a_row_changed_in_the_database_is_found) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
