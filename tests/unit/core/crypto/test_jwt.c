/* SPDX-License-Identifier: Apache-2.0 */
/* test_jwt.c - the door of identity tokens: two good ones, then every forgery that is known to pass somewhere. */
#include "crypto_test.h"
#include <openssl/evp.h>
#include <openssl/core_names.h>
#include <openssl/bn.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>
#include "core/crypto/hash.h"
#include "core/crypto/jwt.h"

#define CLAIMS "\"iss\":\"https://id.example\",\"aud\":\"falaj\",\"sub\":\"u1\""
#define TIMES "\"iat\":1800000000,\"exp\":1800000600"
static const int64_t now_us = 1800000060LL * 1000000;
static struct arena *a;
static EVP_PKEY *rsa, *ec;
static struct jws_key keys[2];
static struct jws_expect want;

static struct str b64(const void *p, size_t n)
{
    char *out = arena_alloc(a, BASE64_MAX(n));
    size_t len = base64_encode(p, n, out, true);
    return str_n(out, len);
}

static struct str member(EVP_PKEY *k, const char *name, size_t pad)
{
    BIGNUM *bn = NULL;
    uint8_t raw[600];
    assert_int_equal(EVP_PKEY_get_bn_param(k, name, &bn), 1);
    int n = pad ? BN_bn2binpad(bn, raw, (int)pad) : BN_bn2bin(bn, raw);
    BN_free(bn);
    return b64(raw, (size_t)n);
}

/* ECDSA signatures of JOSE are r || s, not DER. */
static size_t sign_with(EVP_PKEY *k, struct str m, uint8_t sig[600])
{
    size_t n = 600;
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, k), 1);
    assert_int_equal(EVP_DigestSign(c, sig, &n, (const uint8_t *)m.ptr, m.len), 1);
    EVP_MD_CTX_free(c);
    if (k == ec) {
        const uint8_t *p = sig;
        ECDSA_SIG *s = d2i_ECDSA_SIG(NULL, &p, (long)n);
        uint8_t raw[64];
        BN_bn2binpad(ECDSA_SIG_get0_r(s), raw, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(s), raw + 32, 32);
        ECDSA_SIG_free(s);
        memcpy(sig, raw, 64);
        n = 64;
    }
    return n;
}

static struct str body(const char *header, const char *payload)
{
    struct str h = b64(header, strlen(header)), p = b64(payload, strlen(payload));
    return str_fmt(a, "%.*s.%.*s", STR_ARG(h), STR_ARG(p));
}

static struct str token(EVP_PKEY *k, const char *header, const char *payload)
{
    uint8_t sig[600];
    struct str m = body(header, payload);
    struct str s = b64(sig, sign_with(k, m, sig));
    return str_fmt(a, "%.*s.%.*s", STR_ARG(m), STR_ARG(s));
}

static enum errc check(struct str t, struct jws_claims *ret)
{
    struct err e;
    struct jws_claims none;
    return jws_check(a, t, &want, ret ? ret : &none, &e);
}

#define H_RS "{\"alg\":\"RS256\",\"kid\":\"r1\",\"typ\":\"JWT\"}"
#define H_ES "{\"alg\":\"ES256\",\"kid\":\"e1\"}"
#define REFUSED(t) assert_int_equal(check((t), NULL), ERR_UNAUTHENTICATED)

static void test_good(void **state)
{
    struct jws_claims c;
    (void)state;
    OK(check(token(rsa, H_RS, "{" CLAIMS "," TIMES ",\"email\":\"u@x.ae\",\"email_verified\":true,\"groups\":[\"a\",\"b\"]}"), &c));
    assert_true(str_eq_c(c.sub, "u1") && str_eq_c(c.email, "u@x.ae") && c.email_verified && c.n_groups == 2);
    assert_true(str_eq_c(c.groups[1], "b") && c.exp_us == 1800000600LL * 1000000);
    OK(check(token(ec, H_ES, "{" CLAIMS "," TIMES ",\"name\":\"\\u0641\\u0644\\u062c\"}"), &c));
    assert_true(str_eq_c(c.name, "\u0641\u0644\u062c"));
    OK(check(token(rsa, H_RS, "{\"iss\":\"https://id.example\",\"aud\":[\"x\",\"falaj\"],\"azp\":\"falaj\",\"sub\":\"u1\"," TIMES "}"), &c));
}

