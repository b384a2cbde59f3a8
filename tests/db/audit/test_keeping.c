/* SPDX-License-Identifier: Apache-2.0 */
/* test_keeping.c - what is searched, held, dropped, erased and exported again, and that every proof outlives it. With a real falaj-keyd for the keys of persons. About 6 s. */
#include "keeping_kit.h"

static size_t found(struct audit_search q, struct audit_row *last)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_row *rows;
    size_t n;
    OK(audit_search(&u->w, tenant_a, &q, 1000, &rows, &n, &e));
    if (n && last) {
        *last = rows[n - 1];
        last->body = str_dup(results, last->body);
    }
    unit_commit(u);
    return n;
}

static struct audit_filter filter_of(const char *actor, const char *action, const char *resource)
{
    struct audit_filter f = { 0 };
    snprintf(f.actor, sizeof f.actor, "%s", actor);
    snprintf(f.action, sizeof f.action, "%s", action);
    snprintf(f.resource, sizeof f.resource, "%s", resource);
    return f;
}

static void events_are_found_by_what_they_say(void **state)
{
    (void)state;
    char job[64] = "job_";
    act(ann, AUDIT_JOB_SUBMIT, 3, 0);
    act(bob, AUDIT_JOB_CANCEL, 2, 0);
    hex_encode(bob.b, 16, job + 4);
    assert_int_equal(found((struct audit_search){ 0 }, NULL), 5);
    assert_int_equal(found((struct audit_search){ .filter = filter_of(hex(ann), "", "") }, NULL), 3);
    assert_int_equal(found((struct audit_search){ .filter = filter_of("user", "", "") }, NULL), 5);
    assert_int_equal(found((struct audit_search){ .filter = filter_of("worker", "", "") }, NULL), 0);
    assert_int_equal(found((struct audit_search){ .filter = filter_of("", "job.cancel", "") }, NULL), 2);
    assert_int_equal(found((struct audit_search){ .filter = filter_of("", "job.", "") }, NULL), 5);
    assert_int_equal(found((struct audit_search){ .filter = filter_of("", "job.c", "") }, NULL), 0);
    assert_int_equal(found((struct audit_search){ .filter = filter_of("", "", job) }, NULL), 2);
    assert_int_equal(found((struct audit_search){ .verdict = VERDICT_DENIED }, NULL), 2);
    assert_int_equal(found((struct audit_search){ .verdict = VERDICT_SUCCESS, .filter = filter_of(hex(ann), "", "") }, NULL), 2);
    assert_int_equal(found((struct audit_search){ .request_id = STR("req_keeping"), .after = 3 }, NULL), 2);
    assert_int_equal(found((struct audit_search){ .request_id = STR("another") }, NULL), 0);
    assert_int_equal(found((struct audit_search){ .filter = { .from_us = clock_wall_us(&clock_system) + 1000000 } }, NULL), 0);
    assert_int_equal(found((struct audit_search){ .filter = { .until_us = 1 } }, NULL), 0);
}

static void an_address_is_sealed_found_and_opened(void **state)
{
    (void)state;
    struct audit_row row;
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct str *seals, text;
    size_t n;
    enum audit_pii_state how;
    OK(audit_pii_test(&u->w, tenant_a, UUID_NIL, AUDIT_PII_SOURCE, STR("203.0.113.7"), &seals, &n, &e));
    assert_int_equal(n, 2);
    assert_int_equal(found((struct audit_search){ .sources = seals, .source_count = n }, &row), 5);
    assert_null(memmem(row.body.ptr, row.body.len, "203.0.113.7", 11));
    assert_non_null(memmem(row.body.ptr, row.body.len, "\"sealed:1:", 10));
    OK(audit_pii_read(&u->w, tenant_a, AUDIT_PII_SOURCE, seals[0], &text, &how, &e));
    assert_true(how == PII_OPEN && str_eq_c(text, "203.0.113.7"));
    OK(audit_pii_read(&u->w, tenant_b, AUDIT_PII_SOURCE, seals[0], &text, &how, &e));       /* another log's key */
    assert_int_equal(how, PII_UNREADABLE);
    OK(audit_pii_test(&u->w, tenant_a, UUID_NIL, AUDIT_PII_SOURCE, STR("203.0.113.8"), &seals, &n, &e));
    assert_int_equal(found((struct audit_search){ .sources = seals, .source_count = n }, NULL), 0);
    unit_commit(u);
}

