/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h - what a plan is made of: waiting jobs, machines with room, tenants with their quotas; and the plan itself.
 *
 * Plain data in one arena, whoever filled it: scheduler/mirror/snapshot.h from the database, a test or a simulator from its own tables. This
 * room includes core/base only and is pure: the same snapshot gives the same plan. Where a job's data may be has been judged before: a plan
 * uses no other zone. A job's `tenant` is an index into tenants. Jobs of one tenant stand in the order of order.c after order_jobs. */
#pragma once
#include "core/base/clock.h"
#include "scheduler/plan/devices.h"
#include "scheduler/plan/reserved.h"
#include "scheduler/plan/rulebook.h"
#include "scheduler/plan/workload.h"

struct snap_node {
    struct uuid node_id;
    struct str zone, pool, flavor;
    int64_t slots, gpus;                /* what it has */
    int64_t free_slots, free_gpus;
    int64_t cpu_milli, memory_bytes;    /* what it has; 0: not known, its slots stand for them */
    int64_t used_cpu_milli, used_memory_bytes;
    struct str gpu_model;
    bool gpu_shared;                    /* its devices keep jobs apart that have shares of one */
    bool programs;                      /* it starts programs of tenants */
    bool gangs;                         /* its agent runs parts of jobs on several machines */
    bool gang_programs;                 /* and of programs */
    bool outsized;                      /* what runs there holds more than its slots stand for */
    bool once;                          /* it is here for one lease (engines/lent.h): one takes all its slots */
    struct str build;                   /* its agent's version and backend, which parts of one job must share */
    struct str engines;                 /* what computes models outside our operations: names and versions between commas */
    int64_t lent;                       /* of free_slots: others will leave them soon (turnover.h) */
    struct str held;                    /* of its devices, as devices_read takes it; absent: free_gpus says all */
    int64_t free_cpu_milli, free_memory_bytes;          /* from here on filled by snapshot_fill */
    struct devices devices;
    const struct reserved *kept;        /* its windows, borrowed from the snapshot, and the moment that they are judged at */
    size_t nkept;
    int64_t kept_at_us;
};

struct snap_tenant {
    struct uuid tenant_id;
    struct str zones;                   /* as read: codes between commas */
    struct slice allowed_zones;         /* struct str; filled by snapshot_read */
    struct json residency;              /* as read: what the judge needs to know of it */
    int64_t slots_used, slots_limit, gpus_used, gpus_limit;
    int64_t slots_kept, gpus_kept;      /* for a job that is to start later; kept by bookings.h */
    bool guarded;                       /* it has rules: look into the rule book */
    int64_t slots_weight, gpus_weight;  /* thousandths; of guarded tenants */
    int64_t borrowed;                   /* of guarded tenants: share.h, of the tenant's rules; kept by placement_plan */
};

struct snap_job {
    struct uuid tenant_id, job_id;
    struct str reason, message;         /* as they stand in the database; message: where it was read for this plan */
    uint64_t said;                      /* both, as one number: mirror/waiting.h */
    struct str zone, pool;              /* zone absent: any allowed */
    struct str queue;
    struct uuid project_id;
    struct str kind, data_class;
    bool needs_programs;                /* by its kind; filled by who reads it */
    struct str engine;                  /* the name of what computes its model; absent or empty: our own operations */
    struct slice zones;                 /* struct str: where the judge of residency lets it run; filled by snapshot_judge */
    struct str denied;                  /* why not in the zone it asks for, or in none; absent: it is let in somewhere */
    int64_t slots, gpus, priority, fence, version;
    int64_t cpu_milli, memory_bytes;    /* 0: what its slots stand for */
    int64_t gpu_milli;                  /* of one GPU; 0 or 1000: whole ones */
    int64_t nodes;                      /* machines at once, each with all that is asked; 0 and 1: one (snap_job_nodes) */
    int64_t nodes_max;                  /* it takes more where they are free: twice nodes, …, up to so many (snap_job_most) */
    int64_t max_runtime_s;              /* it ends by then; 0: nobody knows */
    struct str cls;                     /* its priority class */
    int64_t class_value;                /* of that: goes before priority */
    struct str gpu_models;              /* between commas; absent or empty: any */
    int64_t shape;                      /* jobs of one tenant and shape ask for the same: they fit or wait together */
    int64_t depth;                      /* so many of its shape were read at most */
    bool is_cut;                        /* the last one that was read of a shape of which more may wait; filled by snapshot_link */
    struct timestamp submitted_at;
    int64_t tenant;                     /* index, filled by snapshot_link */
    bool is_placed;                     /* before the others, by a claim; filled by placement_plan */
    bool has_lane;                      /* of a guarded tenant: ordered by project and queue first; filled by order_jobs */
};