static void test_forged_algorithms(void **state)
{
    uint8_t mac[32];
    const char *payload = "{" CLAIMS "," TIMES "}";
    (void)state;
    struct str m = body("{\"alg\":\"HS256\",\"kid\":\"r1\"}", payload);        /* the public key as an HMAC secret */
    hmac_sha256(keys[0].pem.ptr, keys[0].pem.len, m.ptr, m.len, mac);
    struct str s = b64(mac, 32);
    REFUSED(str_fmt(a, "%.*s.%.*s", STR_ARG(m), STR_ARG(s)));
    m = body("{\"alg\":\"none\",\"kid\":\"r1\"}", payload);
    REFUSED(str_fmt(a, "%.*s.", STR_ARG(m)));
    REFUSED(str_fmt(a, "%.*s.%.*s", STR_ARG(m), STR_ARG(s)));
    REFUSED(m);
    REFUSED(token(rsa, "{\"alg\":\"RS256\",\"kid\":\"e1\"}", payload));          /* another key's algorithm */
    REFUSED(token(ec, "{\"alg\":\"ES256\",\"kid\":\"r1\"}", payload));
    REFUSED(token(ec, H_RS, payload));                                        /* another key's signature */
    REFUSED(token(rsa, "{\"alg\":\"RS512\",\"kid\":\"r1\"}", payload));
    REFUSED(token(rsa, "{\"alg\":\"rs256\",\"kid\":\"r1\"}", payload));
    REFUSED(token(rsa, "{\"alg\":\"RS256\"}", payload));
    REFUSED(token(rsa, "{\"alg\":\"RS256\",\"kid\":\"r2\"}", payload));
    REFUSED(token(rsa, "{\"alg\":\"RS256\",\"kid\":\"../r1\"}", payload));
    REFUSED(token(rsa, "{\"alg\":\"RS256\",\"alg\":\"RS256\",\"kid\":\"r1\"}", payload));
    REFUSED(token(rsa, "{\"alg\":\"RS256\",\"kid\":\"r1\",\"typ\":\"at+jwt\"}", payload));
    const char *more[] = { "crit\":[\"exp\"]", "jku\":\"https://evil\"", "jwk\":{}", "x5u\":\"https://evil\"", "x5c\":[]", "b64\":false",
                           NULL };
    for (int i = 0; more[i]; i++)
        REFUSED(token(rsa, str_fmt(a, "{\"alg\":\"RS256\",\"kid\":\"r1\",\"%s}", more[i]).ptr, payload));
}

static void test_forged_bytes(void **state)
{
    struct str good = token(rsa, H_RS, "{" CLAIMS "," TIMES "}");
    (void)state;
    OK(check(good, NULL));
    char *t = (char *)str_z(a, good);
    for (size_t i = 0; i < good.len; i += 3) {
        char old = t[i];
        t[i] = old == 'A' ? 'B' : 'A';
        if (i + 1 < good.len)                       /* the last digit of 2048-bit base64 has spare bits */
            REFUSED(str_n(t, good.len));
        t[i] = old;
    }
    for (size_t n = 0; n + 1 < good.len; n += 7)
        REFUSED(str_n(t, n));
    REFUSED(str_fmt(a, "%s.x", t));
    REFUSED(str_fmt(a, "%s=", t));
    REFUSED(str_fmt(a, " %s", t));
    char *big = arena_alloc(a, 9000);
    memset(big, 'A', 8999);
    REFUSED(str_n(big, 8999));
}

static void payload_refused(const char *payload)
{
    REFUSED(token(rsa, H_RS, payload));
}

