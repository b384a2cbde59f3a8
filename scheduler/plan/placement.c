/* SPDX-License-Identifier: Apache-2.0 */
/* placement.c - who goes next, and where.
 *
 * Tenants wait in a heap by share; the least one places its next job or learns why not, and goes back with its new share. The
 * machine is chosen by the fleet of the snapshot (ground.h), so the cost is jobs x (log tenants + different rooms of
 * machines). A tenant with rules (rulebook.h) has one line of jobs for each project and queue, and the line with the least
 * share goes first; a tenant without has one line and no rule is looked for. A shape that was refused for room is remembered:
 * while a tenant goes through its jobs room only shrinks, so a job that asks at least as much in the same place is refused
 * with the same words, without a search. */
#include "scheduler/plan/placement.h"
#include "scheduler/plan/fairshare.h"
#include "scheduler/plan/ground.h"
#include "scheduler/plan/order.h"

/* Jobs that stand in one line: all of a tenant's, or those of one project and queue of a tenant with rules. */
struct lane {
    size_t next, end;                   /* jobs [next, end) */
    size_t refused;                     /* index of the last job refused for room; SIZE_MAX: none */
    struct str reason, message;         /* of that refusal */
};

struct queue {
    size_t tenant;
    struct lane *lanes;
    size_t nlanes, best;                /* best: the lane that goes next */
};

struct planner {
    struct snapshot *s;
    struct arena *a;
    struct queue *heap;
    size_t n;
    struct plan *plan;
    struct ground ground;
};

static const struct snap_job *head_of(const struct planner *p, const struct queue *q)
{
    return &p->s->jobs.items[q->lanes[q->best].next];
}

static bool before(const struct planner *p, const struct queue *x, const struct queue *y)
{
    return fairshare_compare(&p->s->tenants.items[x->tenant], head_of(p, x), &p->s->tenants.items[y->tenant], head_of(p, y)) < 0;
}

static struct rule_ask ask_of(const struct snap_tenant *t, const struct snap_job *j, const struct snap_node *n)
{
    return (struct rule_ask){ t->tenant_id, j->project_id, j->queue, n ? n->flavor : STR_NULL, n ? n->zone : STR_NULL, j->slots, j->gpus };
}

