/* SPDX-License-Identifier: Apache-2.0 */
/* test_pkcs11.c - the key store "pkcs11" on a real SoftHSM 2: keys that never leave, both mechanisms, blobs that SoftHSM and the
 * soft store open for each other, root versions, many threads. About two seconds. */
#include "softhsm_test.h"
#include <pthread.h>
#include "core/crypto/ecdsa.h"
#include "core/crypto/kwp.h"

static struct hsm hsm;
#define F provider_pkcs11

static struct blob_head a_head(void)
{
    return (struct blob_head){ .zone = zone_tag(ZONE), .tenant = { { 1, 2, 3 } } };
}

static struct aad an_aad(const char *label)
{
    struct aad a;
    aad_init(&a, label);
    return a;
}

static void test_made_in_the_token(void **state)
{
    static struct attest a;
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = hsm_open(&c);
    uint8_t sig[64], pub[32], id[32], value[64];
    (void)state;
    OK(F.attest(p, &a, NULL));
    assert_false(a.is_sealed);
    assert_true(a.is_hardware && a.has_objects && a.has_signing_key && a.has_import_key);
    assert_int_equal(a.n_roots, 1);
    assert_string_equal(a.roots[0].label, "falaj-root-ae-dxb-1-v1");
    assert_true(a.roots[0].is_sensitive && a.roots[0].is_always_sensitive && !a.roots[0].is_extractable
                && a.roots[0].is_never_extractable && a.roots[0].is_local);
    assert_string_equal(a.mechanism, "aes-256-gcm");
    assert_string_equal(a.module, "libsofthsm2.so");
    assert_string_equal(a.token_label, "main");
    assert_string_equal(a.token_manufacturer, "SoftHSM project");
    OK(F.public_key(p, pub, NULL));
    OK(F.sign(p, "head", 4, sig, NULL));
    assert_true(ed25519_verify(pub, "head", 4, sig));
    OK(F.sign(p, "", 0, sig, NULL));
    assert_true(ed25519_verify(pub, "", 0, sig));
    uint8_t ca[65], digest[32] = { 9 };
    OK(F.ca_public(p, ca, NULL));
    OK(F.ca_sign(p, digest, sig, NULL));
    assert_true(ecdsa_verify(ca, digest, sig));
    ed25519_key_id(pub, id);
    assert_memory_equal(id, a.signing_key_id, 32);
    CK_SESSION_HANDLE s = hsm_session(&hsm, "main");            /* the root cannot be read, whoever asks */
    CK_ATTRIBUTE label = { CKA_LABEL, a.roots[0].label, strlen(a.roots[0].label) }, read = { CKA_VALUE, value, sizeof value };
    CK_OBJECT_HANDLE root = 0;
    CK_ULONG n = 0;
    assert_int_equal(hsm.f->C_FindObjectsInit(s, &label, 1), CKR_OK);
    assert_int_equal(hsm.f->C_FindObjects(s, &root, 1, &n), CKR_OK);
    assert_int_equal(hsm.f->C_FindObjectsFinal(s), CKR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(hsm.f->C_GetAttributeValue(s, root, &read, 1), CKR_ATTRIBUTE_SENSITIVE);
    F.close(p);
}

static void test_random(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = hsm_open(&c);
    uint8_t a[200] = { 0 }, b[200] = { 0 };
    (void)state;
    OK(F.random(p, a, sizeof a, NULL));
    OK(F.random(p, b, sizeof b, NULL));
    for (size_t i = 0; i < sizeof a; i += 8)
        assert_memory_not_equal(a + i, b + i, 8);
    F.close(p);
}

static void test_both_mechanisms(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main"), k = c;
    struct aad here = an_aad("here"), there = an_aad("there");
    struct key_blob a, b;
    struct secret32 key = { { 1, 2, 3 } }, out;
    struct blob_head seen;
    struct root_info info;
    (void)state;
    k.mechanism = WRAP_KWP;
    c.mechanism = WRAP_GCM;
    void *gcm = hsm_open(&c), *kwp = hsm_open(&k);              /* two stores on one token, in one process */
    OK(F.root_info(kwp, &info, NULL));
    assert_string_equal(info.mechanism, "kwp+hmac");
    assert_true(info.is_hardware && info.current_version == 1 && info.oldest_version == 1);
    OK(F.wrap(gcm, a_head(), &here, &key, &a, NULL));
    OK(F.wrap(kwp, a_head(), &here, &key, &b, NULL));
    OK(blob_parse(a.b, a.n, &seen, NULL));
    assert_true(seen.alg == BLOB_AES256_GCM && seen.version == 1 && a.n == 87);
    OK(blob_parse(b.b, b.n, &seen, NULL));
    assert_true(seen.alg == BLOB_AES256_KWP && seen.version == 1 && b.n == KWP_BLOB);
    OK(F.unwrap(kwp, a_head(), &here, &a, &out, NULL));
    assert_memory_equal(key.b, out.b, 32);
    memset(&out, 0, sizeof out);
    OK(F.unwrap(gcm, a_head(), &here, &b, &out, NULL));
    assert_memory_equal(key.b, out.b, 32);
    assert_int_equal(F.unwrap(gcm, a_head(), &there, &a, &out, NULL), ERR_DAMAGED);
    assert_int_equal(F.unwrap(gcm, a_head(), &there, &b, &out, NULL), ERR_DAMAGED);
    OK(F.health(gcm, NULL));                                    /* bad blobs do not seal a store */
    F.close(gcm);
    OK(F.unwrap(kwp, a_head(), &here, &b, &out, NULL));         /* its neighbour's end is not its own */
    F.close(kwp);
}

/* The file of a soft store whose only root is `root`. */
static void softfile_with_root(const char *path, const uint8_t root[32])
{
    uint8_t b[8 + 96 + 4 + 36 + 32] = "FLJROOT2";
    struct secret32 scalar;
    uint8_t point[P256_POINT];
    sha256("ae-dxb-1", 8, b + 8);
    memset(b + 40, 5, 32);
    OK(p256_keygen(&scalar, point, NULL));
    memcpy(b + 72, scalar.b, 32);
    b[107] = b[111] = 1;
    memcpy(b + 112, root, 32);
    sha256(b, sizeof b - 32, b + sizeof b - 32);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, b, sizeof b), sizeof b);
    close(fd);
}

