/* SPDX-License-Identifier: Apache-2.0 */
/* test_policies.c - a plan judges by what the database says now, and asks anew only when something changed. */
#include "scheduler/mirror/policies.h"
#include "core/db/tx.h"
#include "scheduler/mirror/snapshot.h"
#include "tests/db/scheduler/fixture.h"

static struct machine m;

FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0), f.scheduler.policies = policies_new()),
              policies_free(f.scheduler.policies))

/* How many statements a snapshot of two tenants takes; where the first and the second may be. */
static int statements(char zones[2][64])
{
    struct work w = { .app = &f.scheduler, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) };
    struct snapshot s;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_READ_ONLY, w.arena, &w.tx, e));
    OK(snapshot_read(&w, 64, true, &s, e));
    int n = db_statements(w.tx);
    OK(db_commit(w.tx, e));
    assert_int_equal(s.tenants.n, 2);
    for (int i = 0; i < 2; i++)
        snprintf(zones[i], 64, "%.*s", STR_ARG(s.tenants.items[i].zones));
    arena_free(w.arena);
    return n;
}

static void what_is_known_is_not_asked_again(void **state)
{
    (void)state;
    char zones[2][64], a[UUID_TEXT];
    uuid_text(f.tenant_a, a);
    submit(&f, f.tenant_a, 1, 1, 3, NULL);
    submit(&f, f.tenant_b, 1, 1, 3, NULL);
    int first = statements(zones);
    assert_string_equal(zones[0], "ae-dxb-1");
    assert_string_equal(zones[1], "ae-dxb-1,ae-auh-1");
    assert_int_equal(statements(zones), first - 3);
    assert_string_equal(zones[0], "ae-dxb-1");
    assert_string_equal(zones[1], "ae-dxb-1,ae-auh-1");
    fixture_exec(&f, "UPDATE tenant SET allowed_zones = '{ae-dxb-1,ae-auh-1}' WHERE tenant_id = '%s'", a);
    assert_int_equal(statements(zones), first);
    assert_string_equal(zones[0], "ae-dxb-1,ae-auh-1");
    assert_int_equal(statements(zones), first - 3);
    fixture_exec(&f, "UPDATE zone SET data_classes = '{public}' WHERE code = 'ae-dxb-1'");
    assert_int_equal(statements(zones), first);
}

/* A job that was let in is not any more by the next plan, though the tenant was known. */
static void a_change_counts_in_the_next_plan(void **state)
{
    (void)state;
    char b[UUID_TEXT];
    uuid_text(f.tenant_b, b);
    fixture_exec(&f, "UPDATE zone SET data_classes = data_classes() WHERE code = 'ae-dxb-1'");
    assert_int_equal(plan(&f), 2);
    submit(&f, f.tenant_b, 1, 1, 3, NULL);
    fixture_exec(&f, "UPDATE tenant SET allowed_zones = '{ae-auh-1}', home_zone = 'ae-auh-1' WHERE tenant_id = '%s'", b);
    assert_int_equal(plan(&f), 0);
    fixture_exec(&f, "UPDATE tenant SET allowed_zones = '{ae-auh-1,ae-dxb-1}' WHERE tenant_id = '%s'", b);
    assert_int_equal(plan(&f), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_known_is_not_asked_again),
                                        cmocka_unit_test(a_change_counts_in_the_next_plan) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
