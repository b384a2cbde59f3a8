/* SPDX-License-Identifier: Apache-2.0 */
/* test_hierarchy.c - a wrapped data key opens at its own place only, and bad references are named. */
#include "keys_test.h"
#include "core/crypto/rand.h"

static struct secret32 tkek, dek;

static void test_moves(void **state)
{
    struct uuid tenant = uuid_v7(1);
    struct tkek_ref t = a_tkek(tenant, 1), t2 = t;
    struct dek_ref d = a_dek(tenant), moved[5];
    struct key_blob blob;
    struct secret32 out;
    (void)state;
    OK(dek_wrap(&tkek, &t, &d, &dek, &blob, NULL));
    OK(dek_unwrap(&tkek, &t, &d, &blob, &out, NULL));
    assert_memory_equal(out.b, dek.b, 32);
    for (int i = 0; i < 5; i++)
        moved[i] = d;
    moved[0].object_kind = STR("model");
    moved[1].object_id = uuid_v7(9);
    moved[2].object_version = 2;
    moved[3].dek_id = uuid_v7(9);
    for (int i = 0; i < 4; i++)
        assert_int_equal(dek_unwrap(&tkek, &t, &moved[i], &blob, &out, NULL), ERR_DAMAGED);
    t2.version = 2;                                             /* the header names another version */
    assert_int_equal(dek_unwrap(&tkek, &t2, &d, &blob, &out, NULL), ERR_DAMAGED);
    moved[4].tenant = uuid_v7(9);                               /* another tenant: refused, and also when both move */
    assert_int_equal(dek_unwrap(&tkek, &t, &moved[4], &blob, &out, NULL), ERR_INVALID);
    t2 = t;
    t2.tenant = moved[4].tenant;
    assert_int_equal(dek_unwrap(&tkek, &t2, &moved[4], &blob, &out, NULL), ERR_DAMAGED);
    t2 = t;
    moved[4] = d;
    t2.zone = moved[4].zone = STR("ae-auh-1");
    assert_int_equal(dek_unwrap(&tkek, &t2, &moved[4], &blob, &out, NULL), ERR_DAMAGED);
}

static void test_ten_thousand_changes(void **state)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct dek_ref d = a_dek(t.tenant);
    struct key_blob blob, bad;
    struct secret32 out;
    uint8_t r[2];
    (void)state;
    OK(dek_wrap(&tkek, &t, &d, &dek, &blob, NULL));
    for (int i = 0; i < 10000; i++) {
        OK(rand_bytes(r, sizeof r, NULL));
        bad = blob;
        bad.b[i < blob.n ? i : r[0] % blob.n] ^= (uint8_t)(r[1] | 1);
        assert_int_equal(dek_unwrap(&tkek, &t, &d, &bad, &out, NULL), ERR_DAMAGED);
    }
}

static void test_references(void **state)
{
    struct tkek_ref t = a_tkek(UUID_NIL, 1);
    struct dek_ref d = a_dek(UUID_NIL);
    struct err e;
    (void)state;
    OK(tkek_ref_check(&t, NULL));                               /* the platform's own tenant is nil */
    OK(dek_ref_check(&d, NULL));
    t.version = 0;
    assert_int_equal(tkek_ref_check(&t, &e), ERR_INVALID);
    assert_string_equal(e.field, "/version");
    t.purpose = STR("Data");
    assert_int_equal(tkek_ref_check(&t, &e), ERR_INVALID);
    assert_string_equal(e.field, "/purpose");
    d.dek_id = UUID_NIL;
    assert_int_equal(dek_ref_check(&d, &e), ERR_INVALID);
    assert_string_equal(e.field, "/dek_id");
    d.zone = STR("a/b");
    assert_int_equal(dek_ref_check(&d, &e), ERR_INVALID);
    assert_string_equal(e.field, "/zone");
}

int main(void)
{
    OK(rand_key(tkek.b, 32, NULL));
    OK(rand_key(dek.b, 32, NULL));
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_moves), cmocka_unit_test(test_ten_thousand_changes),
                                        cmocka_unit_test(test_references) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
