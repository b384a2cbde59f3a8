/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what a command saw, a line for each thing: ok, warn, fail or skip, the thing, what was seen. Printed as it comes,
 * or as one JSON document at the end. */
#pragma once
#include "core/base/str.h"

struct report {
    bool as_json;
    struct buf rows;            /* of the document */
    size_t count, warnings, failures;
};
enum report_result { REPORT_OK, REPORT_WARN, REPORT_FAIL, REPORT_SKIP };

void report_row(struct report *r, enum report_result result, const char *thing, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* An error as a row. */
void report_err(struct report *r, enum report_result result, const char *thing, const struct err *e);
/* Prints the document, where there is to be one. */
void report_end(struct report *r);
