/* SPDX-License-Identifier: Apache-2.0 */
/* ort_convert.h - an ONNX model as a model file: of our own operations where they are enough (onnx/convert.h), else the file as
 * it came, for ONNX Runtime, with the signature that was found (core/data/model_onnx.h).
 *
 * Without the engine a model outside our operations is refused as it always was, with the first node that is not supported and
 * the setting that names the library. A file that is damaged, has data outside, functions of its own or sparse tensors is refused
 * either way. Errors: those of onnx/convert.h and ort_model.h. */
#pragma once
#include "workers/compute/onnx/convert.h"
#include "workers/compute/infer/engine.h"

/* door: of ONNX Runtime alone; NULL: there is none. ret->made_nodes is 0 of a file as it came. */
enum errc ort_convert(struct arena *a, struct str bytes, const struct onnx_dims *dims, const struct infer_door *door,
                      struct buf *out, struct onnx_about *ret, struct err *e);
