/* SPDX-License-Identifier: Apache-2.0 */
/* test_outlook.c - what one job has before it: machines of its tenant's zones alone, alike ones once, with what is held of
 * them. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/outlook.h"

static struct machine one, two, away;
FIXTURE_GROUP((machine_up(&f, &one, "ae-dxb-1", "one", 8, 0), machine_up(&f, &two, "ae-dxb-1", "two", 8, 0),
               machine_up(&f, &away, "ae-auh-1", "away", 32, 0)), NOTHING_MORE)

static struct job asked(struct uuid tenant, int64_t slots)
{
    return (struct job){ .tenant_id = tenant, .job_id = uuid_v7(clock_wall_us(&clock_system)), .pool = STR("default"),
                         .queue = STR("default"), .data_class = STR("internal"), .slots = slots, .kind = JOB_NOOP };
}

static void machines_of_other_zones_are_left_out(void **state)
{
    (void)state;
    struct outlook o;
    struct work w = fixture_reader(&f, f.tenant_a);
    const struct job j = asked(f.tenant_a, 4);
    OK(outlook_read(&w, &j, &o, e));
    assert_int_equal(o.snap.nodes.n, 1);
    assert_int_equal(o.alike[0], 2);
    assert_int_equal(o.zones.n, 1);
    const struct zone_outlook *z = o.zones.items;
    assert_true(z->allowed && z->fits_now && z->ready_nodes == 2 && z->free_slots == 8);
    assert_int_equal(o.snap.tenants.items[0].slots_limit, 100000);
    assert_false(o.snap.tenants.items[0].guarded);
    fixture_reader_done(&w);
    w = fixture_reader(&f, f.tenant_b);
    const struct job of_b = asked(f.tenant_b, 4);
    OK(outlook_read(&w, &of_b, &o, e));
    assert_int_equal(o.zones.n, 2);
    assert_int_equal(o.snap.nodes.n, 2);
    fixture_reader_done(&w);
}

static void what_is_held_is_not_free(void **state)
{
    (void)state;
    struct outlook o;
    assert_int_equal(submit(&f, f.tenant_a, 1, 6, 3, NULL), 1);
    assert_int_equal(plan(&f), 1);
    struct work w = fixture_reader(&f, f.tenant_a);
    struct job j = asked(f.tenant_a, 4);
    j.memory_bytes = (int64_t)3 << 30;          /* a slot stands for a GiB, and six are held of eight */
    OK(outlook_read(&w, &j, &o, e));
    assert_int_equal(o.snap.nodes.n, 2);        /* they are not alike any more */
    assert_int_equal(o.alike[0] + o.alike[1], 2);
    const struct snap_node *n = o.snap.nodes.items;
    const size_t busy = n[0].free_slots == 2 ? 0 : 1;
    assert_int_equal(n[busy].free_slots, 2);
    assert_int_equal(n[busy].free_memory_bytes, (int64_t)2 << 30);
    assert_int_equal(n[1 - busy].free_slots, 8);
    assert_int_equal(o.snap.tenants.items[0].slots_used, 6);
    fixture_reader_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(machines_of_other_zones_are_left_out),
                                        cmocka_unit_test(what_is_held_is_not_free) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
