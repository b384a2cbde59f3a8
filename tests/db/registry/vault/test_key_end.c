/* SPDX-License-Identifier: Apache-2.0 */
/* test_key_end.c - keys that are destroyed: what is under them stays closed, in a backup of yesterday too, and a certificate
 * tells it. */
#include "tests/db/registry/vault/key_life_kit.h"
#include "core/crypto/sign.h"

static struct uuid forgotten;          /* its key is destroyed by one test and restored from a backup by the next */

static void certificate_is_signed(int tenant, int64_t version)
{
    struct work w = begin(tenant);
    struct slice all;
    uint8_t public_key[ED25519_PUBLIC], id[KEY_ID_BYTES];
    OK(erasure_certificate_list(&w, UUID_NIL, 10, &all, &e));
    end(&w);
    assert_true(all.n >= 1);
    const struct erasure_certificate *c = all.items;
    assert_int_equal(c->key_version, version);
    assert_true(c->objects >= 1);
    assert_true(c->backups_until.us - c->destroyed_at.us == 35 * INT64_C(86400000000));
    OK(keyd_public_key(app.keyd, str_c(ZONE), public_key, id, &e));
    assert_true(ed25519_verify(public_key, c->body.ptr, c->body.len, (const uint8_t *)c->signature.data.ptr));
    w = begin(!tenant);
    assert_int_equal(erasure_certificate_get(&w, c->certificate_id, &(struct erasure_certificate){ 0 }, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
}

static void a_destroyed_key_leaves_a_certificate_and_nothing_else(void **state)
{
    (void)state;
    struct uuid id = forgotten = put(1, "to be forgotten");
    int64_t v = number("SELECT max(tenant_key.version) AS n FROM tenant_key JOIN tenant USING (tenant_id) WHERE name = 'bbb' AND tenant_key.state = 'PRIMARY'");
    struct work w = begin(1);
    assert_int_equal(key_destroy_check(&w, str_c(ZONE), v, &e), ERR_CONFLICT);      /* the primary one: rotate first */
    OK(key_destroy_check(&w, str_c(ZONE), 0, &e));
    OK(key_schedule_destroy(&w, str_c(ZONE), 0, 30, &e));
    end(&w);
    assert_int_equal(read_back(1, id, ""), ERR_SEALED);
    assert_int_equal(shred_due(), 0);
    act(1, key_cancel_destroy, v);
    act(1, key_enable, v);
    OK(read_back(1, id, "to be forgotten"));
    w = begin(1);
    OK(key_schedule_destroy(&w, str_c(ZONE), v, 30, &e));
    end(&w);
    /* Yesterday's backup of the key table. */
    pg_harness_exec(pg, DB, "CREATE TABLE backup_key AS SELECT k.* FROM tenant_key k JOIN tenant USING (tenant_id) WHERE name = 'bbb'");
    char sql[256];
    snprintf(sql, sizeof sql, "UPDATE tenant_key k SET destroy_after = now() - interval '1 s' FROM tenant t WHERE t.tenant_id = k.tenant_id AND t.name = 'bbb' "
             "AND k.version = %ld", (long)v);
    pg_harness_exec(pg, DB, sql);
    assert_int_equal(shred_due(), 1);
    assert_int_equal(shred_due(), 0);
    assert_int_equal(read_back(1, id, ""), ERR_KEY_DESTROYED);
    certificate_is_signed(1, v);
    assert_int_equal(number("SELECT count(*) AS n FROM tenant_key WHERE state = 'DESTROYED' AND wrapped IS NULL AND blob_sha IS NOT NULL"), 1);
}

/* Needs the test before: a shredded key and a backup that still has it. */
static void yesterdays_backup_dies_with_the_old_root(void **state)
{
    (void)state;
    struct uuid kept = put(0, "kept");
    int64_t version;
    struct work w = platform();
    OK(root_key_rotate(&w, str_c(ZONE), &version, &e));
    end(&w);
    w = platform();
    assert_int_equal(root_key_destroy_check(&w, str_c(ZONE), version - 1, &e), ERR_CONFLICT);    /* keys still hang on it */
    db_rollback(w.tx);
    rewrap_all();
    OK(read_back(0, kept, "kept"));
    w = platform();
    assert_int_equal(root_key_destroy_check(&w, str_c(ZONE), version, &e), ERR_CONFLICT);        /* the current one */
    assert_int_equal(root_key_destroy_check(&w, str_c(ZONE), version + 7, &e), ERR_NOT_FOUND);
    OK(root_key_destroy(&w, str_c(ZONE), version - 1, &e));
    end(&w);
    OK(read_back(0, kept, "kept"));
    /* The backup comes back: the row says PRIMARY again, the blob is there, and it opens nothing. */
    pg_harness_exec(pg, DB, "ALTER TABLE tenant_key DISABLE TRIGGER tenant_key_guard;"
                            "UPDATE tenant_key k SET state = 'DECRYPT_ONLY', wrapped = b.wrapped, root_version = b.root_version, destroyed_at = NULL "
                            "FROM backup_key b WHERE b.tenant_id = k.tenant_id AND b.zone = k.zone AND b.version = k.version AND k.state = 'DESTROYED';"
                            "ALTER TABLE tenant_key ENABLE TRIGGER tenant_key_guard");
    assert_int_equal(number("SELECT count(*) AS n FROM tenant_key k JOIN backup_key b USING (tenant_id, zone, version) WHERE k.wrapped = b.wrapped") > 0, 1);
    assert_int_equal(read_back(1, forgotten, ""), ERR_DAMAGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_destroyed_key_leaves_a_certificate_and_nothing_else),
        cmocka_unit_test(yesterdays_backup_dies_with_the_old_root),
    };
    return cmocka_run_group_tests(tests, open_leader, close_leader);
}
