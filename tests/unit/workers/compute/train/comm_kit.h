/* SPDX-License-Identifier: Apache-2.0 */
/* comm_kit.h - what every transport must do, as one rank's part of a script: cmocka's checks belong to the main thread, so it
 * returns what went wrong instead, or NULL. Included after cmocka.h. */
#pragma once
#include <stdlib.h>
#include <string.h>

#include "workers/compute/train/comm.h"

enum { KIT_NUMBERS = 3001 };                    /* pieces are cut short, the last rank of 8 has 1465 less */

static inline float kit_number(int rank, size_t i)
{
    return (float)((rank * 7919 + (int)i * 104729) % 10007) / 3.0f;
}
/* Are x[from … end-1] the tree's sums over `present` of `size` ranks? */
static inline bool kit_is_sum(const float *x, size_t from, size_t end, int size, int present)
{
    float *one[COMM_RANKS_MAX], cell[COMM_RANKS_MAX], sum;
    for (int r = 0; r < size; r++)
        one[r] = &cell[r];
    for (size_t i = from; i < end; i++) {
        for (int r = 0; r < size; r++)
            cell[r] = kit_number(r, i);
        comm_sum(&sum, one, 0, 1, size, present);
        if (memcmp(&sum, &x[i], sizeof sum) != 0)
            return false;
    }
    return true;
}
#define KIT_CALL(call) do { if ((call) != ERR_OK) { free(x); return "a call failed"; } } while (0)
#define KIT_IS(what, text) do { if (!(what)) { free(x); return text; } } while (0)

static inline const char *kit_script(struct comm *c, struct err *e)
{
    size_t n = KIT_NUMBERS, piece = comm_piece(n, c->size), from = piece * (size_t)c->rank;
    size_t end = from + piece < n ? from + piece : n;
    float *x = malloc(n * sizeof *x);
    from = from < n ? from : n;
    for (int present = 1; present <= c->size; present++) {
        for (size_t i = 0; i < n; i++)
            x[i] = kit_number(c->rank, i);
        KIT_CALL(c->ops->reduce_scatter(c, "sums", x, n, piece, present, e));
        KIT_IS(kit_is_sum(x, from, end, c->size, present), "a piece is not the sum");
        KIT_CALL(c->ops->all_gather(c, "sums", x, n * sizeof *x, piece * sizeof *x, e));
        KIT_IS(kit_is_sum(x, 0, n, c->size, present), "all pieces are not the sum");
    }
    for (size_t i = 0; i < n; i++)
        x[i] = i >= from && i < end ? (float)i : -1;
    KIT_CALL(c->ops->gather(c, "pieces", x, n * sizeof *x, piece * sizeof *x, e));
    for (size_t i = 0; i < n; i++) {
        bool is_here = c->rank == 0 || (i >= from && i < end);
        KIT_IS(x[i] == (is_here ? (float)i : -1), "a gathered piece is wrong, or came to another rank");
    }
    for (size_t i = 0; i < n; i++)
        x[i] = c->rank ? 0 : (float)i;
    KIT_CALL(c->ops->barrier(c, "all here", e));
    KIT_CALL(c->ops->broadcast(c, "from the first", x, n * sizeof *x, e));
    for (size_t i = 0; i < n; i++)
        KIT_IS(x[i] == (float)i, "what rank 0 told is wrong");
    free(x);
    return NULL;
}
