/* SPDX-License-Identifier: Apache-2.0 */
/* grow.c - first those that leave give back what they hold and take what the next plan gives them; then one job after the other
 * gives back, is looked for as if it waited, and takes it again; at last all is as it was. */
#include "scheduler/plan/grow.h"
#include "scheduler/plan/sight.h"

/* Of a job that leaves: what it is to have. n 0: there is nothing, and it has what it had. */
struct promise { const struct snap_job *job; const struct seat_of *seats; size_t n; };

static bool is_busy(const struct grow_in *in, const struct snap_job *j)
{
    for (size_t i = 0; i < in->nbusy; i++) {
        const struct grow_wait *x = &in->busy[i];
        if ((!x->pool.ptr || str_eq(x->pool, j->pool)) && (uuid_is_nil(x->tenant_id) || uuid_eq(x->tenant_id, j->tenant_id)))
            return true;
    }
    return false;
}

static bool is_its(const struct grow_seat *seat, const struct snap_job *j)
{
    return uuid_eq(seat->job_id, j->job_id) && uuid_eq(seat->tenant_id, j->tenant_id);
}

/* What goes back to a stopped queue does not come out again. */
static bool is_stopped(const struct snapshot *s, const struct snap_job *j)
{
    const struct snap_tenant *t = &s->tenants.items[j->tenant];
    const struct rule_ask ask = sight_rule_ask(t, j, NULL);
    const struct rule_queue *queue = t->guarded ? rulebook_queue(&s->book, &ask) : NULL;
    return queue && queue->stop_policy != QUEUE_GOES;
}

/* is_back: its machines, quota and rules are free of it; else it has them again. Returns how many machines it has. */
static int64_t move(struct snapshot *s, const struct grow_in *in, const struct snap_job *j, bool is_back)
{
    const struct ask a = snap_job_ask(j);
    struct snap_tenant *t = &s->tenants.items[j->tenant];
    struct snap_job sized = *j;
    const struct snap_node *first = NULL;
    sized.nodes = 0;
    for (size_t i = 0; i < in->nseats; i++) {
        if (!is_its(&in->seats[i], j))
            continue;
        sized.nodes++;
        if (in->seats[i].node >= s->nodes.n)
            continue;
        struct snap_node *n = &s->nodes.items[in->seats[i].node];
        (is_back ? snap_node_give : snap_node_take)(n, &a, in->seats[i].devices);
        first = first ? first : n;
    }
    if (!first)
        return 0;
    t->slots_used += (is_back ? -1 : 1) * sized.nodes * j->slots;
    t->gpus_used += (is_back ? -1 : 1) * sized.nodes * j->gpus;
    const struct rule_ask ask = sight_rule_ask(t, &sized, first);
    if (t->guarded)
        (is_back ? rulebook_give : rulebook_take)(&s->book, &ask);
    return sized.nodes;
}

static const struct snap_job *job_of(const struct snapshot *s, const struct grow_seat *seat)
{
    for (size_t i = 0; i < s->jobs.n; i++)
        if (is_its(seat, &s->jobs.items[i]))
            return &s->jobs.items[i];
    return NULL;
}

static void hold(struct snapshot *s, const struct promise *p, bool takes)
{
    const struct ask a = snap_job_ask(p->job);
    struct snap_tenant *t = &s->tenants.items[p->job->tenant];
    struct snap_job sized = *p->job;
    sized.nodes = (int64_t)p->n;
    for (size_t i = 0; i < p->n; i++)
        (takes ? snap_node_take : snap_node_give)(&s->nodes.items[p->seats[i].node], &a, p->seats[i].devices);
    t->slots_used += (takes ? 1 : -1) * sized.nodes * sized.slots;
    t->gpus_used += (takes ? 1 : -1) * sized.nodes * sized.gpus;
    const struct rule_ask ask = sight_rule_ask(t, &sized, &s->nodes.items[p->seats[0].node]);
    if (t->guarded)
        (takes ? rulebook_take : rulebook_give)(&s->book, &ask);
}

/* Returns how many leave; the promises are in the arena. */
static size_t let_go(struct snapshot *s, const struct grow_in *in, struct arena *a, struct promise **ret)
{
    struct gang_sight see;
    struct promise *all = ARENA_ARRAY(a, struct promise, s->jobs.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < in->nseats; i++) {
        const struct snap_job *j = in->seats[i].is_leaving ? job_of(s, &in->seats[i]) : NULL;
        struct seat_of *seats = NULL;
        if (!j || (n && all[n - 1].job == j) || !move(s, in, j, true))
            continue;
        all[n] = (struct promise){ .job = j };
        all[n].n = gang_find_largest(s, &s->tenants.items[j->tenant], j, snap_job_nodes(j), a, &seats, &see);
        all[n].seats = seats;
        if (all[n].n)
            hold(s, &all[n], true);
        else
            (void)move(s, in, j, false);
        n++;
    }
    *ret = all;
    return n;
}

static void take_back(struct snapshot *s, const struct grow_in *in, const struct promise *all, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        if (!all[i].n)
            continue;
        hold(s, &all[i], false);
        (void)move(s, in, all[i].job, false);
    }
}

static bool choose(struct snapshot *s, const struct grow_in *in, struct arena *a, size_t *ret_job, int64_t *ret_has,
                   int64_t *ret_gets)
{
    struct gang_sight see;
    struct seat_of *seats;
    const struct snap_job *j = NULL;
    for (size_t i = 0; i < in->nseats; i++) {
        if (j && is_its(&in->seats[i], j))
            continue;
        j = job_of(s, &in->seats[i]);
        if (!j || in->seats[i].is_leaving || is_busy(in, j) || j->denied.ptr || is_stopped(s, j))
            continue;
        const int64_t has = move(s, in, j, true);
        const size_t gets = has && 2 * has <= snap_job_most(j)
                                ? gang_find_largest(s, &s->tenants.items[j->tenant], j, 2 * has, a, &seats, &see) : 0;
        (void)move(s, in, j, false);
        if (!gets)
            continue;
        *ret_job = (size_t)(j - s->jobs.items);
        *ret_has = has;
        *ret_gets = (int64_t)gets;
        return true;
    }
    return false;
}

bool grow_choose(struct snapshot *s, const struct grow_in *in, struct arena *a, size_t *ret_job, int64_t *ret_has,
                 int64_t *ret_gets)
{
    struct promise *all;
    const size_t n = let_go(s, in, a, &all);
    const bool is_found = choose(s, in, a, ret_job, ret_has, ret_gets);
    take_back(s, in, all, n);
    return is_found;
}
