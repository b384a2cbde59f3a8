/* SPDX-License-Identifier: Apache-2.0 */
/* backfill_world.h - a small cluster that lives: jobs come, run for a while and end, and a gang waits among them. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/backfill.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/random.h"

enum { W_NODES = 6, W_SLOTS = 4, W_TENANTS = 3, W_JOBS = 400, W_RUNS = 64 };
#define W_SECOND ((int64_t)1000000)

static struct str w_zone = { "z-a", 3 };

struct w_run {
    struct snap_job j;
    size_t nodes[BOOKING_SEATS_MAX], n;
    uint64_t devices[BOOKING_SEATS_MAX];
    int64_t ends_us, limit_us;
};

struct w_world {
    struct bookings bookings;
    struct snap_job waits[W_JOBS];
    size_t nwaits;
    struct w_run runs[W_RUNS];
    size_t nruns;
    int64_t now_us, gang_began_us;
    uint8_t next_id;
    uint64_t seed;
    int64_t limit[W_TENANTS];
    int64_t gpus;                       /* of each machine */
    struct snapshot s;                  /* of the last plan */
    struct plan p;
};

static inline int64_t w_pick(struct w_world *w, int64_t n)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return (int64_t)(w->seed % (uint64_t)n);
}

static inline struct snap_job *w_job(struct w_world *w, int tenant, int64_t nodes, int64_t slots, int64_t limit_s)
{
    static uint32_t ids;
    struct snap_job *j = &w->waits[w->nwaits++];
    assert_true(w->nwaits <= W_JOBS);
    *j = (struct snap_job){ .pool = STR("default"), .zones = { &w_zone, 1 }, .slots = slots, .nodes = nodes,
                            .max_runtime_s = limit_s,
                            .tenant = tenant, .submitted_at = { w->now_us + 1 } };
    j->tenant_id.b[0] = (uint8_t)(tenant + 1);
    ids++;
    memcpy(j->job_id.b, &ids, sizeof ids);
    return j;
}

static inline void w_end(struct w_world *w)
{
    for (size_t i = w->nruns; i-- > 0;)
        if (w->runs[i].ends_us <= w->now_us)
            w->runs[i] = w->runs[--w->nruns];
}

static inline struct snapshot w_snapshot(struct w_world *w, struct arena *a)
{
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, W_NODES), W_NODES },
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, W_TENANTS), W_TENANTS },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, W_JOBS), w->nwaits }, .bookings = &w->bookings,
                              .now_us = w->now_us };
    for (size_t i = 0; i < W_NODES; i++) {
        struct str held = STR("");
        s.nodes.items[i] = (struct snap_node){ .zone = w_zone, .pool = STR("default"), .flavor = STR("cpu"),
                                               .gpu_model = STR("A"),
                                               .slots = W_SLOTS, .free_slots = W_SLOTS, .gpus = w->gpus, .free_gpus = w->gpus,
                                               .gangs = true, .cpu_milli = 4000, .memory_bytes = (int64_t)4 << 30 };
        s.nodes.items[i].node_id.b[0] = (uint8_t)(i + 1);
        for (size_t r = 0; r < w->nruns; r++)
            for (size_t k = 0; k < w->runs[r].n; k++) {
                const struct ask ask = snap_job_ask(&w->runs[r].j);
                if (w->runs[r].nodes[k] != i)
                    continue;
                s.nodes.items[i].free_slots -= ask.slots;
                s.nodes.items[i].free_gpus -= ask.gpus;
                s.nodes.items[i].used_cpu_milli += ask.cpu_milli;
                s.nodes.items[i].used_memory_bytes += ask.memory_bytes;
                if (ask.gpus)
                    held = str_fmt(a, "%.*s%s%llu:%d:%d", STR_ARG(held), held.len ? "," : "",
                                   (unsigned long long)w->runs[r].devices[k],
                                   ask.gpus, ask.gpu_milli);
            }
        s.nodes.items[i].held = held;
        assert_true(s.nodes.items[i].free_slots >= 0);
    }
    for (int t = 0; t < W_TENANTS; t++) {
        s.tenants.items[t] = (struct snap_tenant){ .allowed_zones = { &w_zone, 1 }, .slots_limit = w->limit[t],
                                                   .gpus_limit = 100 };
        s.tenants.items[t].tenant_id.b[0] = (uint8_t)(t + 1);
        for (size_t r = 0; r < w->nruns; r++)
            if (w->runs[r].j.tenant == t) {
                s.tenants.items[t].slots_used += (int64_t)w->runs[r].n * w->runs[r].j.slots;
                s.tenants.items[t].gpus_used += (int64_t)w->runs[r].n * w->runs[r].j.gpus;
            }
    }
    memcpy(s.jobs.items, w->waits, w->nwaits * sizeof *w->waits);
    return s;
}

