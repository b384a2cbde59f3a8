/* SPDX-License-Identifier: Apache-2.0 */
/* test_hash.c - known answers: FIPS 180-4, RFC 4231, the CRC-32 check value; and that the incremental form agrees. */
#include "crypto_test.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"

static void test_known_answers(void **state)
{
    uint8_t out[32];
    (void)state;
    sha256("", 0, out);
    assert_hex(out, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256("abc", 3, out);
    assert_hex(out, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, out);
    assert_hex(out, 32, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    hmac_sha256(NULL, 0, NULL, 0, out);
    assert_hex(out, 32, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
    uint8_t key[131], data[50];                         /* RFC 4231, cases 3 and 6: a key of less and of more than a block */
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    hmac_sha256(key, 20, data, sizeof data, out);
    assert_hex(out, 32, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    hmac_sha256(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54, out);
    assert_hex(out, 32, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    assert_int_equal(crc32_of("123456789", 9), 0xcbf43926u);
    assert_int_equal(crc32_of("", 0), 0);
}

static void test_incremental(void **state)
{
    uint8_t data[1000], whole[32], parts[32];
    struct sha256 h;
    (void)state;
    OK(rand_bytes(data, sizeof data, NULL));
    sha256(data, sizeof data, whole);
    for (size_t cut = 0; cut <= sizeof data; cut += 111) {
        sha256_init(&h);
        sha256_add(&h, data, cut);
        sha256_add(&h, data + cut, sizeof data - cut);
        sha256_final(&h, parts);
        assert_memory_equal(whole, parts, 32);
    }
    sha256_init(&h);
    sha256_release(&h);
    sha256_release(&h);
}

static void test_compare_and_random(void **state)
{
    uint8_t a[32], b[32];
    (void)state;
    OK(rand_key(a, sizeof a, NULL));
    memcpy(b, a, sizeof a);
    assert_true(mem_eq_ct(a, b, sizeof a));
    b[31] ^= 1;
    assert_false(mem_eq_ct(a, b, sizeof a));
    OK(rand_bytes(b, sizeof b, NULL));
    assert_false(mem_eq_ct(a, b, sizeof a));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_known_answers), cmocka_unit_test(test_incremental),
                                        cmocka_unit_test(test_compare_and_random) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
