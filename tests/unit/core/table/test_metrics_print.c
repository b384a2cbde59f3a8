/* SPDX-License-Identifier: Apache-2.0 */
/* test_metrics_print.c - the text that Prometheus reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/table/metrics.h"

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
    const struct CMUnitTest tests[] = { cmocka_unit_test(text_format), cmocka_unit_test(names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
