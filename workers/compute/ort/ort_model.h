/* SPDX-License-Identifier: Apache-2.0 */
/* ort_model.h - a model that ONNX Runtime computes, as an engine of infer/engine.h, and what a file that it takes is found to be.
 *
 * The file is read by us first: it must be sound for onnx_file.h and read no other file (onnx/inside.h). Inputs and outputs are
 * tensors of FLOAT, DOUBLE, INT8, UINT8 (FP32 to callers), INT64, INT32 or BOOL. What comes out is held against the signature at
 * each call. Memory: the library's own, within ort_open's bound; a call has room for its inputs.
 * Errors: UNPROCESSABLE, BAD_DATA, LIMIT. */
#pragma once
#include "workers/compute/infer/engine.h"
#include "workers/compute/onnx/signature.h"
#include "workers/compute/ort/ort.h"

/* ret->ctx is o. name: room for its text, as long as ret. */
void ort_engine_of(struct ort *o, char name[64], struct infer_engine *ret);

/* The signature of an ONNX model by its own text and by trial: it is run with one row and with three. A model whose inputs have
 * rows is taken only where each output has a row for each, with the same numbers alone and beside others, up to 1e-4 of the
 * output's range: then rows of different callers may be computed together. Texts of ret: of the arena. */
enum errc ort_learn(struct arena *a, struct ort *o, struct str onnx, const struct onnx_file *file, const struct onnx_dims *dims,
                    struct model_sig *ret, struct err *e);
/* For tests: how long a trial may take; 0: a minute, as usual. One that takes longer is UNPROCESSABLE. */
void ort_learn_set_limit(int ms);
