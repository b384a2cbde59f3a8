/* SPDX-License-Identifier: Apache-2.0 */
/* test_record.c - golden bytes of an event, and hostile text in every member. */
#include "tests/unit/audit/fixture.h"

static struct audit_event full(void)
{
    struct audit_event ev = { .zone = STR("ae-dxb-1"), .ts_us = 1700000000123456, .code = AUDIT_JOB_SUBMIT, .actor = AUDIT_USER,
        .roles = { STR("ml-engineer"), STR("viewer") }, .role_count = 2, .src_ip = STR("10.0.0.9"), .request_id = STR("req-7"),
        .resource_kind = STR("job"), .resource_prefix = "job", .rule = STR("role:ml-engineer"), .http_status = 201 };
    uuid_parse(STR("01890000-0000-7000-8000-000000000001"), &ev.event_id);
    uuid_parse(STR("01890000-0000-7000-8000-0000000000aa"), &ev.tenant_id);
    uuid_parse(STR("01890000-0000-7000-8000-0000000000bb"), &ev.actor_id);
    uuid_parse(STR("01890000-0000-7000-8000-0000000000cc"), &ev.token_id);
    uuid_parse(STR("01890000-0000-7000-8000-0000000000dd"), &ev.resource_id);
    audit_event_detail(&ev, AUDIT_D_INT("gpus", 4));
    audit_event_detail(&ev, AUDIT_D_STR("kind", STR("train")));
    audit_event_detail(&ev, AUDIT_D_INT("delta", INT64_MIN));
    return ev;
}

static void assert_bytes(const struct audit_event *ev, const char *want)
{
    struct buf b = BUF(AUDIT_BODY_MAX);
    assert_true(audit_event_encode(ev, &b));
    assert_string_equal(b.ptr, want);
    buf_release(&b);
}

static void golden_bytes_of_a_full_event(void **state)
{
    (void)state;
    struct audit_event ev = full();
    assert_bytes(&ev,
        "{\"v\":1,\"event_id\":\"01890000-0000-7000-8000-000000000001\",\"zone\":\"ae-dxb-1\","
        "\"tenant\":\"01890000-0000-7000-8000-0000000000aa\",\"ts_us\":1700000000123456,\"code\":\"FLJ-JOB-001S\","
        "\"actor\":{\"type\":\"user\",\"id\":\"01890000-0000-7000-8000-0000000000bb\",\"roles\":[\"ml-engineer\",\"viewer\"],"
        "\"token_id\":\"01890000-0000-7000-8000-0000000000cc\"},\"src_ip\":\"10.0.0.9\",\"request_id\":\"req-7\","
        "\"resource\":{\"kind\":\"job\",\"id\":\"job_018900000000700080000000000000dd\"},\"action\":\"job.submit\","
        "\"decision\":{\"effect\":\"allow\",\"rule\":\"role:ml-engineer\"},\"outcome\":\"success\",\"http_status\":201,"
        "\"details\":{\"gpus\":4,\"kind\":\"train\",\"delta\":-9223372036854775808}}");
}

static void golden_bytes_of_an_empty_event(void **state)
{
    (void)state;
    struct audit_event ev = { .code = AUDIT_GENESIS };
    assert_bytes(&ev,
        "{\"v\":1,\"event_id\":\"00000000-0000-0000-0000-000000000000\",\"zone\":\"\","
        "\"tenant\":\"00000000-0000-0000-0000-000000000000\",\"ts_us\":0,\"code\":\"FLJ-AUD-001S\","
        "\"actor\":{\"type\":\"system\",\"id\":null,\"roles\":[],\"token_id\":null},\"src_ip\":null,\"request_id\":null,"
        "\"resource\":{\"kind\":null,\"id\":null},\"action\":\"audit.genesis\",\"decision\":{\"effect\":\"allow\",\"rule\":null},"
        "\"outcome\":\"success\",\"http_status\":null,\"details\":{}}");
}

static void the_suffix_tells_the_outcome(void **state)
{
    (void)state;
    struct audit_event ev = full();
    struct buf b = BUF(AUDIT_BODY_MAX);
    ev.error = ERR_CONFLICT;
    audit_event_encode(&ev, &b);
    assert_non_null(strstr(b.ptr, "\"FLJ-JOB-001F\""));
    assert_non_null(strstr(b.ptr, "\"outcome\":\"conflict\""));
    buf_clear(&b);
    ev.denied = true;
    audit_event_encode(&ev, &b);
    assert_non_null(strstr(b.ptr, "\"FLJ-JOB-001D\""));
    assert_non_null(strstr(b.ptr, "\"effect\":\"deny\""));
    buf_release(&b);
}

