/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h - from the bytes of an ONNX model to the bytes of a model file that loads: read, imported, written, read back.
 *
 * What comes out has been built again from its own text, so a version that is stored can be served. Nothing is read but the
 * bytes given. Memory: out grows to its maximum. Errors: those of onnx_file.h, import.h and graph_file.h; LIMIT when the model
 * does not fit in out or in the arena. */
#pragma once
#include "workers/compute/onnx/import.h"

struct onnx_about {             /* of what was read, for logs */
    int64_t ir, opset;
    struct str producer;        /* in the arena given */
    size_t nodes, made_nodes;   /* of the file, of the graph */
};

enum errc onnx_convert(struct arena *a, struct str bytes, const struct onnx_dims *dims, struct buf *out, struct onnx_about *ret,
                       struct err *e);
