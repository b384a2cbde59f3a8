/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - does an ONNX model read no other file? Asked before its bytes go to an engine that would open what they name.
 *
 * Looked through to their end: tensors of graphs, of graphs inside of nodes, of sparse tensors, functions and training
 * information. Errors: UNPROCESSABLE (a tensor's data is outside; graphs are nested more than INSIDE_DEPTH_MAX deep), BAD_DATA.
 * */
#pragma once
#include "core/base/str.h"

enum { INSIDE_DEPTH_MAX = 64 };

enum errc onnx_is_inside(struct str bytes, struct err *e);
