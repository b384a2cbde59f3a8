/* SPDX-License-Identifier: Apache-2.0 */
/* job_nodes.c - the rules of how many machines a job may want. */
#include "scheduler/jobs/job_nodes.h"
#include "core/db/run_tx.h"
#include "core/wire/lease_wire.h"
#include "scheduler/jobs/job.h"
#include "tenants/accounts/quota.h"

SCHEMA_EXTERN(job_nodes, "Machines that a job runs on at once",
    FIELD(job_nodes, min, 0, .min = 0, .max = GANG_NODES_MAX, .dflt = "0", .doc = "At least so many; 0: as max"),
    FIELD(job_nodes, max, 0, .min = 0, .max = GANG_NODES_MAX, .dflt = "0",
          .doc = "At most so many, where they are free; 0: as min. Above min only for jobs of the kind train"));

enum errc job_nodes_check(const struct job_nodes *in, int kind, int64_t *ret_min, int64_t *ret_max, struct err *e)
{
    const int64_t min = in->min ? in->min : in->max, max = in->max ? in->max : in->min;
    int64_t least = *ret_max = max > 1 ? max : 1;
    *ret_min = min > 1 ? min : 1;
    if (min > max)
        return FAIL_AT(e, UNPROCESSABLE, "/nodes/min", "min (%ld) is above max (%ld)", (long)min, (long)max);
    if (max > 1 && !(job_types[kind].traits & JT_GANGS))
        return FAIL_AT(e, UNPROCESSABLE, "/nodes", "Jobs of kind %s run on one machine; %ld were asked for. Leave nodes away",
                       job_types[kind].name, (long)max);
    if (min < max && !(job_types[kind].traits & JT_ELASTIC))
        return FAIL_AT(e, UNPROCESSABLE, "/nodes/max", "A job of kind %s runs on as many machines from its start to its end: min "
                       "and max must be equal, and %ld and %ld were given", job_types[kind].name, (long)min, (long)max);
    while (least > *ret_min && least % 2 == 0)
        least /= 2;
    if (least != *ret_min)
        return FAIL_AT(e, UNPROCESSABLE, "/nodes/max", "It takes max machines, or half of them, or half of that, down to min: "
                       "%ld is not %ld times a power of two", (long)max, (long)min);
    return ERR_OK;
}

static enum errc read_limits(struct work *w, int64_t *slots, int64_t *gpus, struct err *e)
{
    TRY(quota_most(w, "slots", slots, e));
    return quota_most(w, "gpus", gpus, e);
}

enum errc job_nodes_room(struct work *w, const struct job *j, struct err *e)
{
    int64_t slots = 0, gpus = 0;
    if (j->nodes < 2)
        return ERR_OK;
    TRY(RUN_READ(w, read_limits(w, &slots, &gpus, e), e));
    if (j->nodes * j->slots > slots)
        return FAIL_AT(e, UNPLACEABLE, "/nodes", "%ld machines with %ld slots each are %ld slots; the organisation "
                       "may hold %ld at once",
                       (long)j->nodes, (long)j->slots, (long)(j->nodes * j->slots), (long)slots);
    if (j->nodes * j->gpus > gpus)
        return FAIL_AT(e, UNPLACEABLE, "/nodes", "%ld machines with %ld GPUs each are %ld GPUs; the organisation may "
                       "hold %ld at once",
                       (long)j->nodes, (long)j->gpus, (long)(j->nodes * j->gpus), (long)gpus);
    return ERR_OK;
}
