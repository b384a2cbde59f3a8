/* SPDX-License-Identifier: Apache-2.0 */
/* bench_gpu.c - one figure of the backend on a card, as a line of JSON: bench_gpu STAGE SECONDS [NUMBER…], run by gpu.sh.
 *
 * check                          the self-test of every operation against the fp64 reference, and the rows that both hold
 * copy MIB                       bytes per second read and written by a copy on the card, and of copies up and down
 * product M N K                  of x[m,k] · w[n,k]ᵀ
 * attention B T HEADS D          causal; the backward form counts five products of which two are made again
 * gpt LAYERS WIDTH HEADS T B     a whole step; MFU by 6N + 6·layers·width·T
 *                                (the causal half is counted: llm.c's formula)
 * cnn SIDE CHANNELS B | mlp IN HIDDEN B
 * EMULATED: the same program over the form that runs on the processor; its figures say nothing and are not kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workers/compute/kernels/call.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/net.h"
#if defined(EMULATED)
#include "tests/cuda/emu.h"
#define BACKEND backend_cuda_emu
enum { ARGS = 5, WARM = 1, ROUNDS = 1 };
#else
#define BACKEND backend_cuda
enum { ARGS = 5, WARM = 2, ROUNDS = 7 };
#endif

static double budget_s;
static size_t arg[ARGS];
static struct backend_ctx *ctx;
static struct err err;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what)
{
    printf("{\"stage\": \"%s\", \"failed\": \"%s\"}\n", what, err.msg);
    exit(1);
}

static struct buffer *room(size_t numbers)
{
    struct buffer *b = BACKEND.alloc(ctx, numbers * sizeof(float));
    float piece[4096];
    if (!b) {
        FAIL(&err, LIMIT, "no memory for %zu numbers", numbers);
        stop("memory");
    }
    for (size_t i = 0; i < 4096; i++)
        piece[i] = (float)philox_normal(3, 0, i);           /* never zeros: they make products faster than they are */
    for (size_t at = 0; at < numbers; at += 4096)
        BACKEND.put(ctx, QUEUE_COMPUTE, b, at * sizeof(float), piece,
                    sizeof(float) * (numbers - at < 4096 ? numbers - at : 4096));
    return b;
}

static struct tensor tensor(struct buffer *b, unsigned rank, const size_t *dim)
{
    return tensor_at(b, 0, ELEM_F32, rank, dim);
}
#define DIMS(...) sizeof((size_t[]){ __VA_ARGS__ }) / sizeof(size_t), (size_t[]){ __VA_ARGS__ }

static void settle(const char *what)
{
    if (BACKEND.sync(ctx, &err) != ERR_OK)
        stop(what);
}

/* Seconds of one call: as many as fill the budget, in rounds; the median round. */
static double seconds_of(const char *what, void (*call)(void *), void *with)
{
    double took[ROUNDS], began = now();
    for (int i = 0; i < WARM; i++)
        call(with);
    settle(what);
    double each = (now() - began) / WARM;
    size_t count = (size_t)(budget_s / ROUNDS / (each > 0 ? each : 1e-6));
    count = count < 1 ? 1 : count > 1000 ? 1000 : count;
    for (int r = 0; r < ROUNDS; r++) {
        began = now();
        for (size_t i = 0; i < count; i++)
            call(with);
        settle(what);
        took[r] = (now() - began) / (double)count;
        for (int k = r; k && took[k] < took[k - 1]; k--) {
            double t = took[k];
            took[k] = took[k - 1];
            took[k - 1] = t;
        }
    }
    return took[ROUNDS / 2];
}

struct use {
    enum op op;
    struct op_call call;
};

static void call_use(void *with)
{
    const struct use *u = with;
    (*BACKEND.kernels)[u->op][ELEM_F32](ctx, &u->call);
}

static void stage_check(void)
{
    double began = now();
    if (backend_selftest(&BACKEND, &err) != ERR_OK)
        stop("check");
    printf("{\"stage\": \"check\", \"ok\": true, \"seconds\": %.2f}\n", now() - began);
}

struct travel {
    struct buffer *b;
    void *host;
    size_t bytes;
};

static void go_up(void *with)
{
    struct travel *t = with;
    BACKEND.put(ctx, QUEUE_COPY, t->b, 0, t->host, t->bytes);
}

static void go_down(void *with)
{
    struct travel *t = with;
    BACKEND.get(ctx, QUEUE_COPY, t->b, 0, t->host, t->bytes);
}

