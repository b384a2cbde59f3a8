/* SPDX-License-Identifier: Apache-2.0 */
/* test_runs.c - numbers added and removed at random are walked in their order, from any place on, however long the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "scheduler/mirror/runs.h"
#include "scheduler/plan/random.h"

enum { MANY = 3000, SEEDS = 12 };

/* By the value that a number stands for; ctx: int64_t. */
static int by_value(const void *ctx, uint32_t a, uint32_t b)
{
    const int64_t *v = ctx, x = v[a], y = v[b];
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

/* From x on. */
static void same_from(const struct runs *r, const bool *is_in, const int64_t *v, uint32_t x)
{
    struct runs_at at = runs_find(r, x, by_value, v);
    size_t seen = 0, expected = 0;
    uint32_t last = x, k = 0;
    while (runs_next(r, &at, &k)) {
        assert_true(is_in[k] && by_value(v, k, last) >= 0 && (!seen || k != last));
        last = k;
        seen++;
    }
    for (uint32_t i = 0; i < MANY; i++)
        expected += is_in[i] && by_value(v, i, x) >= 0;
    assert_int_equal(seen, expected);
}

static void test_random(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct random rnd = { (uint64_t)seed };
        struct runs r = { 0 };
        bool is_in[MANY] = { false };
        int64_t v[MANY];
        for (int64_t i = 0; i < MANY; i++)
            v[i] = seed % 3 == 0 ? i : seed % 3 == 1 ? -i : (int64_t)random_below(&rnd, MANY / 4);
        for (int i = 0; i < 4 * MANY; i++) {
            const uint32_t x = i < MANY && seed % 2 ? (uint32_t)i : (uint32_t)random_below(&rnd, MANY);
            if (is_in[x])
                runs_remove(&r, x, by_value, v);
            else
                runs_add(&r, x, by_value, v);
            is_in[x] = !is_in[x];
            if (i % 997 == 0)
                same_from(&r, is_in, v, (uint32_t)random_below(&rnd, MANY));
        }
        for (size_t i = 0; i < r.n; i++)
            assert_true(r.items[i]->n && r.items[i]->n <= RUN_MAX);
        for (uint32_t x = 0; x < MANY; x++)
            if (is_in[x]) {
                is_in[x] = false;
                runs_remove(&r, x, by_value, v);
                if (x % 499 == 0)
                    same_from(&r, is_in, v, 0);
            }
        assert_int_equal(r.n, 0);
        runs_release(&r);
        assert_int_equal(r.bytes, 0);
    }
}

/* What comes in its order fills runs, so that a long queue takes four bytes a job and a little. */
static void test_in_order(void **state)
{
    (void)state;
    static int64_t v[10 * RUN_MAX];
    struct runs r = { 0 };
    for (uint32_t i = 0; i < 10 * RUN_MAX; i++) {
        v[i] = i;
        runs_add(&r, i, by_value, v);
    }
    assert_int_equal(r.n, 10);
    runs_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_in_order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
