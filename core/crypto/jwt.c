/* SPDX-License-Identifier: Apache-2.0 */
/* jwt.c - the one door for signed tokens of identity providers.
 *
 * Order matters: shape, header, key, algorithm, and only then libjwt and its signature check; claims are read from the payload
 * that was signed, by the door's own strict reader, never from libjwt's. */
#include "core/crypto/jwt.h"
#include <ctype.h>
#include <jwt.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include "core/crypto/hash.h"
#include "core/crypto/jwt_json_int.h"

enum { RSA_MIN_BITS = 2048, PEM_MAX = 8192 };

#define REFUSE(e, ...) FAIL((e), UNAUTHENTICATED, __VA_ARGS__)

static bool is_base64url(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!isalnum((unsigned char)s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '_')
            return false;
    return s.len > 0 && s.len % 4 != 1;
}

static bool is_kid(struct str s)
{
    if (s.len == 0 || s.len > JWS_KID_MAX)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!isalnum((unsigned char)s.ptr[i]) && !strchr("._-", s.ptr[i]))
            return false;
    return true;
}

static bool part_json(struct arena *a, struct str part, struct str *ret_text, struct jws_object *ret)
{
    size_t n = 0;
    char *text = arena_try(a, part.len + 4);
    if (!text || !base64_decode(part, text, part.len + 3, &n, true))
        return false;
    *ret_text = str_n(text, n);
    return jws_json_object(a, *ret_text, ret);
}

static enum errc split(struct str token, struct str parts[3], struct err *e)
{
    struct str rest;
    if (token.len == 0 || token.len > JWS_TOKEN_MAX)
        return REFUSE(e, "the token is empty or longer than %d bytes", JWS_TOKEN_MAX);
    bool ok = str_cut(token, '.', &parts[0], &rest) && str_cut(rest, '.', &parts[1], &parts[2]);
    for (int i = 0; ok && i < 3; i++)
        ok = is_base64url(parts[i]);
    return ok ? ERR_OK : REFUSE(e, "the token is not three parts of base64url");
}

static const char *alg_name(enum jws_alg alg)
{
    return alg == JWS_RS256 ? "RS256" : "ES256";
}

/* The pinned key the header names, if the header asks for nothing else. */
static enum errc header_key(struct arena *a, struct str part, const struct jws_expect *want, const struct jws_key **ret,
                            struct err *e)
{
    static const char *const refused[] = { "crit", "jku", "jwk", "x5u", "x5c", "b64", "zip", "enc", NULL };
    struct jws_object *h = arena_try(a, sizeof *h);
    struct str text, alg, kid, typ = STR("JWT");
    if (!h || !part_json(a, part, &text, h))
        return REFUSE(e, "the header of the token is not JSON");
    for (int i = 0; refused[i]; i++)
        if (jws_json_get(h, refused[i]).ptr)
            return REFUSE(e, "the header of the token has \"%s\"", refused[i]);
    if (!jws_json_string(a, jws_json_get(h, "alg"), &alg) || !jws_json_string(a, jws_json_get(h, "kid"), &kid) || !is_kid(kid))
        return REFUSE(e, "the header of the token lacks alg or kid");
    if (jws_json_get(h, "typ").ptr && (!jws_json_string(a, jws_json_get(h, "typ"), &typ)
                                       || !(str_eq_c(typ, "JWT") || str_eq_c(typ, "jwt"))))
        return REFUSE(e, "the token is of another type");
    for (size_t i = 0; i < want->n_keys; i++) {
        if (!str_eq(want->keys[i].kid, kid))
            continue;
        if (!str_eq_c(alg, alg_name(want->keys[i].alg)))
            return REFUSE(e, "the token is signed with another algorithm than its key is for");
        *ret = &want->keys[i];
        return ERR_OK;
    }
    return REFUSE(e, "the token is signed by a key that is not known");
}

/* The pinned key is what it says: guards against a wrong PEM beside a right algorithm. */
static bool key_fits(const struct jws_key *k)
{
    char group[32] = "";
    if (k->pem.len == 0 || k->pem.len > PEM_MAX)
        return false;
    BIO *bio = BIO_new_mem_buf(k->pem.ptr, (int)k->pem.len);
    EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
    bool ok = false;
    if (key && k->alg == JWS_RS256)
        ok = EVP_PKEY_is_a(key, "RSA") && EVP_PKEY_get_bits(key) >= RSA_MIN_BITS;
    else if (key)
        ok = EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1
             && strcmp(group, "prime256v1") == 0;
    EVP_PKEY_free(key);
    BIO_free(bio);
    ERR_clear_error();
    return ok;
}

static enum errc signature(struct arena *a, struct str token, const struct jws_key *key, struct err *e)
{
    jwt_t *jwt = NULL;
    if (!key_fits(key))
        return REFUSE(e, "the pinned key is not an %s key", alg_name(key->alg));
    int rc = jwt_decode(&jwt, str_z(a, token), (const unsigned char *)str_z(a, key->pem), (int)key->pem.len);
    bool ok = rc == 0 && jwt && jwt_get_alg(jwt) == (key->alg == JWS_RS256 ? JWT_ALG_RS256 : JWT_ALG_ES256);
    jwt_free(jwt);
    ERR_clear_error();
    return ok ? ERR_OK : REFUSE(e, "the signature of the token does not hold");
}

/* An optional claim of type string. */
static bool claim(struct arena *a, const struct jws_object *o, const char *name, struct str *ret)
{
    struct str raw = jws_json_get(o, name);
    *ret = STR_NULL;
    return !raw.ptr || jws_json_string(a, raw, ret);
}

