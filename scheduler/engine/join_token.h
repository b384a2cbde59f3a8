/* SPDX-License-Identifier: Apache-2.0 */
/* join_token.h - the right to enrol machines: so many, of one pool of one zone, for some hours, from some networks. Shown once, kept as
 * its SHA-256. Platform data: the transaction must be in the platform's scope.
 *
 * Taking it is one statement under the row's lock, so the last use is had once. One message for all refusals: a guess learns nothing.
 * Calling order: join_token_create -> (join_token_take)* by enrolments -> join_token_revoke. Memory: w->arena.
 * Errors: UNAUTHENTICATED (take), NOT_FOUND, INVALID. */
#pragma once
#include "core/base/work.h"
#include "core/crypto/token.h"
#include "core/table/schema.h"

struct stmt;

struct join_token {
    struct uuid join_token_id;
    struct str zone, pool, node_name, hint;
    struct json cidrs;
    int64_t uses, used;
    struct timestamp expires_at, revoked_at, last_used_at;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema join_token_schema;

struct join_token_new {
    struct str zone, pool, node_name;       /* node_name STR_NULL: any that is not taken */
    struct slice cidrs;                     /* struct str */
    int64_t uses, minutes;
};

/* text needs TOKEN_TEXT bytes. NOT_FOUND: no such zone. */
enum errc join_token_create(struct work *w, const struct join_token_new *n, struct join_token *ret, char *text, struct err *e) MUST_CHECK;
enum errc join_token_list(struct work *w, struct str zone, struct str pool, struct uuid position, int64_t limit, struct slice *ret,
                          struct err *e) MUST_CHECK;
enum errc join_token_get(struct work *w, struct uuid id, struct join_token *ret, struct err *e) MUST_CHECK;
enum errc join_token_revoke(struct work *w, struct uuid id, struct err *e) MUST_CHECK;
/* One use of it, by a machine of that name at w->source_ip. */
enum errc join_token_take(struct work *w, struct str text, struct str node_name, struct join_token *ret, struct err *e) MUST_CHECK;

/* For the audit log, after a refusal: a literal saying what was wrong, and whose token it was (nil: none). Never told to the caller. */
const char *join_token_why(struct work *w, struct str text, struct str node_name, struct str zone, struct str pool, struct uuid *ret_id);

extern const struct stmt *const join_token_stmts[];
