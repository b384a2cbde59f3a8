/* SPDX-License-Identifier: Apache-2.0 */
/* test_metrics.c - counting from many threads, the bound on series, and the printed format. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/table/metrics.h"

static void *work(void *arg)
{
    char route[16];
    (void)arg;
    for (int i = 0; i < 20000; i++) {
        snprintf(route, sizeof route, "/v1/r%d", i % 50);
        metrics_inc(M_http_requests_total, route, "GET", "200");
        metrics_observe(M_http_request_seconds, 0.003, route);
        metrics_gauge_add(M_inference_pending_requests, i % 2 ? -1 : 1);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    double sum = 0;
    char route[16];
    for (int i = 0; i < 50; i++) {
        snprintf(route, sizeof route, "/v1/r%d", i);
        assert_true(metrics_value(M_http_requests_total, route, "GET", "200") == 1600);
        sum += metrics_value(M_http_request_seconds, route);
    }
    assert_true(sum == 80000);
    assert_true(metrics_value(M_inference_pending_requests) == 0);
}

static void series_are_bounded(void **state)
{
    (void)state;
    char code[32];
    for (int i = 0; i < 2000; i++) {
        snprintf(code, sizeof code, "code%d", i);
        metrics_inc(M_errors_total, code);
    }
    assert_true(metrics_value(M_errors_total, "code5") == 1);
    assert_true(metrics_value(M_errors_total, "code1999") == 0);
    struct buf b = BUF(1 << 20);
    metrics_print(&b, "t");
    char expect[64];
    snprintf(expect, sizeof expect, "falaj_errors_total{code=\"other\"} %d\n", 2000 - METRICS_SERIES);
    assert_non_null(strstr(b.ptr, expect));
    buf_release(&b);
}

static void histogram(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    metrics_observe(M_scheduler_tick_seconds, 0.0005, "app");
    metrics_observe(M_scheduler_tick_seconds, 0.02, "app");
    metrics_observe(M_scheduler_tick_seconds, 1000, "app");
    metrics_observe(M_scheduler_tick_seconds, -1, "app");       /* a clock that went back is not counted */
    metrics_print(&b, "falaj-api");
    assert_non_null(strstr(b.ptr, "# TYPE falaj_scheduler_tick_seconds histogram\n"
                                  "falaj_scheduler_tick_seconds_bucket{phase=\"app\",le=\"0.0005\"} 1\n"
                                  "falaj_scheduler_tick_seconds_bucket{phase=\"app\",le=\"0.001\"} 1\n"));
    assert_non_null(strstr(b.ptr, "{phase=\"app\",le=\"0.025\"} 2\n"));
    assert_non_null(strstr(b.ptr, "{phase=\"app\",le=\"300\"} 2\nfalaj_scheduler_tick_seconds_bucket{phase=\"app\",le=\"+Inf\"} 3\n"
                                  "falaj_scheduler_tick_seconds_sum{phase=\"app\"} 1000.0205\nfalaj_scheduler_tick_seconds_count{phase=\"app\"} 3\n"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads), cmocka_unit_test(series_are_bounded),
                                        cmocka_unit_test(histogram) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
