/* SPDX-License-Identifier: Apache-2.0 */
/* run_keep.h - the folder /falaj/checkpoint as the checkpoints of the job: put back before the program begins, kept while it
 * runs.
 *
 * It is kept when somebody has written into it and it has been quiet since the last look, so that no file is caught half
 * written; and
 * once more when the program was told to stop, or asks to be queued again. What goes wrong is a line of the log.
 * Calling order: run_keep_new -> run_keep_restore -> run_keep_look, now and then -> run_keep_last -> run_keep_free. */
#pragma once
#include "workers/lease/child.h"

struct run_keep;

/* dir: the folder, borrowed. NULL without a keeper: every call on NULL does nothing. */
MUST_CHECK enum errc run_keep_new(struct child *c, int dir, struct run_keep **ret, struct err *e);
/* The newest that opens; none is fine. DAMAGED: there are some, and none opens. */
MUST_CHECK enum errc run_keep_restore(struct run_keep *k, struct err *e);
void run_keep_look(struct run_keep *k);
void run_keep_last(struct run_keep *k);          /* the program has ended; waits until it is kept */
int64_t run_keep_step(const struct run_keep *k);        /* of what was put back, or kept since; 0: none */
int64_t run_keep_count(const struct run_keep *k);
void run_keep_free(struct run_keep *k);
