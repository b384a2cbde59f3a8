/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ops_int.h - what cuda_ops.c, cuda_net.c and cuda_attention.c fill arguments with, and the lists of their operations. */
#pragma once
#include "core/base/assert.h"
#include "workers/compute/kernels/cuda/cuda_int.h"

/* Device addresses. */
static inline void *at(const struct tensor *t)
{
    return (void *)(uintptr_t)((gpu_ptr)(uintptr_t)t->buf->handle + t->offset_bytes);
}
static inline float *f32(const struct mat *m)
{
    return m ? (float *)(uintptr_t)((gpu_ptr)(uintptr_t)m->buf->handle + m->offset_bytes) : NULL;
}
static inline struct numbers numbers_of(const struct mat *m)
{
    ASSERT(!m || m->type == ELEM_F32 || m->type == ELEM_BF16);
    return (struct numbers){ f32(m), m && m->type == ELEM_BF16 };
}
static inline struct numbers numbers_at(const struct tensor *t)
{
    ASSERT(t->type == ELEM_F32 || t->type == ELEM_BF16);
    return (struct numbers){ at(t), t->type == ELEM_BF16 };
}
static inline bool is_dense(const struct mat *m)
{
    return m->rows == 1 || m->stride == m->cols;
}
static inline bool is_flat(const struct mat *m)
{
    return is_dense(m) && (uintptr_t)f32(m) % 16 == 0;
}
static inline bool is_at_16(const void *p)
{
    return (uintptr_t)p % 16 == 0;
}
static inline size_t over(size_t n, size_t each)
{
    return (n + each - 1) / each;
}

/* ROW(NAME, name, type of the key): the operations of each file. */
#define CUDA_OPS(ROW)                                                                                                       \
    ROW(ADD_BIAS, add_bias, ELEM_F32) ROW(ADD, add, ELEM_F32) ROW(COPY, copy, ELEM_F32) ROW(RELU, relu, ELEM_F32)           \
    ROW(RELU_BWD, relu_bwd, ELEM_F32) ROW(GELU, gelu, ELEM_F32) ROW(GELU_BWD, gelu_bwd, ELEM_F32)                           \
    ROW(STANDARDISE, standardise, ELEM_F32) ROW(SWIGLU, swiglu, ELEM_F32) ROW(SWIGLU_BWD, swiglu_bwd, ELEM_F32)             \
    ROW(ROTARY, rotary, ELEM_F32) ROW(DROPOUT, dropout, ELEM_F32) ROW(CAST, cast, ELEM_F32)                                 \
    ROW(SOFTMAX, softmax, ELEM_F32) ROW(SOFTMAX_BWD, softmax_bwd, ELEM_F32) ROW(ARGMAX, argmax, ELEM_F32)                   \
    ROW(SOFTMAX_XENT, softmax_xent, ELEM_F32) ROW(MSE, mse, ELEM_F32) ROW(SIGMOID_XENT, sigmoid_xent, ELEM_F32)             \
    ROW(SUMSQ, sumsq, ELEM_F32) ROW(CLIP, clip, ELEM_F64) ROW(EMBED, embed, ELEM_F32) ROW(EMBED_BWD, embed_bwd, ELEM_F32)   \
    ROW(ADAMW, adamw, ELEM_F32) ROW(SGD, sgd, ELEM_F32)
/* Those of the list above and below whose key may be bf16, too. */
#define CUDA_NARROW_OPS(ROW)                                                                                                \
    ROW(ADD_BIAS, add_bias, ELEM_BF16) ROW(ADD, add, ELEM_BF16) ROW(COPY, copy, ELEM_BF16) ROW(RELU, relu, ELEM_BF16)       \
    ROW(RELU_BWD, relu_bwd, ELEM_BF16) ROW(GELU, gelu, ELEM_BF16) ROW(GELU_BWD, gelu_bwd, ELEM_BF16)                        \
    ROW(SWIGLU, swiglu, ELEM_BF16) ROW(SWIGLU_BWD, swiglu_bwd, ELEM_BF16) ROW(ROTARY, rotary, ELEM_BF16)                    \
    ROW(DROPOUT, dropout, ELEM_BF16) ROW(CAST, cast, ELEM_BF16) ROW(ARGMAX, argmax, ELEM_BF16)                              \
    ROW(SOFTMAX_XENT, softmax_xent, ELEM_BF16)
