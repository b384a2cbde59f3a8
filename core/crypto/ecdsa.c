/* SPDX-License-Identifier: Apache-2.0 */
/* ecdsa.c - raw keys in and out of OpenSSL's provider interface; what held a scalar is cleared on the way out. */
#include "core/crypto/ecdsa.h"
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <string.h>
#include "core/base/cleanup.h"

enum { LABEL_MAX = 64, DER_MAX = 80 };

static void pkey_freep(EVP_PKEY **k)
{
    EVP_PKEY_free(*k);
}
static void pctx_freep(EVP_PKEY_CTX **c)
{
    EVP_PKEY_CTX_free(*c);
}
static void bn_freep(BIGNUM **b)
{
    BN_clear_free(*b);
}
static void group_freep(EC_GROUP **g)
{
    EC_GROUP_free(*g);
}

static enum errc broken(struct err *e, const char *what)
{
    ERR_clear_error();
    return FAIL(e, INTERNAL, "%s failed", what);
}

static bool in_range(const BIGNUM *k, const EC_GROUP *group)
{
    return !BN_is_zero(k) && BN_cmp(k, EC_GROUP_get0_order(group)) < 0;
}

enum errc ecdsa_derive(const struct secret32 *secret, const char *label, struct secret32 *ret_scalar, struct err *e)
{
    CLEANUP(group_freep) EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    uint8_t info[LABEL_MAX + 2];
    size_t n = strlen(label);
    if (!group || n > LABEL_MAX)
        return broken(e, "deriving a signing key");
    memcpy(info, label, n);
    info[n] = 0;
    for (int i = 0; i < 256; i++) {
        struct secret32 out;
        info[n + 1] = (uint8_t)i;
        hmac_sha256(secret->b, sizeof secret->b, info, n + 2, out.b);
        CLEANUP(bn_freep) BIGNUM *k = BN_secure_new();
        bool ok = k && BN_bin2bn(out.b, sizeof out.b, k) && in_range(k, group);
        if (ok)
            *ret_scalar = out;
        secret_wipe(&out, sizeof out);
        if (ok)
            return ERR_OK;
    }
    return broken(e, "deriving a signing key");
}

enum errc ecdsa_public(const struct secret32 *scalar, uint8_t ret_point[ECDSA_POINT], struct err *e)
{
    CLEANUP(group_freep) EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    CLEANUP(bn_freep) BIGNUM *k = BN_secure_new();
    EC_POINT *point = group ? EC_POINT_new(group) : NULL;
    bool ok = k && point && BN_bin2bn(scalar->b, sizeof scalar->b, k) && in_range(k, group)
              && EC_POINT_mul(group, point, k, NULL, NULL, NULL) == 1
              && EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, ret_point, ECDSA_POINT, NULL) == ECDSA_POINT;
    EC_POINT_free(point);
    return ok ? ERR_OK : broken(e, "computing a public key");
}

/* scalar NULL: the public key alone. */
static EVP_PKEY *key_of(const struct secret32 *scalar, const uint8_t point[ECDSA_POINT])
{
    CLEANUP(bn_freep) BIGNUM *k = scalar ? BN_secure_new() : NULL;
    CLEANUP(pctx_freep) EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    EVP_PKEY *key = NULL;
    bool ok = ctx && build && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1
              && OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, ECDSA_POINT) == 1;
    if (ok && scalar)
        ok = k && BN_bin2bn(scalar->b, sizeof scalar->b, k) && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, k) == 1;
    ok = ok && (params = OSSL_PARAM_BLD_to_param(build)) && EVP_PKEY_fromdata_init(ctx) == 1
         && EVP_PKEY_fromdata(ctx, &key, scalar ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, params) == 1;
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(build);
    if (!ok)
        ERR_clear_error();
    return ok ? key : NULL;
}

enum errc ecdsa_sign(const struct secret32 *scalar, const uint8_t digest[SHA256_BYTES], uint8_t ret_sig[ECDSA_SIG_BYTES], struct err *e)
{
    uint8_t point[ECDSA_POINT], der[DER_MAX];
    size_t n = sizeof der;
    TRY(ecdsa_public(scalar, point, e));
    CLEANUP(pkey_freep) EVP_PKEY *key = key_of(scalar, point);
    CLEANUP(pctx_freep) EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
    if (!ctx || EVP_PKEY_sign_init(ctx) != 1 || EVP_PKEY_sign(ctx, der, &n, digest, SHA256_BYTES) != 1)
        return broken(e, "signing");
    const uint8_t *at = der;
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &at, (long)n);
    bool ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), ret_sig, 32) == 32 && BN_bn2binpad(ECDSA_SIG_get0_s(sig), ret_sig + 32, 32) == 32;
    ECDSA_SIG_free(sig);
    return ok ? ERR_OK : broken(e, "signing");
}

bool ecdsa_verify(const uint8_t point[ECDSA_POINT], const uint8_t digest[SHA256_BYTES], const uint8_t sig[ECDSA_SIG_BYTES])
{
    CLEANUP(pkey_freep) EVP_PKEY *key = key_of(NULL, point);
    CLEANUP(pctx_freep) EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
    BIGNUM *r = BN_bin2bn(sig, 32, NULL), *s = BN_bin2bn(sig + 32, 32, NULL);
    ECDSA_SIG *both = ECDSA_SIG_new();
    uint8_t der[DER_MAX], *at = der;
    bool is_set = r && s && both && ECDSA_SIG_set0(both, r, s) == 1;
    if (!is_set) {
        BN_free(r);
        BN_free(s);
    }
    int n = is_set ? i2d_ECDSA_SIG(both, NULL) : 0;
    bool ok = n > 0 && n <= DER_MAX && i2d_ECDSA_SIG(both, &at) == n && ctx && EVP_PKEY_verify_init(ctx) == 1
              && EVP_PKEY_verify(ctx, der, (size_t)n, digest, SHA256_BYTES) == 1;
    ECDSA_SIG_free(both);
    ERR_clear_error();
    return ok;
}
