/* SPDX-License-Identifier: Apache-2.0 */
/* call_int.h - how kernels look at a struct op_call: inputs as matrices and vectors, shapes asserted. */
#pragma once
#include "core/base/assert.h"
#include "workers/compute/kernels/cpu_int.h"

static inline struct mat in_mat(const struct op_call *o, int i)
{
    return mat_of(o->in[i]);
}

/* NULL stays NULL. */
static inline const struct mat *maybe(const struct tensor *t, struct mat *room)
{
    if (t)
        *room = mat_of(t);
    return t ? room : NULL;
}

/* A dense vector of n numbers. */
static inline void *vector(const struct tensor *t, enum elem type, size_t n)
{
    ASSERT(t->type == type && tensor_count(t) == n);
    return t->ptr;
}

static inline void assert_same(const struct mat *a, const struct mat *b)
{
    ASSERT(a->rows == b->rows && a->cols == b->cols && a->type == b->type);
}

static inline const struct step_scalars *scalars(const struct tensor *t)
{
    return vector(t, ELEM_U8, sizeof(struct step_scalars));
}
