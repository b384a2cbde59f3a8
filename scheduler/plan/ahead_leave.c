/* SPDX-License-Identifier: Apache-2.0 */
/* ahead_leave.c - the holders of a moment are made of what holds room then, and the choice is preempt_plan's. */
#include "scheduler/plan/ahead_int.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/preempt.h"

enum { SECOND_US = 1000000, MILLI_US = 1000 };

/* On its machine k. */
static struct snap_holder holder_of(const struct run *r, const struct held *h, size_t k, int64_t at_us)
{
    const struct seat_of seat = ahead_seat(&h->l, k);
    const int64_t all = h->l.nmore ? (int64_t)h->l.nmore + 1 : 0;
    const struct snap_job *j = &h->l.job;
    const struct ask a = snap_job_ask(j);
    const int64_t ran_us = at_us > h->l.began_us ? at_us - h->l.began_us : 0;
    const int64_t lost_us = h->l.saved_us > h->l.began_us && h->l.saved_us < at_us ? at_us - h->l.saved_us : ran_us;
    return (struct snap_holder){ .tenant_id = j->tenant_id, .job_id = j->job_id, .attempt_id = j->job_id,
        .node_id = r->in->base.nodes.items[seat.node].node_id, .slots = j->slots, .gpus = j->gpus, .cpu_milli = a.cpu_milli,
        .memory_bytes = a.memory_bytes, .gpu_milli = a.gpu_milli, .devices = (int64_t)seat.devices, .rank = (int64_t)k,
        .all_slots = all * j->slots, .all_gpus = (int32_t)all * (int32_t)j->gpus,
        .class_value = j->class_value, .priority = j->priority, .grace_s = h->l.leave.grace_s,
        .min_runtime_s = h->l.leave.min_runtime_s, .ran_ms = ran_us / MILLI_US, .lost_ms = lost_us / MILLI_US,
        .preempted = h->l.leave.preempted, .is_leaving = h->l.is_leaving, .leaves_for = h->l.leaves_for,
        .project_id = j->project_id, .queue = j->queue, .submitted_at = j->submitted_at };
}

static bool wants_room(const struct plan *p)
{
    for (size_t i = 0; i < p->waits.n; i++)
        if (waits_for_room(&p->waits.items[i]))
            return true;
    return false;
}

static bool may_hold(const struct held *h)
{
    return !h->has_ended && h->l.machine != AHEAD_NONE && (h->l.leave.may || h->l.is_leaving);
}

/* Who goes from a machine that takes nothing new makes no room there. */
static bool gives_room(const struct run *r, size_t node)
{
    return node != AHEAD_NONE && !r->in->base.nodes.items[node].once;
}

static void send_away(struct run *r, size_t held, struct uuid for_job, int64_t at_us, struct ahead *ret)
{
    struct held *h = &r->held[held];
    const int64_t until_us = at_us + h->l.leave.grace_s * SECOND_US;
    if (h->l.ends_us <= until_us)
        return;                         /* it is over before its grace is */
    h->l.ends_us = until_us;
    h->l.is_leaving = true;
    h->l.leaves_for = for_job;
    if (held < r->in->nlive)
        ret->leaves_us[held] = until_us;
    else {
        ret->starts.items[held - r->in->nlive].ends_us = until_us;
        ret->starts.items[held - r->in->nlive].is_cut = true;
    }
}

void ahead_make_room(struct run *r, struct plan *p, int64_t at_us, struct ahead *ret)
{
    struct preemption pre;
    size_t n = 0;
    if (!wants_room(p))
        return;
    for (size_t i = 0; i < r->nheld; i++)
        n += 1 + r->held[i].l.nmore;
    size_t *held_of = ARENA_ARRAY(r->scratch, size_t, n + 1);
    struct holders h = { ARENA_ARRAY(r->scratch, struct snap_holder, n + 1), 0 };
    n = 0;
    for (size_t i = 0; i < r->nheld; i++)
        for (size_t k = 0; may_hold(&r->held[i]) && k <= r->held[i].l.nmore; k++)
            if (gives_room(r, ahead_seat(&r->held[i].l, k).node)) {
                h.items[n] = holder_of(r, &r->held[i], k, at_us);
                held_of[n++] = i;
            }
    h.n = n;
    if (!n)
        return;
    preempt_plan(&r->s, p, h, r->claims, at_us, r->scratch, &pre);
    for (size_t i = 0; i < pre.waits.n; i++) {
        p->waits.items[pre.waits.items[i]].reason = STR("Preempting");
        p->waits.items[pre.waits.items[i]].message = STR("Other jobs are making room for it");
    }
    for (size_t i = 0; i < pre.evictions.n; i++)
        send_away(r, held_of[pre.evictions.items[i].holder], r->s.jobs.items[pre.evictions.items[i].job].job_id, at_us, ret);
}

/* From its last checkpoint that is known now; what it writes when it is told to go is not counted on. */
void ahead_left(struct run *r, struct held *h)
{
    struct fate *f = &r->fates[h->job];
    const int64_t saved_us = h->l.saved_us > h->l.began_us ? h->l.saved_us - h->l.began_us : 0;
    f->is_placed = false;
    f->ready_us = 0;
    if (f->runs_us != AHEAD_NEVER)
        f->runs_us -= saved_us < f->runs_us ? saved_us : 0;
}

static bool waits_above(const struct run *r, const struct snap_job *j)
{
    for (size_t i = 0; i < r->s.jobs.n; i++)
        if (uuid_eq(r->s.jobs.items[i].tenant_id, j->tenant_id) && r->s.jobs.items[i].class_value > j->class_value)
            return true;
    return false;
}

int64_t ahead_next_leave(const struct run *r, int64_t at_us)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < r->nheld; i++) {
        const struct held *h = &r->held[i];
        const int64_t when = h->l.began_us + h->l.leave.min_runtime_s * SECOND_US;
        if (may_hold(h) && h->l.leave.min_runtime_s > 0 && when > at_us && when < next && when < h->l.ends_us &&
            waits_above(r, &h->l.job))
            next = when;
    }
    return next;
}
