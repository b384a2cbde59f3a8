/* SPDX-License-Identifier: Apache-2.0 */
/* ground.c - machines of a snapshot have the fleet's numbers, for they are added in its order. */
#include "scheduler/plan/ground.h"
#include "scheduler/plan/fleet_int.h"

static void free_fleet(void *f)
{
    fleet_free(f);
}

enum { KEPT_GROUPS = GROUPS_MAX / 4 };

static int group_of(struct ground *g, const struct snapshot *s, size_t node)
{
    const struct snap_node *n = &s->nodes.items[node];
    for (unsigned i = 0; i < g->ngroups; i++) {
        const struct snap_node *o = &s->nodes.items[g->group_node[i]];
        if (str_eq(o->pool, n->pool) && str_eq(o->flavor, n->flavor) && str_eq(o->zone, n->zone) &&
            str_eq(o->gpu_model, n->gpu_model) && o->gpu_shared == n->gpu_shared && o->programs == n->programs &&
            str_eq(o->engines, n->engines) &&
            (!g->kinds || g->kinds[g->group_node[i]] == g->kinds[node]))
            return (int)i;
    }
    const bool is_kept = g->kinds && g->kinds[node];
    if (g->ngroups == GROUPS_MAX || (is_kept && g->nkept == KEPT_GROUPS))
        return -1;
    g->nkept += is_kept;
    g->group_node[g->ngroups] = node;
    return (int)g->ngroups++;
}

/* A machine that was made smaller than what runs on it has nothing free. */
static struct room room_of(const struct snap_node *n, int group, bool is_all)
{
    const bool is_over = !is_all && (n->free_slots < 0 || n->free_gpus < 0);
    struct room r = { .gpus = (uint16_t)n->gpus, .group = (uint16_t)group };
    if (is_over)
        return r;
    r.slots = (int32_t)(is_all ? n->slots : n->free_slots);
    r.cpu_milli = is_all ? larger(n->cpu_milli, n->slots * SLOT_CPU_MILLI) : n->free_cpu_milli;
    r.memory_bytes = is_all ? larger(n->memory_bytes, n->slots * SLOT_MEMORY_BYTES) : n->free_memory_bytes;
    for (int i = 0; i < n->gpus; i++)
        r.milli[i] = is_all ? GPU_MILLI : n->devices.milli[i];
    return r;
}

static bool is_holdable(const struct snap_node *n)
{
    return n->gpus >= 0 && n->gpus <= MACHINE_GPUS_MAX && n->slots <= SLOTS_MAX && n->free_slots <= SLOTS_MAX &&
           n->cpu_milli <= CPU_MILLI_MAX && n->free_cpu_milli <= CPU_MILLI_MAX && n->memory_bytes <= MEMORY_BYTES_MAX &&
           n->free_memory_bytes <= MEMORY_BYTES_MAX;
}

void ground_init(struct ground *g, const struct snapshot *s, struct arena *a)
{
    bool has_gpu = false, learned = s->workload && workload_epoch(s->workload);
    *g = (struct ground){ .kinds = reserved_kinds(s, a) };
    for (size_t i = 0; i < s->nodes.n; i++) {
        if (!is_holdable(&s->nodes.items[i]))
            return;
        const bool is_once = s->nodes.items[i].once;
        if (is_once || group_of(g, s, i) < 0) {
            if (!is_once && (!g->kinds || !g->kinds[i]))
                return;
            g->is_out = g->is_out ? g->is_out : ARENA_ARRAY(a, bool, s->nodes.n);
            g->is_out[i] = true;
        }
        has_gpu |= s->nodes.items[i].gpus > 0;
    }
    g->fleet = fleet_new(has_gpu && learned ? SCORE_DEFAULT : SCORE_BESTFIT, s->workload, 1);
    arena_defer(a, free_fleet, g->fleet);
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct snap_node *n = &s->nodes.items[i];
        const bool is_out = g->is_out && g->is_out[i];
        const int group = is_out ? 0 : group_of(g, s, i);
        struct room all = room_of(n, group, true), free = room_of(n, group, false);
        if (is_out)
            free = (struct room){ .gpus = free.gpus, .group = free.group };
        (void)fleet_add(g->fleet, &all, &free);     /* its number is i */
    }
}

bool ground_place(struct ground *g, const struct ask *a, struct seat *ret)
{
    return ask_is_valid(a) && fleet_place(g->fleet, fleet_class(g->fleet, a), ret);
}

bool ground_take(struct ground *g, const struct snapshot *s, const struct ask *a, const struct seat *seat)
{
    struct ask own = *a;
    if (g->is_out && g->is_out[seat->machine])
        return true;                    /* the snapshot alone knows what is free there */
    const int group = group_of(g, s, seat->machine);
    if (group < 0)
        return false;
    own.groups = (struct groups){ { 0 } };
    groups_add(&own.groups, (unsigned)group);
    return fleet_take(g->fleet, fleet_class(g->fleet, &own), *seat);
}
