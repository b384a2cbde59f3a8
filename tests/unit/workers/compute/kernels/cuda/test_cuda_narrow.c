/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_narrow.c - nets whose activations are bf16, on the GPU backend run on the processor: their gradients against fp64,
 * once and added up, with blocks kept and made again. */
#include "emu_kit.h"

#include <math.h>
#include <stdlib.h>

#include "workers/compute/rng.h"
#include "workers/compute/train/family.h"

#define LIST(...) { (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }
enum { ROWS = 3, NUMBERS = 512 };

struct case_of {
    const char *name;
    struct train_job job;
    struct net_shape shape;
};

/* The gradient of one batch, from the heap, as fp64: `times` times the same, added up. */
static double *gradient(const struct case_of *k, const struct backend *be, bool is_narrow, bool recomputes, int times,
                        size_t *ret_count, double *ret_loss)
{
    static double wide[NUMBERS], *x = wide;
    static float narrow[NUMBERS];
    static int32_t tokens[NUMBERS], classes[NUMBERS];
    const struct step_scalars at = { .loss_scale = 1, .grad_scale = 1, .seed = 9, .counter = 4, .is_training = 1 };
    const struct net_spec spec = { .type = is_narrow ? ELEM_F32 : ELEM_F64, .job = &k->job, .shape = k->shape, .max_rows = ROWS,
                                   .is_bf16 = is_narrow, .recomputes = recomputes };
    struct backend_ctx *c;
    struct net *n;
    struct err e;
    if (be->open(be, NULL, &c, &e) != ERR_OK || net_new(be, c, &spec, &n, &e) != ERR_OK)
        fail_msg("%s: %s", k->name, e.msg);
    for (size_t i = 0; i < NUMBERS; i++) {
        narrow[i] = (float)philox_normal(5, 0, i);
        x[i] = (double)narrow[i];
        tokens[i] = (int32_t)(philox(7, 1, i).v[0] % k->shape.outputs);
        classes[i] = (int32_t)(philox(7, 2, i).v[0] % k->shape.outputs);
    }
    net_init(n, 11);
    const void *in = k->job.family == TRAIN_GPT ? (const void *)tokens : is_narrow ? (const void *)narrow : x;
    const void *want = k->shape.goal == NET_CLASSES ? (const void *)classes : is_narrow ? (const void *)narrow : x;
    for (int i = 0; i < times; i++) {
        net_put(n, in, want, ROWS);
        net_exec(n, ROWS, PHASE_FORWARD | PHASE_BACKWARD, i > 0, &at);
        if (net_loss(n, ret_loss, &e) != ERR_OK)
            fail_msg("%s: %s", k->name, e.msg);
    }
    double *ret = calloc(n->numbers, sizeof *ret);
    float *f = calloc(n->numbers, sizeof *f);
    be->get(c, QUEUE_COMPUTE, run_region(n->run, REGION_GRADS), 0, is_narrow ? (void *)f : ret,
            n->numbers * elem_bytes(spec.type));
    assert_int_equal(be->sync(c, &e), ERR_OK);
    for (size_t i = 0; i < n->numbers && is_narrow; i++)
        ret[i] = (double)f[i];
    *ret_count = n->numbers;
    free(f);
    net_free(n);
    be->close(c);
    return ret;
}

static void near_fp64(const struct case_of *k)
{
    size_t n, m;
    double loss[3], off = 0, norm = 0, own = 0, both = 0;
    double *want = gradient(k, &backend_ref, false, false, 1, &n, &loss[0]);
    double *got = gradient(k, &backend_cuda_emu, true, false, 1, &m, &loss[1]);
    kit_quiet();
    emu_set_descending(true);
    double *twice = gradient(k, &backend_cuda_emu, true, true, 2, &m, &loss[2]);    /* and made again: the same bits, doubled */
    emu_set_descending(false);
    kit_quiet();
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        off += pow(got[i] - want[i], 2), norm += want[i] * want[i], own += got[i] * got[i], both += got[i] * want[i];
        if (fabs(twice[i] - 2 * got[i]) > 4e-6 * fabs(got[i]) + 1e-6 * sqrt(norm))
            fail_msg("%s: gradient %zu is %g, and twice that %g", k->name, i, got[i], twice[i]);
    }
    double distance = sqrt(off / norm), cosine = both / sqrt(norm * own);
    print_message("%-10s gradient off by %.1e, cosine 1 - %.1e, loss %.5f of %.5f\n", k->name, distance, 1 - cosine, loss[1],
                  loss[0]);
    assert_true(distance < 3e-2 && distance > 1e-4 && cosine > 0.9995 && fabs(loss[1] - loss[0]) < 1e-2 * loss[0]);
    assert_true(loss[1] == loss[2]);
    free(want), free(got), free(twice);
}

static void test_gradients(void **st)
{
    (void)st;
    const struct case_of all[] = {
        { "mlp", { .family = TRAIN_MLP, .hidden = LIST(16, 9) }, { 20, 3, NET_CLASSES } },
        { "dropout", { .family = TRAIN_MLP, .hidden = LIST(8, 16), .dropout = 0.3 }, { 20, 3, NET_CLASSES } },
        { "regression", { .family = TRAIN_MLP, .hidden = LIST(16) }, { 20, 2, NET_REGRESSION } },
        { "cnn", { .family = TRAIN_CNN, .image = LIST(6, 5, 2), .channels = LIST(4, 6), .blocks = LIST(1), .residual = true },
          { 60, 3, NET_CLASSES } },
        { "gpt", { .family = TRAIN_GPT, .layers = 2, .width = 8, .heads = 2, .context = 6, .dropout = 0.1 },
          { 6, 11, NET_CLASSES } },
        { "llama", { .family = TRAIN_GPT, .layers = 2, .width = 16, .heads = 2, .kv_heads = 1, .context = 5, .rms_norm = true,
                     .rotary = true, .gated = true }, { 5, 11, NET_CLASSES } },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        near_fp64(&all[i]);
    assert_int_equal(emu_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_gradients) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
