/* SPDX-License-Identifier: Apache-2.0 */
/* test_person.c - who is written to: confirmed, active, with a choice; and who may decide approvals. Codes:
 * tests/e2e/notifications.py. */
#include "tests/db/tenants/fixture.h"
#include "core/db/run_tx.h"
#include "tenants/notice/person.h"

static struct uuid tenant, other, huda;
static struct db_pool *daemon_pool;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { notice_person_stmts, NULL },
        *const *const daemons[] = { notice_person_daemon_stmts, NULL };
    world_new(lists, 4);
    daemon_pool = pool_make("falaj_scheduler", 2, daemons, 0);
    OK(db_pool_check(daemon_pool, &e));
    tenant = new_id();
    other = new_id();
    tenant_make(tenant, "amana");
    tenant_make(other, "bahr");
    huda = user_make(tenant, "Huda", "ml-engineer");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    db_pool_free(daemon_pool);
    world_free();
    return 0;
}

static size_t people(struct uuid of)
{
    struct work w = { .app = &app, .arena = arena_new(1 << 22), .now_us = clock_wall_us(&clock_system) };
    struct slice rows = { 0 };
    OK(RUN_SYSTEM(&w, daemon_pool, 0, notice_people(&w, of, 10, &rows, &e), &e));
    arena_free(w.arena);
    return rows.n;
}

static void only_who_confirmed_and_is_active(void **state)
{
    (void)state;
    sql("INSERT INTO notice_person (tenant_id, user_id, address, events) VALUES ('%s', '%s', 'h@x.example', '{job-failed}')",
        hex(tenant), hex(huda));
    assert_int_equal(people(tenant), 0);
    sql("UPDATE notice_person SET confirmed_at = now()");
    assert_int_equal(people(tenant), 1);
    assert_int_equal(people(other), 0);
    sql("UPDATE app_user SET state = 'DISABLED' WHERE user_id = '%s'", hex(huda));
    assert_int_equal(people(tenant), 0);
    sql("UPDATE app_user SET state = 'ACTIVE' WHERE user_id = '%s'", hex(huda));
    sql("UPDATE notice_person SET events = '{}'");
    assert_int_equal(people(tenant), 0);
}

static void holders_hold_it_now(void **state)
{
    (void)state;
    const struct str role = STR("compliance-officer");
    struct work w = { .app = &app, .arena = arena_new(1 << 22), .now_us = clock_wall_us(&clock_system) };
    struct slice rows = { 0 };
    const struct uuid officer = user_make(tenant, "Officer", "compliance-officer"), past = user_make(tenant, "Past",
        "compliance-officer");
    user_make(other, "Elsewhere", "compliance-officer");
    sql("UPDATE role_binding SET valid_until = now() - interval '1 day' WHERE user_id = '%s'", hex(past));
    OK(RUN_SYSTEM(&w, daemon_pool, 0, notice_holders(&w, tenant, &role, 1, &rows, &e), &e));
    assert_true(rows.n == 1 && uuid_eq(*(struct uuid *)rows.items, officer));
    arena_free(w.arena);
}

static void the_own_row_and_no_other(void **state)
{
    (void)state;
    struct principal *p = principal_with(tenant, huda, ROLES(ML_ENGINEER)), *q = principal_with(other, huda, ROLES(ML_ENGINEER));
    struct notice_person me;
    struct work *w = unit_open(other, q);
    REFUSED(notice_person_get(w, &me, &e), NOT_FOUND);
    OK(notice_person_delete(w, &e));
    unit_commit(w);
    w = unit_open(tenant, p);
    OK(notice_person_get(w, &me, &e));
    assert_true(str_eq_c(me.address, "h@x.example"));
    OK(notice_person_delete(w, &e));
    REFUSED(notice_person_get(w, &me, &e), NOT_FOUND);
    unit_drop(w);
    principal_unref(p);
    principal_unref(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_who_confirmed_and_is_active), cmocka_unit_test(holders_hold_it_now),
                                        cmocka_unit_test(the_own_row_and_no_other) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
