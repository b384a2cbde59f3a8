/* SPDX-License-Identifier: Apache-2.0 */
/* test_sequencer_heads.c - heads are signed once per growth, chained to the head before, and entered into the log of the zone. */
#include "tests/db/audit/fixture.h"

static void fill(void)
{
    append_committed(tenant_a, 32);
    append_committed(tenant_b, 20);
    assert_int_equal(tick(1000), 52);
}

static void heads_are_signed_once_per_growth(void **state)
{
    (void)state;
    fill();
    assert_int_equal(sign_heads(), 2);
    assert_int_equal(sign_heads(), 0);
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_head h;
    struct str body;
    uint8_t sig[AUDIT_SIG];
    OK(audit_newest_head(&u->w, tenant_a, &h, &body, sig, &e));
    assert_int_equal(h.size, 32);
    assert_true(ed25519_verify(key->pub, body.ptr, body.len, sig));
    unit_commit(u);
}

static void the_zone_log_holds_every_head(void **state)
{
    (void)state;
    struct uuid zone_log;
    struct audit_head h, first;
    struct str body, first_body;
    uint8_t sig[AUDIT_SIG];
    memset(zone_log.b, 0xff, sizeof zone_log.b);
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(audit_newest_head(&u->w, zone_log, &first, &first_body, sig, &e));
    assert_true(first.is_zone && first.size == 2 && ed25519_verify(key->pub, first_body.ptr, first_body.len, sig));
    struct merkle_hash prev;
    sha256(first_body.ptr, first_body.len, prev.b);
    unit_commit(u);
    append_committed(tenant_b, 1);
    assert_int_equal(tick(10), 1);
    assert_int_equal(sign_heads(), 1);
    u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(audit_newest_head(&u->w, zone_log, &h, &body, sig, &e));
    assert_true(h.size == 3 && merkle_eq(&h.prev, &prev));
    unit_commit(u);
}

static enum errc refuse(void *ctx, struct str zone, const void *p, size_t n, uint8_t sig[AUDIT_SIG], char key_id[AUDIT_KEY_ID],
                        struct err *err)
{
    (void)ctx, (void)zone, (void)n, (void)sig;
    memcpy(key_id, "k", 2);
    return p ? FAIL(err, SEALED, "the zone's keys are sealed") : ERR_OK;
}

static void a_signer_that_fails_leaves_no_head(void **state)
{
    (void)state;
    size_t n = 0;
    struct sequencer *broken = sequencer_new(STR("ae-dxb-1"), refuse, NULL);
    append_committed(tenant_a, 1);
    assert_int_equal(tick(10), 1);
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    assert_int_equal(sequencer_sign_heads(&u->w, broken, 10, &n, &e), ERR_SEALED);
    db_rollback(u->w.tx);
    unit_close(u);
    assert_int_equal(sign_heads(), 1);
    sequencer_free(broken);
}

/* What is stored of the log's tree no longer fits its size: neither a number is given nor a head signed upon it. */
static void a_damaged_state_is_not_built_upon(void **state)
{
    (void)state;
    static const char *const logs[] = { "tenant_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'",
                                        "tenant_id <> 'ffffffff-ffff-ffff-ffff-ffffffffffff'" };
    append_committed(tenant_a, 1);
    assert_int_equal(tick(10), 1);
    append_committed(tenant_a, 1);
    for (size_t i = 0; i < 2; i++) {
        char sql[200];
        size_t n = 0;
        snprintf(sql, sizeof sql, "UPDATE audit_log_state SET frontier = frontier || '\\x00' WHERE %s", logs[i]);
        pg_harness_exec(pg, DB, sql);
        struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
        assert_int_equal(i ? sequencer_tick(&u->w, sequencer, 10, &n, &e) : sequencer_sign_heads(&u->w, sequencer, 10, &n, &e),
                         ERR_INTERNAL);
        assert_non_null(strstr(e.msg, "does not fit its size"));
        db_rollback(u->w.tx);
        unit_close(u);
        snprintf(sql, sizeof sql, "UPDATE audit_log_state SET frontier = substr(frontier, 1, length(frontier) - 1) WHERE %s",
                 logs[i]);
        pg_harness_exec(pg, DB, sql);
    }
    assert_int_equal(tick(10), 1);
    assert_int_equal(sign_heads(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(heads_are_signed_once_per_growth),
        cmocka_unit_test(the_zone_log_holds_every_head),
        cmocka_unit_test(a_signer_that_fails_leaves_no_head), cmocka_unit_test(a_damaged_state_is_not_built_upon) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
