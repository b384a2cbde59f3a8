/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - rows of a report. */
#include "backup/report.h"
#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 800 };

void report_row(struct report *r, enum report_result result, const char *thing, const char *fmt, ...)
{
    static const char *const names[] = { "ok", "warn", "fail", "skip" };
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->warnings += result == REPORT_WARN || result == REPORT_SKIP;
    r->failures += result == REPORT_FAIL;
    if (!r->as_json) {
        printf("%-5s %-14s %s\n", names[result], thing, text);
        fflush(stdout);
        return;
    }
    buf_printf(&r->rows, "%s{\"result\":\"%s\",\"thing\":", r->count++ ? "," : "", names[result]);
    buf_add_json(&r->rows, str_c(thing));
    buf_add_c(&r->rows, ",\"seen\":");
    buf_add_json(&r->rows, str_c(text));
    buf_add_char(&r->rows, '}');
}

void report_err(struct report *r, enum report_result result, const char *thing, const struct err *e)
{
    report_row(r, result, thing, "%s%s%s", e->msg, *e->detail ? " " : "", e->detail);
}

void report_end(struct report *r)
{
    if (r->as_json)
        printf("{\"data\":[%s],\"failures\":%zu,\"warnings\":%zu}\n", r->rows.ptr ? r->rows.ptr : "", r->failures, r->warnings);
    buf_release(&r->rows);
}
