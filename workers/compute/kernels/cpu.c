/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - contexts, buffers and scratch memory of the backends that compute in host memory.
 *
 * Buffers are aligned to 64 bytes (one AVX-512 register, one cache line) and padded to a multiple of it, zeroed. */
#include "workers/compute/kernels/cpu_int.h"
#include "core/base/assert.h"
#include "workers/compute/pool.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

/* Below this a thread takes longer to wake than the work takes: 2^17 multiplications are about 3 us of one core. */
static const double SPLIT_FROM = 131072;

struct event {
    bool is_recorded;
};

static void *line_alloc(size_t n)
{
    size_t padded = (n + LINE - 1) / LINE * LINE + LINE;
    return padded < n ? NULL : aligned_alloc(LINE, padded);
}

/* Large ones are zeros of the kernel's, which take no page before they are written. */
static void *zeroed_alloc(size_t n)
{
    const size_t more = 3 * LINE + sizeof(void *);
    char *raw = n > SIZE_MAX - more ? NULL : calloc(1, n + more);
    if (!raw)
        return NULL;
    void **at = (void **)(raw + sizeof(void *) + (LINE - ((uintptr_t)raw + sizeof(void *)) % LINE) % LINE);
    at[-1] = raw;
    return at;
}

static void zeroed_free(void *p)
{
    if (p)
        free(((void **)p)[-1]);
}

enum errc cpu_open(const struct backend *be, struct pool *pool, struct backend_ctx **ret, struct err *e)
{
    struct backend_ctx *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(e, LIMIT, "no memory for a compute context");
    c->be = be;
    c->pool = pool;
    *ret = c;
    return ERR_OK;
}

void cpu_close(struct backend_ctx *c)
{
    if (!c)
        return;
    for (int i = 0; i < CPU_SCRATCHES; i++)
        free(c->scratch[i]);
    free(c);
}

struct buffer *cpu_alloc(struct backend_ctx *c, size_t size_bytes)
{
    (void)c;
    struct buffer *b = calloc(1, sizeof *b);
    void *p = zeroed_alloc(size_bytes);
    if (!b || !p) {
        free(b);
        zeroed_free(p);
        return NULL;
    }
    b->ptr = p;
    b->size_bytes = size_bytes;
    return b;
}

void cpu_free(struct backend_ctx *c, struct buffer *b)
{
    (void)c;
    if (!b)
        return;
    zeroed_free(b->ptr);
    free(b);
}

void cpu_put(struct backend_ctx *c, enum queue q, struct buffer *b, size_t offset_bytes, const void *src, size_t n)
{
    (void)c, (void)q;
    ASSERT(offset_bytes <= b->size_bytes && n <= b->size_bytes - offset_bytes);
    if (n)
        memcpy((char *)b->ptr + offset_bytes, src, n);
}

void cpu_get(struct backend_ctx *c, enum queue q, const struct buffer *b, size_t offset_bytes, void *dst, size_t n)
{
    (void)c, (void)q;
    ASSERT(offset_bytes <= b->size_bytes && n <= b->size_bytes - offset_bytes);
    if (n)
        memcpy(dst, (const char *)b->ptr + offset_bytes, n);
}

enum errc cpu_sync(struct backend_ctx *c, struct err *e)
{
    const char *failure = c->failure;
    c->failure = NULL;
    return failure ? FAIL(e, INTERNAL, "backend %s: %s", c->be->name, failure) : ERR_OK;
}

/* Everything has run when it is asked for, so queues are one and an event is only known to have been recorded. */
struct event *cpu_event_new(struct backend_ctx *c)
{
    (void)c;
    return calloc(1, sizeof(struct event));
}

void cpu_event_free(struct backend_ctx *c, struct event *ev)
{
    (void)c;
    free(ev);
}

void cpu_record(struct backend_ctx *c, enum queue q, struct event *ev)
{
    (void)c, (void)q;
    ev->is_recorded = true;
}

void cpu_wait(struct backend_ctx *c, enum queue q, const struct event *ev)
{
    (void)q;
    if (!ev->is_recorded)
        c->failure = "a queue waits for an event that nothing recorded";
}

void *cpu_scratch(struct backend_ctx *c, size_t n)
{
    return cpu_scratch_at(c, 0, n);
}

void *cpu_scratch_at(struct backend_ctx *c, int which, size_t n)
{
    if (n > c->scratch_bytes[which]) {
        free(c->scratch[which]);
        c->scratch[which] = line_alloc(n);
        ASSERT(c->scratch[which]);
        c->scratch_bytes[which] = n;
    }
    return c->scratch[which];
}

void cpu_split(struct backend_ctx *c, size_t tasks, double work, void (*fn)(void *arg, size_t task), void *arg)
{
    pool_run(work < SPLIT_FROM ? NULL : c->pool, tasks, fn, arg);
}

struct cell_job {
    void (*fn)(const void *arg, const struct cells *at);
    const void *arg;
    size_t rows, cols, rows_per_task, pieces;       /* pieces of a row; 1: whole rows */
};

static struct cell_job cell_job(size_t rows, size_t cols, bool whole_rows)
{
    struct cell_job j = { .rows = rows, .cols = cols, .rows_per_task = 1, .pieces = 1 };
    if (cols < CELLS_PER_TASK)
        j.rows_per_task = CELLS_PER_TASK / (cols ? cols : 1);
    else if (!whole_rows)
        j.pieces = (cols + CELLS_PER_TASK - 1) / CELLS_PER_TASK;
    return j;
}

size_t cpu_cell_tasks(size_t rows, size_t cols, bool whole_rows)
{
    struct cell_job j = cell_job(rows, cols, whole_rows);
    return (rows + j.rows_per_task - 1) / j.rows_per_task * j.pieces;
}

static void run_cells(void *arg, size_t task)
{
    const struct cell_job *j = arg;
    struct cells at = { .r0 = task / j->pieces * j->rows_per_task, .c1 = j->cols, .task = task };
    at.r1 = j->rows - at.r0 < j->rows_per_task ? j->rows : at.r0 + j->rows_per_task;
    if (j->pieces > 1) {
        at.c0 = task % j->pieces * CELLS_PER_TASK;
        at.c1 = j->cols - at.c0 < CELLS_PER_TASK ? j->cols : at.c0 + CELLS_PER_TASK;
    }
    j->fn(j->arg, &at);
}

void cpu_cells(struct backend_ctx *c, size_t rows, size_t cols, bool whole_rows, double cost,
               void (*fn)(const void *arg, const struct cells *at), const void *arg)
{
    struct cell_job j = cell_job(rows, cols, whole_rows);
    j.fn = fn;
    j.arg = arg;
    cpu_split(c, cpu_cell_tasks(rows, cols, whole_rows), (double)rows * (double)cols * cost, run_cells, &j);
}
