/* SPDX-License-Identifier: Apache-2.0 */
/* oidc.h - a login at an OpenID provider: authorization code with PKCE (S256), state and nonce (OpenID Connect Core 3.1, RFC 9700).
 *
 * The browser holds one secret for the time of the login, in the cookie `__Host-falaj-login`; state is random, and verifier and nonce are
 * derived from both. The table keeps digests of state and cookie only, so who reads it can finish no login. A row is removed when it is
 * found: a state is good once, 10 minutes, in the browser that began. Codes and tokens pass through this process and are kept nowhere.
 * Calling order: oidc_begin (fetches; then oidc_store in a transaction) … oidc_take (in a transaction) -> oidc_finish (fetches; no
 * transaction) -> oidc_user (in a transaction of the tenant). Memory: w->arena.
 * Errors: UNAUTHENTICATED for what does not fit, with the cause in detail; UPSTREAM, UNAVAILABLE, DEADLINE, LIMIT from the provider. */
#pragma once
#include "core/base/work.h"
#include "core/crypto/jwt.h"
#include "tenants/identity/identity_provider.h"

struct stmt;

#define LOGIN_COOKIE "__Host-falaj-login"
enum { LOGIN_SECRET_LEN = 43, LOGIN_MINUTES = 10, RETURN_TO_MAX = 512 };

/* What a provider says of itself, checked and pinned to its issuer. */
struct oidc_metadata {
    struct str authorization_endpoint, token_endpoint, jwks_uri;
    bool says_iss;                  /* the callback must carry iss (RFC 9207) */
    bool takes_post;                /* client_secret_post and not client_secret_basic */
};
enum errc oidc_discover(struct work *w, const struct identity_provider *p, struct oidc_metadata *ret, struct err *e) MUST_CHECK;

struct oidc_login {
    struct uuid tenant_id, provider_id;
    struct str return_to, redirect_uri;
    struct str state, cookie;       /* of 43 characters each */
};
/* A new login: state and cookie made, *ret_url: where to send the browser. */
enum errc oidc_begin(struct work *w, const struct identity_provider *p, const struct oidc_metadata *m, struct oidc_login *io, struct str *ret_url,
                     struct err *e) MUST_CHECK;
enum errc oidc_store(struct work *w, const struct oidc_login *login, struct err *e) MUST_CHECK;
/* found false: no such login, or not in this browser, or too late. */
enum errc oidc_take(struct work *w, struct str state, struct str cookie, struct oidc_login *ret, bool *ret_found, struct err *e) MUST_CHECK;

struct oidc_person {
    struct str subject, name;
    struct str groups[JWS_LIST_MAX];
    size_t n_groups;
    bool has_mfa;
};
/* Code to person: the token request, and the ID token through the door. */
enum errc oidc_finish(struct work *w, const struct identity_provider *p, const struct oidc_metadata *m, const struct oidc_login *login, struct str code,
                      struct str client_secret, struct oidc_person *ret, struct err *e) MUST_CHECK;
/* The user, made if the provider may; the roles of its groups as they are now. */
enum errc oidc_user(struct work *w, const struct identity_provider *p, const struct oidc_person *who, struct uuid *ret, struct err *e) MUST_CHECK;

/* Says that a subject of the provider is this person. EXISTS: the subject is somebody already; UNPROCESSABLE: no person. */
struct oidc_link { struct uuid provider_id; struct str subject; struct uuid user_id; };
enum errc oidc_link(struct work *w, const struct oidc_link *link, struct err *e) MUST_CHECK;

/* Pure. A path of this host, for a redirect: begins with one slash, printable ASCII, no backslash, no second slash in any spelling. */
bool oidc_is_local_path(struct str path);
/* Removes what has expired. */
void oidc_sweep(struct work *w);

extern const struct stmt *const oidc_stmts[];
