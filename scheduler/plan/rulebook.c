/* SPDX-License-Identifier: Apache-2.0 */
/* rulebook.c - the rules stand sorted by tenant, place, resource, project and queue, so those about an ask are nine runs. A few
 * rules are walked once for all nine; of many each run is found by bisection, since a tenant may have a thousand queues. A cohort
 * keeps sums, so that asking costs the same whatever the number of neighbours. */
#include "scheduler/plan/rulebook.h"

#include <stdlib.h>
#include <string.h>

/* So many rules are walked: from there on nine bisections cost less (tests/bench/bench_plan.c). */
enum { WHOLE = 1000000, WEIGHT = 1000, WALKED_MAX = 64 };

const char *const rule_resource_names[] = { "slots", "gpus", "jobs", NULL };
const char *const rule_place_names[] = { "tenant", "project", "queue", NULL };
const char *const queue_mode_names[] = { "StrictFIFO", "BestEffortFIFO", NULL };
const char *const queue_stop_names[] = { "None", "Hold", "HoldAndDrain", NULL };
const char *const queue_within_names[] = { "Never", "LowerPriority", "LowerOrNewerEqualPriority", NULL };
const char *const queue_reclaim_names[] = { "Never", "LowerPriority", "Any", NULL };

/* The run that a rule stands in. */
static int by_run(const struct rule *a, const struct rule *b)
{
    int c = uuid_cmp(a->tenant_id, b->tenant_id);
    if (c)
        return c;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->resource != b->resource)
        return a->resource < b->resource ? -1 : 1;
    if ((c = uuid_cmp(a->project_id, b->project_id)))
        return c;
    return str_cmp(a->queue, b->queue);
}

static int by_tenant(const void *x, const void *y)
{
    const struct rule *a = x, *b = y;
    int c = by_run(a, b);
    if (c || (c = str_cmp(a->flavor, b->flavor)))
        return c;
    return str_cmp(a->zone, b->zone);
}

static int by_name(const void *x, const void *y)
{
    const struct rule_queue *a = x, *b = y;
    int c = uuid_cmp(a->tenant_id, b->tenant_id);
    if (c || (c = uuid_cmp(a->project_id, b->project_id)))
        return c;
    return str_cmp(a->name, b->name);
}

/* Cohorts are runs of equals in this order. */
static int by_cohort(const struct rule *a, const struct rule *b)
{
    int c;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->resource != b->resource)
        return a->resource < b->resource ? -1 : 1;
    if ((c = str_cmp(a->flavor, b->flavor)) || (c = str_cmp(a->zone, b->zone)) || a->place == RULE_TENANT)
        return c;
    if ((c = uuid_cmp(a->tenant_id, b->tenant_id)) || a->place == RULE_PROJECT)
        return c;
    return uuid_cmp(a->project_id, b->project_id);
}

static int by_cohort_of(const void *x, const void *y)
{
    return by_cohort(*(const struct rule *const *)x, *(const struct rule *const *)y);
}

static int64_t lendable_of(const struct rule *r)
{
    return r->lending_limit < 0 || r->lending_limit > r->nominal ? r->nominal : r->lending_limit;
}

static int64_t guaranteed_of(const struct rule *r)
{
    return r->nominal - lendable_of(r);
}

static int64_t beyond(const struct rule *r, int64_t used)
{
    return used > guaranteed_of(r) ? used - guaranteed_of(r) : 0;
}

static int64_t usage_of(const struct rulebook *b, const struct rule *r)
{
    const struct rule_ask ask = { .tenant_id = r->tenant_id, .project_id = r->project_id, .queue = r->queue };
    const struct rule_queue *q = r->place == RULE_QUEUE ? rulebook_queue(b, &ask) : NULL;
    return !q ? 0 : r->resource == RULE_GPUS ? q->gpu_usage : q->slot_usage;
}

void rulebook_link(struct rulebook *b, struct arena *a)
{
    size_t n = b->rules.n, k = 0;
    struct rule **order = ARENA_ARRAY(a, struct rule *, n + 1);
    b->cohorts = ARENA_ARRAY(a, struct rule_cohort, n + 1);
    if (n > 1)
        qsort(b->rules.items, n, sizeof *b->rules.items, by_tenant);
    if (b->queues.n > 1)
        qsort(b->queues.items, b->queues.n, sizeof *b->queues.items, by_name);
    for (size_t i = 0; i < n; i++)
        order[i] = &b->rules.items[i];
    if (n > 1)
        qsort(order, n, sizeof *order, by_cohort_of);
    for (size_t i = 0; i < n; i++) {
        k += i && by_cohort(order[i - 1], order[i]) != 0;
        order[i]->cohort = (int64_t)k;
        order[i]->usage = usage_of(b, order[i]);
        b->cohorts[k].lendable += lendable_of(order[i]);
        b->cohorts[k].lent += beyond(order[i], order[i]->used);
        b->cohorts[k].weights += order[i]->weight;
        b->cohorts[k].usage += order[i]->usage;
    }
}

