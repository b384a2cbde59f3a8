/* SPDX-License-Identifier: Apache-2.0 */
/* sight.c - one loop over the machines, and the words for each way to find nothing. */
#include "scheduler/plan/sight.h"

struct rule_ask sight_rule_ask(const struct snap_tenant *t, const struct snap_job *j, const struct snap_node *n)
{
    return (struct rule_ask){ t->tenant_id, j->project_id, j->queue, n ? n->flavor : STR_NULL, n ? n->zone : STR_NULL,
                              snap_job_nodes(j) * j->slots, snap_job_nodes(j) * j->gpus };
}

bool sight_zone_ok(const struct snap_job *j, struct str zone)
{
    const struct str *judged = j->zones.items;
    if (j->zone.ptr && !str_eq(j->zone, zone))
        return false;
    for (size_t i = 0; i < j->zones.n; i++)
        if (str_eq(judged[i], zone))
            return true;
    return false;
}

bool sight_quota_allows(const struct snap_tenant *t, const struct snap_job *j, struct arena *a, struct str *words)
{
    const int64_t slots = snap_job_nodes(j) * j->slots, gpus = snap_job_nodes(j) * j->gpus;
    if (t->slots_used + slots > t->slots_limit)
        *words = str_fmt(a, "needs %ld slots, %ld of the tenant's %ld are in use", (long)slots, (long)t->slots_used,
                         (long)t->slots_limit);
    else if (gpus && t->gpus_used + gpus > t->gpus_limit)
        *words = str_fmt(a, "needs %ld GPUs, %ld of the tenant's %ld are in use", (long)gpus, (long)t->gpus_used,
                         (long)t->gpus_limit);
    else if (t->slots_used + t->slots_kept + slots > t->slots_limit ||
             (gpus && t->gpus_used + t->gpus_kept + gpus > t->gpus_limit))
        *words = STR("the rest of the tenant's quota is kept for its job on several machines, before whose start it might not "
                     "end");
    else
        return true;
    return false;
}

