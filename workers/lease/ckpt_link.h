/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt_link.h - the store of a run's checkpoints in a lease's child: sealed on a thread of its own, sent by the agent (keeper.h).
 *
 * A checkpoint is sealed (core/crypto/stream.h) under a data key of its own, which the agent gets with the object's place;
 * plaintext is
 * never written. The run hands its bytes over and goes on. One is under way at a time, and one begins at most every gap_ms, but
 * for the
 * last one of a stopped run. What goes wrong on the way is a line of the job's log: the run goes on without.
 * Loaded are, newest first: the one that this process kept last, then those that the lease came with.
 * Calling order: ckpt_link_new -> the run, through ckpt_link_store -> ckpt_link_free (what is still under way is given up).
 * Threads: the run's, and one of its own; the child's log is written by both. */
#pragma once
#include "workers/compute/train/ckpt.h"
#include "workers/lease/child.h"

struct ckpt_link;

/* The lease's socket to the keeper is the link's from now on. */
MUST_CHECK enum errc ckpt_link_new(struct child *c, int64_t gap_ms, struct ckpt_link **ret, struct err *e);
const struct ckpt_store *ckpt_link_store(struct ckpt_link *l);
/* What the lease came with is loaded no more: the run begins anew. */
void ckpt_link_forget(struct ckpt_link *l);
void ckpt_link_free(struct ckpt_link *l);           /* wipes its keys; NULL is fine */
void ckpt_link_freep(struct ckpt_link **l);
