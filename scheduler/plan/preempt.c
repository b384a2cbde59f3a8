/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c - jobs in their order, each over the machines that it may use; what leaves already counts as free to come. */
#include "scheduler/plan/preempt.h"
#include "scheduler/plan/order.h"
#include "scheduler/plan/reclaim.h"
#include "scheduler/plan/sight.h"

#include <stdio.h>
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
    struct rulebook book, runs;         /* the same; the latter without what those who wait are to get */
    int64_t *borrowers;                 /* by cohort of its rules: how many are beyond their nominal */
    size_t *first, *next;               /* holders by machine, from 1 */
    size_t *at;                         /* machines of holders; SIZE_MAX: it takes no work now */
    bool *borrows;                      /* holders that would go because they borrow, for the job that is looked at */
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
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (c->borrows[x] != c->borrows[y])
        return c->borrows[x] ? -1 : 1;
    return leaves_after(&c->h.items[x], &c->h.items[y]);
}

static struct rule_ask holder_rule_ask(const struct choice *c, size_t holder)
{
    const struct snap_holder *h = &c->h.items[holder];
    const struct snap_node *n = c->at[holder] == SIZE_MAX ? NULL : &c->rooms[c->at[holder]];
    return (struct rule_ask){ h->tenant_id, h->project_id, h->queue, n ? n->flavor : STR_NULL, n ? n->zone : STR_NULL, h->slots,
                              h->gpus };
}

static bool same_queue(const struct snap_job *j, const struct snap_holder *h)
{
    return uuid_eq(j->tenant_id, h->tenant_id) && uuid_eq(j->project_id, h->project_id) && str_eq(j->queue, h->queue);
}

/* Whether it may go for the job, as things stand in the book. */
static bool may_go(struct choice *c, const struct snap_job *j, const struct snap_node *n, size_t holder)
{
    const struct snap_holder *h = &c->h.items[holder];
    const struct rule_ask ask = sight_rule_ask(&c->s->tenants.items[j->tenant], j, n), held = holder_rule_ask(c, holder);
    const struct rule_queue *mine = rulebook_queue(&c->book, &ask), *its = rulebook_queue(&c->book, &held);
    const struct reclaim_rank x = { j->class_value, j->priority, j->submitted_at, j->job_id },
                              y = { h->class_value, h->priority, h->submitted_at, h->job_id };
    c->borrows[holder] = false;
    if (!preempt_may_leave(h))
        return false;
    if (mine && same_queue(j, h))
        return reclaim_within(mine->within_cluster_queue, &x, &y);
    if (!mine && !its)
        return preempt_goes_before(j, h);
    if (!mine || mine->reclaim_within_cohort == RECLAIM_NEVER ||
        (mine->reclaim_within_cohort == RECLAIM_LOWER_PRIORITY && !reclaim_is_lower(&y, &x)))
        return false;
    c->borrows[holder] = reclaim_owes(&c->book, &c->runs, &ask, &held);
    return c->borrows[holder];
}

/* A machine as it would be, and what the job's tenant would hold, with those gone that are tried. */
struct trial {
    const struct snap_job *j;
    size_t node;
    struct snap_node room;
    int64_t slots, gpus;                /* given back of the job's tenant */
};

static void try_gone(struct choice *c, struct trial *t, size_t holder, bool is_gone)
{
    const struct snap_holder *h = &c->h.items[holder];
    const struct ask a = holder_ask(h);
    const struct rule_ask held = holder_rule_ask(c, holder);
    const int64_t sign = is_gone ? 1 : -1;
    if (c->at[holder] == t->node && is_gone)
        snap_node_give(&t->room, &a, (uint64_t)h->devices);
    else if (c->at[holder] == t->node)
        snap_node_take(&t->room, &a, (uint64_t)h->devices);
    if (uuid_eq(h->tenant_id, t->j->tenant_id)) {
        t->slots += sign * h->slots;
        t->gpus += sign * h->gpus;
    }
    (is_gone ? rulebook_give : rulebook_take)(&c->book, &held);
    (is_gone ? rulebook_give : rulebook_take)(&c->runs, &held);
}

static bool fits(const struct choice *c, const struct snap_job *j, const struct snap_node *n, int64_t slots, int64_t gpus)
{
    const struct snap_tenant *t = &c->s->tenants.items[j->tenant];
    const struct ask a = snap_job_ask(j);
    struct rule_ask ask = sight_rule_ask(t, j, n);
    return snap_node_fits(n, &a) && c->slots[j->tenant] - slots + j->slots <= t->slots_limit &&
           (!j->gpus || c->gpus[j->tenant] - gpus + j->gpus <= t->gpus_limit) &&
           (!t->guarded || !rulebook_refuses(&c->book, &ask));
}

static bool trial_fits(const struct choice *c, const struct trial *t)
{
    return fits(c, t->j, &t->room, t->slots, t->gpus);
}

