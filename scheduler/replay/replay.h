/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - a recorded cycle planned again by the planner that is here, and compared byte for byte; `falaj-scheduler replay`.
 *
 *     replay [--print] FILE...
 *
 * For each file a line: that the plan is the same, or its first difference. --print tells what was decided, a line for each job:
 * `placed JOB on NODE devices 0,1`, `waits JOB REASON: words`, `leaves ATTEMPT for JOB`. No configuration, no database. */
#pragma once
#include "scheduler/replay/record.h"

struct replay {
    bool is_same;
    struct str difference;              /* of the first table, row and column that differ; absent: none */
    struct told was;
    struct told_choice was_choice;      /* where the cycle has one */
};

/* Uses the cycle up. Memory: the arena. Errors: those of tables.h, of the recorded plan. */
MUST_CHECK enum errc replay_run(struct str path, struct cycle *c, struct arena *a, struct replay *ret, struct err *e);

/* argv[0]: "replay". The exit status: 0 all the same, 1 one is not or the answer could not be written, 2 bad options or a bad
 * file, told on standard error with the offset. */
int replay_main(int argc, char **argv);
