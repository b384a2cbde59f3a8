/* SPDX-License-Identifier: Apache-2.0 */
/* test_key_life.c - keys are rotated, moved, disabled, imported; what was stored stays readable. Their end: test_key_end.c. */
#include "tests/db/registry/vault/key_life_kit.h"
#include "tests/lib/wait.h"
#include "core/crypto/key_import.h"
#include "core/crypto/sign.h"

#include <pthread.h>
#include <stdatomic.h>

static void rotation_moves_every_data_key_and_can_stop_anywhere(void **state)
{
    (void)state;
    enum { N = REWRAP_BATCH + 60 };
    static struct uuid ids[N];
    char text[32];
    int64_t moved;
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof text, "content %d", i);
        ids[i] = put(0, text);
    }
    int64_t to = rotate(0);
    assert_true(batch(true, &moved));
    assert_int_equal(moved, REWRAP_BATCH);
    assert_true(batch(false, &moved));              /* dies here … */
    assert_true(moved > 0);
    rewrap_all();                                   /* … and another goes on */
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT count(*) AS n FROM dek d JOIN tenant t USING (tenant_id) WHERE t.name = 'aaa' AND key_version <> %ld", (long)to);
    assert_int_equal(number(sql), 0);
    assert_int_equal(number("SELECT count(*) AS n FROM key_rewrap WHERE state = 'DONE' AND done = total AND failed = 0"), 1);
    assert_int_equal(number("SELECT count(*) AS n FROM tenant_key k WHERE state = 'PRIMARY' AND wraps < (SELECT count(*) FROM dek d "
                            "WHERE d.tenant_id = k.tenant_id AND d.key_version = k.version)"), 0);
    for (int i = 0; i < N; i += 7) {
        snprintf(text, sizeof text, "content %d", i);
        OK(read_back(0, ids[i], text));
    }
    struct work w = begin(0);
    struct key_summary s;
    OK(key_min_version(&w, str_c(ZONE), to, &s, &e));
    end(&w);
    assert_int_equal(s.min_version, to);
    OK(read_back(0, ids[3], "content 3"));
}

static void a_key_made_late_under_the_old_version_is_found(void **state)
{
    (void)state;
    struct work late = begin(1), w;
    struct object o;
    int64_t started, moved;
    put(1, "first");
    OK(object_put(&late, &DATASET, STR("late"), &o, &e));   /* its data key is wrapped under the version that is about to retire */
    /* The rotation waits for the late writer's lock on the version, so it must run beside it. */
    OK(db_commit(late.tx, &e));
    db_rollback(late.tx);
    rotate(1);
    rewrap_all();
    pg_harness_exec(pg, DB, "UPDATE dek SET key_version = key_version WHERE false");
    assert_int_equal(number("SELECT count(*) AS n FROM dek d JOIN tenant_key k ON k.tenant_id = d.tenant_id AND k.zone = d.zone AND "
                            "k.version = d.key_version WHERE k.state <> 'PRIMARY'"), 0);
    OK(read_back(1, o.object_id, "late"));
    /* Below the minimum is refused while something hangs there; with nothing left there is nothing to start. */
    w = (struct work){ .app = &app, .arena = arena, .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(leader, SCOPE_SYSTEM, 0, arena, &w.tx, &e));
    OK(rewrap_find_left(&w, &started, &e));
    OK(db_commit(w.tx, &e));
    assert_int_equal(started, 0);
    struct uuid left = put(1, "left");
    rotate(1);
    pg_harness_exec(pg, DB, "UPDATE key_rewrap SET state = 'DONE', finished_at = now() WHERE state = 'RUNNING'");    /* as if it had ended too early */
    w = begin(1);
    struct key_summary s;
    assert_int_equal(key_min_version(&w, str_c(ZONE), 3, &s, &e), ERR_CONFLICT);
    db_rollback(w.tx);
    w = (struct work){ .app = &app, .arena = arena, .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(leader, SCOPE_SYSTEM, 0, arena, &w.tx, &e));
    OK(rewrap_find_left(&w, &started, &e));
    OK(db_commit(w.tx, &e));
    assert_int_equal(started, 1);
    assert_true(batch(true, &moved));
    assert_true(moved >= 3);
    OK(read_back(1, left, "left"));
}

