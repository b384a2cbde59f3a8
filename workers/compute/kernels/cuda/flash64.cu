/* SPDX-License-Identifier: Apache-2.0 */
/* flash64.cu - attention over bf16 with heads of 64 numbers. */
#define FLASH_D 64
#include "workers/compute/kernels/cuda/flash_back_kv_int.h"
#include "workers/compute/kernels/cuda/flash_back_q_int.h"
#include "workers/compute/kernels/cuda/flash_forward_int.h"

GPU_KERNEL(flash64, struct flash_args, a)
{
    flash_forward(&a);
}

GPU_KERNEL(flash64_back_q, struct flash_back_args, a)
{
    flash_back_q(&a);
}

GPU_KERNEL(flash64_back_kv, struct flash_back_args, a)
{
    flash_back_kv(&a);
}
