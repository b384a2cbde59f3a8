/* SPDX-License-Identifier: Apache-2.0 */
/* session_authn.h - who holds this cookie: to a principal, with a short memory.
 *
 * As authn.h does for tokens: memory first, then the database once. A principal is believed for cache_ms (at most 5 s), so a session that
 * ended elsewhere is dead within 5 s; what ends in this process is forgotten at once. A session that is not yet proved in full (stage) has
 * a principal without permissions. last_seen is written by session_authn_flush, now and then, for all that were used.
 * Calling order: session_authn_new -> session_authn* from any thread -> session_authn_flush now and then -> session_authn_free.
 * Memory: principals are reference counted; the caller unrefs what it got.
 * Errors: UNAUTHENTICATED (unknown, ended, idle, user disabled: one message), TENANT_SUSPENDED, UNAVAILABLE. */
#pragma once
#include "core/base/work.h"
#include "tenants/access/principal.h"

struct session_authn;
struct stmt;

struct session_authn *session_authn_new(struct db_pool *pool, const struct clock *clock, const struct config *cfg);
void session_authn_free(struct session_authn *a);
/* is_use false: the session is not kept from ending for want of use by this call. */
enum errc session_authn(struct session_authn *a, struct str cookie, bool is_use, struct arena *arena, struct principal **ret, struct err *e) MUST_CHECK;
/* The memory only: a referenced principal, or NULL; no use of the session. Never blocks. */
struct principal *session_cached(struct session_authn *a, struct str cookie);
void session_forget(struct session_authn *a, struct uuid session_id);
/* All of a user, and (user nil) of a tenant. */
void session_forget_user(struct session_authn *a, struct uuid tenant_id, struct uuid user_id);
enum errc session_authn_flush(struct session_authn *a, struct arena *arena, struct err *e) MUST_CHECK;

extern const struct stmt *const session_authn_stmts[];
