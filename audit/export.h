/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - streams a part of one tenant's log as a bundle that a stranger can verify offline (docs/audit-format.md §3).
 *
 * The bundle is made against the newest signed head at or beyond `to`. A whole range carries the frontier before it and the
 * subtrees behind it; a selection (`only`, or what fits `filter`) carries an inclusion proof with each record. A filtered range
 * has
 * what fits `filter`, and of every other entry one field that shows that it does not; it takes leaves that can be opened
 * (fields.h).
 * A stream is an edge: audit_export opens a short read-only transaction of the tenant for each page from w->app->pool, and w->tx
 * must be NULL. The log only grows and the head is fixed first, so the pages fit together.
 * Memory: pages in an arena of its own (64 MiB at most), whatever the length; `only` is at most AUDIT_SELECT_MAX records.
 * Errors: NOT_FOUND (no signed head yet, or nothing fits), CONFLICT (retention came in between, or see above), INVALID (range),
 * DAMAGED (what is stored has holes or is not canonical), what the sink says.
 * audit_list and audit_newest_head act in w->tx as every service does. */
#pragma once
#include "audit/bundle.h"
#include "core/base/err.h"

struct work;
struct stmt;

enum { AUDIT_SELECT_MAX = 1000 };

typedef enum errc (*audit_sink_fn)(void *ctx, const void *p, size_t n, struct err *e);

enum audit_proves {
    AUDIT_PROVES_INCLUSION,        /* of a filter: a selection */
    AUDIT_PROVES_COMPLETENESS,     /* of a filter: a filtered range; CONFLICT where an entry cannot be opened */
};
struct audit_export_opts {
    struct uuid tenant_id;
    uint64_t from, to;             /* tseq, inclusive; 0 and 0: from 1 to the newest head */
    uint64_t head_size;            /* prove against the head of that size; 0: the newest */
    int64_t created_us;            /* when the bundle says it was made; 0: now. With head_size it makes the bytes repeatable */
    uint64_t prev_size;            /* not 0: prove that this log extends the head of that size */
    const uint64_t *only;          /* ascending tseqs; NULL: all in the range */
    size_t only_count;
    const struct audit_filter *filter; /* not empty: the entries of the range that fit, any number; NULL: all */
    enum audit_proves proves;
    int version;                   /* of the format; 0: 2 where the log has leaves that can be opened, else 1 */
    const struct audit_key *keys;  /* public keys to write into the manifest */
    size_t key_count;
    audit_sink_fn sink;
    void *sink_ctx;
};
struct audit_export_result {
    uint64_t count, from, to, head_size;
};
MUST_CHECK enum errc audit_export(struct work *w, const struct audit_export_opts *opts, struct audit_export_result *ret,
                                  struct err *e);

/* One row of a reading page: newest or oldest first is the caller's choice by cursor. */
struct audit_row {
    uint64_t tseq;
    struct uuid event_id;
    struct merkle_hash leaf, chain;
    struct str body;               /* ptr NULL: dropped by retention */
    int64_t at_us;                 /* from here on: what the sequencer took out of the body. Filled by audit_search and audit_get alone */
    struct str action, actor, resource_kind, resource_id, outcome, request_id;
    struct uuid actor_id;
};
/* Events of the tenant with tseq in (after, …], oldest first, at most limit (<= 1000). */
MUST_CHECK enum errc audit_list(struct work *w, struct uuid tenant, uint64_t after, size_t limit, struct audit_row **ret,
                                size_t *ret_count, struct err *e);
/* The newest head of a log; NOT_FOUND when none is signed yet. body and sig live in w->arena. */
MUST_CHECK enum errc audit_newest_head(struct work *w, struct uuid tenant, struct audit_head *ret, struct str *body,
                                       uint8_t sig[AUDIT_SIG], struct err *e);

/* Which logs a database has signed heads of, as rows of tenant id (nil: the platform's) and size of the newest head; over a
 * session of a role that sees all rows, for backups. At most 100,000, in a. */
struct db_session;
struct db_text_rows;
MUST_CHECK enum errc audit_logs(struct db_session *s, struct arena *a, struct db_text_rows *ret, struct err *e);

extern const struct stmt *const audit_export_stmts[];
extern const struct stmt *const audit_proof_stmts[];
