/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_trace.c - what a serving child, or whoever stands in its place, may write into Server-Timing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "api/model_trace.h"

static void times_are_read_or_not_there(void **state)
{
    (void)state;
    static const struct { const char *header, *metric; int64_t us; } ROWS[] = {
        { "queue;dur=0.120, compute;dur=1.750, rows;dur=8", "queue", 120 },
        { "queue;dur=0.120, compute;dur=1.750, rows;dur=8", "compute", 1750 },
        { "queue;dur=0.120, compute;dur=1.750, rows;dur=8", "rows", 8000 },
        { "compute;dur=1.750,queue;dur=3", "queue", 3000 },
        { "queue;dur=0.0005", "queue", 1 },
        { "", "queue", -1 }, { "queue", "queue", -1 }, { "queue;dur=", "queue", -1 }, { "queue;dur=x", "queue", -1 },
        { "queue;dur=-3", "queue", -1 }, { "queue;dur=1.2.3", "queue", -1 }, { "queue;dur=1e9", "queue", 1000 },
        { "queue;dur=99999999999999999999", "queue", -1 }, { "queues;dur=1", "queue", -1 }, { ",,,", "queue", -1 },
        { "queue;desc=\"a,b\"", "queue", -1 },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char *exact = str_dup_heap(str_c(ROWS[i].header));
        int64_t us = server_timing_us(str_n(exact, strlen(ROWS[i].header)), ROWS[i].metric);
        free(exact);
        if (us != ROWS[i].us)
            fail_msg("%s: %s is %ld", ROWS[i].header, ROWS[i].metric, (long)us);
    }
    assert_int_equal(server_timing_us(STR_NULL, "queue"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(times_are_read_or_not_there) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
