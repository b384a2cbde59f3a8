/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_hopper.h - products of bf16 tensors by wgmma, on a card of compute capability 9.0, beside the strips of every card.
 *
 * Calling order: use, on a context that is open and captures nothing -> (products)* -> close. */
#pragma once
#include "workers/compute/kernels/cuda/cuda_int.h"

enum { HOPPER_ROWS = 128, HOPPER_COLS = 256 };          /* results of a tile */
#define HOPPER_IMAGE "product_hopper"                   /* is not loaded with the others */

/* Loads the kernels and compares them with the strips. false: products stay with the strips. ret: a line that says which and
 * why. */
bool cuda_hopper_use(struct backend_ctx *c, char *ret, size_t size);
/* The same once, and not while launches are captured: whoever begins an operation asks. */
void cuda_hopper_try(struct backend_ctx *c);
void cuda_hopper_close(struct backend_ctx *c);          /* NULL-safe */
/* false: not in use, and nothing was launched. p is wide, of one batch. parts: as cuda_strip_launch. */
bool cuda_hopper_product(struct backend_ctx *c, bool a_across, bool b_across, const struct product_strip_args *p, size_t parts);
/* The strips' kernel (cuda_product.c): parts of the depth, or a batch; the other is 1. */
void cuda_strip_launch(struct backend_ctx *c, bool a_across, bool b_across, const struct product_strip_args *p, size_t parts,
                       size_t batch);