struct snapshot {
    struct { struct snap_node *items; size_t n; } nodes;
    struct { struct snap_tenant *items; size_t n; } tenants;
    struct { struct snap_job *items; size_t n; } jobs;
    struct rulebook book;               /* of guarded tenants */
    int64_t revision;                   /* of what is known of zones and tenants: it was read first */
    struct claims *claims;              /* borrowed, claims.h: who goes first to a machine of its own. NULL: nobody */
    struct bookings *bookings;          /* borrowed, bookings.h: who starts later, and where. NULL: nobody */
    int64_t now_us;                     /* where there are bookings or windows */
    struct { const struct reserved *items; size_t n; } reserved;        /* windows of machines: reserved.h */
    int64_t reserved_no;                /* of what is known of those */
    struct workload *workload;          /* borrowed: GPU jobs that came before; a plan adds what it places. NULL: none is known */
};

/* A machine of a placement. */
struct seat_of {
    size_t node;                        /* index */
    uint64_t devices;                   /* of the machine, bit by bit; as many as the job has GPUs */
};
struct placement {
    size_t job, node;                   /* indexes */
    uint64_t devices;                   /* as in seat_of */
    const struct seat_of *more;         /* of a job on several machines: those behind the first, which is rank 0's */
    size_t nmore;
};
struct waiting {
    size_t job;
    struct str reason, message;
    bool is_denied;                     /* by the judge of residency */
};
struct plan {
    struct { struct placement *items; size_t n; } places;
    struct { struct waiting *items; size_t n; } waits;
    bool is_cut;                        /* jobs that were not read go before others that were: plan again if there is room */
    bool *is_left;                      /* by job: it, or others of its shape, was not looked at for that. NULL: none was */
};

/* It waits for machines or quota that others hold or are kept for, and not for anything else. */
bool waits_for_room(const struct waiting *w);

/* A slot stands for so much where processors or memory are not said. */
enum { SLOT_CPU_MILLI = 1000 };
#define SLOT_MEMORY_BYTES ((int64_t)1 << 30)

/* Fills what machines have free of each resource, and which windows each has. A machine has at least what its slots stand
 * for. */
void snapshot_fill(struct snapshot *s);
/* Machines that it runs on at once: at least, and at most. */
static inline int64_t snap_job_nodes(const struct snap_job *j) { return j->nodes > 1 ? j->nodes : 1; }
static inline int64_t snap_job_most(const struct snap_job *j)
{
    return j->nodes_max > j->nodes ? j->nodes_max : snap_job_nodes(j);
}
/* What the job asks of one machine, in any group. */
struct ask snap_job_ask(const struct snap_job *j);
/* It asks for no more than its slots stand for, of one machine, so where a slot gets free it can start. */
bool snap_job_is_plain(const struct snap_job *j);
/* The machine has the engine of the job's model, in whatever version; any job without one. */
bool snap_node_computes(const struct snap_node *n, const struct snap_job *j);
/* It comes with a worker, and no operator brings it: its name begins as our programs' do. */
static inline bool snap_engine_is_own(struct str engine)
{
    return str_starts(engine, "falaj-");
}
/* The machine runs programs if the job is one, has the engine of its model, its GPUs are of a model that the job takes, and keep
 * shares apart if it asks for one. */
bool snap_job_takes(const struct snap_job *j, const struct snap_node *n);
/* The machine has that much free now, or at all. */
bool snap_node_fits(const struct snap_node *n, const struct ask *a);
bool snap_node_could(const struct snap_node *n, const struct ask *a);
/* Slots of a machine that has so many, which a lease of so many takes from it: of one that is here for one lease, all. */
static inline int64_t lease_slots(bool once, int64_t has, int64_t asks) { return once ? has : asks; }
/* The machine has that much more, or less, free; devices: bit by bit, as many as the ask has GPUs. */
void snap_node_give(struct snap_node *n, const struct ask *a, uint64_t devices);
void snap_node_take(struct snap_node *n, const struct ask *a, uint64_t devices);

/* The index of a tenant, which stand in the order of their ids; -1: it is not there. */
int64_t snap_tenant_find(const struct snapshot *s, struct uuid id);
/* Fills job.tenant by id; jobs of a tenant that is not there are dropped. */
void snapshot_link(struct snapshot *s);
