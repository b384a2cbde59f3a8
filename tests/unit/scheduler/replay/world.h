/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - seeded cycles of a small cluster with all that a plan depends on: zones, pools, models, shares of GPUs, rules of
 * tenants, projects and queues, jobs on several machines and their bookings, claims, a workload that learns, and attempts that
 * make room. The same seed gives the same cycles. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/plan/backfill.h"
#include "scheduler/plan/placement.h"
#include "scheduler/replay/record.h"

enum { W_NODES = 8, W_TENANTS = 4, W_JOBS = 40, W_GPUS = 4, W_SLOTS = 16, W_SECOND = 1000000 };

struct world_job {
    bool waits, runs, leaves;
    int64_t number, node, devices, since, ends, preempted;
    struct snap_job ask;
    struct uuid leaves_for;
};
struct world {
    struct random random;
    int64_t now, next;
    struct claims claims;
    struct bookings bookings;
    struct workload *workload;
    struct world_job jobs[W_JOBS];
    struct str all_zones[2], one_zone[1], no_zone[1];
};

static int64_t world_pick(struct world *w, int64_t n)
{
    return (int64_t)random_below(&w->random, (uint64_t)n);
}

static struct uuid world_id(int kind, int64_t n)
{
    struct uuid u = { { (uint8_t)kind } };
    for (int i = 0; i < 8; i++)
        u.b[15 - i] = (uint8_t)(n >> 8 * i);
    return u;
}

static void world_begin(struct world *w, uint64_t seed)
{
    *w = (struct world){ .random = { seed }, .all_zones = { { "z-a", 3 }, { "z-b", 3 } }, .one_zone = { { "z-b", 3 } } };
    w->workload = workload_new();
}

static void world_end(struct world *w)
{
    workload_free(w->workload);
}

static bool world_is_gang(const struct world_job *l)
{
    return l->ask.nodes > 1;
}

static struct snap_job world_ask(struct world *w)
{
    static const struct str queues[] = { { "default", 7 }, { "night", 5 }, { "urgent", 6 } };
    static const struct str models[] = { { "", 0 }, { "A100", 4 }, { "A100,T4", 7 } };
    const int64_t gpus = world_pick(w, 3) ? 0 : 1 + world_pick(w, W_GPUS), who = world_pick(w, W_TENANTS), where = world_pick(w,
        12);
    struct snap_job j = { .tenant_id = world_id(2, who), .job_id = world_id(3, w->next++), .pool = STR("default"),
                          .queue = queues[world_pick(w, 3)], .project_id = world_pick(w, 2) ? world_id(5, who) : UUID_NIL,
                          .kind = STR("train"), .data_class = STR("internal"), .slots = 1 + world_pick(w, 6), .gpus = gpus,
                          .gpu_milli = gpus == 1 && world_pick(w, 2) ? 250 : 0, .gpu_models = models[world_pick(w, 3)],
                          .priority = world_pick(w, 5), .cls = STR("c"), .class_value = (world_pick(w, 4) - 1) * 10,
                          .shape = world_pick(w, 8), .depth = 3, .needs_programs = !world_pick(w, 8),
                          .engine = w->next % 9 ? STR("") : STR("onnxruntime"),
                          .nodes = world_pick(w, 10) ? 1 : 2, .max_runtime_s = 20 + w->next % 50,
                          .submitted_at = { w->now } };
    j.zones = where == 0 ? (struct slice){ w->no_zone, 0 } : where < 4 ? (struct slice){ w->one_zone, 1 }
                                                                       : (struct slice){ w->all_zones, 2 };
    j.denied = where == 0 ? STR("its data may be in no zone") : STR_NULL;
    j.zone = where == 5 ? STR("z-a") : STR_NULL;
    if (!world_pick(w, 4))
        j.memory_bytes = (int64_t)world_pick(w, 20) << 30;
    return j;
}

