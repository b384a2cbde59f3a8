/* SPDX-License-Identifier: Apache-2.0 */
/* emu_backend.c - the backend cuda-emu: all of the backend "cuda" but its driver. */
#include "tests/cuda/emu_int.h"
#include "tests/cuda/emu_lt.h"

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

static enum errc link_id(unsigned char ret[CARD_LINK_ID], struct err *e)
{
    return nccl_link_id(emu_nccl(), ret, e);
}

static enum errc link_new(struct backend_ctx *c, const struct card_link_spec *s, struct card_link **ret, struct err *e)
{
    return nccl_link_new(emu_nccl(), c, s, ret, e);
}

static int link_version(void)
{
    int version = 0;
    return emu_nccl()->version(&version) ? 0 : version;
}

static const struct card_ops cards = { emu_cards, cuda_card_use, link_id, link_new, nccl_exchange, nccl_link_free, link_version,
                                       cuda_host_alloc, cuda_host_free, cuda_memory };
static const struct capturing capturing = { cuda_capture_begin, cuda_capture_end, cuda_replay, cuda_capture_free, &cards };

const struct backend backend_cuda_emu = { .name = "cuda-emu", .rank = -1, .probe = probe, .open = open_emu,
                                          .capturing = &capturing, .library = &emu_library, CUDA_BACKEND };
