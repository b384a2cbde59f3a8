/* SPDX-License-Identifier: Apache-2.0 */
/* sight.h - a look at every machine for one job: where it may go, what is free there, and in words why it has no place.
 *
 * The planner places by the fleet (ground.h) and looks here for the words of a refusal, or where a snapshot has no fleet: then by
 * best fit. Pure; after snapshot_fill. */
#pragma once
#include "scheduler/plan/gang.h"

/* What a search saw, for the words of a refusal. */
struct sight {
    bool any_zone, any_gpu, any_pool, any_fit;  /* any_gpu: in whatever pool of those zones */
    bool any_engine;                    /* and has the engine of its model */
    int64_t lack_engine;                /* machines of that pool that have it not */
    bool any_programs;                  /* a machine of that pool takes a job that is a program, or it is none */
    bool any_model;                     /* a machine there has GPUs of a model that it takes */
    int64_t most_free_slots, most_free_gpus, most_free_memory;
    const struct rule *refuses;         /* a rule that would not let it onto a machine with room */
    const struct snap_node *where;
    const struct reserved *kept;        /* for which a machine with room is kept */
    struct gang_sight gang;             /* of a job on several machines */
};

/* What the job asks of the quota rules on that machine, for all its machines together; NULL: on none in particular. */
struct rule_ask sight_rule_ask(const struct snap_tenant *t, const struct snap_job *j, const struct snap_node *n);
/* The job and the judge of residency allow that zone. */
bool sight_zone_ok(const struct snap_job *j, struct str zone);
/* The tenant's own limits leave it that much; else why not, with the numbers. */
bool sight_quota_allows(const struct snap_tenant *t, const struct snap_job *j, struct arena *a, struct str *words);
/* The machine with the least left over, by index. False: there is no room anywhere; see tells what was seen on the way. */
bool sight_search(const struct snapshot *s, const struct snap_tenant *t, const struct snap_job *j, size_t *ret,
                  struct sight *see);
/* The reason code and the words for a job that found no room. */
void sight_say(const struct snapshot *s, struct arena *a, const struct snap_tenant *t, const struct snap_job *j,
               const struct sight *see, struct str *reason, struct str *message);