/* By their limits, which nobody outruns. */
static inline struct ends w_ends(struct w_world *w, struct arena *a)
{
    struct ends e = { ARENA_ARRAY(a, struct snap_end, W_RUNS * BOOKING_SEATS_MAX), 0 };
    for (size_t r = 0; r < w->nruns; r++)
        for (size_t k = 0; k < w->runs[r].n; k++) {
            const struct w_run *x = &w->runs[r];
            struct snap_end *end = &e.items[e.n++];
            *end = (struct snap_end){ .tenant_id = x->j.tenant_id, .ask = snap_job_ask(&x->j), .devices = x->devices[k],
                                      .all_slots = k ? 0 : (int64_t)x->n * x->j.slots,
                                          .all_gpus = k ? 0 : (int64_t)x->n * x->j.gpus,
                                      .is_first = !k, .ends_us = x->limit_us };
            end->node_id.b[0] = (uint8_t)(x->nodes[k] + 1);
        }
    return e;
}

static inline void w_start(struct w_world *w, const struct placement *p)
{
    const struct snap_job j = w->s.jobs.items[p->job];
    struct w_run *r = &w->runs[w->nruns++];
    assert_true(w->nruns <= W_RUNS);
    *r = (struct w_run){ .j = j, .n = p->nmore + 1, .limit_us = INT64_MAX };
    if (j.max_runtime_s)
        r->limit_us = w->now_us + j.max_runtime_s * W_SECOND;
    r->ends_us = j.max_runtime_s ? w->now_us + (1 + w_pick(w, j.max_runtime_s)) * W_SECOND : INT64_MAX;
    for (size_t k = 0; k < r->n; k++) {
        r->nodes[k] = k ? p->more[k - 1].node : p->node;
        r->devices[k] = k ? p->more[k - 1].devices : p->devices;
    }
    if (j.nodes > 1 && !w->gang_began_us)
        w->gang_began_us = w->now_us;
    for (size_t i = 0; i < w->nwaits; i++)
        if (uuid_eq(w->waits[i].job_id, j.job_id)) {
            memmove(&w->waits[i], &w->waits[i + 1], (--w->nwaits - i) * sizeof *w->waits);
            return;
        }
    fail();
}

/* One round of the planner: a full one counts anew, a quick one places by what is known. The arena is the caller's. */
static inline void w_plan(struct w_world *w, bool is_full, struct arena *a)
{
    w_end(w);
    w->s = w_snapshot(w, a);
    const struct ends e = w_ends(w, a);
    bookings_end(&w->bookings, w->now_us);
    if (is_full)
        backfill_renew(&w->s, e, a);
    placement_plan(&w->s, a, &w->p);
    for (size_t i = 0; i < w->s.tenants.n; i++)
        assert_int_equal(w->s.tenants.items[i].slots_kept, 0);
    if (is_full)
        backfill_plan(&w->s, &w->p, e, a);
    for (size_t i = 0; i < w->p.places.n; i++)
        w_start(w, &w->p.places.items[i]);
}
