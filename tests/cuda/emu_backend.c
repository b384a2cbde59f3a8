/* SPDX-License-Identifier: Apache-2.0 */
/* emu_backend.c - the backend cuda-emu: all of the backend "cuda" but its driver. */
#include "tests/cuda/emu.h"

static bool probe(const struct hw *hw)
{
    return hw != NULL;
}

static enum errc open_emu(const struct backend *be, struct pool *pool, struct backend_ctx **ret, struct err *e)
{
    static const struct gpu_image images[] = { { "all", "of the processor" }, { NULL, NULL } };
    (void)pool;
    return cuda_open_by(be, emu_driver(), images, ret, e);
}

const struct backend backend_cuda_emu = { .name = "cuda-emu", .rank = -1, .probe = probe, .open = open_emu, CUDA_BACKEND };
