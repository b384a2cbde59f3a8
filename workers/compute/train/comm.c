/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - the order of sums over ranks, and which transports there are. */
#include "workers/compute/train/comm.h"
#include "core/base/assert.h"

#include <string.h>

enum { BLOCK = 512 };

size_t comm_piece(size_t n, int size)
{
    size_t each = (n + (size_t)size - 1) / (size_t)size;
    return (each + COMM_PIECE_OF - 1) / COMM_PIECE_OF * COMM_PIECE_OF;
}

static void sum_block(float *out, float *const x[], size_t at, size_t n, int from, int size, int present)
{
    float right[BLOCK];
    int half = size / 2;
    if (size == 1) {
        memcpy(out, x[from] + at, n * sizeof *out);
        return;
    }
    sum_block(out, x, at, n, from, half, present);
    if (from + half >= present)
        return;
    sum_block(right, x, at, n, from + half, half, present);
    for (size_t i = 0; i < n; i++)
        out[i] += right[i];
}

void comm_sum(float *out, float *const x[], size_t at, size_t n, int size, int present)
{
    float sum[BLOCK];
    ASSERT(comm_is_size(size) && present >= 1 && present <= size);
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < BLOCK ? n - i : BLOCK;
        sum_block(sum, x, at + i, some, 0, size, present);
        memcpy(out + i, sum, some * sizeof *out);
    }
}

enum errc comm_all_reduce(struct comm *c, const char *what, float *x, size_t n, int present, struct err *e)
{
    size_t piece = comm_piece(n, c->size);
    TRY(c->ops->reduce_scatter(c, what, x, n, piece, present, e));
    return c->ops->all_gather(c, what, x, n * sizeof *x, piece * sizeof *x, e);
}
