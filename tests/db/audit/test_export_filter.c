/* SPDX-License-Identifier: Apache-2.0 */
/* test_export_filter.c - filtered exports prove that nothing was left out, from the first entry on whose leaf can be opened;
 * entries of an
 * older version are proven to be there and no more. */
#include "tests/db/audit/fixture.h"

static const struct audit_filter submits = { .action = "job.submit" };

static void append_kind(struct uuid tenant, enum audit_code code, int n)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant));
    for (int i = 0; i < n; i++) {
        struct audit_event ev = audit_event_of(&u->w, code);
        audit_event_detail(&ev, AUDIT_D_INT("i", i));
        OK(audit_append(&u->w, &ev, &e));
    }
    unit_commit(u);
}

static enum errc make_job(struct uuid tenant, enum audit_ask_proves proves, struct audit_export_job *ret, struct arena *keep)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant));
    struct audit_export_ask ask = { .format = STR("jsonl"), .filter = submits, .proves = proves };
    enum errc rc = audit_export_job_create(&u->w, &ask, uuid_v7(1), ret, &e);
    if (rc == ERR_OK) {
        ret->proves = str_dup(keep, ret->proves);
        ret->format = str_dup(keep, ret->format);
        ret->filter = str_dup(keep, ret->filter);
        ret->key_id = STR_NULL;
        unit_commit(u);
        return rc;
    }
    db_rollback(u->w.tx);
    unit_close(u);
    return rc;
}

static struct verify_result run_job(struct uuid tenant, const struct audit_export_job *job, struct buf *b)
{
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant));
    struct audit_export_sum sum;
    buf_clear(b);
    OK(audit_export_job_run(&u->w, job, 0, -1, sink, b, &sum, &e));
    unit_close(u);
    return verify_text(buf_str(b), key, NULL);
}

static void a_filtered_export_shows_why_the_rest_is_left_out(void **state)
{
    (void)state;
    struct buf b = BUF(64u << 20);
    append_kind(tenant_a, AUDIT_JOB_SUBMIT, 20);
    append_kind(tenant_a, AUDIT_JOB_CANCEL, 1500);
    append_kind(tenant_a, AUDIT_JOB_SUBMIT, 7);
    assert_int_equal(tick(5000), 1527);
    sign_heads();
    OK(export_to((struct audit_export_opts){ .tenant_id = tenant_a, .filter = &submits,
                                              .proves = AUDIT_PROVES_COMPLETENESS }, &b));
    struct verify_result v = verify_text(buf_str(&b), key, NULL);
    assert_string_equal(v.text, "");
    assert_true(v.is_filtered && v.count == 1527 && v.withheld == 1500 && v.dropped == 0);
    assert_null(strstr(b.ptr, "request_id\":\"x"));
    /* What is withheld is small, and holds nothing of an event but its act. */
    char *at = strstr(b.ptr, "\"withheld\":"), *end = strchr(at, '\n');
    while (at[-1] != '\n')
        at--;
    assert_true(end - at < 320);
    assert_int_equal(strncmp(strstr(at, "withheld"), "withheld\":{\"action\":\"job.cancel\"},\"salt\":\"", 42), 0);
    OK(export_to((struct audit_export_opts){ .tenant_id = tenant_a, .from = 5, .to = 30, .filter = &submits,
                                          .proves = AUDIT_PROVES_COMPLETENESS }, &b));
    v = verify_text(buf_str(&b), key, NULL);
    assert_true(v.damage == VERIFY_OK && v.count == 26 && v.withheld == 10);
    /* That nothing fits can be proven too. */
    OK(export_to((struct audit_export_opts){ .tenant_id = tenant_a, .filter = &(struct audit_filter){ .action = "key." },
                                          .proves = AUDIT_PROVES_COMPLETENESS }, &b));
    v = verify_text(buf_str(&b), key, NULL);
    assert_true(v.damage == VERIFY_OK && v.withheld == v.count);
    buf_release(&b);
}

/* An entry as the version before numbered it: a plain leaf, and a state that knows of no other. */
static void number_one_as_before(void)
{
    append_kind(tenant_b, AUDIT_JOB_CANCEL, 1);
    pg_harness_exec(pg, DB,
        "WITH n AS (SELECT tenant_id, event_id, xid, ord, sha256('\\x00'::bytea || body) AS leaf,\n"
        "                  sha256('falaj-audit-v1'::bytea || uuid_send(tenant_id)) AS start\n"
        "             FROM audit_event ORDER BY ord DESC LIMIT 1),\n"
        "  s AS (INSERT INTO audit_seq (tenant_id, tseq, event_id, leaf, chain, at, action)\n"
        "        SELECT tenant_id, 1, event_id, leaf, sha256('\\x02'::bytea || start || leaf), now(), 'job.cancel' FROM n),\n"
        "  l AS (INSERT INTO audit_log_state (tenant_id, size, chain, frontier)\n"
        "        SELECT tenant_id, 1, sha256('\\x02'::bytea || start || leaf), leaf FROM n)\n"
        "UPDATE audit_cursor c SET xid = n.xid, ord = n.ord FROM n");
}

