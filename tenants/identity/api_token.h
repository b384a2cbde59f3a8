/* SPDX-License-Identifier: Apache-2.0 */
/* api_token.h - access tokens of users: made, shown once, listed, rotated, revoked. Only the SHA-256 of a token is kept.
 *
 * Own tokens need token:own, those of others token:manage, those of a service account that one has made token:service. A token of another
 * user is made or rotated only by who holds every permission of that user, there and as long; people get theirs by invitation. Nothing a token
 * is limited to (scopes, networks, zones) can be widened with it: what it makes or rotates is within its own limits.
 * Rotation makes a successor with the same limits; the old one ends after the overlap.
 * Errors: NOT_FOUND, FORBIDDEN, INVALID (unknown scope or zone), CONFLICT (rotating what has ended). */
#pragma once
#include "core/base/work.h"
#include "core/crypto/token.h"
#include "core/table/schema.h"

struct stmt;

struct api_token {
    struct uuid token_id, user_id;
    struct str name, hint;
    struct json scopes, cidrs, zones;
    struct timestamp expires_at, revoked_at, last_used_at;
    struct str last_used_ip;
    struct uuid successor_id;
    struct timestamp created_at;
};
extern const struct schema api_token_schema;

struct api_token_new {
    struct uuid user_id;                    /* nil: the caller */
    struct str name;
    int64_t days;
    struct slice scopes, cidrs, zones;      /* struct str; empty: no limit */
};
struct api_token_filter {
    struct uuid user_id;                    /* nil: all that the caller may see */
    struct str state;                       /* "active", "expired", "revoked"; STR_NULL: any */
    struct str name;                        /* begins with */
    struct str q;                           /* part of the name, as in list_find.h */
    bool by_expiry;                         /* ends soonest first; else newest first */
};
extern const char *const api_token_states[];

/* FORBIDDEN in a break-glass session: nothing but an approval leads into the account behind glass, and a credential of its own would open it
 * again without one. Asked by whatever makes or grants a credential. */
enum errc credential_may_make(struct work *w, struct err *e) MUST_CHECK;
/* text needs TOKEN_TEXT bytes. */
enum errc api_token_create(struct work *w, const struct api_token_new *n, struct api_token *ret, char *text, struct err *e) MUST_CHECK;
/* position: the last token of the page before; nil: from the start. */
enum errc api_token_list(struct work *w, const struct api_token_filter *f, struct uuid position, int64_t limit, struct slice *ret,
                         struct err *e) MUST_CHECK;
enum errc api_token_revoke(struct work *w, struct uuid token_id, struct err *e) MUST_CHECK;
enum errc api_token_rotate(struct work *w, struct uuid token_id, int64_t overlap_s, int64_t days, struct api_token *ret, char *text,
                           struct err *e) MUST_CHECK;

extern const struct stmt *const api_token_stmts[];
