/* SPDX-License-Identifier: Apache-2.0 */
/* model_onnx.h - does this safetensors file hold an ONNX model as it came, for an engine that is not ours? Asked by the registry,
 * which sees headers alone, and by whoever loads models.
 *
 * __metadata__: family "onnx", onnx_format "falaj-onnx-1", signature (model_sig.h), unsupported (why it has no graph of ours: the
 * first node and its operator), parameters (numbers among its constants). Its one tensor is "onnx", U8 [bytes]: the file, to the
 * byte. Memory: the arena. Errors: BAD_DATA; model_onnx_write LIMIT, too. */
#pragma once
#include "core/data/model_sig.h"
#include "core/data/safetensors.h"

#define MODEL_ONNX_FORMAT "falaj-onnx-1"
#define MODEL_ONNX_UNSUPPORTED "unsupported"
#define MODEL_ONNX_PARAMETERS "parameters"
enum { MODEL_ONNX_PAIRS = 3 };

bool model_onnx_is(const struct st_file *f);
/* Either all of its tensors have rows or none. Not proven: that the ONNX model is sound, and that the signature is its own. */
enum errc model_onnx_check(struct arena *a, const struct st_file *f, struct model_sig *ret, struct err *e);
/* Its bytes, borrowed; of a file that was checked and is held whole. */
struct str model_onnx_bytes(const struct st_file *f);
/* Appends the file to out; meta: more pairs. */
enum errc model_onnx_write(struct arena *a, struct str onnx, const struct model_sig *sig, const struct st_pair *meta,
                           size_t meta_count, struct buf *out, struct err *e);
