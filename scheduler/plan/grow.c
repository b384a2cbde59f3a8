/* SPDX-License-Identifier: Apache-2.0 */
/* grow.c - one job after the other gives back what it holds, is looked for as if it waited, and takes it again. */
#include "scheduler/plan/grow.h"
#include "scheduler/plan/sight.h"

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

bool grow_choose(struct snapshot *s, const struct grow_in *in, struct arena *a, size_t *ret_job, int64_t *ret_has,
                 int64_t *ret_gets)
{
    struct gang_sight see;
    struct seat_of *seats;
    const struct snap_job *j = NULL;
    for (size_t i = 0; i < in->nseats; i++) {
        if (j && is_its(&in->seats[i], j))
            continue;
        j = job_of(s, &in->seats[i]);
        if (!j || is_busy(in, j) || j->denied.ptr || is_stopped(s, j))
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