static void entries_of_an_older_version_are_only_proven_to_be_there(void **state)
{
    (void)state;
    struct buf b = BUF(64u << 20);
    struct arena *keep = arena_new(1 << 20);
    struct audit_export_job job;
    number_one_as_before();
    sign_heads();
    OK(export_to((struct audit_export_opts){ .tenant_id = tenant_b }, &b));
    assert_true(str_starts(buf_str(&b), "{\"format\":\"falaj-audit-bundle-v1\""));      /* which older programs read */
    assert_int_equal(make_job(tenant_b, ASK_COMPLETENESS, &job, keep), ERR_CONFLICT);
    append_kind(tenant_b, AUDIT_JOB_SUBMIT, 3);
    append_kind(tenant_b, AUDIT_JOB_CANCEL, 3);
    assert_int_equal(tick(100), 6);
    sign_heads();
    OK(export_to((struct audit_export_opts){ .tenant_id = tenant_b }, &b));
    assert_int_equal(verify_text(buf_str(&b), key, NULL).damage, VERIFY_OK);
    assert_int_equal(export_to((struct audit_export_opts){ .tenant_id = tenant_b, .filter = &submits,
                                                        .proves = AUDIT_PROVES_COMPLETENESS }, &b), ERR_CONFLICT);
    OK(make_job(tenant_b, ASK_BEST, &job, keep));
    assert_true(str_eq_c(job.proves, "inclusion") && job.from_tseq == 1 && job.version == 2);
    struct verify_result v = run_job(tenant_b, &job, &b);
    assert_true(v.damage == VERIFY_OK && v.is_selection && v.count == 3);
    OK(make_job(tenant_b, ASK_COMPLETENESS, &job, keep));
    assert_true(str_eq_c(job.proves, "completeness") && job.from_tseq == 2);
    v = run_job(tenant_b, &job, &b);
    assert_true(v.damage == VERIFY_OK && v.is_filtered && v.count == 6 && v.withheld == 3 && v.from == 2);
    OK(make_job(tenant_a, ASK_BEST, &job, keep));
    assert_true(str_eq_c(job.proves, "completeness"));
    OK(make_job(tenant_a, ASK_INCLUSION, &job, keep));
    v = run_job(tenant_a, &job, &b);
    assert_true(v.damage == VERIFY_OK && v.is_selection && v.count == 27);
    char long_id[4 * AUDIT_KEY_ID];
    memset(long_id, 'k', sizeof long_id);
    job.key_id = str_n(long_id, sizeof long_id);            /* a stored key that cannot be one pins nothing */
    job.public_key.data = str_n(long_id, AUDIT_PUB);
    assert_int_equal(run_job(tenant_a, &job, &b).count, 27);
    arena_free(keep);
    buf_release(&b);
}

/* An older program that numbered in between moved the size alone: what can be opened begins anew behind it. */
static void numbering_by_an_older_program_is_seen(void **state)
{
    (void)state;
    struct arena *keep = arena_new(1 << 20);
    struct audit_export_job job;
    pg_harness_exec(pg, DB, "UPDATE audit_log_state SET opened_to = opened_to - 1 WHERE size = 7");
    OK(make_job(tenant_b, ASK_BEST, &job, keep));
    assert_true(str_eq_c(job.proves, "inclusion"));
    append_kind(tenant_b, AUDIT_JOB_SUBMIT, 2);
    assert_int_equal(tick(100), 2);
    sign_heads();
    OK(make_job(tenant_b, ASK_COMPLETENESS, &job, keep));
    assert_true(job.from_tseq == 8 && job.to_tseq == 9);
    arena_free(keep);
}

/* A body that retention dropped shows nothing: it is counted, and the rest is complete. */
static void a_dropped_body_is_counted(void **state)
{
    (void)state;
    struct buf b = BUF(64u << 20);
    pg_harness_exec(pg, DB, "UPDATE audit_seq SET at = now() - interval '4000 days' WHERE tseq IN (3, 25) AND tenant_id ="
                    " (SELECT tenant_id FROM tenant WHERE name = 'aaa'); SELECT * FROM audit_retention_drop(1000)");
    tick(1000);
    sign_heads();
    OK(export_to((struct audit_export_opts){ .tenant_id = tenant_a, .filter = &submits,
                                              .proves = AUDIT_PROVES_COMPLETENESS }, &b));
    struct verify_result v = verify_text(buf_str(&b), key, NULL);
    assert_string_equal(v.text, "");
    assert_true(v.dropped == 2 && v.unproved == 0 && v.is_filtered);
    assert_int_equal(v.count - v.withheld - v.dropped, 26);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_filtered_export_shows_why_the_rest_is_left_out),
        cmocka_unit_test(entries_of_an_older_version_are_only_proven_to_be_there),
        cmocka_unit_test(numbering_by_an_older_program_is_seen), cmocka_unit_test(a_dropped_body_is_counted) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
