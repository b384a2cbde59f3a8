/* SPDX-License-Identifier: Apache-2.0 */
/* flash_hopper.cu - attention over bf16 with heads of 64 numbers by wgmma: forward, and the backward kernel for the
 * queries. Built for compute capability 9.0 alone. */
#define FLASH_D 64
#define FLASH_THREADS 256
#include "workers/compute/kernels/cuda/flash_wgmma_int.h"
#include "workers/compute/kernels/cuda/flash_back_q_int.h"
#include "workers/compute/kernels/cuda/flash_forward_int.h"

GPU_KERNEL(flash_hopper, struct flash_args, a)
{
    flash_forward(&a);
}

GPU_KERNEL(flash_hopper_back_q, struct flash_back_args, a)
{
    flash_back_q(&a);
}
