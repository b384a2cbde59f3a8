/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_int.h - what the backends in host memory share: contexts, buffers, a growing scratch area. For workers/compute/kernels only. */
#pragma once
#include "workers/compute/kernels/backend.h"

struct backend_ctx {
    const struct backend *be;
    void *scratch;              /* packed panels of one product */
    size_t scratch_bytes;
};

enum errc cpu_open(const struct backend *be, struct backend_ctx **ret, struct err *e);
void cpu_close(struct backend_ctx *c);
struct buffer *cpu_alloc(struct backend_ctx *c, size_t size_bytes);
void cpu_free(struct backend_ctx *c, struct buffer *b);
void cpu_put(struct backend_ctx *c, struct buffer *b, size_t offset_bytes, const void *src, size_t n);
void cpu_get(struct backend_ctx *c, const struct buffer *b, size_t offset_bytes, void *dst, size_t n);
enum errc cpu_sync(struct backend_ctx *c, struct err *e);
/* At least n bytes, aligned to 64, contents undefined. Grows once per shape, then stays. */
void *cpu_scratch(struct backend_ctx *c, size_t n);