struct rulebook rulebook_copy(const struct rulebook *b, struct arena *a)
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

int64_t rulebook_room(const struct rulebook *b, const struct rule *r)
{
    const struct rule_cohort *c = &b->cohorts[r->cohort];
    int64_t own = guaranteed_of(r) > r->used ? guaranteed_of(r) - r->used : 0;
    int64_t shared = c->lendable > c->lent ? c->lendable - c->lent : 0;
    int64_t room = own + shared;
    if (r->borrowing_limit >= 0) {
        int64_t most = r->nominal + r->borrowing_limit - r->used;
        room = most < room ? most : room;
    }
    return room > 0 ? room : 0;
}

/* The first rule that does not stand before the key's run, or behind it. */
static size_t bound_of(const struct rulebook *b, const struct rule *key, bool is_end)
{
    size_t low = 0, high = b->rules.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = by_run(&b->rules.items[mid], key);
        if (c < 0 || (is_end && c == 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_about(const struct rule *r, const struct rule_ask *ask)
{
    return uuid_eq(r->tenant_id, ask->tenant_id) &&
           (r->place == RULE_TENANT || (uuid_eq(r->project_id, ask->project_id) &&
                                        (r->place == RULE_PROJECT || str_eq(r->queue, ask->queue))));
}

/* The same run as by bisection, of a book that is walked. */
static const struct rule *walk_run(const struct rulebook *b, const struct rule_ask *ask, enum rule_place place,
                                   enum rule_resource resource, size_t *ret_n)
{
    const struct rule *first = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < b->rules.n; i++) {
        const struct rule *r = &b->rules.items[i];
        if (r->place != (int)place || r->resource != (int)resource || !is_about(r, ask))
            continue;
        first = first ? first : r;
        ++*ret_n;
    }
    return first;
}

const struct rule *rulebook_run(const struct rulebook *b, const struct rule_ask *ask, enum rule_place place,
                                enum rule_resource resource, size_t *ret_n)
{
    if (b->rules.n <= WALKED_MAX)
        return walk_run(b, ask, place, resource, ret_n);
    const struct rule key = { .tenant_id = ask->tenant_id, .place = (int)place, .resource = (int)resource,
                              .project_id = place == RULE_TENANT ? UUID_NIL : ask->project_id,
                              .queue = place == RULE_QUEUE ? ask->queue : STR("") };
    const size_t first = bound_of(b, &key, false);
    *ret_n = bound_of(b, &key, true) - first;
    return *ret_n ? &b->rules.items[first] : NULL;
}

const struct rule_queue *rulebook_queue(const struct rulebook *b, const struct rule_ask *ask)
{
    const struct rule_queue key = { .tenant_id = ask->tenant_id, .project_id = ask->project_id, .name = ask->queue };
    return b->queues.n ? bsearch(&key, b->queues.items, b->queues.n, sizeof key, by_name) : NULL;
}

bool rulebook_is_there(const struct rule *r, const struct rule_ask *ask)
{
    return (!r->flavor.len || str_eq(r->flavor, ask->flavor)) && (!r->zone.len || str_eq(r->zone, ask->zone));
}

int64_t rulebook_amount(enum rule_resource resource, const struct rule_ask *ask)
{
    return resource == RULE_SLOTS ? ask->slots : resource == RULE_GPUS ? ask->gpus : 1;
}

static const struct rule *walk_refuses(const struct rulebook *b, const struct rule_ask *ask)
{
    for (size_t i = 0; i < b->rules.n; i++) {
        const struct rule *r = &b->rules.items[i];
        const int64_t amount = rulebook_amount((enum rule_resource)r->resource, ask);
        if (amount > 0 && is_about(r, ask) && rulebook_is_there(r, ask) && amount > rulebook_room(b, r))
            return r;
    }
    return NULL;
}

const struct rule *rulebook_refuses(const struct rulebook *b, const struct rule_ask *ask)
{
    if (b->rules.n <= WALKED_MAX)
        return walk_refuses(b, ask);
    for (int place = RULE_TENANT; place <= RULE_QUEUE; place++)
        for (int resource = RULE_SLOTS; resource <= RULE_JOBS; resource++) {
            size_t n;
            const int64_t amount = rulebook_amount(resource, ask);
            const struct rule *r = amount > 0 ? rulebook_run(b, ask, place, resource, &n) : NULL;
            for (size_t i = 0; r && i < n; i++)
                if (rulebook_is_there(&r[i], ask) && amount > rulebook_room(b, &r[i]))
                    return &r[i];
        }
    return NULL;
}

/* One rule that is about the ask. */
static void change_one(struct rulebook *b, struct rule *r, const struct rule_ask *ask, int64_t amount)
{
    if (!rulebook_is_there(r, ask))
        return;
    b->cohorts[r->cohort].lent += beyond(r, r->used + amount) - beyond(r, r->used);
    r->used += amount;
}

static void walk_change(struct rulebook *b, const struct rule_ask *ask, int sign)
{
    for (size_t i = 0; i < b->rules.n; i++) {
        struct rule *r = &b->rules.items[i];
        const int64_t amount = sign * rulebook_amount((enum rule_resource)r->resource, ask);
        if (amount && is_about(r, ask))
            change_one(b, r, ask, amount);
    }
}

static void change(struct rulebook *b, const struct rule_ask *ask, int sign)
{
    if (b->rules.n <= WALKED_MAX) {
        walk_change(b, ask, sign);
        return;
    }
    for (int place = RULE_TENANT; place <= RULE_QUEUE; place++)
        for (int resource = RULE_SLOTS; resource <= RULE_JOBS; resource++) {
            size_t n;
            const int64_t amount = sign * rulebook_amount(resource, ask);
            const struct rule *run = amount ? rulebook_run(b, ask, place, resource, &n) : NULL;
            for (size_t i = 0; run && i < n; i++)
                change_one(b, &b->rules.items[run - b->rules.items + (ptrdiff_t)i], ask, amount);
        }
}

void rulebook_take(struct rulebook *b, const struct rule_ask *ask)
{
    change(b, ask, 1);
}

void rulebook_give(struct rulebook *b, const struct rule_ask *ask)
{
    change(b, ask, -1);
}

struct str rulebook_words(const struct rulebook *b, const struct rule *r, const struct rule_ask *ask, struct arena *a)
{
    static const char *const things[] = { "slots", "GPUs", "running jobs" };
    const char *who = r->place == RULE_QUEUE ? "the queue" : r->place == RULE_PROJECT ? "the project" : "the tenant";
    struct str name = r->place == RULE_QUEUE ? str_fmt(a, " %.*s", STR_ARG(r->queue)) : STR("");
    struct str flavor = r->flavor.len ? str_fmt(a, " of flavor %.*s", STR_ARG(r->flavor)) : STR("");
    struct str zone = r->zone.len ? str_fmt(a, " in %.*s", STR_ARG(r->zone)) : STR("");
    int64_t room = rulebook_room(b, r);
    return str_fmt(a, "needs %ld %s%.*s%.*s, %s%.*s uses %ld of its %ld and may take %ld more",
        (long)rulebook_amount(r->resource, ask), things[r->resource],
                   STR_ARG(flavor), STR_ARG(zone), who, STR_ARG(name), (long)r->used, (long)r->nominal, (long)room);
}

int64_t rulebook_ratio(int64_t used, int64_t limit, int64_t weight)
{
    if (used <= 0)
        return 0;
    if (limit <= 0 || weight <= 0)
        return INT64_MAX;
    __int128 r = (__int128)used * WHOLE * WEIGHT / ((__int128)limit * weight);
    return r > INT64_MAX ? INT64_MAX : (int64_t)r;
}

int64_t rulebook_weight(const struct rulebook *b, struct uuid tenant_id, enum rule_resource resource)
{
    const struct rule_ask ask = { .tenant_id = tenant_id };
    int64_t least = -1;
    size_t n;
    const struct rule *r = rulebook_run(b, &ask, RULE_TENANT, resource, &n);
    for (size_t i = 0; r && i < n; i++) {
        if (!r[i].flavor.len && !r[i].zone.len)
            return r[i].weight;
        least = least < 0 || r[i].weight < least ? r[i].weight : least;
    }
    return least < 0 ? WEIGHT : least;
}
