/* SPDX-License-Identifier: Apache-2.0 */
/* infer_read_int.h - one request of the Open Inference Protocol between its reading (infer_read.c), its answer
 * (infer_answer.c) and its way through the batcher (job_infer.c). All memory is the exchange's arena. */
#pragma once
#include "core/json/jsonvalue.h"
#include "workers/compute/infer/batch.h"

enum { INFER_ROWS_MAX = 16384, INFER_NUMBERS_MAX = 1 << 26 };

struct infer_call {
    const struct infer_model *model;
    const struct model_sig *sig;
    struct arena *arena;
    struct str name, id;                /* of the deployment; of the caller */
    int64_t version;
    struct infer_io io;
    size_t rows;
    int64_t timeout_us, priority;       /* parameters.timeout and priority; 0: not given */
    bool is_wanted[SIG_TENSORS_MAX], is_binary[SIG_TENSORS_MAX];    /* outputs */
};

/* A header field by name (the whole request's), as http_header_get has it. header_length: that of the JSON at the beginning of
 * the body, from Inference-Header-Content-Length; STR_NULL: all of it. */
enum errc infer_read(struct infer_call *c, struct str header_length, struct str body, struct err *e);
/* The answer, and in *ret_json the length of its JSON when tensors follow it in binary, else 0. LIMIT: too large. */
enum errc infer_answer(const struct infer_call *c, struct buf *ret, size_t *ret_json, struct err *e);
