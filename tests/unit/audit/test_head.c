/* SPDX-License-Identifier: Apache-2.0 */
/* test_head.c - golden bytes of a head, and every prefix of it refused. */
#include "tests/unit/audit/fixture.h"

#define Z64 "0000000000000000000000000000000000000000000000000000000000000000"

static void heads_have_golden_bytes_and_read_back(void **state)
{
    (void)state;
    struct audit_head h = { .zone = "ae-dxb-1", .size = 12, .ts_us = 1700000000000001, .key_id = "k1" }, g;
    struct buf b = BUF(HEAD_BODY_MAX);
    assert_true(audit_head_encode(&h, &b));
    assert_string_equal(b.ptr, "{\"v\":1,\"log_id\":\"00000000-0000-0000-0000-000000000000\",\"zone\":\"ae-dxb-1\",\"size\":12,\"root\":\"" Z64
        "\",\"chain\":\"" Z64 "\",\"ts_us\":1700000000000001,\"prev_sth_hash\":\"" Z64 "\",\"key_id\":\"k1\"}");
    assert_true(audit_head_decode(buf_str(&b), &g));
    assert_memory_equal(&h, &g, sizeof h);
    for (size_t n = 0; n < b.len; n++)
        assert_false(audit_head_decode(str_n(b.ptr, n), &g));
    buf_add_char(&b, ' ');
    assert_false(audit_head_decode(buf_str(&b), &g));
    buf_release(&b);
}

static void a_zone_head_says_so(void **state)
{
    (void)state;
    struct audit_head h = { .is_zone = true, .zone = "z", .size = 1, .key_id = "k" }, g;
    struct buf b = BUF(HEAD_BODY_MAX);
    assert_true(audit_head_encode(&h, &b) && audit_head_decode(buf_str(&b), &g) && g.is_zone);
    buf_release(&b);
}

static void words_that_would_break_the_json_are_refused(void **state)
{
    (void)state;
    struct audit_head h = { .zone = "a\"b", .key_id = "k" };
    struct buf b = BUF(HEAD_BODY_MAX);
    assert_false(audit_head_encode(&h, &b));
    strcpy(h.zone, "ok");
    strcpy(h.key_id, "k\\");
    assert_false(audit_head_encode(&h, &b));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(heads_have_golden_bytes_and_read_back), cmocka_unit_test(a_zone_head_says_so),
        cmocka_unit_test(words_that_would_break_the_json_are_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
