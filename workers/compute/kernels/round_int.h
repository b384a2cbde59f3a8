/* SPDX-License-Identifier: Apache-2.0 */
/* round_int.h - products with OP_BF16 of a variant that has no instructions for them: both factors are rounded in copies, then
 * the product of all numbers follows, so the sums are those of its own type. It is the meaning of OP_BF16, in every variant's
 * column of the table. A variant that multiplies pairs (pairs_int.h) defines ROUNDED as nothing before it includes its
 * operations. */
#pragma once
#include "workers/compute/kernels/call_int.h"

static inline void round_cells(const void *arg, const struct cells *at)
{
    const struct tensor *const *t = arg;
    for (size_t i = at->r0; i < at->r1; i++)
        for (size_t j = at->c0; j < at->c1; j++) {
            size_t k = i * t[1]->dim[t[1]->rank - 1] + j;
            struct mat x = mat_of(t[0]);
            if (x.type == ELEM_F32)
                ((float *)t[1]->ptr)[k] = bf16_to_f32(bf16_of(((const float *)x.ptr)[i * x.stride + j]));
            else
                ((double *)t[1]->ptr)[k] = (double)bf16_to_f32(bf16_of((float)((const double *)x.ptr)[i * x.stride + j]));
        }
}

static inline void round_then(struct backend_ctx *c, const struct op_call *o, kernel_fn kernel)
{
    struct op_call call = *o;
    struct tensor factor[2];
    call.attr.flags &= ~(unsigned)OP_BF16;
    for (int i = 0; i < 2; i++) {
        struct mat x = mat_of(o->in[i]);
        factor[i] = tensor_at(NULL, 0, x.type, o->in[i]->rank, o->in[i]->dim);
        factor[i].ptr = cpu_scratch_at(c, SLOT_FACTOR + i, tensor_count(o->in[i]) * elem_bytes(x.type));
        cpu_cells(c, x.rows, x.cols, false, 2, round_cells, (const struct tensor *const[]){ o->in[i], &factor[i] });
        call.in[i] = &factor[i];
    }
    kernel(c, &call);
}

/* First in a kernel of a product. */
#ifndef ROUNDED
#define ROUNDED(c, o, kernel)                           \
    do {                                                \
        if ((o)->attr.flags & OP_BF16) {                \
            round_then(c, o, kernel);                   \
            return;                                     \
        }                                               \
    } while (0)
#endif
