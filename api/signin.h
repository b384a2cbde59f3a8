/* SPDX-License-Identifier: Apache-2.0 */
/* signin.h - the course of a sign-in: several short transactions with the slow judging of a secret between them, never inside one.
 *
 * For handlers with R_NO_TX. Every try is counted and committed before it is judged (tenants/identity/login_guard.h), every outcome is an audit
 * event and a metric. What is wrong with a login is never told: unknown tenant, unknown name and wrong password have one answer and
 * cost the same work.
 * Calling order: signin_address -> signin_begin … signin_commit (a transaction in w->tx, scoped to a tenant) -> … -> signin_open |
 * signin_prove -> signin_commit -> signin_show. Memory: w->arena. */
#pragma once
#include "api/route.h"
#include "core/crypto/argon.h"
#include "tenants/identity/session.h"

struct session_out {
    struct uuid session_id, user_id;
    struct str name;
    struct uuid tenant_id;
    struct str tenant, stage;
    bool mfa_required, mfa_enrol_required;
    struct str csrf_token;
    struct slice roles, permissions;
    struct timestamp expires_at;
    int64_t idle_seconds;
    struct timestamp proved_at, mfa_at;
};
extern const struct schema session_out_schema;

/* The rate of tries of the caller's address. */
enum errc signin_address(struct work *w, struct err *e) MUST_CHECK;
/* The same rate for what a login page asks beforehand, counted apart: looking takes no try away. */
enum errc signin_look(struct work *w, struct err *e) MUST_CHECK;
/* The rate of tries for a tenant from all addresses together, by the name that was given, whether there is one or not: who floods
 * the sign-in of one tenant from many places takes neither hashes nor outside fetches from another's people. */
enum errc signin_tenant(struct work *w, struct str tenant, struct err *e) MUST_CHECK;
enum errc signin_begin(struct work *w, struct uuid tenant_id, struct err *e) MUST_CHECK;
enum errc signin_commit(struct work *w, struct err *e) MUST_CHECK;
/* Counts a try in a transaction of its own in tenant's scope; refused: RATE, with an audit event. */
enum errc signin_try(struct work *w, struct uuid tenant_id, struct uuid user_id, const char *kind, struct str a, struct str b, struct err *e) MUST_CHECK;
/* Loads the user as the principal of the rest of the call. In w->tx. */
enum errc signin_as(struct work *w, struct uuid user_id, struct err *e) MUST_CHECK;
/* In w->tx: a session for w->principal and its cookie. max_ms 0: auth.session_max_ms. */
enum errc signin_open(struct work *w, const char *method, enum auth_stage stage, bool has_mfa, int64_t max_ms, struct session_out *ret,
                      struct err *e) MUST_CHECK;
/* In w->tx: the session has proved more; new cookie. */
enum errc signin_prove(struct work *w, enum auth_stage stage, bool with_mfa, struct session_out *ret, struct err *e) MUST_CHECK;
/* The own session as it is. */
enum errc signin_show(struct work *w, struct session_out *ret, struct err *e) MUST_CHECK;
/* An event about w->principal or, failing that, about user_id. In w->tx. why: a machine word or NULL. */
enum errc signin_audit(struct work *w, enum audit_code code, enum errc outcome, struct uuid user_id, const char *why, struct err *e) MUST_CHECK;
/* Forget the sessions of the caller, or of one session, once the transaction is committed: call it right after signin_commit. */
void signin_forget(struct work *w, struct uuid session_id);
struct str signin_no_cookie(void);
/* Where providers send browsers back to: below api.public_url, or where this is not set (dev) below the host that was asked for. */
struct str signin_redirect_uri(struct work *w);
/* Is the password that of the user? Reads in a transaction of its own. found false: there is none. */
enum errc signin_password_is(struct work *w, struct uuid tenant_id, struct uuid user_id, struct str password, bool *ret, bool *ret_found, struct err *e) MUST_CHECK;
/* Reads the pepper in a transaction of its own, then hashes; the caller stores. */
enum errc signin_hash(struct work *w, struct uuid tenant_id, struct str password, char phc[ARGON_PHC], struct str *ret_zone, struct err *e) MUST_CHECK;
