/* SPDX-License-Identifier: Apache-2.0 */
/* test_freetree.c - the tree finds exactly the machines that a look at each of them finds, while rooms change and machines come.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/freetree.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

enum { MACHINES = 70, ROUNDS = 2000 };

static struct room begun(struct random *r)
{
    struct room m = any_machine(r);
    m.cpu_milli = (int64_t)random_below(r, (uint64_t)m.cpu_milli + 1);
    m.memory_bytes = (int64_t)random_below(r, (uint64_t)m.memory_bytes + 1);
    for (int i = 0; i < m.gpus; i++)
        m.milli[i] = random_below(r, 3) ? (uint16_t)random_below(r, GPU_MILLI + 1) : 0;
    return m;
}

static void finds_what_a_look_at_each_machine_finds(void **state)
{
    (void)state;
    struct random r = { 5 };
    struct room rooms[MACHINES];
    struct freetree *t = freetree_new();
    struct ask first = any_ask(&r);
    size_t found = 0, n = 0;
    assert_int_equal(freetree_next(t, &first, 0), FREETREE_NONE);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t at = n < MACHINES && i % 4 == 0 ? (uint32_t)n++ : (uint32_t)random_below(&r, n);
        struct ask a = any_ask(&r);
        rooms[at] = begun(&r);
        freetree_set(t, at, &rooms[at]);
        for (uint32_t m = 0, next = 0; m < n; m++) {
            if (m >= next)
                next = freetree_next(t, &a, m);
            assert_int_equal(next == m, resource_fits(&rooms[m], &a));
            found += next == m;
            next += next == m;
        }
        assert_int_equal(freetree_next(t, &a, (uint32_t)n), FREETREE_NONE);
    }
    assert_true(found > ROUNDS && found < (size_t)ROUNDS * MACHINES);
    freetree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(finds_what_a_look_at_each_machine_finds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
