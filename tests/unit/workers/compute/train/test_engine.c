/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine.c - the digits, bit-equal repeats, early stops, and runs that begin with a model. */
#include "engine_kit.h"

static void overfit(bool is_bf16)
{
    struct err e;
    const struct backend *be = kit_backend();
    struct backend_ctx *c;
    struct net *m;
    int64_t width = 64;
    struct train_job sgd = { .optimizer = TRAIN_SGD, .hidden = { &width, 1 } };
    const struct net_spec spec = { ELEM_F32, &sgd, { 64, 10, NET_CLASSES }, 64, 1 << 26, .has_update = true,
                                   .is_bf16 = is_bf16 };
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct train_job s = kit_spec();
    struct train_data d;
    assert_int_equal(train_data_rows(a, digits, &schema, &s, &d, &e), ERR_OK);
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    assert_int_equal(net_new(be, c, &spec, &m, &e), ERR_OK);
    net_init(m, 1);
    float x[64 * 64];
    int32_t labels[64];
    for (uint32_t i = 0; i < 64; i++) {
        train_data_row(&d, i, x + i * 64);
        labels[i] = d.table.labels[i];
    }
    double loss = 0;
    const struct step_scalars step = { .lr = 0.1, .loss_scale = 1, .grad_scale = 1 };
    for (int i = 0; i < 300; i++) {
        net_put(m, x, labels, 64);
        net_exec(m, 64, PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, false, &step);
        assert_int_equal(net_loss(m, &loss, &e), ERR_OK);
        if (i == 0)
            assert_true(fabs(loss / 64 - log(10)) < 0.1);
    }
    assert_true(loss / 64 < 0.01);
    net_free(m);
    be->close(c);
}

static void test_overfit_and_first_loss(void **st)
{
    (void)st;
    overfit(false);
    overfit(true);
}

/* Golden first steps. With bias correction m/sqrt(v) of a gradient that hardly changes is its sign, so each of the first
 * steps moves each parameter by the learning rate. Without it the first would move by 3.16 of it; with the t of the first
 * step for ever, the second by 1.34. */
static void test_adamw_moves_by_the_learning_rate_from_the_first_step(void **st)
{
    (void)st;
    enum { N = 128 * 64 + 10 * 128 };
    const double lr = 1e-4;
    static float at[4][N];
    for (int64_t step = 0; step < 4; step++)        /* none is so small that nothing moves */
        assert_int_equal(params_after(step ? step : 1, step ? lr : 1e-12, kit_backend(), at[step], N), N);
    for (int step = 1; step < 4; step++) {
        size_t moved = 0, right = 0;
        for (size_t i = 0; i < N; i++) {
            double by = fabs((double)at[step][i] - (double)at[step - 1][i]) / lr;
            moved += by > 0.01;
            right += by > 0.97 && by < 1.03;
        }
        print_message("step %d: %zu parameters moved, %zu of them by the learning rate\n", step, moved, right);
        assert_true(moved > N / 2);
        assert_true(right > moved / 10 * 9);
    }
}

static void test_digits(void **st)
{
    (void)st;
    struct err e;
    struct train_job s = kit_spec();
    struct train_result r, again, other;
    s.learning_rate = 3e-3;
    run_once(&s, kit_backend(), NULL, 0, &r, &e, ERR_OK);
    print_message("digits: %lld epochs, hold-out accuracy %.4f, loss %.4f, %zu parameters\n", (long long)r.epochs,
                  r.holdout_accuracy,
                  r.holdout_loss, r.parameters);
    assert_true(r.holdout_accuracy >= 0.97 && r.end == TRAIN_DONE);
    s.classes = 10;
    int64_t most = train_job_model_bytes(&s, 64);      /* what submit goes by */
    assert_true((int64_t)r.model.len <= most && most < (int64_t)r.model.len + 40000);
    assert_true(r.holdout_count > 350 && r.holdout_count < 370);
    run_once(&s, kit_backend(), NULL, 0, &again, &e, ERR_OK);
    assert_int_equal(r.model.len, again.model.len);
    assert_memory_equal(r.model.ptr, again.model.ptr, r.model.len);
    s.seed = 2;
    run_once(&s, kit_backend(), NULL, 0, &other, &e, ERR_OK);
    assert_memory_not_equal(r.model.ptr, other.model.ptr, r.model.len);
    train_result_release(&r);
    train_result_release(&again);
    train_result_release(&other);
}

/* Digits with products in bf16, on the best backend and on the reference: as good as in fp32, a loss within 0.02 of its, other
 * bits, and none of its checkpoints. */
static void test_digits_in_bf16(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_result wide, half;
    s.learning_rate = 3e-3;
    run_once(&s, kit_backend(), NULL, 0, &wide, &e, ERR_OK);
    s.precision = TRAIN_BF16;
    run_once(&s, kit_backend(), NULL, 0, &half, &e, ERR_OK);
    print_message("digits: fp32 %.4f, loss %.4f; bf16 %.4f, loss %.4f\n", wide.holdout_accuracy, wide.holdout_loss,
                  half.holdout_accuracy, half.holdout_loss);
    assert_true(half.holdout_accuracy >= 0.97 && fabs(half.holdout_loss - wide.holdout_loss) < 0.02);
    assert_true(half.model.len != wide.model.len || memcmp(half.model.ptr, wide.model.ptr, half.model.len));
    train_result_release(&half);
    train_result_release(&wide);
    s.epochs = 2;
    const struct ckpt_store *store = kit_store_init(&kept);
    run_once(&s, &backend_ref, store, 20, &half, &e, ERR_OK);
    train_result_release(&half);
    s.precision = TRAIN_FP32;
    run_once(&s, &backend_ref, store, 30, &wide, &e, ERR_CONFLICT);
    s.precision = TRAIN_AUTO;           /* the reference has no fast bf16 */
    run_once(&s, &backend_ref, store, 30, &wide, &e, ERR_CONFLICT);
    kit_store_release(&kept);
}

