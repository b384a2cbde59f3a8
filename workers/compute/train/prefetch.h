/* SPDX-License-Identifier: Apache-2.0 */
/* prefetch.h - the rows of the next batch, fetched by a thread of their own while the batch before computes.
 *
 * What is fetched is what the step loop would fetch, so no bit depends on it. One batch is under way at a time; one that was
 * asked for and is not taken (a step that was rolled back) is fetched for nothing. Calling order: prefetch_new ->
 * (prefetch_ask -> prefetch_take)* -> prefetch_free. All but the fetching belongs to one thread. Memory: the arena, and
 * the caller's two batches, one under way and one taken. */
#pragma once
#include "workers/compute/train/data.h"

struct prefetch;

struct prefetch_batch {                 /* as the net takes it */
    void *x, *target;
    float *soft;                        /* NULL: no teacher */
};

/* taught: as train_task.taught. rows_max: of a batch. room: of a second batch, the caller's (soft where taught is there).
 * LIMIT: no memory or no thread. */
MUST_CHECK enum errc prefetch_new(struct arena *a, const struct train_data *d, const float *taught, size_t rows_max,
                                  struct prefetch_batch room, struct prefetch **ret, struct err *e);
void prefetch_free(struct prefetch *p);
/* Rows that will be asked for next; copied. */
void prefetch_ask(struct prefetch *p, const uint32_t *rows, size_t n);
/* Waits for these rows and changes places: *b's memory is the next batch's. false: others, or none, were asked for. */
bool prefetch_take(struct prefetch *p, const uint32_t *rows, size_t n, struct prefetch_batch *b);
