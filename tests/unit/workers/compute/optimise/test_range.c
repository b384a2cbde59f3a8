/* SPDX-License-Identifier: Apache-2.0 */
/* test_range.c - which range each rule takes of numbers with a long tail, and the steps of a range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/optimise/range.h"

enum { N = 100000 };

/* About a normal distribution of deviation 1, and two numbers far out. */
static void fill(float *x)
{
    uint64_t s = 5;
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++)
            sum += (double)((s = s * 6364136223846793005u + 1442695040888963407u) >> 40) / (double)(1 << 24);
        x[i] = (float)(sum - 6);
    }
    x[7] = 100, x[9] = -40;
}

static void test_rules(void **st)
{
    (void)st;
    static float x[N];
    struct range *r = calloc(1, sizeof *r);
    float min, max;
    fill(x);
    range_see(r, x, N);
    range_count(r, x, N);
    range_pick(r, RANGE_MINMAX, 99.99, &min, &max);
    assert_true(min == -40 && max == 100);
    range_pick(r, RANGE_PERCENTILE, 99.9, &min, &max);
    assert_true(min > -5 && min < -2.5f && max > 2.5f && max < 5);
    range_pick(r, RANGE_PERCENTILE, 100, &min, &max);
    assert_true(min <= -39.9f && max >= 99.9f);
    range_pick(r, RANGE_ENTROPY, 99.99, &min, &max);
    assert_true(max >= 3 && max < 50 && min <= -3 && min >= -40);
    free(r);
}

/* Numbers that are none do not count; 0 is within; one number alone, and none at all, have a range. */
static void test_edges(void **st)
{
    (void)st;
    const float odd[] = { NAN, INFINITY, -INFINITY, 3, 5 };
    struct range *r = calloc(1, sizeof *r);
    float min, max;
    double scale, zero;
    range_pick(r, RANGE_ENTROPY, 99, &min, &max);
    assert_true(min == 0 && max == 0);
    range_steps(min, max, &scale, &zero);
    assert_true(scale == 1 && zero == 0);
    range_see(r, odd, 5);
    range_count(r, odd, 5);
    assert_true(r->min == 0 && r->max == 5);
    for (int rule = 0; rule < 3; rule++) {
        range_pick(r, (enum range_rule)rule, 99.99, &min, &max);
        assert_true(min == 0 && max >= 2.9f && max <= 5);
    }
    range_steps(-1, 3, &scale, &zero);
    assert_true(fabs(scale - 4.0 / 255) < 1e-9 && zero == 64);
    range_steps(-2, -1, &scale, &zero);
    assert_true(zero == 255 && fabs(scale - 2.0 / 255) < 1e-9);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules), cmocka_unit_test(test_edges) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
