/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_choice.c - for one job and one machine: who may go, tried one after the other in the order in which they go, and then
 * whether each of them was needed. */
#include "scheduler/plan/preempt_int.h"
#include "scheduler/plan/reclaim.h"
#include "scheduler/plan/sight.h"

#include <stdlib.h>

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

static int64_t all_slots_of(const struct snap_holder *h)
{
    return h->all_slots ? h->all_slots : h->slots;
}

static int64_t all_gpus_of(const struct snap_holder *h)
{
    return h->all_slots ? h->all_gpus : h->gpus;
}

/* Who goes first; positive: x stays longer. Work that would be lost weighs by what it was done with. */
static int64_t lost_of(const struct snap_holder *h)
{
    return h->lost_ms * (h->gpus ? all_gpus_of(h) : all_slots_of(h));
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
    return (struct rule_ask){ h->tenant_id, h->project_id, h->queue, n ? n->flavor : STR_NULL, n ? n->zone : STR_NULL,
                              all_slots_of(h), all_gpus_of(h) };
}

bool choice_same_queue(const struct snap_job *j, const struct snap_holder *h)
{
    return uuid_eq(j->tenant_id, h->tenant_id) && uuid_eq(j->project_id, h->project_id) && str_eq(j->queue, h->queue);
}

bool choice_may_go(struct choice *c, const struct snap_job *j, const struct snap_node *n, size_t holder)
{
    const struct snap_holder *h = &c->h.items[holder];
    const struct rule_ask ask = sight_rule_ask(&c->s->tenants.items[j->tenant], j, n), held = holder_rule_ask(c, holder);
    const struct rule_queue *mine = rulebook_queue(&c->book, &ask), *its = rulebook_queue(&c->book, &held);
    const struct reclaim_rank x = { j->class_value, j->priority, j->submitted_at, j->job_id },
                              y = { h->class_value, h->priority, h->submitted_at, h->job_id };
    c->borrows[holder] = false;
    if (!preempt_may_leave(h))
        return false;
    if (mine && choice_same_queue(j, h))
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
        t->slots += sign * all_slots_of(h);
        t->gpus += sign * all_gpus_of(h);
    }
    (is_gone ? rulebook_give : rulebook_take)(&c->book, &held);
    (is_gone ? rulebook_give : rulebook_take)(&c->runs, &held);
}

bool choice_fits(const struct choice *c, const struct snap_job *j, const struct snap_node *n, int64_t slots, int64_t gpus)
{
    const struct snap_tenant *t = &c->s->tenants.items[j->tenant];
    const struct ask a = snap_job_ask(j);
    struct rule_ask ask = sight_rule_ask(t, j, n);
    if (snap_job_nodes(j) > 1)          /* quota: when all its machines are known */
        return snap_node_fits(n, &a);
    return snap_node_fits(n, &a) && c->slots[j->tenant] - slots + j->slots <= t->slots_limit &&
           (!j->gpus || c->gpus[j->tenant] - gpus + j->gpus <= t->gpus_limit) &&
           (!t->guarded || !rulebook_refuses(&c->book, &ask));
}

static bool trial_fits(const struct choice *c, const struct trial *t)
{
    return choice_fits(c, t->j, &t->room, t->slots, t->gpus);
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
        is_good = choice_may_go(c, t->j, &c->rooms[t->node], items[i]);
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
        if (!choice_may_go(c, j, &c->rooms[node], ret->items[i]))      /* what it borrowed is back already */
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

bool choice_on(struct choice *c, const struct snap_job *j, size_t node, struct victims *ret)
{
    size_t n = 0;
    for (size_t i = c->first[node]; i; i = c->next[i - 1], c->looks++)
        if (choice_may_go(c, j, &c->rooms[node], i - 1))
            ret->items[n++] = i - 1;
    return n && choose_of(c, j, node, n, ret);
}

bool choice_in_zone(struct choice *c, const struct snap_job *j, size_t node, struct victims *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < c->h.n; i++, c->looks++)
        if (c->at[i] != SIZE_MAX && !c->h.items[i].rank && str_eq(c->rooms[c->at[i]].zone, c->rooms[node].zone) &&
            choice_may_go(c, j, &c->rooms[node], i))
            ret->items[n++] = i;
    return n && choose_of(c, j, node, n, ret);
}

