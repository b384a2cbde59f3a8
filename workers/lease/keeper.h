/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.h - the agent's side of a lease's checkpoints: it gets their places and keys, sends and fetches their sealed bytes.
 *
 * It answers the child (ckpt_link.h) on a socket of its own and a thread of its own, so neither the run nor the watch over it
 * waits for
 * the network. Files have no name and hold ciphertext; the keys pass through and are wiped. What the child asks is checked like
 * any
 * input: an odd message ends the exchange, and the child goes on without checkpoints.
 * Calling order: keeper_new -> the socket to the child -> keeper_forbid, if nobody will go on from the lease -> keeper_free. */
#pragma once
#include "workers/lease/executor_int.h"

struct keeper;

/* r is borrowed: its environment, grant and held lease. ret_child_fd: the child's end, the caller's to send and close. */
MUST_CHECK enum errc keeper_new(const struct run *r, struct keeper **ret, int *ret_child_fd, struct err *e);
/* The lease ends for good (cancelled, out of time): checkpoints are refused without a word. */
void keeper_forbid(struct keeper *k);
size_t keeper_kept(const struct keeper *k);         /* checkpoints that count, made by this attempt */
/* Gives up what is under way, and waits for its thread. NULL is fine. */
void keeper_free(struct keeper *k);
