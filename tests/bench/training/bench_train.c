/* SPDX-License-Identifier: Apache-2.0 */
/* bench_train.c - the least processor time of a training step on one thread: bench_train gpt|cnn|mlp STEPS [fp32|bf16 [ROWS]].
 * Prints one line of JSON with seconds per step, GFLOP/s of its products (net_flops) and those of a square product of 768 in the
 * same minute and precision. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workers/compute/kernels/call.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/net.h"

enum { SIDE = 768, NUMBERS = 1 << 18 };
#define LIST(...) { (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double product(const struct backend *be, struct backend_ctx *c, unsigned flags)
{
    static float a[SIDE * SIDE], b[SIDE * SIDE], y[SIDE * SIDE];
    struct mat A = mat_host(a, ELEM_F32, SIDE, SIDE), B = mat_host(b, ELEM_F32, SIDE, SIDE), Y = mat_host(y, ELEM_F32, SIDE,
                                                                                                          SIDE);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        a[i] = b[i] = (float)(i % 97) / 97;
    double began = now();
    call_matmul(be, c, MM_TRANS_B | flags, &A, &B, NULL, &Y);
    return 2.0 * SIDE * SIDE * SIDE / (now() - began);
}

int main(int argc, char **argv)
{
    static float x[NUMBERS];
    static int32_t tokens[NUMBERS];
    const struct train_job jobs[] = {
        { .family = TRAIN_GPT, .layers = 4, .width = 256, .heads = 4, .context = 256, .accumulate = 1 },
        { .family = TRAIN_CNN, .image = LIST(32, 32, 3), .channels = LIST(64, 128, 256), .blocks = LIST(1), .residual = true },
        { .family = TRAIN_MLP, .hidden = LIST(512, 256) },
    };
    const struct net_shape shapes[] = { { 256, 256, NET_CLASSES }, { 3072, 10, NET_CLASSES }, { 784, 10, NET_CLASSES } };
    size_t rows[] = { 8, 32, 64 };
    bool is_bf16 = argc > 3 && !strcmp(argv[3], "bf16");
    int which = argc < 3 ? -1 : !strcmp(argv[1], "gpt") ? 0 : !strcmp(argv[1], "cnn") ? 1 : !strcmp(argv[1], "mlp") ? 2 : -1;
    const struct backend *be;
    struct backend_ctx *c;
    struct net *n;
    struct hw hw;
    struct err e = { 0 };
    double best = 1e9, peak = 0, loss;
    if (which < 0)
        return fprintf(stderr, "usage: bench_train gpt|cnn|mlp STEPS [fp32|bf16 [ROWS]]\n"), 2;
    if (argc > 4 && atoi(argv[4]) > 0 && (size_t)atoi(argv[4]) <= rows[which])
        rows[which] = (size_t)atoi(argv[4]);
    hw_read(&hw);
    const struct net_spec spec = { ELEM_F32, &jobs[which], shapes[which], rows[which], .has_update = true, .is_bf16 = is_bf16 };
    if (backend_choose("auto", &hw, NULL, NULL, &be, &e) != ERR_OK || be->open(be, NULL, &c, &e) != ERR_OK
        || net_new(be, c, &spec, &n, &e) != ERR_OK)
        return fprintf(stderr, "%s\n", e.msg), 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        x[i] = (float)philox_normal(1, 0, i);
        tokens[i] = (int32_t)(philox(1, 1, i).v[0] % shapes[which].outputs);
    }
    net_init(n, 1);
    const struct step_scalars at = { .lr = 1e-3, .correction1 = 0.1, .correction2 = 0.001, .grad_scale = 1, .loss_scale = 1 };
    for (int i = 0; i < atoi(argv[2]); i++) {
        double flops = product(be, c, is_bf16 ? OP_BF16 : 0), began = now();
        net_put(n, which ? (const void *)x : tokens, tokens, rows[which]);
        net_exec(n, rows[which], PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, false, &at);
        if (net_loss(n, &loss, &e) != ERR_OK)
            return 1;
        double took = now() - began;
        best = took < best ? took : best;
        peak = flops > peak ? flops : peak;
    }
    printf("{\"seconds\": %.6f, \"gflops\": %.1f, \"product_gflops\": %.1f, \"backend\": \"%s\", \"precision\": \"%s\"}\n",
           best,
           net_flops(n) * (double)rows[which] / best * 1e-9, peak * 1e-9, be->name, is_bf16 ? "bf16" : "fp32");
    net_free(n);
    be->close(c);
    return 0;
}
