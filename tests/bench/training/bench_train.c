/* SPDX-License-Identifier: Apache-2.0 */
/* bench_train.c - the least processor time of a training step on one thread:
 * bench_train [--backend NAME] [--operations] gpt|cnn|mlp STEPS [fp32|bf16 [ROWS]].
 * Prints one line of JSON with seconds per step, GFLOP/s of its products (net_flops) and those of a square product of 768 in the
 * same minute and precision. NAME as worker.backend has it (auto, ref, avx2, avx512 ...): a lower tier than the machine's can be
 * held to. --operations: the least time of each operation in all steps by the clock of the wall, on standard error, in the order
 * in which they run; a step that is watched takes a little longer. */
#include <getopt.h>
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

static const char usage[] = "usage: bench_train [--backend NAME] [--operations] gpt|cnn|mlp STEPS [fp32|bf16 [ROWS]]\n";

struct args {
    const char *backend;
    int which, steps;
    size_t rows;                /* 0: the net's own */
    bool is_bf16, has_operations;
};

static bool args_read(int argc, char **argv, struct args *ret)
{
    static const struct option known[] = { { "backend", required_argument, NULL, 'b' }, { "operations", no_argument, NULL, 'o' },
                                           { NULL, 0, NULL, 0 } };
    static const char *const names[] = { "gpt", "cnn", "mlp" };
    *ret = (struct args){ .backend = "auto", .which = -1 };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;)
        if (c == 'b')
            ret->backend = optarg;
        else if (c == 'o')
            ret->has_operations = true;
        else
            return false;
    argv += optind;
    argc -= optind;
    for (int i = 0; i < 3 && argc > 0; i++)
        ret->which = strcmp(argv[0], names[i]) ? ret->which : i;
    ret->steps = argc > 1 ? atoi(argv[1]) : 0;
    ret->is_bf16 = argc > 2 && !strcmp(argv[2], "bf16");
    ret->rows = argc > 3 && atoi(argv[3]) > 0 ? (size_t)atoi(argv[3]) : 0;
    return ret->which >= 0 && ret->steps > 0 && (argc < 3 || ret->is_bf16 || !strcmp(argv[2], "fp32"));
}

/* Keeps the least of each operation's times in us; least[i] < 0: none yet. */
static void note_times(struct run_times *t, int64_t *least)
{
    for (int i = 0; i < t->count; i++) {
        int64_t us = t->of[i].spent_us;
        if (t->of[i].calls)
            least[i] = least[i] < 0 || us < least[i] ? us : least[i];
        t->of[i].spent_us = t->of[i].calls = 0;
        t->of[i].bytes = 0;
    }
}

static void print_times(const struct net *n, const struct run_times *t, const int64_t *least, size_t rows)
{
    double sum = 0;
    for (int i = 0; i < t->count; i++) {
        const struct node *o = t->of[i].node;
        const struct value *v = o->out[0] == VALUE_NONE ? NULL : &n->g->values[o->out[0]];
        double flops = net_node_flops(n, o, rows);
        if (least[i] < 0)
            continue;
        sum += (double)least[i];
        fprintf(stderr, "%-20s phase %u %8lld us %6.1f GFLOP/s", op_name(o->op), (unsigned)o->phase, (long long)least[i],
                flops / (double)(least[i] ? least[i] : 1) * 1e-3);
        for (unsigned d = 0; v && d < v->shape.rank; d++)
            fprintf(stderr, "%s%zu", d ? " x " : "  ", v->shape.dim[d].n * (v->shape.dim[d].is_batched ? rows : 1));
        fputc('\n', stderr);
    }
    fprintf(stderr, "all operations %.0f us\n", sum);
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
    struct args o;
    const struct backend *be;
    struct backend_ctx *c;
    struct net *n;
    struct hw hw;
    struct err e = { 0 };
    double best = 1e9, peak = 0, loss;
    if (!args_read(argc, argv, &o))
        return fputs(usage, stderr), 2;
    size_t count = o.rows && o.rows <= rows[o.which] ? o.rows : rows[o.which];
    hw_read(&hw);
    const struct net_spec spec = { ELEM_F32, &jobs[o.which], shapes[o.which], count, .has_update = true, .is_bf16 = o.is_bf16 };
    if (backend_choose(o.backend, &hw, NULL, NULL, &be, &e) != ERR_OK || be->open(be, NULL, &c, &e) != ERR_OK
        || net_new(be, c, &spec, &n, &e) != ERR_OK)
        return fprintf(stderr, "bench_train: %s\n", e.msg), 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        x[i] = (float)philox_normal(1, 0, i);
        tokens[i] = (int32_t)(philox(1, 1, i).v[0] % shapes[o.which].outputs);
    }
    net_init(n, 1);
    struct run_times *times = o.has_operations ? run_watch_begin(n->run) : NULL;
    int64_t *least = times ? malloc((size_t)times->count * sizeof *least) : NULL;
    for (int i = 0; least && i < times->count; i++)
        least[i] = -1;
    const struct step_scalars at = { .lr = 1e-3, .correction1 = 0.1, .correction2 = 0.001, .grad_scale = 1, .loss_scale = 1 };
    for (int i = 0; i < o.steps; i++) {
        double flops = product(be, c, o.is_bf16 ? OP_BF16 : 0), began = now();
        net_put(n, o.which ? (const void *)x : tokens, tokens, count);
        net_exec(n, count, PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, false, &at);
        if (net_loss(n, &loss, &e) != ERR_OK)
            return 1;
        double took = now() - began;
        best = took < best ? took : best;
        peak = flops > peak ? flops : peak;
        if (least)
            note_times(times, least);
    }
    if (least)
        print_times(n, times, least, count);
    printf("{\"seconds\": %.6f, \"gflops\": %.1f, \"product_gflops\": %.1f, \"backend\": \"%s\", \"precision\": \"%s\"}\n",
           best,
           net_flops(n) * (double)count / best * 1e-9, peak * 1e-9, be->name, o.is_bf16 ? "bf16" : "fp32");
    free(least);
    net_free(n);
    be->close(c);
    return 0;
}