static void a_damaged_key_is_counted_and_left(void **state)
{
    (void)state;
    put(1, "one");
    put(1, "two");
    rewrap_all();
    pg_harness_exec(pg, DB, "UPDATE dek SET wrapped = set_byte(wrapped, 60, get_byte(wrapped, 60) # 1) WHERE dek_id = "
                            "(SELECT dek_id FROM dek JOIN tenant USING (tenant_id) WHERE name = 'bbb' ORDER BY dek_id LIMIT 1)");
    rotate(1);
    rewrap_all();
    assert_int_equal(number("SELECT failed AS n FROM key_rewrap JOIN tenant USING (tenant_id) WHERE name = 'bbb' ORDER BY rewrap_id DESC LIMIT 1"), 1);
    pg_harness_exec(pg, DB, "UPDATE dek SET wrapped = set_byte(wrapped, 60, get_byte(wrapped, 60) # 1) WHERE dek_id = "
                            "(SELECT dek_id FROM dek JOIN tenant USING (tenant_id) WHERE name = 'bbb' ORDER BY dek_id LIMIT 1)");
    rotate(1);
    rewrap_all();
    assert_int_equal(number("SELECT failed AS n FROM key_rewrap JOIN tenant USING (tenant_id) WHERE name = 'bbb' ORDER BY rewrap_id DESC LIMIT 1"), 0);
}

static void a_disabled_version_opens_nothing_at_once(void **state)
{
    (void)state;
    struct uuid id = put(0, "secret");
    int64_t v = number("SELECT max(tenant_key.version) AS n FROM tenant_key JOIN tenant USING (tenant_id) WHERE name = 'aaa'");
    OK(read_back(0, id, "secret"));
    act(0, key_disable, v);
    assert_int_equal(read_back(0, id, "secret"), ERR_SEALED);
    struct work w = begin(0);
    struct key_version ret;
    assert_int_equal(key_disable(&w, str_c(ZONE), v, &ret, &e), ERR_CONFLICT);
    db_rollback(w.tx);
    act(0, key_enable, v);
    OK(read_back(0, id, "secret"));
    rotate(0);                                      /* a primary again */
    rewrap_all();
    OK(read_back(0, id, "secret"));
}

static void the_tenants_own_key_is_taken_only_as_it_was_sealed(void **state)
{
    (void)state;
    uint8_t point[P256_POINT], eph[P256_POINT], sealed[IMPORT_SEALED];
    struct aad aad;
    CLEANUP(secret32_freep) struct secret32 *own = secret32_new();
    struct key_version v;
    OK(keyd_import_public(app.keyd, str_c(ZONE), point, &e));
    memset(own->b, 0x5a, sizeof own->b);
    import_aad(str_c(ZONE), people[0]->tenant_id, &aad);
    OK(import_seal(point, &aad, own, eph, sealed, &e));
    struct work w = begin(1);                       /* another tenant sends it */
    assert_int_equal(key_import(&w, str_c(ZONE), str_n((char *)eph, sizeof eph), str_n((char *)sealed, sizeof sealed), &v, &e), ERR_UNPROCESSABLE);
    db_rollback(w.tx);
    sealed[20] ^= 1;
    w = begin(0);
    assert_int_equal(key_import(&w, str_c(ZONE), str_n((char *)eph, sizeof eph), str_n((char *)sealed, sizeof sealed), &v, &e), ERR_UNPROCESSABLE);
    assert_int_equal(key_import(&w, str_c(ZONE), str_n((char *)eph, 10), str_n((char *)sealed, sizeof sealed), &v, &e), ERR_INVALID);
    db_rollback(w.tx);
    sealed[20] ^= 1;
    w = begin(0);
    OK(key_import(&w, str_c(ZONE), str_n((char *)eph, sizeof eph), str_n((char *)sealed, sizeof sealed), &v, &e));
    end(&w);
    assert_true(str_eq_c(v.origin, "imported") && str_eq_c(v.state, "PRIMARY"));
    OK(read_back(0, put(0, "under my own key"), "under my own key"));
    rewrap_all();
}

static _Atomic int failures, turns;
static _Atomic bool is_over;

