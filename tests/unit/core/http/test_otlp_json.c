/* SPDX-License-Identifier: Apache-2.0 */
/* test_otlp_json.c - the bodies are the JSON that OTLP says, whatever text is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/http/otlp_json.h"
#include "core/json/jsonvalue.h"

static const struct otlp_source by = { "falaj-api", "1.0", { { 1 } } };

static const struct jval *parsed(struct arena *a, const struct buf *b)
{
    const struct jval *v = NULL;
    struct err e = { 0 };
    assert_false(b->overflow);
    if (jval_parse(a, buf_str(b), 0, &v, &e) != ERR_OK)
        fail_msg("%s: %.*s", e.msg, STR_ARG(buf_str(b)));
    return v;
}

static const struct jval *first(const struct jval *v, const char *list)
{
    assert_int_equal(jval_len(jval_get(v, list)), 1);
    return jval_at(jval_get(v, list), 0);
}

static void a_span_is_written_as_its_fields(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    struct span s = { .kind = SPAN_SERVER, .name = STR("GET /v1/\"jobs\"\n"), .start_us = 1795222923004567,
                      .end_us = 1795222923004569, .error = STR("unavailable"), .parent = { 9 } };
    assert_true(trace_parse(STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), &s.at));
    s.link = s.at;
    span_text(&s, "falaj.zone", STR("ae-dxb-1"));
    span_number(&s, "http.response.status_code", INT64_MAX);
    span_text(&s, "none", STR_NULL);
    span_text(&s, "bad", STR("\xff"));
    otlp_json_spans_begin(&b, &by);
    otlp_json_span(&b, &s);
    otlp_json_end(&b);
    const struct jval *r = first(parsed(a, &b), "resourceSpans"), *span = first(first(r, "scopeSpans"), "spans");
    const struct jval *who = jval_get(jval_get(r, "resource"), "attributes");
    assert_int_equal(jval_len(who), 4);
    assert_true(str_eq_c(jval_str(jval_get(jval_get(jval_at(who, 1), "value"), "stringValue")), "falaj-api"));
    assert_true(str_eq_c(jval_str(jval_get(span, "traceId")), "0af7651916cd43dd8448eb211c80319c"));
    assert_true(str_eq_c(jval_str(jval_get(span, "spanId")), "b7ad6b7169203331"));
    assert_true(str_eq_c(jval_str(jval_get(span, "parentSpanId")), "0900000000000000"));
    assert_true(str_eq_c(jval_str(jval_get(span, "name")), "GET /v1/\"jobs\"\n"));
    assert_int_equal(jval_i64(jval_get(span, "kind"), 0), 2);
    assert_true(str_eq_c(jval_str(jval_get(span, "startTimeUnixNano")), "1795222923004567000"));
    assert_true(str_eq_c(jval_str(jval_get(span, "endTimeUnixNano")), "1795222923004569000"));
    assert_int_equal(jval_i64(jval_get(jval_get(span, "status"), "code"), 0), 2);
    assert_true(str_eq_c(jval_str(jval_get(first(span, "links"), "spanId")), "b7ad6b7169203331"));
    const struct jval *attrs = jval_get(span, "attributes");
    assert_int_equal(jval_len(attrs), 2);
    assert_true(str_eq_c(jval_str(jval_get(jval_get(jval_at(attrs, 1), "value"), "intValue")), "9223372036854775807"));
}

static void what_is_not_there_is_not_written(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    struct span s = { .kind = SPAN_INTERNAL, .name = STR("\xc3"), .start_us = 7000000, .end_us = 6000000 };
    for (int i = 0; i < SPAN_ATTRS + 3; i++)
        span_number(&s, "n", i);
    otlp_json_span(&b, &s);
    const struct jval *span = parsed(a, &b);
    assert_null(jval_get(span, "parentSpanId"));
    assert_null(jval_get(span, "links"));
    assert_null(jval_get(span, "status"));
    assert_true(str_eq_c(jval_str(jval_get(span, "name")), "?"));
    assert_true(str_eq_c(jval_str(jval_get(span, "endTimeUnixNano")), "7000000000"));      /* no end before its start */
    assert_int_equal(jval_len(jval_get(span, "attributes")), SPAN_ATTRS);
}

static void what_a_collector_did_not_take(void **state)
{
    (void)state;
    static const struct { const char *body; int64_t n; } ROWS[] = {
        { "", 0 }, { "{}", 0 }, { "{\"partialSuccess\":{}}", 0 }, { "{\"partialSuccess\":{\"rejectedSpans\":\"3\"}}", 3 },
        { "{\"partialSuccess\":{\"rejectedSpans\": 12,\"errorMessage\":\"x\"}}", 12 }, { "{\"rejectedSpans\"", 0 },
        { "{\"rejectedSpans\":", 0 }, { "{\"rejectedSpans\":\"", 0 }, { "{\"rejectedSpans\":-4}", 0 },
        { "{\"rejectedSpans\":\"99999999999999999999\"}", 0 },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (otlp_json_rejected(str_c(ROWS[i].body)) != ROWS[i].n)
            fail_msg("%s: %ld", ROWS[i].body, (long)otlp_json_rejected(str_c(ROWS[i].body)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_is_written_as_its_fields),
        cmocka_unit_test(what_is_not_there_is_not_written),
        cmocka_unit_test(what_a_collector_did_not_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
