/* SPDX-License-Identifier: Apache-2.0 */
/* comm_nccl.h - ranks that are threads of one process with a card each: what lies in device memory goes from card to card by the
 * backend's link (kernels/cards.h), all else through the process's memory (comm_local.h).
 *
 * The tree of sums is that of every transport: pieces go to who owns them, and its card adds them in that order. Where there is
 * no link (no library, or no sockets for it to meet by) join says so once and gradients go through the process's memory: the
 * same bits, slower.
 * Calling order: comm_nccl_new for each rank of `over` -> join by all, each on its thread with its context -> … -> leave ->
 * comm_nccl_free. */
#pragma once
#include "workers/compute/train/comm_local.h"

struct comm *comm_nccl_new(struct comm_local *over, int rank);
void comm_nccl_free(struct comm *c);
