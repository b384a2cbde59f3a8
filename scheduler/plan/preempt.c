/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c - jobs in their order, each over the machines that it may use; what leaves already counts as free to come. */
#include "scheduler/plan/preempt.h"
#include "scheduler/plan/order.h"
#include "scheduler/plan/sight.h"

#include <stdlib.h>
#include <string.h>

struct victims {
    size_t node;
    size_t *items;                      /* holders */
    size_t n;
    int64_t class_value, lost;          /* of the highest; of all */
};

struct choice {
    struct snapshot *s;
    struct holders h;
    struct arena *a;
    struct snap_node *rooms;            /* as they are when all that leaves has left */
    int64_t *slots, *gpus;              /* by tenant: used then */
    size_t *first, *next;               /* holders by machine, from 1 */
    int64_t looks;
    struct preemption *ret;
};

static struct ask holder_ask(const struct snap_holder *h)
{
    return (struct ask){ .slots = h->slots, .gpus = (int32_t)h->gpus, .cpu_milli = h->cpu_milli, .memory_bytes = h->memory_bytes,
                         .gpu_milli = (int32_t)h->gpu_milli };
}

bool preempt_may_leave(const struct snap_holder *h)
{
    return !h->is_leaving && h->preempted < PREEMPTIONS_MAX && h->ran_ms >= h->min_runtime_s * 1000;
}

bool preempt_goes_before(const struct snap_job *j, const struct snap_holder *h)
{
    return uuid_eq(j->tenant_id, h->tenant_id) && j->class_value > h->class_value;
}

/* Who goes first; positive: x stays longer. Work that would be lost weighs by what it was done with. */
static int64_t lost_of(const struct snap_holder *h)
{
    return h->lost_ms * (h->gpus ? h->gpus : h->slots);
}

static int leaves_after(const struct snap_holder *x, const struct snap_holder *y)
{
    if (x->class_value != y->class_value)
        return x->class_value < y->class_value ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (lost_of(x) != lost_of(y))
        return lost_of(x) < lost_of(y) ? -1 : 1;
    if (x->ran_ms != y->ran_ms)
        return x->ran_ms < y->ran_ms ? -1 : 1;
    return uuid_cmp(x->attempt_id, y->attempt_id);
}

static int by_leaving(const void *a, const void *b, void *ctx)
{
    const struct choice *c = ctx;
    return leaves_after(&c->h.items[*(const size_t *)a], &c->h.items[*(const size_t *)b]);
}

static bool fits(const struct choice *c, const struct snap_job *j, const struct snap_node *n, int64_t slots, int64_t gpus)
{
    const struct snap_tenant *t = &c->s->tenants.items[j->tenant];
    const struct ask a = snap_job_ask(j);
    struct rule_ask ask = sight_rule_ask(t, j, n);
    return snap_node_fits(n, &a) && c->slots[j->tenant] - slots + j->slots <= t->slots_limit &&
           (!j->gpus || c->gpus[j->tenant] - gpus + j->gpus <= t->gpus_limit) &&
           (!t->guarded || !rulebook_refuses(&c->s->book, &ask));
}

/* Whether the job fits when those have left. All of them are its tenant's, or their going frees nothing of its quota. */
static bool fits_without(const struct choice *c, const struct snap_job *j, size_t node, const size_t *who, size_t n)
{
    struct snap_node room = c->rooms[node];
    int64_t slots = 0, gpus = 0;
    for (size_t i = 0; i < n; i++) {
        const struct snap_holder *h = &c->h.items[who[i]];
        const struct ask a = holder_ask(h);
        snap_node_give(&room, &a, (uint64_t)h->devices);
        slots += uuid_eq(h->tenant_id, j->tenant_id) ? h->slots : 0;
        gpus += uuid_eq(h->tenant_id, j->tenant_id) ? h->gpus : 0;
    }
    return fits(c, j, &room, slots, gpus);
}

/* As few as make room there, the first to leave first. False: all of them would not be enough. */
static bool choose_on(struct choice *c, const struct snap_job *j, size_t node, struct victims *ret)
{
    size_t n = 0, kept = 0;
    for (size_t i = c->first[node]; i; i = c->next[i - 1], c->looks++) {
        const struct snap_holder *h = &c->h.items[i - 1];
        if (preempt_may_leave(h) && preempt_goes_before(j, h))
            ret->items[n++] = i - 1;
    }
    if (!n || !fits_without(c, j, node, ret->items, n))
        return false;
    qsort_r(ret->items, n, sizeof *ret->items, by_leaving, c);
    for (size_t few = 1; few < n; few++)
        if (fits_without(c, j, node, ret->items, few))
            n = few;
    for (size_t i = n; i-- > 0;) {      /* those that are not needed, the last to leave first */
        size_t one = ret->items[i];
        memmove(&ret->items[i], &ret->items[i + 1], (n - i - 1) * sizeof one);
        if (fits_without(c, j, node, ret->items, n - 1)) {
            n--;
            continue;
        }
        memmove(&ret->items[i + 1], &ret->items[i], (n - i - 1) * sizeof one);
        ret->items[i] = one;
    }
    *ret = (struct victims){ .node = node, .items = ret->items, .n = n, .class_value = INT64_MIN };
    for (; kept < n; kept++) {
        const struct snap_holder *h = &c->h.items[ret->items[kept]];
        ret->class_value = h->class_value > ret->class_value ? h->class_value : ret->class_value;
        ret->lost += lost_of(h);
    }
    return n && fits_without(c, j, node, ret->items, n);
}

