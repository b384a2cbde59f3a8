/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_attention.c - attention as launches.
 *
 * In fp32: the kernels of attention.cu. Over bf16: those of flash64.cu and flash128.cu, where heads have that width, begin at 16
 * bytes, and the card has the shared memory; other heads are widened into scratch memory, computed in fp32, and rounded
 * at the end. */
#include "workers/compute/kernels/cuda/cuda_flash.h"
#include "workers/compute/kernels/cuda/cuda_ops_int.h"

#include <math.h>

/* y and dy, where there are any, hold heads of the same width, one behind the other. */
static struct heads heads_of(const struct op_attr *a, const struct tensor *qkv)
{
    ASSERT(qkv->rank == 3 && a->heads >= 1 && a->kv_heads >= 1 && a->heads % a->kv_heads == 0);
    struct heads s = { qkv->dim[0], qkv->dim[1], a->heads, a->kv_heads, 0, qkv->dim[2], 0, a->flags & ATTN_CAUSAL, false };
    ASSERT(s.row % (s.heads + 2 * s.kv) == 0 && s.t <= INT32_MAX / 2);
    s.d = s.row / (s.heads + 2 * s.kv);
    s.scale = (float)(1 / sqrt((double)s.d));
    return s;
}

static bool is_wide(size_t each, const void *x, const void *y, const void *z)
{
    return each % 16 == 0 && (uintptr_t)x % 16 == 0 && (uintptr_t)y % 16 == 0 && (uintptr_t)z % 16 == 0;
}

static void forward(struct backend_ctx *c, const float *qkv, float *y, float *sums, struct heads s)
{
    s.is_wide = is_wide(s.d * sizeof *qkv, qkv, y, NULL);
    const struct attention_args a = { qkv, y, sums, s };
    cuda_launch(c, KERNEL_attention, s.t, s.heads, s.n, &a);
}

/* What the backward form takes; mean: scratch memory for a number of each token and head. */
struct back {
    const float *qkv, *y, *sums, *dy;
    float *dqkv, *mean;
};

static void backward(struct backend_ctx *c, const struct back *b, struct heads s)
{
    s.is_wide = is_wide(s.d * sizeof *b->qkv, b->qkv, b->y, b->dy);
    const struct attention_mean_args m = { b->y, b->dy, b->mean, s };
    const struct attention_back_q_args q = { b->qkv, b->sums, b->dy, b->mean, b->dqkv, s };
    const struct attention_back_kv_args kv = { b->qkv, b->sums, b->dy, b->mean, b->dqkv, s };
    cuda_launch(c, KERNEL_attention_mean, over(s.n * s.heads * s.t, 128), 1, 1, &m);
    cuda_launch(c, KERNEL_attention_back_q, s.t, s.heads, s.n, &q);
    cuda_launch(c, KERNEL_attention_back_kv, s.t, s.kv, s.n, &kv);
}

static void attention(struct backend_ctx *c, const struct op_call *o)
{
    forward(c, at(o->in[0]), at(o->out[0]), o->out[1] ? at(o->out[1]) : NULL, heads_of(&o->attr, o->in[0]));
}

static void attention_bwd(struct backend_ctx *c, const struct op_call *o)
{
    const struct heads s = heads_of(&o->attr, o->in[0]);
    const struct back b = { at(o->in[0]), at(o->in[1]), at(o->in[2]), at(o->in[3]), at(o->out[0]),
                            cuda_scratch(c, s.n * s.heads * s.t * sizeof(float)) };
    backward(c, &b, s);
}

/* The kernels of a width of heads; queries: rows of a block of the first two. */
struct flash {
    size_t d, queries, keys;
    enum kernel forward, back_q, back_kv;
};
static const struct flash flashes[] = {
    { 64, 128, 128, KERNEL_flash64, KERNEL_flash64_back_q, KERNEL_flash64_back_kv },
    { 128, 64, 64, KERNEL_flash128, KERNEL_flash128_back_q, KERNEL_flash128_back_kv },
};

enum { HOPPER_D = 64 };         /* the width that wgmma has kernels for */

/* NULL: by fp32. */
static const struct flash *flash_of(const struct backend_ctx *c, const struct heads *s, const void *x, const void *y,
                                    const void *z)
{
    for (size_t i = 0; i < sizeof flashes / sizeof *flashes; i++) {
        const struct flash *f = &flashes[i];
        if (f->d == s->d && is_wide(2 * s->d, x, y, z) && cuda_fits(c, f->forward) && cuda_fits(c, f->back_q)
            && cuda_fits(c, f->back_kv))
            return f;
    }
    return NULL;
}