static void world_pass_time(struct world *w)
{
    w->now += W_SECOND;
    for (int i = 0; i < W_JOBS; i++) {
        struct world_job *l = &w->jobs[i];
        if (!l->waits && !l->runs && world_pick(w, 10) == 0) {
            *l = (struct world_job){ .waits = true, .ask = world_ask(w) };
        } else if (l->waits && world_pick(w, 30) == 0) {
            l->waits = false;           /* nobody wants it any more: some would wait for ever */
        } else if (l->runs && w->now >= l->ends) {
            const bool was_sent = l->leaves;
            l->preempted += was_sent;
            l->waits = was_sent;
            l->runs = l->leaves = false;
        }
    }
}

static void world_hold(struct world *w, struct snap_node *n, int64_t at, struct arena *a)
{
    struct buf held = BUF(4096);
    for (int i = 0; i < W_JOBS; i++) {
        const struct world_job *l = &w->jobs[i];
        if (!l->runs || l->node != at)
            continue;
        n->free_slots -= lease_slots(n->once, n->slots, l->ask.slots);
        n->free_gpus -= l->ask.gpus;
        n->used_cpu_milli += l->ask.cpu_milli ? l->ask.cpu_milli : l->ask.slots * 1000;
        n->used_memory_bytes += l->ask.memory_bytes ? l->ask.memory_bytes : l->ask.slots << 30;
        if (l->ask.gpus)
            buf_printf(&held, "%s%ld:%ld:%ld", held.len ? "," : "", (long)l->devices, (long)l->ask.gpus,
                       (long)(l->ask.gpu_milli ? l->ask.gpu_milli : 1000));
    }
    n->held = str_dup(a, buf_str(&held));
    buf_release(&held);
}

static void world_rules(struct world *w, struct rulebook *b, struct arena *a)
{
    static const struct str names[] = { { "default", 7 }, { "night", 5 }, { "urgent", 6 } };
    b->rules.items = ARENA_ARRAY(a, struct rule, 64);
    b->queues.items = ARENA_ARRAY(a, struct rule_queue, 16);
    for (int64_t t = 0; t < 2; t++) {
        b->rules.items[b->rules.n++] = (struct rule){ .tenant_id = world_id(2, t), .place = RULE_TENANT, .resource = RULE_SLOTS,
            .queue = STR(""), .flavor = STR(""), .zone = STR(""), .nominal = 24, .borrowing_limit = -1, .lending_limit = -1,
            .weight = 1000 + 500 * t };
        b->rules.items[b->rules.n++] = (struct rule){ .tenant_id = world_id(2, t), .place = RULE_TENANT, .resource = RULE_GPUS,
            .queue = STR(""), .flavor = STR("fast"), .zone = STR(""), .nominal = 4, .borrowing_limit = 4, .lending_limit = 2,
            .weight = 1000 };
        for (int64_t q = 0; q < 3; q++) {
            b->rules.items[b->rules.n++] = (struct rule){ .tenant_id = world_id(2, t), .place = RULE_QUEUE,
                .resource = RULE_SLOTS,
                .queue = names[q], .flavor = STR(""), .zone = STR(""), .nominal = 6, .borrowing_limit = -1, .lending_limit = -1,
                .weight = 1000 * (1 + q) };
            b->queues.items[b->queues.n++] = (struct rule_queue){ .tenant_id = world_id(2, t), .name = names[q],
                .mode = q == 1 ? QUEUE_STRICT_FIFO : QUEUE_BEST_EFFORT_FIFO, .within_cluster_queue = WITHIN_LOWER_PRIORITY,
                .stop_policy = q == 1 && w->now / W_SECOND % 50 < 5 ? QUEUE_HOLD : QUEUE_GOES,
                .reclaim_within_cohort = q ? RECLAIM_ANY : RECLAIM_NEVER, .slot_usage = w->now / W_SECOND * (q + 1) };
        }
    }
    for (size_t k = 0; k < b->rules.n; k++)
        for (int i = 0; i < W_JOBS; i++) {
            struct rule *r = &b->rules.items[k];
            const struct world_job *l = &w->jobs[i];
            if (l->runs && uuid_eq(l->ask.tenant_id, r->tenant_id) && (r->place == RULE_TENANT || str_eq(r->queue,
                l->ask.queue)) &&
                (!r->flavor.len || l->node % 4 < 2))
                r->used += r->resource == RULE_SLOTS ? l->ask.slots : l->ask.gpus;
        }
    rulebook_link(b, a);
}