static bool is_better(const struct victims *x, const struct victims *y)
{
    if (x->class_value != y->class_value)
        return x->class_value < y->class_value;
    return x->lost != y->lost ? x->lost < y->lost : x->n < y->n;
}

static bool could(const struct choice *c, const struct snap_job *j, size_t node)
{
    const struct snap_node *n = &c->s->nodes.items[node];
    const struct ask a = snap_job_ask(j);
    return str_eq(n->pool, j->pool) && sight_zone_ok(j, n->zone) && snap_job_takes(j, n) && snap_node_could(n, &a);
}

/* The room that is to come there is this job's. */
static void book(struct choice *c, const struct snap_job *j, size_t node)
{
    const struct ask a = snap_job_ask(j);
    snap_node_take(&c->rooms[node], &a, devices_pick(&c->rooms[node].devices, a.gpus, a.gpu_milli));
    c->slots[j->tenant] += j->slots;
    c->gpus[j->tenant] += j->gpus;
}

static void leave(struct choice *c, const struct snap_holder *h, size_t node)
{
    const struct ask a = holder_ask(h);
    const int64_t t = snap_tenant_find(c->s, h->tenant_id);
    snap_node_give(&c->rooms[node], &a, (uint64_t)h->devices);
    if (t >= 0) {
        c->slots[t] -= h->slots;
        c->gpus[t] -= h->gpus;
    }
}

static int node_of(const void *id, const void *row)
{
    return uuid_cmp(*(const struct uuid *)id, *(const struct uuid *)row);
}

struct place { struct uuid id; size_t node; };

static int by_id(const void *a, const void *b)
{
    return node_of(a, b);
}

static void begin(struct choice *c)
{
    const struct snapshot *s = c->s;
    struct place *places = ARENA_ARRAY(c->a, struct place, s->nodes.n + 1);
    c->rooms = ARENA_ARRAY(c->a, struct snap_node, s->nodes.n + 1);
    c->first = ARENA_ARRAY(c->a, size_t, s->nodes.n + 1);
    c->next = ARENA_ARRAY(c->a, size_t, c->h.n + 1);
    c->slots = ARENA_ARRAY(c->a, int64_t, s->tenants.n + 1);
    c->gpus = ARENA_ARRAY(c->a, int64_t, s->tenants.n + 1);
    for (size_t i = 0; i < s->nodes.n; i++) {
        c->rooms[i] = s->nodes.items[i];
        places[i] = (struct place){ s->nodes.items[i].node_id, i };
    }
    for (size_t i = 0; i < s->tenants.n; i++) {
        c->slots[i] = s->tenants.items[i].slots_used;
        c->gpus[i] = s->tenants.items[i].gpus_used;
    }
    qsort(places, s->nodes.n, sizeof *places, by_id);
    for (size_t i = 0; i < c->h.n; i++) {
        const struct place *p = bsearch(&c->h.items[i].node_id, places, s->nodes.n, sizeof *places, node_of);
        if (!p)
            continue;                   /* its machine takes no work now */
        if (c->h.items[i].is_leaving)
            leave(c, &c->h.items[i], p->node);
        c->next[i] = c->first[p->node];
        c->first[p->node] = i + 1;
    }
}

/* Room that is being made for a job stays its own as long as one leaves for it. */
static bool goes_on(struct choice *c, const struct snap_job *j, struct claims *claims, int64_t now_us)
{
    struct claim *k = claims_find(claims, j->tenant_id, j->job_id);
    size_t node = 0, leaving = SIZE_MAX;
    for (size_t i = 0; i < c->h.n; i++)
        if (c->h.items[i].is_leaving && uuid_eq(c->h.items[i].leaves_for, j->job_id) &&
            uuid_eq(c->h.items[i].tenant_id, j->tenant_id))
            leaving = i;
    if (!k && leaving == SIZE_MAX)
        return false;
    const struct uuid id = k ? k->node_id : c->h.items[leaving].node_id;
    while (node < c->s->nodes.n && !uuid_eq(c->s->nodes.items[node].node_id, id))
        node++;
    if (node == c->s->nodes.n || !could(c, j, node) || !fits(c, j, &c->rooms[node], 0, 0)) {
        if (k)
            claims_drop(claims, k);
        return false;
    }
    const int64_t until = leaving == SIZE_MAX ? k->until_us : now_us + CLAIM_US;
    if (!claims_put(claims, &(struct claim){ .tenant_id = j->tenant_id, .job_id = j->job_id, .node_id = id,
                                             .ask = snap_job_ask(j), .until_us = until }))
        return false;
    book(c, j, node);
    return true;
}

