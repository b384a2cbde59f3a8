/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_net.c - the families on the GPU backend, run on the processor: the same steps as the reference's, the same bits in
 * the other order of threads, and a perceptron that learns the digits. */
#include "emu_kit.h"

#include <math.h>

#include "../../train/run_kit.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/family.h"
#include "workers/compute/train/tune.h"

enum { ROWS = 5, NUMBERS = 4096, STEPS = 3 };

static bool launches_each;

/* STEPS steps from the same beginning; the parameters after them, from the heap. */
static float *steps_of(const struct backend *be, const struct train_job *job, struct net_shape shape, bool recomputes,
                       bool is_bf16, size_t *ret_count)
{
    static float x[NUMBERS];
    static int32_t tokens[NUMBERS], classes[NUMBERS];
    struct backend_ctx *c;
    struct net *n;
    struct err e = { 0 };
    const struct net_spec spec = { .type = ELEM_F32, .job = job, .shape = shape, .max_rows = ROWS, .has_update = true,
                                   .recomputes = recomputes, .is_bf16 = is_bf16, .launches_each = launches_each };
    size_t replays = emu_replays();
    struct step_scalars at = { .lr = 1e-2, .correction1 = 0.1, .correction2 = 0.001, .clip_norm = 1, .grad_scale = 1,
                               .loss_scale = 1, .seed = 9, .is_training = 1 };
    if (be->open(be, NULL, &c, &e) != ERR_OK || net_new(be, c, &spec, &n, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < NUMBERS; i++) {
        x[i] = (float)philox_normal(5, 0, i);
        tokens[i] = (int32_t)(philox(7, 1, i).v[0] % shape.outputs);
        classes[i] = (int32_t)(philox(7, 2, i).v[0] % shape.outputs);
    }
    net_init(n, 11);
    for (int s = 0; s < STEPS; s++, at.counter++) {
        double loss[2];
        const void *in = job->family == TRAIN_GPT ? (const void *)tokens : x;
        at.loss_scale = 0.6;                        /* a step of two batches, the second shorter */
        net_put(n, in, classes, ROWS);
        net_exec(n, ROWS, PHASE_FORWARD | PHASE_BACKWARD, false, &at);
        assert_int_equal(net_loss(n, &loss[0], &e), ERR_OK);
        at.loss_scale = 0.4;
        net_put(n, in, classes, ROWS - 2);
        net_exec(n, ROWS - 2, PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, true, &at);
        if (net_loss(n, &loss[1], &e) != ERR_OK)
            fail_msg("%s", e.msg);
        assert_true(loss[0] > 0 && isfinite(loss[1]));
    }
    /* Each of a step's two ways is launched once, and captured from its second time on. */
    assert_int_equal(emu_replays() - replays, be == &backend_cuda_emu && !launches_each ? 2 * (STEPS - 1) : 0);
    *ret_count = n->numbers;
    float *p = malloc(n->numbers * sizeof *p);
    be->get(c, QUEUE_COMPUTE, run_region(n->run, REGION_PARAMS), 0, p, n->numbers * sizeof *p);
    if (be->sync(c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    net_free(n);
    be->close(c);
    return p;
}

static float *steps(const struct backend *be, const struct train_job *job, struct net_shape shape, size_t *ret_count)
{
    return steps_of(be, job, shape, false, false, ret_count);
}

/* In bf16, activations too, where the reference has factors alone: AdamW takes a step for a sign, so small gradients that round
 * to the other side show (test_cuda_narrow.c judges gradients). */
static void compare_half(const char *name, const struct train_job *job, struct net_shape shape, const float *fp32)
{
    size_t n;
    float *want = steps_of(&backend_ref, job, shape, false, true, &n), *got[2];
    double off = 0, norm = 0, from_fp32 = 0;
    for (int descends = 0; descends < 2; descends++) {
        emu_set_descending(descends);
        got[descends] = steps_of(&backend_cuda_emu, job, shape, descends, true, &n);
        kit_quiet();
    }
    emu_set_descending(false);
    for (size_t i = 0; i < n; i++) {
        off += pow((double)got[0][i] - (double)want[i], 2);
        from_fp32 += pow((double)got[0][i] - (double)fp32[i], 2);
        norm += pow((double)want[i], 2);
    }
    print_message("%-8s bf16: off by %.1e of their norm, from fp32 %.1e\n", name, sqrt(off / norm), sqrt(from_fp32 / norm));
    assert_true(sqrt(off / norm) < 4e-2 && from_fp32 > 1e-6 * norm);
    assert_memory_equal(got[0], got[1], n * sizeof(float));    /* also made again, in the other order */
    free(want), free(got[0]), free(got[1]);
}

static void compare(const char *name, const struct train_job *job, struct net_shape shape)
{
    size_t n, n_ref;
    float *want = steps(&backend_ref, job, shape, &n_ref), *got[2];
    double off = 0, norm = 0;
    for (int descends = 0; descends < 2; descends++) {
        emu_set_descending(descends);
        launches_each = descends;                   /* and captured or not: the same bits */
        got[descends] = steps(&backend_cuda_emu, job, shape, &n);
        assert_int_equal(n, n_ref);
        kit_quiet();
    }
    launches_each = false;
    emu_set_descending(false);
    for (size_t i = 0; i < n; i++) {
        double d = (double)got[0][i] - (double)want[i];
        off += d * d;
        norm += (double)want[i] * (double)want[i];
    }
    print_message("%-8s %zu parameters, off by %.1e of their norm after %d steps\n", name, n, sqrt(off / norm), STEPS);
    assert_true(sqrt(off / norm) < 1e-4);
    assert_memory_equal(got[0], got[1], n * sizeof(float));
    if (!job->rms_norm && job->optimizer == TRAIN_ADAMW)    /* else: the same products again, and slow ones here */
        compare_half(name, job, shape, got[0]);
    free(want), free(got[0]), free(got[1]);
    assert_int_equal(emu_memory_used(), 0);
}

static void test_mlp(void **st)
{
    (void)st;
    struct train_job s = { .family = TRAIN_MLP, .optimizer = TRAIN_ADAMW, .hidden = LIST(17, 70), .dropout = 0.2,
                           .weight_decay = 0.1 };
    compare("mlp", &s, (struct net_shape){ 9, 10, NET_CLASSES });
    s.optimizer = TRAIN_SGD;
    compare("mlp sgd", &s, (struct net_shape){ 9, 3, NET_CLASSES });
}

static void test_cnn(void **st)
{
    (void)st;
    struct train_job s = { .family = TRAIN_CNN, .optimizer = TRAIN_ADAMW, .image = LIST(6, 5, 2), .channels = LIST(8, 12),
                           .blocks = LIST(1), .residual = true, .weight_decay = 0.1 };
    compare("cnn", &s, (struct net_shape){ 60, 4, NET_CLASSES });
}

static void test_gpt(void **st)
{
    (void)st;
    struct train_job s = { .family = TRAIN_GPT, .optimizer = TRAIN_ADAMW, .layers = 2, .width = 16, .heads = 2, .context = 11,
                           .dropout = 0.1, .weight_decay = 0.1 };
    compare("gpt", &s, (struct net_shape){ 11, 19, NET_CLASSES });
    s.rms_norm = s.rotary = s.gated = true;
    s.heads = 4;
    s.kv_heads = 2;
    compare("llama", &s, (struct net_shape){ 11, 19, NET_CLASSES });
}

/* Gradients that are set, added to, and left alone by an evaluation, all with the same rows: each way is captured for itself. */
static void test_ways_of_asking(void **st)
{
    (void)st;
    static const struct {
        unsigned phases;
        bool accumulate;
    } ways[] = { { PHASE_FORWARD | PHASE_BACKWARD, false }, { PHASE_FORWARD, false }, { PHASE_FORWARD | PHASE_BACKWARD, true } };
    enum { WAYS = sizeof ways / sizeof *ways };
    struct train_job s = { .family = TRAIN_MLP, .optimizer = TRAIN_ADAMW, .hidden = LIST(7) };
    const struct step_scalars at = { .grad_scale = 1, .loss_scale = 1 };
    static float x[9 * ROWS];
    static const int32_t classes[ROWS] = { 3, 1, 2, 0, 9 };
    float *grads[2];
    size_t n_grads = 0;
    for (size_t i = 0; i < 9 * ROWS; i++)
        x[i] = (float)philox_normal(5, 0, i);
    for (int each = 0; each < 2; each++) {
        const struct net_spec spec = { .type = ELEM_F32, .job = &s, .shape = { 9, 10, NET_CLASSES }, .max_rows = ROWS,
                                       .has_update = true, .launches_each = each };
        struct backend_ctx *c = kit_emu();
        struct net *n;
        struct err e;
        size_t replays = emu_replays();
        if (net_new(&backend_cuda_emu, c, &spec, &n, &e) != ERR_OK)
            fail_msg("%s", e.msg);
        net_init(n, 11);
        for (int i = 0; i < 3 * WAYS; i++) {
            net_put(n, x, classes, ROWS);
            net_exec(n, ROWS, ways[i % WAYS].phases, ways[i % WAYS].accumulate, &at);
        }
        assert_int_equal(emu_replays() - replays, each ? 0 : 2 * WAYS);
        n_grads = n->numbers;
        grads[each] = malloc(n_grads * sizeof(float));
        backend_cuda_emu.get(c, QUEUE_COMPUTE, run_region(n->run, REGION_GRADS), 0, grads[each], n_grads * sizeof(float));
        assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_OK);
        net_free(n);
        kit_close(c);
    }
    assert_memory_equal(grads[0], grads[1], n_grads * sizeof(float));
    free(grads[0]), free(grads[1]);
}

/* Through the engine: data, evaluation, clipping, a model file, held out. */
static void test_digits(void **st)
{
    (void)st;
    static int64_t hidden[] = { 32 };
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct train_job s = kit_spec();
    struct train_result r;
    struct err e = { 0 };
    s.hidden = (struct slice){ hidden, 1 };
    s.learning_rate = 1e-2;
    s.epochs = 3;
    s.classes = 10;
    struct train_data d = kit_digits(a, &s);
    const struct train_task job = { .spec = &s, .data = &d, .backend = &backend_cuda_emu, .clock = &clock_system,
                                    .dataset_digest = STR("sha256:kit") };
    const struct train_observer o = { .on_log = kit_log };
    if (train_run(a, &job, &o, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_true(r.holdout_accuracy >= 0.95 && r.model.len > 8000);
    train_result_release(&r);
    kit_quiet();
    assert_int_equal(emu_memory_used(), 0);
}

/* A step that is not captured is among the ways that are tried, and shows in no bit. */
static void test_tuned(void **st)
{
    (void)st;
    static int64_t hidden[] = { 16 };
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct train_job s = kit_spec();
    struct tuned tuned = { 0 };
    struct err e = { 0 };
    bool is_tried = false;
    s.hidden = (struct slice){ hidden, 1 };
    s.classes = 10;
    s.tune_steps = 2;
    struct train_data d = kit_digits(a, &s);
    const struct train_task task = { .spec = &s, .data = &d, .backend = &backend_cuda_emu, .clock = &clock_system,
                                     .dataset_digest = STR("sha256:kit") };
    const struct train_observer o = { .on_log = kit_log };
    if (tune(a, &task, 1, true, &o, &tuned, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    const struct train_tuning_row *rows = tuned.table.rows.items;
    for (size_t i = 0; i < tuned.table.rows.n; i++)
        is_tried |= str_eq_c(rows[i].setting, "graph") && str_eq_c(rows[i].value, "false") && rows[i].ms > 0;
    assert_true(is_tried && tuned.table.bits_kept && tuned.task.launches_each == tuned.way.launches_each);
    tuned_release(&tuned);
    kit_quiet();
}

/* A card that is too small: what would fit is said. */
static void test_too_small_a_card(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct train_job s = kit_spec();
    struct train_result r;
    struct err e = { 0 };
    s.classes = 10;
    struct train_data d = kit_digits(a, &s);
    const struct train_task job = { .spec = &s, .data = &d, .backend = &backend_cuda_emu, .clock = &clock_system,
                                    .dataset_digest = STR("sha256:kit") };
    emu_set_memory(4096);
    assert_int_equal(train_run(a, &job, NULL, &r, &e), ERR_LIMIT);
    emu_set_memory(0);
    assert_non_null(strstr(e.msg, "does not fit in"));
    assert_int_equal(emu_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_mlp),    cmocka_unit_test(test_cnn), cmocka_unit_test(test_gpt),
                                        cmocka_unit_test(test_digits), cmocka_unit_test(test_too_small_a_card),
                                        cmocka_unit_test(test_ways_of_asking),
                                        cmocka_unit_test(test_tuned) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
