/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - what an auditor takes away about a zone and a period: where every class of data is stored and under which keys, what
 * crossed a border and on which basis, what was refused, where the machines stand, the signed heads of the log, who holds which role,
 * and what was approved. Made from the rows themselves at the moment it is asked for; nothing is kept. People are called by their
 * names of today. What holds a zone's root key is asked what it is; a zone whose falaj-keyd does not answer has no token then.
 *
 * In a tenant's scope it is the tenant's own; in the platform's scope it has totals over all tenants and names none, beside the platform's
 * own people, approvals and heads. A list is cut at EVIDENCE_ROWS, and the report says so in `is_cut`.
 * Memory: w->arena. Errors: UNPROCESSABLE (a period that ends before it begins), NOT_FOUND (the zone). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

enum { EVIDENCE_ROWS = 1000, EVIDENCE_DAYS = 90 };

struct evidence {
    struct uuid tenant_id;
    struct str tenant_name;             /* for people; of evidence_html alone */
    struct str zone;                    /* absent: all */
    struct timestamp from, to, generated_at;
    bool is_cut;
    struct json zones, stored, transfers, policies, denied, workers, keys, tokens, heads, access, approvals;
};
extern const struct schema evidence_schema;

struct evidence_ask { struct str zone; struct timestamp from, to; };        /* from 0: EVIDENCE_DAYS before to; to 0: now */
/* Asks falaj-keyd of each zone, or of that one alone (STR_NULL: all), what holds its root key: struct token_row, by what
 * evidence_read tells. Each may take seconds to say nothing, so never inside a transaction. */
struct slice evidence_tokens(struct work *w, struct str zone);
enum errc evidence_read(struct work *w, const struct evidence_ask *in, const struct slice *tokens, struct evidence *ret,
                        struct err *e) MUST_CHECK;

enum evidence_language { EVIDENCE_EN, EVIDENCE_AR };
extern const char *const evidence_language_names[];
/* One page without scripts or anything from elsewhere, for the printer; Arabic is written from right to left. */
enum errc evidence_html(struct arena *a, const struct evidence *ev, enum evidence_language language, struct buf *out, struct err *e) MUST_CHECK;
/* The only policy such a page needs. */
#define EVIDENCE_CSP "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
