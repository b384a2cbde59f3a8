/* SPDX-License-Identifier: Apache-2.0 */
/* oidc.c - the exchange with the provider; whom it is about is in oidc_user.c. */
#include "tenants/identity/oidc.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"
#include "core/db/tx.h"
#include "core/http/url.h"
#include "core/json/jsonvalue.h"
#include "tenants/identity/oidc_int.h"
#include "tenants/identity/outside.h"
#include "tenants/access/principal_load.h"

enum { DEPTH_MAX = 16, CODE_MAX = 2048, NAME_MAX_CHARS = 128, URL_BUF = 16384 };
#define BOTH_ALGS (1u << JWS_RS256 | 1u << JWS_ES256)

static enum errc odd(struct err *e, const char *what)
{
    FAIL(e, UPSTREAM, "The provider's discovery document is not valid: %s", what);
    return e->code;
}

static bool lists(const struct jval *doc, const char *name, const char *value)
{
    const struct jval *list = jval_get(doc, name);
    for (size_t i = 0; i < jval_len(list); i++)
        if (str_eq_c(jval_str(jval_at(list, i)), value))
            return true;
    return false;
}

enum errc oidc_discover(struct work *w, const struct identity_provider *p, struct oidc_metadata *ret, struct err *e)
{
    const struct jval *doc;
    struct str text, issuer = p->issuer;
    struct err why;
    while (issuer.len && issuer.ptr[issuer.len - 1] == '/')
        issuer.len--;
    TRY(outside_document(w->app, w->arena, (struct outside_owner){ p->provider_id, w->tenant_id },
        str_fmt(w->arena, "%.*s/.well-known/openid-configuration", STR_ARG(issuer)), false, &text, e));
    if (jval_parse(w->arena, text, DEPTH_MAX, &doc, &why) != ERR_OK || jval_type(doc) != JT_OBJECT)
        return odd(e, "its metadata is not a JSON object");
    if (!str_eq(jval_str(jval_get(doc, "issuer")), p->issuer))
        return odd(e, "its metadata is of another issuer");
    *ret = (struct oidc_metadata){ jval_str(jval_get(doc, "authorization_endpoint")), jval_str(jval_get(doc, "token_endpoint")),
        jval_str(jval_get(doc, "jwks_uri")), jval_bool(jval_get(doc, "authorization_response_iss_parameter_supported"), false),
        lists(doc, "token_endpoint_auth_methods_supported", "client_secret_post") && !lists(doc, "token_endpoint_auth_methods_supported", "client_secret_basic") };
    const struct str urls[] = { ret->authorization_endpoint, ret->token_endpoint, ret->jwks_uri };
    for (int i = 0; i < 3; i++)
        if (!urls[i].ptr || outside_url_check(w->app->config, urls[i], "/", &why) != ERR_OK)
            return odd(e, "an endpoint is missing, or no URL that may be used");
    if (jval_get(doc, "code_challenge_methods_supported") && !lists(doc, "code_challenge_methods_supported", "S256"))
        return odd(e, "it does not take PKCE with S256");
    if (jval_get(doc, "response_types_supported") && !lists(doc, "response_types_supported", "code"))
        return odd(e, "it does not give authorization codes");
    return ERR_OK;
}

/* A value of this login that only who has both secrets can name. */
static struct str derived(struct arena *a, const struct oidc_login *l, const char *label)
{
    uint8_t mac[SHA256_BYTES];
    char *out = arena_alloc(a, BASE64_MAX(SHA256_BYTES));
    struct str text = str_fmt(a, "%s%.*s", label, STR_ARG(l->state));
    hmac_sha256(l->cookie.ptr, l->cookie.len, text.ptr, text.len, mac);
    return str_n(out, base64_encode(mac, sizeof mac, out, true));
}

static enum errc secret_text(struct arena *a, struct str *ret, struct err *e)
{
    uint8_t raw[32];
    char *out = arena_alloc(a, BASE64_MAX(sizeof raw));
    TRY(rand_key(raw, sizeof raw, e));
    *ret = str_n(out, base64_encode(raw, sizeof raw, out, true));
    secret_wipe(raw, sizeof raw);
    return ERR_OK;
}

