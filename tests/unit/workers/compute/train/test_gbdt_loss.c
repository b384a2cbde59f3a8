/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt_loss.c - exp and log beside the library's; gradients beside differences of the loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "run_kit.h"
#include "workers/compute/train/gbdt_loss.h"

static void test_exp_and_log(void **st)
{
    (void)st;
    for (double x = -700; x < 700; x += 0.37)
        assert_true(fabs(gbdt_exp(x) / exp(x) - 1) < 4e-15);
    for (double x = 1e-300; x < 1e300; x *= 1.7)
        assert_true(fabs(gbdt_log(x) - log(x)) <= 4e-16 * fmax(1, fabs(log(x))));
    assert_true(gbdt_exp(-INFINITY) >= 0 && gbdt_exp(-INFINITY) < 1e-300);
}

/* d loss of the row / d score, by differences. */
static double slope(struct gbdt_loss *l, size_t score, uint32_t row)
{
    float *at = &l->score[score * l->rows + row], was = *at;
    const float step = 0x1p-7f;
    *at = was + step;
    double up = gbdt_judge(l, &row, 1).loss;
    *at = was - step;
    double down = gbdt_judge(l, &row, 1).loss;
    *at = was;
    return (up - down) / (2 * (double)step);
}

static void check(size_t outputs, enum net_goal goal)
{
    enum { ROWS = 12 };
    CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
    static uint32_t rows[ROWS];
    static int32_t labels[ROWS];
    static float targets[ROWS * 3];
    struct gbdt_loss l;
    struct err e = { 0 };
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = i;
        labels[i] = (int32_t)(i % outputs);
        for (size_t k = 0; k < outputs; k++)
            targets[i * outputs + k] = goal == NET_LABELS ? i % 3 == k : (float)i * 3;
    }
    struct train_data d = { .shape = { 1, outputs, goal }, .train = rows, .train_count = ROWS, .target_mean = 16.5f,
                            .target_scale = 10, .table = { .rows = ROWS, .cols = 1, .labels = labels, .targets = targets,
                                       .target_count = goal == NET_CLASSES ? 0 : outputs } };
    assert_int_equal(gbdt_loss_new(a, NULL, &d, &l, &e), ERR_OK);
    for (size_t i = 0; i < l.scores * ROWS; i++)
        l.score[i] = (float)i / 8 - 1;
    gbdt_gradients(&l);
    for (size_t k = 0; k < l.scores; k++)
        for (uint32_t i = 0; i < ROWS; i++) {
            double g = (double)l.gradient[k * ROWS + i].g * l.scale[k].g, want = slope(&l, k, i);
            want *= goal == NET_REGRESSION ? l.unit / 2 : 1;        /* squared error counts half, in units of the deviation */
            assert_true(fabs(g - want) < 2e-4);
        }
}

static void test_gradients(void **st)
{
    (void)st;
    check(2, NET_CLASSES);
    check(3, NET_CLASSES);
    check(2, NET_LABELS);
    check(1, NET_REGRESSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exp_and_log), cmocka_unit_test(test_gradients) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
