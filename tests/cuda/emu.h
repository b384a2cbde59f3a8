/* SPDX-License-Identifier: Apache-2.0 */
/* emu.h - the GPU driver's table on the processor: the same host code, plan, queues and events as on a card, for tests only.
 *
 * A kernel (the same *.cu, compiled as C) is run block by block, thread by thread, each thread on a fiber; a warp
 * goes as far as it can before the next one starts, so what needs a barrier and has none reads what is not there yet. The order
 * of blocks, warps and threads is ascending or descending: kernels must give the same bits in both. Copies and launches run
 * when they are asked for; what would have run at another time on a card is judged by clocks (see below), not by luck.
 *
 * The access checker reports, and the launch fails with its text:
 *   - outside: a kernel touches device memory that its operation did not name (AddressSanitizer stops the program there);
 *   - unwritten: an operation reads memory that nothing has written since it was given out, or leaves a byte of a dense result;
 *   - unordered: two queues touch the same bytes, one of them writing, and no event or sync is between them;
 *   - captured: anything but launches is asked for of a queue while a sequence of it is captured, or memory is;
 *   - a thread that ends while others wait at a barrier; a pointer or event that is not there.
 * A copy that is under way to shared memory arrives when its thread waits for it, and what lay there is gone at its begin; rows
 * of gpu_load_matrices are read when a thread comes to it: a missing wait or barrier shows as NaN.
 *   - late: pinned memory is changed, or given back, before the host has waited for the copy that reads it;
 *   - a stream of another card than the thread's, or memory of another card than the queue's.
 * Threads take turns: an operation of one is whole before another's begins (emu_card.c). What the host of one thread has waited
 * for counts as waited for by all of them. */
#pragma once
#include <stdbool.h>
#include "workers/compute/kernels/cuda/nccl.h"

enum { EMU_CARDS = 4 };

extern const struct backend backend_cuda_emu;

/* The table; the same for everybody. */
const struct gpu_driver *emu_driver(void);
/* NCCL's table, over meetings of threads (emu_nccl.c); links that were made and are not gone; whether there is a library at
 * all. */
const struct nccl *emu_nccl(void);
int emu_nccl_links(void);
void emu_set_nccl(bool is_there);
void emu_nccl_refuses(bool refuses);            /* it is there, and no rank of it meets another */
void emu_set_cards(int n);                      /* that the driver shows; 1 until then */
void emu_set_descending(bool is_descending);    /* order of blocks, warps and threads */
void emu_set_memory(size_t size_bytes);         /* of the card; what is asked for beyond it is refused. 0: as much as there is */
void emu_set_shared(size_t size_bytes);         /* that a block of the card may have, 0: 227 KiB, as sm_90 */
size_t emu_shared_most(void);
size_t emu_memory_most(void);                   /* 0: as much as there is */
size_t emu_memory_used(void);
void emu_set_pinned(bool is_there);             /* whether pinned memory is given out */
size_t emu_pinned(void);                        /* bytes of it that are */
size_t emu_pinned_copies(void);                 /* copies to the card from it, since the start */
size_t emu_launches(void);                      /* since the start; those of captured sequences, too */
size_t emu_replays(void);                       /* captured sequences that were run */
/* The first report since the last call, or NULL; valid until the next call. */
const char *emu_report(void);