static void test_early_stop(void **st)
{
    (void)st;
    struct err e;
    struct train_job s = kit_spec();
    struct train_result r;
    s.epochs = 500;
    s.learning_rate = 1e-2;
    s.schedule = TRAIN_CONST;
    s.early_stop_patience = 3;
    run_once(&s, kit_backend(), NULL, 0, &r, &e, ERR_OK);
    assert_int_equal(r.end, TRAIN_EARLY_STOPPED);
    assert_true(r.epochs < 500 && r.holdout_accuracy > 0.95);
    train_result_release(&r);
    s.learning_rate = 10;
    s.optimizer = TRAIN_SGD;
    s.epochs = 20;
    run_once(&s, kit_backend(), NULL, 0, &r, &e, ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "smaller lr"));
}

/* One step so small that it changes nothing, beginning with a model's weights. */
static enum errc go_on(struct arena *a, struct str text, const struct data_schema *sch, struct train_job s, struct str model,
                       struct train_result *r, struct err *e)
{
    struct st_file *f = ARENA_NEW(a, struct st_file);
    struct train_data *d = ARENA_NEW(a, struct train_data);
    s.max_steps = 1;
    s.learning_rate = 1e-12;
    assert_int_equal(st_parse(a, model.ptr, model.len, f, e), ERR_OK);
    TRY(train_data_rows_from(a, text, sch, &s, f, d, e));
    const struct train_task task = { .spec = &s, .data = d, .backend = kit_backend(), .clock = &clock_system, .start = f,
                                     .start_digest = STR("sha256:model"), .dataset_digest = STR("sha256:kit") };
    return train_run(a, &task, NULL, r, e);
}

static void cannot_go_on(struct arena *a, const struct data_schema *sch, const struct train_job *s, struct str model,
                         const char *why)
{
    struct train_result r;
    struct err e = { 0 };
    assert_int_equal(go_on(a, digits, sch, *s, model, &r, &e), ERR_UNPROCESSABLE);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}

static void test_begins_with_a_model(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    int64_t own[] = { 16, 10 }, other[] = { 16, 12 }, more[] = { 16, 10, 10 };
    static struct str one[] = { { "p0_0", 4 } };
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r, again;
    struct err e = { 0 };
    s.epochs = 6;
    s.hidden = (struct slice){ own, 2 };
    kit_train(a, &s, &d, &r);
    struct str model = buf_str(&r.model);
    if (go_on(a, digits, &schema, s, model, &again, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_true(again.steps == 1 && again.holdout_accuracy == r.holdout_accuracy && r.holdout_accuracy > 0.6);
    assert_true(fabs(again.holdout_loss - r.holdout_loss) < 1e-6);
    train_result_release(&again);
    s.hidden = (struct slice){ other, 2 };
    cannot_go_on(a, &schema, &s, model, "start_from: the model file has no tensor mlp.1.weight of f32 in the shape");
    s.hidden = (struct slice){ more, 3 };
    cannot_go_on(a, &schema, &s, model, "start_from: the model file has no tensor mlp.3.weight");
    s.hidden = (struct slice){ own, 1 };        /* its last layer has the shape of the model's second */
    cannot_go_on(a, &schema, &s, model, "start_from: the model has a tensor mlp.2.");
    s.hidden = (struct slice){ own, 2 };
    const struct data_schema less = { .label = schema.label, .classes = 10, .ignored = { one, 1 } };
    cannot_go_on(a, &less, &s, model, "start_from: the model was trained on other columns");
    s.family = TRAIN_CNN;
    s.image = (struct slice)LIST(8, 8, 1);
    s.channels = s.blocks = (struct slice)LIST(4);
    cannot_go_on(a, &schema, &s, model, "start_from: the model is of the family mlp; this job trains cnn");
    train_result_release(&r);
}

/* A number is learnt in units of its deviation and stored in its own: going on turns it back. */
static void test_begins_with_a_model_of_a_number(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    const struct data_schema of_y = { .label = STR("y"), .target = TARGET_NUMBER };
    struct train_job s = kit_spec();
    struct train_data d;
    struct train_result r, again;
    struct err e = { 0 };
    buf_add_c(&b, "x,y\n");
    for (int i = 0; i < 400; i++)
        buf_printf(&b, "%d,%d\n", i, 5000 + 30 * i);
    s.objective = TRAIN_REGRESSION;
    s.epochs = 20;
    assert_int_equal(train_data_rows(a, buf_str(&b), &of_y, &s, &d, &e), ERR_OK);
    kit_train(a, &s, &d, &r);
    assert_int_equal(go_on(a, buf_str(&b), &of_y, s, buf_str(&r.model), &again, &e), ERR_OK);
    assert_true(r.holdout_accuracy > 0.9 && fabs(again.holdout_accuracy - r.holdout_accuracy) < 1e-4);
    train_result_release(&again);
    train_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overfit_and_first_loss), cmocka_unit_test(test_digits), cmocka_unit_test(test_digits_in_bf16),
        cmocka_unit_test(test_adamw_moves_by_the_learning_rate_from_the_first_step),
        cmocka_unit_test(test_early_stop),
        cmocka_unit_test(test_begins_with_a_model),
        cmocka_unit_test(test_begins_with_a_model_of_a_number),
    };
    return cmocka_run_group_tests(tests, load_digits, drop_digits);
}