static bool claim_time(const struct jws_object *o, const char *name, int64_t *ret_us)
{
    struct str raw = jws_json_get(o, name);
    int64_t seconds = 0;
    bool ok = !raw.ptr || jws_json_seconds(raw, &seconds);
    *ret_us = seconds * 1000000;
    return ok;
}

/* aud is a string or a list; with several audiences azp must name us (OpenID Connect Core 3.1.3.7). */
static enum errc check_audience(struct arena *a, const struct jws_object *o, struct str audience, struct err *e)
{
    struct str one, list[JWS_LIST_MAX], azp, raw = jws_json_get(o, "aud");
    size_t n = 0;
    bool is_ours = false;
    if (jws_json_string(a, raw, &one)) {
        list[0] = one;
        n = 1;
    } else if (!jws_json_strings(a, raw, list, JWS_LIST_MAX, &n)) {
        return REFUSE(e, "the token names no audience");
    }
    for (size_t i = 0; i < n; i++)
        is_ours = is_ours || str_eq(list[i], audience);
    if (!is_ours || audience.len == 0)
        return REFUSE(e, "the token is for another audience");
    if (!claim(a, o, "azp", &azp) || (azp.ptr && !str_eq(azp, audience)) || (n > 1 && !azp.ptr))
        return REFUSE(e, "the token was issued to another party");
    return ERR_OK;
}

static enum errc check_times(const struct jws_object *o, int64_t now_us, struct jws_claims *ret, struct err *e)
{
    const int64_t skew_us = (int64_t)JWS_SKEW_S * 1000000;
    if (!jws_json_get(o, "exp").ptr || !jws_json_get(o, "iat").ptr || !claim_time(o, "exp", &ret->exp_us)
        || !claim_time(o, "iat", &ret->iat_us) || !claim_time(o, "nbf", &ret->nbf_us)
        || !claim_time(o, "auth_time", &ret->auth_time_us))
        return REFUSE(e, "the token lacks exp or iat, or they are no times");
    if (now_us >= ret->exp_us + skew_us)
        return REFUSE(e, "the token has expired");
    if (ret->nbf_us > now_us + skew_us || ret->iat_us > now_us + skew_us)
        return REFUSE(e, "the token is not valid yet");
    return ERR_OK;
}

static enum errc check_claims(struct arena *a, const struct jws_object *o, const struct jws_expect *want, struct jws_claims *ret,
                              struct err *e)
{
    struct str raw;
    bool ok = claim(a, o, "iss", &ret->iss) && claim(a, o, "sub", &ret->sub) && claim(a, o, "email", &ret->email)
              && claim(a, o, "name", &ret->name) && claim(a, o, "nonce", &ret->nonce) && claim(a, o, "acr", &ret->acr)
              && claim(a, o, "sid", &ret->sid);
    if (!ok || ret->sub.len == 0 || ret->sub.len > 255)
        return REFUSE(e, "a claim of the token is not a text");
    if (!ret->iss.ptr || want->issuer.len == 0 || !str_eq(ret->iss, want->issuer))
        return REFUSE(e, "the token comes from another issuer");
    TRY(check_audience(a, o, want->audience, e));
    TRY(check_times(o, want->now_us, ret, e));
    if (want->nonce.ptr
        && (ret->nonce.len != want->nonce.len || want->nonce.len == 0
            || !mem_eq_ct(ret->nonce.ptr, want->nonce.ptr, want->nonce.len)))
        return REFUSE(e, "the token answers another login");
    raw = jws_json_get(o, "email_verified");
    ret->email_verified = str_eq_c(raw, "true");
    raw = jws_json_get(o, "groups");
    if (raw.ptr && !jws_json_strings(a, raw, ret->groups, JWS_LIST_MAX, &ret->n_groups))
        return REFUSE(e, "the groups of the token are not a list of at most %d texts", JWS_LIST_MAX);
    return ERR_OK;
}

enum errc jws_check(struct arena *a, struct str token, const struct jws_expect *want, struct jws_claims *ret, struct err *e)
{
    struct str parts[3], payload;
    const struct jws_key *key = NULL;
    TRY(split(token, parts, e));
    TRY(header_key(a, parts[0], want, &key, e));
    TRY(signature(a, token, key, e));
    struct jws_object *o = arena_try(a, sizeof *o);
    struct jws_claims *claims = arena_try(a, sizeof *claims);
    if (!o || !claims || !part_json(a, parts[1], &payload, o))
        return REFUSE(e, "the payload of the token is not JSON");
    TRY(check_claims(a, o, want, claims, e));
    claims->payload = payload;
    *ret = *claims;
    return ERR_OK;
}

enum errc jws_peek(struct arena *a, struct str token, struct jws_peek *ret, struct err *e)
{
    struct str parts[3], text;
    struct jws_object *o = arena_try(a, sizeof *o);
    *ret = (struct jws_peek){ 0 };
    TRY(split(token, parts, e));
    if (!o || !part_json(a, parts[0], &text, o) || !claim(a, o, "kid", &ret->kid) || !is_kid(ret->kid))
        return REFUSE(e, "the header of the token is not JSON, or names no key");
    if (!part_json(a, parts[1], &text, o) || !claim(a, o, "iss", &ret->iss) || !ret->iss.len)
        return REFUSE(e, "the token names no issuer");
    struct str raw = jws_json_get(o, "aud");
    if (raw.ptr && jws_json_string(a, raw, &ret->aud[0]))
        ret->n_aud = 1;
    else if (!raw.ptr || !jws_json_strings(a, raw, ret->aud, JWS_PEEK_AUD, &ret->n_aud))
        return REFUSE(e, "the token names no audience, or more than %d", JWS_PEEK_AUD);
    return ERR_OK;
}
