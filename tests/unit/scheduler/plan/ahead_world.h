/* SPDX-License-Identifier: Apache-2.0 */
/* ahead_world.h - a small world for runs of the planner ahead: machines of one zone, tenants, what runs and what waits. */
#pragma once
#include "scheduler/plan/ahead.h"

#define SEC ((int64_t)1000000)
enum { NOW_S = 1000, MOST = 40 };

static struct str home = { "home", 4 };

static inline struct uuid id_of(uint8_t kind, size_t i)
{
    struct uuid u = { { kind } };
    u.b[14] = (uint8_t)(i >> 8);
    u.b[15] = (uint8_t)i;
    return u;
}

struct world {
    struct snap_node nodes[4];
    struct snap_tenant tenants[3];
    struct snap_job jobs[MOST];
    struct ahead_wait waits[MOST];
    struct ahead_live live[MOST];
    struct ahead_in in;
};

static inline void world_init(struct world *x, size_t nodes, int64_t slots, int64_t gpus, size_t tenants)
{
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < nodes; i++)
        x->nodes[i] = (struct snap_node){ .node_id = id_of(1, i), .zone = home, .pool = STR("p"), .flavor = STR("f"),
                                          .slots = slots,
                                          .gpus = gpus, .free_slots = slots, .free_gpus = gpus };
    for (size_t i = 0; i < tenants; i++)
        x->tenants[i] = (struct snap_tenant){ .tenant_id = id_of(2, i), .slots_limit = 1000, .gpus_limit = 1000 };
    x->in = (struct ahead_in){ .base = { .nodes = { x->nodes, nodes }, .tenants = { x->tenants, tenants },
                                         .jobs = { x->jobs, 0 } },
                               .waits = x->waits, .live = x->live, .now_us = NOW_S * SEC, .until_us = 100000 * SEC };
}

static inline struct snap_job job_of(size_t i, int64_t tenant, int64_t slots, int64_t gpus)
{
    return (struct snap_job){ .tenant_id = id_of(2, (size_t)tenant), .job_id = id_of(3, i), .tenant = tenant, .pool = STR("p"),
                              .zones = { &home, 1 }, .slots = slots, .gpus = gpus, .submitted_at = { (int64_t)i } };
}

static inline struct snap_job *wait_add(struct world *x, int64_t tenant, int64_t slots, int64_t gpus, int64_t runs_s)
{
    const size_t i = x->in.base.jobs.n++;
    x->waits[i] = (struct ahead_wait){ 0, runs_s ? runs_s * SEC : AHEAD_NEVER, true };
    x->jobs[i] = job_of(i, tenant, slots, gpus);
    return &x->jobs[i];
}

static inline void live_add(struct world *x, size_t node, int64_t tenant, int64_t slots, int64_t gpus, uint64_t devices,
                            int64_t ends_s)
{
    const size_t i = x->in.nlive++;
    x->live[i] = (struct ahead_live){ node, &x->nodes[node], job_of(1000 + i, tenant, slots, gpus), devices,
                                      ends_s ? ends_s * SEC : AHEAD_NEVER };
}

static inline const struct ahead_start *start_of(const struct ahead *x, size_t job)
{
    for (size_t i = 0; i < x->starts.n; i++)
        if (x->starts.items[i].job == job)
            return &x->starts.items[i];
    return NULL;
}