static void stage_copy(void)
{
    size_t n = (arg[0] << 20) / sizeof(float);
    struct buffer *b[2] = { room(n), room(n) };
    struct tensor x = tensor(b[0], DIMS(n)), y = tensor(b[1], DIMS(n));
    struct use u = { OP_COPY, { .in = { &x }, .out = { &y } } };
    double s = seconds_of("copy", call_use, &u);
    struct travel t = { b[0], calloc(n, sizeof(float)), n * sizeof(float) };
    settle("copy");
    double up = seconds_of("copy", go_up, &t), down = seconds_of("copy", go_down, &t);
    printf("{\"stage\": \"copy\", \"mib\": %zu, \"gb_s\": %.1f, \"up_gb_s\": %.1f, \"down_gb_s\": %.1f}\n", arg[0],
           2e-9 * (double)(n * sizeof(float)) / s, 1e-9 * (double)t.bytes / up, 1e-9 * (double)t.bytes / down);
    free(t.host);
    BACKEND.free(ctx, b[0]), BACKEND.free(ctx, b[1]);
}

/* FALAJ_GPU_BF16: products take their factors in bf16. */
static bool is_half(void)
{
    const char *s = getenv("FALAJ_GPU_BF16");
    return s && *s;
}

static void stage_product(void)
{
    size_t m = arg[0], n = arg[1], k = arg[2];
    struct buffer *b[3] = { room(m * k), room(n * k), room(m * n) };
    struct tensor x = tensor(b[0], DIMS(m, k)), w = tensor(b[1], DIMS(n, k)), y = tensor(b[2], DIMS(m, n));
    struct use u = { OP_MATMUL, { .attr.flags = MM_TRANS_B | (is_half() ? OP_BF16 : 0), .in = { &x, &w }, .out = { &y } } };
    double s = seconds_of("product", call_use, &u);
    printf("{\"stage\": \"product\", \"m\": %zu, \"n\": %zu, \"k\": %zu, \"type\": \"%s\", \"tflops\": %.2f}\n", m, n, k,
           is_half() ? "bf16" : "f32",
           2e-12 * (double)m * (double)n * (double)k / s);
    for (int i = 0; i < 3; i++)
        BACKEND.free(ctx, b[i]);
}

static void stage_attention(void)
{
    size_t n = arg[0], t = arg[1], h = arg[2], d = arg[3];
    struct buffer *b[5] = { room(n * t * 3 * h * d), room(n * t * h * d), room(n * h * t), room(n * t * h * d),
                            room(n * t * 3 * h * d) };
    struct tensor qkv = tensor(b[0], DIMS(n, t, 3 * h * d)), y = tensor(b[1], DIMS(n, t, h * d));
    struct tensor sums = tensor(b[2], DIMS(n, h, t)), dy = tensor(b[3], DIMS(n, t, h * d));
    struct tensor dx = tensor(b[4], DIMS(n, t, 3 * h * d));
    const struct op_attr attr = { .heads = h, .kv_heads = h, .flags = ATTN_CAUSAL };
    struct use f = { OP_ATTENTION, { attr, { &qkv }, { &y, &sums } } };
    struct use g = { OP_ATTENTION_BWD, { attr, { &qkv, &y, &sums, &dy }, { &dx } } };
    double flops = 2.0 * (double)(n * h) * (double)t * (double)t * (double)d;       /* two products, half of the square */
    double fs = seconds_of("attention", call_use, &f), gs = seconds_of("attention", call_use, &g);
    printf("{\"stage\": \"attention\", \"b\": %zu, \"t\": %zu, \"heads\": %zu, \"d\": %zu, \"tflops\": %.2f, "
           "\"back_tflops\": %.2f}\n", n, t, h, d, 1e-12 * flops / fs, 2.5e-12 * flops / gs);
    for (int i = 0; i < 5; i++)
        BACKEND.free(ctx, b[i]);
}

struct step {
    struct net *n;
    size_t rows;
    void *x;
    int32_t *labels;
    struct step_scalars at;
};

static void run_step(void *with)
{
    struct step *s = with;
    net_put(s->n, s->x, s->labels, s->rows);
    net_exec(s->n, s->rows, PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, false, &s->at);
    s->at.counter++;
}

