/* SPDX-License-Identifier: Apache-2.0 */
/* test_clock_lines.c - what a tenant holds of a zone falls when its job ends, or sooner when that makes room; who comes then is
 * on the other line; another zone is not counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/jobs/clock_int.h"

#define SEC ((int64_t)1000000)

static int64_t at(const struct clock_line *l, int64_t s)
{
    const struct clock_point *p = l->points.items;
    int64_t slots = 0;
    for (size_t i = 0; i < l->points.n && p[i].at.us <= s * SEC; i++)
        slots = p[i].slots;
    return slots;
}

static void sums_change_with_starts_and_ends(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_node nodes[2] = { { .zone = STR("z1"), .slots = 8 }, { .zone = STR("z2"), .slots = 4 } };
    struct snap_tenant tenants[1] = { { .slots_limit = 100 } };
    struct snap_job jobs[1] = { { .slots = 5 } };
    struct ahead_live live[2] = { { .machine = 0, .where = &nodes[0], .nmore = 1, .job.slots = 3,
                                    .ends_us = 5000 * SEC },
                                  { .machine = 1, .where = &nodes[1], .job.slots = 4, .ends_us = AHEAD_NEVER } };
    struct board_tag waits[1] = { { .is_own = false } }, runs[2] = { { .is_own = true }, { .is_own = true } };
    struct board b = { .in = { .live = live, .nlive = 2, .now_us = 1000 * SEC, .until_us = 9000 * SEC }, .waits = waits,
                       .runs = runs };
    struct ahead_start start = { .job = 0, .machine = 0, .nodes = 2, .at_us = 2000 * SEC, .ends_us = 4000 * SEC };
    int64_t leaves[2] = { 2000 * SEC, 0 };
    struct ahead x = { .starts = { &start, 1 }, .leaves_us = leaves };
    struct clock_lines l;
    struct clock_zone z;
    b.in.base.nodes.items = nodes;
    b.in.base.nodes.n = 2;
    b.in.base.tenants.items = tenants;
    b.in.base.tenants.n = 1;
    b.in.base.jobs.items = jobs;
    b.in.base.jobs.n = 1;
    clock_lines_find(&b, false, x.starts.n, a, &l);
    clock_lines_tell(&l, &x, STR("z1"), a, &z);
    const struct clock_line *own = z.lines.items, *others = own + 1;
    assert_int_equal(z.slots, 8);
    assert_int_equal(z.lines.n, 2);
    assert_int_equal(at(own, 1500), 6);        /* on both its machines, though it asks for one at least */
    assert_int_equal(at(own, 2500), 0);         /* it makes room then, long before it would end */
    assert_int_equal(at(others, 1500), 0);
    assert_int_equal(at(others, 2500), 10);
    assert_int_equal(at(others, 4500), 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sums_change_with_starts_and_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
