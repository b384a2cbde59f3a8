/* SPDX-License-Identifier: Apache-2.0 */
/* placement.c - who goes next, and where.
 *
 * Tenants wait in a heap by share; the least one places its next job or learns why not, and goes back with its new share. The
 * machine is chosen by the fleet of the snapshot (ground.h), so the cost is jobs x (log tenants + different rooms of
 * machines). A tenant with rules (rulebook.h) has one line of jobs for each project and queue, and the line with the least
 * share (share.h) goes first; a tenant without has one line and no rule is looked for. Shares stand with the lines: a
 * placement changes that of its own line and the projects' part of its project's lines. A line whose queue is stopped does
 * not go, and one in strict order ends at the first job that finds no place. A shape that was refused for room is remembered:
 * while a tenant goes through its jobs room only shrinks, so a job that asks at least as much in the same place is refused
 * with the same words, without a search. */
#include "scheduler/plan/placement_int.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/gang.h"
#include "scheduler/plan/fairshare.h"
#include "scheduler/plan/order.h"
#include "scheduler/plan/share.h"
#include "scheduler/plan/sight.h"

/* Jobs that stand in one line: all of a tenant's, or those of one project and queue of a tenant with rules. */
struct lane {
    size_t next, end;                   /* jobs [next, end) */
    size_t refused;                     /* index of the last job refused for room; SIZE_MAX: none */
    struct str reason, message;         /* of that refusal */
    struct lane_share share;            /* of tenants with rules */
    const struct rule_queue *queue;     /* as it was declared; NULL: it was not */
};

struct queue {
    size_t tenant;
    struct lane *lanes;
    size_t nlanes, best;                /* best: the lane that goes next */
};

/* The next job that goes in this turn. */
static size_t next_of(const struct planner *p, size_t at, size_t end)
{
    while (p->may && at < end && !p->may[at])
        at++;
    return at;
}

static const struct snap_job *head_of(const struct planner *p, const struct queue *q)
{
    return &p->s->jobs.items[q->lanes[q->best].next];
}

static bool before(const struct planner *p, const struct queue *x, const struct queue *y)
{
    return fairshare_compare(&p->s->tenants.items[x->tenant], head_of(p, x), &p->s->tenants.items[y->tenant], head_of(p, y)) < 0;
}

/* Within a tenant with rules the line with the least share goes next, then the one whose first job goes first. False: all are empty. */
static bool pick_lane(const struct planner *p, struct queue *q)
{
    bool found = false;
    for (size_t i = 0; i < q->nlanes; i++) {
        const struct lane *l = &q->lanes[i];
        if (l->next == l->end)
            continue;
        const int c = found ? share_compare(&l->share, &q->lanes[q->best].share) : -1;
        if (c > 0 || (c == 0 && order_compare(&p->s->jobs.items[l->next], head_of(p, q)) >= 0))
            continue;
        found = true;
        q->best = i;
    }
    return found;
}

/* Before any is placed, but for those that had a claim. */
static void weigh(struct planner *p, struct queue *q)
{
    struct snap_tenant *t = &p->s->tenants.items[q->tenant];
    for (size_t i = 0; t->guarded && i < q->nlanes; i++) {
        const struct rule_ask ask = sight_rule_ask(t, &p->s->jobs.items[q->lanes[i].next], NULL);
        if (!i)
            t->borrowed = share_borrowed(&p->s->book, &ask, RULE_TENANT, NULL);
        q->lanes[i].share = share_of(&p->s->book, &ask);
        q->lanes[i].queue = rulebook_queue(&p->s->book, &ask);
    }
}

/* One of the line `at` was placed. */
static void weigh_again(struct planner *p, struct queue *q, size_t at, const struct snap_job *placed)
{
    const struct snap_tenant *t = &p->s->tenants.items[q->tenant];
    struct lane_share *mine = &q->lanes[at].share;
    if (!t->guarded || q->nlanes < 2)
        return;
    const struct rule_ask ask = sight_rule_ask(t, placed, NULL);
    *mine = share_of(&p->s->book, &ask);
    for (size_t i = 0; i < q->nlanes; i++) {
        if (q->lanes[i].next == q->lanes[i].end ||
            !uuid_eq(p->s->jobs.items[q->lanes[i].next].project_id, placed->project_id))
            continue;
        q->lanes[i].share.project_borrowed = mine->project_borrowed;
        q->lanes[i].share.project_filled = mine->project_filled;
    }
}