static void widen(struct backend_ctx *c, const void *x, float *y, size_t n)
{
    const struct cast_args a = { { (void *)(uintptr_t)x, true }, { y, false }, n,
                                 (uintptr_t)x % 16 == 0 && (uintptr_t)y % 16 == 0 };
    cuda_launch(c, KERNEL_cast, over(n, a.is_wide ? 2048 : 256), 1, 1, &a);
}

static void narrow(struct backend_ctx *c, float *x, void *y, size_t n)
{
    const struct cast_args a = { { x, false }, { y, true }, n, (uintptr_t)x % 16 == 0 && (uintptr_t)y % 16 == 0 };
    cuda_launch(c, KERNEL_cast, over(n, a.is_wide ? 2048 : 256), 1, 1, &a);
}

/* Room for n numbers, so that what follows begins at 16 bytes. */
static size_t padded(size_t n)
{
    return (n + 3) / 4 * 4;
}

static void attention_narrow(struct backend_ctx *c, const struct op_call *o)
{
    const struct heads s = heads_of(&o->attr, o->in[0]);
    const struct flash_args a = { at(o->in[0]), at(o->out[0]), o->out[1] ? at(o->out[1]) : NULL, s };
    const struct flash *f = flash_of(c, &s, a.qkv, a.y, NULL);
    size_t rows = s.n * s.t, n_y = rows * s.heads * s.d;
    ASSERT(o->out[0]->type == ELEM_BF16);
    if (f && c->flash && s.d == HOPPER_D) {
        cuda_flash_launch(c, OWN_flash_hopper, over(s.t, 128), s.heads, s.n, &a);
        return;
    }
    if (f) {
        cuda_launch(c, f->forward, over(s.t, f->queries), s.heads, s.n, &a);
        return;
    }
    float *qkv = cuda_scratch(c, (padded(rows * s.row) + n_y) * sizeof *qkv), *y = qkv + padded(rows * s.row);
    widen(c, a.qkv, qkv, rows * s.row);
    forward(c, qkv, y, a.sums, s);
    narrow(c, y, a.y, n_y);
}

static void attention_bwd_narrow(struct backend_ctx *c, const struct op_call *o)
{
    const struct heads s = heads_of(&o->attr, o->in[0]);
    size_t rows = s.n * s.t, n_x = rows * s.row, n_y = rows * s.heads * s.d, n_mean = padded(rows * s.heads);
    struct flash_back_args a = { at(o->in[0]), at(o->in[1]), at(o->in[3]), at(o->in[2]), NULL, at(o->out[0]), s };
    const struct flash *f = flash_of(c, &s, a.qkv, a.y, a.dy);
    ASSERT(o->in[1]->type == ELEM_BF16 && o->in[3]->type == ELEM_BF16 && o->out[0]->type == ELEM_BF16);
    if (f && (uintptr_t)a.dqkv % 16 == 0) {
        a.mean = cuda_scratch(c, n_mean * sizeof *a.mean);
        if (c->flash && s.d == HOPPER_D) {
            cuda_flash_launch(c, OWN_flash_hopper_back_q, over(s.t, 128), s.heads, s.n, &a);
            cuda_flash_launch(c, OWN_flash_hopper_back_kv, over(s.t, 64), s.kv, s.n, &a);
            return;
        }
        cuda_launch(c, f->back_q, over(s.t, f->queries), s.heads, s.n, &a);
        cuda_launch(c, f->back_kv, over(s.t, f->keys), s.kv, s.n, &a);
        return;
    }
    float *mean = cuda_scratch(c, (n_mean + 2 * padded(n_x) + 2 * padded(n_y)) * sizeof *mean), *qkv = mean + n_mean;
    float *dqkv = qkv + padded(n_x), *y = dqkv + padded(n_x), *dy = y + padded(n_y);
    const struct back b = { qkv, y, a.sums, dy, dqkv, mean };
    widen(c, a.qkv, qkv, n_x);
    widen(c, a.y, y, n_y);
    widen(c, a.dy, dy, n_y);
    backward(c, &b, s);
    narrow(c, dqkv, a.dqkv, n_x);
}

CUDA_ATTENTION_OPS(CUDA_DEFINE_NET)