/* Those that are not needed stay, the last to leave first; then each of the rest must have its reason with the others gone. */
static bool prune(struct choice *c, struct trial *t, size_t *items, size_t *n)
{
    bool is_good = true;
    for (size_t i = *n; i-- > 0;) {
        try_gone(c, t, items[i], false);
        if (trial_fits(c, t)) {
            memmove(&items[i], &items[i + 1], (--*n - i) * sizeof *items);
            continue;
        }
        try_gone(c, t, items[i], true);
    }
    for (size_t i = 0; i < *n && is_good; i++) {
        try_gone(c, t, items[i], false);
        is_good = may_go(c, t->j, &c->rooms[t->node], items[i]);
        try_gone(c, t, items[i], true);
    }
    return is_good && *n && trial_fits(c, t);
}

/* As few of the n as make room on the machine. Leaves room and book as they were. False: all of them would not be enough. */
static bool choose_of(struct choice *c, const struct snap_job *j, size_t node, size_t n, struct victims *ret)
{
    struct trial t = { .j = j, .node = node, .room = c->rooms[node] };
    size_t few = 0;
    bool fit = false;
    qsort_r(ret->items, n, sizeof *ret->items, by_leaving, c);
    for (size_t i = 0; i < n && !fit; i++) {
        if (!may_go(c, j, &c->rooms[node], ret->items[i]))      /* what it borrowed is back already */
            continue;
        try_gone(c, &t, ret->items[i], true);
        ret->items[few++] = ret->items[i];
        fit = trial_fits(c, &t);
    }
    fit = fit && prune(c, &t, ret->items, &few);
    for (size_t i = 0; i < few; i++)
        try_gone(c, &t, ret->items[i], false);
    *ret = (struct victims){ .node = node, .items = ret->items, .n = few, .class_value = INT64_MIN };
    for (size_t i = 0; i < few; i++) {
        const struct snap_holder *h = &c->h.items[ret->items[i]];
        ret->class_value = h->class_value > ret->class_value ? h->class_value : ret->class_value;
        ret->lost += lost_of(h);
    }
    return fit;
}

static bool choose_on(struct choice *c, const struct snap_job *j, size_t node, struct victims *ret)
{
    size_t n = 0;
    for (size_t i = c->first[node]; i; i = c->next[i - 1], c->looks++)
        if (may_go(c, j, &c->rooms[node], i - 1))
            ret->items[n++] = i - 1;
    return n && choose_of(c, j, node, n, ret);
}

/* The machine has room, and a quota rule stands before the job: those of the zone who hold it. */
static bool choose_in_zone(struct choice *c, const struct snap_job *j, size_t node, struct victims *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < c->h.n; i++, c->looks++)
        if (c->at[i] != SIZE_MAX && str_eq(c->rooms[c->at[i]].zone, c->rooms[node].zone) && may_go(c, j, &c->rooms[node], i))
            ret->items[n++] = i;
    return n && choose_of(c, j, node, n, ret);
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
    const struct rule_ask ask = sight_rule_ask(&c->s->tenants.items[j->tenant], j, &c->rooms[node]);
    snap_node_take(&c->rooms[node], &a, devices_pick(&c->rooms[node].devices, a.gpus, a.gpu_milli));
    c->slots[j->tenant] += j->slots;
    c->gpus[j->tenant] += j->gpus;
    rulebook_take(&c->book, &ask);
}

