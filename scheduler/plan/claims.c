/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c - a short list that is searched from its start: there are few, and mostly none. */
#include "scheduler/plan/claims.h"

static int64_t least(int64_t a, int64_t b)
{
    const int64_t m = a < b ? a : b;
    return m > 0 ? m : 0;
}

struct claim *claims_find(struct claims *c, struct uuid tenant_id, struct uuid job_id)
{
    for (size_t i = 0; i < c->n; i++)
        if (uuid_eq(c->items[i].job_id, job_id) && uuid_eq(c->items[i].tenant_id, tenant_id))
            return &c->items[i];
    return NULL;
}

bool claims_put(struct claims *c, const struct claim *what)
{
    struct claim *old = claims_find(c, what->tenant_id, what->job_id);
    if (!old && c->n == CLAIMS_MAX)
        return false;
    if (!old)
        old = &c->items[c->n++];
    *old = *what;
    return true;
}

void claims_drop(struct claims *c, struct claim *which)
{
    *which = c->items[--c->n];
}

void claims_end(struct claims *c, int64_t now_us)
{
    for (size_t i = c->n; i-- > 0;)
        if (c->items[i].until_us <= now_us)
            claims_drop(c, &c->items[i]);
}

/* Whole devices that are free, as many as the ask wants at most; of a share the one device that it would get. */
static uint64_t devices_kept(const struct devices *d, const struct ask *a)
{
    for (int64_t n = a->gpus; n > 0; n--) {
        uint64_t mask = devices_pick(d, n, a->gpu_milli);
        if (mask)
            return mask;
    }
    return 0;
}

static struct rule_ask rule_ask_of(const struct claim *c, const struct snap_node *n)
{
    return (struct rule_ask){ c->tenant_id, c->project_id, str_c(c->queue), n->flavor, n->zone, c->ask.slots, c->ask.gpus };
}

void claims_take(struct claim *c, struct snapshot *s, size_t node)
{
    const struct ask *a = &c->ask;
    struct snap_node *n = &s->nodes.items[node];
    c->keeps = true;
    c->node = node;
    c->devices = devices_kept(&n->devices, a);
    c->took = (struct ask){ .cpu_milli = least(n->free_cpu_milli, a->cpu_milli), .slots = least(n->free_slots, a->slots),
                            .memory_bytes = least(n->free_memory_bytes, a->memory_bytes), .gpu_milli = a->gpu_milli,
                            .gpus = __builtin_popcountll(c->devices) };
    snap_node_take(n, &c->took, c->devices);
    c->tenant = snap_tenant_find(s, c->tenant_id);
    if (c->is_guarded) {
        const struct rule_ask ask = rule_ask_of(c, n);
        rulebook_take(&s->book, &ask);
    }
    if (c->tenant >= 0) {
        s->tenants.items[c->tenant].slots_used += a->slots;
        s->tenants.items[c->tenant].gpus_used += a->gpus;
    }
}

void claims_untake(struct claims *c, struct snapshot *s)
{
    for (size_t i = 0; i < c->n; i++) {
        struct claim *k = &c->items[i];
        if (!k->keeps)
            continue;
        snap_node_give(&s->nodes.items[k->node], &k->took, k->devices);
        if (k->is_guarded) {
            const struct rule_ask ask = rule_ask_of(k, &s->nodes.items[k->node]);
            rulebook_give(&s->book, &ask);
        }
        if (k->tenant >= 0) {
            s->tenants.items[k->tenant].slots_used -= k->ask.slots;
            s->tenants.items[k->tenant].gpus_used -= k->ask.gpus;
        }
        k->keeps = false;
    }
}
