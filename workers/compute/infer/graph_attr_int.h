/* SPDX-License-Identifier: Apache-2.0 */
/* graph_attr_int.h - the members of struct op_attr that a model file keeps, by name; for graph_file_*.c only. */
#pragma once
#include <stddef.h>
#include "workers/compute/graph/graph.h"

enum attr_kind { ATTR_UNSIGNED, ATTR_SIZE, ATTR_REAL, ATTR_PAIR, ATTR_SIZES };

static const struct graph_attr {
    const char *name;
    enum attr_kind kind;
    size_t offset;
} graph_attrs[] = {
#define ATTR(kind, member) { #member, ATTR_##kind, offsetof(struct op_attr, member) },
    ATTR(UNSIGNED, flags) ATTR(UNSIGNED, fn) ATTR(SIZE, axes) ATTR(REAL, eps) ATTR(REAL, alpha) ATTR(REAL, gamma) ATTR(SIZES, at)
    ATTR(SIZES, step) ATTR(SIZES, len) ATTR(SIZE, n) ATTR(PAIR, window) ATTR(SIZE, stride) ATTR(SIZE, pad)
    ATTR(SIZE, heads) ATTR(SIZE, kv_heads)
#undef ATTR
};
enum { GRAPH_ATTRS = sizeof graph_attrs / sizeof *graph_attrs };
