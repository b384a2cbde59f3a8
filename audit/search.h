/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - reading a log: events by what they say, one event, its proof, and whether one head extends another.
 *
 * Searching uses the columns that the sequencer took out of the bodies; what is given back is the body. Rows come oldest first, after
 * a number, so a page goes on where the last one ended. Everything acts in w->tx; the proofs are made in transactions of their own
 * and need w->tx to be NULL.
 * Memory: w->arena. Errors: NOT_FOUND (no such entry, not signed yet), INVALID, DAMAGED (what is stored has holes). */
#pragma once
#include "audit/export.h"
#include "audit/filter.h"

struct timestamp;

enum audit_verdict { VERDICT_ANY, VERDICT_SUCCESS, VERDICT_DENIED, VERDICT_FAILED };

struct audit_search {
    struct audit_filter filter;
    enum audit_verdict verdict;
    struct str request_id;          /* ptr NULL: any */
    const struct str *sources;      /* src_ip as stored, any of them (audit_pii_test); NULL: any */
    size_t source_count;
    uint64_t after, upto;           /* numbers; upto 0: no end */
    bool is_walk;                   /* the reader wants all pages: along the log, not by the index of a condition */
};

MUST_CHECK enum errc audit_search(struct work *w, struct uuid tenant, const struct audit_search *q, size_t limit, struct audit_row **ret,
                                  size_t *ret_n, struct err *e);
/* How many entries the log has; those that are numbered later are not counted. */
MUST_CHECK enum errc audit_log_length(struct work *w, struct uuid tenant, uint64_t *ret, struct err *e);
/* How many there are. */
MUST_CHECK enum errc audit_search_count(struct work *w, struct uuid tenant, const struct audit_search *q, uint64_t *ret, struct err *e);
MUST_CHECK enum errc audit_get(struct work *w, struct uuid tenant, struct uuid event_id, struct audit_row *ret, struct err *e);

struct audit_head_row {
    int64_t size, ts_us;
    struct str key_id;
    struct str body, signature;     /* bytes */
};
/* Heads of a log with size > after, smallest first. */
MUST_CHECK enum errc audit_heads(struct work *w, struct uuid tenant, uint64_t after, size_t limit, struct audit_head_row **ret, size_t *ret_n,
                                 struct err *e);

/* Nodes of the proofs of RFC 9162 §2.1.3 (entry tseq in the tree of `size`) and §2.1.4; at most MERKLE_PROOF_MAX. */
MUST_CHECK enum errc audit_prove_inclusion(struct work *w, struct uuid tenant, uint64_t tseq, uint64_t size, struct merkle_hash *out, size_t *ret_n,
                                           struct err *e);
MUST_CHECK enum errc audit_prove_consistency(struct work *w, struct uuid tenant, uint64_t from, uint64_t to, struct merkle_hash *out,
                                             size_t *ret_n, struct err *e);

extern const struct stmt *const audit_search_stmts[];
