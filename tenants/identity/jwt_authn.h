/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_authn.h - a signed token of an outside issuer to a principal.
 *
 * What the token says of itself only finds the row of its issuer (issuer.h); then it is held against that row's keys, algorithms, issuer and
 * audience by the one door for such tokens (core/crypto/jwt.h), lives at most an hour by its own claims, and its subject must be mapped to
 * an active service account. Where the row says single_use, its jti is written down before the answer, so of two calls with one token one is
 * refused, whichever process it meets. Other tokens are good until they expire; their principal is believed for at most 5 s.
 * The caller has no transaction open: keys may be fetched. Memory: *ret is referenced. Errors: UNAUTHENTICATED with one message for every
 * cause, the cause in its detail; TENANT_SUSPENDED; UNAVAILABLE, DEADLINE, UPSTREAM (keys). */
#pragma once
#include "core/base/work.h"
#include "tenants/access/principal.h"

struct stmt;

/* Three parts between dots, and none of our own tokens. Pure. */
bool jwt_looks_like(struct str token);
/* *ret_tenant: whose issuer it is, once the signature holds; nil before. *ret_replayed: refused for that. */
struct jwt_outcome { struct uuid tenant_id, issuer_id; bool is_replay; };
enum errc jwt_authn(struct work *w, struct str token, struct principal **ret, struct jwt_outcome *ret_outcome, struct err *e) MUST_CHECK;

extern const struct stmt *const jwt_authn_stmts[];
