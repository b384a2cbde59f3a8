/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.c - one snapshot for each moment at which something changes, planned and thrown away; what it placed holds room from
 * then on. */
#include "scheduler/plan/ahead_int.h"
#include "core/base/assert.h"
#include "scheduler/plan/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_BYTES = 256 << 20, COARSE = 200, GRAIN_US = 1000000, DEVICES_TEXT = 48, STARTS_AGAIN = 4096 };

static int compare(const struct snap_job *a, const struct snap_job *b)
{
    int c = uuid_cmp(a->tenant_id, b->tenant_id);
    return c ? c : uuid_cmp(a->job_id, b->job_id);
}

static int by_id(const void *a, const void *b, void *in)
{
    return compare(ahead_job(in, *(const size_t *)a), ahead_job(in, *(const size_t *)b));
}

/* A plan puts its jobs in another order: which of all it is. */
static size_t job_of(const struct run *r, const struct snap_job *j)
{
    size_t low = 0, high = r->njobs;
    for (;;) {
        ASSERT(low < high);
        const size_t mid = (low + high) / 2;
        const int c = compare(ahead_job(r->in, r->by_id[mid]), j);
        if (!c)
            return r->by_id[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
}

static void copy_book(struct run *r)
{
    const struct rulebook *from = &r->in->base.book;
    r->s.book.rules.items = ARENA_ARRAY(r->scratch, struct rule, from->rules.n + 1);
    for (size_t i = 0; i < from->rules.n; i++) {
        r->s.book.rules.items[i] = from->rules.items[i];
        r->s.book.rules.items[i].used = 0;
    }
    rulebook_link(&r->s.book, r->scratch);
}

/* Room for all at once: a machine with shares of GPUs has thousands of attempts. */
static void make_devices_text(struct run *r)
{
    const size_t n = r->s.nodes.n;
    size_t *many = ARENA_ARRAY(r->scratch, size_t, n + 1);
    r->devices_text = ARENA_ARRAY(r->scratch, char *, n + 1);
    for (size_t i = 0; i < r->nheld; i++)
        for (size_t k = 0; !r->held[i].has_ended && r->held[i].l.job.gpus > 0 && k <= r->held[i].l.nmore; k++)
            if (ahead_seat(&r->held[i].l, k).node != AHEAD_NONE)
                many[ahead_seat(&r->held[i].l, k).node]++;
    for (size_t i = 0; i < n; i++)
        if (many[i])
            r->devices_text[i] = ARENA_ARRAY(r->scratch, char, many[i] * DEVICES_TEXT);
}

static void hold_on(struct run *r, const struct ahead_live *l, const struct ask *a, struct seat_of seat)
{
    if (seat.node == AHEAD_NONE)
        return;
    struct snap_node *n = &r->s.nodes.items[seat.node];
    n->free_slots -= lease_slots(n->once, n->slots, l->job.slots);
    n->free_gpus -= l->job.gpus;
    n->used_cpu_milli += a->cpu_milli;
    n->used_memory_bytes += a->memory_bytes;
    if (l->job.gpus <= 0)
        return;
    char *text = r->devices_text[seat.node];
    const int len = snprintf(text + n->held.len, DEVICES_TEXT, "%s%llu:%lld:%d", n->held.len ? "," : "",
                             (unsigned long long)seat.devices, (long long)l->job.gpus, (int)a->gpu_milli);
    n->held = str_n(text, n->held.len + (size_t)len);
}

static void hold(struct run *r, const struct ahead_live *l)
{
    struct snap_tenant *t = &r->s.tenants.items[l->job.tenant];
    const struct ask a = snap_job_ask(&l->job);
    const int64_t machines = (int64_t)l->nmore + 1;
    t->slots_used += machines * l->job.slots;
    t->gpus_used += machines * l->job.gpus;
    if (t->guarded) {
        const struct rule_ask ask = { t->tenant_id, l->job.project_id, l->job.queue, l->where->flavor, l->where->zone,
                                      machines * l->job.slots, machines * l->job.gpus };
        rulebook_take(&r->s.book, &ask);
    }
    for (size_t k = 0; k <= l->nmore; k++)
        hold_on(r, l, &a, ahead_seat(l, k));
}

/* Its machines that were there for one lease are gone with it. */
static void spend(struct run *r, const struct ahead_live *l)
{
    for (size_t k = 0; k <= l->nmore; k++) {
        const size_t node = ahead_seat(l, k).node;
        if (node != AHEAD_NONE && r->s.nodes.items[node].once)
            r->s.nodes.items[node].free_slots = 0;
    }
}

static bool is_met(const struct run *r, const struct ahead_need *n)
{
    return n->job != AHEAD_NONE && (n->begun ? r->fates[n->job].has_begun : r->fates[n->job].has_ended);
}

static bool is_ready(const struct run *r, size_t job, int64_t at_us)
{
    const struct fate *f = &r->fates[job];
    if (f->is_placed || f->ready_us > at_us)
        return false;
    for (size_t i = 0; job < r->in->base.jobs.n && i < r->in->waits[job].nneeds; i++)
        if (!is_met(r, &r->in->waits[job].needs[i]))
            return false;
    return true;
}

/* All that is there at that moment, and who may go then. Returns how many wait. */
static size_t look(struct run *r, int64_t at_us)
{
    const struct snapshot *b = &r->in->base;
    size_t n = 0;
    arena_reset(r->scratch);
    r->s = *b;
    r->s.claims = r->claims;
    r->s.workload = NULL;
    r->s.now_us = at_us;
    r->s.nodes.items = ARENA_ARRAY(r->scratch, struct snap_node, b->nodes.n + 1);
    r->s.tenants.items = ARENA_ARRAY(r->scratch, struct snap_tenant, b->tenants.n + 1);
    r->s.jobs.items = ARENA_ARRAY(r->scratch, struct snap_job, r->njobs + 1);
    for (size_t i = 0; i < b->nodes.n; i++)
        r->s.nodes.items[i] = b->nodes.items[i];
    for (size_t i = 0; i < b->tenants.n; i++)
        r->s.tenants.items[i] = b->tenants.items[i];
    copy_book(r);
    make_devices_text(r);
    for (size_t i = 0; i < r->nheld; i++)
        (r->held[i].has_ended ? spend : hold)(r, &r->held[i].l);
    for (size_t i = 0; i < r->njobs; i++)
        if (is_ready(r, i, at_us))
            r->s.jobs.items[n++] = *ahead_job(r->in, i);
    return r->s.jobs.n = n;
}

/* A plan looks at each machine for most jobs. A board that is so large that AHEAD_STEPS_MAX plans of it would cost more than
 * AHEAD_LOOKS_MAX looks has its time cut into as many parts as may be looked at. */
static int64_t grain_of(const struct ahead_in *in)
{
    const int64_t looks = (int64_t)in->base.nodes.n * (int64_t)in->base.jobs.n;
    const int64_t plans = looks ? AHEAD_LOOKS_MAX / looks : AHEAD_STEPS_MAX;
    return plans >= AHEAD_STEPS_MAX ? 0 : (in->until_us - in->now_us) / (plans > 1 ? plans : 1);
}

static void begin(struct run *r, const struct ahead_in *in, struct arena *a)
{
    const size_t n = in->base.jobs.n, all = n + in->nlive;
    *r = (struct run){ .in = in, .scratch = arena_new(STEP_BYTES), .keep = a, .nheld = in->nlive,
                       .njobs = all, .grain_us = grain_of(in),
                       .held_max = in->nlive + n + STARTS_AGAIN, .fates = ARENA_ARRAY(a, struct fate, all + 1),
                       .by_id = ARENA_ARRAY(a, size_t, all + 1), .claims = ARENA_ARRAY(a, struct claims, 1) };
    r->held = ARENA_ARRAY(a, struct held, r->held_max);
    for (size_t i = 0; i < all; i++)
        r->by_id[i] = i;
    qsort_r(r->by_id, all, sizeof *r->by_id, by_id, (void *)in);
    for (size_t i = 0; i < n; i++)
        r->fates[i] = (struct fate){ .ready_us = in->waits[i].ready_us, .runs_us = in->waits[i].runs_us };
    for (size_t i = 0; i < in->nlive; i++) {
        const struct ahead_live *l = &in->live[i];
        r->held[i] = (struct held){ .l = *l, .job = n + i };
        r->fates[n + i] = (struct fate){ .is_placed = true, .has_begun = true,
                                         .runs_us = l->ends_us == AHEAD_NEVER ? AHEAD_NEVER : l->ends_us - l->began_us };
    }
}

/* What ended at this moment: from, below until, on that machine before of the tenant. */
static size_t ended_for(const struct run *r, int64_t after_us, int64_t at_us, size_t machine, int64_t tenant)
{
    size_t ret = AHEAD_NONE;
    for (size_t i = 0; i < r->nheld; i++) {
        const struct ahead_live *l = &r->held[i].l;
        if (!r->held[i].has_ended || l->ends_us <= after_us || l->ends_us > at_us)
            continue;
        for (size_t k = 0; k <= l->nmore; k++)
            if (ahead_seat(l, k).node == machine)
                return i;
        if (ret == AHEAD_NONE && l->job.tenant == tenant)
            ret = i;
    }
    return ret;
}

/* Each start of a job may be its last before it is left alone. */
static struct ahead_leave leave_of(const struct run *r, size_t job)
{
    const size_t n = r->in->base.jobs.n;
    struct ahead_leave l = job < n ? r->in->waits[job].leave : r->in->live[job - n].leave;
    for (size_t i = 0; i < r->nheld; i++)
        l.preempted += r->held[i].job == job && r->held[i].l.is_leaving;
    return l;
}

static void start(struct run *r, const struct placement *p, int64_t before_us, int64_t at_us, struct ahead *ret)
{
    const size_t job = job_of(r, &r->s.jobs.items[p->job]);
    const struct snap_job *j = ahead_job(r->in, job);
    struct fate *f = &r->fates[job];
    struct claim *claim = claims_find(r->claims, j->tenant_id, j->job_id);
    struct ahead_start *s = &ret->starts.items[ret->starts.n++];
    *s = (struct ahead_start){ .job = job, .machine = p->node, .nodes = (int64_t)p->nmore + 1, .devices = p->devices,
                               .at_us = at_us,
                               .ends_us = f->runs_us == AHEAD_NEVER ? AHEAD_NEVER : at_us + f->runs_us,
                               .after = ended_for(r, before_us, at_us, p->node, j->tenant) };
    s->is_made = claim && s->after != AHEAD_NONE && r->held[s->after].l.is_leaving;
    if (claim)
        claims_drop(r->claims, claim);
    f->is_placed = f->has_begun = true;
    struct seat_of *more = p->nmore ? ARENA_ARRAY(r->keep, struct seat_of, p->nmore) : NULL;
    if (p->nmore)
        memcpy(more, p->more, p->nmore * sizeof *more);
    const struct ahead_live l = { .more = more, .nmore = p->nmore, .machine = p->node,
        .where = &r->in->base.nodes.items[p->node], .job = *j,
        .devices = p->devices, .ends_us = s->ends_us, .began_us = at_us, .leave = leave_of(r, job) };
    r->held[r->nheld++] = (struct held){ .l = l, .job = job };
}

static void keep_why(const struct run *r, const struct waiting *w, struct arena *a, struct ahead *ret)
{
    const size_t job = job_of(r, &r->s.jobs.items[w->job]);
    struct waiting *why = &ret->why[job];
    if (job >= r->in->base.jobs.n || !r->in->waits[job].is_told ||
        (str_eq(why->reason, w->reason) && str_eq(why->message, w->message)))
        return;
    *why = (struct waiting){ job, str_dup(a, w->reason), str_dup(a, w->message), w->is_denied };
}

/* The next moment at which something changes; INT64_MAX: none. */
static int64_t next_change(const struct run *r, int64_t at_us)
{
    int64_t next = INT64_MAX, last;
    for (size_t i = 0; i < r->nheld; i++)
        if (!r->held[i].has_ended && r->held[i].l.ends_us < next)
            next = r->held[i].l.ends_us;
    for (size_t i = 0; i < r->in->base.jobs.n; i++)
        if (!r->fates[i].is_placed && r->fates[i].ready_us > at_us && r->fates[i].ready_us < next)
            next = r->fates[i].ready_us;
    for (size_t i = 0; i < r->in->base.reserved.n; i++)
        if (r->in->base.reserved.items[i].until_us > at_us && r->in->base.reserved.items[i].until_us < next)
            next = r->in->base.reserved.items[i].until_us;
    const int64_t leave_us = ahead_next_leave(r, at_us);
    next = leave_us < next ? leave_us : next;
    if (next == INT64_MAX)
        return next;
    if (next <= at_us)
        next = at_us + 1;               /* it should have ended already */
    const int64_t grain = (next - r->in->now_us) / COARSE;
    const int64_t least = r->grain_us > GRAIN_US ? r->grain_us : GRAIN_US;
    const int64_t until = next + (grain > least ? grain : least);
    last = next;
    for (size_t i = 0; i < r->nheld; i++)
        if (!r->held[i].has_ended && r->held[i].l.ends_us > last && r->held[i].l.ends_us <= until)
            last = r->held[i].l.ends_us;
    return last;
}

static void end_until(struct run *r, int64_t at_us)
{
    for (size_t i = 0; i < r->nheld; i++) {
        struct held *h = &r->held[i];
        if (h->has_ended || h->l.ends_us > at_us)
            continue;
        h->has_ended = true;
        if (h->l.is_leaving)
            ahead_left(r, h);
        else
            r->fates[h->job].has_ended = true;
    }
}

/* Somebody who was not asked about waits for what has just begun. */
static bool has_more(const struct run *r, int64_t at_us)
{
    size_t n = 0;
    for (size_t i = 0; i < r->in->base.jobs.n; i++)
        for (size_t k = 0; k < r->in->waits[i].nneeds; k++)
            n += r->in->waits[i].needs[k].begun && is_ready(r, i, at_us);
    return n > 0;
}

/* One plan of this moment. */
static void step(struct run *r, int64_t before_us, int64_t at_us, struct arena *a, struct ahead *ret)
{
    struct plan plan;
    if (at_us > r->in->now_us)
        end_until(r, at_us);
    if (!look(r, at_us))
        return;
    placement_plan(&r->s, r->scratch, &plan);
    ret->is_cut |= plan.is_cut;
    ahead_make_room(r, &plan, at_us, ret);
    for (size_t i = 0; i < plan.waits.n; i++)
        keep_why(r, &plan.waits.items[i], a, ret);
    for (size_t i = 0; i < plan.places.n; i++) {
        if (r->nheld == r->held_max) {
            ret->is_cut = true;
            return;
        }
        start(r, &plan.places.items[i], before_us, at_us, ret);
    }
}

/* All that waits has begun, and nobody who was sent away waits or will. */
static bool is_over(const struct run *r)
{
    for (size_t i = 0; i < r->njobs; i++)
        if (!r->fates[i].is_placed)
            return false;
    for (size_t i = 0; i < r->nheld; i++)
        if (!r->held[i].has_ended && r->held[i].l.is_leaving)
            return false;
    return true;
}

void ahead_run(const struct ahead_in *in, struct arena *a, struct ahead *ret)
{
    struct run r;
    int64_t at_us = in->now_us, before_us = in->now_us;
    begin(&r, in, a);
    *ret = (struct ahead){ .starts.items = ARENA_ARRAY(a, struct ahead_start, r.held_max - in->nlive),
                           .why = ARENA_ARRAY(a, struct waiting, in->base.jobs.n + 1),
                           .leaves_us = ARENA_ARRAY(a, int64_t, in->nlive + 1) };
    while (at_us <= in->until_us && !is_over(&r)) {
        const size_t began = ret->starts.n;
        if (ret->steps++ == AHEAD_STEPS_MAX) {
            ret->is_cut = true;
            break;
        }
        step(&r, before_us, at_us, a, ret);
        before_us = at_us;
        at_us = ret->starts.n > began && has_more(&r, at_us) ? at_us + 1 : next_change(&r, at_us);
    }
    arena_free(r.scratch);
}

bool ahead_starts_now(const struct ahead_in *in, size_t job, size_t *ret_machine)
{
    struct arena *a = arena_new(STEP_BYTES);
    struct run r;
    struct plan plan;
    bool found = false;
    begin(&r, in, a);
    if (look(&r, in->now_us)) {
        placement_plan(&r.s, r.scratch, &plan);
        for (size_t i = 0; i < plan.places.n && !found; i++) {
            found = job_of(&r, &r.s.jobs.items[plan.places.items[i].job]) == job;
            *ret_machine = plan.places.items[i].node;
        }
    }
    arena_free(r.scratch);
    arena_free(a);
    return found;
}
