/* SPDX-License-Identifier: Apache-2.0 */
/* plan_int.h - the passes of plan_new, each in a file of its own; for workers/compute/graph only. */
#pragma once
#include "workers/compute/graph/graph_int.h"
#include "workers/compute/graph/plan.h"

enum { PLACE_ALIGN = 64 };

void plan_fuse(struct graph *g);                                /* fuse.c */
void plan_join(struct graph *g, const struct backend *be);      /* join.c: after fuse.c */
void plan_fuse_rows(struct graph *g, const struct backend *be); /* fuse_rows.c: of devices */
enum errc plan_fold(struct plan *p, struct err *e);             /* fold.c: packs weights, computes constants */
void plan_drop_const(struct plan *p, int value);                /* fold.c: its memory, if it is the plan's own */
void plan_sweep(struct graph *g);                               /* fold.c: what nobody reads is gone */
void plan_lay(struct plan *p);                                  /* lay.c: lifetimes and places */
/* The tensor of a value for a batch of `rows` at a place of a buffer. */
struct tensor plan_tensor(const struct value *v, size_t rows, struct buffer *b, size_t offset_bytes);