static void sift_down(struct planner *p, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < p->n && before(p, &p->heap[child], &p->heap[least]))
                least = child;
        if (least == at)
            return;
        struct queue q = p->heap[at];
        p->heap[at] = p->heap[least];
        p->heap[least] = q;
        at = least;
    }
}

/* All of its machines or none, as many as it may have and are there, `least` and two at least. The fleet takes what was chosen,
 * so that those behind it see it taken. */
static bool find_gang(struct planner *p, const struct snap_tenant *t, const struct snap_job *j, int64_t least,
                      struct placement *ret, struct sight *see)
{
    struct ask a = snap_job_ask(j);
    struct seat_of *seats;
    size_t none;
    (void)sight_search(p->s, t, j, &none, see);
    if (p->ground.fleet && !ask_is_valid(&a))
        return false;
    const size_t n = gang_find_largest(p->s, t, j, least, p->a, &seats, &see->gang);
    if (!n)
        return false;
    for (size_t i = 0; p->ground.fleet && i < n; i++) {
        const struct seat seat = { (uint32_t)seats[i].node, (uint32_t)seats[i].devices };
        if (!ground_take(&p->ground, p->s, &a, &seat))
            return false;               /* both count alike, so it is there */
    }
    ret->node = seats[0].node;
    ret->devices = seats[0].devices;
    ret->more = seats + 1;
    ret->nmore = n - 1;
    return true;
}

/* The best machine by the fleet's scores, where the snapshot has one; then a search is only for the words of a refusal. */
static bool find(struct planner *p, const struct snap_tenant *t, const struct snap_job *j, struct placement *ret,
                 struct sight *see)
{
    struct ground *g = &p->ground;
    struct ask a = snap_job_ask(j);
    struct seat seat;
    if (snap_job_nodes(j) > 1)
        return find_gang(p, t, j, snap_job_nodes(j), ret, see);
    if (snap_job_most(j) > 1 && find_gang(p, t, j, 2, ret, see))
        return true;
    if (!g->fleet) {
        if (!sight_search(p->s, t, j, &ret->node, see))
            return false;
        ret->devices = devices_pick(&p->s->nodes.items[ret->node].devices, a.gpus, a.gpu_milli);
        return true;
    }
    a.groups = (struct groups){ { 0 } };
    for (unsigned i = 0; i < g->ngroups; i++) {
        const struct snap_node *n = &p->s->nodes.items[g->group_node[i]];
        if (!str_eq(n->pool, j->pool) || !sight_zone_ok(j, n->zone) || !snap_job_takes(j, n) || !reserved_lets(n, j))
            continue;
        struct rule_ask ask = sight_rule_ask(t, j, n);
        if (!t->guarded || !rulebook_refuses(&p->s->book, &ask))
            groups_add(&a.groups, i);
    }
    if (ground_place(g, &a, &seat)) {
        ret->node = seat.machine;
        ret->devices = seat.devices;
        return true;
    }
    if (!sight_search(p->s, t, j, &ret->node, see) || !g->is_out)
        return false;                   /* it sees what the fleet saw, and finds nothing */
    ret->devices = devices_pick(&p->s->nodes.items[ret->node].devices, a.gpus, a.gpu_milli);
    return g->is_out[ret->node];
}

/* What was placed has come: the plans after this one expect more of its kind, on whatever machines. */
static void learn(const struct planner *p, const struct snap_job *j)
{
    struct ask a = snap_job_ask(j);
    if (p->s->workload && j->gpus && ask_is_valid(&a))
        workload_arrive(p->s->workload, &a);
}

static void wait_for(struct planner *p, size_t job, struct str reason, struct str message)
{
    if (p->may)
        return;                         /* it was told in the first turn */
    struct str denied = p->s->jobs.items[job].denied;
    p->plan->waits.items[p->plan->waits.n++] = (struct waiting){ job, reason, message, denied.ptr && str_eq(message, denied) };
}

static bool quota_allows(struct planner *p, const struct snap_tenant *t, const struct snap_job *j, size_t at)
{
    struct str words;
    if (sight_quota_allows(t, j, p->a, &words))
        return true;
    wait_for(p, at, STR("QuotaExceeded"), words);
    return false;
}