static void *traffic(void *arg)
{
    int tenant = (int)(intptr_t)arg;
    struct arena *a = arena_new(64 << 20);
    for (int i = 0; !is_over; i++) {
        struct err err = { 0 };
        char text[32];
        struct object o;
        arena_reset(a);
        snprintf(text, sizeof text, "load %d", i);
        struct work w = { .app = &app, .arena = a, .principal = people[tenant], .tenant_id = people[tenant]->tenant_id, .now_us = clock_wall_us(&clock_system) };
        enum errc rc = db_begin(app.pool, SCOPE_TENANT(w.tenant_id), 0, a, &w.tx, &err);
        if (rc == ERR_OK)
            rc = object_put(&w, &DATASET, str_c(text), &o, &err);
        if (rc == ERR_OK)
            rc = db_commit(w.tx, &err);
        db_rollback(w.tx);
        struct object_reader *r = NULL;
        struct buf b = BUF(1 << 20);
        if (rc == ERR_OK)
            rc = db_begin(app.pool, SCOPE_TENANT(w.tenant_id), TX_READ_ONLY, a, &w.tx, &err);
        if (rc == ERR_OK)
            rc = object_open(&w, o.object_id, "dataset", &r, &err);
        if (rc == ERR_OK)
            db_rollback(w.tx);
        if (rc == ERR_OK)
            rc = object_read_all(r, &b, &err);
        if (rc != ERR_OK || !str_eq_c(buf_str(&b), text)) {
            print_error("turn %d: %s\n", i, err.msg);
            failures++;
        }
        object_reader_free(r);
        buf_release(&b);
        turns++;
    }
    arena_free(a);
    return NULL;
}

static void nothing_fails_while_everything_rotates(void **state)
{
    (void)state;
    pthread_t threads[2];
    int64_t version;
    is_over = false;
    rotate(1);
    for (intptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, traffic, (void *)i), 0);
    for (int i = 0; i < 8; i++) {
        rotate(0);
        rotate(1);
        struct work w = platform();
        OK(root_key_rotate(&w, str_c(ZONE), &version, &e));
        end(&w);
        rewrap_all();
        usleep(100000);
    }
    WAIT_WHILE(turns <= 20);
    is_over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    print_message("%d reads and writes through 24 rotations, %d failed\n", turns, failures);
    assert_int_equal(failures, 0);
    assert_true(turns > 20);
}

/* A zone whose falaj-keyd does not answer, here one that none is configured for, keeps no other zone from its work. */
static void a_zone_that_does_not_answer_holds_up_no_other(void **state)
{
    (void)state;
    int64_t moved = 0, sum = 0;
    put(0, "under the old version");
    rewrap_all();
    pg_harness_exec(pg, DB, "INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, blob_sha, root_version, provider)\n"
                            "SELECT k.tenant_id, 'de-fra-1', 1, 'PRIMARY', k.wrapped, k.blob_sha, 1, k.provider FROM tenant_key k\n"
                            "  JOIN tenant USING (tenant_id) WHERE name = 'aaa' AND k.state = 'PRIMARY'");
    pg_harness_exec(pg, DB, "INSERT INTO key_rewrap (tenant_id, rewrap_id, zone, kind, to_version, updated_at) VALUES\n"
                            "('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'de-fra-1', 'root', 9, now() - interval '1 hour')");
    rotate(0);
    for (int i = 0; i < 4; i++, sum += moved)
        (void)batch(true, &moved);
    assert_true(sum > 0);
    assert_int_equal(number("SELECT count(*) AS n FROM wrapped_data_key d JOIN tenant USING (tenant_id) JOIN tenant_key k USING (tenant_id)\n"
                            " WHERE name = 'aaa' AND d.zone = 'ae-dxb-1' AND k.zone = d.zone AND k.state = 'PRIMARY' AND d.key_version < k.version"), 0);
    assert_int_equal(number("SELECT count(*) AS n FROM key_rewrap WHERE zone = 'de-fra-1' AND state = 'RUNNING' AND done = 0\n"
                            "   AND message = 'no key service is configured for zone de-fra-1'"), 1);
    pg_harness_exec(pg, DB, "UPDATE tenant_key SET state = 'DESTROY_SCHEDULED', disabled_at = now(), destroy_after = now() - interval '1 hour'\n"
                            " WHERE zone = 'de-fra-1'");
    pg_harness_exec(pg, DB, "UPDATE tenant_key k SET state = 'DESTROY_SCHEDULED', disabled_at = now(), destroy_after = now() - interval '1 s'\n"
                            "  FROM tenant t WHERE t.tenant_id = k.tenant_id AND name = 'aaa' AND zone = 'ae-dxb-1' AND k.version = 1");
    assert_int_equal(shred_due(), 1);
    assert_int_equal(shred_due(), 0);
    assert_int_equal(number("SELECT count(*) AS n FROM tenant_key WHERE zone = 'de-fra-1' AND state = 'DESTROY_SCHEDULED'"), 1);
    pg_harness_exec(pg, DB, "DELETE FROM key_rewrap WHERE zone = 'de-fra-1'; DELETE FROM tenant_key WHERE zone = 'de-fra-1'");
}