/* What a planner sees now. of: by holder, which job. */
static struct snapshot world_picture(struct world *w, struct arena *a, struct holders *h, int *of)
{
    static const struct str models[] = { { "A100", 4 }, { "A100", 4 }, { "T4", 2 }, { "", 0 } };
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, W_NODES), W_NODES },
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, W_TENANTS), W_TENANTS },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, W_JOBS), 0 }, .claims = &w->claims, .workload = w->workload,
                          .revision = 7 };
    h->items = ARENA_ARRAY(a, struct snap_holder, W_JOBS);
    h->n = 0;
    for (int64_t i = 0; i < W_NODES; i++) {
        struct snap_node *n = &s.nodes.items[i];
        const int64_t gpus = i % 4 == 3 ? 0 : W_GPUS;
        *n = (struct snap_node){ .node_id = world_id(1, i), .zone = w->all_zones[i / 4], .pool = STR("default"),
                                 .flavor = i % 4 < 2 ? STR("fast") : STR("slow"), .slots = W_SLOTS, .gpus = gpus,
                                     .free_slots = W_SLOTS,
                                 .free_gpus = gpus, .gpu_model = models[i % 4], .gpu_shared = i % 4 == 0 || i % 4 == 1,
                                     .programs = i != 2,
                                 .gangs = i != 3, .gang_programs = i != 3,
                                 .once = i == 6, .engines = i == 1 ? STR("") : STR("onnxruntime 1.30.0"),
                                 .build = i == 5 ? STR("0.2 cpu") : STR("0.1 cpu"), .cpu_milli = i ? 0 : 20000 };
        world_hold(w, n, i, a);
    }
    for (int64_t i = 0; i < W_TENANTS; i++)
        s.tenants.items[i] = (struct snap_tenant){ .tenant_id = world_id(2, i), .slots_limit = 40, .gpus_limit = 12,
                                                   .guarded = i < 2, .slots_weight = 1000, .gpus_weight = 1000,
                                                   .allowed_zones = { w->all_zones, 2 } };
    world_rules(w, &s.book, a);
    for (int i = 0; i < W_JOBS; i++) {
        const struct world_job *l = &w->jobs[i];
        struct snap_tenant *t = &s.tenants.items[l->ask.tenant_id.b[15]];
        if (l->waits)
            s.jobs.items[s.jobs.n++] = l->ask;
        if (!l->runs)
            continue;
        t->slots_used += l->ask.slots;
        t->gpus_used += l->ask.gpus;
        if (l->ask.class_value >= 20 || world_is_gang(l))
            continue;
        of[h->n] = i;
        h->items[h->n++] = (struct snap_holder){ .tenant_id = l->ask.tenant_id, .job_id = l->ask.job_id,
            .attempt_id = world_id(4, l->number), .node_id = world_id(1, l->node), .slots = l->ask.slots, .gpus = l->ask.gpus,
            .cpu_milli = l->ask.slots * 1000, .memory_bytes = l->ask.slots << 30, .gpu_milli = 1000, .devices = l->devices,
            .class_value = l->ask.class_value, .priority = l->ask.priority, .ran_ms = (w->now - l->since) / 1000,
            .lost_ms = (w->now - l->since) / 1000 % 7000, .preempted = l->preempted, .is_leaving = l->leaves,
            .leaves_for = l->leaves_for, .project_id = l->ask.project_id, .queue = l->ask.queue,
                .submitted_at = l->ask.submitted_at };
    }
    snapshot_link(&s);
    return s;
}

