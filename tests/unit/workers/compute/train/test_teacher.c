/* SPDX-License-Identifier: Apache-2.0 */
/* test_teacher.c - a small student learns the digits from a larger teacher: it answers as the teacher does more than one that saw
 * the labels alone, of rows that neither has seen. Teachers that do not fit are refused with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "run_kit.h"
#include "store_kit.h"
#include "workers/compute/train/teacher.h"

static struct str model_of(struct arena *a, const struct train_job *s, const struct train_data *d, double *ret_accuracy)
{
    struct train_result r;
    kit_train(a, s, d, &r);
    struct str model = str_dup(a, buf_str(&r.model));
    *ret_accuracy = r.holdout_accuracy;
    train_result_release(&r);
    return model;
}

static const float *says(struct arena *a, struct str model, const struct train_data *d)
{
    const float *p;
    struct err e = { 0 };
    if (teacher_ask(a, kit_backend(), NULL, model, d, 1, &p, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return p;
}

/* Mean distance of two answers over the held-out rows: half of Σ|p - q|. */
static double distance(const float *p, const float *q, const struct train_data *d)
{
    double sum = 0;
    for (size_t i = 0; i < d->holdout_count; i++)
        for (size_t j = 0, at = d->holdout[i] * d->shape.outputs; j < d->shape.outputs; j++)
            sum += fabs((double)p[at + j] - (double)q[at + j]) / 2;
    return sum / (double)d->holdout_count;
}

static bool stops(void *ctx)
{
    int64_t *left = ctx;
    return --*left == 0;
}

static enum errc learn(struct arena *a, const struct train_job *s, const struct train_data *d, const float *taught,
                       const char *digest, const struct ckpt_store *store, int64_t stop, struct train_result *r, struct err *e)
{
    const struct train_observer o = { .ctx = &stop, .should_stop = stop ? stops : NULL };
    const struct train_task t = { .spec = s, .data = d, .backend = kit_backend(), .clock = &clock_system, .taught = taught,
                                  .teacher_digest = str_c(digest), .dataset_digest = STR("sha256:kit"), .store = store };
    return train_run(a, &t, &o, r, e);
}

static void test_a_student(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)512 << 20);
    static int64_t large[] = { 256, 128 }, small[] = { 12 };
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    struct err e = { 0 };
    double by_teacher, plain;
    s.learning_rate = 3e-3;
    s.epochs = 20;
    s.hidden = (struct slice){ large, 2 };
    struct str teacher = model_of(a, &s, &d, &by_teacher);
    s.hidden = (struct slice){ small, 1 };
    struct str alone = model_of(a, &s, &d, &plain);
    s.teacher.b[0] = 1;
    s.teacher_share = 0.9;
    s.temperature = 3;
    const float *soft, *warm = says(a, teacher, &d);
    assert_int_equal(teacher_ask(a, kit_backend(), NULL, teacher, &d, s.temperature, &soft, &e), ERR_OK);
    if (learn(a, &s, &d, soft, "sha256:t", NULL, 0, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    double off_alone = distance(warm, says(a, alone, &d), &d), off = distance(warm, says(a, buf_str(&r.model), &d), &d);
    print_message("teacher %.4f; student alone %.4f, off the teacher by %.4f; taught %.4f, off by %.4f\n", by_teacher, plain,
                  off_alone, r.holdout_accuracy, off);
    assert_true(by_teacher >= 0.97 && r.holdout_accuracy >= 0.93 && r.holdout_accuracy > plain - 0.02);
    assert_true(off < off_alone * 0.8);
    train_result_release(&r);
}

/* The digest of the teacher is part of the run's. */
static void test_a_checkpoint_of_another_teacher_is_refused(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    struct err e = { 0 };
    s.epochs = 2;
    s.teacher.b[0] = 1;
    s.teacher_share = 0.5;
    s.temperature = 2;
    float *soft = arena_alloc(a, d.table.rows * 10 * sizeof *soft);
    for (size_t i = 0; i < d.table.rows * 10; i++)
        soft[i] = 0.1f;
    const struct ckpt_store *store = kit_store_init(&kept);
    assert_int_equal(learn(a, &s, &d, soft, "sha256:one", store, 5, &r, &e), ERR_OK);
    assert_int_equal(r.end, TRAIN_PREEMPTED);
    train_result_release(&r);
    assert_int_equal(learn(a, &s, &d, soft, "sha256:two", store, 0, &r, &e), ERR_CONFLICT);
    assert_int_equal(learn(a, &s, &d, soft, "sha256:one", store, 0, &r, &e), ERR_OK);
    assert_int_equal(r.resumed_at_step, 5);
    train_result_release(&r);
    kit_store_release(&kept);
}

static void test_what_does_not_fit_is_told(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    static int64_t width[] = { 8 };
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s), other;
    const float *p;
    struct err e = { 0 };
    double accuracy;
    s.epochs = 1;
    s.hidden = (struct slice){ width, 1 };
    struct str model = model_of(a, &s, &d, &accuracy);
    other = d;
    other.table.cols = 63;
    assert_int_equal(teacher_ask(a, kit_backend(), NULL, model, &other, 2, &p, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "teacher: it does not take the 63 numbers of a row as its one input of FP32");
    other = d;
    other.shape.outputs = 9;
    assert_int_equal(teacher_ask(a, kit_backend(), NULL, model, &other, 2, &p, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "teacher: it tells 10 classes apart; the data set has 9");
    struct str *names = ARENA_ARRAY(a, struct str, 64);
    for (size_t i = 0; i < 64; i++)
        names[i] = STR("other");
    other = d;
    other.table.names = names;
    assert_int_equal(teacher_ask(a, kit_backend(), NULL, model, &other, 2, &p, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "teacher: it was trained on other columns than this data set has");
    assert_int_equal(teacher_ask(a, kit_backend(), NULL, STR("no model"), &d, 2, &p, &e), ERR_BAD_DATA);
    assert_memory_equal(e.msg, "teacher: ", 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_student),
                                        cmocka_unit_test(test_a_checkpoint_of_another_teacher_is_refused),
                                        cmocka_unit_test(test_what_does_not_fit_is_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
