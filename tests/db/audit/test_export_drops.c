/* SPDX-License-Identifier: Apache-2.0 */
/* test_export_drops.c - what retention dropped here and there is listed by its own events, and a bundle brings those that it
 * needs. */
#include "tests/db/audit/fixture.h"

enum { ENTRIES = 250, GONE = 125 };

static size_t count_of(struct str text, const char *what)
{
    size_t n = 0;
    for (const char *at = text.ptr; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static enum errc export(struct audit_export_opts o, struct buf *b)
{
    o.tenant_id = tenant_a;
    return export_to(o, b);
}

static void every_other_body_is_dropped_and_listed(void **state)
{
    (void)state;
    static const uint64_t some[] = { 5, 6, 249 };
    struct buf b = BUF(64 << 20);
    append_committed(tenant_a, ENTRIES);
    assert_int_equal(tick(1000), ENTRIES);
    assert_int_equal(sign_heads(), 1);
    pg_harness_exec(pg, DB, "UPDATE audit_seq SET at = now() - interval '4000 days' WHERE tseq % 2 = 1;"
                    "SELECT * FROM audit_retention_drop(1000)");
    assert_int_equal(tick(1000) >= 2, true);
    assert_int_equal(export((struct audit_export_opts){ 0 }, &b), ERR_CONFLICT);     /* their events are not signed yet */
    sign_heads();
    OK(export((struct audit_export_opts){ 0 }, &b));
    struct verify_result v = verify_text(buf_str(&b), key, NULL);
    assert_string_equal(v.text, "");
    assert_true(v.dropped == GONE && v.unproved == 0);
    assert_int_equal(count_of(buf_str(&b), "{\"retention\":"), 2);                  /* at most 84 ranges each */
    OK(export((struct audit_export_opts){ .from = 3, .to = 20 }, &b));
    v = verify_text(buf_str(&b), key, NULL);
    assert_string_equal(v.text, "");
    assert_true(v.dropped == 9 && v.unproved == 0);
    assert_int_equal(count_of(buf_str(&b), "{\"retention\":"), 1);
    OK(export((struct audit_export_opts){ .only = some, .only_count = 3 }, &b));
    v = verify_text(buf_str(&b), key, NULL);
    assert_string_equal(v.text, "");
    assert_true(v.dropped == 2 && v.unproved == 0 && v.is_selection);
    /* that head is older than the drop */
    assert_int_equal(export((struct audit_export_opts){ .head_size = ENTRIES }, &b), ERR_CONFLICT);
    /* A body that somebody else takes is not listed. */
    pg_harness_exec(pg, DB, "DELETE FROM audit_event e USING audit_seq s WHERE s.event_id = e.event_id AND s.tseq = 40");
    OK(export((struct audit_export_opts){ 0 }, &b));
    v = verify_text(buf_str(&b), key, NULL);
    assert_true(v.damage == VERIFY_EDITED && v.tseq == 40);
    /* The lists themselves are kept, however old. */
    pg_harness_exec(pg, DB, "UPDATE audit_seq SET at = now() - interval '4000 days' WHERE action = 'audit.retention';"
                    "SELECT * FROM audit_retention_drop(1000)");
    OK(export((struct audit_export_opts){ .to = 39 }, &b));
    assert_int_equal(verify_text(buf_str(&b), key, NULL).damage, VERIFY_OK);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_other_body_is_dropped_and_listed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
