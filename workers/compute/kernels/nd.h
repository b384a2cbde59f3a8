/* SPDX-License-Identifier: Apache-2.0 */
/* nd.h - the functions that UNARY, BINARY and REDUCE take as attr.fn: the rows of nd_fn.def. */
#pragma once

#define UNARY(NAME, name, y) UNARY_##NAME,
enum unary_fn {
#include "workers/compute/kernels/nd_fn.def"
    UNARY_COUNT
};
#undef UNARY
#define BINARY(NAME, name, y) BINARY_##NAME,
enum binary_fn {
#include "workers/compute/kernels/nd_fn.def"
    BINARY_COUNT
};
#undef BINARY
#define REDUCTION(NAME, name) REDUCE_##NAME,
enum reduce_fn {
#include "workers/compute/kernels/nd_fn.def"
    REDUCE_COUNT
};
#undef REDUCTION
