/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_report.c - a verdict says mode, filter and key, and what it does not show. */
#include "tests/unit/audit/fixture.h"

static void a_verdict_says_what_it_does_not_show(void **state)
{
    (void)state;
    struct verify_result r = { .from = 3, .to = 9, .pinned = true };
    struct buf b = BUF(VERIFY_CLAIM_MAX);
    verify_put_claim(&r, &b);
    assert_string_equal(b.ptr, "Mode: range, no filter. Every entry from 3 to 9 is here.\n");
    buf_clear(&b);
    verify_put_members(&r, &b);
    assert_string_equal(b.ptr, ",\"mode\":\"range\",\"filter\":null,\"proves\":\"range\",\"key\":\"pinned\","
                        "\"unproved_drops\":0,\"checkpoints\":0,\"withheld\":0");
    r.is_selection = true;
    r.pinned = false;
    r.dropped = 5;
    r.unproved = 2;
    snprintf(r.filter.action, sizeof r.filter.action, "job.");
    buf_clear(&b);
    verify_put_claim(&r, &b);
    assert_non_null(strstr(b.ptr, "\"action\":\"job.\""));
    assert_non_null(strstr(b.ptr, "NOT proven"));
    assert_non_null(strstr(b.ptr, "3 entries have no body any more"));
    assert_non_null(strstr(b.ptr, "UNPROVED: 2 entries"));
    assert_non_null(strstr(b.ptr, "UNTRUSTED KEY"));
    r.is_selection = false;
    r.is_filtered = true;
    r.count = 50;
    r.withheld = 40;
    buf_clear(&b);
    verify_put_members(&r, &b);
    assert_non_null(strstr(b.ptr, "\"mode\":\"filtered\",") && strstr(b.ptr, "\"proves\":\"completeness\",") &&
                    strstr(b.ptr, "\"withheld\":40"));
    buf_clear(&b);
    verify_put_claim(&r, &b);
    assert_non_null(strstr(b.ptr, "Every entry from 3 to 9 that fits is here: 5. The other 40 show"));
    assert_non_null(strstr(b.ptr, "Whether the 5 entries without body would have fitted, nothing says."));
    buf_clear(&b);
    /* The longest filter fits. */
    for (int i = 0; i < 3; i++)
        memset(i == 0 ? r.filter.actor : i == 1 ? r.filter.action : r.filter.resource, 'a', AUDIT_FILTER_WORD - 1);
    verify_put_claim(&r, &b);
    assert_false(b.overflow);
    buf_release(&b);
}

static void a_kept_head_is_read_with_and_without_its_signature(void **state)
{
    (void)state;
    struct log *l = log_make(uuid_v7(1), 3, 1);
    struct key *k = key_make();
    struct bundle_head h, back;
    struct audit_head head;
    struct buf b = BUF(4096);
    bool is_bare;
    log_head(l, 3, k, &h, &head);
    assert_true(bundle_kept_encode(&h, &b));
    assert_true(verify_read_kept(buf_str(&b), &back, &is_bare) && !is_bare && back.len == h.len && memcmp(back.sig, h.sig,
            AUDIT_SIG) == 0);
    assert_true(verify_read_kept(str_n(h.body, h.len), &back, &is_bare) && is_bare && back.len == h.len);
    for (size_t n = 0; n + 1 < b.len; n++)
        assert_false(verify_read_kept(str_n(b.ptr, n), &back, &is_bare));
    buf_release(&b);
    key_free(k);
    log_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_verdict_says_what_it_does_not_show),
        cmocka_unit_test(a_kept_head_is_read_with_and_without_its_signature) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
