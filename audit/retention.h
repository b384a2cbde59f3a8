/* SPDX-License-Identifier: Apache-2.0 */
/* retention.h - how long the bodies of events are kept, and dropping them when their time is over.
 *
 * A term is set per class, the middle of an event's code ("JOB" of FLJ-JOB-001), or "*" for all others. A tenant's own term comes before
 * the platform's; a zone's least term holds for the tenants at home there, whatever they set. Without any row it is 2557 days (7 years).
 * What is dropped: the body, and what queries took out of it. What stays for ever: number, leaf, chain, heads: every proof.
 * audit_retention_drop runs in a transaction of the role falaj_retention, which can call that one function and see nothing; holds are
 * judged by the database, in the statement that deletes. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct audit_retention {
    struct str class, zone;         /* zone: only in the platform's scope; "" none */
    int64_t keep_days;
    struct uuid set_by;
    struct timestamp set_at;
};
extern const struct schema audit_retention_schema;

enum { AUDIT_CLASSES_MAX = 64 };
/* The rows of w->tenant_id, and the platform's, which hold where the tenant has none. */
MUST_CHECK enum errc audit_retention_list(struct work *w, struct slice *ret, struct err *e);
MUST_CHECK enum errc audit_retention_set(struct work *w, struct str class, struct str zone, int64_t keep_days, struct uuid by, struct audit_retention *ret,
                                         struct err *e);

struct audit_dropped {
    struct uuid tenant_id;
    int64_t dropped, until_tseq;
};
/* Drops at most `most` bodies; one item for each log that lost some. In w->tx of falaj_retention, system scope. */
MUST_CHECK enum errc audit_retention_drop(struct work *w, int64_t most, struct audit_dropped **ret, size_t *ret_n, struct err *e);

extern const struct stmt *const audit_retention_stmts[];        /* pool of falaj_app */
extern const struct stmt *const audit_retention_drop_stmts[];   /* pool of falaj_retention */
