/* SPDX-License-Identifier: Apache-2.0 */
/* test_record_read.c - what was encoded is read in full and encodes to the same bytes; what is spelled otherwise is refused. */
#include "audit/record_read.h"
#include "tests/unit/audit/fixture.h"

static enum errc error_of(struct str outcome)
{
    char text[AUDIT_WORD_MAX + 1];
    snprintf(text, sizeof text, "%.*s", STR_ARG(outcome));
    return str_eq_c(outcome, "success") ? ERR_OK : err_by_wire(text);
}

/* The event that the view came from, as far as the encoder looks at it. */
static struct audit_event event_of(const struct audit_view *v)
{
    struct audit_event ev = { .event_id = v->event_id, .zone = v->zone, .tenant_id = v->tenant_id, .ts_us = v->ts_us, .code = v->code,
        .actor = v->actor, .actor_id = v->actor_id, .role_count = v->role_count, .token_id = v->token_id, .src_ip = v->src_ip,
        .request_id = v->request_id, .resource_kind = v->resource_kind, .resource_name = v->resource_id, .denied = v->denied,
        .rule = v->rule, .error = error_of(v->outcome),
        .http_status = v->http_status };
    memcpy(ev.roles, v->roles, sizeof ev.roles);
    for (int i = 0; i < v->detail_count; i++)
        audit_event_detail(&ev, (struct audit_detail){ str_dup_heap(v->details[i].name), v->details[i].text, v->details[i].number });
    return ev;
}

static void free_names(struct audit_event *ev)
{
    for (int i = 0; i < ev->detail_count; i++)
        free((char *)(uintptr_t)ev->details[i].name);
}

static struct str random_text(uint32_t *seed, char *out)
{
    static const char *const parts[] = { "a", "\"", "\\", "\n", "\x01", "\x1f", "\xd8\xaf", "\xf0\x9f\x90\xab", "\xff", "\xed\xa0\x80", "]", "=1",
        "null", "{", "}", "\x7f", "\xe2\x80\xa8", "/" };
    size_t n = 0;
    if (rnd(seed) % 6 == 0)
        return STR_NULL;
    for (uint32_t left = rnd(seed) % 5 == 0 ? 200 : rnd(seed) % 12; left > 0; left--) {
        const char *p = parts[rnd(seed) % (sizeof parts / sizeof parts[0])];
        memcpy(out + n, p, strlen(p));
        n += strlen(p);
    }
    return str_n(out, n);
}

static struct uuid random_uuid(uint32_t *seed)
{
    return rnd(seed) % 3 == 0 ? UUID_NIL : uuid_v7(rnd(seed));
}

static void every_encoded_event_round_trips(void **state)
{
    (void)state;
    static char text[40][1024];
    struct audit_view *v = malloc(sizeof *v);
    uint32_t seed = 77;
    for (int round = 0; round < 5000; round++) {
        struct audit_event ev = { .event_id = random_uuid(&seed), .zone = random_text(&seed, text[0]), .tenant_id = random_uuid(&seed),
            .ts_us = (int64_t)((uint64_t)rnd(&seed) << 29 | rnd(&seed)), .code = (enum audit_code)(round % AUDIT_CODE_COUNT),
            .actor = (enum audit_actor)(rnd(&seed) % AUDIT_ACTOR_COUNT), .actor_id = random_uuid(&seed), .role_count = (int)(rnd(&seed) % 9),
            .token_id = random_uuid(&seed), .src_ip = random_text(&seed, text[1]), .request_id = random_text(&seed, text[2]),
            .resource_kind = random_text(&seed, text[3]), .resource_prefix = rnd(&seed) % 2 ? "job" : NULL, .resource_id = random_uuid(&seed),
            .resource_name = random_text(&seed, text[4]), .denied = rnd(&seed) % 3 == 0, .rule = random_text(&seed, text[5]),
            .error = (enum errc)(rnd(&seed) % ERR_COUNT), .http_status = (int)(rnd(&seed) % 600) };
        for (int i = 0; i < ev.role_count && i < AUDIT_ROLES_MAX; i++)
            ev.roles[i] = random_text(&seed, text[10 + i]);
        for (uint32_t i = rnd(&seed) % 18; i > 0; i--)
            audit_event_detail(&ev, i % 2 ? AUDIT_D_STR("text", random_text(&seed, text[20 + i])) : AUDIT_D_INT("n", i % 4 ? INT64_MIN : rnd(&seed)));
        struct buf b = BUF(AUDIT_BODY_MAX), again = BUF(AUDIT_BODY_MAX);
        assert_true(audit_event_encode(&ev, &b));
        if (!audit_record_read(buf_str(&b), v))
            fail_msg("round %d: not read: %s", round, b.ptr);
        struct audit_event back = event_of(v);
        assert_true(audit_event_encode(&back, &again));
        assert_string_equal(b.ptr, again.ptr);
        assert_true(v->code == ev.code && uuid_eq(v->event_id, ev.event_id) && v->ts_us == ev.ts_us);
        free_names(&back);
        buf_release(&b);
        buf_release(&again);
    }
    free(v);
}