static bool make_room(struct choice *c, size_t job, struct claims *claims, int64_t now_us)
{
    const struct snap_job *j = &c->s->jobs.items[job];
    struct victims best = { .n = 0 }, one = { .items = ARENA_ARRAY(c->a, size_t, c->h.n + 1) };
    bool found = false;
    for (size_t i = 0; i < c->s->nodes.n && c->looks < PREEMPT_LOOKS_MAX; i++, c->looks++) {
        if (!could(c, j, i))
            continue;
        if (fits(c, j, &c->rooms[i], 0, 0)) {           /* it gets what comes without it */
            book(c, j, i);
            return false;
        }
        if (!choose_on(c, j, i, &one) || (found && !is_better(&one, &best)))
            continue;
        found = true;
        size_t *items = ARENA_ARRAY(c->a, size_t, one.n);
        memcpy(items, one.items, one.n * sizeof *items);
        best = one;
        best.items = items;
    }
    if (!found)
        return false;
    const struct claim k = { .tenant_id = j->tenant_id, .job_id = j->job_id, .ask = snap_job_ask(j),
                             .until_us = now_us + CLAIM_US, .node_id = c->s->nodes.items[best.node].node_id };
    if (!claims_put(claims, &k))
        return false;
    for (size_t i = 0; i < best.n; i++) {
        struct snap_holder *h = &c->h.items[best.items[i]];
        leave(c, h, best.node);
        h->is_leaving = true;
        h->leaves_for = j->job_id;
        c->ret->evictions.items[c->ret->evictions.n++] = (struct eviction){ job, best.items[i] };
    }
    book(c, j, best.node);
    return true;
}

static int by_order(const void *a, const void *b, void *ctx)
{
    const struct choice *c = ctx;
    return order_compare(&c->s->jobs.items[*(const size_t *)a], &c->s->jobs.items[*(const size_t *)b]);
}

/* Somebody of its tenant runs in a lower class. */
static bool has_below(const struct choice *c, const struct snap_job *j)
{
    for (size_t i = 0; i < c->h.n; i++)
        if (preempt_goes_before(j, &c->h.items[i]))
            return true;
    return false;
}

/* The jobs that wait for room or for their tenant's quota, in the order in which they go. ret_wait: by job, which line of the
 * plan. */
static size_t candidates(struct choice *c, const struct plan *p, struct claims *claims, size_t *jobs, size_t *ret_wait)
{
    size_t n = 0;
    for (size_t i = 0; i < p->waits.n && c->looks < PREEMPT_LOOKS_MAX; i++, c->looks += (int64_t)c->h.n) {
        const struct waiting *x = &p->waits.items[i];
        if (!str_eq(x->reason, STR("Resources")) && !str_eq(x->reason, STR("QuotaExceeded")))
            continue;
        const struct snap_job *j = &c->s->jobs.items[x->job];
        if (!claims_find(claims, j->tenant_id, j->job_id) && !has_below(c, j))
            continue;
        jobs[n++] = x->job;
        ret_wait[x->job] = i;
    }
    qsort_r(jobs, n, sizeof *jobs, by_order, c);
    return n < PREEMPT_JOBS_MAX ? n : PREEMPT_JOBS_MAX;
}

void preempt_plan(struct snapshot *s, const struct plan *p, struct holders h, struct claims *claims, int64_t now_us,
                  struct arena *a, struct preemption *ret)
{
    struct choice c = { .s = s, .h = h, .a = a, .ret = ret };
    size_t *jobs = ARENA_ARRAY(a, size_t, p->waits.n + 1), *wait = ARENA_ARRAY(a, size_t, s->jobs.n + 1);
    bool *is_made = ARENA_ARRAY(a, bool, s->jobs.n + 1);
    *ret = (struct preemption){ .evictions.items = ARENA_ARRAY(a, struct eviction, h.n + 1),
                                .waits.items = ARENA_ARRAY(a, size_t, p->waits.n + 1) };
    claims_untake(claims, s);
    begin(&c);
    const size_t n = candidates(&c, p, claims, jobs, wait);
    c.looks = 0;
    for (size_t i = 0; i < n; i++)
        is_made[jobs[i]] = goes_on(&c, &s->jobs.items[jobs[i]], claims, now_us);
    for (size_t i = 0; i < n; i++) {
        if (is_made[jobs[i]] || make_room(&c, jobs[i], claims, now_us))
            ret->waits.items[ret->waits.n++] = wait[jobs[i]];
    }
}
