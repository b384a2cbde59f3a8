/* SPDX-License-Identifier: Apache-2.0 */
/* model_int.h - a loaded model, and the builders of its graph by file: graph_file.h, perceptron.c. */
#pragma once
#include "workers/compute/graph/run.h"
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/infer/model.h"

struct infer_model {
    const struct backend *be;
    struct pool *pool;
    struct arena *arena;                /* names of the signature */
    struct backend_ctx *ctx;            /* of the loading thread; owns the constants */
    struct plan *plan;
    int in[SIG_TENSORS_MAX], out[SIG_TENSORS_MAX];      /* values of the graph */
    size_t index_limit[SIG_TENSORS_MAX];
    const struct infer_engine *engine;  /* NULL: ours, by the plan */
    void *engine_model;
    size_t engine_bytes;                /* of the file that it was made of */
    struct infer_info info;
    char *features;
    struct infer_load how;              /* while it is loaded */
};

/* A file that carries an ONNX model: signature and engine; the model's own arena has its names. */
enum errc engine_read(struct infer_model *m, struct arena *a, const struct st_file *f, struct err *e);
/* What both kinds of file share: names into the model's arena. */
enum errc model_own_sig(struct infer_model *m, const struct model_sig *from, struct err *e);
/* So many rows of one batch that its largest value, of so many bytes a row, stays small. */
size_t model_rows_that_fit(size_t row_bytes);
/* A model file of our own training (core/data/model_mlp.h): signature and graph. */
enum errc perceptron_read(struct arena *a, const struct st_file *f, struct model_sig *ret_sig, struct graph **ret, struct err *e);
