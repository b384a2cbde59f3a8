/* SPDX-License-Identifier: Apache-2.0 */
/* net_int.h - shapes of the operations of networks (attention, convolution, pooling), read once from a call and asserted for
 * every variant
 * alike. Tensors of a graph are dense; who calls a kernel by hand gives dense ones, too. */
#pragma once
#include "core/base/assert.h"
#include "workers/compute/kernels/cpu_int.h"

#include <math.h>
#include <string.h>

struct image {                  /* [n, h, w, c] */
    size_t n, h, w, c;
};

static inline struct image image_of(const struct tensor *t)
{
    ASSERT(t->rank == 4);
    return (struct image){ t->dim[0], t->dim[1], t->dim[2], t->dim[3] };
}

/* A window that walks over an image x and makes y; also of pooling. */
struct window {
    struct image x, y;
    size_t h, w, stride, pad;
};

static inline struct window window_of(const struct op_attr *a, const struct tensor *x, const struct tensor *y)
{
    struct window w = { image_of(x), image_of(y), a->window[0], a->window[1], a->stride, a->pad };
    ASSERT(w.x.n == w.y.n && w.stride >= 1 && w.h >= 1 && w.w >= 1 && w.pad < w.h + w.w);
    ASSERT(w.x.h + 2 * w.pad >= w.h && w.x.w + 2 * w.pad >= w.w);
    ASSERT(w.y.h == (w.x.h + 2 * w.pad - w.h) / w.stride + 1 && w.y.w == (w.x.w + 2 * w.pad - w.w) / w.stride + 1);
    return w;
}

/* Where a window at output y meets the input: first … last-1 of `size`; *ret_first counts in the window. */
static inline size_t window_span(size_t y, size_t stride, size_t pad, size_t window, size_t size, size_t *ret_first,
                                 size_t *ret_last)
{
    size_t begin = y * stride;
    *ret_first = begin < pad ? pad - begin : 0;
    *ret_last = begin + window > size + pad ? size + pad - begin : window;
    return begin < pad ? 0 : begin - pad;
}

struct attention {
    size_t n, t, heads, kv_heads, d;
    size_t row;                 /* numbers of one token of qkv: (heads + 2·kv_heads)·d */
    double scale;
    bool is_causal;
};

static inline struct attention attention_of(const struct op_attr *a, const struct tensor *qkv)
{
    ASSERT(qkv->rank == 3 && a->heads >= 1 && a->kv_heads >= 1 && a->heads % a->kv_heads == 0);
    struct attention s = { qkv->dim[0], qkv->dim[1], a->heads, a->kv_heads, 0, qkv->dim[2], 0, a->flags & ATTN_CAUSAL };
    size_t all = s.heads + 2 * s.kv_heads;
    ASSERT(s.row % all == 0);
    s.d = s.row / all;
    s.scale = 1 / sqrt((double)s.d);
    return s;
}

/* The column of one type in a kernel table; FN(x) names the function of an operation. */
#define KERNELS_OF_NET(type, FN)                                                                                                \
    [OP_ROTARY][type] = FN(rotary), [OP_ATTENTION][type] = FN(attention), [OP_ATTENTION_BWD][type] = FN(attention_bwd),         \
    [OP_SWIGLU][type] = FN(swiglu), [OP_SWIGLU_BWD][type] = FN(swiglu_bwd), [OP_DEPTHWISE][type] = FN(depthwise),              \
    [OP_GROUPNORM][type] = FN(groupnorm),                                                                                       \
    [OP_GROUPNORM_BWD][type] = FN(groupnorm_bwd), [OP_GROUPNORM_SCALE_BWD][type] = FN(groupnorm_scale_bwd),                     \
    [OP_MAXPOOL][type] = FN(maxpool), [OP_MAXPOOL_BWD][type] = FN(maxpool_bwd), [OP_AVGPOOL][type] = FN(avgpool),               \
    [OP_AVGPOOL_BWD][type] = FN(avgpool_bwd), [OP_DROPOUT][type] = FN(dropout),             \
    [OP_SOFTMAX_TAUGHT][type] = FN(softmax_taught)
/* The products of one type: those that know OP_BF16. */
#define KERNELS_PRODUCTS(type, MM, FN)                                                                                          \
    [OP_MATMUL][type] = MM(matmul), [OP_CONV2D][type] = FN(conv2d), [OP_CONV2D_BWD_X][type] = FN(conv2d_bwd_x),                 \
    [OP_CONV2D_BWD_W][type] = FN(conv2d_bwd_w)
