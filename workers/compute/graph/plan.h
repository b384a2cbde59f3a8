/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a graph made ready for one backend: refused or fused, folded and laid out in memory, once; then run any number of
 * times.
 *
 * plan_new, in this order: what the backend lacks is refused by name; bias and ReLU join the product before them; on a device
 * what is done to the same rows becomes one pass; constant weights are packed and what depends on constants alone is computed;
 * what nobody reads goes; every result gets a place in one arena by its lifetime, for the largest batch. Sizes are known before
 * anything is allocated: too large is LIMIT with both numbers. A plan is immutable and shared by threads; a run (run.h) is one
 * thread's memory.
 *
 * The arena: a result lives from the node that makes it to the last that reads it, an input and an output all the time. An
 * operation that may work in place (op.def) takes over the place of an input that nobody reads later. Places are aligned to
 * 64 bytes. */
#pragma once
#include "workers/compute/graph/graph.h"
#include "core/base/pages.h"
#include "core/base/str.h"

struct plan_place {             /* of a value in the arena */
    size_t offset_bytes, size_bytes;
    int first, last;            /* nodes; -1: before the first */
    int root;                   /* the value whose place it is; itself, or the one that it takes over or is a view of */
};

/* Weights as this backend packed them at an earlier start of the same model, kept by whoever starts it. They are compared with
 * the model's own at their beginning, so that what another layout left is not taken; the rest is as trusted as the model file. */
struct plan_kept {
    /* The i-th that was packed, of so many bytes, to be read as long as the plan lives; NULL: not there, it is packed anew. */
    const void *(*find)(void *ctx, size_t i, size_t bytes);
    void *ctx;
};

struct plan {
    struct graph *graph;
    const struct backend *be;
    struct backend_ctx *ctx;    /* of the constants */
    size_t max_rows;
    const struct read_once *data;       /* while it is made; and the next */
    const struct plan_kept *kept;
    int *packed;                /* values whose weights were packed slab by slab, in that order; and of whom those are kept */
    bool *is_lent;
    size_t packed_count;
    struct plan_place *places;  /* by value; size 0: none */
    struct buffer **consts;     /* by value */
    size_t region_bytes[REGION_COUNT];
};

struct plan_options {
    size_t max_rows;
    size_t max_bytes;           /* arena, parameters, gradients, optimiser and constants together; 0: no limit */
    const struct read_once *data;       /* told of constants' data that was taken in; NULL: nobody asks */
    const struct plan_kept *kept;       /* NULL: nobody keeps any */
};

/* Takes the graph over, on failure too. ctx must outlive the plan. UNPROCESSABLE: the backend cannot; LIMIT: too large. */
enum errc plan_new(struct graph *g, const struct backend *be, struct backend_ctx *ctx, const struct plan_options *o,
                   struct plan **ret, struct err *e);
void plan_free(struct plan *p);
/* Large pages for large constants, where they lie in host memory: for a plan that stays, by a thread that nobody waits for. */
void plan_settle(const struct plan *p, const _Atomic bool *stop);
/* What find should give at the next start: the i-th of them, and its bytes; 0: there are no more. Host memory alone. */
size_t plan_packed(const struct plan *p, size_t i, const void **ret);
size_t plan_bytes(const struct plan *p);                        /* of all regions */
/* The input or output of that name, or VALUE_NONE. */
int plan_find(const struct plan *p, const char *name);
/* For people: one line per place of the arena (offset, bytes, lifetime, shape, who makes it), then the regions. */
bool plan_print(const struct plan *p, struct buf *out);
