/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_int.h - what the backends in host memory share: contexts, buffers, a growing scratch area, work cut into tasks. For
 * workers/compute/kernels only.
 *
 * Work is cut by its shape alone, so that the pieces, and with them the order of every sum, are the same for any number of
 * threads. */
#pragma once
#include "workers/compute/kernels/backend.h"

enum { CPU_SCRATCHES = 6, SLOT_PRODUCT = 1, SLOT_FACTOR = 4 };   /* SLOT_FACTOR and the next: a product's factors in bf16 */
struct backend_ctx {
    const struct backend *be;
    struct pool *pool;
    void *scratch[CPU_SCRATCHES];       /* packed panels of one product, partial sums; then what a convolution gathers */
    size_t scratch_bytes[CPU_SCRATCHES];
    const char *failure;        /* since the last sync; a constant text */
};

enum errc cpu_open(const struct backend *be, struct pool *pool, struct backend_ctx **ret, struct err *e);
void cpu_close(struct backend_ctx *c);
struct buffer *cpu_alloc(struct backend_ctx *c, size_t size_bytes);
void cpu_free(struct backend_ctx *c, struct buffer *b);
void cpu_put(struct backend_ctx *c, enum queue q, struct buffer *b, size_t offset_bytes, const void *src, size_t n);
void cpu_get(struct backend_ctx *c, enum queue q, const struct buffer *b, size_t offset_bytes, void *dst, size_t n);
enum errc cpu_sync(struct backend_ctx *c, struct err *e);
struct event *cpu_event_new(struct backend_ctx *c);
void cpu_event_free(struct backend_ctx *c, struct event *ev);
void cpu_record(struct backend_ctx *c, enum queue q, struct event *ev);
void cpu_wait(struct backend_ctx *c, enum queue q, const struct event *ev);
#ifndef BF16_IS_FAST                    /* a variant with products of pairs (pairs_int.h) says BE_FAST_BF16 */
#define BF16_IS_FAST 0
#endif
#define CPU_BACKEND                                                                                                             \
    .properties = BE_SAME_BITS | BE_DETERMINISTIC | BE_HOST_MEMORY | BE_BF16 | BF16_IS_FAST, .open = cpu_open,           \
    .close = cpu_close, .alloc = cpu_alloc,                                                                                     \
    .free = cpu_free, .put = cpu_put, .get = cpu_get, .sync = cpu_sync, .event_new = cpu_event_new, .event_free = cpu_event_free, \
    .record = cpu_record, .wait = cpu_wait, .decode = &decode_here

/* At least n bytes, aligned to 64, contents undefined. Grows once per shape, then stays. */
void *cpu_scratch(struct backend_ctx *c, size_t n);
void *cpu_scratch_at(struct backend_ctx *c, int which, size_t n);       /* another one beside it: 0 is cpu_scratch */

/* fn for every task; on the pool when there is enough to do to be worth waking a thread (work: about as many steps as a
 * product has multiplications). */
void cpu_split(struct backend_ctx *c, size_t tasks, double work, void (*fn)(void *arg, size_t task), void *arg);

enum { CELLS_PER_TASK = 16384 };
struct cells {                  /* rows r0 … r1-1, columns c0 … c1-1; task counts from 0 */
    size_t r0, r1, c0, c1, task;
};
/* How many tasks cpu_cells makes of a matrix: groups of whole rows, or pieces of rows that are longer than CELLS_PER_TASK, which
 * whole_rows forbids. cost: steps per number. */
size_t cpu_cell_tasks(size_t rows, size_t cols, bool whole_rows);
void cpu_cells(struct backend_ctx *c, size_t rows, size_t cols, bool whole_rows, double cost,
               void (*fn)(const void *arg, const struct cells *at), const void *arg);
