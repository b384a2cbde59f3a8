/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a person's sign-in on one browser, as a row: opened, proved further, listed, ended.
 *
 * The browser holds 256 random bits in the cookie `__Host-falaj`; the table holds their SHA-256. A session is opened by a login only, and
 * every proof that makes it worth more (code, step-up) gives it a new cookie: one that somebody planted or saw before is worth nothing
 * afterwards. The CSRF token is derived from the cookie, so it lives and dies with it and is kept nowhere.
 * It ends after auth.session_idle_ms without a request, auth.session_max_ms after the login, at logout, by revocation, with a new
 * password, and when its user or tenant is no longer active; at the latest 5 s after that nobody believes it (session_authn.h).
 * Acts on w->tenant_id. Memory: w->arena. Errors: NOT_FOUND (no live session of that id that the caller may see). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/principal.h"

struct stmt;

#define SESSION_COOKIE "__Host-falaj"
enum { COOKIE_LEN = 43, COOKIE_TEXT = COOKIE_LEN + 1, CSRF_LEN = 43, CSRF_TEXT = CSRF_LEN + 1 };

struct session {
    struct uuid session_id, user_id;
    struct str method, stage, ip, user_agent;
    struct timestamp created_at, last_seen, until;
    bool is_current;
};
extern const struct schema session_schema;

struct session_new {
    struct uuid user_id;
    const char *method;             /* "password", "oidc", "break-glass" */
    enum auth_stage stage;
    bool has_mfa;                   /* a second factor was proved in this login */
    struct str user_agent;          /* cut at 200 bytes */
    int64_t max_ms;                 /* 0: auth.session_max_ms */
};
enum errc session_open(struct work *w, const struct session_new *in, char ret_cookie[COOKIE_TEXT], struct uuid *ret_id, struct err *e) MUST_CHECK;
/* The person has proved more: a new cookie, the old one is dead. with_mfa: by a second factor. */
enum errc session_prove(struct work *w, struct uuid session_id, enum auth_stage stage, bool with_mfa, char ret_cookie[COOKIE_TEXT], struct err *e) MUST_CHECK;
/* reason: "logout", "revoked", "password", "replaced". user nil: whoever has it. */
enum errc session_end(struct work *w, struct uuid session_id, struct uuid user_id, const char *reason, struct err *e) MUST_CHECK;
/* All of a user but one (nil: all). */
enum errc session_end_all(struct work *w, struct uuid user_id, struct uuid but, const char *reason, struct err *e) MUST_CHECK;
/* Live ones of a user, newest first. */
enum errc session_list(struct work *w, struct uuid user_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

/* Does this principal's role need a second factor? Pure; cfg: auth.require_mfa_roles and the profile. */
bool session_needs_mfa(const struct config *cfg, const struct principal *p);

/* Pure. */
void session_cookie_hash(struct str cookie, uint8_t ret[32]);
void session_csrf(struct str cookie, char ret[CSRF_TEXT]);
bool session_csrf_is(struct str cookie, struct str token);

extern const struct stmt *const session_stmts[];
