/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_eval.c - every objective by a whole run: numbers and flags out of a table are learnt, told by their score, and
 * served in
 * the units of the data; a constant number explains nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "core/data/model_mlp.h"
#include "run_kit.h"
#include "workers/compute/infer/model.h"
#include "workers/compute/rng.h"

enum { ROWS = 600 };

/* a and b at random; number: 500 + 40·a - 30·b; two flags: a > b, a + b > 0. */
static struct str table(struct arena *a, bool is_constant)
{
    struct buf b = BUF(1 << 20);
    buf_add_c(&b, "id,a,b,number,flag_1,flag_2\n");
    for (uint64_t i = 0; i < ROWS; i++) {
        double x = philox_normal(5, 0, i), y = philox_normal(5, 1, i), v = is_constant ? 7 : 500 + 40 * x - 30 * y;
        buf_printf(&b, "row %llu,%.6f,%.6f,%.6f,%d,%d\n", (unsigned long long)i, x, y, v, x > y, x + y > 0);
    }
    struct str copy = str_dup(a, buf_str(&b));
    buf_release(&b);
    return copy;
}

static struct train_data learn(struct arena *a, int target, bool is_constant, struct train_result *r)
{
    static const struct str others[] = { { "id", 2 }, { "flag_1", 6 }, { "flag_2", 6 }, { "number", 6 } };
    bool is_number = target == TARGET_NUMBER;
    const struct str ignored[2][3] = { { others[0], others[3] }, { others[0], others[1], others[2] } };
    const struct data_schema schema = { .label = is_number ? STR("number") : STR("flag_*"), .target = target,
                                        .ignored = { (void *)ignored[is_number], is_number ? 3 : 2 } };
    struct train_job s = kit_spec();
    struct train_data d;
    struct err e = { 0 };
    s.objective = is_number ? TRAIN_REGRESSION : TRAIN_MULTI_LABEL;
    s.hidden = (struct slice)LIST(16);
    s.epochs = 25;
    s.learning_rate = 0.01;
    s.early_stop_patience = 25;         /* the best, not the last */
    if (train_data_rows(a, table(a, is_constant), &schema, &s, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    kit_train(a, &s, &d, r);
    return d;
}

/* What the served model says of the rows held out. */
static void ask(const struct train_data *d, const struct train_result *r, size_t answers, float *ret)
{
    struct arena *a = arena_new(64 << 20);
    struct infer_model *m;
    struct infer_session *run;
    struct model_mlp mlp;
    struct err e = { 0 };
    struct model_stream stream = { .arena = a, .size_bytes = r->model.len };
    if (model_stream_add(&stream, r->model.ptr, r->model.len, &e) != ERR_OK || model_stream_end(&stream, &mlp, &e) != ERR_OK
        || infer_model_load(kit_backend(), NULL, r->model.ptr, r->model.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_true(stream.inputs == 2 && stream.outputs == answers);
    assert_int_equal(infer_session_new(m, &run, &e), ERR_OK);
    for (size_t i = 0; i < d->holdout_count; i++) {
        float *x = d->table.x + d->holdout[i] * 2;
        assert_int_equal(infer_run(run, &(struct infer_io){ .in = { x }, .out = { ret + i * answers } }, 1, &e), ERR_OK);
    }
    infer_session_free(run);
    infer_model_free(m);
    model_stream_release(&stream);
    arena_free(a);
}

static void test_number(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_result r;
    struct train_data d = learn(a, TARGET_NUMBER, false, &r);
    float *said = ARENA_ARRAY(a, float, d.holdout_count);
    double off = 0, spread = 0;
    assert_true(r.holdout_accuracy > 0.99);
    ask(&d, &r, 1, said);
    for (size_t i = 0; i < d.holdout_count; i++) {
        double y = (double)d.table.targets[d.holdout[i]];
        off += (y - (double)said[i]) * (y - (double)said[i]);
        spread += (y - 500) * (y - 500);
    }
    assert_true(off / spread < 0.02);
    train_result_release(&r);
}

static void test_flags(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_result r;
    struct train_data d = learn(a, TARGET_FLAGS, false, &r);
    float *said = ARENA_ARRAY(a, float, 2 * d.holdout_count);
    size_t right = 0;
    assert_true(r.holdout_accuracy > 0.95);
    ask(&d, &r, 2, said);
    for (size_t i = 0; i < 2 * d.holdout_count; i++) {
        assert_true(said[i] >= 0 && said[i] <= 1);
        right += (said[i] > 0.5f) == (d.table.targets[2 * d.holdout[i / 2] + i % 2] > 0);
    }
    assert_true(fabs((double)right / (2.0 * (double)d.holdout_count) - r.holdout_accuracy) < 1e-9);
    train_result_release(&r);
}

static void test_constant(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_result r;
    struct train_data d = learn(a, TARGET_NUMBER, true, &r);
    float *said = ARENA_ARRAY(a, float, d.holdout_count);
    ask(&d, &r, 1, said);
    for (size_t i = 0; i < d.holdout_count; i++)
        assert_true(fabs((double)said[i] - 7) < 0.2);
    assert_true(r.holdout_accuracy <= 1);
    train_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_number), cmocka_unit_test(test_flags),
                                        cmocka_unit_test(test_constant) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
