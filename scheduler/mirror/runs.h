/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h - numbers in an order of the caller's, in runs of at most RUN_MAX: added and removed anywhere in the logarithm of
 * how many there are and a run's length, walked from any place on. What is added behind all others fills runs to their end.
 * Memory: its own, counted; a zeroed struct is empty. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUN_MAX = 256 };
struct run { uint32_t n, cap, items[]; };
struct runs { struct run **items; size_t n, cap, bytes; };
/* Below 0: a stands before b. Total: 0 for the same number alone. */
typedef int (*runs_order)(const void *ctx, uint32_t a, uint32_t b);
/* A place in the walk; run == runs.n: the end. */
struct runs_at { size_t run; uint32_t i; };

void runs_add(struct runs *r, uint32_t x, runs_order order, const void *ctx);
/* It must be there. */
void runs_remove(struct runs *r, uint32_t x, runs_order order, const void *ctx);
/* The first that does not stand before x, which need not be there. */
struct runs_at runs_find(const struct runs *r, uint32_t x, runs_order order, const void *ctx);
/* False: the end. */
static inline bool runs_next(const struct runs *r, struct runs_at *at, uint32_t *ret)
{
    if (at->run == r->n)
        return false;
    *ret = r->items[at->run]->items[at->i];
    if (++at->i == r->items[at->run]->n)
        *at = (struct runs_at){ at->run + 1, 0 };
    return true;
}
void runs_release(struct runs *r);
