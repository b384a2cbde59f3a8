/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt_bins.c - cuts between numbers, by shares where there are many; what is missing; the same bins for any threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "workers/compute/pool.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/gbdt_bins.h"

enum { ROWS = 5000, COLS = 6 };

static float x[ROWS * COLS];
static uint32_t rows[ROWS];

static struct gbdt_table table(void)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = i;
        float *r = x + i * COLS;
        r[0] = (float)philox_normal(1, 0, i);
        r[1] = (float)(i % 3) - 1;                  /* -1, 0, 1 */
        r[2] = i % 10 ? r[0] : NAN;
        r[3] = i % 2 ? 7 : r[0];                    /* half of it is one number */
        r[4] = NAN;
        r[5] = i % 2 ? -0.0f : 0.0f;
    }
    return (struct gbdt_table){ x, ROWS, COLS, rows, ROWS, NULL };
}

static void test_every_number_lies_in_its_bin(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct gbdt_table t = table();
    struct gbdt_bins b;
    struct err e = { 0 };
    assert_int_equal(gbdt_bins_make(a, NULL, &t, 64, 1, &b, &e), ERR_OK);
    assert_true(b.cols == COLS && b.groups == 2);
    for (size_t c = 0; c < COLS; c++)
        for (size_t i = 0; i < ROWS; i++) {
            const struct gbdt_column *k = &b.columns[c];
            unsigned bin = gbdt_bin(&b, i, c);
            float v = x[i * COLS + c];
            if (isnan(v)) {
                assert_int_equal(bin, k->bins);
                continue;
            }
            assert_true(bin < k->bins && (bin == 0 || v > k->cut[bin - 1]) && (bin + 1 == k->bins || v <= k->cut[bin]));
        }
    assert_int_equal(b.columns[1].bins, 3);
    assert_true(b.columns[1].cut[0] == -0.5f && b.columns[1].cut[1] == 0.5f);
    assert_int_equal(b.columns[4].bins, 1);
    assert_int_equal(b.columns[5].bins, 1);         /* -0 is 0 */
    size_t count[64] = { 0 };
    for (size_t i = 0; i < ROWS; i++)
        count[gbdt_bin(&b, i, 0)]++;
    for (size_t i = 0; i < 64; i++)
        assert_in_range(count[i], ROWS / 64 - 2, ROWS / 64 + 2);
}

static void test_two_close_numbers_are_parted(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(4 << 20);
    float close[2] = { 1.0f, nextafterf(1.0f, 2) };
    struct gbdt_table t = { close, 2, 1, (uint32_t[]){ 0, 1 }, 2, NULL };
    struct gbdt_bins b;
    struct err e = { 0 };
    assert_int_equal(gbdt_bins_make(a, NULL, &t, 255, 1, &b, &e), ERR_OK);
    assert_true(b.columns[0].bins == 2 && b.columns[0].cut[0] == 1.0f && gbdt_bin(&b, 0, 0) == 0 && gbdt_bin(&b, 1, 0) == 1);
}

static void test_threads_change_nothing(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct gbdt_table t = table();
    struct gbdt_bins one, four;
    struct pool *pool;
    struct err e = { 0 };
    assert_int_equal(pool_new(4, &pool, &e), ERR_OK);
    assert_int_equal(gbdt_bins_make(a, NULL, &t, 255, 1, &one, &e), ERR_OK);
    assert_int_equal(gbdt_bins_make(a, pool, &t, 255, 1, &four, &e), ERR_OK);
    assert_memory_equal(one.bin, four.bin, one.groups * GBDT_GROUP * ROWS);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_number_lies_in_its_bin),
                                        cmocka_unit_test(test_two_close_numbers_are_parted),
                                        cmocka_unit_test(test_threads_change_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
