/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_trace.c - a lease and its stages as a collector sees them, under the job's first span. */
#include "tests/lib/collector.h"
#include "workers/lease/run_trace.h"

static const struct lease_grant grant = { .job_id = { { 1, [15] = 0xff } }, .attempt_id = { { 2 } }, .tenant_id = { { 3 } },
                                          .fence = 4, .slots = 2,
                                          .kind = STR("train"), .zone = STR("ae-dxb-1"), .name = STR("of-a-person") };

static void a_lease_that_fails_in_its_work(void **state)
{
    (void)state;
    struct collector c;
    struct otlp *o = collector_begin(&c, "falaj-worker");
    struct run_trace t;
    run_trace_begin(&t, o, &grant);
    run_trace_stage(&t, STR("inputs"), true);
    run_trace_stage(&t, STR("work"), false);
    run_trace_end(&t, STR("unprocessable"));
    otlp_free(o);
    char parent[64] = "\"parentSpanId\":\"", own[64] = "\"parentSpanId\":\"";
    struct trace job = trace_of_job(grant.job_id, TRACE_ALL);
    hex_encode(job.span_id, 8, parent + strlen(parent));
    hex_encode(t.at.span_id, 8, own + strlen(own));
    assert_int_equal(collector_count(&c, "\"traceId\":\"010000000000000000000000000000ff\""), 3);
    assert_int_equal(collector_count(&c, parent), 1);
    assert_int_equal(collector_count(&c, own), 2);
    assert_int_equal(collector_count(&c, "\"message\":\"failed\""), 1);
    assert_int_equal(collector_count(&c, "\"message\":\"unprocessable\""), 1);
    assert_int_equal(collector_count(&c, "att_02000000000000000000000000000000"), 1);
    assert_int_equal(collector_count(&c, "of-a-person"), 0);
    collector_end(&c);
}

static void nothing_is_told_to_nobody(void **state)
{
    (void)state;
    struct run_trace t;
    run_trace_begin(&t, NULL, &grant);
    run_trace_stage(&t, STR("inputs"), true);
    run_trace_end(&t, STR_NULL);
    assert_null(t.otlp);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_lease_that_fails_in_its_work),
                                        cmocka_unit_test(nothing_is_told_to_nobody) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
