/* SPDX-License-Identifier: Apache-2.0 */
/* test_cycle.c - the way round is found where there is one, is a way along the edges, and the shortest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/cycle.h"
#include "scheduler/plan/random.h"

enum { JOBS = 8, EDGES = 14 };

static struct uuid id(unsigned n)
{
    return (struct uuid){ { (uint8_t)(n * 37 + 1) } };
}

static void a_way_round_is_told_in_order(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct uuid *way;
    const struct wait_edge e[] = { { id(3), id(1) }, { id(1), id(2) }, { id(2), id(3) }, { id(1), id(4) }, { id(4), id(5) } };
    assert_int_equal(cycle_find(e, 5, id(1), a, &way), 3);
    assert_true(uuid_eq(way[0], id(1)) && uuid_eq(way[1], id(2)) && uuid_eq(way[2], id(3)));
    assert_int_equal(cycle_find(e, 5, id(4), a, &way), 0);
    assert_int_equal(cycle_find(e, 5, id(7), a, &way), 0);
    assert_int_equal(cycle_find(e, 0, id(1), a, &way), 0);
    const struct wait_edge self = { id(1), id(1) };
    assert_int_equal(cycle_find(&self, 1, id(1), a, &way), 1);
    arena_free(a);
}

/* By chance, against lengths counted by relaxing all edges. */
static void it_is_the_shortest(void **state)
{
    (void)state;
    struct random r = { 5 };
    size_t found = 0;
    for (int round = 0; round < 5000; round++) {
        struct arena *a = arena_new(1 << 20);
        struct wait_edge e[EDGES];
        unsigned from[EDGES], to[EDGES];
        size_t dist[JOBS];
        struct uuid *way = NULL;
        for (int i = 0; i < EDGES; i++) {
            from[i] = (unsigned)random_below(&r, JOBS);
            to[i] = (unsigned)random_below(&r, JOBS);
            e[i] = (struct wait_edge){ id(from[i]), id(to[i]) };
        }
        size_t best = SIZE_MAX;
        for (int k = 0; k < JOBS; k++)
            dist[k] = k ? SIZE_MAX : 0;
        for (int k = 0; k < JOBS; k++)
            for (int i = 0; i < EDGES; i++) {
                if (dist[from[i]] == SIZE_MAX)
                    continue;
                if (to[i] == 0)
                    best = dist[from[i]] + 1 < best ? dist[from[i]] + 1 : best;
                else if (dist[from[i]] + 1 < dist[to[i]])
                    dist[to[i]] = dist[from[i]] + 1;
            }
        const size_t n = cycle_find(e, EDGES, id(0), a, &way);
        assert_int_equal(n, best == SIZE_MAX ? 0 : best);
        for (size_t i = 0; i < n; i++) {
            bool is_edge = false;
            for (int k = 0; k < EDGES; k++)
                is_edge |= uuid_eq(e[k].job_id, way[i]) && uuid_eq(e[k].on_job_id, way[(i + 1) % n]);
            assert_true(is_edge);
        }
        found += n > 0;
        arena_free(a);
    }
    assert_in_range(found, 500, 4999);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_way_round_is_told_in_order), cmocka_unit_test(it_is_the_shortest) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
