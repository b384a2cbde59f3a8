/* SPDX-License-Identifier: Apache-2.0 */
/* board_needs.h - who waits for whom on a board: the words of queue_jobs (TYPE:ID between commas) as places of the run ahead.
 *
 * A job that was not read, and an end that would have to be a failure, become AHEAD_NONE: that moment does not come in a run
 * where all completes. Memory: the arena. */
#pragma once
#include "scheduler/mirror/board.h"

/* words: by waiting job, as read. After all jobs are on the board. Says whether a job was not found. */
bool board_needs_link(struct board *b, struct ahead_wait *waits, const struct str *words, struct arena *a);
