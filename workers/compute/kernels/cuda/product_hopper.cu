/* SPDX-License-Identifier: Apache-2.0 */
/* product_hopper.cu - products of bf16 tensors by wgmma (hopper_int.h), in the four ways that two factors can lie. Built for
 * compute capability 9.0 alone and loaded on such a card alone; nothing of it runs on the processor. */
#include "workers/compute/kernels/cuda/hopper_int.h"

#define HOPPER_KERNEL(name, a_across, b_across)                         \
    GPU_KERNEL(name, struct product_hopper_args, a)                     \
    {                                                                   \
        hopper_run(&a.p, a.count, a.blocks, a_across, b_across);        \
    }
HOPPER_KERNEL(hopper_rows_cols, false, false)
HOPPER_KERNEL(hopper_rows_rows, false, true)
HOPPER_KERNEL(hopper_cols_cols, true, false)
HOPPER_KERNEL(hopper_cols_rows, true, true)