static void add_param(struct buf *b, const char *name, struct str value)
{
    buf_printf(b, "%s%s=", b->len ? "&" : "", name);
    url_encode(b, value);
}

static struct str joined(struct arena *a, struct slice words)
{
    struct buf b = BUF(4096);
    for (size_t i = 0; i < words.n; i++) {
        buf_add_c(&b, i ? " " : "");
        buf_add_str(&b, ((struct str *)words.items)[i]);
    }
    struct str all = str_dup(a, buf_str(&b));
    buf_release(&b);
    return all;
}

enum errc oidc_begin(struct work *w, const struct identity_provider *p, const struct oidc_metadata *m, struct oidc_login *io, struct str *ret_url,
                     struct err *e)
{
    uint8_t digest[SHA256_BYTES];
    char challenge[BASE64_MAX(SHA256_BYTES)];
    struct buf b = BUF(URL_BUF);
    TRY(secret_text(w->arena, &io->state, e));
    TRY(secret_text(w->arena, &io->cookie, e));
    struct str verifier = derived(w->arena, io, "verifier");
    sha256(verifier.ptr, verifier.len, digest);
    base64_encode(digest, sizeof digest, challenge, true);
    add_param(&b, "response_type", STR("code"));
    add_param(&b, "client_id", p->client_id);
    add_param(&b, "redirect_uri", io->redirect_uri);
    add_param(&b, "scope", joined(w->arena, string_array(w->arena, p->scopes.text)));
    add_param(&b, "state", io->state);
    add_param(&b, "nonce", derived(w->arena, io, "nonce"));
    add_param(&b, "code_challenge", str_c(challenge));
    add_param(&b, "code_challenge_method", STR("S256"));
    *ret_url = str_fmt(w->arena, "%.*s%c%.*s", STR_ARG(m->authorization_endpoint), str_find(m->authorization_endpoint, '?') < 0 ? '?' : '&',
                       STR_ARG(buf_str(&b)));
    buf_release(&b);
    return ERR_OK;
}

static struct str authorization(struct arena *a, const struct identity_provider *p, struct str secret)
{
    struct buf b = BUF(8192);
    url_encode(&b, p->client_id);
    buf_add_char(&b, ':');
    url_encode(&b, secret);
    char *text = arena_alloc(a, BASE64_MAX(b.len));
    base64_encode(b.ptr, b.len, text, false);
    buf_release(&b);
    return str_fmt(a, "Basic %s", text);
}

static enum errc id_token(struct work *w, const struct identity_provider *p, const struct oidc_metadata *m, const struct oidc_login *l, struct str code,
                          struct str secret, struct str *ret, struct err *e)
{
    struct buf b = BUF(URL_BUF);
    const struct jval *answer;
    struct str body;
    struct err why;
    int status;
    add_param(&b, "grant_type", STR("authorization_code"));
    add_param(&b, "code", code);
    add_param(&b, "redirect_uri", l->redirect_uri);
    add_param(&b, "code_verifier", derived(w->arena, l, "verifier"));
    if (!secret.ptr || m->takes_post)
        add_param(&b, "client_id", p->client_id);
    if (secret.ptr && m->takes_post)
        add_param(&b, "client_secret", secret);
    struct outside_call call = { w->tenant_id, m->token_endpoint, str_dup(w->arena, buf_str(&b)), secret.ptr && !m->takes_post ? authorization(w->arena, p, secret) : STR_NULL };
    buf_release(&b);
    TRY(outside_fetch(w->app, w->arena, &call, &status, &body, e));
    if (status != 200)
        return oidc_refuse(e, status >= 400 && status < 500 ? "code" : "provider");
    if (jval_parse(w->arena, body, DEPTH_MAX, &answer, &why) != ERR_OK)
        return FAIL(e, UPSTREAM, "The provider's answer is not JSON");
    *ret = jval_str(jval_get(answer, "id_token"));
    return ret->ptr ? ERR_OK : oidc_refuse(e, "id_token");
}

