/* SPDX-License-Identifier: Apache-2.0 */
/* test_shred_again.c - keys of whole zones that were ordered destroyed do not come back with an older dump: real dumps in real
 * clusters, a journal that stays where it was, and what is under them read and not read. */
#include "tests/db/registry/fixture.h"
#include "audit/erasure_journal.h"

static const struct object_new DATASET = { .kind = "dataset", .data_class = { "internal", 8 } };
static char journal_dir[96];

/* Versions of a tenant's keys in these states. */
static int64_t keys_in(int tenant, const char *states)
{
    char t[UUID_TEXT];
    uuid_text(people[tenant]->tenant_id, t);
    return number(arena_printf(arena, "SELECT count(*) FROM tenant_key WHERE tenant_id = '%s' AND state IN (%s)", t, states));
}

static int64_t told(void)
{
    return number("SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%\"scheduled_again\"%'");
}

static struct uuid put(int tenant, const char *text)
{
    struct work w = begin(tenant);
    struct object o;
    OK(object_put(&w, &DATASET, str_c(text), &o, &e));
    end(&w);
    return o.object_id;
}

static enum errc open_object(int tenant, struct uuid id)
{
    struct work w = begin(tenant);
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    enum errc rc = object_open(&w, id, "dataset", &r, &e);
    db_rollback(w.tx);
    return rc;
}

static int64_t rotate(int tenant)
{
    struct work w = begin(tenant);
    struct key_version v;
    OK(key_rotate(&w, str_c(ZONE), false, &v, &e));
    end(&w);
    return v.key_version;
}

/* Keys of an hour ago, and an order of two minutes ago. */
static void age_keys(int tenant)
{
    char t[UUID_TEXT];
    uuid_text(people[tenant]->tenant_id, t);
    pg_harness_exec(pg, DB, arena_printf(arena, "UPDATE tenant_key SET created_at = created_at - interval '1 hour' "
                                         "WHERE tenant_id = '%s'", t));
}

static void shred(int tenant, bool commits)
{
    age_keys(tenant);
    struct work w = begin(tenant);
    w.arena = arena_new(1 << 20);
    w.now_us -= 120 * INT64_C(1000000);
    OK(key_schedule_destroy(&w, str_c(ZONE), 0, 30, &e));
    if (commits)
        OK(db_commit(w.tx, &e));
    db_rollback(w.tx);
    arena_free(w.arena);
}

static void cancel(int tenant, int64_t version)
{
    struct work w = begin(tenant);
    struct key_version v;
    OK(key_cancel_destroy(&w, str_c(ZONE), version, &v, &e));
    OK(key_enable(&w, str_c(ZONE), version, &v, &e));
    end(&w);
}

static struct erasure_look look(void)
{
    struct erasure_look l;
    OK(erasure_keeper_look(&app, &l, &e));
    return l;
}

static size_t journaled(void)
{
    struct erasure_orders o;
    OK(erasure_journal_read(journal_dir, arena, &o, &e));
    assert_int_equal(o.faults, 0);
    return o.nshreds;
}

/* Which has what this one had when it was made. */
static void go_to(struct pg_harness *to)
{
    static const struct stmt *const *const lists[] = { residency_stmts, registry_stmts, quota_stmts, audit_event_stmts,
        key_life_stmts, key_rewrap_stmts, key_shred_stmts, shred_again_stmts, erasure_keeper_stmts, NULL };
    pg_harness_go_to(&pg, to, DB, &app.pool, &app.node_pool, lists);
}

static void an_order_that_was_not_committed_is_void(void **state)
{
    (void)state;
    struct uuid id = put(0, "stays");
    shred(0, false);
    assert_int_equal(journaled(), 0);
    struct erasure_look l = look();
    assert_true(l.again == 0 && l.adopted == 0 && l.held == 0);
    OK(open_object(0, id));
}

static void what_was_called_off_is_not_repeated(void **state)
{
    (void)state;
    struct uuid id = put(0, "kept after all");
    int64_t version = rotate(0);
    shred(0, true);
    assert_int_equal(journaled(), 1);
    assert_int_equal(open_object(0, id), ERR_SEALED);
    cancel(0, version);
    assert_int_equal(journaled(), 0);
    cancel(0, version - 1);
    assert_int_equal(look().again, 0);
    OK(open_object(0, id));
}