static void assert_detail(struct str in, const char *want)
{
    struct audit_event ev = full();
    struct buf b = BUF(AUDIT_BODY_MAX);
    char text[2048];
    ev.detail_count = 0;
    audit_event_detail(&ev, AUDIT_D_STR("x", in));
    assert_true(audit_event_encode(&ev, &b));
    snprintf(text, sizeof text, "\"details\":{\"x\":%s}}", want);
    assert_string_equal(strstr(b.ptr, "\"details\""), text);
    assert_true(str_is_utf8(buf_str(&b)));
    buf_release(&b);
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    assert_detail(STR("a\"b\\c"), "\"a\\\"b\\\\c\"");
    assert_detail(STR("\n\r\t\b\f\x01\x1f\x7f"), "\"\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\"");
    assert_detail(STR("\0z"), "\"\\u0000z\"");
    assert_detail(STR("\xd8\xaf\xd8\xa8\xd9\x8a"), "\"\xd8\xaf\xd8\xa8\xd9\x8a\"");
    assert_detail(STR("\xff\xfe"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_detail(STR("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");              /* overlong slash */
    assert_detail(STR("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");    /* a surrogate */
    assert_detail(STR("\xf4\x90\x80\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_detail(STR("ok\xe2\x82"), "\"ok\xef\xbf\xbd\xef\xbf\xbd\"");          /* cut short */
    assert_detail(STR("\"},\"event\":null}\n{\"tseq\":9"), "\"\\\"},\\\"event\\\":null}\\n{\\\"tseq\\\":9\"");
}

static void long_text_is_cut_at_a_character(void **state)
{
    (void)state;
    char in[600], want[600];
    memset(in, 'a', sizeof in);
    memset(want, 'a', sizeof want);
    want[0] = '"';
    strcpy(want + 257, "\"");
    assert_detail(str_n(in, sizeof in), want);
    memcpy(in + 255, "\xd8\xaf", 2);        /* does not fit whole */
    strcpy(want + 256, "\"");
    assert_detail(str_n(in, sizeof in), want);
    in[255] = '"';                          /* neither does an escape */
    assert_detail(str_n(in, sizeof in), want);
}

static void the_worst_event_fits(void **state)
{
    (void)state;
    struct audit_event ev = full();
    struct buf b = BUF(AUDIT_BODY_MAX);
    char *big = malloc(100000);
    memset(big, 1, 100000);
    struct str s = str_n(big, 100000);
    ev.zone = ev.src_ip = ev.request_id = ev.resource_kind = ev.resource_name = ev.rule = s;
    ev.resource_id = UUID_NIL;
    ev.role_count = 99;
    for (int i = 0; i < AUDIT_ROLES_MAX; i++)
        ev.roles[i] = s;
    ev.detail_count = 0;
    for (int i = 0; i < 40; i++)
        audit_event_detail(&ev, AUDIT_D_STR("0123456789012345678901234567890123456789012345678901234567890123", s));
    assert_int_equal(ev.detail_count, AUDIT_DETAILS_MAX);
    assert_true(audit_event_encode(&ev, &b));
    assert_true(b.len < AUDIT_BODY_MAX / 2);
    struct buf small = BUF(100);
    assert_false(audit_event_encode(&ev, &small));
    buf_release(&small);
    buf_release(&b);
    free(big);
}

static void the_opening_is_read_back(void **state)
{
    (void)state;
    struct audit_event ev = full();
    struct buf b = BUF(AUDIT_BODY_MAX);
    struct audit_opening o;
    ev.zone = STR("we\"ird\\");
    audit_event_encode(&ev, &b);
    assert_true(audit_event_opening(buf_str(&b), &o));
    assert_true(uuid_eq(o.tenant_id, ev.tenant_id) && uuid_eq(o.event_id, ev.event_id) && o.ts_us == ev.ts_us);
    assert_true(str_eq_c(o.code, "FLJ-JOB-001S") && str_eq_c(o.zone, "we\\\"ird\\\\"));
    for (size_t n = 0; n < b.len; n++)
        assert_false(audit_event_opening(str_n(b.ptr, n), &o) && b.ptr[n - 1] != '}');
    buf_release(&b);
}

static void codes_are_unique_and_well_formed(void **state)
{
    (void)state;
    for (int i = 0; i < AUDIT_CODE_COUNT; i++) {
        const struct audit_code_row *a = audit_code_row((enum audit_code)i);
        assert_int_equal(strlen(a->code), 11);
        assert_true(strncmp(a->code, "FLJ-", 4) == 0 && strlen(a->action) < AUDIT_WORD_MAX && a->doc[0]);
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(a->code, audit_code_row((enum audit_code)k)->code);
            assert_string_not_equal(a->action, audit_code_row((enum audit_code)k)->action);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(golden_bytes_of_a_full_event), cmocka_unit_test(golden_bytes_of_an_empty_event),
        cmocka_unit_test(the_suffix_tells_the_outcome), cmocka_unit_test(hostile_text_is_escaped),
        cmocka_unit_test(long_text_is_cut_at_a_character), cmocka_unit_test(the_worst_event_fits),
        cmocka_unit_test(the_opening_is_read_back), cmocka_unit_test(codes_are_unique_and_well_formed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
