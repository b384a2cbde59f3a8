/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_key.c - pinned keys of identity providers from the members of a JWKS (RFC 7517, 7518) to PEM. */
#include <ctype.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include "core/crypto/jwt.h"

enum { RSA_MAX_BYTES = 1024, EXPONENT_MAX_BYTES = 8, P256_BYTES = 32 };

static enum errc key_out(struct arena *a, struct str kid, enum jws_alg alg, EVP_PKEY *key, struct jws_key *ret, struct err *e)
{
    char *text = NULL;
    BIO *bio = BIO_new(BIO_s_mem());
    bool ok = bio && key && PEM_write_bio_PUBKEY(bio, key) == 1;
    if (ok) {
        long n = BIO_get_mem_data(bio, &text);
        *ret = (struct jws_key){ str_dup(a, kid), alg, str_dup(a, str_n(text, (size_t)n)) };
    }
    BIO_free(bio);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return ok ? ERR_OK : FAIL(e, INVALID, "the key \"%.*s\" of the issuer cannot be used", STR_ARG(kid));
}

static EVP_PKEY *key_make(const char *type, OSSL_PARAM *params)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = params ? EVP_PKEY_CTX_new_from_name(NULL, type, NULL) : NULL;
    if (ctx && EVP_PKEY_fromdata_init(ctx) == 1 && EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static bool kid_ok(struct str kid)
{
    if (kid.len == 0 || kid.len > JWS_KID_MAX)
        return false;
    for (size_t i = 0; i < kid.len; i++)
        if (!isalnum((unsigned char)kid.ptr[i]) && !strchr("._-", kid.ptr[i]))
            return false;
    return true;
}

enum errc jws_key_rsa(struct arena *a, struct str kid, struct str n, struct str exponent, struct jws_key *ret, struct err *e)
{
    uint8_t modulus[RSA_MAX_BYTES], exp[EXPONENT_MAX_BYTES];
    size_t n_len = 0, e_len = 0;
    if (!kid_ok(kid) || !base64_decode(n, modulus, sizeof modulus, &n_len, true)
        || !base64_decode(exponent, exp, sizeof exp, &e_len, true))
        return FAIL(e, INVALID, "an RSA key of the issuer is not well formed");
    BIGNUM *bn_n = BN_bin2bn(modulus, (int)n_len, NULL), *bn_e = BN_bin2bn(exp, (int)e_len, NULL);
    OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    EVP_PKEY *key = NULL;
    if (bn_n && bn_e && bld && BN_num_bits(bn_n) >= 2048 && BN_is_odd(bn_e) && !BN_is_one(bn_e)
        && OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, bn_n) == 1
        && OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, bn_e) == 1)
        params = OSSL_PARAM_BLD_to_param(bld);
    key = key_make("RSA", params);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(bld);
    BN_free(bn_n);
    BN_free(bn_e);
    return key_out(a, kid, JWS_RS256, key, ret, e);
}

enum errc jws_key_p256(struct arena *a, struct str kid, struct str x, struct str y, struct jws_key *ret, struct err *e)
{
    uint8_t point[1 + 2 * P256_BYTES] = { 4 };
    char group[] = "prime256v1";
    size_t x_len = 0, y_len = 0;
    uint8_t bx[P256_BYTES + 4], by[P256_BYTES + 4];
    if (!kid_ok(kid) || !base64_decode(x, bx, sizeof bx, &x_len, true) || !base64_decode(y, by, sizeof by, &y_len, true)
        || x_len != P256_BYTES || y_len != P256_BYTES)
        return FAIL(e, INVALID, "an EC key of the issuer is not well formed");
    memcpy(point + 1, bx, P256_BYTES);
    memcpy(point + 1 + P256_BYTES, by, P256_BYTES);
    OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
                            OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point),
                            OSSL_PARAM_construct_end() };
    return key_out(a, kid, JWS_ES256, key_make("EC", params), ret, e);
}