/* Calling off a version that is newer than the order says nothing of the order. */
static void a_version_made_since_is_another_key(void **state)
{
    (void)state;
    struct uuid old = put(1, "old");
    shred(1, true);
    int64_t fresh = rotate(1), newer = rotate(1);
    struct uuid id = put(1, "new");
    struct erasure_look l = look();
    assert_true(l.again == 0 && l.held == 0 && l.adopted == 0);
    OK(open_object(1, id));
    assert_int_equal(open_object(1, old), ERR_SEALED);
    struct work w = begin(1);
    OK(key_schedule_destroy(&w, str_c(ZONE), fresh, 30, &e));
    end(&w);
    cancel(1, fresh);
    assert_int_equal(journaled(), 1);
    assert_true(newer > fresh);
}

static void a_restored_backup_has_no_key_back(void **state)
{
    (void)state;
    rotate(0);                                          /* what was called off opens, and no longer seals */
    struct uuid dead = put(0, "to be gone");
    age_keys(0);
    struct pg_harness *to = pg_harness_new_cluster();
    pg_harness_restore(pg, to, DB);
    int64_t last = rotate(0);                           /* after the backup: the order has a number more than the backup */
    shred(0, true);
    assert_int_equal(open_object(0, dead), ERR_SEALED);
    go_to(to);
    OK(open_object(0, dead));                           /* the older dump has the key, and the root opens it */
    char t[UUID_TEXT];
    uuid_text(people[0]->tenant_id, t);
    pg_harness_exec(pg, DB, arena_printf(arena, "INSERT INTO audit_hold (tenant_id, hold_id, subject_id, reason, placed_by)"
                                         " VALUES ('%s', gen_random_uuid(), NULL, 'case 9', '%s')", t, t));
    struct erasure_look l = look();
    assert_true(l.held == 1 && l.again == 0);
    OK(open_object(0, dead));
    pg_harness_exec(pg, DB, "UPDATE audit_hold SET state = 'LIFTED', lifted_at = now()");
    l = look();
    assert_true(l.held == 0 && l.again == 1);
    assert_int_equal(open_object(0, dead), ERR_SEALED);
    assert_int_equal(keys_in(0, "'PRIMARY', 'DECRYPT_ONLY', 'DISABLED'"), 0);
    assert_true(number("SELECT count(*) FROM tenant_key WHERE destroy_after > now() + interval '29 days'") > 0);
    assert_int_equal(told(), 1);
    assert_int_equal(look().again, 0);
    assert_int_equal(rotate(0), last);                  /* a number that the order has, and another key */
    struct uuid id = put(0, "a new beginning");
    assert_int_equal(look().again, 0);
    OK(open_object(0, id));
    OK(open_object(1, put(1, "another tenant's")));
    assert_int_equal(told(), 1);
}

/* As after a tenant's deletion, or when another machine's falaj-api was told. */
static void what_the_journal_does_not_know_comes_into_it(void **state)
{
    (void)state;
    struct erasure_keeper *own = app.erasures;
    app.erasures = NULL;
    shred(1, true);
    app.erasures = own;
    size_t before = journaled();
    struct erasure_look l = look();
    assert_true(l.adopted == 1 && l.again == 0);
    assert_int_equal(journaled(), before);              /* the zone had an older order; now the newer one counts */
    assert_int_equal(look().adopted, 0);
}

static int setup_keeper(void **state)
{
    int rc = setup(state);
    snprintf(journal_dir, sizeof journal_dir, "%s", dir);
    app.erasures = erasure_keeper_new(journal_dir);
    erasure_keeper_set_keys(app.erasures, shred_again);
    return rc;
}

static int teardown_keeper(void **state)
{
    erasure_keeper_free(app.erasures);
    return teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_order_that_was_not_committed_is_void),
        cmocka_unit_test(what_was_called_off_is_not_repeated), cmocka_unit_test(a_version_made_since_is_another_key),
        cmocka_unit_test(a_restored_backup_has_no_key_back), cmocka_unit_test(what_the_journal_does_not_know_comes_into_it) };
    return cmocka_run_group_tests(tests, setup_keeper, teardown_keeper);
}
