/* SPDX-License-Identifier: Apache-2.0 */
/* p256.c - Diffie-Hellman on NIST P-256. EC_POINT_oct2point checks that a point lies on the curve, whose cofactor is 1, so that a
 * checked point other than infinity generates the whole group. A multiplication by one scalar runs in constant time in OpenSSL. */
#include "core/crypto/p256.h"
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

/* point NULL: the generator. x_only: the x coordinate, else the whole point. scalar NULL: only check the point. */
static bool multiply(const struct secret32 *scalar, const uint8_t *point, bool x_only, uint8_t *out)
{
    EC_GROUP *g = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *in = g ? EC_POINT_new(g) : NULL, *r = g ? EC_POINT_new(g) : NULL;
    BIGNUM *k = BN_secure_new(), *x = BN_secure_new();
    bool ok = in && r && k && x && (!point || EC_POINT_oct2point(g, in, point, P256_POINT, NULL) == 1);
    if (ok && scalar) {
        BN_set_flags(k, BN_FLG_CONSTTIME);
        ok = BN_bin2bn(scalar->b, KEY_BYTES, k) && !BN_is_zero(k) && BN_cmp(k, EC_GROUP_get0_order(g)) < 0
             && (point ? EC_POINT_mul(g, r, NULL, in, k, NULL) : EC_POINT_mul(g, r, k, NULL, NULL, NULL)) == 1
             && EC_POINT_is_at_infinity(g, r) == 0;
        if (ok && x_only)
            ok = EC_POINT_get_affine_coordinates(g, r, x, NULL, NULL) == 1 && BN_bn2binpad(x, out, KEY_BYTES) == KEY_BYTES;
        else
            ok = ok && EC_POINT_point2oct(g, r, POINT_CONVERSION_UNCOMPRESSED, out, P256_POINT, NULL) == P256_POINT;
    }
    BN_clear_free(x);
    BN_clear_free(k);
    EC_POINT_clear_free(r);
    EC_POINT_free(in);
    EC_GROUP_free(g);
    ERR_clear_error();
    return ok;
}

enum errc p256_keygen(struct secret32 *ret_scalar, uint8_t ret_point[P256_POINT], struct err *e)
{
    EC_GROUP *g = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    BIGNUM *k = BN_secure_new();
    bool ok = g && k;
    do
        ok = ok && BN_priv_rand_range(k, EC_GROUP_get0_order(g)) == 1;
    while (ok && BN_is_zero(k));
    ok = ok && BN_bn2binpad(k, ret_scalar->b, KEY_BYTES) == KEY_BYTES;
    BN_clear_free(k);
    EC_GROUP_free(g);
    return ok ? p256_public(ret_scalar, ret_point, e) : FAIL(e, INTERNAL, "no key could be made");
}

enum errc p256_public(const struct secret32 *scalar, uint8_t ret_point[P256_POINT], struct err *e)
{
    return multiply(scalar, NULL, false, ret_point) ? ERR_OK : FAIL(e, INVALID, "the secret is not one of P-256");
}

enum errc p256_check(const uint8_t point[P256_POINT], struct err *e)
{
    bool ok = point[0] == 4 && multiply(NULL, point, false, NULL);
    return ok ? ERR_OK : FAIL(e, INVALID, "the public key is not a point of P-256");
}

enum errc p256_ecdh(const struct secret32 *scalar, const uint8_t peer[P256_POINT], struct secret32 *ret_x, struct err *e)
{
    bool ok = peer[0] == 4 && multiply(scalar, peer, true, ret_x->b);
    return ok ? ERR_OK : FAIL(e, INVALID, "the public key is not a point of P-256");
}
