/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_file_int.h - between the readers of messages: onnx_file.c (model, graph, nodes) and onnx_message.c (tensors, lists). */
#pragma once
#include "workers/compute/onnx/onnx_file.h"
#include "workers/compute/onnx/pb.h"

/* BAD_DATA: what, and what is wrong with it. */
enum errc onnx_bad(const struct pb *p, const char *what, struct err *e);
/* A name; what is wrong is in p->why. */
enum errc onnx_text(struct pb *p, const struct pb_field *f, struct str *ret);
/* A repeated int64, packed or one by one; *n of at most `most`. */
bool onnx_add_ints(struct pb *p, const struct pb_field *f, int64_t *to, size_t most, size_t *n);
enum errc onnx_read_tensor(struct str message, struct onnx_tensor *t, struct err *e);
