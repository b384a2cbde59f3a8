/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a model loaded for serving, and sessions that run it.
 *
 * A model is what its signature says (core/data/model_sig.h): named inputs and outputs, in the order of the signature. Numbers
 * are f32, or i32 where the signature has whole numbers (INT64, INT32); BOOL is f32 0 and 1, BYTES the words' codes. A perceptron
 * and a convolutional network of our own training have "input" FP32 [-1,n], "probabilities" FP32 [-1,classes] and "label"
 * INT64 [-1].
 * A model is immutable and shared by threads: weights are packed once for the chosen backend, the file's bytes are not
 * needed after. A session is one thread's memory: its buffers are planned at birth for info.max_rows rows and never grow; a
 * longer input runs in slices. A row's result does not depend on what it was batched with. A model without rows takes exactly
 * its shapes and runs as one row. Calling order: infer_model_load -> infer_session_new (per thread) -> infer_run* ->
 * infer_session_free -> infer_model_free. Hostile files: all is proven by core/data and graph_file.h before a byte is used; that
 * whole numbers are below infer_index_limit is proven by who reads requests. Errors: BAD_DATA, UNPROCESSABLE, LIMIT. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/data/model_sig.h"
#include "core/base/pages.h"
#include "core/data/model_words.h"
#include "workers/compute/infer/engine.h"
#include "workers/compute/kernels/backend.h"

enum { INFER_ROWS = 64 };           /* at most; where rows per second stop rising for perceptrons (32 … 256 measured) */

struct infer_model;
struct infer_session;
struct plan_kept;

struct infer_info {
    struct model_sig sig;
    size_t parameters;              /* numbers among the constants */
    size_t max_rows;                /* of one batch: INFER_ROWS, fewer where results are large; 1 without rows */
    bool has_rows;
    char family[16], holdout_accuracy[16];
    const char *engine;             /* another than ours that computes it, with its version; NULL: ours */
    const char *features_json;      /* array of column names, "" if unknown; owned by the model */
    struct model_words words;       /* of an input of BYTES, whose numbers are codes, NaN for a word without one */
};

/* Rows of every input and output, by the order of the signature. An output that is not wanted is NULL. */
struct infer_io {
    const void *in[SIG_TENSORS_MAX];
    void *out[SIG_TENSORS_MAX];
};

/* pool: threads for inside operations, longer-lived than the model; NULL: the caller's alone. */
enum errc infer_model_load(const struct backend *be, struct pool *pool, const void *bytes, size_t n, struct infer_model **ret,
                           struct err *e);
/* The same out of bytes that are read once: what is taken in is told to data (it must not be read again, on failure neither), so
 * that file and model together take little more than the larger of them. max_bytes: for constants and one batch; LIMIT with the
 * figures, 0: no limit. door: to the engine of a file that carries an ONNX model (core/data/model_onnx.h); NULL: there is none,
 * and such a file is refused with the node that ours does not support. */
struct infer_load {
    const struct read_once *data;
    size_t max_bytes;
    const struct infer_door *door;
    const struct plan_kept *kept;       /* packed weights of an earlier start (graph/plan.h); NULL: none are kept */
};
enum errc infer_model_load_from(const struct backend *be, struct pool *pool, const void *bytes, size_t n,
                                const struct infer_load *how, struct infer_model **ret, struct err *e);
/* What a file says of itself: signature, limits, size and words; there is nothing to run, so no session. For a model that is
 * computed another way. */
enum errc infer_model_describe(const void *bytes, size_t n, struct infer_model **ret, struct err *e);
/* For a model that stays, once it answers: large pages for its weights (plan_settle). Sessions may run meanwhile. */
void infer_model_settle(const struct infer_model *m, const _Atomic bool *stop);
void infer_model_free(struct infer_model *m);
const struct infer_info *infer_model_info(const struct infer_model *m);
/* The i-th of the packed weights that may be kept, and its bytes; 0: there are no more. */
size_t infer_model_packed(const struct infer_model *m, size_t i, const void **ret);
size_t infer_model_bytes(const struct infer_model *m);                  /* packed weights and the other constants */
/* What numbers of a whole-numbered input must be below (and at least 0); 0: any. */
size_t infer_index_limit(const struct infer_model *m, size_t input);
/* Whether a tensor of the signature is i32 in memory. */
bool infer_is_whole(const struct sig_tensor *t);

enum errc infer_session_new(const struct infer_model *m, struct infer_session **ret, struct err *e);
void infer_session_free(struct infer_session *s);
enum errc infer_run(struct infer_session *s, const struct infer_io *io, size_t rows, struct err *e);

/* The parts of infer_run, so that a batcher can fill one batch from several callers: put rows at `at`, compute, take. */
void infer_put(struct infer_session *s, size_t at, const struct infer_io *io, size_t rows);
enum errc infer_compute(struct infer_session *s, size_t rows, struct err *e);
void infer_take(struct infer_session *s, size_t at, size_t rows, const struct infer_io *io);
/* From another thread: infer_compute of a model that has an engine (info.engine) ends with DEADLINE; engine.h says how surely. */
void infer_stop(struct infer_session *s);
