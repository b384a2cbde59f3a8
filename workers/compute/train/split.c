/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - f32 as every transport sums it, piece by piece; f64, which checks of gradients have, by everybody's numbers to all.
 * */
#include "workers/compute/train/split.h"
#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

/* at[from] … at[from + size - 1], n numbers each, into the first of them, as comm_sum adds. */
static void add_up(double *at, size_t n, int from, int size)
{
    int half = size / 2;
    if (size == 1)
        return;
    add_up(at, n, from, half);
    add_up(at, n, from + half, half);
    for (size_t i = 0; i < n; i++)
        at[(size_t)from * n + i] += at[(size_t)(from + half) * n + i];
}

/* Of the moment: checks alone ask for it. */
static double *room_alloc(size_t bytes)
{
    return malloc(bytes + 1);
}

static enum errc sum_f64(struct comm *c, double *x, size_t n, struct err *e)
{
    size_t bytes = n * sizeof *x;
    double *all = room_alloc(bytes * (size_t)c->size);
    if (!all)
        return FAIL(e, LIMIT, "no memory for %zu bytes of %d ranks", bytes, c->size);
    memcpy(all + (size_t)c->rank * n, x, bytes);
    enum errc rc = c->ops->all_gather(c, "activations", all, bytes * (size_t)c->size, bytes, e);
    if (rc == ERR_OK) {
        add_up(all, n, 0, c->size);
        memcpy(x, all, bytes);
    }
    free(all);
    return rc;
}

enum errc split_sum(void *ctx, void *numbers, enum elem type, size_t n, struct err *e)
{
    struct comm *c = ctx;
    ASSERT(type == ELEM_F32 || type == ELEM_F64);
    return type == ELEM_F64 ? sum_f64(c, numbers, n, e) : comm_all_reduce(c, "activations", numbers, n, c->size, e);
}
