/* SPDX-License-Identifier: Apache-2.0 */
/* api_token.h - access tokens of users: made, shown once, listed, revoked. Only the SHA-256 of a token is kept.
 *
 * Own tokens need token:own, those of others token:manage. A token that is limited by scopes makes only tokens within them.
 * Errors: NOT_FOUND, FORBIDDEN, INVALID (unknown scope). */
#pragma once
#include "core/base/work.h"
#include "core/crypto/token.h"
#include "core/table/schema.h"

struct stmt;

struct api_token {
    struct uuid token_id, user_id;
    struct str name, hint;
    struct json scopes;
    struct timestamp expires_at, revoked_at, last_used_at, created_at;
};
extern const struct schema api_token_schema;

/* text needs TOKEN_TEXT bytes. user nil: the caller. */
enum errc api_token_create(struct work *w, struct uuid user_id, struct str name, int64_t days, struct slice scopes, struct api_token *ret,
                           char *text, struct err *e) MUST_CHECK;
enum errc api_token_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc api_token_revoke(struct work *w, struct uuid token_id, struct err *e) MUST_CHECK;

extern const struct stmt *const api_token_stmts[];
