/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - an ONNX model as a graph and a signature: what is known when it is read is computed here, what is not supported
 * is refused with the node and the reason.
 *
 * Operators: the rows of op_onnx.def, opset 7 to 21 (docs/gen/onnx.md). The first dimension of an input that the file leaves
 * open or names becomes the rows of a batch; other open dimensions need a number (struct onnx_dims). Floating-point types are
 * computed as f32, whole numbers of inputs serve as indices only. Truth is f32 0 and 1.
 * Memory: constants live in the arena, or in the bytes of the file; both must outlive the graph until plan_new or
 * graph_file_write has returned. Errors: BAD_DATA, UNPROCESSABLE (node, operator, why), LIMIT. */
#pragma once
#include "core/data/model_sig.h"
#include "workers/compute/graph/graph.h"
#include "workers/compute/onnx/signature.h"

enum { ONNX_OPSET_MIN = 7, ONNX_OPSET_MAX = 21 };

/* dims may be NULL. */
enum errc onnx_import(struct arena *a, const struct onnx_file *m, const struct onnx_dims *dims, struct graph **ret,
                      struct model_sig *ret_sig, struct err *e);
/* The generated table of operators, Markdown. */
bool onnx_print_ops(struct buf *out);
