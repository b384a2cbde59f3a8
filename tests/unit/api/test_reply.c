/* SPDX-License-Identifier: Apache-2.0 */
/* test_reply.c - a problem is JSON whatever text it carries, and tells no more than it should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/api_int.h"
#include "core/json/jsonvalue.h"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(4 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct jval *body_of(const struct err *problem, struct str request_id, struct str instance, bool oip)
{
    struct buf b = BUF(8192);
    const struct jval *v = NULL;
    struct err e = { 0 };
    problem_body(&b, problem, request_id, instance, oip);
    assert_false(b.overflow);
    if (jval_parse(arena, str_dup(arena, buf_str(&b)), 0, &v, &e) != ERR_OK)
        fail_msg("not JSON: %s: %s", e.msg, b.ptr);
    buf_release(&b);
    return v;
}

static void every_code_has_a_body(void **state)
{
    (void)state;
    for (int i = 1; i < ERR_COUNT; i++) {
        struct err problem;
        err_set(&problem, (enum errc)i, "f", 1, "said");
        err_field(&problem, "/a/0");
        const struct jval *v = body_of(&problem, STR("req_1"), STR("/v1/x"), false);
        const struct err_row *row = err_row((enum errc)i);
        assert_true(str_eq_c(jval_str(jval_get(v, "code")), row->wire));
        assert_int_equal(jval_i64(jval_get(v, "status"), 0), row->http);
        assert_true(str_eq_c(jval_str(jval_get(v, "title")), row->title));
        assert_true(str_eq_c(jval_str(jval_get(v, "request_id")), "req_1"));
        assert_true(str_eq_c(jval_str(jval_get(v, "instance")), "/v1/x"));
        assert_true(str_ends(jval_str(jval_get(v, "type")), row->wire));
        const struct jval *at = jval_at(jval_get(v, "errors"), 0);
        assert_true(str_eq_c(jval_str(jval_get(at, "pointer")), "/a/0"));
    }
}

static void failures_of_ours_tell_nothing(void **state)
{
    (void)state;
    struct err problem;
    FAIL(&problem, INTERNAL, "statement job_get: column secret of relation key");
    const struct jval *v = body_of(&problem, STR("r"), STR("/"), false);
    assert_true(str_eq_c(jval_str(jval_get(v, "detail")), err_row(ERR_INTERNAL)->title));
    err_note(&problem, "SQLSTATE 42P01");
    struct buf b = BUF(8192);
    problem_body(&b, &problem, STR("r"), STR("/"), false);
    assert_null(strstr(b.ptr, "42P01"));
    assert_null(strstr(b.ptr, "secret"));
    buf_release(&b);
}

static void hostile_text(void **state)
{
    (void)state;
    static const char *const texts[] = { "\"},{\"code\":\"ok\"", "\\", "\x01\x02\t\r\n\x7f", "</script>", "ق الفلج", "\xf0\x9f\x90\xaa",
                                         "\xff\xfe", "\xc3", "a\xe2\x80", "", "%s%n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err problem;
        FAIL(&problem, INVALID, "%s", texts[i]);
        err_field(&problem, "/%s", texts[i]);
        const struct jval *v = body_of(&problem, STR("req"), str_c(texts[i]), false);
        assert_true(str_eq_c(jval_str(jval_get(v, "code")), "invalid_argument"));
        if (str_is_utf8(str_c(texts[i])))
            assert_true(str_eq_c(jval_str(jval_get(v, "detail")), texts[i]));
        assert_int_equal(jval_len(v), 8);
    }
}

/* A message is cut at its maximum, wherever that falls in a character. */
static void long_text_of_many_byte_characters(void **state)
{
    (void)state;
    for (int lead = 0; lead < 4; lead++) {
        char text[600];
        size_t n = (size_t)lead;
        memset(text, 'a', n);
        while (n < sizeof text - 5) {
            memcpy(text + n, "\xf0\x9f\x90\xaa", 4);
            n += 4;
        }
        text[n] = 0;
        struct err problem;
        FAIL_AT(&problem, INVALID, text, "There is no role %s", text);
        const struct jval *v = body_of(&problem, STR("req"), STR("/v1/role-bindings"), false);
        struct str detail = jval_str(jval_get(v, "detail"));
        assert_true(str_starts(detail, "There is no role"));
        assert_true(detail.len > 240);
        body_of(&problem, STR("req"), STR("/v2"), true);
    }
}

static void the_inference_protocol_has_its_own_form(void **state)
{
    (void)state;
    struct err problem;
    FAIL(&problem, NOT_FOUND, "There is no model \"x\"");
    const struct jval *v = body_of(&problem, STR("req"), STR("/v2/models/x"), true);
    assert_int_equal(jval_len(v), 1);
    assert_true(str_eq_c(jval_str(jval_get(v, "error")), "There is no model \"x\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_code_has_a_body), cmocka_unit_test(failures_of_ours_tell_nothing),
                                        cmocka_unit_test(hostile_text), cmocka_unit_test(long_text_of_many_byte_characters),
                                        cmocka_unit_test(the_inference_protocol_has_its_own_form) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