/* Whatever byte is changed, the answer is "no" or an event whose encoding is those changed bytes: there is one spelling. */
static void no_text_is_read_that_encodes_otherwise(void **state)
{
    (void)state;
    struct buf b;
    uint32_t seed = 5;
    struct audit_view *v = malloc(sizeof *v);
    event_make(uuid_v7(4), &seed, &b);
    for (size_t n = 0; n < b.len; n++)
        assert_false(audit_record_read(str_n(b.ptr, n), v));
    for (size_t i = 0; i < b.len; i++) {
        char was = b.ptr[i];
        for (int c = 0; c < 256; c++) {
            b.ptr[i] = (char)c;
            if (!audit_record_read(buf_str(&b), v) || v->code == AUDIT_CODE_COUNT || !str_eq_c(v->action, audit_code_row(v->code)->action))
                continue;
            if (error_of(v->outcome) == ERR_COUNT)
                continue;
            struct audit_event back = event_of(v);
            struct buf again = BUF(AUDIT_BODY_MAX);
            audit_event_encode(&back, &again);
            assert_string_equal(b.ptr, again.ptr);
            free_names(&back);
            buf_release(&again);
        }
        b.ptr[i] = was;
    }
    buf_add_char(&b, ' ');
    assert_false(audit_record_read(buf_str(&b), v));
    buf_release(&b);
    free(v);
}

#define HEAD "{\"v\":1,\"event_id\":\"00000000-0000-0000-0000-000000000000\",\"zone\":\"z\",\"tenant\":\"00000000-0000-0000-0000-000000000000\",\"ts_us\":0,"
#define WHO ",\"actor\":{\"type\":\"user\",\"id\":null,\"roles\":[],\"token_id\":null},\"src_ip\":null,\"request_id\":null,\"resource\":{\"kind\":null,\"id\":null},"
#define REST(outcome, details) "\"action\":\"x.y\",\"decision\":{\"effect\":\"allow\",\"rule\":null},\"outcome\":\"" outcome "\",\"http_status\":null,\"details\":{" details "}}"
#define BODY(code, outcome, details) HEAD "\"code\":\"" code "\"" WHO REST(outcome, details)

static void spelling_and_sense_are_checked(void **state)
{
    (void)state;
    static const char *const good[] = { BODY("FLJ-JOB-001S", "success", ""), BODY("FLJ-ZZZ-999S", "success", ""), BODY("FLJ-JOB-001F", "conflict", ""),
        BODY("FLJ-JOB-001S", "success", "\"a\":\"\\u0001\\n\\\"\"") };
    static const char *const bad[] = { BODY("FLJ-JOB-001X", "success", ""), BODY("FLJ-job-001S", "success", ""), BODY("FLJ-JOB-001", "success", ""),
        BODY("FLJ-JOB-001S", "conflict", ""), BODY("FLJ-JOB-001F", "success", ""), BODY("FLJ-JOB-001D", "denied", ""),
        BODY("FLJ-JOB-001S", "success", "\"a\":\"\\u000a\""), BODY("FLJ-JOB-001S", "success", "\"a\":\"\\u001F\""),
        BODY("FLJ-JOB-001S", "success", "\"a\":\"\\/\""), BODY("FLJ-JOB-001S", "success", "\"a\":\"\\u0041\""),
        BODY("FLJ-JOB-001S", "success", "\"a\":1.0"), BODY("FLJ-JOB-001S", "success", "\"a\":null"), BODY("FLJ-JOB-001S", "success", "\"a\":\"\xff\""),
        BODY("FLJ-JOB-001S", "success", "\"a\": 1"), BODY("FLJ-JOB-001S", "success", "\"a\":1,"), BODY("FLJ-JOB-001S", "success", "\"a\":\"\\"),
        BODY("FLJ-JOB-001S", "success", "\"a\":\"x\ty\"") };
    struct audit_view *v = malloc(sizeof *v);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!audit_record_read(str_c(good[i]), v))
            fail_msg("refused: %s", good[i]);
    assert_true(v->details[0].text.len == 3 && memcmp(v->details[0].text.ptr, "\x01\n\"", 3) == 0);
    assert_true(audit_record_read(str_c(good[1]), v) && v->code == AUDIT_CODE_COUNT);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (audit_record_read(str_c(bad[i]), v))
            fail_msg("read: %s", bad[i]);
    free(v);
}

static void a_sealed_field_is_text_to_everyone_else(void **state)
{
    (void)state;
    assert_true(audit_text_is_sealed(STR("sealed:1:01890000-0000-7000-8000-000000000001:AbC_-9")));
    assert_false(audit_text_is_sealed(STR("sealed:1:01890000-0000-7000-8000-000000000001:")));
    assert_false(audit_text_is_sealed(STR("sealed:1:01890000-0000-7000-8000-000000000001:a.b")));
    assert_false(audit_text_is_sealed(STR("10.0.0.1")));
    assert_false(audit_text_is_sealed(STR_NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_encoded_event_round_trips), cmocka_unit_test(no_text_is_read_that_encodes_otherwise),
        cmocka_unit_test(spelling_and_sense_are_checked), cmocka_unit_test(a_sealed_field_is_text_to_everyone_else) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
