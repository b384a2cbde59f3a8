/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - single operations called on matrices, for self-test, tests and benches; models go through the graph.
 *
 * Operands lie in host memory (or in a buffer of the backend); a backend on a card gets copies and gives its results back.
 * The kernel is looked up by the type of its first matrix; asking for one that the backend lacks is a bug (backend_can says). */
#pragma once
#include "workers/compute/kernels/backend.h"

/* The kernel of that operation for the type of its key. A failure of a card shows as results that are not written. */
void call_kernel(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_call *call);

struct call_step {              /* one update by hand: AdamW or SGD */
    struct op_attr attr;
    struct step_scalars at;
};

static inline void call_op(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_attr *attr,
                           const struct mat *const *in, size_t ins, const struct mat *const *out, size_t outs)
{
    struct tensor t[OP_INPUTS_MAX + OP_OUTPUTS_MAX];
    struct op_call call = { .attr = *attr };
    ASSERT(ins <= OP_INPUTS_MAX && outs <= OP_OUTPUTS_MAX);
    for (size_t i = 0; i < ins + outs; i++) {
        const struct mat *m = i < ins ? in[i] : out[i - ins];
        if (!m)
            continue;
        t[i] = tensor_of(m);
        *(i < ins ? &call.in[i] : &call.out[i - ins]) = &t[i];
    }
    call_kernel(be, c, op, &call);
}
#define CALL_INS(...)                             \
    (const struct mat *const[]){ __VA_ARGS__ },   \
        sizeof((const struct mat *const[]){ __VA_ARGS__ }) / sizeof(void *)

static inline void call_unary(const struct backend *be, struct backend_ctx *c, enum op op, const struct mat *x,
                              const struct mat *y)
{
    call_op(be, c, op, &(struct op_attr){ 0 }, CALL_INS(x), CALL_INS(y));
}
static inline void call_binary(const struct backend *be, struct backend_ctx *c, enum op op, const struct mat *a,
                               const struct mat *b, const struct mat *y)
{
    call_op(be, c, op, &(struct op_attr){ 0 }, CALL_INS(a, b), CALL_INS(y));
}
static inline void call_matmul(const struct backend *be, struct backend_ctx *c, unsigned flags, const struct mat *a,
                               const struct mat *b, const struct mat *bias, const struct mat *out)
{
    call_op(be, c, OP_MATMUL, &(struct op_attr){ .flags = flags }, CALL_INS(a, b, flags & MM_BIAS ? bias : NULL), CALL_INS(out));
}
/* The packed form of w [n, k] in a new buffer, or NULL; freed by be->free. */
static inline struct buffer *call_pack(const struct backend *be, struct backend_ctx *c, const struct mat *w)
{
    struct buffer *b = be->alloc(c, be->pack_bytes(w->rows, w->cols));
    if (b) {
        struct mat p = mat_at(b, 0, ELEM_U8, 1, b->size_bytes);
        call_unary(be, c, OP_PACK, w, &p);
    }
    return b;
}
static inline void call_matmul_packed(const struct backend *be, struct backend_ctx *c, unsigned flags, const struct mat *x,
                                      struct buffer *packed, size_t n, size_t k, const struct mat *bias, const struct mat *out)
{
    struct mat p = mat_at(packed, 0, ELEM_U8, 1, packed->size_bytes);
    const struct op_attr attr = { .flags = flags, .n = n, .k = k };
    call_op(be, c, OP_MATMUL_PACKED, &attr, CALL_INS(x, &p, flags & MM_BIAS ? bias : NULL), CALL_INS(out));
}
/* op: SOFTMAX_XENT or MSE. delta may be NULL. Returns the loss. */
static inline double call_loss(const struct backend *be, struct backend_ctx *c, enum op op, const struct mat *y,
                               const struct mat *t, const struct mat *delta)
{
    double loss = 0;
    struct mat l = mat_host(&loss, ELEM_F64, 1, 1);
    call_op(be, c, op, &(struct op_attr){ 0 }, CALL_INS(y, t), CALL_INS(&l, delta));
    return loss;
}
static inline double call_sumsq(const struct backend *be, struct backend_ctx *c, const struct mat *x)
{
    double sum = 0;
    struct mat s = mat_host(&sum, ELEM_F64, 1, 1);
    call_unary(be, c, OP_SUMSQ, x, &s);
    return sum;
}
static inline void call_adamw(const struct backend *be, struct backend_ctx *c, const struct call_step *s, const struct mat *w,
                              const struct mat *g, const struct mat *m, const struct mat *v)
{
    struct mat at = mat_host((void *)(uintptr_t)&s->at, ELEM_U8, 1, sizeof s->at);
    call_op(be, c, OP_ADAMW, &s->attr, CALL_INS(w, g, m, v, &at), NULL, 0);
}
static inline void call_sgd(const struct backend *be, struct backend_ctx *c, const struct call_step *s, const struct mat *w,
                            const struct mat *g, const struct mat *v)
{
    struct mat at = mat_host((void *)(uintptr_t)&s->at, ELEM_U8, 1, sizeof s->at);
    call_op(be, c, OP_SGD, &s->attr, CALL_INS(w, g, v, &at), NULL, 0);
}
