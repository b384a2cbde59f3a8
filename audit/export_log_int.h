/* SPDX-License-Identifier: Apache-2.0 */
/* export_log_int.h - what an export reads of a stored log: signed heads and numbered entries.
 *
 * Each call is a page (export_begin_page). Memory: entries in x->page, until the next page; checkpoints in x->w->arena.
 * Errors: DAMAGED (a stored head is not one), and of export_head NOT_FOUND. */
#pragma once
#include "audit/export_int.h"

enum { EXPORT_PAGE = 1000 };

struct record_row {
    int64_t tseq;
    struct uuid event_id;
    struct bytes leaf, chain, body;     /* body absent: dropped by retention */
};
struct record_slice { struct record_row *items; size_t n; };

struct export_checkpoints {
    struct bundle_head *heads;
    uint64_t *sizes;                    /* ascending */
    size_t n;
};

/* The head that was signed at that size; 0: the newest. */
MUST_CHECK enum errc export_head(struct export *x, uint64_t size, struct bundle_head *ret, struct audit_head *head,
                                 struct err *e);
/* At most one head in each of 200 equal parts of [from, to). */
MUST_CHECK enum errc export_checkpoints(struct export *x, uint64_t from, uint64_t to, struct export_checkpoints *ret,
                                        struct err *e);
/* Entries in (after, to], at most limit of them (<= EXPORT_PAGE). */
MUST_CHECK enum errc export_records(struct export *x, uint64_t after, uint64_t to, size_t limit, struct record_slice *ret,
                                    struct err *e);
/* The n entries of those numbers (<= EXPORT_PAGE) that are there. */
MUST_CHECK enum errc export_records_of(struct export *x, const uint64_t *only, size_t n, struct record_slice *ret, struct err *e);