static bool same_size(const struct snap_job *a, const struct snap_job *b)
{
    return a->slots == b->slots && a->gpus == b->gpus && a->cpu_milli == b->cpu_milli && a->memory_bytes == b->memory_bytes &&
           a->gpu_milli == b->gpu_milli && snap_job_nodes(a) == snap_job_nodes(b) && snap_job_most(a) == snap_job_most(b) &&
           a->needs_programs == b->needs_programs && str_eq(a->engine, b->engine) &&
           str_eq(a->gpu_models, b->gpu_models);
}

static bool same_place(const struct snap_job *a, const struct snap_job *b)
{
    return a->zones.items == b->zones.items && str_eq(a->pool, b->pool) && (a->zone.ptr != NULL) == (b->zone.ptr != NULL) && str_eq(a->zone, b->zone);
}

/* Windows keep both off the same machines: known without a search where neither or both have the same bound and project. */
static bool same_windows(const struct snapshot *s, const struct snap_job *a, const struct snap_job *b)
{
    return !s->reserved.n || (a->max_runtime_s == b->max_runtime_s && uuid_eq(a->project_id, b->project_id));
}

void placement_settle(struct planner *p, struct snap_tenant *t, const struct snap_job *j, const struct placement *place)
{
    struct snap_node *n = &p->s->nodes.items[place->node];
    const struct ask a = snap_job_ask(j);
    struct snap_job sized = *j;
    sized.nodes = (int64_t)place->nmore + 1;
    snap_node_take(n, &a, place->devices);
    for (size_t i = 0; i < place->nmore; i++)
        snap_node_take(&p->s->nodes.items[place->more[i].node], &a, place->more[i].devices);
    t->slots_used += sized.nodes * j->slots;
    t->gpus_used += sized.nodes * j->gpus;
    if (t->guarded) {
        struct rule_ask ask = sight_rule_ask(t, &sized, n);
        rulebook_take(&p->s->book, &ask);
        t->borrowed = share_borrowed(&p->s->book, &ask, RULE_TENANT, NULL);
    }
    p->plan->places.items[p->plan->places.n++] = *place;
}

/* Those of its shape that were not read come before the rest of the line. */
static void end_at_cut(struct planner *p, struct lane *q, size_t placed)
{
    if (!p->s->jobs.items[placed].is_cut)
        return;
    if (!p->plan->is_left)
        p->plan->is_left = ARENA_ARRAY(p->a, bool, p->s->jobs.n);
    p->plan->is_left[placed] = true;
    for (; q->next < q->end; q->next++)
        p->plan->is_left[q->next] = true;
    p->plan->is_cut = true;
}

/* Those of the line that are left all wait for the same. */
static void rest_waits(struct planner *p, struct lane *q, struct str reason, struct str message)
{
    for (; q->next < q->end; q->next++)
        if (!p->s->jobs.items[q->next].is_placed)
            wait_for(p, q->next, reason, message);
}

/* A job of the line found no place. */
static void behind_it(struct planner *p, struct lane *q)
{
    if (q->queue && q->queue->mode == QUEUE_STRICT_FIFO)
        rest_waits(p, q, STR("Priority"), STR("its queue goes in strict order, and a job before it has no place yet"));
}

static void step(struct planner *p, struct queue *queue)
{
    struct lane *q = &queue->lanes[queue->best];
    if (q->queue && q->queue->stop_policy != QUEUE_GOES)
        return rest_waits(p, q, STR("QueueStopped"), str_fmt(p->a, "the queue %.*s is stopped", STR_ARG(q->queue->name)));
    const size_t at = q->next;
    struct placement place = { .job = at };
    struct snap_job *j = &p->s->jobs.items[at];
    struct snap_tenant *t = &p->s->tenants.items[queue->tenant];
    struct sight see;
    q->next = next_of(p, at + 1, q->end);
    if (j->is_placed)
        return end_at_cut(p, q, at);
    if (!quota_allows(p, t, j, at))
        return behind_it(p, q);
    if (q->refused != SIZE_MAX) {
        const struct snap_job *r = &p->s->jobs.items[q->refused];
        if (same_size(j, r) && same_place(j, r) && same_windows(p->s, j, r)) {
            wait_for(p, at, q->reason, q->message);
            return behind_it(p, q);
        }
    }
    if (!find(p, t, j, &place, &see)) {
        sight_say(p->s, p->a, t, j, &see, &q->reason, &q->message);
        q->refused = at;
        wait_for(p, at, q->reason, q->message);
        return behind_it(p, q);
    }
    placement_settle(p, t, j, &place);
    j->is_placed = p->may != NULL;
    weigh_again(p, queue, queue->best, j);
    end_at_cut(p, q, at);
}

