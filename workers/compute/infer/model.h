/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a model loaded for serving, and sessions that run it.
 *
 * A model is immutable and shared by threads: weights are packed once for the chosen backend, the file's bytes are not
 * needed after. A session is one thread's memory: its buffers are planned at birth for INFER_ROWS rows and never grow; a
 * longer input runs in slices. A row's result does not depend on what it was batched with. Calling order: infer_model_load
 * -> infer_session_new (per thread) -> infer_run* -> infer_session_free -> infer_model_free. Hostile files: all is proven by
 * core/data (st_parse, model_mlp_check) before a byte is used. Errors: BAD_DATA, LIMIT. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "workers/compute/kernels/backend.h"

enum { INFER_ROWS = 64 };           /* where rows per second stop rising for perceptrons (32 … 256 measured) */

struct infer_model;
struct infer_session;

struct infer_info {
    size_t inputs, classes, layers, parameters;
    char family[16], holdout_accuracy[16];
    const char *features_json;      /* array of column names, "" if unknown; owned by the model */
};

/* pool: threads for inside operations, longer-lived than the model; NULL: the caller's alone. */
enum errc infer_model_load(const struct backend *be, struct pool *pool, const void *bytes, size_t n, struct infer_model **ret,
                           struct err *e);
void infer_model_free(struct infer_model *m);
const struct infer_info *infer_model_info(const struct infer_model *m);
size_t infer_model_bytes(const struct infer_model *m);                  /* packed weights and the other constants */

enum errc infer_session_new(const struct infer_model *m, struct infer_session **ret, struct err *e);
void infer_session_free(struct infer_session *s);
/* x: rows × inputs. Outputs may be NULL: logits and probabilities rows × classes, labels rows (the first of equal logits). */
enum errc infer_run(struct infer_session *s, const float *x, size_t rows, float *logits, float *probabilities, int32_t *labels,
                    struct err *e);

/* The parts of infer_run, so that a batcher can fill one batch from several callers: put rows at `at`, compute, take. */
void infer_put(struct infer_session *s, size_t at, const float *x, size_t rows);
enum errc infer_compute(struct infer_session *s, size_t rows, struct err *e);
void infer_take(struct infer_session *s, size_t at, size_t rows, float *logits, float *probabilities, int32_t *labels);
