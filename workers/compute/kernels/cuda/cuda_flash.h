/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_flash.h - attention over bf16 by wgmma, on a card of compute capability 9.0, beside the kernels of every card.
 *
 * Calling order: use, on a context that is open and captures nothing (the backend "cuda" does it when it is opened) ->
 * (launch)* -> close. */
#pragma once
#include "workers/compute/kernels/cuda/cuda_int.h"

enum flash_hopper_kernel {
#define KERNEL(...)
#define FLASH_HOPPER(name, threads, shared_bytes) OWN_##name,
#include "workers/compute/kernels/cuda/kernel.def"
#undef FLASH_HOPPER
#undef KERNEL
    OWN_COUNT
};

/* Is the image one of those that are loaded apart? */
bool cuda_flash_is_own(const char *image);
/* Loads the kernels and compares them with the others. false: attention stays with those. ret: a line that says which and why. */
bool cuda_flash_use(struct backend_ctx *c, char *ret, size_t size);
void cuda_flash_close(struct backend_ctx *c);
void cuda_flash_launch(struct backend_ctx *c, enum flash_hopper_kernel k, size_t x, size_t y, size_t z, const void *args);
