/* SPDX-License-Identifier: Apache-2.0 */
/* test_key_import.c - HKDF by RFC 5869 A.1 and A.3; a key sealed for a zone and tenant opens there and nowhere else. */
#include "crypto_test.h"
#include "core/crypto/key_import.h"

static void test_rfc5869(void **state)
{
    uint8_t ikm[22], salt[13], info[10], expect[32], out[32];
    (void)state;
    memset(ikm, 0x0b, sizeof ikm);
    for (uint8_t i = 0; i < sizeof salt; i++)
        salt[i] = i;
    for (uint8_t i = 0; i < sizeof info; i++)
        info[i] = (uint8_t)(0xf0 + i);
    assert_true(hex_decode(STR("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"), expect, 32));
    hkdf_sha256(str_n((const char *)salt, sizeof salt), ikm, sizeof ikm, info, sizeof info, out, 32);
    assert_memory_equal(out, expect, 32);
    assert_true(hex_decode(STR("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"), expect, 32));
    hkdf_sha256(STR_NULL, ikm, sizeof ikm, NULL, 0, out, 32);
    assert_memory_equal(out, expect, 32);
}

static void test_sealed_for_one_place(void **state)
{
    struct secret32 scalar, z, key = { { 1, 2, 3 } }, out;
    uint8_t point[P256_POINT], ephemeral[P256_POINT], sealed[IMPORT_SEALED], other[P256_POINT];
    struct aad here, tenant, zone;
    (void)state;
    OK(p256_keygen(&scalar, point, NULL));
    import_aad(STR("ae-dxb-1"), uuid_v7(1), &here);
    struct uuid someone = { { 5 } };
    import_aad(STR("ae-dxb-1"), someone, &tenant);
    import_aad(STR("ae-auh-1"), uuid_v7(1), &zone);
    OK(import_seal(point, &here, &key, ephemeral, sealed, NULL));
    OK(p256_ecdh(&scalar, ephemeral, &z, NULL));
    OK(import_open(&z, ephemeral, point, &here, sealed, &out, NULL));
    assert_memory_equal(out.b, key.b, 32);
    assert_int_equal(import_open(&z, ephemeral, point, &tenant, sealed, &out, NULL), ERR_DAMAGED);
    assert_int_equal(import_open(&z, ephemeral, point, &zone, sealed, &out, NULL), ERR_DAMAGED);
    memcpy(other, point, sizeof other);
    other[40] ^= 1;
    assert_int_equal(import_open(&z, ephemeral, other, &here, sealed, &out, NULL), ERR_DAMAGED);
    assert_int_equal(import_open(&z, other, point, &here, sealed, &out, NULL), ERR_DAMAGED);
    for (size_t i = 0; i < IMPORT_SEALED; i++) {
        sealed[i] ^= 0x40;
        assert_int_equal(import_open(&z, ephemeral, point, &here, sealed, &out, NULL), ERR_DAMAGED);
        sealed[i] ^= 0x40;
    }
    here.overflow = true;
    assert_int_equal(import_seal(point, &here, &key, ephemeral, sealed, NULL), ERR_INVALID);
    assert_int_equal(import_open(&z, ephemeral, point, &here, sealed, &out, NULL), ERR_DAMAGED);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rfc5869), cmocka_unit_test(test_sealed_for_one_place) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