bool sight_search(const struct snapshot *s, const struct snap_tenant *t, const struct snap_job *j, size_t *ret,
                  struct sight *see)
{
    const struct ask ask = snap_job_ask(j);
    bool found = false;
    int64_t best_slots = 0, best_gpus = 0;
    *see = (struct sight){ 0 };
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct snap_node *n = &s->nodes.items[i];
        if (!sight_zone_ok(j, n->zone))
            continue;
        see->any_zone = true;
        see->any_gpu |= n->gpus > 0;
        if (!str_eq(n->pool, j->pool))
            continue;
        see->any_pool = true;
        see->any_programs |= !j->needs_programs || n->programs;
        const bool computes = snap_node_computes(n, j);
        see->any_engine |= computes && (!j->needs_programs || n->programs);
        see->lack_engine += !computes;
        if (!snap_job_takes(j, n))
            continue;
        see->any_model = true;
        see->any_fit |= snap_node_could(n, &ask);
        const struct reserved *kept = reserved_before(n, j);
        if (kept) {
            see->kept = !see->kept && snap_node_fits(n, &ask) ? kept : see->kept;
            continue;
        }
        see->most_free_slots = n->free_slots > see->most_free_slots ? n->free_slots : see->most_free_slots;
        see->most_free_gpus = n->free_gpus > see->most_free_gpus ? n->free_gpus : see->most_free_gpus;
        if (n->free_slots >= j->slots && n->free_memory_bytes > see->most_free_memory)
            see->most_free_memory = n->free_memory_bytes;
        if (!snap_node_fits(n, &ask))
            continue;
        if (t->guarded) {
            struct rule_ask of = sight_rule_ask(t, j, n);
            const struct rule *r = rulebook_refuses(&s->book, &of);
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

void sight_say(const struct snapshot *s, struct arena *a, const struct snap_tenant *t, const struct snap_job *j,
               const struct sight *see, struct str *reason, struct str *message)
{
    if (j->denied.ptr) {
        *reason = STR("ZoneUnavailable");
        *message = j->denied;
    } else if (!see->any_zone) {
        *reason = STR("ZoneUnavailable");
        *message = j->zone.ptr ? str_fmt(a, "zone %.*s has no ready machine", STR_ARG(j->zone))
                   : t->allowed_zones.n ? STR("no zone that the tenant may use has a ready machine")
                   : STR("the tenant may use no zone");
    } else if (j->gpus && !see->any_gpu) {
        *reason = STR("NoMatchingFlavor");
        *message = j->zone.ptr ? str_fmt(a, "no machine with a GPU is registered and ready in zone %.*s", STR_ARG(j->zone))
                                 : STR("no machine with a GPU is registered and ready in a zone that the tenant may use");
    } else if (!see->any_pool) {
        *reason = STR("NoMatchingFlavor");
        *message = str_fmt(a, "pool %.*s has no ready machine there", STR_ARG(j->pool));
    } else if (!see->any_programs) {
        *reason = STR("NoMatchingFlavor");
        *message = str_fmt(a, "no ready machine of the pool %.*s there runs programs (worker.programs)", STR_ARG(j->pool));
    } else if (!see->any_engine && snap_engine_is_own(j->engine)) {
        *reason = STR("NoMatchingFlavor");
        *message = str_fmt(a, "no ready machine of the pool %.*s there has %.*s, which comes with workers of this release; "
                           "%ld there are without it", STR_ARG(j->pool), STR_ARG(j->engine), (long)see->lack_engine);
    } else if (!see->any_engine) {
        *reason = STR("NoMatchingFlavor");
        *message = str_fmt(a, "no ready machine of the pool %.*s there has the engine %.*s (worker.%.*s), which computes its "
                           "model; %ld there are without it", STR_ARG(j->pool), STR_ARG(j->engine), STR_ARG(j->engine),
                           (long)see->lack_engine);
    } else if (!see->any_model) {
        *reason = STR("NoMatchingFlavor");
        *message = j->gpu_milli && j->gpu_milli < GPU_MILLI ? STR("no ready machine there keeps shares of a GPU apart")
                 : str_fmt(a, "no ready machine there has a GPU of the models %.*s", STR_ARG(j->gpu_models));
    } else if (!see->any_fit) {
        *reason = STR("NoMatchingFlavor");
        *message = str_fmt(a, "no ready machine has %ld slots and %ld GPUs", (long)j->slots, (long)j->gpus);
    } else if (snap_job_nodes(j) > 1) {
        gang_say(j, &see->gang, s->now_us, a, reason, message);
    } else if (see->refuses) {
        struct rule_ask ask = sight_rule_ask(t, j, see->where);
        *reason = STR("QuotaExceeded");
        *message = rulebook_words(&s->book, see->refuses, &ask, a);
    } else if (see->kept) {
        *reason = STR("Reserved");
        *message = reserved_words(see->kept, j, s->now_us, a);
    } else if (see->most_free_slots >= j->slots && j->memory_bytes > see->most_free_memory) {
        *reason = STR("Resources");
        *message = str_fmt(a, "needs %ld MiB of memory, the freest machine with %ld slots has %ld MiB free",
                             (long)(j->memory_bytes >> 20), (long)j->slots, (long)(see->most_free_memory >> 20));
    } else if (see->most_free_slots < j->slots || !j->gpus) {
        *reason = STR("Resources");
        *message = str_fmt(a, "needs %ld slots, the freest machine has %ld free", (long)j->slots, (long)see->most_free_slots);
    } else {
        *reason = STR("Resources");
        *message = str_fmt(a, "needs %ld slots and %ld GPUs on one machine, the most GPUs free on one are %ld", (long)j->slots,
                             (long)j->gpus, (long)see->most_free_gpus);
    }
}
