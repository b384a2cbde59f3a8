/* SPDX-License-Identifier: Apache-2.0 */
/* flash_keys_hopper.cu - as flash_hopper.cu, the backward kernel for the keys. */
#define FLASH_D 64
#define FLASH_THREADS 128
#include "workers/compute/kernels/cuda/flash_wgmma_int.h"
#include "workers/compute/kernels/cuda/flash_back_kv_int.h"

GPU_KERNEL(flash_hopper_back_kv, struct flash_back_args, a)
{
    flash_back_kv(&a);
}