/* The same root bytes in SoftHSM and in a file: either opens what the other wrapped, and RFC 5649 is what OpenSSL says it is. */
static void test_interoperable(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main"), soft = { .zone = ZONE };
    void *p = hsm_open(&c), *q = NULL;
    char path[128];
    uint8_t root[32], plain[32];
    size_t n = 0;
    struct aad here = an_aad("here");
    struct key_blob blob;
    struct secret32 key = { { 1, 2, 3 } }, out;
    struct blob_head head = a_head();
    (void)state;
    for (uint8_t i = 0; i < 32; i++)
        root[i] = (uint8_t)(i * 7);
    snprintf(path, sizeof path, "%s/soft", hsm.dir);
    softfile_with_root(path, root);
    soft.path = path;
    struct p11_session s = { .f = hsm.f, .h = hsm_session(&hsm, "main"), .slot = hsm_slot(&hsm, "main"), .has_gcm = true,
                             .kwp = CKM_AES_KEY_WRAP_PAD };
    CK_OBJECT_HANDLE same = hsm_import_aes(&hsm, s.h, root, NULL, NULL, 0);
    for (int kwp = 0; kwp < 2; kwp++) {
        soft.mechanism = kwp ? WRAP_KWP : WRAP_GCM;
        s.mech = kwp ? P11_KWP : P11_GCM;
        head.version = 1;
        OK(provider_softfile.open(&soft, &q, NULL));
        OK(provider_softfile.wrap(q, a_head(), &here, &key, &blob, NULL));
        OK(p11_unwrap(&s, same, &head, &here, &blob, &out, NULL));
        assert_memory_equal(key.b, out.b, 32);
        OK(p11_wrap(&s, same, &head, &here, &key, &blob, NULL));
        memset(&out, 0, sizeof out);
        OK(provider_softfile.unwrap(q, a_head(), &here, &blob, &out, NULL));
        assert_memory_equal(key.b, out.b, 32);
        provider_softfile.close(q);
    }
    OK(kwp_unwrap(root, 32, blob.b + BLOB_HEAD, KWP_KEY, plain, sizeof plain, &n, NULL));
    assert_true(n == 32 && memcmp(plain, key.b, 32) == 0);
    F.close(p);
}

