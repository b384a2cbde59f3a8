/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt_split.c - the best cut of a column against all cuts tried in doubles, with values missing and with categories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/rng.h"
#include "workers/compute/train/gbdt_tree_int.h"

enum { ROWS = 400, BINS = 9 };

static const struct gbdt_scale scale = { 1e-6, 1, 20 };
static const struct gbdt_limits limits = { .leaves = 31, .leaf_rows = 20, .l2 = 0.5, .rate = 0.1 };
static double gradient[ROWS];
static unsigned bin[ROWS];

/* Gain of sending these bins left. */
static double tried(uint32_t left)
{
    double g[2] = { 0 }, h[2] = { 0 };
    for (size_t i = 0; i < ROWS; i++) {
        int side = left >> bin[i] & 1;
        g[side] += gradient[i];
        h[side]++;
    }
    if (h[0] < 20 || h[1] < 20)
        return 0;
    return g[0] * g[0] / (h[0] + 0.5) + g[1] * g[1] / (h[1] + 0.5);
}

static struct gbdt_split look(bool is_category, gbdt_cell cells[BINS + 2])
{
    struct gbdt_column columns[GBDT_GROUP] = { { BINS, is_category, 0, NULL } };
    struct gbdt_bins b = { .rows = ROWS, .cols = 1, .groups = 1, .cells = BINS + 1, .columns = columns };
    struct gbdt_scan s = { &b, &limits, &scale, cells, { 0, 0 } };
    struct gbdt_split best = { .gain = 0, .col = UINT32_MAX };
    memset(cells, 0, (BINS + 2) * sizeof *cells);
    for (size_t i = 0; i < ROWS; i++) {
        gbdt_cell add = { (int64_t)llrint(gradient[i] * 1e6), ((int64_t)1 << 20) + 1 };
        cells[bin[i]] += add;
        s.sum += add;
    }
    gbdt_look(&s, 0, &best);
    return best;
}

static void draw(uint64_t seed, bool has_missing)
{
    for (size_t i = 0; i < ROWS; i++) {
        bin[i] = philox(seed, 1, i).v[0] % (has_missing ? BINS + 1 : BINS);
        gradient[i] = rint(1e6 * (philox_normal(seed, 2, i) + sin(3.0 * bin[i]))) * 1e-6;
    }
}

static void test_numbers(void **st)
{
    (void)st;
    gbdt_cell cells[BINS + 2];
    for (uint64_t seed = 1; seed < 40; seed++) {
        bool has_missing = seed % 2;
        double best = 0;
        draw(seed, has_missing);
        for (uint32_t b = 0; b < BINS; b++)
            for (int missing = 0; missing <= (has_missing ? 1 : 0); missing++)
                best = fmax(best, tried(((2u << b) - 1) | (uint32_t)missing << BINS));
        struct gbdt_split s = look(false, cells);
        uint32_t left = ((2u << s.bin) - 1) | (has_missing ? (uint32_t)s.missing_left << BINS : 0);
        assert_true(fabs(s.gain - best) < 1e-9 * best && fabs(tried(left) - best) < 1e-9 * best);
    }
}

static void test_categories_are_cut_by_their_order(void **st)
{
    (void)st;
    gbdt_cell cells[BINS + 2];
    for (uint64_t seed = 1; seed < 20; seed++) {
        draw(seed, seed % 2);
        double one_cut = look(false, cells).gain;
        struct gbdt_split s = look(true, cells);
        uint32_t left = (uint32_t)s.left[0] | (uint32_t)s.missing_left << BINS;
        assert_true(fabs(s.gain - tried(left)) < 1e-9 * s.gain && s.gain > one_cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers),
                                        cmocka_unit_test(test_categories_are_cut_by_their_order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