/* flops: of an item (token, row) by the stated formula; 0: those of net_flops. */
static void stage_step(const char *name, const struct train_job *job, struct net_shape shape, size_t rows, double flops)
{
    const struct net_spec spec = { ELEM_F32, job, shape, rows, .has_update = true, .is_bf16 = is_half() };
    struct step s = { .rows = rows, .at = { .lr = 1e-4, .correction1 = 0.1, .correction2 = 0.001, .clip_norm = 1, .grad_scale = 1,
                                            .loss_scale = 1, .is_training = 1 } };
    double loss = 0;
    if (net_new(&BACKEND, ctx, &spec, &s.n, &err) != ERR_OK)
        stop(name);
    size_t items = rows * s.n->items, inputs = rows * shape.inputs;
    s.x = calloc(inputs, sizeof(float));
    s.labels = calloc(items, sizeof(int32_t));
    for (size_t i = 0; s.x && i < inputs; i++)
        if (job->family == TRAIN_GPT)
            ((int32_t *)s.x)[i] = (int32_t)(philox(1, 1, i).v[0] % shape.outputs);
        else
            ((float *)s.x)[i] = (float)philox_normal(1, 0, i);
    for (size_t i = 0; s.labels && i < items; i++)
        s.labels[i] = (int32_t)(philox(1, 2, i).v[0] % shape.outputs);
    net_init(s.n, 1);
    double seconds = seconds_of(name, run_step, &s);
    if (net_loss(s.n, &loss, &err) != ERR_OK)
        stop(name);
    double each = flops > 0 ? flops : net_flops(s.n) / (double)s.n->items;
    printf("{\"stage\": \"%s\", \"parameters\": %zu, \"rows\": %zu, \"type\": \"%s\", \"ms\": %.2f, \"items_s\": %.0f, "
           "\"tflops\": %.2f, \"loss\": %.4f, \"mib\": %zu}\n", name, s.n->numbers, rows,
           is_half() ? "bf16" : "f32", 1e3 * seconds, (double)items / seconds,
           1e-12 * each * (double)items / seconds, loss / (double)items, plan_bytes(s.n->plan) >> 20);
    free(s.x);
    free(s.labels);
    net_free(s.n);
}

static void stage_gpt(void)
{
    const struct train_job job = { .family = TRAIN_GPT, .layers = (int64_t)arg[0], .width = (int64_t)arg[1],
                                   .heads = (int64_t)arg[2],
                                   .context = (int64_t)arg[3], .accumulate = 1 };
    size_t words = arg[1] < 256 ? 32 : 50304, c = arg[1];
    double n = (double)(words * c + arg[3] * c + arg[0] * (12 * c * c + 13 * c) + 2 * c);
    stage_step("gpt", &job, (struct net_shape){ arg[3], words, NET_CLASSES }, arg[4],
               6 * n + 6 * (double)arg[0] * (double)c * (double)arg[3]);
}

static void stage_cnn(void)
{
    int64_t image[] = { (int64_t)arg[0], (int64_t)arg[0], 3 }, blocks[] = { 1 };
    int64_t channels[] = { (int64_t)arg[1], 2 * (int64_t)arg[1], 4 * (int64_t)arg[1] };
    const struct train_job job = { .family = TRAIN_CNN, .image = { image, 3 }, .channels = { channels, 3 },
                                   .blocks = { blocks, 1 },
                                   .residual = true };
    stage_step("cnn", &job, (struct net_shape){ arg[0] * arg[0] * 3, 10, NET_CLASSES }, arg[2], 0);
}

static void stage_mlp(void)
{
    int64_t hidden[] = { (int64_t)arg[1], (int64_t)arg[1] };
    const struct train_job job = { .family = TRAIN_MLP, .hidden = { hidden, 2 } };
    stage_step("mlp", &job, (struct net_shape){ arg[0], 10, NET_CLASSES }, arg[2], 0);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(void); int args; } stages[] = {
        { "check", stage_check, 0 }, { "copy", stage_copy, 1 }, { "product", stage_product, 3 },
        { "attention", stage_attention, 4 },
        { "gpt", stage_gpt, 5 },     { "cnn", stage_cnn, 3 },   { "mlp", stage_mlp, 3 },
    };
    for (size_t i = 0; argc >= 3 && i < sizeof stages / sizeof *stages; i++) {
        if (strcmp(argv[1], stages[i].name) || argc != 3 + stages[i].args)
            continue;
        budget_s = atof(argv[2]);
        for (int k = 3; k < argc; k++)
            arg[k - 3] = strtoul(argv[k], NULL, 10);
        if (BACKEND.open(&BACKEND, NULL, &ctx, &err) != ERR_OK)
            stop("open");
        stages[i].run();
        BACKEND.close(ctx);
        return 0;
    }
    fprintf(stderr, "usage: bench_gpu check|copy|product|attention|gpt|cnn|mlp SECONDS [NUMBER...]\n");
    return 2;
}
