/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c - a list of short sorted arrays, none of them empty. */
#include "scheduler/mirror/runs.h"
#include "core/base/assert.h"
#include "scheduler/plan/askset.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 4 };

struct runs_at runs_find(const struct runs *r, uint32_t x, runs_order order, const void *ctx)
{
    size_t low = 0, high = r->n;
    while (low < high) {                /* the first run whose last does not stand before x */
        const size_t mid = (low + high) / 2;
        const struct run *run = r->items[mid];
        if (order(ctx, run->items[run->n - 1], x) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    struct runs_at at = { low, 0 };
    if (low == r->n)
        return at;
    uint32_t from = 0, to = r->items[low]->n - 1;
    while (from < to) {
        const uint32_t mid = (from + to) / 2;
        if (order(ctx, r->items[low]->items[mid], x) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    at.i = from;
    return at;
}

static size_t run_bytes(size_t cap)
{
    return sizeof(struct run) + cap * sizeof(uint32_t);
}

static struct run *grown(struct runs *r, struct run *run, uint32_t cap)
{
    const uint32_t n = run ? run->n : 0;
    r->bytes += run_bytes(cap) - (run ? run_bytes(run->cap) : 0);
    run = list_alloc(run, run_bytes(cap), 1);
    run->n = n;
    run->cap = cap;
    return run;
}

static void insert_run(struct runs *r, size_t at, struct run *run)
{
    if (r->n == r->cap) {
        const size_t cap = r->cap ? 2 * r->cap : 1;
        r->items = list_alloc(r->items, cap, sizeof(struct run *));
        r->bytes += (cap - r->cap) * sizeof(struct run *);
        r->cap = cap;
    }
    memmove(r->items + at + 1, r->items + at, (r->n - at) * sizeof(struct run *));
    r->items[at] = run;
    r->n++;
}

/* A place in a run that has room, for what belongs at *at. */
static struct run *room_at(struct runs *r, struct runs_at *at)
{
    if (at->run == r->n) {              /* behind all */
        if (r->n && r->items[r->n - 1]->n < RUN_MAX)
            *at = (struct runs_at){ r->n - 1, r->items[r->n - 1]->n };
        else
            insert_run(r, at->run, grown(r, NULL, r->n ? RUN_MAX : FIRST));
    }
    struct run *run = r->items[at->run];
    if (run->n == RUN_MAX) {            /* its second half becomes a run of its own */
        struct run *half = grown(r, NULL, RUN_MAX);
        half->n = RUN_MAX / 2;
        run->n -= half->n;
        memcpy(half->items, run->items + run->n, half->n * sizeof *half->items);
        insert_run(r, at->run + 1, half);
        if (at->i > run->n)
            *at = (struct runs_at){ at->run + 1, at->i - run->n };
    }
    run = r->items[at->run];
    if (run->n == run->cap)
        run = r->items[at->run] = grown(r, run, 2 * run->cap < RUN_MAX ? 2 * run->cap : RUN_MAX);
    return run;
}

void runs_add(struct runs *r, uint32_t x, runs_order order, const void *ctx)
{
    struct runs_at at = runs_find(r, x, order, ctx);
    struct run *run = room_at(r, &at);
    memmove(run->items + at.i + 1, run->items + at.i, (run->n - at.i) * sizeof *run->items);
    run->items[at.i] = x;
    run->n++;
}

void runs_remove(struct runs *r, uint32_t x, runs_order order, const void *ctx)
{
    const struct runs_at at = runs_find(r, x, order, ctx);
    ASSERT(at.run < r->n && r->items[at.run]->items[at.i] == x);
    struct run *run = r->items[at.run];
    run->n--;
    memmove(run->items + at.i, run->items + at.i + 1, (run->n - at.i) * sizeof *run->items);
    if (run->n)
        return;
    r->bytes -= run_bytes(run->cap);
    free(run);
    r->n--;
    memmove(r->items + at.run, r->items + at.run + 1, (r->n - at.run) * sizeof(struct run *));
}

void runs_release(struct runs *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->items[i]);
    free(r->items);
    *r = (struct runs){ 0 };
}
