/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - what is to be done about one run, from what the engine says of all objects of ours. Pure.
 *
 * A run is our wish for machines for one job. It is written down before anything is asked, with the number of the try in the
 * object's name, so whatever became of a call can be seen later:
 *
 *     WANTED --submit--> SENT (try n) --seen: its end--> ENDED
 *                         |  absent for ENGINE_SETTLE_US in answers of a healthy engine: submit, try n + 1
 *                         |  put back into the engine's own queue: cancel, ENDED as REQUEUED
 *                         '- not wanted any more, and it waits: cancel
 *
 * Invariants: no submit while an object of this try may exist; of several objects of one run all but one are cancelled; an object
 * that is not what was sent is cancelled and the run ends. Twice started is still once run: each try has one token, good
 * once, and a later try ends the earlier one's. */
#pragma once
#include "scheduler/engines/engine.h"

enum { ENGINE_SETTLE_US = 3000000, ENGINE_TRIES = 20 };

enum run_state { RUN_WANTED, RUN_SENT, RUN_ENDED };
extern const char *const run_state_names[];

struct run_facts {
    struct uuid run_id;
    enum run_state state;
    int64_t tries;              /* submissions so far */
    int64_t sent_us, wait_us;   /* when the last of them was written down; none before this */
    bool is_wanted;             /* its job waits for it, or its machines have work */
    bool has_work;              /* one of its machines has a lease and was heard of lately, whatever the engine knows */
    bool is_open;               /* the engine takes new ones: enabled */
    struct str account;
    const struct engine_ask *ask;   /* as it was sent (RUN_SENT) */
};

enum run_act { ACT_WAIT, ACT_SUBMIT, ACT_KEEP, ACT_END };
enum { RUN_CANCELS = 8 };

struct run_verdict {
    enum run_act act;
    const struct engine_seen *seen;         /* ACT_KEEP: the object; ACT_END: the one that ended, NULL: none */
    const char *outcome;                    /* ACT_END: a word for the row */
    const char *differs;                    /* ACT_END: what was not as it was sent; else NULL */
    struct str cancel[RUN_CANCELS];         /* objects to cancel first; more than these wait for the next look */
    size_t ncancel;
};

/* seen: of a healthy engine's answer, those named for this run or more. is_whole: every object of ours is in it; else nothing
 * follows from one that is not there. */
struct run_verdict run_judge(const struct run_facts *r, const struct engine_seen *seen, size_t n, bool is_whole, int64_t now_us);
/* Of a run that has ended here: it is to be told to go. Not again where its going can be seen: what cannot go, as pods of
 * machines that are away, would be told for ever in the place of others. keeps_ended: as engine_door has it. */
bool run_is_stray(const struct engine_seen *s, bool keeps_ended);
