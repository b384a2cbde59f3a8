/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h - exchanges between cards by NCCL, through one table of functions that is opened at run time, as the driver's is.
 *
 * NCCL moves bytes here and adds nothing: its sums have an order of their own, and no number of ranks may show in a model's bits
 * (docs/adr/0102). Its other form is tests/cuda/emu_nccl.c. A communicator never blocks: calls come back at once and are asked
 * after, so that one whose peers are gone can be given up. */
#pragma once
#include "workers/compute/kernels/cards.h"
#include "workers/compute/kernels/cuda/cuda_int.h"

enum { NCCL_IN_PROGRESS = 7, NCCL_BYTES = 1 /* ncclUint8 */, NCCL_MAGIC = 0xcafebeef, NCCL_CONFIG_OF = 21400 };

struct nccl_id {                /* ncclUniqueId: passed by value */
    char internal[CARD_LINK_ID];
};
struct nccl_config {            /* the first members of ncclConfig_t, as 2.14 had it; `size` says how many there are */
    size_t size;
    unsigned magic, version;
    int blocking;
};

struct nccl {
#define CALL(name, symbol, arguments) int (*name) arguments;
#include "workers/compute/kernels/cuda/nccl.def"
#undef CALL
    const char *(*text)(int code);      /* ncclGetErrorString */
};

/* UNAVAILABLE: no library (path: "libnccl.so.2" everywhere but in tests), or one that lacks a function. It is never closed. */
MUST_CHECK enum errc nccl_open(const char *path, struct nccl *ret, struct err *e);
/* The functions of cards.h over a table. */
MUST_CHECK enum errc nccl_link_id(const struct nccl *lib, unsigned char ret[CARD_LINK_ID], struct err *e);
MUST_CHECK enum errc nccl_link_new(const struct nccl *lib, struct backend_ctx *c, const struct card_link_spec *s,
                                   struct card_link **ret, struct err *e);
MUST_CHECK enum errc nccl_exchange(struct card_link *l, const char *what, const struct card_part *parts, size_t n, struct err *e);
void nccl_link_free(struct card_link *l);