static void leave(struct choice *c, size_t holder)
{
    const struct snap_holder *h = &c->h.items[holder];
    const struct ask a = holder_ask(h);
    const struct rule_ask held = holder_rule_ask(c, holder);
    const int64_t t = snap_tenant_find(c->s, h->tenant_id);
    rulebook_give(&c->book, &held);
    rulebook_give(&c->runs, &held);
    if (c->at[holder] != SIZE_MAX)
        snap_node_give(&c->rooms[c->at[holder]], &a, (uint64_t)h->devices);
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

/* Rules change while it is tried who goes; queues do not and are shared with the snapshot. */
static struct rulebook copy_of(const struct rulebook *b, struct arena *a)
{
    struct rulebook r = *b;
    r.rules.items = ARENA_ARRAY(a, struct rule, b->rules.n + 1);
    r.cohorts = ARENA_ARRAY(a, struct rule_cohort, b->rules.n + 1);
    if (b->rules.n) {
        memcpy(r.rules.items, b->rules.items, b->rules.n * sizeof *b->rules.items);
        memcpy(r.cohorts, b->cohorts, b->rules.n * sizeof *b->cohorts);
    }
    return r;
}

static void copy_book(struct choice *c)
{
    const struct rulebook *b = &c->s->book;
    c->book = copy_of(b, c->a);
    c->runs = copy_of(b, c->a);
    c->borrowers = ARENA_ARRAY(c->a, int64_t, b->rules.n + 1);
    for (size_t i = 0; i < b->rules.n; i++)
        c->borrowers[b->rules.items[i].cohort] += b->rules.items[i].used > b->rules.items[i].nominal;
}

static void begin(struct choice *c)
{
    const struct snapshot *s = c->s;
    struct place *places = ARENA_ARRAY(c->a, struct place, s->nodes.n + 1);
    c->rooms = ARENA_ARRAY(c->a, struct snap_node, s->nodes.n + 1);
    c->first = ARENA_ARRAY(c->a, size_t, s->nodes.n + 1);
    c->next = ARENA_ARRAY(c->a, size_t, c->h.n + 1);
    c->at = ARENA_ARRAY(c->a, size_t, c->h.n + 1);
    c->borrows = ARENA_ARRAY(c->a, bool, c->h.n + 1);
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
    copy_book(c);
    qsort(places, s->nodes.n, sizeof *places, by_id);
    for (size_t i = 0; i < c->h.n; i++) {
        const struct place *p = bsearch(&c->h.items[i].node_id, places, s->nodes.n, sizeof *places, node_of);
        c->at[i] = p ? p->node : SIZE_MAX;
        if (!p)
            continue;                   /* its machine takes no work now */
        if (c->h.items[i].is_leaving)
            leave(c, i);
        c->next[i] = c->first[p->node];
        c->first[p->node] = i + 1;
    }
}

static struct claim claim_of(const struct choice *c, const struct snap_job *j, struct uuid node_id, int64_t until_us)
{
    struct claim k = { .tenant_id = j->tenant_id, .job_id = j->job_id, .node_id = node_id, .ask = snap_job_ask(j),
        .until_us = until_us,
                       .project_id = j->project_id, .is_guarded = c->s->tenants.items[j->tenant].guarded };
    snprintf(k.queue, sizeof k.queue, "%.*s", STR_ARG(j->queue));
    return k;
}

/* Room that is being made for a job stays its own as long as one leaves for it. */
static bool goes_on(struct choice *c, const struct snap_job *j, struct claims *claims, int64_t now_us)
{
    struct claim *k = claims_find(claims, j->tenant_id, j->job_id);
    size_t node = 0, leaving = SIZE_MAX;
    for (size_t i = 0; i < c->h.n; i++)
        if (c->h.items[i].is_leaving && uuid_eq(c->h.items[i].leaves_for, j->job_id))
            leaving = i;
    if (!k && leaving == SIZE_MAX)
        return false;
    const struct uuid id = k ? k->node_id : c->h.items[leaving].node_id;        /* a new leader does not know another one */
    while (node < c->s->nodes.n && !uuid_eq(c->s->nodes.items[node].node_id, id))
        node++;
    if (node == c->s->nodes.n || !could(c, j, node) || !fits(c, j, &c->rooms[node], 0, 0)) {
        if (k)
            claims_drop(claims, k);
        return false;
    }
    const int64_t until = leaving == SIZE_MAX ? k->until_us : now_us + CLAIM_US;
    const struct claim more = claim_of(c, j, id, until);
    if (!claims_put(claims, &more))
        return false;
    book(c, j, node);
    return true;
}

static bool make_room(struct choice *c, size_t job, struct claims *claims, int64_t now_us)
{
    const struct snap_job *j = &c->s->jobs.items[job];
    struct victims best = { .n = 0 }, one = { .items = ARENA_ARRAY(c->a, size_t, c->h.n + 1) };
    const struct ask a = snap_job_ask(j);
    bool found = false, has_looked = false;
    for (size_t i = 0; i < c->s->nodes.n && c->looks < PREEMPT_LOOKS_MAX; i++, c->looks++) {
        if (!could(c, j, i))
            continue;
        if (fits(c, j, &c->rooms[i], 0, 0)) {           /* it gets what comes without it */
            book(c, j, i);
            return false;
        }
        const bool is_quota = !has_looked && snap_node_fits(&c->rooms[i], &a);  /* one machine stands for all of them */
        has_looked |= is_quota;
        if (!(is_quota ? choose_in_zone(c, j, i, &one) : choose_on(c, j, i, &one)) || (found && !is_better(&one, &best)))
            continue;
        found = true;
        size_t *items = ARENA_ARRAY(c->a, size_t, one.n);
        memcpy(items, one.items, one.n * sizeof *items);
        best = one;
        best.items = items;
    }
    if (!found)
        return false;
    const struct claim k = claim_of(c, j, c->s->nodes.items[best.node].node_id, now_us + CLAIM_US);
    if (!claims_put(claims, &k))
        return false;
    for (size_t i = 0; i < best.n; i++) {
        struct snap_holder *h = &c->h.items[best.items[i]];
        leave(c, best.items[i]);
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

/* Somebody may go for it, at a first look. */
static bool has_below(const struct choice *c, const struct snap_job *j)
{
    const struct rule_ask ask = sight_rule_ask(&c->s->tenants.items[j->tenant], j, NULL);
    const struct rule_queue *mine = rulebook_queue(&c->book, &ask);
    if (mine && mine->reclaim_within_cohort != RECLAIM_NEVER && reclaim_may_help(&c->book, &ask, c->borrowers))
        return true;
    if (mine && mine->within_cluster_queue == WITHIN_NEVER)
        return false;
    for (size_t i = 0; i < c->h.n; i++)
        if (mine ? same_queue(j, &c->h.items[i]) : preempt_goes_before(j, &c->h.items[i]))
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