/* The plan takes effect. */
static inline void world_apply(struct world *w, const struct snapshot *s, const struct plan *p, const struct preemption *x,
        struct holders h,
                        const int *of)
{
    for (size_t i = 0; i < p->places.n; i++) {
        const struct placement *place = &p->places.items[i];
        const struct snap_job *j = &s->jobs.items[place->job];
        struct claim *k = claims_find(&w->claims, j->tenant_id, j->job_id);
        for (int n = 0; n < W_JOBS; n++) {
            struct world_job *l = &w->jobs[n];
            if (!l->waits || !uuid_eq(l->ask.job_id, j->job_id))
                continue;
            l->waits = false;
            l->runs = !world_is_gang(l);        /* those on several machines end at once */
            l->node = (int64_t)place->node;
            l->devices = (int64_t)place->devices;
            l->since = w->now;
            l->number = w->next++;
            l->ends = w->now + (1 + world_pick(w, 20)) * W_SECOND;
        }
        if (k)
            claims_drop(&w->claims, k);
    }
    for (size_t i = 0; i < x->evictions.n; i++) {
        struct world_job *l = &w->jobs[of[x->evictions.items[i].holder]];
        l->leaves = true;
        l->leaves_for = h.items[x->evictions.items[i].holder].leaves_for;
        l->ends = w->now + 2 * W_SECOND;
    }
}

/* Whoever runs may do so for 40 seconds. */
static inline struct ends world_ends(const struct world *w, struct holders h, struct arena *a)
{
    struct ends e = { ARENA_ARRAY(a, struct snap_end, h.n + 1), h.n };
    for (size_t i = 0; i < h.n; i++) {
        const struct snap_holder *x = &h.items[i];
        e.items[i] = (struct snap_end){ .tenant_id = x->tenant_id, .project_id = x->project_id, .node_id = x->node_id,
            .queue = x->queue, .devices = (uint64_t)x->devices, .is_first = true, .all_slots = x->slots, .all_gpus = x->gpus,
            .ask = { .slots = x->slots, .gpus = (int32_t)x->gpus, .gpu_milli = (int32_t)x->gpu_milli, .cpu_milli = x->cpu_milli,
                     .memory_bytes = x->memory_bytes },
            .ends_us = w->now + 40 * W_SECOND - x->ran_ms * 1000 };
    }
    return e;
}

/* A cycle, recorded as the daemon does. The bytes are the caller's. */
static inline struct buf world_cycle(struct world *w, struct recorder *r, struct arena *a, struct plan *p, struct preemption *x)
{
    struct holders h;
    int of[W_JOBS];
    world_pass_time(w);
    struct snapshot s = world_picture(w, a, &h, of);
    const struct cycle_head head = { .number = w->now / W_SECOND, .made_at_us = w->now, .kind = CYCLE_EXPLAINS, .batch = 512,
                                     .version = STR("0.1.0") };
    const struct ends ends = world_ends(w, h, a);
    claims_end(&w->claims, w->now);
    bookings_end(&w->bookings, w->now);
    s.bookings = &w->bookings;
    s.now_us = w->now;
    backfill_renew(&s, ends, a);
    record_inputs(r, &head, &s, a);
    placement_plan(&s, a, p);
    record_plan(r, &s, p, a);
    record_holders(r, h, w->now);
    preempt_plan(&s, p, h, &w->claims, w->now, a, x);
    record_evictions(r, &s, p, h, x, &w->claims, a);
    backfill_plan(&s, p, ends, a);
    world_apply(w, &s, p, x, h, of);
    struct buf b = record_take(r);
    tables_seal(b.ptr, b.len, FILE_HEAD);
    return b;
}
