/* SPDX-License-Identifier: Apache-2.0 */
/* sites.h - the products and convolutions of a graph that can be made smaller: where they stand, and how one is changed.
 *
 * A site is x · wᵀ or a convolution by constant f32 weights, not deeper than sums of bytes are exact. Changing one keeps its
 * place, its shapes and all that reads it. */
#pragma once
#include "workers/compute/graph/graph.h"
#include "workers/compute/optimise/range.h"

struct site {
    int node, value;            /* value: what comes in */
};

/* All of them in the order of their nodes; ret has room for g->node_count. */
size_t sites_find(const struct graph *g, struct site *ret);
/* Weights become i8 with a scale for each column, what comes in is quantised from min to max. Constants are made in a. */
enum errc site_to_bytes(struct graph *g, struct arena *a, const struct site *s, float min, float max, struct err *e);
/* The weights of all sites as bf16, widened again when the model is loaded. */
enum errc sites_to_bf16(struct graph *g, struct arena *a, const struct site *sites, size_t n, struct err *e);
