/* SPDX-License-Identifier: Apache-2.0 */
/* format_int.h - what the formats share: their parts of the table, and how a thing is spelled in all of them. */
#pragma once
#include "audit/format.h"
#include "core/base/clock.h"

/* 2026-11-21T01:02:03.004005Z; empty when the year has not four digits. */
size_t format_time(int64_t us, char out[TIME_TEXT]);
/* What happened, for people: the text of the code's row, else the action. */
struct str format_doc(const struct audit_view *v);
/* "name=text name=4", each value passed through put. */
typedef void (*format_put_fn)(struct buf *b, struct str s);
void format_details(const struct audit_view *v, struct buf *b, format_put_fn put);
/* Index of the suffix: 0 success, 1 denied, 2 failed. */
int format_verdict(const struct audit_view *v);

/* How OCSF classifies an event. */
struct format_ocsf_class {
    int class_uid, activity;
};
struct format_ocsf_class format_ocsf_classify(struct str action);

bool format_ocsf_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b);
bool format_cef_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b);
bool format_syslog_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b);
bool format_csv_header(struct audit_format_run *r, struct buf *b);
bool format_csv_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b);
bool format_summary_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b);
bool format_summary_text(struct audit_format_run *r, struct buf *b);
bool format_summary_html(struct audit_format_run *r, struct buf *b);
