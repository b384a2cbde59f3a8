/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_gang.c - room on several machines at once. Each machine is looked at alone, the cheapest of one kind are taken, and who
 * would go is judged once more when all are known: who is not needed stays, and each of the others must have its reason with
 * the rest gone. Its machines are kept by a booking from then on. */
#include "scheduler/plan/preempt_int.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/gang.h"
#include "scheduler/plan/sight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SECOND_US = 1000000;

/* The machines of one kind that cost least. */
struct plot {
    struct victims *machines;
    size_t n;
    struct victims all;                 /* class_value and lost of all together; its items: one row of each attempt */
};

static bool is_open(const struct choice *c, const struct snap_job *j, size_t node)
{
    const struct snap_node *n = &c->rooms[node];
    const struct start_booking *at = bookings_at(c->s->bookings, n->node_id);
    const struct ask a = snap_job_ask(j);
    return gang_may_go(j, n) && snap_node_could(n, &a) && (!at || uuid_eq(at->job_id, j->job_id));
}

static bool quota_allows(const struct choice *c, const struct snap_job *j, size_t node)
{
    const struct snap_tenant *t = &c->s->tenants.items[j->tenant];
    const int64_t nodes = snap_job_nodes(j);
    const struct rule_ask ask = sight_rule_ask(t, j, &c->rooms[node]);
    return c->slots[j->tenant] + nodes * j->slots <= t->slots_limit &&
           (!j->gpus || c->gpus[j->tenant] + nodes * j->gpus <= t->gpus_limit) &&
           (!t->guarded || !rulebook_refuses(&c->book, &ask));
}

/* With those gone that are going anyhow. */
static bool comes_without(const struct choice *c, const struct snap_job *j)
{
    const struct ask a = snap_job_ask(j);
    for (size_t i = 0; i < c->s->nodes.n; i++) {
        int64_t n = 0;
        if (!is_open(c, j, i) || !snap_node_fits(&c->rooms[i], &a) || !quota_allows(c, j, i))
            continue;
        for (size_t k = i; k < c->s->nodes.n; k++)
            n += gang_same_kind(&c->rooms[i], &c->rooms[k]) && is_open(c, j, k) && snap_node_fits(&c->rooms[k], &a);
        if (n >= snap_job_nodes(j))
            return true;
    }
    return false;
}

static int by_cost(const void *a, const void *b)
{
    const struct victims *x = a, *y = b;
    if (choice_is_better(x, y))
        return -1;
    return choice_is_better(y, x) ? 1 : x->node < y->node ? -1 : 1;
}

/* Who would go on each machine of the kind of `first`; done: by machine, it was looked at. */
static size_t costs_of_kind(struct choice *c, const struct snap_job *j, size_t first, bool *done, struct victims *ret)
{
    const struct ask a = snap_job_ask(j);
    size_t n = 0;
    struct victims one = { .items = ARENA_ARRAY(c->a, size_t, c->h.n + 1) };
    size_t *scratch = one.items;
    for (size_t i = first; i < c->s->nodes.n && c->looks < PREEMPT_LOOKS_MAX; i++, c->looks++) {
        if (done[i] || !gang_same_kind(&c->rooms[i], &c->rooms[first]) || !is_open(c, j, i))
            continue;
        done[i] = true;
        one = (struct victims){ .node = i, .items = scratch, .class_value = INT64_MIN };
        if (!snap_node_fits(&c->rooms[i], &a) && !choice_on(c, j, i, &one))
            continue;
        size_t *items = ARENA_ARRAY(c->a, size_t, one.n + 1);
        memcpy(items, scratch, one.n * sizeof *items);
        ret[n] = one;
        ret[n++].items = items;
    }
    return n;
}

static bool is_in(const struct choice *c, const struct victims *v, size_t holder)
{
    for (size_t i = 0; i < v->n; i++)
        if (uuid_eq(c->h.items[v->items[i]].attempt_id, c->h.items[holder].attempt_id))
            return true;
    return false;
}

static struct plot plot_of(struct choice *c, const struct snap_job *j, struct victims *machines)
{
    struct plot p = { .machines = machines, .n = (size_t)snap_job_nodes(j),
                      .all = { .items = ARENA_ARRAY(c->a, size_t, c->h.n + 1), .class_value = INT64_MIN } };
    for (size_t i = 0; i < p.n; i++) {
        p.all.class_value = machines[i].class_value > p.all.class_value ? machines[i].class_value : p.all.class_value;
        p.all.lost += machines[i].lost;
        for (size_t k = 0; k < machines[i].n; k++)
            if (!is_in(c, &p.all, machines[i].items[k]))
                p.all.items[p.all.n++] = machines[i].items[k];
    }
    return p;
}

static bool cheapest(struct choice *c, const struct snap_job *j, struct plot *ret)
{
    bool *done = ARENA_ARRAY(c->a, bool, c->s->nodes.n + 1), found = false;
    for (size_t i = 0; i < c->s->nodes.n; i++) {
        if (done[i] || !is_open(c, j, i))
            continue;
        struct victims *v = ARENA_ARRAY(c->a, struct victims, c->s->nodes.n - i);
        const size_t n = costs_of_kind(c, j, i, done, v);
        if (n < (size_t)snap_job_nodes(j))
            continue;
        qsort(v, n, sizeof *v, by_cost);
        const struct plot p = plot_of(c, j, v);
        if (found && !choice_is_better(&p.all, &ret->all))
            continue;
        found = true;
        *ret = p;
    }
    return found;
}

