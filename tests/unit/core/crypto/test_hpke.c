/* SPDX-License-Identifier: Apache-2.0 */
/* test_hpke.c - base mode of RFC 9180 against A.1.1 (AES-128-GCM) and the CFRG's vector for AES-256-GCM (test-vectors.json: mode 0,
 * kem 0x20, kdf 1, aead 2); then refusals. */
#include "crypto_test.h"
#include "core/crypto/hpke.h"
#include "core/crypto/rand.h"

#define INFO STR("Ode on a Grecian Urn")
#define AAD STR("Count-0")
#define PLAIN "Beauty is truth, truth beauty"

static void vector(enum hpke_aead aead, const char *ephemeral, const char *secret, const char *public_hex, const char *sealed)
{
    struct secret32 e, r;
    uint8_t pub[32], out[128], plain[64];
    size_t n = strlen(PLAIN), len;
    unhex(ephemeral, e.b);
    unhex(secret, r.b);
    OK(x25519_public(&r, pub, NULL));
    assert_hex(pub, 32, public_hex);
    OK(hpke_seal_at(aead, &e, pub, INFO, AAD, PLAIN, n, out, NULL));
    assert_hex(out, n + HPKE_OVERHEAD, sealed);
    OK(hpke_open(aead, &r, INFO, AAD, out, n + HPKE_OVERHEAD, plain, &len, NULL));
    assert_int_equal(len, n);
    assert_memory_equal(plain, PLAIN, n);
}

static void test_rfc9180(void **state)
{
    (void)state;
    vector(HPKE_AES128_GCM, "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736",
           "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
           "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
           "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
           "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a");
    vector(HPKE_AES256_GCM, "179d4b53b6365c45b600c4163b61d95cbc2f4d9e36f1695558dce265ab8bab11",
           "497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d",
           "430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c",
           "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256"
           "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a");
}

static void test_refusals(void **state)
{
    struct secret32 r, other;
    uint8_t pub[32], pub2[32], m[64], out[64];
    const uint8_t zero[32] = { 0 };
    size_t n = 5 + HPKE_OVERHEAD, len;
    (void)state;
    OK(x25519_keygen(&r, pub, NULL));
    OK(x25519_keygen(&other, pub2, NULL));
    OK(hpke_seal(HPKE_AES256_GCM, pub, INFO, AAD, "hello", 5, m, NULL));
    OK(hpke_open(HPKE_AES256_GCM, &r, INFO, AAD, m, n, out, &len, NULL));
    for (size_t i = 0; i < n; i++) {
        m[i] ^= 1;
        assert_int_equal(hpke_open(HPKE_AES256_GCM, &r, INFO, AAD, m, n, out, &len, NULL), ERR_DAMAGED);
        m[i] ^= 1;
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hpke_open(HPKE_AES256_GCM, &r, INFO, AAD, m, i, out, &len, NULL), ERR_DAMAGED);
    assert_int_equal(hpke_open(HPKE_AES256_GCM, &other, INFO, AAD, m, n, out, &len, NULL), ERR_DAMAGED);
    assert_int_equal(hpke_open(HPKE_AES256_GCM, &r, STR("x"), AAD, m, n, out, &len, NULL), ERR_DAMAGED);
    assert_int_equal(hpke_open(HPKE_AES256_GCM, &r, INFO, STR_NULL, m, n, out, &len, NULL), ERR_DAMAGED);
    assert_int_equal(hpke_open(HPKE_AES128_GCM, &r, INFO, AAD, m, n, out, &len, NULL), ERR_DAMAGED);
    assert_int_equal(hpke_seal(HPKE_AES256_GCM, zero, INFO, AAD, "hello", 5, m, NULL), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rfc9180), cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
