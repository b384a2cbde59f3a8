/* SPDX-License-Identifier: Apache-2.0 */
/* jwks.c - a key is skipped for what it is and refused for what it gives away. */
#include "tenants/identity/jwks.h"
#include "core/json/jsonvalue.h"

enum { DEPTH_MAX = 8 };

static bool gives_itself_away(const struct jval *key)
{
    static const char *const secrets[] = { "k", "d", "p", "q", "dp", "dq", "qi", "oth", NULL };
    for (int i = 0; secrets[i]; i++)
        if (jval_get(key, secrets[i]))
            return true;
    return false;
}

/* An absent member says nothing against the key. */
static bool says(const struct jval *key, const char *name, const char *want)
{
    const struct jval *v = jval_get(key, name);
    return !v || str_eq_c(jval_str(v), want);
}

static bool may_verify(const struct jval *key)
{
    const struct jval *ops = jval_get(key, "key_ops");
    if (!says(key, "use", "sig"))
        return false;
    for (size_t i = 0; i < jval_len(ops); i++)
        if (str_eq_c(jval_str(jval_at(ops, i)), "verify"))
            return true;
    return !ops;
}

static bool read_key(struct arena *a, const struct jval *key, unsigned algs, struct jws_key *ret)
{
    struct err ignored;
    struct str kty = jval_str(jval_get(key, "kty")), kid = jval_str(jval_get(key, "kid"));
    if (!kid.ptr || !may_verify(key))
        return false;
    if (str_eq_c(kty, "RSA") && algs & 1u << JWS_RS256 && says(key, "alg", "RS256"))
        return jws_key_rsa(a, kid, jval_str(jval_get(key, "n")), jval_str(jval_get(key, "e")), ret, &ignored) == ERR_OK;
    if (str_eq_c(kty, "EC") && algs & 1u << JWS_ES256 && says(key, "alg", "ES256") && str_eq_c(jval_str(jval_get(key, "crv")), "P-256"))
        return jws_key_p256(a, kid, jval_str(jval_get(key, "x")), jval_str(jval_get(key, "y")), ret, &ignored) == ERR_OK;
    return false;
}

enum errc jwks_read(struct arena *a, struct str text, unsigned algs, struct jws_key ret[JWKS_KEYS_MAX], size_t *ret_n, struct err *e)
{
    const struct jval *doc;
    struct err why;
    *ret_n = 0;
    if (text.len > JWKS_TEXT_MAX || jval_parse(a, text, DEPTH_MAX, &doc, &why) != ERR_OK)
        return FAIL(e, UNPROCESSABLE, "The issuer's key set must be a JSON object of at most %d KiB", JWKS_TEXT_MAX >> 10);
    const struct jval *keys = jval_get(doc, "keys");
    if (jval_type(keys) != JT_ARRAY || jval_len(keys) > JWKS_KEYS_MAX)
        return FAIL(e, UNPROCESSABLE, "The issuer's key set needs a member \"keys\", a list of at most %d keys", JWKS_KEYS_MAX);
    for (size_t i = 0; i < jval_len(keys); i++) {
        const struct jval *key = jval_at(keys, i);
        if (gives_itself_away(key))
            return FAIL(e, UNPROCESSABLE, "The issuer's key set contains a private or symmetric key: publish public keys only");
        if (!read_key(a, key, algs, &ret[*ret_n]))
            continue;
        for (size_t k = 0; k < *ret_n; k++)
            if (str_eq(ret[k].kid, ret[*ret_n].kid))
                return FAIL(e, UNPROCESSABLE, "Two keys in the issuer's key set have the same kid");
        ++*ret_n;
    }
    return *ret_n ? ERR_OK : FAIL(e, UNPROCESSABLE,
        "The issuer has no usable key: expected RSA with at least 2048 bits, or EC P-256, each with a kid");
}
