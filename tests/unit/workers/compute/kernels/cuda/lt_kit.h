/* SPDX-License-Identifier: Apache-2.0 */
/* lt_kit.h - products on cuda-emu with cuBLASLt's test form in use: tensors of a shape, and what they must hold afterwards. */
#pragma once
#include "emu_kit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/emu_lt.h"
#include "workers/compute/kernels/cuda/cuda_ops_int.h"
#include "workers/compute/rng.h"

static inline struct backend_ctx *kit_lt(bool is_timed)
{
    struct backend_ctx *c = kit_emu();
    char line[200];
    if (!backend_cuda_emu.library->use(c, "auto", is_timed, line, sizeof line))
        fail_msg("%s", line);
    return c;
}

/* A matrix of a buffer of its own, with numbers that bf16 holds; stride 0: dense. front: numbers before it. */
static inline struct tensor kit_matrix(struct backend_ctx *c, enum elem type, size_t rows, size_t cols, size_t stride,
                                       size_t front, uint64_t seed)
{
    size_t step = stride ? stride : cols, n = front + rows * step, bytes = n * elem_bytes(type);
    struct buffer *b = backend_cuda_emu.alloc(c, bytes);
    char *host = malloc(bytes);
    assert_true(b && host);
    for (size_t i = 0; i < n; i++) {
        uint16_t half = bf16_of((float)philox_normal(seed, 0, i));
        float full = bf16_to_f32(half);
        memcpy(host + i * elem_bytes(type), type == ELEM_BF16 ? (void *)&half : (void *)&full, elem_bytes(type));
    }
    backend_cuda_emu.put(c, QUEUE_COMPUTE, b, 0, host, bytes);
    struct err e;
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_OK);
    free(host);
    struct tensor t = { .type = type, .rank = 2, .dim = { rows, cols }, .stride = { step, 1 }, .buf = b,
                        .offset_bytes = front * elem_bytes(type) };
    return t;
}

static inline double kit_number(const void *at, enum elem type, size_t i)
{
    return type == ELEM_BF16 ? (double)bf16_to_f32(((const uint16_t *)at)[i]) : (double)((const float *)at)[i];
}

/* All numbers of its buffer, from the heap. */
static inline double *kit_numbers(struct backend_ctx *c, const struct tensor *t, size_t *ret_n)
{
    size_t n = t->buf->size_bytes / elem_bytes(t->type);
    void *host = malloc(t->buf->size_bytes);
    double *ret = malloc(n * sizeof *ret);
    struct err e;
    assert_true(host && ret);
    backend_cuda_emu.get(c, QUEUE_COMPUTE, t->buf, 0, host, t->buf->size_bytes);
    if (backend_cuda_emu.sync(c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < n; i++)
        ret[i] = kit_number(host, t->type, i);
    free(host);
    *ret_n = n;
    return ret;
}

static inline void kit_drop(struct backend_ctx *c, const struct tensor *t)
{
    backend_cuda_emu.free(c, t->buf);
}
