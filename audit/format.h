/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - audit events in the formats that other systems read: one table, one pass, constant memory.
 *
 * These are renderings for people and SIEMs. They prove nothing: only the bundle does (audit/bundle.h); each row names its entry
 * and its leaf, by which it can be found in one.
 * Calling order: audit_format_find -> audit_format_begin -> audit_format_entry for each entry -> audit_format_end. Every call
 * appends to b, which the caller sends and clears as he likes. An entry whose body retention dropped is a row with its number
 * and leaf. The summary appends its page at the end only.
 * Memory: struct audit_format_run is some 30 KiB, belongs to the caller and needs no release. Pure: no clock, no I/O.
 * False: b is full, or the body is not canonical (audit_record_read). */
#pragma once
#include "audit/filter.h"
#include "audit/head.h"
#include "audit/verify.h"

struct audit_format_run;

struct audit_entry {
    uint64_t tseq;
    struct merkle_hash leaf;
    struct str body;                       /* ptr NULL: dropped by retention */
};
/* All of it may be zero: what is not known is left out. */
struct audit_format_opts {
    struct uuid tenant_id;
    struct str zone;
    int64_t created_us;
    bool has_bom;                          /* csv: begin with U+FEFF, as spreadsheets on Windows want it */
    const struct audit_filter *filter;     /* the rest is for the summary */
    const struct audit_head *head, *previous;
    const struct audit_key *keys;
    size_t key_count;
    const struct verify_result *verdict;   /* of the bundle of the same range, when one was verified */
};
struct audit_format {
    const char *name, *content_type, *extension, *doc;
    bool (*header)(struct audit_format_run *r, struct buf *b);
    bool (*row)(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b);    /* v NULL: dropped */
    bool (*footer)(struct audit_format_run *r, struct buf *b);
};
enum { AUDIT_DENIALS_SHOWN = 30 };
struct audit_denial {
    uint64_t tseq;
    int64_t ts_us;
    char code[16], action[AUDIT_WORD_MAX + 1], outcome[AUDIT_WORD_MAX + 1];
    enum audit_actor actor;
    struct uuid actor_id;
};
/* What the summary counts. The last row of codes is for codes that this build does not know. */
struct audit_tally {
    uint64_t count, dropped, from, to;
    int64_t first_us, last_us;             /* the least and the greatest time */
    uint64_t verdicts[3];                  /* success, denied, failed */
    uint64_t codes[AUDIT_CODE_COUNT + 1][3], actors[AUDIT_ACTOR_COUNT];
    uint64_t denials;
    struct audit_denial denial[AUDIT_DENIALS_SHOWN];    /* the first ones */
};
struct audit_format_run {
    const struct audit_format *format;
    struct audit_format_opts opts;
    struct audit_tally tally;
    struct audit_view view;
};

/* "ocsf", "cef", "syslog", "csv", "summary", "summary-html"; ends with a row whose name is NULL. */
extern const struct audit_format audit_formats[];
/* One cell of a CSV that a spreadsheet opens without running any of it; absent is empty. */
void audit_csv_cell(struct buf *b, struct str s);
/* NULL: there is no such format. */
const struct audit_format *audit_format_find(struct str name);
bool audit_format_begin(struct audit_format_run *r, const struct audit_format *f, const struct audit_format_opts *opts, struct buf *b);
bool audit_format_entry(struct audit_format_run *r, const struct audit_entry *e, struct buf *b);
bool audit_format_end(struct audit_format_run *r, struct buf *b);