/* Under a new root each key is met once, also where a batch would end between two keys of a tenant. These do not open: they are
 * another version's, so each is counted as failed. */
static void a_batch_of_tenant_keys_ends_between_two_tenants(void **state)
{
    (void)state;
    enum { FIRST = REWRAP_BATCH - 20, SECOND = 60 };
    char sql[600];
    int64_t version;
    rewrap_all();
    int64_t good = number("SELECT count(*) AS n FROM tenant_key WHERE zone = 'ae-dxb-1' AND wrapped IS NOT NULL\n"
                          "   AND tier = 'wrapped'");
    snprintf(sql, sizeof sql,
             "INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, blob_sha, root_version, provider)\n"
             "SELECT k.tenant_id, k.zone, 10000 + v, 'DECRYPT_ONLY', k.wrapped, k.blob_sha, 1, k.provider\n"
             "  FROM (SELECT *, row_number() OVER (ORDER BY tenant_id) AS place FROM tenant_key\n"
             "         WHERE state = 'PRIMARY' AND zone = 'ae-dxb-1' AND tier = 'wrapped') k,\n"
             "       generate_series(1, CASE k.place WHEN 1 THEN %d WHEN 2 THEN %d ELSE 0 END) v", FIRST, SECOND);
    pg_harness_exec(pg, DB, sql);
    struct work w = platform();
    OK(root_key_rotate(&w, str_c(ZONE), &version, &e));
    end(&w);
    rewrap_all();
    assert_int_equal(number("SELECT failed AS n FROM key_rewrap WHERE kind = 'root' ORDER BY rewrap_id DESC LIMIT 1"),
                     FIRST + SECOND);
    snprintf(sql, sizeof sql, "SELECT count(*) AS n FROM tenant_key WHERE zone = 'ae-dxb-1' AND tier = 'wrapped'\n"
                              "   AND version <= 10000 AND root_version = %ld", (long)version);
    assert_int_equal(number(sql), good);
    pg_harness_exec(pg, DB, "DELETE FROM tenant_key WHERE version > 10000");
}

static void the_database_holds_the_edges(void **state)
{
    (void)state;
    pg_harness_exec(pg, DB, "DO $$ BEGIN UPDATE tenant_key SET state = 'PENDING' WHERE state = 'DECRYPT_ONLY'; RAISE EXCEPTION 'it was allowed'; "
                            "EXCEPTION WHEN check_violation THEN NULL; END $$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotation_moves_every_data_key_and_can_stop_anywhere),
        cmocka_unit_test(a_key_made_late_under_the_old_version_is_found),
        cmocka_unit_test(a_damaged_key_is_counted_and_left),
        cmocka_unit_test(a_disabled_version_opens_nothing_at_once),
        cmocka_unit_test(the_tenants_own_key_is_taken_only_as_it_was_sealed),
        cmocka_unit_test(a_zone_that_does_not_answer_holds_up_no_other),
        cmocka_unit_test(a_batch_of_tenant_keys_ends_between_two_tenants),
        cmocka_unit_test(the_database_holds_the_edges),
        cmocka_unit_test(nothing_fails_while_everything_rotates),
    };
    return cmocka_run_group_tests(tests, open_leader, close_leader);
}
