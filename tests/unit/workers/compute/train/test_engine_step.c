/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_step.c - batches that make one step: lanes by their number, and the same model within rounding however a step is
 * cut. Ranks that share them are in test_ranks.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "run_kit.h"
#include "workers/compute/train/engine_int.h"

static void test_lanes_are_the_powers_of_two_in_accumulate(void **st)
{
    static const struct { int64_t accumulate; int lanes; } rows[] = { { 1, 1 }, { 2, 2 }, { 3, 1 }, { 4, 4 }, { 6, 2 }, { 8, 8 },
                                                                      { 12, 4 }, { 24, 8 }, { 64, 8 }, { 4096, 8 } };
    (void)st;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(engine_lanes(rows[i].accumulate), rows[i].lanes);
}

static void weights(struct arena *a, const struct train_data *d, int64_t batch, int64_t accumulate, const float **ret)
{
    struct train_job s = kit_spec();
    struct train_result r;
    struct st_file f;
    struct err e;
    s.epochs = 1;
    s.optimizer = TRAIN_SGD;            /* AdamW makes a step of any gradient, also of one that is rounding alone */
    s.learning_rate = 0.05;
    s.batch_size = batch;
    s.accumulate = accumulate;
    kit_train(a, &s, d, &r);
    assert_int_equal(st_parse(a, str_dup(a, buf_str(&r.model)).ptr, r.model.len, &f, &e), ERR_OK);
    assert_int_equal(st_f32(&f, "mlp.0.weight", 128, 64, ret, &e), ERR_OK);
    train_result_release(&r);
}

/* 1438 rows: the last step of 64 has 30, three batches of 8 and one of 6. */
static void test_a_step_may_be_cut_in_any_way(void **st)
{
    static const struct { int64_t batch, accumulate; } cut[] = { { 8, 8 }, { 16, 4 }, { 32, 2 }, { 4, 16 } };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    const float *whole, *parts;
    (void)st;
    weights(a, &d, 64, 1, &whole);
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        double off = 0, norm = 0;
        weights(a, &d, cut[i].batch, cut[i].accumulate, &parts);
        for (int k = 0; k < 128 * 64; k++) {
            off += pow((double)parts[k] - (double)whole[k], 2);
            norm += pow((double)whole[k], 2);
        }
        print_message("%lld x %lld: off by %.2e\n", (long long)cut[i].accumulate, (long long)cut[i].batch, sqrt(off / norm));
        assert_true(sqrt(off / norm) < 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_are_the_powers_of_two_in_accumulate),
        cmocka_unit_test(test_a_step_may_be_cut_in_any_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
