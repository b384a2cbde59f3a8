/* SPDX-License-Identifier: Apache-2.0 */
/* ort_model_int.h - a session and its calls, between ort_model.c and ort_learn.c. */
#pragma once
#include <pthread.h>
#include "workers/compute/ort/ort_model.h"

struct ort_model {
    struct ort *ort;
    struct arena *arena;                /* names and types */
    const struct model_sig *sig;
    void *session;
    enum onnx_type type[SIG_TENSORS_MAX];               /* of inputs, as the file has them */
    const char *in[SIG_TENSORS_MAX], *out[SIG_TENSORS_MAX];
};

struct ort_call {
    const struct ort_model *model;
    size_t max_rows;
    void *options;                      /* of a run: where it is told to stop */
    pthread_mutex_t lock;               /* guards the next */
    bool is_stopped;
    void *room[SIG_TENSORS_MAX];        /* inputs of max_rows, in the file's types */
    void *value[SIG_TENSORS_MAX];       /* outputs of the last run; NULL: none */
};

struct ort_about {                      /* what came out */
    enum onnx_type type;
    size_t rank;
    int64_t dim[SIG_DIMS_MAX];
};

/* Of sig, the inputs and the names of the outputs are used. */
enum errc ort_model_open(struct ort *o, struct str onnx, const struct onnx_file *file, const struct model_sig *sig,
                         struct ort_model **ret, struct err *e);
void ort_model_close(void *model);
enum errc ort_call_open(void *model, size_t max_rows, void **ret, struct err *e);
void ort_call_close(void *call);
/* From another thread; see struct infer_engine. */
void ort_call_stop(void *call);
void ort_call_put(void *call, size_t at, const void *const *in, size_t rows);
/* Without a look at what came out. */
enum errc ort_call_run(struct ort_call *c, size_t rows, struct err *e);
enum errc ort_call_about(const struct ort_call *c, size_t output, struct ort_about *ret, struct err *e);
enum errc ort_call_compute(void *call, size_t rows, struct err *e);
void ort_call_take(void *call, size_t at, size_t rows, void *const *out);
