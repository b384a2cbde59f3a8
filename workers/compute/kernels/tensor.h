/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - what operations work on: memory of a backend, a type of number, a shape of up to six dimensions.
 *
 * Strides are in numbers, the last dimension is dense (stride 1). A tensor borrows its buffer. A matrix (struct mat) is how
 * kernels look at a tensor: all dimensions but the last are rows; only the step from row to row may be wider than a row. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/assert.h"

enum { TENSOR_DIMS_MAX = 6 };

enum elem {
#define ELEM(NAME, name, bytes) ELEM_##NAME,
#include "workers/compute/kernels/elem.def"
#undef ELEM
    ELEM_COUNT
};

struct buffer {                 /* memory of a backend; ptr is NULL where the host cannot see it */
    void *ptr;
    size_t size_bytes;
    void *handle;
};

struct tensor {
    enum elem type;
    unsigned rank;              /* 1 … TENSOR_DIMS_MAX */
    size_t dim[TENSOR_DIMS_MAX], stride[TENSOR_DIMS_MAX];
    struct buffer *buf;
    size_t offset_bytes;
    void *ptr;                  /* buf->ptr + offset, for backends in host memory */
};

struct mat {
    enum elem type;
    size_t rows, cols, stride;
    struct buffer *buf;
    size_t offset_bytes;
    void *ptr;
};

static inline size_t elem_bytes(enum elem t)
{
    static const unsigned char bytes[ELEM_COUNT] = {
#define ELEM(NAME, name, bytes) bytes,
#include "workers/compute/kernels/elem.def"
#undef ELEM
    };
    return bytes[t];
}
const char *elem_name(enum elem t);

/* A dense tensor at an offset of a buffer. */
static inline struct tensor tensor_at(struct buffer *b, size_t offset_bytes, enum elem type, unsigned rank, const size_t *dim)
{
    struct tensor t = { .type = type, .rank = rank, .buf = b, .offset_bytes = offset_bytes };
    ASSERT(rank >= 1 && rank <= TENSOR_DIMS_MAX);
    size_t step = 1;
    for (unsigned i = rank; i-- > 0; step *= dim[i]) {
        t.dim[i] = dim[i];
        t.stride[i] = step;
    }
    t.ptr = b && b->ptr ? (char *)b->ptr + offset_bytes : NULL;
    return t;
}
static inline size_t tensor_count(const struct tensor *t)
{
    size_t n = 1;
    for (unsigned i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}
/* The tensor as a matrix; a bug if rows of different outer dimensions do not follow each other in even steps. */
static inline struct mat mat_of(const struct tensor *t)
{
    unsigned last = t->rank - 1;
    size_t rows = 1;
    for (unsigned i = 0; i < last; i++) {
        ASSERT(i + 1 == last || t->stride[i] == t->dim[i + 1] * t->stride[i + 1]);
        rows *= t->dim[i];
    }
    ASSERT(t->stride[last] == 1);
    size_t cols = t->dim[last], stride = last ? t->stride[last - 1] : cols;
    return (struct mat){ t->type, rows, cols, stride, t->buf, t->offset_bytes, t->ptr };
}
static inline struct tensor tensor_of(const struct mat *m)
{
    return (struct tensor){ .type = m->type, .rank = 2, .dim = { m->rows, m->cols }, .stride = { m->stride, 1 }, .buf = m->buf,
                            .offset_bytes = m->offset_bytes, .ptr = m->ptr };
}
/* A dense matrix at an offset of a buffer. */
static inline struct mat mat_at(struct buffer *b, size_t offset_bytes, enum elem type, size_t rows, size_t cols)
{
    return (struct mat){ type, rows, cols, cols, b, offset_bytes, b->ptr ? (char *)b->ptr + offset_bytes : NULL };
}
/* A dense matrix over host memory, for backends in host memory. */
static inline struct mat mat_host(void *p, enum elem type, size_t rows, size_t cols)
{
    return (struct mat){ type, rows, cols, cols, NULL, 0, p };
}

/* bf16 is an f32 without its lower half: rounded to the nearest, ties to even; a NaN stays a NaN. */
static inline uint16_t bf16_of(float x)
{
    union { float f; uint32_t u; } v = { x };
    if ((v.u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(v.u >> 16 | 0x40);
    return (uint16_t)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
}
static inline float bf16_to_f32(uint16_t b)
{
    union { uint32_t u; float f; } v = { (uint32_t)b << 16 };
    return v.f;
}
