/* SPDX-License-Identifier: Apache-2.0 */
/* test_seal.c - the GCM specification's vectors for AES-256, and that no changed or moved blob opens. */
#include "crypto_test.h"
#include "core/crypto/rand.h"
#include "core/crypto/seal.h"

static void vector(const char *key, const char *iv, const char *aad, const char *plain, const char *ct_tag)
{
    uint8_t k[32], n[12], a[64], p[128], c[160], out[160];
    size_t kl = unhex(key, k), al = unhex(aad, a), pl = unhex(plain, p);
    unhex(iv, n);
    assert_true(gcm_seal(k, kl, n, a, al, p, pl, c));
    assert_hex(c, pl + GCM_TAG, ct_tag);
    assert_true(gcm_open(k, kl, n, a, al, c, pl + GCM_TAG, out));
    assert_memory_equal(out, p, pl);
    c[pl] ^= 1;
    assert_false(gcm_open(k, kl, n, a, al, c, pl + GCM_TAG, out));
}

static void test_gcm_vectors(void **state)
{
    (void)state;
    const char *zero = "0000000000000000000000000000000000000000000000000000000000000000";
    vector(zero, "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b");
    vector(zero, "000000000000000000000000", "", "00000000000000000000000000000000",
           "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919");
    vector("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
           "feedfacedeadbeeffeedfacedeadbeefabaddad2",
           "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba63"
           "7b39",
           "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9"
           "f66276fc6ece0f4e1768cddf8853bb2d551b");
}

struct fixture {
    struct secret32 key;
    struct blob_head head;
    struct aad aad;
    uint8_t blob[BLOB_OVERHEAD + 32], plain[32];
    size_t n;
};

static void make(struct fixture *f)
{
    OK(rand_key(f->key.b, 32, NULL));
    OK(rand_bytes(f->plain, 32, NULL));
    f->head = (struct blob_head){ .zone = zone_tag(STR("ae-dxb-1")), .tenant = uuid_v7(1), .version = 7 };
    aad_init(&f->aad, "falaj-test-v1");
    aad_str(&f->aad, STR("ae-dxb-1"));
    aad_u32(&f->aad, 9);
    OK(blob_seal(&f->key, &f->head, &f->aad, f->plain, 32, f->blob, sizeof f->blob, &f->n, NULL));
}

static enum errc open_it(const struct fixture *f, const struct blob_head *head, const struct aad *aad, const uint8_t *blob, size_t n)
{
    uint8_t out[64];
    size_t len;
    enum errc rc = blob_open(&f->key, head, aad, blob, n, out, sizeof out, &len, NULL);
    if (rc == ERR_OK) {
        assert_int_equal(len, 32);
        assert_memory_equal(out, f->plain, 32);
    }
    return rc;
}

static void test_layout(void **state)
{
    struct fixture f;
    struct blob_head head;
    (void)state;
    make(&f);
    assert_int_equal(f.n, 27 + 12 + 32 + 16);
    assert_memory_equal(f.blob, "FLJ1\x01", 5);
    assert_memory_equal(f.blob + 7, f.head.tenant.b, 16);
    assert_hex(f.blob + 23, 4, "00000007");
    OK(blob_parse(f.blob, f.n, &head, NULL));
    assert_int_equal(head.zone, f.head.zone);
    OK(open_it(&f, &f.head, &f.aad, f.blob, f.n));
}

static void test_ten_thousand_changes(void **state)
{
    struct fixture f;
    uint8_t bad[sizeof f.blob], r[4];
    (void)state;
    make(&f);
    for (int i = 0; i < 10000; i++) {
        memcpy(bad, f.blob, f.n);
        OK(rand_bytes(r, sizeof r, NULL));
        size_t at = (size_t)i < f.n ? (size_t)i : (size_t)(r[0] << 8 | r[1]) % f.n, to = r[2] % f.n;
        if (i % 2 == 0 || bad[at] == bad[to]) {
            bad[at] ^= (uint8_t)(r[3] | 1);
        } else {                                        /* two bytes change places */
            uint8_t t = bad[at];
            bad[at] = bad[to];
            bad[to] = t;
        }
        assert_int_equal(open_it(&f, &f.head, &f.aad, bad, f.n), ERR_DAMAGED);
    }
    for (size_t n = 0; n < f.n; n++)
        assert_int_equal(open_it(&f, &f.head, &f.aad, f.blob, n), ERR_DAMAGED);
}

/* The header says the other place too: only the tag can refuse. */
static void test_moves(void **state)
{
    struct fixture f;
    struct blob_head head;
    struct aad aad;
    uint8_t forged[sizeof f.blob];
    (void)state;
    make(&f);
    head = f.head;
    head.tenant = uuid_v7(2);
    assert_int_equal(open_it(&f, &head, &f.aad, f.blob, f.n), ERR_DAMAGED);
    memcpy(forged, f.blob, f.n);
    memcpy(forged + 7, head.tenant.b, 16);
    assert_int_equal(open_it(&f, &head, &f.aad, forged, f.n), ERR_DAMAGED);
    aad_init(&aad, "falaj-test-v1");
    aad_str(&aad, STR("ae-dxb-2"));
    aad_u32(&aad, 9);
    assert_int_equal(open_it(&f, &f.head, &aad, f.blob, f.n), ERR_DAMAGED);
    f.key.b[0] ^= 1;
    assert_int_equal(open_it(&f, &f.head, &f.aad, f.blob, f.n), ERR_DAMAGED);
}

/* "ab" + "c" is not "a" + "bc", and too much is refused instead of cut. */
static void test_aad_fields(void **state)
{
    struct aad a, b;
    char big[AAD_MAX] = { 0 };
    struct fixture f;
    size_t n;
    (void)state;
    aad_init(&a, "x");
    aad_str(&a, STR("ab"));
    aad_str(&a, STR("c"));
    aad_init(&b, "x");
    aad_str(&b, STR("a"));
    aad_str(&b, STR("bc"));
    assert_true(a.n == b.n && memcmp(a.b, b.b, a.n) != 0);
    make(&f);
    aad_bytes(&a, big, sizeof big);
    assert_true(a.overflow);
    assert_int_equal(blob_seal(&f.key, &f.head, &a, "x", 1, f.blob, sizeof f.blob, &n, NULL), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_gcm_vectors), cmocka_unit_test(test_layout),
                                        cmocka_unit_test(test_ten_thousand_changes), cmocka_unit_test(test_moves),
                                        cmocka_unit_test(test_aad_fields) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
