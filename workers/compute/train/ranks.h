/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - a run as several ranks that are threads of this process (comm_local.h): each with a net, a context of the backend,
 * its share of the threads and of the memory.
 *
 * Rank 0 runs on the caller's thread; it is the one that is observed and keeps checkpoints. The error is the one of the rank that
 * failed first, named. On a device each rank has a card of its own, in the order in which the process is shown them, with all
 * of that card's memory (comm_nccl.h); fewer cards than ranks: UNPROCESSABLE. Ranks on other machines:
 * workers/lease/gang_join.h. */
#pragma once
#include "workers/compute/train/engine.h"

/* spec->ranks, or else spec->tensor_ranks, is 2 … COMM_RANKS_MAX. */
enum errc ranks_run(struct arena *a, const struct train_task *job, const struct train_observer *obs, struct train_result *ret,
                    struct err *e);
