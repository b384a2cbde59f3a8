/* SPDX-License-Identifier: Apache-2.0 */
/* test_ecdsa.c - the P-256/SHA-256 vector of RFC 6979 A.2.5, changed bits, derived keys. */
#include "crypto_test.h"
#include "core/crypto/ecdsa.h"

static void test_rfc6979(void **state)
{
    struct secret32 scalar;
    uint8_t point[65], digest[32], sig[64], own[64];
    (void)state;
    unhex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721", scalar.b);
    OK(ecdsa_public(&scalar, point, NULL));
    assert_hex(point, 65, "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7"
                          "e9f5177a3c294d4462299");
    sha256("sample", 6, digest);
    unhex("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
          sig);
    assert_true(ecdsa_verify(point, digest, sig));
    OK(ecdsa_sign(&scalar, digest, own, NULL));
    assert_true(ecdsa_verify(point, digest, own));
    for (int i = 0; i < 64; i++) {
        own[i] ^= 1;
        assert_false(ecdsa_verify(point, digest, own));
        own[i] ^= 1;
    }
    digest[0] ^= 1;
    assert_false(ecdsa_verify(point, digest, own));
    point[64] ^= 1;                                                 /* off the curve */
    assert_false(ecdsa_verify(point, digest, own));
    memset(own, 0, sizeof own);
    assert_false(ecdsa_verify(point, digest, own));
    memset(scalar.b, 0, 32);
    assert_int_equal(ecdsa_public(&scalar, point, NULL), ERR_INTERNAL);
    memset(scalar.b, 0xff, 32);                                     /* not below the order */
    assert_int_equal(ecdsa_public(&scalar, point, NULL), ERR_INTERNAL);
}

static void test_derive(void **state)
{
    struct secret32 secret = { { 7 } }, one, again, other;
    (void)state;
    OK(ecdsa_derive(&secret, "one", &one, NULL));
    OK(ecdsa_derive(&secret, "one", &again, NULL));
    OK(ecdsa_derive(&secret, "other", &other, NULL));
    assert_memory_equal(one.b, again.b, 32);
    assert_memory_not_equal(one.b, other.b, 32);
    secret.b[31] ^= 1;
    OK(ecdsa_derive(&secret, "one", &other, NULL));
    assert_memory_not_equal(one.b, other.b, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rfc6979), cmocka_unit_test(test_derive) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