bool choice_is_better(const struct victims *x, const struct victims *y)
{
    if (x->class_value != y->class_value)
        return x->class_value < y->class_value;
    return x->lost != y->lost ? x->lost < y->lost : x->n < y->n;
}

bool choice_could(const struct choice *c, const struct snap_job *j, size_t node)
{
    const struct snap_node *n = &c->s->nodes.items[node];
    const struct ask a = snap_job_ask(j);
    return str_eq(n->pool, j->pool) && sight_zone_ok(j, n->zone) && snap_job_takes(j, n) && snap_node_could(n, &a) &&
           reserved_lets(n, j);
}

void choice_book(struct choice *c, const struct snap_job *j, size_t node)
{
    const struct ask a = snap_job_ask(j);
    const struct rule_ask ask = sight_rule_ask(&c->s->tenants.items[j->tenant], j, &c->rooms[node]);
    snap_node_take(&c->rooms[node], &a, devices_pick(&c->rooms[node].devices, a.gpus, a.gpu_milli));
    c->slots[j->tenant] += j->slots;
    c->gpus[j->tenant] += j->gpus;
    rulebook_take(&c->book, &ask);
}

static void change_room(struct choice *c, size_t holder, bool is_gone)
{
    const struct snap_holder *h = &c->h.items[holder];
    const struct ask a = holder_ask(h);
    if (c->at[holder] != SIZE_MAX)
        (is_gone ? snap_node_give : snap_node_take)(&c->rooms[c->at[holder]], &a, (uint64_t)h->devices);
}

static void change_quota(struct choice *c, size_t holder, bool is_gone)
{
    const struct snap_holder *h = &c->h.items[holder];
    const struct rule_ask held = holder_rule_ask(c, holder);
    const int64_t t = snap_tenant_find(c->s, h->tenant_id), sign = is_gone ? 1 : -1;
    (is_gone ? rulebook_give : rulebook_take)(&c->book, &held);
    (is_gone ? rulebook_give : rulebook_take)(&c->runs, &held);
    if (t >= 0) {
        c->slots[t] -= sign * all_slots_of(h);
        c->gpus[t] -= sign * all_gpus_of(h);
    }
}

/* The rows of its attempt: [*from, returned). */
static size_t rows_of(const struct choice *c, size_t holder, size_t *from)
{
    const struct uuid id = c->h.items[holder].attempt_id;
    size_t end = holder + 1;
    *from = holder;
    while (*from > 0 && c->h.items[holder].all_slots && uuid_eq(c->h.items[*from - 1].attempt_id, id))
        --*from;
    while (end < c->h.n && c->h.items[holder].all_slots && uuid_eq(c->h.items[end].attempt_id, id))
        end++;
    return end;
}

static void change_attempt(struct choice *c, size_t holder, bool is_gone)
{
    size_t from;
    const size_t end = rows_of(c, holder, &from);
    change_quota(c, from, is_gone);
    for (size_t i = from; i < end; i++)
        change_room(c, i, is_gone);
}

void choice_leave(struct choice *c, size_t holder)
{
    change_attempt(c, holder, true);
}

void choice_stay(struct choice *c, size_t holder)
{
    change_attempt(c, holder, false);
}

void choice_leave_one(struct choice *c, size_t holder)
{
    change_room(c, holder, true);
    if (!c->h.items[holder].rank)
        change_quota(c, holder, true);
}

void choice_send(struct choice *c, size_t job, size_t holder)
{
    size_t from;
    const size_t end = rows_of(c, holder, &from);
    for (size_t i = from; i < end; i++) {
        c->h.items[i].is_leaving = true;
        c->h.items[i].leaves_for = c->s->jobs.items[job].job_id;
    }
    c->ret->evictions.items[c->ret->evictions.n++] = (struct eviction){ job, from };
}
