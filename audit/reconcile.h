/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.h - compares the access log with the audit log: a call that changed something and left no event shows.
 *
 * Access log: one line per answered request of the client listener,
 *     1 <ts_us> <tenant uuid> <operation> <status> <A|-> <request id>
 * A says that a successful call of this route writes an event; a replay of an idempotent call and a failed one have '-'.
 * Lines of A are looked up in the audit log of their tenant by request id: as many events as lines, at least.
 * Callers may choose request ids, so equal ones are counted, not merged; within a batch of RECONCILE_BATCH lines.
 * Calling order: reconcile_init -> reconcile_line* -> reconcile_end, in w->tx of falaj_sequencer; then audit_reconcile_note.
 * Only events already numbered are seen: feed lines that are older than the merge delay. */
#pragma once
#include "core/base/work.h"

struct stmt;

enum { RECONCILE_BATCH = 1000, RECONCILE_SHOWN = 8, RECONCILE_ID_MAX = 130 };

struct reconcile {
    int64_t lines, expected, missing, malformed, from_us, until_us;
    int shown;
    char first[RECONCILE_SHOWN][RECONCILE_ID_MAX];
    size_t n;
    struct uuid tenants[RECONCILE_BATCH];
    char ids[RECONCILE_BATCH][RECONCILE_ID_MAX];
};

void reconcile_init(struct reconcile *r);
/* False: the line is newer than until_us and was not taken (0: no limit). */
bool reconcile_takes(struct str line, int64_t until_us);
MUST_CHECK enum errc reconcile_line(struct work *w, struct reconcile *r, struct str line, struct err *e);
MUST_CHECK enum errc reconcile_end(struct work *w, struct reconcile *r, struct err *e);
MUST_CHECK enum errc audit_reconcile_note(struct work *w, const struct reconcile *r, struct err *e);
/* The line of a request; false: b is full. */
bool reconcile_print(struct buf *b, int64_t ts_us, struct uuid tenant, const char *op, int status, bool is_audited, struct str request_id);

extern const struct stmt *const audit_reconcile_stmts[];