/* Within a tenant with rules the line with the least share goes next, then the one whose first job goes first. False: all are empty. */
static bool pick_lane(const struct planner *p, struct queue *q)
{
    const struct snap_tenant *t = &p->s->tenants.items[q->tenant];
    int64_t best = 0;
    bool found = false;
    for (size_t i = 0; i < q->nlanes; i++) {
        if (q->lanes[i].next == q->lanes[i].end)
            continue;
        const struct snap_job *j = &p->s->jobs.items[q->lanes[i].next];
        struct rule_ask ask = ask_of(t, j, NULL);
        int64_t share = q->nlanes > 1 ? rulebook_share(&p->s->book, &ask) : 0;
        if (found && (share > best || (share == best && order_compare(j, head_of(p, q)) >= 0)))
            continue;
        found = true;
        best = share;
        q->best = i;
    }
    return found;
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

static bool zone_ok(const struct snap_job *j, struct str zone)
{
    const struct str *judged = j->zones.items;
    if (j->zone.ptr && !str_eq(j->zone, zone))
        return false;
    for (size_t i = 0; i < j->zones.n; i++)
        if (str_eq(judged[i], zone))
            return true;
    return false;
}

/* What a search saw, for the words of a refusal. */
struct sight {
    bool any_zone, any_gpu, any_pool, any_fit;  /* any_gpu: in whatever pool of those zones */
    int64_t most_free_slots, most_free_gpus;
    const struct rule *refuses;         /* a rule that would not let it onto a machine with room */
    const struct snap_node *where;
};

static bool search(const struct planner *p, const struct snap_tenant *t, const struct snap_job *j, size_t *ret, struct sight *see)
{
    bool found = false;
    int64_t best_slots = 0, best_gpus = 0;
    *see = (struct sight){ 0 };
    for (size_t i = 0; i < p->s->nodes.n; i++) {
        const struct snap_node *n = &p->s->nodes.items[i];
        if (!zone_ok(j, n->zone))
            continue;
        see->any_zone = true;
        see->any_gpu |= n->gpus > 0;
        if (!str_eq(n->pool, j->pool))
            continue;
        see->any_pool = true;
        see->any_fit |= n->slots >= j->slots && n->gpus >= j->gpus;
        see->most_free_slots = n->free_slots > see->most_free_slots ? n->free_slots : see->most_free_slots;
        see->most_free_gpus = n->free_gpus > see->most_free_gpus ? n->free_gpus : see->most_free_gpus;
        if (n->free_slots < j->slots || n->free_gpus < j->gpus)
            continue;
        if (t->guarded) {
            struct rule_ask ask = ask_of(t, j, n);
            const struct rule *r = rulebook_refuses(&p->s->book, &ask);
            if (r) {
                see->refuses = r;
                see->where = n;
                continue;
            }
        }
        int64_t gpus = n->free_gpus - j->gpus, slots = n->free_slots - j->slots;
        if (found && (gpus > best_gpus || (gpus == best_gpus && slots >= best_slots)))
            continue;
        found = true;
        best_gpus = gpus;
        best_slots = slots;
        *ret = i;
    }
    return found;
}

/* The best machine by the fleet's scores, where the snapshot has one; then a search is only for the words of a refusal. */
static bool find(struct planner *p, const struct snap_tenant *t, const struct snap_job *j, size_t *ret, struct sight *see)
{
    struct ground *g = &p->ground;
    struct groups where = { { 0 } };
    if (!g->fleet)
        return search(p, t, j, ret, see);
    for (unsigned i = 0; i < g->ngroups; i++) {
        const struct snap_node *n = &p->s->nodes.items[g->group_node[i]];
        if (!str_eq(n->pool, j->pool) || !zone_ok(j, n->zone))
            continue;
        struct rule_ask ask = ask_of(t, j, n);
        if (!t->guarded || !rulebook_refuses(&p->s->book, &ask))
            groups_add(&where, i);
    }
    if (ground_place(g, &where, j->slots, j->gpus, ret))
        return true;
    size_t none;
    (void)search(p, t, j, &none, see);  /* it sees what the fleet saw, and finds nothing */
    return false;
}

/* What was placed has come: the plans after this one expect more of its kind, on whatever machines. */
static void learn(const struct planner *p, const struct snap_job *j)
{
    struct ask a = { .cpu_milli = j->slots * 1000, .gpus = (int32_t)j->gpus, .gpu_milli = GPU_MILLI };
    memset(&a.groups, 0xff, sizeof a.groups);
    if (p->s->workload && j->gpus && ask_is_valid(&a))
        workload_arrive(p->s->workload, &a);
}

static void say(struct planner *p, struct lane *q, const struct snap_tenant *t, const struct snap_job *j, const struct sight *see)
{
    if (j->denied.ptr) {
        q->reason = STR("ZoneUnavailable");
        q->message = j->denied;
    } else if (!see->any_zone) {
        q->reason = STR("ZoneUnavailable");
        q->message = j->zone.ptr ? str_fmt(p->a, "zone %.*s has no ready machine", STR_ARG(j->zone))
                   : t->allowed_zones.n ? STR("no zone that the tenant may use has a ready machine") : STR("the tenant may use no zone");
    } else if (j->gpus && !see->any_gpu) {
        q->reason = STR("NoMatchingFlavor");
        q->message = j->zone.ptr ? str_fmt(p->a, "no machine with a GPU is registered and ready in zone %.*s", STR_ARG(j->zone))
                                 : STR("no machine with a GPU is registered and ready in a zone that the tenant may use");
    } else if (!see->any_pool) {
        q->reason = STR("NoMatchingFlavor");
        q->message = str_fmt(p->a, "pool %.*s has no ready machine there", STR_ARG(j->pool));
    } else if (!see->any_fit) {
        q->reason = STR("NoMatchingFlavor");
        q->message = str_fmt(p->a, "no ready machine has %ld slots and %ld GPUs", (long)j->slots, (long)j->gpus);
    } else if (see->refuses) {
        struct rule_ask ask = ask_of(t, j, see->where);
        q->reason = STR("QuotaExceeded");
        q->message = rulebook_words(&p->s->book, see->refuses, &ask, p->a);
    } else if (see->most_free_slots < j->slots || !j->gpus) {
        q->reason = STR("Resources");
        q->message = str_fmt(p->a, "needs %ld slots, the freest machine has %ld free", (long)j->slots, (long)see->most_free_slots);
    } else {
        q->reason = STR("Resources");
        q->message = str_fmt(p->a, "needs %ld slots and %ld GPUs on one machine, the most GPUs free on one are %ld", (long)j->slots,
                             (long)j->gpus, (long)see->most_free_gpus);
    }
}

static void wait_for(struct planner *p, size_t job, struct str reason, struct str message)
{
    struct str denied = p->s->jobs.items[job].denied;
    p->plan->waits.items[p->plan->waits.n++] = (struct waiting){ job, reason, message, denied.ptr && str_eq(message, denied) };
}

static bool quota_allows(struct planner *p, const struct snap_tenant *t, const struct snap_job *j, size_t at)
{
    if (t->slots_used + j->slots > t->slots_limit) {
        wait_for(p, at, STR("QuotaExceeded"), str_fmt(p->a, "needs %ld slots, %ld of the tenant's %ld are in use", (long)j->slots,
                                                      (long)t->slots_used, (long)t->slots_limit));
        return false;
    }
    if (j->gpus && t->gpus_used + j->gpus > t->gpus_limit) {
        wait_for(p, at, STR("QuotaExceeded"), str_fmt(p->a, "needs %ld GPUs, %ld of the tenant's %ld are in use", (long)j->gpus,
                                                      (long)t->gpus_used, (long)t->gpus_limit));
        return false;
    }
    return true;
}

static bool same_place(const struct snap_job *a, const struct snap_job *b)
{
    return a->zones.items == b->zones.items && str_eq(a->pool, b->pool) && (a->zone.ptr != NULL) == (b->zone.ptr != NULL) && str_eq(a->zone, b->zone);
}

static void step(struct planner *p, struct queue *queue)
{
    struct lane *q = &queue->lanes[queue->best];
    size_t at = q->next++, node = 0;
    struct snap_job *j = &p->s->jobs.items[at];
    struct snap_tenant *t = &p->s->tenants.items[queue->tenant];
    struct sight see;
    if (!quota_allows(p, t, j, at))
        return;
    if (q->refused != SIZE_MAX) {
        const struct snap_job *r = &p->s->jobs.items[q->refused];
        if (j->slots == r->slots && j->gpus == r->gpus && same_place(j, r)) {
            wait_for(p, at, q->reason, q->message);
            return;
        }
    }
    if (!find(p, t, j, &node, &see)) {
        say(p, q, t, j, &see);
        q->refused = at;
        wait_for(p, at, q->reason, q->message);
        return;
    }
    struct snap_node *n = &p->s->nodes.items[node];
    n->free_slots -= j->slots;
    n->free_gpus -= j->gpus;
    t->slots_used += j->slots;
    t->gpus_used += j->gpus;
    if (t->guarded) {
        struct rule_ask ask = ask_of(t, j, n);
        rulebook_take(&p->s->book, &ask);
    }
    p->plan->places.items[p->plan->places.n++] = (struct placement){ at, node };
    if (j->is_cut) {                    /* those of its shape that were not read come before the rest of the line */
        q->next = q->end;
        p->plan->is_cut = true;
    }
}

/* The lines of the tenant whose jobs begin at i; returns where the next tenant's begin. */
static size_t add_queue(struct planner *p, struct lane *lanes, size_t i)
{
    const struct snap_job *jobs = p->s->jobs.items;
    struct queue *q = &p->heap[p->n++];
    size_t k = i;
    *q = (struct queue){ .tenant = (size_t)jobs[i].tenant, .lanes = &lanes[i] };
    while (k < p->s->jobs.n && jobs[k].tenant == jobs[i].tenant) {
        size_t end = k + 1;
        while (end < p->s->jobs.n && jobs[end].tenant == jobs[i].tenant && order_same_lane(&jobs[k], &jobs[end]))
            end++;
        q->lanes[q->nlanes++] = (struct lane){ .next = k, .end = end, .refused = SIZE_MAX };
        k = end;
    }
    (void)pick_lane(p, q);
    return k;
}

void placement_plan(struct snapshot *s, struct arena *a, struct plan *ret)
{
    struct planner p = { .s = s, .a = a, .plan = ret, .heap = ARENA_ARRAY(a, struct queue, s->tenants.n + 1) };
    struct lane *lanes = ARENA_ARRAY(a, struct lane, s->jobs.n + 1);    /* at most one for each job */
    *ret = (struct plan){ .places.items = ARENA_ARRAY(a, struct placement, s->jobs.n + 1),
                          .waits.items = ARENA_ARRAY(a, struct waiting, s->jobs.n + 1) };
    order_jobs(s);
    for (size_t i = 0; i < s->jobs.n;)
        i = add_queue(&p, lanes, i);
    for (size_t i = p.n; i-- > 0;)
        sift_down(&p, i);
    ground_init(&p.ground, s, a);
    while (p.n) {
        step(&p, &p.heap[0]);
        if (!pick_lane(&p, &p.heap[0]))
            p.heap[0] = p.heap[--p.n];
        sift_down(&p, 0);
    }
    for (size_t i = 0; i < ret->places.n; i++)      /* not while the fleet scores by it */
        learn(&p, &s->jobs.items[ret->places.items[i].job]);
}
