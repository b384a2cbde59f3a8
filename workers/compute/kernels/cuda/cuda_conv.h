/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_conv.h - convolutions with factors in bf16 by gathered windows; false: not these, and nothing was launched. */
#pragma once
#include "workers/compute/kernels/cuda/cuda_ops_int.h"

/* As CONV2D, CONV2D_BWD_X and CONV2D_BWD_W take them, with OP_BF16. */
bool cuda_gathered_conv(struct backend_ctx *c, const struct op_call *o, const struct images *s);
bool cuda_gathered_back_x(struct backend_ctx *c, const struct op_call *o, const struct images *s);
bool cuda_gathered_back_w(struct backend_ctx *c, const struct op_call *o, const struct images *s);
/* MATMUL of bf16 tensors inside an operation. */
void cuda_product_narrow(struct backend_ctx *c, const struct op_call *o);
