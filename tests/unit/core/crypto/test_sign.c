/* SPDX-License-Identifier: Apache-2.0 */
/* test_sign.c - the vectors of RFC 8032 7.1, changed messages and keys, PEM there and back. */
#include "crypto_test.h"
#include "core/crypto/sign.h"

static void vector(const char *seed_hex, const char *public_hex, const char *message_hex, const char *sig_hex)
{
    struct secret32 seed;
    uint8_t pub[32], m[16], sig[64];
    size_t n = unhex(message_hex, m);
    unhex(seed_hex, seed.b);
    OK(ed25519_public(&seed, pub, NULL));
    assert_hex(pub, 32, public_hex);
    OK(ed25519_sign(&seed, m, n, sig, NULL));
    assert_hex(sig, 64, sig_hex);
    assert_true(ed25519_verify(pub, m, n, sig));
}

static void test_rfc8032(void **state)
{
    (void)state;
    vector("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
           "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
           "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655"
           "141438e7a100b");
    vector("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
           "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
           "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00"
           "d291612bb0c00");
    vector("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
           "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
           "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc02"
           "7beceea1ec40a");
}

static void test_refusals_and_pem(void **state)
{
    struct secret32 seed;
    uint8_t pub[32], again[32], other[32], sig[64];
    struct buf pem = BUF(4096);
    (void)state;
    OK(ed25519_keygen(&seed, pub, NULL));
    OK(ed25519_sign(&seed, "head", 4, sig, NULL));
    assert_true(ed25519_verify(pub, "head", 4, sig));
    assert_false(ed25519_verify(pub, "heaD", 4, sig));
    for (int i = 0; i < 64; i++) {
        sig[i] ^= 4;
        assert_false(ed25519_verify(pub, "head", 4, sig));
        sig[i] ^= 4;
    }
    OK(ed25519_keygen(&seed, other, NULL));
    assert_false(ed25519_verify(other, "head", 4, sig));
    OK(ed25519_public_pem(pub, &pem, NULL));
    assert_true(str_starts(buf_str(&pem), "-----BEGIN PUBLIC KEY-----"));
    OK(ed25519_public_of_pem(buf_str(&pem), again, NULL));
    assert_memory_equal(pub, again, 32);
    assert_int_equal(ed25519_public_of_pem(STR("nonsense"), again, NULL), ERR_INVALID);
    buf_release(&pem);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rfc8032), cmocka_unit_test(test_refusals_and_pem) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