static void test_claims(void **state)
{
    (void)state;
    payload_refused("{" CLAIMS ",\"iat\":1,\"exp\":1}");
    payload_refused("{" CLAIMS ",\"iat\":1799990000,\"exp\":1799999999}");
    payload_refused("{" CLAIMS ",\"iat\":1800000000}");
    payload_refused("{" CLAIMS ",\"exp\":1800000600}");
    payload_refused("{" CLAIMS ",\"iat\":1800000000,\"exp\":\"1800000600\"}");
    payload_refused("{" CLAIMS ",\"iat\":1800000000,\"exp\":-1}");
    payload_refused("{" CLAIMS ",\"iat\":1800001000,\"exp\":1800002000}");
    payload_refused("{" CLAIMS "," TIMES ",\"nbf\":1800000500}");
    payload_refused("{\"iss\":\"https://evil\",\"aud\":\"falaj\",\"sub\":\"u1\"," TIMES "}");
    payload_refused("{\"iss\":\"https://id.example\",\"aud\":\"other\",\"sub\":\"u1\"," TIMES "}");
    payload_refused("{\"iss\":\"https://id.example\",\"sub\":\"u1\"," TIMES "}");
    payload_refused("{\"iss\":\"https://id.example\",\"aud\":[\"falaj\",\"x\"],\"sub\":\"u1\"," TIMES "}");
    payload_refused("{" CLAIMS "," TIMES ",\"azp\":\"other\"}");
    payload_refused("{\"iss\":\"https://id.example\",\"aud\":\"falaj\"," TIMES "}");
    payload_refused("{" CLAIMS "," TIMES ",\"sub\":\"u2\"}");
    payload_refused("{" CLAIMS "," TIMES "} x");
    payload_refused("{" CLAIMS "," TIMES ",\"x\":\"\\ud800\"}");
    payload_refused("[]");
    want.nonce = STR("n1");
    payload_refused("{" CLAIMS "," TIMES "}");
    payload_refused("{" CLAIMS "," TIMES ",\"nonce\":\"n2\"}");
    OK(check(token(rsa, H_RS, "{" CLAIMS "," TIMES ",\"nonce\":\"n1\"}"), NULL));
    want.nonce = STR_NULL;
}

static void test_keys(void **state)
{
    struct jws_key k;
    EVP_PKEY *weak = EVP_RSA_gen(1024);
    (void)state;
    assert_int_equal(jws_key_rsa(a, STR("w"), member(weak, OSSL_PKEY_PARAM_RSA_N, 0), STR("AQAB"), &k, NULL), ERR_INVALID);
    EVP_PKEY_free(weak);
    assert_int_equal(jws_key_rsa(a, STR("bad kid"), member(rsa, OSSL_PKEY_PARAM_RSA_N, 0), STR("AQAB"), &k, NULL), ERR_INVALID);
    assert_int_equal(jws_key_p256(a, STR("e"), STR("AAAA"), STR("AAAA"), &k, NULL), ERR_INVALID);
    struct str x = member(ec, OSSL_PKEY_PARAM_EC_PUB_X, 32);
    assert_int_equal(jws_key_p256(a, STR("e"), x, x, &k, NULL), ERR_INVALID);  /* not on the curve */
    struct jws_key swapped[1] = { { STR("r1"), JWS_RS256, keys[1].pem } };       /* an EC key pinned as RSA */
    struct jws_expect w = want;
    struct jws_claims c;
    w.keys = swapped;
    w.n_keys = 1;
    assert_int_equal(jws_check(a, token(rsa, H_RS, "{" CLAIMS "," TIMES "}"), &w, &c, NULL), ERR_UNAUTHENTICATED);
}

int main(void)
{
    a = arena_new(64 << 20);
    rsa = EVP_RSA_gen(2048);
    ec = EVP_EC_gen("P-256");
    OK(jws_key_rsa(a, STR("r1"), member(rsa, OSSL_PKEY_PARAM_RSA_N, 0), member(rsa, OSSL_PKEY_PARAM_RSA_E, 0), &keys[0], NULL));
    OK(jws_key_p256(a, STR("e1"), member(ec, OSSL_PKEY_PARAM_EC_PUB_X, 32), member(ec, OSSL_PKEY_PARAM_EC_PUB_Y, 32), &keys[1], NULL));
    want = (struct jws_expect){ keys, 2, STR("https://id.example"), STR("falaj"), STR_NULL, now_us };
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_good), cmocka_unit_test(test_forged_algorithms),
                                        cmocka_unit_test(test_forged_bytes), cmocka_unit_test(test_claims),
                                        cmocka_unit_test(test_keys) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(ec);
    arena_free(a);
    return rc;
}
