/* SPDX-License-Identifier: Apache-2.0 */
/* ground.c - machines of a snapshot have the fleet's numbers, for they are added in its order. */
#include "scheduler/plan/ground.h"

static void free_fleet(void *f)
{
    fleet_free(f);
}

static int group_of(struct ground *g, const struct snapshot *s, size_t node)
{
    const struct snap_node *n = &s->nodes.items[node];
    for (unsigned i = 0; i < g->ngroups; i++) {
        const struct snap_node *o = &s->nodes.items[g->group_node[i]];
        if (str_eq(o->pool, n->pool) && str_eq(o->flavor, n->flavor) && str_eq(o->zone, n->zone))
            return (int)i;
    }
    if (g->ngroups == GROUPS_MAX)
        return -1;
    g->group_node[g->ngroups] = node;
    return (int)g->ngroups++;
}

/* A machine that was made smaller than what runs on it has nothing free. */
static struct room room_of(int64_t slots, int64_t gpus, int64_t all_gpus, int group)
{
    struct room r = { .cpu_milli = slots > 0 && gpus >= 0 ? slots * 1000 : 0, .gpus = (uint16_t)all_gpus,
                      .group = (uint16_t)group };
    for (int i = 0; i < gpus && i < all_gpus; i++)
        r.milli[i] = GPU_MILLI;
    return r;
}

static bool is_holdable(const struct snap_node *n)
{
    const int64_t most = CPU_MILLI_MAX / 1000;
    return n->gpus >= 0 && n->gpus <= MACHINE_GPUS_MAX && n->slots <= most && n->free_slots <= most;
}

void ground_init(struct ground *g, const struct snapshot *s, struct arena *a)
{
    bool has_gpu = false, learned = s->workload && workload_epoch(s->workload);
    *g = (struct ground){ 0 };
    for (size_t i = 0; i < s->nodes.n; i++) {
        if (!is_holdable(&s->nodes.items[i]) || group_of(g, s, i) < 0)
            return;
        has_gpu |= s->nodes.items[i].gpus > 0;
    }
    g->fleet = fleet_new(has_gpu && learned ? SCORE_DEFAULT : SCORE_BESTFIT, s->workload, 1);
    arena_defer(a, free_fleet, g->fleet);
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct snap_node *n = &s->nodes.items[i];
        int group = group_of(g, s, i);
        struct room all = room_of(n->slots, n->gpus, n->gpus, group), free = room_of(n->free_slots, n->free_gpus, n->gpus, group);
        (void)fleet_add(g->fleet, &all, &free);     /* its number is i */
    }
}

bool ground_place(struct ground *g, const struct groups *where, int64_t slots, int64_t gpus, size_t *ret)
{
    struct ask a = { .cpu_milli = slots * 1000, .gpus = (int32_t)gpus, .gpu_milli = gpus ? GPU_MILLI : 0, .groups = *where };
    struct seat seat;
    if (gpus > MACHINE_GPUS_MAX || slots > CPU_MILLI_MAX / 1000)
        return false;
    if (!fleet_place(g->fleet, fleet_class(g->fleet, &a), &seat))
        return false;
    *ret = seat.machine;
    return true;
}
