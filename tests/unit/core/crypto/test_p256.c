/* SPDX-License-Identifier: Apache-2.0 */
/* test_p256.c - RFC 5903 section 8.1 (the two key pairs and their shared secret), points that must be refused, fresh pairs. */
#include "crypto_test.h"
#include "core/crypto/p256.h"

static void bytes(const char *hex, void *out, size_t n)
{
    assert_true(hex_decode(str_c(hex), out, n));
}

static void test_rfc5903(void **state)
{
    struct secret32 i, r, x, expect;
    uint8_t gi[P256_POINT], gr[P256_POINT], made[P256_POINT];
    (void)state;
    bytes("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433", i.b, 32);
    bytes("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53", r.b, 32);
    bytes("04dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c37725811805271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3",
          gi, sizeof gi);
    bytes("04d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf6356fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab",
          gr, sizeof gr);
    bytes("d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de", expect.b, 32);
    OK(p256_public(&i, made, NULL));
    assert_memory_equal(made, gi, sizeof gi);
    OK(p256_public(&r, made, NULL));
    assert_memory_equal(made, gr, sizeof gr);
    OK(p256_ecdh(&i, gr, &x, NULL));
    assert_memory_equal(x.b, expect.b, 32);
    OK(p256_ecdh(&r, gi, &x, NULL));
    assert_memory_equal(x.b, expect.b, 32);
    OK(p256_check(gi, NULL));
    for (size_t n = 0; n < P256_POINT; n++) {           /* off the curve, or not a point at all */
        gi[n] ^= 1;
        assert_int_equal(p256_check(gi, NULL), ERR_INVALID);
        assert_int_equal(p256_ecdh(&r, gi, &x, NULL), ERR_INVALID);
        gi[n] ^= 1;
    }
}

static void test_refused_scalars(void **state)
{
    struct secret32 s = { { 0 } };
    uint8_t point[P256_POINT] = { 0 };
    (void)state;
    assert_int_equal(p256_public(&s, point, NULL), ERR_INVALID);
    bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", s.b, 32);     /* the order of the group */
    assert_int_equal(p256_public(&s, point, NULL), ERR_INVALID);
    s.b[31]--;
    OK(p256_public(&s, point, NULL));
    memset(point, 0, sizeof point);
    assert_int_equal(p256_check(point, NULL), ERR_INVALID);
}

static void test_fresh_pairs(void **state)
{
    struct secret32 a, b, x, y;
    uint8_t ga[P256_POINT], gb[P256_POINT];
    (void)state;
    for (int i = 0; i < 20; i++) {
        OK(p256_keygen(&a, ga, NULL));
        OK(p256_keygen(&b, gb, NULL));
        OK(p256_ecdh(&a, gb, &x, NULL));
        OK(p256_ecdh(&b, ga, &y, NULL));
        assert_memory_equal(x.b, y.b, 32);
        assert_memory_not_equal(ga, gb, sizeof ga);
    }
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rfc5903), cmocka_unit_test(test_refused_scalars),
                                        cmocka_unit_test(test_fresh_pairs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
