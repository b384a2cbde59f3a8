/* SPDX-License-Identifier: Apache-2.0 */
/* placement_first.c - those who go before all lines are looked for one by one: there are few, and mostly none. */
#include "scheduler/plan/placement_int.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/claims.h"
#include "scheduler/plan/gang.h"
#include "scheduler/plan/sight.h"

static bool find_job(const struct snapshot *s, struct uuid tenant_id, struct uuid job_id, size_t *ret)
{
    for (*ret = 0; *ret < s->jobs.n; ++*ret)
        if (uuid_eq(s->jobs.items[*ret].job_id, job_id) && uuid_eq(s->jobs.items[*ret].tenant_id, tenant_id))
            return true;
    return false;
}

static bool find_node(const struct snapshot *s, const struct claim *c, size_t *ret)
{
    for (*ret = 0; *ret < s->nodes.n; ++*ret)
        if (uuid_eq(s->nodes.items[*ret].node_id, c->node_id))
            return true;
    return false;
}

/* Its queue goes, and its tenant's limits leave it that much. */
static bool may_start(const struct planner *p, const struct snap_job *j, const struct snap_node *n)
{
    const struct snap_tenant *t = &p->s->tenants.items[j->tenant];
    const struct rule_ask ask = sight_rule_ask(t, j, n);
    const struct rule_queue *queue = t->guarded ? rulebook_queue(&p->s->book, &ask) : NULL;
    struct str words;
    return (!queue || queue->stop_policy == QUEUE_GOES) && sight_quota_allows(t, j, p->a, &words) &&
           (!t->guarded || !n || !rulebook_refuses(&p->s->book, &ask));
}

/* It goes where its room was made, if that is free now. */
static bool place_claim(struct planner *p, size_t job, size_t node)
{
    struct snapshot *s = p->s;
    struct snap_job *j = &s->jobs.items[job];
    const struct ask a = snap_job_ask(j);
    if (!snap_node_fits(&s->nodes.items[node], &a) || !reserved_lets(&s->nodes.items[node], j) ||
        !may_start(p, j, &s->nodes.items[node]))
        return false;
    const struct placement place = { .job = job, .node = node,
                                     .devices = devices_pick(&s->nodes.items[node].devices, a.gpus, a.gpu_milli) };
    j->is_placed = true;
    placement_settle(p, &s->tenants.items[j->tenant], j, &place);
    return true;
}

/* Until all of it is free the rest keep off it. Those whose room is free go before anything is kept, since what is kept counts
 * twice while they who make room still hold theirs. */
static void place_claims(struct planner *p)
{
    struct snapshot *s = p->s;
    bool is_placed[CLAIMS_MAX] = { false };
    size_t job, node;
    for (size_t i = 0; s->claims && i < s->claims->n; i++) {
        const struct claim *c = &s->claims->items[i];
        is_placed[i] = find_job(s, c->tenant_id, c->job_id, &job) && find_node(s, c, &node) && place_claim(p, job, node);
    }
    for (size_t i = 0; s->claims && i < s->claims->n; i++)
        if (!is_placed[i] && find_node(s, &s->claims->items[i], &node))
            claims_take(&s->claims->items[i], s, node);
}

/* Somebody else waits in its pool. */
static bool others_wait(const struct snapshot *s, const struct snap_job *j)
{
    for (size_t i = 0; i < s->jobs.n; i++)
        if (&s->jobs.items[i] != j && !s->jobs.items[i].is_placed && str_eq(s->jobs.items[i].pool, j->pool))
            return true;
    return false;
}

/* On whatever machines have room now but those that are kept for others; more than it waits for only where nobody would have
 * them, since it goes before all lines. owners: by machine. */
static bool place_booked(struct planner *p, const struct start_booking *b, const struct start_booking **owners, size_t job)
{
    struct snapshot *s = p->s;
    struct snap_job *j = &s->jobs.items[job];
    struct snap_tenant *t = &s->tenants.items[j->tenant];
    bool *was = ARENA_ARRAY(p->a, bool, s->nodes.n + 1);
    struct gang_sight see;
    struct seat_of *seats;
    if (!may_start(p, j, NULL))
        return false;
    for (size_t i = 0; i < s->nodes.n; i++) {
        was[i] = s->nodes.items[i].gangs;
        s->nodes.items[i].gangs &= !owners[i] || owners[i] == b;
    }
    struct snap_job booked = *j;
    if (others_wait(s, j))
        booked.nodes_max = booked.nodes;
    const size_t n = gang_find_largest(s, t, &booked, snap_job_nodes(j), p->a, &seats, &see);
    for (size_t i = 0; i < s->nodes.n; i++)
        s->nodes.items[i].gangs = was[i];
    if (!n)
        return false;
    const struct placement place = { .job = job, .node = seats[0].node, .devices = seats[0].devices, .more = seats + 1,
                                     .nmore = n - 1 };
    j->is_placed = true;
    placement_settle(p, t, j, &place);
    return true;
}

static void place_bookings(struct planner *p)
{
    struct bookings *b = p->s->bookings;
    const struct start_booking **owners = ARENA_ARRAY(p->a, const struct start_booking *, p->s->nodes.n + 1);
    size_t job;
    for (size_t i = 0; i < p->s->nodes.n; i++)
        owners[i] = bookings_at(b, p->s->nodes.items[i].node_id);
    for (size_t i = 0; i < b->n; i++)
        b->items[i].is_started = find_job(p->s, b->items[i].tenant_id, b->items[i].job_id, &job) &&
                                 !p->s->jobs.items[job].is_placed && place_booked(p, &b->items[i], owners, job);
}

void placement_first(struct planner *p)
{
    place_claims(p);
    if (!p->s->bookings || !p->s->bookings->n)
        return;
    place_bookings(p);
    bookings_begin(p->s->bookings, p->s);
}
