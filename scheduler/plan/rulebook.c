/* SPDX-License-Identifier: Apache-2.0 */
/* rulebook.c - the rules stand sorted by tenant, so those of one tenant are found by bisection and looked at one by one: a tenant has few.
 * A cohort keeps two sums, so that asking costs the rules of one tenant whatever the number of its neighbours. */
#include "scheduler/plan/rulebook.h"

#include <stdlib.h>

enum { WHOLE = 1000000, WEIGHT = 1000 };

const char *const rule_resource_names[] = { "slots", "gpus", "jobs", NULL };
const char *const rule_place_names[] = { "tenant", "project", "queue", NULL };

static int by_tenant(const void *x, const void *y)
{
    const struct rule *a = x, *b = y;
    int c = uuid_cmp(a->tenant_id, b->tenant_id);
    if (c)
        return c;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->resource != b->resource)
        return a->resource < b->resource ? -1 : 1;
    if ((c = uuid_cmp(a->project_id, b->project_id)) || (c = str_cmp(a->queue, b->queue)) || (c = str_cmp(a->flavor, b->flavor)))
        return c;
    return str_cmp(a->zone, b->zone);
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

void rulebook_link(struct rulebook *b, struct arena *a)
{
    size_t n = b->rules.n, k = 0;
    struct rule **order = ARENA_ARRAY(a, struct rule *, n + 1);
    b->cohorts = ARENA_ARRAY(a, struct rule_cohort, n + 1);
    if (n > 1)
        qsort(b->rules.items, n, sizeof *b->rules.items, by_tenant);
    for (size_t i = 0; i < n; i++)
        order[i] = &b->rules.items[i];
    if (n > 1)
        qsort(order, n, sizeof *order, by_cohort_of);
    for (size_t i = 0; i < n; i++) {
        k += i && by_cohort(order[i - 1], order[i]) != 0;
        order[i]->cohort = (int64_t)k;
        b->cohorts[k].lendable += lendable_of(order[i]);
        b->cohorts[k].lent += beyond(order[i], order[i]->used);
    }
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

static size_t first_of(const struct rulebook *b, struct uuid tenant)
{
    size_t low = 0, high = b->rules.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (uuid_cmp(b->rules.items[mid].tenant_id, tenant) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_about(const struct rule *r, const struct rule_ask *ask)
{
    if (r->place == RULE_PROJECT && !uuid_eq(r->project_id, ask->project_id))
        return false;
    if (r->place == RULE_QUEUE && (!uuid_eq(r->project_id, ask->project_id) || !str_eq(r->queue, ask->queue)))
        return false;
    return true;
}

static bool matches(const struct rule *r, const struct rule_ask *ask)
{
    return is_about(r, ask) && (!r->flavor.len || str_eq(r->flavor, ask->flavor)) && (!r->zone.len || str_eq(r->zone, ask->zone));
}

static int64_t amount_of(const struct rule *r, const struct rule_ask *ask)
{
    return r->resource == RULE_SLOTS ? ask->slots : r->resource == RULE_GPUS ? ask->gpus : 1;
}

const struct rule *rulebook_refuses(const struct rulebook *b, const struct rule_ask *ask)
{
    for (size_t i = first_of(b, ask->tenant_id); i < b->rules.n && uuid_eq(b->rules.items[i].tenant_id, ask->tenant_id); i++) {
        const struct rule *r = &b->rules.items[i];
        int64_t amount = amount_of(r, ask);
        if (amount > 0 && matches(r, ask) && amount > rulebook_room(b, r))
            return r;
    }
    return NULL;
}

void rulebook_take(struct rulebook *b, const struct rule_ask *ask)
{
    for (size_t i = first_of(b, ask->tenant_id); i < b->rules.n && uuid_eq(b->rules.items[i].tenant_id, ask->tenant_id); i++) {
        struct rule *r = &b->rules.items[i];
        if (!matches(r, ask))
            continue;
        int64_t amount = amount_of(r, ask);
        b->cohorts[r->cohort].lent += beyond(r, r->used + amount) - beyond(r, r->used);
        r->used += amount;
    }
}

struct str rulebook_words(const struct rulebook *b, const struct rule *r, const struct rule_ask *ask, struct arena *a)
{
    static const char *const things[] = { "slots", "GPUs", "running jobs" };
    const char *who = r->place == RULE_QUEUE ? "the queue" : r->place == RULE_PROJECT ? "the project" : "the tenant";
    struct str name = r->place == RULE_QUEUE ? str_fmt(a, " %.*s", STR_ARG(r->queue)) : STR("");
    struct str flavor = r->flavor.len ? str_fmt(a, " of flavor %.*s", STR_ARG(r->flavor)) : STR("");
    struct str zone = r->zone.len ? str_fmt(a, " in %.*s", STR_ARG(r->zone)) : STR("");
    int64_t room = rulebook_room(b, r);
    return str_fmt(a, "needs %ld %s%.*s%.*s, %s%.*s uses %ld of its %ld and may take %ld more", (long)amount_of(r, ask), things[r->resource],
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

int64_t rulebook_share(const struct rulebook *b, const struct rule_ask *ask)
{
    int64_t most = 0;
    for (size_t i = first_of(b, ask->tenant_id); i < b->rules.n && uuid_eq(b->rules.items[i].tenant_id, ask->tenant_id); i++) {
        const struct rule *r = &b->rules.items[i];
        if (r->place == RULE_TENANT || !is_about(r, ask))
            continue;
        int64_t share = rulebook_ratio(r->used, r->nominal, r->weight);
        most = share > most ? share : most;
    }
    return most;
}

int64_t rulebook_weight(const struct rulebook *b, struct uuid tenant_id, enum rule_resource resource)
{
    int64_t least = -1;
    for (size_t i = first_of(b, tenant_id); i < b->rules.n && uuid_eq(b->rules.items[i].tenant_id, tenant_id); i++) {
        const struct rule *r = &b->rules.items[i];
        if (r->place != RULE_TENANT || r->resource != (int)resource)
            continue;
        if (!r->flavor.len && !r->zone.len)
            return r->weight;
        least = least < 0 || r->weight < least ? r->weight : least;
    }
    return least < 0 ? WEIGHT : least;
}
