/* SPDX-License-Identifier: Apache-2.0 */
/* test_call_trace.c - a call as a span: whose child it is, what an error is, and that a job's first span is told even where its
 * caller wants none of its own. */
#include "tests/lib/collector.h"
#include "api/call_trace.h"
#include "core/table/schema.h"

struct made { struct uuid job_id; };
SCHEMA_OF(made, "A job that was made", FIELD_ID(made, job_id, "job", F_ALWAYS, .doc = "Which"));

static const struct route submit = { .path = "/v1/jobs", .op = "job_create", .status = 201 },
                          read_one = { .path = "/v1/me", .op = "me", .status = 200 };
static const struct made made = { { { 1, [15] = 0xff } } };

#define CALLER "b7ad6b7169203331"
#define WANTED "00-0af7651916cd43dd8448eb211c80319c-" CALLER "-01"
#define UNWANTED "00-1af7651916cd43dd8448eb211c80319c-" CALLER "-00"

static void call(struct otlp *o, const char *traceparent, const struct route_match *match, int status, const struct err *e)
{
    struct arena *a = arena_new(1 << 20);
    struct app app = { .clock = &clock_system, .otlp = o };
    struct http_header h = { STR("traceparent"), str_c(traceparent) };
    struct http_request r = { .method = HTTP_POST, .headers = &h, .nheaders = traceparent ? 1 : 0 };
    struct flight f = { .match = match };
    f.call.request = &r;
    f.call.out = (void *)&made;
    f.call.work = (struct work){ .app = &app, .arena = a, .request_id = STR("req-1") };
    f.call.started_mono_us = clock_mono_us(&clock_system);
    flight_trace_begin(&f);
    flight_trace_end(&f, status, e);
    arena_free(a);
}

static void spans_of_calls(void **state)
{
    (void)state;
    struct collector c;
    struct otlp *o = collector_begin(&c, "falaj-api");
    const struct route_match job = { .row = &submit, .id = &made_schema.fields[0] }, me = { .row = &read_one };
    struct err gone = { .code = ERR_NOT_FOUND }, down = { .code = ERR_UNAVAILABLE };
    call(o, WANTED, &job, 201, NULL);
    call(o, UNWANTED, &job, 201, NULL);
    call(o, UNWANTED, &me, 200, NULL);
    call(o, WANTED, &me, 404, &gone);
    call(o, WANTED, NULL, 503, &down);
    call(o, NULL, &me, 200, NULL);
    otlp_free(o);
    assert_int_equal(collector_count(&c, "\"name\":\"submit job\""), 2);
    assert_int_equal(collector_count(&c, "\"traceId\":\"010000000000000000000000000000ff\",\"spanId\""), 3);
    assert_int_equal(collector_count(&c, "\"name\":\"POST /v1/jobs\""), 1);
    assert_int_equal(collector_count(&c, "\"name\":\"POST /v1/me\""), 2);
    assert_int_equal(collector_count(&c, "\"name\":\"POST unmatched\""), 1);
    assert_int_equal(collector_count(&c, "\"parentSpanId\":\"" CALLER "\""), 3);
    assert_int_equal(collector_count(&c, "\"status\":"), 1);                           /* 404 is the caller's, not ours */
    assert_int_equal(collector_count(&c, "\"status\":{\"code\":2,\"message\":\"unavailable\"}"), 1);
    assert_int_equal(collector_count(&c, "\"error.type\",\"value\":{\"stringValue\":\"not_found\"}"), 1);
    collector_end(&c);
}

static void without_a_collector_a_trace_is_gone_on_with(void **state)
{
    (void)state;
    struct app app = { .clock = &clock_system };
    struct http_header h = { STR("traceparent"), STR(WANTED) };
    struct http_request r = { .headers = &h, .nheaders = 1 }, none = { .nheaders = 0 };
    struct flight f = { 0 };
    f.call.request = &r;
    f.call.work.app = &app;
    flight_trace_begin(&f);
    char text[TRACE_TEXT];
    trace_print(&f.call.work.trace, text);
    assert_memory_equal(text, WANTED, 36);
    assert_memory_not_equal(text + 36, CALLER, 16);
    f = (struct flight){ 0 };
    f.call.request = &none;
    f.call.work.app = &app;
    flight_trace_begin(&f);
    assert_false(trace_is_set(&f.call.work.trace));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(spans_of_calls),
                                        cmocka_unit_test(without_a_collector_a_trace_is_gone_on_with) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