/* The lines of the tenant whose jobs begin at i, but those in which nobody goes in this turn; returns where the next tenant's
 * begin. */
static size_t add_queue(struct planner *p, size_t i)
{
    const struct snap_job *jobs = p->s->jobs.items;
    struct queue *q = &p->heap[p->n];
    size_t k = i;
    *q = (struct queue){ .tenant = (size_t)jobs[i].tenant, .lanes = &p->lanes[i] };
    while (k < p->s->jobs.n && jobs[k].tenant == jobs[i].tenant) {
        size_t end = k + 1;
        while (end < p->s->jobs.n && jobs[end].tenant == jobs[i].tenant && order_same_lane(&jobs[k], &jobs[end]))
            end++;
        const size_t next = next_of(p, k, end);
        if (next < end)
            q->lanes[q->nlanes++] = (struct lane){ .next = next, .end = end, .refused = SIZE_MAX };
        k = end;
    }
    p->n += q->nlanes > 0;
    return k;
}

/* All lines to their ends. */
static void go(struct planner *p)
{
    p->n = 0;
    for (size_t i = 0; i < p->s->jobs.n;)
        i = add_queue(p, i);
    for (size_t i = 0; i < p->n; i++) {
        weigh(p, &p->heap[i]);
        (void)pick_lane(p, &p->heap[i]);
    }
    for (size_t i = p->n; i-- > 0;)
        sift_down(p, i);
    ground_init(&p->ground, p->s, p->a);
    while (p->n) {
        step(p, &p->heap[0]);
        if (!pick_lane(p, &p->heap[0]))
            p->heap[0] = p->heap[--p->n];
        sift_down(p, 0);
    }
}

/* What is kept for jobs that start later is lent to those who end before, from the latest start on: who may use the room of one
 * booking may use that of all later ones. */
static void lend_booked(struct planner *p)
{
    struct snapshot *s = p->s;
    const struct start_booking *b;
    bool *may = ARENA_ARRAY(p->a, bool, s->jobs.n + 1);
    size_t kept = 0;
    for (size_t i = 0; i < p->plan->waits.n; i++)
        may[p->plan->waits.items[i].job] = waits_for_room(&p->plan->waits.items[i]);
    p->may = may;
    while (bookings_show(s->bookings, s, &b)) {
        size_t n = 0;
        for (size_t i = 0; i < s->jobs.n; i++)
            n += may[i] &= !s->jobs.items[i].is_placed && booking_lets(b, &s->jobs.items[i], s->now_us);
        if (n)
            go(p);
    }
    for (size_t i = 0; i < p->plan->waits.n; i++)
        if (!s->jobs.items[p->plan->waits.items[i].job].is_placed)
            p->plan->waits.items[kept++] = p->plan->waits.items[i];
    p->plan->waits.n = kept;
}

void placement_plan(struct snapshot *s, struct arena *a, struct plan *ret)
{
    struct planner p = { .s = s, .a = a, .plan = ret, .heap = ARENA_ARRAY(a, struct queue, s->tenants.n + 1),
                         .lanes = ARENA_ARRAY(a, struct lane, s->jobs.n + 1) };
    *ret = (struct plan){ .places.items = ARENA_ARRAY(a, struct placement, s->jobs.n + 1),
                          .waits.items = ARENA_ARRAY(a, struct waiting, s->jobs.n + 1) };
    order_jobs(s);
    snapshot_fill(s);
    placement_first(&p);
    go(&p);
    if (s->bookings)
        lend_booked(&p);
    for (size_t i = 0; i < ret->places.n; i++)      /* not while the fleet scores by it */
        learn(&p, &s->jobs.items[ret->places.items[i].job]);
}
