/* SPDX-License-Identifier: Apache-2.0 */
/* export_job.h - an export as an object: what was asked for and against which head, so that its bytes can be made again, the same, for a
 * download that broke off. The bytes themselves are nowhere stored.
 *
 * Invariants: from, to, head, filter, key and time of creation are fixed at birth; the log below a head never changes, so every pass gives
 * the same bytes. Two things can change them, and then size and digest say so: retention dropping bodies in between.
 * Incremental: since_export begins where that export's head ended and proves that this log extends that head.
 * A bundle with a filter proves completeness where every entry of its range can be opened, unless only inclusion is asked for;
 * where completeness is asked for, the range begins with the first entry that can be.
 * Formats: jsonl is the verifiable bundle (a range, or with a filter a filtered range or a selection); the others render the
 * same events for other systems (audit/format.h) and prove nothing.
 * audit_export_job_create, _get and _list act in w->tx. audit_export_job_run streams: w->tx must be NULL; memory is constant.
 * Errors: NOT_FOUND (no signed head, or nothing new since), CONFLICT (completeness of a log that cannot be opened), those of
 * audit_export. */
#pragma once
#include "audit/export.h"
#include "audit/filter.h"
#include "core/table/schema.h"

struct audit_export_job {
    struct uuid export_id;
    struct str format, filter;      /* filter: canonical; ptr NULL: none */
    struct str proves;              /* of a bundle with a filter: "completeness" or "inclusion"; absent in older ones */
    int64_t version;                /* of the bundle's format */
    int64_t from_tseq, to_tseq, prev_size, head_size;
    struct uuid since_export;
    struct str key_id;
    struct bytes public_key;
    int64_t created_us;
    struct uuid created_by;
    int64_t size_bytes;             /* 0: not known yet */
    struct bytes sha256;
    struct timestamp created_at;
};
extern const struct schema audit_export_job_schema;

struct audit_export_ask {
    struct str format;
    struct audit_filter filter;
    enum audit_ask_proves { ASK_BEST, ASK_COMPLETENESS, ASK_INCLUSION } proves;
    struct uuid since_export;       /* nil: from the beginning */
    const struct audit_key *key;    /* NULL: none to write down */
};

MUST_CHECK enum errc audit_export_job_create(struct work *w, const struct audit_export_ask *ask, struct uuid by, struct audit_export_job *ret,
                                             struct err *e);
MUST_CHECK enum errc audit_export_job_get(struct work *w, struct uuid export_id, struct audit_export_job *ret, struct err *e);
MUST_CHECK enum errc audit_export_job_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e);

/* The bytes [skip, end) of the export to the sink; end < 0: to its end. Fills size and digest of the whole. */
struct audit_export_sum {
    int64_t size_bytes;
    uint8_t sha256[32];
};
MUST_CHECK enum errc audit_export_job_run(struct work *w, const struct audit_export_job *job, int64_t skip, int64_t end, audit_sink_fn sink, void *ctx,
                                          struct audit_export_sum *ret, struct err *e);
/* Remember them, once known. In w->tx. */
MUST_CHECK enum errc audit_export_job_measured(struct work *w, struct uuid export_id, const struct audit_export_sum *sum, struct err *e);

extern const struct stmt *const audit_export_job_stmts[];
