/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - the one vtable between models and machines: a kernel variant is one file and one line in registry.c.
 *
 * Calling order: backend_choose -> open (one context per thread) -> alloc, put, operations, get, sync -> free -> close.
 * Operations are queued in order on the context; a CPU backend runs them at once. Results that come back by pointer (losses, sums)
 * are valid after sync, which also reports what went wrong on the device. A context is used by one thread at a time.
 * Shapes are the caller's duty: an operation asserts them, because data from outside was checked when it was read.
 *
 * Matrices are row-major with `stride` numbers from row to row. Numerics, kept by every backend and tested against fp64:
 *   - a product is summed over k in ascending order per element, in fp32 (vector variants: fused multiply-add, one chain per element),
 *     so an element does not depend on the batch it stands in, nor on blocking: the same row gives the same bits in any batch;
 *   - every operation is deterministic: same input, same backend, same bits;
 *   - avx2 and avx512 agree bit for bit in matmul, matmul_packed, relu_bwd, colsum; elsewhere within the tolerance.
 * Adding an operation: a member here, the loop in ref_int.h, the variants' loops, a line in selftest.c and in the shape test.
 * rmsnorm, rope, attention and conv2d are such members to come; a backend without one leaves it NULL and the plan is refused by name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/err.h"
#include "workers/compute/hw.h"

enum mat_type { MAT_F32 = 1, MAT_F64 = 2, MAT_I32 = 4 };        /* bits, so that backend.types can hold several */

struct backend_ctx;

struct buffer {                 /* memory of a backend; ptr is NULL where the host cannot see it */
    void *ptr;
    size_t size_bytes;
    void *handle;
};

struct mat {
    enum mat_type type;
    size_t rows, cols, stride;
    struct buffer *buf;
    size_t offset_bytes;
    void *ptr;                  /* buf->ptr + offset, for backends in host memory */
};

enum matmul_flag {
    MM_TRANS_A = 1,             /* a is stored [k, m] */
    MM_TRANS_B = 2,             /* b is stored [n, k]: how weights lie, [out, in] */
    MM_ACCUMULATE = 4,          /* c += a·b */
    MM_BIAS = 8,                /* + bias[n] in every row */
    MM_RELU = 16                /* max(0, …) at the end */
};

struct adamw_step {             /* Loshchilov & Hutter 2019, decoupled decay; correction = 1 - beta^t */
    double lr, beta1, beta2, eps, weight_decay, correction1, correction2;
};

struct sgd_step {               /* v = momentum·v + g + decay·w;  w -= lr·v */
    double lr, momentum, weight_decay;
};

struct packed {                 /* weights [n, k] in the backend's own order; padded, so batch 1 streams whole cache lines */
    struct buffer *buf;
    size_t n, k;
};

struct backend {
    const char *name;
    int rank;                   /* higher is preferred */
    unsigned types;             /* enum mat_type bits the floating point operations take */
    bool (*probe)(const struct hw *hw);
    enum errc (*open)(const struct backend *be, struct backend_ctx **ret, struct err *e);
    void (*close)(struct backend_ctx *c);

    struct buffer *(*alloc)(struct backend_ctx *c, size_t size_bytes);      /* zeroed, aligned to 64 bytes; NULL: no memory */
    void (*free)(struct backend_ctx *c, struct buffer *b);
    void (*put)(struct backend_ctx *c, struct buffer *b, size_t offset_bytes, const void *src, size_t n);
    void (*get)(struct backend_ctx *c, const struct buffer *b, size_t offset_bytes, void *dst, size_t n);
    enum errc (*sync)(struct backend_ctx *c, struct err *e);

    /* c[m,n] = op(a)[m,k] · op(b)[k,n], then the epilogue in the order accumulate, bias, relu. bias is [1,n] or NULL. */
    void (*matmul)(struct backend_ctx *c, unsigned flags, const struct mat *a, const struct mat *b, const struct mat *bias,
                   const struct mat *out);
    size_t (*pack_bytes)(size_t n, size_t k);
    void (*pack)(struct backend_ctx *c, const struct mat *w, struct packed *ret);     /* w [n,k] into ret->buf */
    /* out[m,n] = x[m,k] · wᵀ; flags MM_BIAS, MM_RELU. */
    void (*matmul_packed)(struct backend_ctx *c, unsigned flags, const struct mat *x, const struct packed *w, const struct mat *bias,
                          const struct mat *out);
    void (*relu_bwd)(struct backend_ctx *c, const struct mat *y, const struct mat *dy);       /* dy = y > 0 ? dy : 0, in place */
    /* loss_sum = Σ rows -log softmax(logits)[label]; dlogits = (softmax - onehot)·scale. dlogits may be logits, or NULL. */
    void (*softmax_xent)(struct backend_ctx *c, const struct mat *logits, const struct mat *labels, const struct mat *dlogits,
                         double scale, double *loss_sum);
    /* loss_sum = Σ (y-t)²; dy = 2·(y-t)·scale. dy may be y, or NULL. */
    void (*mse)(struct backend_ctx *c, const struct mat *y, const struct mat *t, const struct mat *dy, double scale, double *loss_sum);
    void (*colsum)(struct backend_ctx *c, const struct mat *x, const struct mat *out, bool accumulate);      /* out [1, cols] */
    void (*softmax)(struct backend_ctx *c, const struct mat *x, const struct mat *y);         /* by row; y may be x */
    void (*argmax)(struct backend_ctx *c, const struct mat *x, const struct mat *out);        /* I32 [rows,1]; the first of equals */
    void (*sumsq)(struct backend_ctx *c, const struct mat *x, double *ret);
    void (*adamw)(struct backend_ctx *c, const struct adamw_step *s, const struct mat *w, const struct mat *g, const struct mat *m,
                  const struct mat *v);
    void (*sgd)(struct backend_ctx *c, const struct sgd_step *s, const struct mat *w, const struct mat *g, const struct mat *velocity);
};

extern const struct backend backend_ref;
extern const struct backend backend_avx2;
extern const struct backend backend_avx512;

static inline size_t mat_width(enum mat_type t)
{
    return t == MAT_F64 ? 8 : 4;
}
/* A dense matrix at an offset of a buffer. */
static inline struct mat mat_at(struct buffer *b, size_t offset_bytes, enum mat_type type, size_t rows, size_t cols)
{
    return (struct mat){ type, rows, cols, cols, b, offset_bytes, b->ptr ? (char *)b->ptr + offset_bytes : NULL };
}
/* A dense matrix over host memory, for backends in host memory. */
static inline struct mat mat_host(void *p, enum mat_type type, size_t rows, size_t cols)
{
    return (struct mat){ type, rows, cols, cols, NULL, 0, p };
}

/* All variants compiled in, best first, NULL at the end. */
const struct backend *const *backend_list(void);
/* setting: "auto" (or NULL, "") or a name. A forced variant that this machine cannot run is UNAVAILABLE, an unknown one INVALID.
 * on_skip (may be NULL) is told of every variant passed over and why. */
enum errc backend_choose(const char *setting, const struct hw *hw, void (*on_skip)(void *ctx, const char *name, const char *why),
                         void *ctx, const struct backend **ret, struct err *e);
/* Every operation on small awkward shapes against the fp64 reference. */
enum errc backend_selftest(const struct backend *be, struct err *e);
