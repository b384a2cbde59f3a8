/* SPDX-License-Identifier: Apache-2.0 */
/* local_auth.h - what sign-in needs in this process: the sign-in secret of each zone, and a bound on password hashing.
 *
 * A zone's sign-in secret is 32 bytes that falaj-keyd made and wrapped under a key of the platform (nil tenant); the table auth_key
 * keeps it wrapped. The pepper of passwords and the sealing keys of second factors are derived from it, each for its label and place, so
 * that a stolen database without the zone's falaj-keyd tells neither. It is not a tenant's key on purpose: a tenant whose key is
 * disabled or destroyed must still let in the people who can undo that (docs/adr/0016). It is kept in locked memory; once an hour it is
 * read again and, when the zone's root has a new version, wrapped under that.
 * Calling order: local_auth_new -> (local_auth_key | local_auth_hash)* from any thread -> local_auth_free.
 * local_auth_key runs in the caller's transaction (w->tx), one that may write. Errors: UNAVAILABLE, SEALED (falaj-keyd), RATE (more
 * password hashes wait than may). */
#pragma once
#include "core/base/work.h"
#include "core/crypto/argon.h"

struct stmt;

struct local_auth *local_auth_new(const struct config *cfg);
void local_auth_free(struct local_auth *a);

/* Where new secrets go: the first zone of keys.sockets. */
struct str local_auth_zone(const struct local_auth *a);
/* HMAC-SHA-256(secret of the zone, label || 0 || tenant). Wipe it. */
enum errc local_auth_key(struct work *w, struct str zone, const char *label, struct uuid tenant, struct secret32 *ret, struct err *e) MUST_CHECK;
/* The pepper is the same for all tenants of a zone. */
enum errc local_auth_pepper(struct work *w, struct str zone, struct secret32 *ret, struct err *e) MUST_CHECK;

/* Argon2id by the settings, at most auth.hash_concurrency at once, on at most half of the processors. Outside any transaction: it
 * takes tens of milliseconds. */
enum errc local_auth_hash(const struct app *app, const struct secret32 *pepper, struct str password, char ret[ARGON_PHC], struct err *e) MUST_CHECK;
/* phc STR_NULL: there is no such account; the same work is done and the answer is no. */
enum errc local_auth_check(const struct app *app, const struct secret32 *pepper, struct str phc, struct str password, bool *ret, struct err *e) MUST_CHECK;
bool local_auth_is_other_cost(const struct app *app, struct str phc);

extern const struct stmt *const local_auth_stmts[];
