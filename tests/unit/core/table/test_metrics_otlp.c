/* SPDX-License-Identifier: Apache-2.0 */
/* test_metrics_otlp.c - the list of metrics that a collector reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/table/metrics.h"

/* The numbers are those of the Prometheus text, each bucket alone instead of summed up. */
static void otlp(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    metrics_observe(M_text_first_token_seconds, 0.003);
    metrics_observe(M_text_first_token_seconds, 0.004);
    metrics_observe(M_text_first_token_seconds, 1000);
    metrics_inc(M_rate_denied_total, "a\"b");
    metrics_print_otlp(&b, "falaj-api", 1000000, 2000000);
    static const char *const WANT[] = {
        "{\"name\":\"falaj_text_first_token_seconds\",\"description\":\"Time until the first token of a text\",\"unit\":\"s\","
        "\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{\"startTimeUnixNano\":\"1000000000\","
        "\"timeUnixNano\":\"2000000000\",\"attributes\":[],"
        "\"count\":\"3\",\"sum\":1000.007,\"bucketCounts\":[\"0\",\"0\",\"0\",\"2\",\"0\"",
        "\"0\",\"1\"],\"explicitBounds\":[0.0005,0.001,0.0025,0.005,",
        "\"sum\":{\"aggregationTemporality\":2,\"isMonotonic\":true,\"dataPoints\":[{\"startTimeUnixNano\":\"1000000000\","
        "\"timeUnixNano\":\"2000000000\",\"attributes\":[{\"key\":\"scope\",\"value\":{\"stringValue\":\"a\\\"b\"}}],"
        "\"asDouble\":1}]}}",
    };
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++)
        if (!memmem(b.ptr, b.len, WANT[i], strlen(WANT[i])))
            fail_msg("not there: %s in %.*s", WANT[i], STR_ARG(buf_str(&b)));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(otlp) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
