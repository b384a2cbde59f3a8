/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_model.h - the trees of a run, and the file they become: safetensors with trees.nodes, trees.roots, trees.base and, where
 * columns of categories split, trees.sets (kernels/trees.h), and in the metadata the graph with which they are served
 * (infer/graph_file.h): "input" FP32 [-1,columns] as the table has them; of classes "probabilities" FP32 and "label" INT64, of a
 * number "value" FP32, of flags "probabilities". Two classes are two outputs of which the first stays 0.
 * Memory: heap for what grows; gbdt_model_release. Errors: LIMIT; those of graph_file.h. */
#pragma once
#include "core/data/safetensors.h"
#include "workers/compute/train/gbdt_loss.h"
#include "workers/compute/train/model_file.h"

struct gbdt_model {
    size_t outputs, first_output;       /* the output of score s is first_output + s */
    size_t scores, node_count, tree_count, set_count;
    struct buf nodes, roots, sets;
    float *base;                        /* outputs */
};

enum errc gbdt_model_new(struct arena *a, const struct gbdt_loss *l, struct gbdt_model *ret, struct err *e);
void gbdt_model_release(struct gbdt_model *m);
enum errc gbdt_model_add(struct gbdt_model *m, const struct gbdt_tree *t, size_t score, struct err *e);
/* As it was after so many trees. */
void gbdt_model_cut(struct gbdt_model *m, size_t trees);
/* Adds the leaves of trees from…end-1 to the scores of these rows, tree by tree. */
void gbdt_model_apply(const struct gbdt_model *m, struct gbdt_loss *l, const uint32_t *rows, size_t n, size_t from, size_t end);
/* How much each column gained, as shares of all; zeros without a split. */
void gbdt_model_importance(const struct gbdt_model *m, size_t cols, double *ret);

enum errc gbdt_model_write(struct arena *a, struct gbdt_model *m, const struct train_job *s, const struct train_data *d,
                           const struct model_about *about, struct buf *out, struct err *e);
/* The trees of a file that this run wrote; proven as any other's. DAMAGED, BAD_DATA. */
enum errc gbdt_model_read(struct gbdt_model *m, const struct st_file *f, size_t cols, struct err *e);
