/* SPDX-License-Identifier: Apache-2.0 */
/* tail.h - reading a log on from where one stopped: for what follows from events, as notifications do.
 *
 * Numbers are dense and given once (sequencer.h), so a reader that keeps the last number misses nothing and sees nothing twice,
 * however long it was away. A call looks at AUDIT_TAIL_SPAN entries at most. In w->tx, of a role that reads all logs.
 * Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { AUDIT_TAIL_SPAN = 5000, AUDIT_TAIL_MAX = 500 };

struct audit_tail_row {
    int64_t tseq;
    struct timestamp at;
    struct str code;                    /* with its suffix: S, D, F */
    struct uuid actor_id;               /* nil: nobody */
    struct str resource_kind, resource_id;
    struct json details;                /* {}: dropped, or none */
};

/* How many entries a log has. */
MUST_CHECK enum errc audit_tail_end(struct work *w, struct uuid tenant, int64_t *ret, struct err *e);
/* Entries behind `after` whose code is one of codes (without suffix), at most AUDIT_TAIL_MAX, in order; *ret_next: read on
 * behind that. */
MUST_CHECK enum errc audit_tail_read(struct work *w, struct uuid tenant, int64_t after, const struct str *codes, size_t n,
    struct slice *ret,
                                     int64_t *ret_next, struct err *e);
/* Of these logs, those (struct uuid) that have entries behind `after`. */
MUST_CHECK enum errc audit_tail_grown(struct work *w, const struct uuid *tenants, const int64_t *after, size_t n,
    struct slice *ret,
                                      struct err *e);

extern const struct stmt *const audit_tail_stmts[];