static bool all_fit(const struct choice *c, const struct snap_job *j, const struct plot *p)
{
    const struct ask a = snap_job_ask(j);
    for (size_t i = 0; i < p->n; i++)
        if (!snap_node_fits(&c->rooms[p->machines[i].node], &a))
            return false;
    return quota_allows(c, j, p->machines[0].node);
}

/* All of them gone; those who need not go stay, and each of the rest has its reason. False: as it was. */
static bool settle(struct choice *c, const struct snap_job *j, struct plot *p)
{
    struct victims *v = &p->all;
    const struct snap_node *first = &c->rooms[p->machines[0].node];
    for (size_t i = 0; i < v->n; i++)
        choice_leave(c, v->items[i]);
    bool is_good = all_fit(c, j, p);
    for (size_t i = v->n; is_good && i-- > 0;) {
        choice_stay(c, v->items[i]);
        if (all_fit(c, j, p))
            memmove(&v->items[i], &v->items[i + 1], (--v->n - i) * sizeof *v->items);
        else
            choice_leave(c, v->items[i]);
    }
    for (size_t i = 0; is_good && i < v->n; i++) {
        choice_stay(c, v->items[i]);
        is_good = choice_may_go(c, j, first, v->items[i]);
        choice_leave(c, v->items[i]);
    }
    for (size_t i = 0; !(is_good && v->n) && i < v->n; i++)
        choice_stay(c, v->items[i]);
    return is_good && v->n;
}

static void take(struct choice *c, const struct snap_job *j, const size_t *nodes, size_t n)
{
    const struct ask a = snap_job_ask(j);
    const struct rule_ask ask = sight_rule_ask(&c->s->tenants.items[j->tenant], j, &c->rooms[nodes[0]]);
    for (size_t i = 0; i < n; i++)
        snap_node_take(&c->rooms[nodes[i]], &a, devices_pick(&c->rooms[nodes[i]].devices, a.gpus, a.gpu_milli));
    c->slots[j->tenant] += (int64_t)n * j->slots;
    c->gpus[j->tenant] += (int64_t)n * j->gpus;
    rulebook_take(&c->book, &ask);
}

static struct start_booking booking_of(const struct choice *c, const struct snap_job *j, const struct plot *p)
{
    const struct ask a = snap_job_ask(j);
    int64_t grace_s = 0;
    struct start_booking b = { .tenant_id = j->tenant_id, .job_id = j->job_id, .ask = a, .project_id = j->project_id, .n = p->n,
                               .is_guarded = c->s->tenants.items[j->tenant].guarded, .class_value = j->class_value,
                               .until_us = c->s->now_us + BOOKING_US };
    snprintf(b.queue, sizeof b.queue, "%.*s", STR_ARG(j->queue));
    for (size_t i = 0; i < p->all.n; i++)
        grace_s = c->h.items[p->all.items[i]].grace_s > grace_s ? c->h.items[p->all.items[i]].grace_s : grace_s;
    b.start_us = c->s->now_us + grace_s * SECOND_US;
    for (size_t i = 0; i < p->n; i++)
        b.seats[i] = (struct booked_seat){ .node_id = c->rooms[p->machines[i].node].node_id,
                                           .devices = devices_pick(&c->rooms[p->machines[i].node].devices, a.gpus, a.gpu_milli) };
    return b;
}

bool preempt_gang_goes_on(struct choice *c, const struct snap_job *j)
{
    const struct ask a = snap_job_ask(j);
    struct start_booking *b = bookings_find(c->s->bookings, j->tenant_id, j->job_id);
    size_t nodes[BOOKING_SEATS_MAX], n = 0;
    bool leaves = false;
    for (size_t i = 0; i < c->h.n && !leaves; i++)
        leaves = c->h.items[i].is_leaving && uuid_eq(c->h.items[i].leaves_for, j->job_id);
    for (size_t k = 0; leaves && b && k < b->n; k++)
        for (size_t i = 0; i < c->s->nodes.n; i++)
            if (uuid_eq(c->rooms[i].node_id, b->seats[k].node_id) && snap_node_fits(&c->rooms[i], &a))
                nodes[n++] = i;
    if (b && n && n == b->n)
        take(c, j, nodes, n);
    return leaves;
}

bool preempt_gang_make_room(struct choice *c, size_t job)
{
    const struct snap_job *j = &c->s->jobs.items[job];
    size_t nodes[BOOKING_SEATS_MAX];
    struct plot p;
    if (comes_without(c, j) || !cheapest(c, j, &p) || !settle(c, j, &p))
        return false;
    const struct start_booking b = booking_of(c, j, &p);
    if (!bookings_put(c->s->bookings, &b)) {
        for (size_t i = 0; i < p.all.n; i++)
            choice_stay(c, p.all.items[i]);
        return false;
    }
    for (size_t i = 0; i < p.all.n; i++)
        choice_send(c, job, p.all.items[i]);
    for (size_t i = 0; i < p.n; i++)
        nodes[i] = p.machines[i].node;
    take(c, j, nodes, p.n);
    return true;
}