static void proofs_of_entries_hold(void **state)
{
    (void)state;
    struct merkle_hash nodes[MERKLE_PROOF_MAX];
    struct audit_row row;
    struct audit_head h;
    struct str body;
    uint8_t sig[AUDIT_SIG];
    size_t n;
    sign_heads();
    found((struct audit_search){ .after = 2, .upto = 3 }, &row);
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    OK(audit_newest_head(&u->w, tenant_a, &h, &body, sig, &e));
    unit_commit(u);
    u = unit_open(NULL, SCOPE_TENANT(tenant_a));
    OK(audit_prove_inclusion(&u->w, tenant_a, 3, h.size, nodes, &n, &e));
    assert_true(merkle_verify_inclusion(&row.leaf, 2, h.size, nodes, n, &h.root));
    assert_false(merkle_verify_inclusion(&row.leaf, 3, h.size, nodes, n, &h.root));
    assert_int_equal(audit_prove_inclusion(&u->w, tenant_a, 3, h.size + 1, nodes, &n, &e), ERR_NOT_FOUND);
    assert_int_equal(audit_prove_inclusion(&u->w, tenant_a, 9, h.size, nodes, &n, &e), ERR_UNPROCESSABLE);
    assert_int_equal(audit_prove_consistency(&u->w, tenant_a, 0, h.size, nodes, &n, &e), ERR_UNPROCESSABLE);
    OK(audit_prove_consistency(&u->w, tenant_a, 2, h.size, nodes, &n, &e));
    unit_close(u);
}

static struct uuid place_hold(struct audit_hold in)
{
    struct audit_hold h;
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    in.reason = STR("case 7");
    OK(audit_hold_place(&u->w, &in, officer, &h, &e));
    unit_commit(u);
    return h.hold_id;
}

static enum errc erase(struct uuid who)
{
    struct audit_erasure r;
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    enum errc rc = audit_erase_person(&u->w, who, officer, &r, &e);
    if (rc == ERR_OK)
        unit_commit(u);
    else {
        db_rollback(u->w.tx);
        unit_close(u);
    }
    return rc;
}

static void lift_hold(struct uuid hold)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    OK(audit_hold_lift(&u->w, hold, &e));
    assert_int_equal(audit_hold_lift(&u->w, hold, &e), ERR_CONFLICT);
    unit_commit(u);
}

static void an_erased_person_is_unreadable_and_proofs_stay(void **state)
{
    (void)state;
    struct audit_row row;
    struct str text;
    enum audit_pii_state how;
    struct audit_view *v = test_malloc(sizeof *v);
    struct uuid hold = place_hold((struct audit_hold){ .subject_id = ann });
    assert_int_equal(erase(ann), ERR_LEGAL_HOLD);
    assert_int_equal(number("SELECT tenant_has_hold(tenant_id)::int FROM tenant WHERE name = 'aaa'"), 1);
    assert_int_equal(number("SELECT tenant_has_hold(tenant_id)::int FROM tenant WHERE name = 'bbb'"), 0);
    lift_hold(hold);
    found((struct audit_search){ .filter = filter_of(hex(ann), "", "") }, &row);
    assert_int_equal(erase(ann), ERR_OK);
    assert_int_equal(erase(ann), ERR_CONFLICT);
    assert_int_equal(erase(uuid_v7(77)), ERR_NOT_FOUND);
    assert_true(audit_record_read(row.body, v));
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    OK(audit_pii_read(&u->w, tenant_a, AUDIT_PII_SOURCE, v->src_ip, &text, &how, &e));
    assert_int_equal(how, PII_ERASED);
    unit_commit(u);
    audit_pii_forget(fx_pii, ann);
    act(ann, AUDIT_JOB_SUBMIT, 1, 0);       /* no new key is made: the field is withheld */
    found((struct audit_search){ .filter = filter_of(hex(ann), "", "") }, &row);
    assert_true(audit_record_read(row.body, v) && !v->src_ip.ptr);
    assert_int_equal(number("SELECT count(*) FROM app_user WHERE name LIKE 'erased-%' AND state = 'DISABLED'"), 1);
    sign_heads();
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a }, NULL);
    test_free(v);
}

static int64_t drop(void)
{
    struct audit_dropped *logs;
    int64_t sum = 0;
    size_t n;
    struct unit *u = unit_open(retention_pool, SCOPE_SYSTEM);
    OK(audit_retention_drop(&u->w, 100000, &logs, &n, &e));
    for (size_t i = 0; i < n; i++)
        sum += logs[i].dropped;
    unit_commit(u);
    return sum;
}

