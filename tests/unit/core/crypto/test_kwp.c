/* SPDX-License-Identifier: Apache-2.0 */
/* test_kwp.c - the vectors of RFC 5649 section 6, refusals, and the binding of the blob. */
#include "crypto_test.h"
#include "core/crypto/kwp.h"

static void vector(const char *kek, const char *plain, const char *wrapped)
{
    uint8_t k[32], p[64], w[80], out[80], back[64];
    size_t kn = strlen(kek) / 2, pn = strlen(plain) / 2, wn = strlen(wrapped) / 2, n = 0;
    assert_true(hex_decode(str_c(kek), k, kn) && hex_decode(str_c(plain), p, pn) && hex_decode(str_c(wrapped), w, wn));
    OK(kwp_wrap(k, kn, p, pn, out, sizeof out, &n, NULL));
    assert_int_equal(n, wn);
    assert_memory_equal(out, w, wn);
    OK(kwp_unwrap(k, kn, w, wn, back, sizeof back, &n, NULL));
    assert_int_equal(n, pn);
    assert_memory_equal(back, p, pn);
    for (size_t i = 0; i < wn * 8; i++) {
        w[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(kwp_unwrap(k, kn, w, wn, back, sizeof back, &n, NULL), ERR_DAMAGED);
        w[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t i = 0; i < wn; i++)
        assert_int_equal(kwp_unwrap(k, kn, w, i, back, sizeof back, &n, NULL), ERR_DAMAGED);
}

static void test_rfc5649(void **state)
{
    static const char *const kek = "5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8";
    (void)state;
    vector(kek, "c37b7e6492584340bed12207808941155068f738", "138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a");
    vector(kek, "466f7250617369", "afbeb0f07dfbf5419200f2ccb50bb24f");
}

static void test_refused(void **state)
{
    uint8_t kek[32] = { 1 }, in[KWP_PLAIN_MAX + 64] = { 0 }, out[KWP_PLAIN_MAX + 64];
    size_t n = 0;
    (void)state;
    assert_int_equal(kwp_wrap(kek, 32, in, 0, out, sizeof out, &n, NULL), ERR_LIMIT);
    assert_int_equal(kwp_wrap(kek, 32, in, KWP_PLAIN_MAX + 1, out, sizeof out, &n, NULL), ERR_LIMIT);
    assert_int_equal(kwp_wrap(kek, 32, in, 32, out, 39, &n, NULL), ERR_LIMIT);
    assert_int_equal(kwp_wrap(kek, 31, in, 32, out, sizeof out, &n, NULL), ERR_INTERNAL);
    OK(kwp_wrap(kek, 32, in, KWP_PLAIN_MAX, out, sizeof out, &n, NULL));
    assert_int_equal(n, KWP_PLAIN_MAX + 8);
    assert_int_equal(kwp_unwrap(kek, 32, out, n, in, KWP_PLAIN_MAX - 1, &n, NULL), ERR_DAMAGED);
}

static void test_blob(void **state)
{
    struct secret32 key = { { 7 } };
    struct blob_head head = { .zone = 3, .tenant = uuid_v7(1), .version = 2 }, seen;
    struct aad aad, other;
    struct key_blob blob;
    uint8_t wrapped[KWP_KEY] = { 9 };
    (void)state;
    aad_init(&aad, "here");
    aad_init(&other, "there");
    OK(kwp_blob_make(&head, &aad, &key, wrapped, &blob, NULL));
    assert_int_equal(blob.n, KWP_BLOB);
    OK(blob_parse(blob.b, blob.n, &seen, NULL));
    assert_int_equal(seen.alg, BLOB_AES256_KWP);
    OK(kwp_blob_parse(&head, &blob, NULL));
    OK(kwp_blob_check(&aad, &blob, &key, NULL));
    assert_int_equal(kwp_blob_check(&other, &blob, &key, NULL), ERR_DAMAGED);
    key.b[0] ^= 1;
    assert_int_equal(kwp_blob_check(&aad, &blob, &key, NULL), ERR_DAMAGED);
    key.b[0] ^= 1;
    for (size_t i = 0; i < BLOB_HEAD; i++) {
        blob.b[i] ^= 1;
        assert_int_equal(kwp_blob_check(&aad, &blob, &key, NULL), ERR_DAMAGED);
        assert_int_equal(kwp_blob_parse(&head, &blob, NULL), ERR_DAMAGED);
        blob.b[i] ^= 1;
    }
    blob.n--;
    assert_int_equal(kwp_blob_parse(&head, &blob, NULL), ERR_DAMAGED);
    assert_int_equal(kwp_blob_check(&aad, &blob, &key, NULL), ERR_DAMAGED);
    other.overflow = true;
    assert_int_equal(kwp_blob_make(&head, &other, &key, wrapped, &blob, NULL), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rfc5649), cmocka_unit_test(test_refused), cmocka_unit_test(test_blob) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
