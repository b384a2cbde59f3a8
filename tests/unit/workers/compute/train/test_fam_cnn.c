/* SPDX-License-Identifier: Apache-2.0 */
/* test_fam_cnn.c - convolutional networks on the digits; what they ask of the data is refused where it is not so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../../../lib/share.h"
#include "run_kit.h"

static struct train_job small(void)
{
    static int64_t image[] = { 8, 8, 1 }, channels[] = { 16, 32, 64 }, blocks[] = { 1 };
    struct train_job s = kit_spec();
    s.family = TRAIN_CNN;
    s.image = (struct slice){ image, 3 };
    s.channels = (struct slice){ channels, 3 };
    s.blocks = (struct slice){ blocks, 1 };
    s.learning_rate = 1e-2;
    s.weight_decay = 0.05;
    s.epochs = share_of("epochs", 6, 20);
    s.classes = 10;
    return s;
}

static void test_digits(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_job s = small();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    kit_train(a, &s, &d, &r);
    assert_true(r.holdout_accuracy >= (s.epochs < 20 ? 0.97 : 0.98));
    int64_t most = train_job_model_bytes(&s, 64);
    assert_true((int64_t)r.model.len <= most && most < (int64_t)r.model.len + 40000);
    train_result_release(&r);
    s.residual = true;
    s.epochs = 3;
    kit_train(a, &s, &d, &r);
    assert_true(r.holdout_accuracy >= 0.95 && (int64_t)r.model.len <= train_job_model_bytes(&s, 64));
    train_result_release(&r);
}

/* Eight batches of eight make the step of one batch of 64, but for the order of the sums. */
static void test_accumulated_steps(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_result r[2];
    struct st_file f[2];
    struct err e;
    for (int i = 0; i < 2; i++) {
        struct train_job s = small();
        s.batch_size = i ? 8 : 64;
        s.accumulate = i ? 8 : 1;
        s.max_steps = 20;
        s.optimizer = TRAIN_SGD;
        s.learning_rate = 0.01;
        struct train_data d = kit_digits(a, &s);
        kit_train(a, &s, &d, &r[i]);
        assert_int_equal(r[i].steps, 20);
        assert_int_equal(st_parse(a, r[i].model.ptr, r[i].model.len, &f[i], &e), ERR_OK);
    }
    assert_int_equal(f[0].tensor_count, f[1].tensor_count);
    for (size_t i = 0; i < f[0].tensor_count; i++)
        for (size_t j = 0; j < f[0].tensors[i].size_bytes / sizeof(float); j++) {
            double off = (double)((const float *)(const void *)f[0].tensors[i].data)[j]
                         - (double)((const float *)(const void *)f[1].tensors[i].data)[j];
            assert_true(off < 1e-4 && off > -1e-4);
        }
    train_result_release(&r[0]);
    train_result_release(&r[1]);
}

static void test_wrong_image(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    static const struct data_schema schema = { .label = { "label", 5 }, .classes = 10 };
    static int64_t image[] = { 9, 8, 1 };
    struct train_job s = small();
    struct train_data d;
    struct err e = { 0 };
    s.image.items = image;
    assert_int_equal(train_data_rows(a, kit_file(a, "datasets/digits/digits.csv"), &schema, &s, &d, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "9 x 8 x 1 has 72 numbers; the data set has 64 columns"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_digits), cmocka_unit_test(test_accumulated_steps),
                                        cmocka_unit_test(test_wrong_image) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
