/* SPDX-License-Identifier: Apache-2.0 */
/* run_world.h - the other machines of a program's job, as its watcher sees them: how they are joined, when they end this one, and
 * in which order all of them end.
 *
 *   ended well, or asks to be queued again: the network is kept until all have ended so (what was sent last is still read); then
 *       rank 0 says what came of it for all, and the others say nothing but that they ended
 *   failed: the others hear it, and this one says so to the platform, which ends all
 *   another one failed, or is gone: this one is told to stop, and what it says of its end counts for nothing
 *   told to stop (a cancel, a preemption): the others hear it and are told to stop as well, so that they can stop together
 * Of a program on one machine all of these do nothing. Errors: those of gang_join; RETRY: another machine ended it. */
#pragma once
#include "workers/lease/box.h"
#include "workers/lease/child.h"

struct tunnel;

struct run_world {
    struct child *c;
    struct tunnel *tunnel;              /* NULL: it is alone */
    bool has_said_stop;
};

/* Blocks until all are joined; takes box->net over. from: the step of the folder checkpoint, which is the same on all. */
MUST_CHECK enum errc run_world_join(struct run_world *w, struct child *c, struct box *box, int64_t from, struct err *e);
/* Why the program is to be told to stop now; NULL: it is not. The others hear of our own stop. */
const char *run_world_stops(struct run_world *w);
/* The program has ended, with this status; until_us: where it was told to stop, for as long the others are waited for.
 * *ret_code: the status that counts, RUN_AGAIN where another one asks for that. why: of a failure, in words. */
MUST_CHECK enum errc run_world_end(struct run_world *w, int code, const char *why, int64_t until_us, int *ret_code,
                                   struct err *e);
/* Rank 0's program has ended well: who only serves it (run_launch.serves) has nothing more to do. */
bool run_world_leader_done(const struct run_world *w);
/* Rank 0, or alone: what it gives is the job's. */
bool run_world_gives(const struct run_world *w);
void run_world_close(struct run_world *w);
