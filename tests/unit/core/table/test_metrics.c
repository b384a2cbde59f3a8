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

static void text_format(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    metrics_set(M_db_connections, 71.5, "a\"b\\c\nd", "busy");
    metrics_set(M_leader, 1);
    metrics_add(M_audit_pii_withheld_total, 2.5, "0");
    metrics_add(M_audit_pii_withheld_total, 2, "0");
    metrics_print(&b, "falaj-api");
    assert_non_null(strstr(b.ptr, "falaj_build_info{program=\"falaj-api\",version=\"" FALAJ_VERSION "\"} 1\n"));
    assert_non_null(strstr(b.ptr, "falaj_db_connections{pool=\"a\\\"b\\\\c\\nd\",state=\"busy\"} 71.5\n"));
    assert_non_null(strstr(b.ptr, "falaj_audit_pii_withheld_total{field=\"0\"} 4.5\n"));
    assert_non_null(strstr(b.ptr, "# TYPE falaj_leader gauge\nfalaj_leader 1\n"));
    assert_non_null(strstr(b.ptr, "falaj_lease_items_dropped_total 0\n"));  /* its own, no labels: always there */
    assert_null(strstr(b.ptr, "falaj_leases_granted_total"));                /* another program's */
    assert_null(strstr(b.ptr, "falaj_audit_lag_events"));                    /* a level that nobody has set */
    assert_null(strstr(b.ptr, "falaj_residency_denials_total"));             /* labels, never touched */
    /* Every line is a comment or `name[{labels}] number`; each metric has one HELP. */
    for (char *line = strtok(b.ptr, "\n"); line; line = strtok(NULL, "\n")) {
        char *end, *space = strrchr(line, ' ');
        assert_non_null(space);
        assert_int_equal(strncmp(line, *line == '#' ? "# " : "falaj_", *line == '#' ? 2 : 6), 0);
        if (*line != '#') {
            strtod(space + 1, &end);
            assert_true(*end == '\0');
        }
    }
    buf_clear(&b);
    metrics_print_markdown(&b);
    assert_non_null(strstr(b.ptr, "| `falaj_http_requests_total` | falaj-api | counter | route,method,status |"));
    assert_non_null(strstr(b.ptr, "| `falaj_audit_pii_withheld_total` | falaj-api, falaj-scheduler | counter |"));
    buf_release(&b);
}

static void names(void **state)
{
    (void)state;
    static const struct { const char *name; char kind; } rows[] = {
#define COUNTER(name, programs, labels, doc) { #name, 'c' },
#define GAUGE(name, programs, labels, doc) { #name, 'g' },
#define HISTOGRAM(name, programs, labels, doc) { #name, 'h' },
#include "core/table/metrics.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct str n = str_c(rows[i].name);
        assert_int_equal(str_ends(n, "_total"), rows[i].kind == 'c');
        if (rows[i].kind == 'h')
            assert_true(str_ends(n, "_seconds"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads), cmocka_unit_test(series_are_bounded), cmocka_unit_test(histogram),
                                        cmocka_unit_test(text_format), cmocka_unit_test(names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
