/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c - jobs in their order, each over the machines that it may use; what leaves already counts as free to come. */
#include "scheduler/plan/preempt_int.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/order.h"
#include "scheduler/plan/reclaim.h"
#include "scheduler/plan/sight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int node_of(const void *id, const void *row)
{
    return uuid_cmp(*(const struct uuid *)id, *(const struct uuid *)row);
}

struct place { struct uuid id; size_t node; };

static int by_id(const void *a, const void *b)
{
    return node_of(a, b);
}

static void copy_book(struct choice *c)
{
    const struct rulebook *b = &c->s->book;
    c->book = rulebook_copy(b, c->a);
    c->runs = rulebook_copy(b, c->a);
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
            choice_leave_one(c, i);
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
    if (node == c->s->nodes.n || !choice_could(c, j, node) || !choice_fits(c, j, &c->rooms[node], 0, 0)) {
        if (k)
            claims_drop(claims, k);
        return false;
    }
    const int64_t until = leaving == SIZE_MAX ? k->until_us : now_us + CLAIM_US;
    const struct claim more = claim_of(c, j, id, until);
    if (!claims_put(claims, &more))
        return false;
    choice_book(c, j, node);
    return true;
}

/* What is free there is kept for another one's start, at which this job could still run. */
static bool is_kept(const struct choice *c, const struct snap_job *j, size_t node)
{
    const struct bookings *all = c->s->bookings;
    const struct start_booking *b = all ? bookings_at(all, c->s->nodes.items[node].node_id) : NULL;
    return b && !booking_lets(b, j, c->s->now_us);
}

static bool make_room(struct choice *c, size_t job, struct claims *claims, int64_t now_us)
{
    const struct snap_job *j = &c->s->jobs.items[job];
    struct victims best = { .n = 0 }, one = { .items = ARENA_ARRAY(c->a, size_t, c->h.n + 1) };
    const struct ask a = snap_job_ask(j);
    bool found = false, has_looked = false;
    for (size_t i = 0; i < c->s->nodes.n && c->looks < PREEMPT_LOOKS_MAX; i++, c->looks++) {
        if (!choice_could(c, j, i) || (snap_node_fits(&c->rooms[i], &a) && is_kept(c, j, i)))
            continue;
        if (choice_fits(c, j, &c->rooms[i], 0, 0)) {           /* it gets what comes without it */
            choice_book(c, j, i);
            return false;
        }
        const bool is_quota = !has_looked && snap_node_fits(&c->rooms[i], &a);  /* one machine stands for all of them */
        has_looked |= is_quota;
        if (!(is_quota ? choice_in_zone(c, j, i, &one) : choice_on(c, j, i, &one)) || (found && !choice_is_better(&one, &best)))
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
        choice_leave(c, best.items[i]);
        choice_send(c, job, best.items[i]);
    }
    choice_book(c, j, best.node);
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
        if (mine ? choice_same_queue(j, &c->h.items[i]) : preempt_goes_before(j, &c->h.items[i]))
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
        if (!waits_for_room(x))
            continue;
        const struct snap_job *j = &c->s->jobs.items[x->job];
        if (snap_job_nodes(j) > 1 && (!c->s->bookings || snap_job_nodes(j) > BOOKING_SEATS_MAX))
            continue;
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
    for (size_t i = 0; i < n; i++) {
        const struct snap_job *j = &s->jobs.items[jobs[i]];
        is_made[jobs[i]] = snap_job_nodes(j) > 1 ? preempt_gang_goes_on(&c, j) : goes_on(&c, j, claims, now_us);
    }
    for (size_t i = 0; i < n; i++) {
        const bool is_gang = snap_job_nodes(&s->jobs.items[jobs[i]]) > 1;
        if (is_made[jobs[i]] || (is_gang ? preempt_gang_make_room(&c, jobs[i]) : make_room(&c, jobs[i], claims, now_us)))
            ret->waits.items[ret->waits.n++] = wait[jobs[i]];
    }
}
