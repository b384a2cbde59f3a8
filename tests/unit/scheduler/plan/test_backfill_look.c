/* SPDX-License-Identifier: Apache-2.0 */
/* test_backfill_look.c - the first moment for a job on several machines: when enough have ended, and no window of its machines
 * would be met from then on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/backfill_int.h"

#define S ((int64_t)1000000)
#define NOW (1000000 * S)
enum { NODES = 3 };

static struct str zone = { "z", 1 };
static struct snap_node nodes[NODES];
static struct snap_tenant tenant;
static struct snap_job job;
static struct reserved windows[4];
static struct snap_end ends[4];
static struct snapshot s;
static struct ends e;

static struct uuid id_of(int kind, int i)
{
    struct uuid u = { { (uint8_t)kind } };
    u.b[15] = (uint8_t)i;
    return u;
}

/* Three machines of four slots, and a job on two of them that takes all of each for so long at most. */
static void begin(int64_t runs_s)
{
    memset(windows, 0, sizeof windows);
    memset(ends, 0, sizeof ends);
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct snap_node){ .node_id = id_of(1, i), .zone = zone, .pool = STR("p"), .flavor = STR("f"), .slots = 4,
                                       .free_slots = 4, .gangs = true, .build = STR("b"), .held = STR("") };
    tenant = (struct snap_tenant){ .tenant_id = id_of(2, 0), .slots_limit = 100, .allowed_zones = { &zone, 1 } };
    job = (struct snap_job){ .tenant_id = id_of(2, 0), .job_id = id_of(3, 0), .pool = STR("p"), .slots = 4, .nodes = 2,
                             .max_runtime_s = runs_s, .zones = { &zone, 1 } };
    s = (struct snapshot){ .nodes = { nodes, NODES }, .tenants = { &tenant, 1 }, .jobs = { &job, 1 }, .now_us = NOW };
    s.reserved.items = windows;
    e = (struct ends){ ends, 0 };
}

static void window(int node, int64_t from_s, int64_t until_s)
{
    windows[s.reserved.n++] = (struct reserved){ .node_id = id_of(1, node), .from_us = NOW + from_s * S,
                                                 .until_us = NOW + until_s * S };
}

static void runs(int node, int64_t until_s)
{
    nodes[node].free_slots = 0;
    ends[e.n++] = (struct snap_end){ .tenant_id = id_of(2, 9), .node_id = id_of(1, node), .queue = STR(""),
        .ask = { .cpu_milli = 4000, .memory_bytes = 4 * SLOT_MEMORY_BYTES, .slots = 4 }, .is_first = true, .all_slots = 4,
        .ends_us = NOW + until_s * S };
}

/* Seconds from now; -1: never. */
static int64_t first(void)
{
    struct arena *a = arena_new(1 << 20);
    bool only[NODES] = { true, true, true };
    struct found f;
    snapshot_fill(&s);
    const struct look l = look_of(&s, e, a);
    const bool found = look_find(&l, &job, only, &f);
    for (int i = 0; found && i < 2; i++) {
        struct snap_node n = nodes[f.seats[i].node];
        assert_true(reserved_lets_at(&n, &job, f.at_us));
    }
    arena_free(l.scratch);
    arena_free(a);
    return found ? (f.at_us - NOW) / S : -1;
}

static void it_starts_when_enough_have_ended(void **state)
{
    (void)state;
    begin(50);
    assert_int_equal(first(), 0);
    runs(0, 100);
    assert_int_equal(first(), 0);
    runs(1, 300);
    assert_int_equal(first(), 100);
    runs(2, 200);
    assert_int_equal(first(), 200);
}

static void it_waits_for_the_end_of_windows_that_it_would_meet(void **state)
{
    (void)state;
    begin(50);
    window(0, 90, 400);
    window(1, 60, 300);
    window(2, 60, 350);
    assert_int_equal(first(), 300 + 50);        /* before them but one machine has time enough, behind them two at 350 */
    begin(50);
    window(0, 90, 400);
    window(1, 90, 300);
    assert_int_equal(first(), 0);
    runs(2, 20);                                /* it is free too late for those two, and they are then kept */
    runs(0, 20);
    assert_int_equal(first(), 300);
}

static void its_own_windows_are_none(void **state)
{
    (void)state;
    begin(0);
    for (int i = 0; i < NODES; i++)
        window(i, 60, 300);
    assert_int_equal(first(), 300);             /* nobody knows when it ends */
    for (int i = 0; i < NODES; i++)
        windows[i].tenant_id = id_of(2, 0);
    assert_int_equal(first(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(it_starts_when_enough_have_ended),
                                        cmocka_unit_test(it_waits_for_the_end_of_windows_that_it_would_meet),
                                        cmocka_unit_test(its_own_windows_are_none) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