/* Norms and sums by column, which know both types where NARROW has them (cuda_norm.c). */
#define CUDA_NORM_OPS(ROW)                                                                                                  \
    ROW(LAYERNORM, layernorm, ELEM_F32) ROW(LAYERNORM_BWD, layernorm_bwd, ELEM_F32) ROW(RMSNORM, rmsnorm, ELEM_F32)         \
    ROW(RMSNORM_BWD, rmsnorm_bwd, ELEM_F32) ROW(NORM_SCALE_BWD, norm_scale_bwd, ELEM_F32) ROW(COLSUM, colsum, ELEM_F32)     \
    ROW(ADD_NORM, add_norm, ELEM_F32) ROW(NORM_ADD_BWD, norm_add_bwd, ELEM_F32) ROW(GELU_BWD_SUM, gelu_bwd_sum, ELEM_F32)
#define CUDA_NORM_NARROW_OPS(ROW) ROW(COLSUM, colsum, ELEM_BF16) ROW(GELU_BWD_SUM, gelu_bwd_sum, ELEM_BF16)
#define CUDA_NARROW_NET_OPS(ROW)                                                                                            \
    ROW(MATMUL, matmul_narrow, ELEM_BF16) ROW(BMM, bmm_narrow, ELEM_BF16)                                                   \
    ROW(MATMUL_GELU, matmul_gelu, ELEM_BF16) ROW(MATMUL_GELU_BWD, matmul_gelu_bwd, ELEM_BF16)                               \
    ROW(MATMUL_SUM, matmul_sum, ELEM_BF16)
#define CUDA_NET_OPS(ROW)                                                                                                   \
    ROW(MATMUL, matmul, ELEM_F32) ROW(BMM, bmm, ELEM_F32) ROW(CONV2D, conv2d, ELEM_F32)                                     \
    ROW(CONV2D_BWD_X, conv2d_bwd_x, ELEM_F32) ROW(CONV2D_BWD_W, conv2d_bwd_w, ELEM_F32)                                     \
    ROW(MAXPOOL, maxpool, ELEM_F32) ROW(MAXPOOL_BWD, maxpool_bwd, ELEM_F32) ROW(AVGPOOL, avgpool, ELEM_F32)                 \
    ROW(AVGPOOL_BWD, avgpool_bwd, ELEM_F32) ROW(GROUPNORM, groupnorm, ELEM_F32) ROW(GROUPNORM_BWD, groupnorm_bwd, ELEM_F32) \
    ROW(GROUPNORM_SCALE_BWD, groupnorm_scale_bwd, ELEM_F32)
#define CUDA_ATTENTION_OPS(ROW)                                                                                             \
    ROW(ATTENTION, attention, ELEM_F32) ROW(ATTENTION_BWD, attention_bwd, ELEM_F32)                                         \
    ROW(ATTENTION, attention_narrow, ELEM_BF16) ROW(ATTENTION_BWD, attention_bwd_narrow, ELEM_BF16)

/* Cells inside an operation (args.h); y, z NULL where fn has no use for them. */
void cuda_cells(struct backend_ctx *c, enum cell_fn fn, const struct mat *x, const struct mat *y, const struct mat *z,
                const struct mat *out);
void cuda_colsum_inside(struct backend_ctx *c, const struct op_call *o);       /* the same: COLSUM */
/* The product of bf16 tensors by strips (cuda_product.c); false: its shape or the card does not allow it, and nothing was
 * launched. */
bool cuda_strip(struct backend_ctx *c, const struct product_args *p, bool is_narrow);

/* The product of fp32 tensors by wide tiles, with the simple kernel's bits; false as above. */
bool cuda_wide(struct backend_ctx *c, const struct product_args *p);

/* An operation says what it touches before it launches, and ends. */
#define CUDA_DEFINE(NAME, name, type)                                           \
    static void k_##name(struct backend_ctx *c, const struct op_call *o)        \
    {                                                                           \
        cuda_begin(c, OP_##NAME, o);                                            \
        name(c, o);                                                             \
        cuda_end(c);                                                            \
    }
#define CUDA_DEFINE_NET(NAME, name, type)                                       \
    void cuda_##name(struct backend_ctx *c, const struct op_call *o)            \
    {                                                                           \
        cuda_begin(c, OP_##NAME, o);                                            \
        name(c, o);                                                             \
        cuda_end(c);                                                            \
    }
#define CUDA_DECLARE_NET(NAME, name, type) void cuda_##name(struct backend_ctx *c, const struct op_call *o);
CUDA_NET_OPS(CUDA_DECLARE_NET)
CUDA_NORM_OPS(CUDA_DECLARE_NET)
/* out = fn(x, y, z) by number; y, z: NULL where fn has no use for them. */
void cuda_cells(struct backend_ctx *c, enum cell_fn fn, const struct mat *x, const struct mat *y, const struct mat *z,
                const struct mat *out);
CUDA_NARROW_NET_OPS(CUDA_DECLARE_NET)
CUDA_ATTENTION_OPS(CUDA_DECLARE_NET)