static void what_is_past_its_time_is_dropped_to_its_hash(void **state)
{
    (void)state;
    int64_t old = clock_wall_us(&clock_system) - INT64_C(86400000000) * 100;
    act(bob, AUDIT_KEY_RELEASE, 4, old);
    act(officer, AUDIT_KEY_RELEASE, 3, old);
    act_on(bob, officer, AUDIT_KEY_RELEASE, 2, old);                /* what was done to a person is held with what it did */
    assert_int_equal(drop(), 0);                                    /* seven years, and no head covers them */
    sql("INSERT INTO audit_retention (tenant_id, class, keep_days) VALUES ('%s', 'KEY', 90), ('%s', 'JOB', 10)", hex(tenant_a), hex(tenant_a));
    assert_int_equal(drop(), 0);
    sign_heads();
    sql("INSERT INTO audit_retention (tenant_id, class, zone, keep_days) VALUES ('%s', 'KEY', 'ae-dxb-1', 200)", hex(UUID_NIL));
    assert_int_equal(drop(), 0);                                    /* the zone's least term */
    sql("DELETE FROM audit_retention WHERE zone <> ''");
    struct uuid hold = place_hold((struct audit_hold){ .subject_id = officer });
    assert_int_equal(drop(), 4);
    assert_int_equal(drop(), 0);
    lift_hold(hold);
    assert_int_equal(drop(), 5);
    assert_int_equal(found((struct audit_search){ .filter = filter_of("", "key.release", "") }, NULL), 9);
    assert_int_equal(found((struct audit_search){ .filter = filter_of(hex(officer), "", "") }, NULL), 0);     /* what told of a person is gone */
    assert_true(tick(1000) >= 2);                                   /* each drop left an event of its own, made by the database */
    assert_int_equal(found((struct audit_search){ .filter = filter_of("system", "audit.retention", "tenant") }, NULL), 2);
    sign_heads();
    struct buf b = BUF(64 << 20);
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_a));
    struct audit_export_result r;
    OK(audit_export(&u->w, &(struct audit_export_opts){ .tenant_id = tenant_a, .sink = sink, .sink_ctx = &b }, &r, &e));
    assert_non_null(memmem(b.ptr, b.len, "\"event\":null", 12));
    struct verify_result v = verify_text(buf_str(&b), key, NULL);
    assert_string_equal(v.text, "");                                        /* what is missing is what retention's own events list */
    assert_true(v.damage == VERIFY_OK && v.dropped == 9 && v.unproved == 0);
    char *line = strstr(b.ptr, "{\"retention\":"), *next = line ? strchr(line, '\n') : NULL;
    assert_non_null(next);
    for (char *at = line + 1; at < next; at++)                              /* and nobody can add to the list */
        if (strncmp(at, "\"list_1\":\"", 10) == 0)
            at[10] = at[10] == '9' ? '8' : (char)(at[10] + 1);
    v = verify_text(buf_str(&b), key, NULL);
    assert_int_equal(v.damage, VERIFY_EDITED);
    assert_int_equal(drop(), 0);
    sql("INSERT INTO audit_retention (tenant_id, class, keep_days) VALUES ('%s', 'AUD', 1)", hex(tenant_a));
    sql("UPDATE audit_seq SET at = at - interval '9 days' WHERE action = 'audit.retention'");
    assert_int_equal(number("SELECT count(*) FROM audit_seq WHERE action = 'audit.retention' AND dropped_at IS NOT NULL"), 0);
    drop();                                                                 /* other events of the class, never these */
    assert_int_equal(number("SELECT count(*) FROM audit_seq WHERE action = 'audit.retention' AND dropped_at IS NOT NULL"), 0);
    unit_close(u);
    buf_release(&b);
}

static void run_job(const struct audit_export_job *job, int64_t skip, int64_t last, struct buf *b, struct audit_export_sum *sum)
{
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_a));
    OK(audit_export_job_run(&u->w, job, skip, last, sink, b, sum, &e));
    unit_close(u);
}

static void an_export_gives_the_same_bytes_again(void **state)
{
    (void)state;
    static const char *const formats[] = { "jsonl", "ocsf", "cef", "syslog", "csv", "summary" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct audit_export_job job;
        struct audit_export_sum whole, again;
        struct buf a = BUF(64 << 20), b = BUF(64 << 20);
        struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
        OK(audit_export_job_create(&u->w, &(struct audit_export_ask){ .format = str_c(formats[i]) }, officer, &job, &e));
        struct audit_export_job kept = job;
        kept.format = str_dup(results, job.format);
        unit_commit(u);
        run_job(&kept, 0, -1, &a, &whole);
        act(bob, AUDIT_JOB_SUBMIT, 2, 0);       /* the log grows and is signed meanwhile */
        sign_heads();
        int64_t cut = (int64_t)a.len / 3;
        run_job(&kept, 0, cut, &b, &again);
        run_job(&kept, cut, -1, &b, &again);
        assert_int_equal(a.len, whole.size_bytes);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.ptr, b.ptr, a.len);
        assert_memory_equal(whole.sha256, again.sha256, 32);
        u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
        OK(audit_export_job_create(&u->w, &(struct audit_export_ask){ .format = STR("jsonl"), .since_export = kept.export_id }, officer, &job, &e));
        assert_int_equal(job.from_tseq, kept.head_size + 1);
        assert_int_equal(job.prev_size, kept.head_size);
        unit_commit(u);
        buf_release(&a);
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(events_are_found_by_what_they_say), cmocka_unit_test(an_address_is_sealed_found_and_opened),
        cmocka_unit_test(proofs_of_entries_hold), cmocka_unit_test(an_erased_person_is_unreadable_and_proofs_stay),
        cmocka_unit_test(what_is_past_its_time_is_dropped_to_its_hash), cmocka_unit_test(an_export_gives_the_same_bytes_again) };
    return cmocka_run_group_tests(tests, begin, end);
}
