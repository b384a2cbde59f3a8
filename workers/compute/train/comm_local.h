/* SPDX-License-Identifier: Apache-2.0 */
/* comm_local.h - ranks that are threads of one process: they read each other's memory, and a sleeping barrier stands before and
 * behind each exchange.
 *
 * Calling order: comm_local_new -> comm_local_rank for each thread -> the threads end -> comm_local_free. A thread that returns
 * without having gone through all calls of the others must abort, else they wait for ever; ranks.c does so with its error. */
#pragma once
#include "workers/compute/train/comm.h"

struct comm_local;

struct comm_local *comm_local_new(int size);
void comm_local_free(struct comm_local *l);
struct comm *comm_local_rank(struct comm_local *l, int rank);
/* The rank that aborted first, and its error into *why; -1: none has. */
int comm_local_failed(struct comm_local *l, struct err *why);
