/* SPDX-License-Identifier: Apache-2.0 */
/* test_fam_mlp.c - perceptrons that learn a number and several labels at once; steps that give no number are left out, then the
 * run goes back
 * to its checkpoint with half the rate, and ends with a clear word when that does not help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "run_kit.h"
#include "store_kit.h"
#include "workers/compute/rng.h"

enum { ROWS = 256, INPUTS = 4, OUTPUTS = 2 };

static struct train_data made;
static uint32_t numbers[ROWS];
static float inputs[ROWS * INPUTS], answers[ROWS * OUTPUTS];
static int poison;              /* rows from here on give no number; ROWS: none */

static void fetch(const struct train_data *d, const uint32_t *rows, size_t n, void *x, void *target)
{
    (void)d;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < INPUTS; j++) {
            ((float *)x)[i * INPUTS + j] = (int)rows[i] >= poison ? NAN : inputs[rows[i] * INPUTS + j];
            if (j < OUTPUTS)
                ((float *)target)[i * OUTPUTS + j] = answers[rows[i] * OUTPUTS + j];
        }
}

/* Numbers: a sum and a product of inputs; labels: their signs. */
static void make(enum net_goal goal)
{
    made = (struct train_data){ .shape = { INPUTS, OUTPUTS, goal }, .train = numbers, .train_count = ROWS, .fetch = fetch,
                                .columns = { .numbers = INPUTS } };
    poison = ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        float *x = inputs + i * INPUTS, *y = answers + i * OUTPUTS;
        numbers[i] = (uint32_t)i;
        for (size_t j = 0; j < INPUTS; j++)
            x[j] = (float)philox_normal(3, j, i);
        y[0] = x[0] - x[1];
        y[1] = x[2] * x[3];
        for (size_t j = 0; j < OUTPUTS && goal == NET_LABELS; j++)
            y[j] = y[j] > 0;
    }
}

static void test_numbers_and_labels(void **st)
{
    (void)st;
    static const struct { enum net_goal goal; double most; } all[] = { { NET_REGRESSION, 0.1 }, { NET_LABELS, 0.1 } };
    for (size_t i = 0; i < 2; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
        struct train_job s = kit_spec();
        struct train_result r;
        s.learning_rate = 1e-2;
        s.weight_decay = 0;
        s.epochs = 80;
        make(all[i].goal);
        kit_train(a, &s, &made, &r);
        assert_true(r.train_loss < all[i].most && r.skipped == 0 && isnan(r.holdout_loss));
        train_result_release(&r);
    }
}

static void test_steps_without_a_number(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_result r;
    struct err e = { 0 };
    static const struct train_observer o = { .on_log = kit_log };
    const struct ckpt_store *store = kit_store_init(&kept);
    make(NET_REGRESSION);
    s.epochs = 2;
    poison = ROWS - 1;          /* one row in eight batches: two steps of sixteen */
    assert_int_equal(kit_run_in(a, &s, &made, store, 0, &o, &r, &e), ERR_OK);
    assert_true(r.skipped == 2 && r.steps == 16 && isfinite(r.train_loss));
    train_result_release(&r);
    s.seed = 2;
    poison = ROWS / 2;          /* every batch */
    assert_int_equal(kit_run_in(a, &s, &made, store, 0, &o, &r, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "step 3: 3 step(s) were left out and 0 time(s)"));
    kit_store_release(&kept);
}

static bool go_bad(void *ctx)
{
    int *left = ctx;
    if (--*left == 0)
        poison = 0;
    return false;
}

static void test_back_to_the_checkpoint(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct kit_store kept;
    int left = 6;
    const struct train_observer o = { .ctx = &left, .should_stop = go_bad };
    struct train_job s = kit_spec();
    struct train_result r;
    struct err e = { 0 };
    const struct ckpt_store *store = kit_store_init(&kept);
    make(NET_REGRESSION);
    assert_int_equal(kit_run_in(a, &s, &made, store, 5, &o, &r, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "2 time(s) half the rate tried from a checkpoint; try a smaller lr"));
    kit_store_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers_and_labels), cmocka_unit_test(test_steps_without_a_number),
                                        cmocka_unit_test(test_back_to_the_checkpoint) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
