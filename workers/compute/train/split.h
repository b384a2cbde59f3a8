/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - sums over the ranks that share the layers of a model (docs/adr/0124), as a run asks for them (graph/run.h). */
#pragma once
#include "workers/compute/kernels/tensor.h"
#include "workers/compute/train/comm.h"

/* ctx: this rank's struct comm. numbers, f32 or f64, become the sum over all ranks, added in one order: the same bits on each. */
MUST_CHECK enum errc split_sum(void *ctx, void *numbers, enum elem type, size_t n, struct err *e);
