/* SPDX-License-Identifier: Apache-2.0 */
/* test_pkcs11_object.c - keys of single tenants on a real SoftHSM 2: made once, opened by nothing else, gone when destroyed; and
 * imports. */
#include "softhsm_test.h"

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

static void test_objects(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = hsm_open(&c);
    struct key_object a = { .label = "falaj-tkek-ae-dxb-1-01-data-v1" }, b = { .label = "falaj-tkek-ae-dxb-1-02-data-v1" },
        again = a;
    struct aad here = an_aad("here");
    struct blob_head head = a_head();
    struct key_blob blob;
    struct secret32 key = { { 1, 2, 3 } }, out;
    bool was_there = false;
    (void)state;
    OK(F.object_new(p, &a, NULL));
    OK(F.object_new(p, &b, NULL));
    OK(F.object_new(p, &again, NULL));
    assert_memory_equal(a.id, again.id, sizeof a.id);
    head.version = 1;
    OK(F.object_wrap(p, &a, head, &here, &key, &blob, NULL));
    OK(F.object_unwrap(p, &a, head, &here, &blob, &out, NULL));
    assert_memory_equal(key.b, out.b, 32);
    assert_int_equal(F.object_unwrap(p, &b, head, &here, &blob, &out, NULL), ERR_DAMAGED);
    head.version = 2;
    assert_int_equal(F.object_unwrap(p, &a, head, &here, &blob, &out, NULL), ERR_DAMAGED);
    head.version = 1;
    again.id[31] ^= 1;
    assert_int_equal(F.object_unwrap(p, &again, head, &here, &blob, &out, NULL), ERR_NOT_FOUND);
    OK(F.object_destroy(p, a.label, &was_there, NULL));
    assert_true(was_there);
    OK(F.object_destroy(p, a.label, &was_there, NULL));
    assert_false(was_there);
    assert_int_equal(F.object_unwrap(p, &a, head, &here, &blob, &out, NULL), ERR_NOT_FOUND);
    OK(F.object_new(p, &again, NULL));                          /* of the same name, yet another key */
    assert_int_equal(F.object_unwrap(p, &again, head, &here, &blob, &out, NULL), ERR_DAMAGED);
    F.close(p);
}

static void test_import(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = hsm_open(&c);
    uint8_t point[P256_POINT], ephemeral[P256_POINT], sealed[IMPORT_SEALED];
    struct aad aad;
    struct secret32 key = { { 1, 2, 3 } }, out;
    (void)state;
    OK(F.import_public(p, point, NULL));
    import_aad(ZONE, uuid_v7(1), &aad);
    for (int i = 0; i < 20; i++) {
        OK(import_seal(point, &aad, &key, ephemeral, sealed, NULL));
        OK(F.import_open(p, ephemeral, sealed, &aad, &out, NULL));
        assert_memory_equal(key.b, out.b, 32);
    }
    sealed[20] ^= 1;
    assert_int_equal(F.import_open(p, ephemeral, sealed, &aad, &out, NULL), ERR_DAMAGED);
    ephemeral[9] ^= 1;
    assert_int_equal(F.import_open(p, ephemeral, sealed, &aad, &out, NULL), ERR_INVALID);
    F.close(p);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    log_setup("test", LOG_ERROR, LOGFMT, STDERR_FILENO);
    hsm_setup(&hsm);
    hsm_token(&hsm, "main");
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_objects), cmocka_unit_test(test_import) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    hsm_teardown(&hsm);
    return rc;
}