static struct str clipped(struct arena *a, struct str name)
{
    const char *why;
    struct str s = str_dup(a, str_n(name.ptr ? name.ptr : "", name.len < NAME_MAX_CHARS ? name.len : NAME_MAX_CHARS));
    while (s.len && !str_is_utf8(s))
        s.len--;
    return s.len && check_name(s, &why) ? s : STR_NULL;
}

/* The value is a text or a list of texts, of which one is wanted. */
static bool names_one(const struct jval *v, struct slice wanted)
{
    size_t n = jval_type(v) == JT_ARRAY ? jval_len(v) : 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < wanted.n; k++) {
            struct str one = jval_str(jval_type(v) == JT_ARRAY ? jval_at(v, i) : v);
            if (one.ptr && str_eq(one, ((struct str *)wanted.items)[k]))
                return true;
        }
    return false;
}

static enum errc read_person(struct work *w, const struct identity_provider *p, const struct jws_claims *c, struct oidc_person *ret, struct err *e)
{
    const struct jval *claims;
    struct slice mfa = string_array(w->arena, p->mfa_values.text);
    TRY(jval_parse(w->arena, c->payload, DEPTH_MAX, &claims, e));
    const struct jval *groups = jval_get(claims, str_z(w->arena, p->groups_claim));
    if (jval_len(groups) > JWS_LIST_MAX)
        return oidc_refuse(e, "groups");
    *ret = (struct oidc_person){ .subject = c->sub, .name = clipped(w->arena, jval_str(jval_get(claims, str_z(w->arena, p->name_claim)))),
                                 .has_mfa = names_one(jval_get(claims, "amr"), mfa) || names_one(jval_get(claims, "acr"), mfa) };
    for (size_t i = 0; jval_type(groups) == JT_ARRAY && i < jval_len(groups); i++)
        if (jval_str(jval_at(groups, i)).ptr)
            ret->groups[ret->n_groups++] = jval_str(jval_at(groups, i));
    return ERR_OK;
}

enum errc oidc_finish(struct work *w, const struct identity_provider *p, const struct oidc_metadata *m, const struct oidc_login *login, struct str code,
                      struct str client_secret, struct oidc_person *ret, struct err *e)
{
    struct str token;
    struct jws_peek seen;
    struct jws_key *keys;
    struct jws_claims claims;
    struct err why;
    size_t n;
    if (!code.len || code.len > CODE_MAX)
        return oidc_refuse(e, "code");
    TRY(id_token(w, p, m, login, code, client_secret, &token, e));
    if (jws_peek(w->arena, token, &seen, &why) != ERR_OK)
        return oidc_refuse(e, why.msg);
    enum errc rc = outside_keys(w->app, w->arena, (struct outside_owner){ p->provider_id, w->tenant_id }, m->jwks_uri, BOTH_ALGS, seen.kid, &keys, &n, &why);
    if (rc == ERR_UNPROCESSABLE)
        return oidc_refuse(e, why.msg);
    if (rc != ERR_OK) {
        *e = why;
        return rc;
    }
    struct jws_expect want = { keys, n, p->issuer, p->client_id, derived(w->arena, login, "nonce"), w->now_us };
    if (jws_check(w->arena, token, &want, &claims, &why) != ERR_OK)
        return oidc_refuse(e, why.msg);
    return read_person(w, p, &claims, ret, e);
}

bool oidc_is_local_path(struct str path)
{
    if (!path.len || path.len > RETURN_TO_MAX || path.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] <= ' ' || path.ptr[i] > '~' || path.ptr[i] == '\\')
            return false;
    if (path.len == 1)
        return true;
    bool is_coded = path.len >= 4 && path.ptr[1] == '%' && (path.ptr[2] == '0' || path.ptr[2] == '2' || path.ptr[2] == '5');
    return path.ptr[1] != '/' && !is_coded;
}
