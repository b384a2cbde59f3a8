/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_ops.c - single operations: copies, products, attention.
 *
 * In bf16 the tensors themselves are bf16 where the backend has such kernels; elsewhere factors of f32 are rounded when they are
 * read (OP_BF16), and the line says "rounded". */
#include "tests/bench/training/gpu_kit.h"

struct travel {
    struct buffer *b;
    void *host;
    size_t bytes;
};

static void go_up(void *with)
{
    struct travel *t = with;
    gpu.put(ctx, QUEUE_COPY, t->b, 0, t->host, t->bytes);
}

static void go_down(void *with)
{
    struct travel *t = with;
    gpu.get(ctx, QUEUE_COPY, t->b, 0, t->host, t->bytes);
}

void stage_copy(void)
{
    size_t n = (arg[0] << 20) / sizeof(float);
    struct buffer *b[2] = { room(n, ELEM_F32), room(n, ELEM_F32) };
    struct tensor x = tensor(b[0], ELEM_F32, DIMS(n)), y = tensor(b[1], ELEM_F32, DIMS(n));
    struct use u = { OP_COPY, ELEM_F32, { .in = { &x }, .out = { &y } } };
    double s = seconds_of("copy", call_use, &u);
    struct travel t = { b[0], malloc(n * sizeof(float)), n * sizeof(float) };
    if (!t.host)
        return;
    memset(t.host, 1, t.bytes);
    double up = seconds_of("copy", go_up, &t), down = seconds_of("copy", go_down, &t);
    printf("{\"stage\": \"copy\", \"mib\": %zu, \"gb_s\": %.1f, \"up_gb_s\": %.1f, \"down_gb_s\": %.1f}\n", arg[0],
           2e-9 * (double)(n * sizeof(float)) / s, 1e-9 * (double)t.bytes / up, 1e-9 * (double)t.bytes / down);
    free(t.host);
    gpu.free(ctx, b[0]), gpu.free(ctx, b[1]);
}

struct product {
    const char *name;
    unsigned flags;
    size_t m, n, k;             /* out[m,n], a chain of k */
    enum elem out;
};

static void measure_product(const struct product *p)
{
    bool has_type = is_half() && backend_can(&gpu, OP_MATMUL, ELEM_BF16);
    enum elem in = has_type ? ELEM_BF16 : ELEM_F32, out = has_type ? p->out : ELEM_F32;
    struct buffer *b[3] = { room(p->m * p->k, in), room(p->n * p->k, in), room(p->m * p->n, out) };
    struct tensor x = p->flags & MM_TRANS_A ? tensor(b[0], in, DIMS(p->k, p->m)) : tensor(b[0], in, DIMS(p->m, p->k));
    struct tensor w = p->flags & MM_TRANS_B ? tensor(b[1], in, DIMS(p->n, p->k)) : tensor(b[1], in, DIMS(p->k, p->n));
    struct tensor y = tensor(b[2], out, DIMS(p->m, p->n));
    struct use u = { OP_MATMUL, in, { .attr.flags = p->flags | (is_half() && !has_type ? OP_BF16 : 0), .in = { &x, &w },
                                      .out = { &y } } };
    double s = seconds_of(p->name, call_use, &u);
    const char *type = !is_half() ? "f32" : has_type ? "bf16" : "rounded";
    printf("{\"stage\": \"product\", \"pass\": \"%s\", \"m\": %zu, \"n\": %zu, \"k\": %zu, \"type\": \"%s\", \"out\": \"%s\", "
           "\"by\": \"%s\", \"us\": %.1f, \"tflops\": %.2f}\n", p->name, p->m, p->n, p->k, type, type_name(out),
           is_half() || has_library ? products_by() : "own", 1e6 * s,
           2e-12 * (double)p->m * (double)p->n * (double)p->k / s);
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        gpu.free(ctx, b[i]);
}

void stage_product(void)
{
    measure_product(&(struct product){ "forward", MM_TRANS_B, arg[0], arg[1], arg[2], ELEM_BF16 });
}

/* Those of a step of GPT-2 of width arg[1] over arg[0] tokens: forward, gradients of inputs, of weights; the head last. */
static void all_products(void)
{
    size_t t = arg[0], c = arg[1], words = arg[2];
    const size_t shape[][2] = { { 3 * c, c }, { c, c }, { 4 * c, c }, { c, 4 * c }, { words, c } };      /* weights [out, in] */
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        size_t out = shape[i][0], in = shape[i][1];
        const struct product p[] = { { "forward", MM_TRANS_B, t, out, in, ELEM_BF16 }, { "input", 0, t, in, out, ELEM_BF16 },
                                     { "weight", MM_TRANS_A, out, in, t, ELEM_F32 } };
        for (size_t k = 0; k < sizeof p / sizeof *p; k++)
            measure_product(&p[k]);
    }
}

void stage_products(void)
{
    all_products();
    has_library = use_library(ctx);
    if (has_library)
        all_products();
}

/* Causal; the backward form counts five products, of which the scores are made again. */
void stage_attention(void)
{
    size_t n = arg[0], t = arg[1], h = arg[2], d = arg[3];
    bool has_type = is_half() && backend_can(&gpu, OP_ATTENTION, ELEM_BF16)
                    && backend_can(&gpu, OP_ATTENTION_BWD, ELEM_BF16);
    enum elem e = has_type ? ELEM_BF16 : ELEM_F32;
    const size_t numbers[5] = { n * t * 3 * h * d, n * t * h * d, n * h * t, n * t * h * d, n * t * 3 * h * d };
    struct buffer *b[5];
    for (int i = 0; i < 5; i++)
        b[i] = room(numbers[i], i == 2 ? ELEM_F32 : e);
    struct tensor qkv = tensor(b[0], e, DIMS(n, t, 3 * h * d)), y = tensor(b[1], e, DIMS(n, t, h * d));
    struct tensor sums = tensor(b[2], ELEM_F32, DIMS(n, h, t)), dy = tensor(b[3], e, DIMS(n, t, h * d));
    struct tensor dx = tensor(b[4], e, DIMS(n, t, 3 * h * d));
    const struct op_attr attr = { .heads = h, .kv_heads = h, .flags = ATTN_CAUSAL };
    struct use f = { OP_ATTENTION, e, { attr, { &qkv }, { &y, &sums } } };
    struct use g = { OP_ATTENTION_BWD, e, { attr, { &qkv, &y, &sums, &dy }, { &dx } } };
    double flops = 2.0 * (double)(n * h) * (double)t * (double)t * (double)d;       /* two products, half of the square */
    double fs = seconds_of("attention", call_use, &f), gs = seconds_of("attention", call_use, &g);
    printf("{\"stage\": \"attention\", \"b\": %zu, \"t\": %zu, \"heads\": %zu, \"d\": %zu, \"type\": \"%s\", \"tflops\": %.2f, "
           "\"back_tflops\": %.2f}\n", n, t, h, d, type_name(e), 1e-12 * flops / fs, 2.5e-12 * flops / gs);
    for (int i = 0; i < 5; i++)
        gpu.free(ctx, b[i]);
}
