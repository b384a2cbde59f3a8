/* SPDX-License-Identifier: Apache-2.0 */
/* authn.h - who is calling: a bearer token to a principal, with a short memory.
 *
 * A token's shape and checksum are checked before anything else, then the memory (cache) is asked, then the database, once, by the
 * SHA-256 of the token. A principal is believed for cache_ms (at most 5 s, so that a revoked token is dead within 5 s).
 * Calling order: authn_new -> (authn_cached | authn_token)* from any thread -> authn_flush_used now and then -> authn_free.
 * Memory: principals are reference counted; the caller unrefs what it got.
 * Errors: UNAUTHENTICATED (unknown, expired, revoked, disabled user: one message for all), TENANT_SUSPENDED, UNAVAILABLE. */
#pragma once
#include "core/base/work.h"
#include "tenants/access/principal.h"

struct authn;
struct refusals;
struct stmt;

/* Redis channel on which processes tell each other of ended tokens; the payload is the hex id. A hint: the 5 s hold without it. */
#define WAKE_REVOKE "wake:revoke"

struct authn *authn_new(struct db_pool *pool, const struct clock *clock, int64_t cache_ms);
void authn_free(struct authn *a);

/* The memory only: a referenced principal, or NULL. Never blocks. */
struct principal *authn_cached(struct authn *a, struct str token, struct str address);
/* address: of the peer; a token that is bound to networks is refused elsewhere. */
enum errc authn_token(struct authn *a, struct str token, struct str address, struct arena *arena, struct principal **ret, struct err *e) MUST_CHECK;
/* Forget a token's principal now (revocation in this process). */
void authn_forget(struct authn *a, struct uuid token_id);
/* The same for all tokens of a user, and (user nil) of a tenant. */
void authn_forget_user(struct authn *a, struct uuid tenant_id, struct uuid user_id);
/* Refused tokens that wait to be written to the audit log (refusals.h). */
struct refusals *authn_refusals(struct authn *a);
/* Writes last_used_at and last_used_ip of the tokens seen since the last call. */
enum errc authn_flush_used(struct authn *a, struct arena *arena, struct err *e) MUST_CHECK;

extern const struct stmt *const authn_stmts[];