static void test_roots(void **state)
{
    struct provider_config c;
    struct aad here = an_aad("here");
    struct key_blob blob[3];
    struct secret32 key = { { 1, 2, 3 } }, out;
    struct root_info info;
    static struct attest a;
    uint32_t version = 0;
    bool was_there = false;
    (void)state;
    hsm_token(&hsm, "roots");
    c = hsm_config(&hsm, "roots");
    void *p = hsm_open(&c);
    for (uint32_t i = 0; i < 3; i++) {
        OK(F.wrap(p, a_head(), &here, &key, &blob[i], NULL));
        OK(F.root_new(p, &version, NULL));
        assert_int_equal(version, i + 2);
    }
    assert_int_equal(F.root_destroy(p, 4, &was_there, NULL), ERR_CONFLICT);
    assert_int_equal(F.root_destroy(p, 5, &was_there, NULL), ERR_NOT_FOUND);
    OK(F.root_destroy(p, 2, &was_there, NULL));
    assert_true(was_there);
    OK(F.root_destroy(p, 2, &was_there, NULL));
    assert_false(was_there);
    for (int reopened = 0; reopened < 2; reopened++) {
        OK(F.unwrap(p, a_head(), &here, &blob[0], &out, NULL));
        assert_int_equal(F.unwrap(p, a_head(), &here, &blob[1], &out, NULL), ERR_DAMAGED);
        OK(F.unwrap(p, a_head(), &here, &blob[2], &out, NULL));
        OK(F.root_info(p, &info, NULL));
        assert_true(info.current_version == 4 && info.oldest_version == 1);
        F.close(p);
        p = hsm_open(&c);
    }
    OK(F.root_destroy(p, 1, &was_there, NULL));
    OK(F.attest(p, &a, NULL));
    assert_true(a.n_roots == 2 && a.roots[0].version == 4 && a.roots[1].version == 3 && a.oldest_root == 3);
    F.close(p);
    c.is_rotate = true;
    p = hsm_open(&c);
    OK(F.root_info(p, &info, NULL));
    assert_int_equal(info.current_version, 5);
    F.close(p);
}

struct load {
    void *p;
    int bad;
};

static void *wrap_and_unwrap(void *arg)
{
    struct load *l = arg;
    struct aad here = an_aad("here");
    struct key_blob blob;
    struct secret32 key = { { 1, 2, 3 } }, out;
    uint8_t sig[64];
    for (int i = 0; i < 60; i++)
        l->bad += F.wrap(l->p, a_head(), &here, &key, &blob, NULL) != ERR_OK
                  || F.unwrap(l->p, a_head(), &here, &blob, &out, NULL) != ERR_OK || memcmp(key.b, out.b, 32) != 0
                  || (i % 8 == 0 && F.sign(l->p, "x", 1, sig, NULL) != ERR_OK);
    return NULL;
}

/* More threads than sessions. */
static void test_many_threads(void **state)
{
    enum { THREADS = 24 };
    struct provider_config c = hsm_config(&hsm, "main");
    struct load l[THREADS] = { 0 };
    pthread_t t[THREADS];
    int bad = 0;
    void *p = hsm_open(&c);
    (void)state;
    int64_t start = now_ms();
    for (int i = 0; i < THREADS; i++) {
        l[i].p = p;
        assert_int_equal(pthread_create(&t[i], NULL, wrap_and_unwrap, &l[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        bad += l[i].bad;
    }
    assert_int_equal(bad, 0);
    print_message("%d wraps and unwraps by %d threads in %lld ms\n", THREADS * 60, THREADS, (long long)(now_ms() - start));
    F.close(p);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    log_setup("test", LOG_ERROR, LOGFMT, STDERR_FILENO);
    hsm_setup(&hsm);
    hsm_token(&hsm, "main");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_in_the_token), cmocka_unit_test(test_random),  cmocka_unit_test(test_both_mechanisms),
        cmocka_unit_test(test_interoperable),     cmocka_unit_test(test_roots),   cmocka_unit_test(test_many_threads),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    hsm_teardown(&hsm);
    return rc;
}
