/* SPDX-License-Identifier: Apache-2.0 */
/* trees.h - ensembles of decision trees (random forests, boosted trees) as tensors, proven before a kernel walks them.
 *
 *   nodes [N, 7]  a row for each node: column of x (-1: a leaf); threshold (of a leaf: its value); left and right child, rows
 *                 counted from the first of the tree, both behind the node itself; 1 where a missing value goes left, else 0;
 *                 row of sets, or -1; gain of the split (told to people, read by no kernel)
 *   roots [T, 2]  first row of each tree, ascending from 0; the output that its leaves are added to
 *   base  [K]     what each output begins with
 *   sets  [S, 16] 256 bits in numbers of 16: code c is in the set when bit c % 16 of number c / 16 is set
 *
 * x goes left when x <= threshold, or, with a set, when it is a code in it; NaN goes where the node says, and so does what is
 * no code (0 … 255, whole). All are f32, so that one reader checks every model file; whole numbers below 2^24 are exact.
 * Proven by trees_check: every number is what its place allows, each node but the first has exactly one parent before it, so
 * every walk ends and reads only its tree. output[k] = base[k] + Σ of the leaves, added in the order of the trees from 0:
 * the bits of a row do not depend on its batch.
 *
 * The packed form, made once when a model is loaded, has the children of a node side by side and leaves that lead to
 * themselves, so that eight rows walk at once without a branch. */
#pragma once
#include "core/base/err.h"
#include "workers/compute/kernels/backend.h"

enum tree_field { TREE_COLUMN, TREE_THRESHOLD, TREE_LEFT, TREE_RIGHT, TREE_MISSING, TREE_SET, TREE_GAIN, TREE_FIELDS };
enum { TREE_ROOT_FIELDS = 2, TREE_SET_NUMBERS = 16, TREE_CODES = 256, TREE_NODES_MAX = 1 << 24 };

struct tree_tensors {
    const float *nodes, *roots, *base, *sets;   /* sets NULL without one */
    size_t node_count, tree_count, outputs, set_count;
};

/* cols: of x. BAD_DATA with node and member. */
enum errc trees_check(const struct tree_tensors *t, size_t cols, struct err *e) MUST_CHECK;
/* The value of a row's leaf in the tree that begins at `nodes`: the plain form. */
float tree_leaf(const float *nodes, const float *sets, const float *x);
size_t trees_packed_bytes(size_t nodes, size_t trees, size_t outputs, size_t sets);

/* The kernels TREES_PACK and TREES of every backend in host memory. */
void kernel_trees_pack(struct backend_ctx *c, const struct op_call *o);
void kernel_trees(struct backend_ctx *c, const struct op_call *o);
