/* SPDX-License-Identifier: Apache-2.0 */
/* signature.h - what an input of an ONNX model is called by who asks for answers, whichever engine computes them.
 *
 * Its first dimension, where the file leaves it open or names it, stands for the rows of a request; any other open one needs a
 * number (struct onnx_dims), which closes the first as well. Memory: texts are the file's. Errors: UNPROCESSABLE. */
#pragma once
#include "core/data/model_sig.h"
#include "workers/compute/onnx/onnx_file.h"

enum { ONNX_OPEN_DIMS_MAX = 16 };

struct onnx_dims {              /* numbers for dimensions that the file names */
    struct { struct str name; int64_t n; } dim[ONNX_OPEN_DIMS_MAX];
    size_t count;
};

/* The protocol's datatype: "FP32" for every type of real numbers and for bytes; NULL: there is none. */
const char *onnx_datatype(enum onnx_type t);
/* dims may be NULL. */
enum errc onnx_sig_input(const struct onnx_value *v, const struct onnx_dims *dims, struct sig_tensor *ret, struct err *e);
