/* SPDX-License-Identifier: Apache-2.0 */
/* issuer.h - outside issuers: whose signed tokens programs may bring instead of a token of ours, and as whom.
 *
 * A row pins issuer, audience, algorithms and keys (a JWKS given once, or the URL to fetch it from), and maps subjects to service accounts;
 * a subject that is not mapped is nobody. The pair (issuer, audience) is one tenant's only: it is how a token finds its tenant. An audience
 * that begins with falaj:tnt_ names a tenant and belongs to that one.
 * Acts on w->tenant_id. Memory: w->arena. Errors: EXISTS (name, pair), INVALID, UNPROCESSABLE (keys, user), FORBIDDEN, NOT_FOUND, PRECONDITION. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct issuer_subject { struct str subject; struct uuid user_id; };
extern const struct schema issuer_subject_schema;

struct issuer {
    struct uuid issuer_id;
    struct str name, issuer, audience;
    struct json algorithms;
    struct str jwks_uri;
    struct json jwks;
    bool single_use;
    struct json subjects;
    struct str state;
    int64_t version;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema issuer_schema;

struct issuer_new {
    struct str name, issuer, audience, jwks_uri;
    struct json jwks;
    struct slice algorithms;        /* struct str */
    struct slice subjects;          /* struct issuer_subject */
    bool single_use;
};
enum errc issuer_create(struct work *w, const struct issuer_new *in, struct issuer *ret, struct err *e) MUST_CHECK;
enum errc issuer_get(struct work *w, struct uuid issuer_id, struct issuer *ret, struct err *e) MUST_CHECK;
enum errc issuer_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* if_match -1: any version. */
enum errc issuer_set_state(struct work *w, struct uuid issuer_id, const char *state, int64_t if_match, struct issuer *ret, struct err *e) MUST_CHECK;
enum errc issuer_delete(struct work *w, struct uuid issuer_id, struct err *e) MUST_CHECK;

/* ["RS256","ES256"] as bits of enum jws_alg; 0: a name that is none. Pure. */
unsigned issuer_algs(struct slice names);

extern const struct stmt *const issuer_stmts[];
