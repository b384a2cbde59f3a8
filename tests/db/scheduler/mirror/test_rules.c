/* SPDX-License-Identifier: Apache-2.0 */
/* test_rules.c - what a tenant is told of its own rules is what the planner counts by, other tenants' part of a cohort
 * included. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/mirror/rules.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static void rule(struct uuid tenant, const char *resource, int64_t nominal, const char *lending)
{
    char t[UUID_TEXT], id[UUID_TEXT];
    uuid_text(tenant, t);
    uuid_text(uuid_v7(clock_wall_us(&clock_system)), id);
    fixture_exec(&f, "INSERT INTO quota_rule (tenant_id, rule_id, place, resource, nominal, lending_limit, created_by)"
                     " VALUES ('%s', '%s', 'tenant', '%s', %ld, %s, '%s')", t, id, resource, (long)nominal, lending, t);
}

static int64_t room_of(const struct rulebook *b, struct uuid tenant, int resource)
{
    for (size_t i = 0; i < b->rules.n; i++)
        if (uuid_eq(b->rules.items[i].tenant_id, tenant) && b->rules.items[i].resource == resource)
            return rulebook_room(b, &b->rules.items[i]);
    return -1;
}

static int64_t room_in_its_own_eyes(struct uuid tenant, int resource, size_t rules)
{
    struct rulebook own;
    struct work w = fixture_reader(&f, tenant);
    OK(rules_read_own(&w, &own, e));
    assert_int_equal(own.rules.n, rules);       /* its own alone, and not its neighbours' */
    const int64_t room = room_of(&own, tenant, resource);
    fixture_reader_done(&w);
    return room;
}

static void room_is_what_the_planner_counts(void **state)
{
    (void)state;
    struct machine m;
    struct rulebook all;
    struct work w = { .app = &f.scheduler, .arena = arena_new(16 << 20) };
    const struct uuid both[] = { f.tenant_a, f.tenant_b };
    machine_up(&f, &m, "ae-dxb-1", "one", 64, 0);
    assert_int_equal(room_in_its_own_eyes(f.tenant_a, RULE_SLOTS, 0), -1);
    rule(f.tenant_a, "slots", 4, "NULL");
    rule(f.tenant_b, "slots", 10, "6");
    rule(f.tenant_b, "gpus", 3, "0");
    assert_int_equal(submit(&f, f.tenant_b, 7, 1, 3, NULL), 7);
    assert_int_equal(plan(&f), 7);              /* 4 are guaranteed, 3 of the cohort's 10 lent */
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(rules_read(&w, both, 2, &all, e));
    assert_int_equal(room_of(&all, f.tenant_a, RULE_SLOTS), 7);
    assert_int_equal(room_of(&all, f.tenant_b, RULE_GPUS), 3);
    db_rollback(w.tx);
    assert_int_equal(room_in_its_own_eyes(f.tenant_a, RULE_SLOTS, 1), 7);
    assert_int_equal(room_in_its_own_eyes(f.tenant_b, RULE_SLOTS, 2), room_of(&all, f.tenant_b, RULE_SLOTS));
    assert_int_equal(room_in_its_own_eyes(f.tenant_b, RULE_GPUS, 2), 3);
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(room_is_what_the_planner_counts) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
