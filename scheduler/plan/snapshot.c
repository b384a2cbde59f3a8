/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - jobs and tenants of a snapshot, tied together. */
#include "scheduler/plan/snapshot.h"

#include <string.h>

static int64_t least_0(int64_t v)
{
    return v > 0 ? v : 0;
}

static int64_t capacity_of(int64_t known, int64_t slots, int64_t slot)
{
    return known > slots * slot ? known : slots * slot;
}

void snapshot_fill(struct snapshot *s)
{
    reserved_fill(s);
    for (size_t i = 0; i < s->nodes.n; i++) {
        struct snap_node *n = &s->nodes.items[i];
        n->free_cpu_milli = least_0(n->cpu_milli ? capacity_of(n->cpu_milli, n->slots, SLOT_CPU_MILLI) - n->used_cpu_milli +
                                                       n->lent * SLOT_CPU_MILLI
                                                 : n->free_slots * SLOT_CPU_MILLI);
        n->free_memory_bytes = least_0(n->memory_bytes
                                       ? capacity_of(n->memory_bytes, n->slots, SLOT_MEMORY_BYTES) - n->used_memory_bytes +
                                             n->lent * SLOT_MEMORY_BYTES
                                       : n->free_slots * SLOT_MEMORY_BYTES);
        (void)devices_read(&n->devices, n->gpus, n->held);      /* written by our own statement */
        for (int k = n->devices.n; !n->held.len && k > 0 && k > n->free_gpus; k--)
            n->devices.milli[k - 1] = 0;
    }
}

struct ask snap_job_ask(const struct snap_job *j)
{
    struct ask a = { .cpu_milli = j->cpu_milli ? j->cpu_milli : j->slots * SLOT_CPU_MILLI,
                     .memory_bytes = j->memory_bytes ? j->memory_bytes : j->slots * SLOT_MEMORY_BYTES, .gpus = (int32_t)j->gpus,
                     .gpu_milli = !j->gpus ? 0 : j->gpu_milli ? (int32_t)j->gpu_milli : GPU_MILLI, .slots = j->slots };
    memset(&a.groups, 0xff, sizeof a.groups);
    return a;
}

bool snap_job_is_plain(const struct snap_job *j)
{
    return snap_job_most(j) == 1 && !j->gpus && j->cpu_milli <= j->slots * SLOT_CPU_MILLI &&
           j->memory_bytes <= j->slots * SLOT_MEMORY_BYTES;
}

bool snap_node_computes(const struct snap_node *n, const struct snap_job *j)
{
    struct str one, name, version, rest = n->engines;
    bool has = !j->engine.len;
    while (!has && rest.len) {
        (void)str_cut(rest, ',', &one, &rest);
        if (str_starts(one, " "))               /* engine_shapes joins those of several machines by ", " */
            one = str_n(one.ptr + 1, one.len - 1);
        (void)str_cut(one, ' ', &name, &version);
        has = str_eq(name, j->engine);
    }
    return has;
}

bool snap_job_takes(const struct snap_job *j, const struct snap_node *n)
{
    struct str model, rest = j->gpu_models;
    if ((j->needs_programs && !n->programs) || !snap_node_computes(n, j))
        return false;
    if (j->gpus && j->gpu_milli && j->gpu_milli < GPU_MILLI && !n->gpu_shared)
        return false;
    if (!j->gpus || !rest.len)
        return true;
    while (rest.len) {
        (void)str_cut(rest, ',', &model, &rest);
        if (str_eq(model, n->gpu_model))
            return true;
    }
    return false;
}

bool snap_node_fits(const struct snap_node *n, const struct ask *a)
{
    if (n->free_slots < a->slots || n->free_cpu_milli < a->cpu_milli || n->free_memory_bytes < a->memory_bytes)
        return false;
    if (n->free_gpus < 0)               /* it was made smaller than what runs on it */
        return false;
    return a->gpu_milli == GPU_MILLI ? devices_whole(&n->devices) >= a->gpus : devices_level(&n->devices) >= a->gpu_milli;
}

bool snap_node_could(const struct snap_node *n, const struct ask *a)
{
    return n->slots >= a->slots && n->gpus >= a->gpus && capacity_of(n->cpu_milli, n->slots, SLOT_CPU_MILLI) >= a->cpu_milli &&
           capacity_of(n->memory_bytes, n->slots, SLOT_MEMORY_BYTES) >= a->memory_bytes;
}

void snap_node_give(struct snap_node *n, const struct ask *a, uint64_t devices)
{
    n->free_slots += lease_slots(n->once, n->slots, a->slots);
    n->free_gpus += a->gpus;
    n->free_cpu_milli += a->cpu_milli;
    n->free_memory_bytes += a->memory_bytes;
    devices_give(&n->devices, devices, a->gpu_milli);
}

void snap_node_take(struct snap_node *n, const struct ask *a, uint64_t devices)
{
    n->free_slots -= lease_slots(n->once, n->slots, a->slots);
    n->free_gpus -= a->gpus;
    n->free_cpu_milli -= a->cpu_milli;
    n->free_memory_bytes -= a->memory_bytes;
    (void)devices_take(&n->devices, devices, a->gpus, a->gpu_milli);    /* what was picked is free */
}

int64_t snap_tenant_find(const struct snapshot *s, struct uuid id)
{
    size_t low = 0, high = s->tenants.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = uuid_cmp(s->tenants.items[mid].tenant_id, id);
        if (!c)
            return (int64_t)mid;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

static bool same_shape(const struct snap_job *a, const struct snap_job *b)
{
    return a->shape == b->shape && uuid_eq(a->tenant_id, b->tenant_id);
}

static void mark_cuts(struct snapshot *s)
{
    struct snap_job *j = s->jobs.items;
    for (size_t i = 0, first = 0; i < s->jobs.n; i++) {
        if (!same_shape(&j[first], &j[i]))
            first = i;
        bool is_last = i + 1 == s->jobs.n || !same_shape(&j[i], &j[i + 1]);
        j[i].is_cut = is_last && j[i].depth && (int64_t)(i - first + 1) >= j[i].depth;
    }
}

void snapshot_link(struct snapshot *s)
{
    size_t kept = 0;
    mark_cuts(s);
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job j = s->jobs.items[i];
        j.tenant = snap_tenant_find(s, j.tenant_id);
        if (j.tenant >= 0)
            s->jobs.items[kept++] = j;
    }
    s->jobs.n = kept;
}

bool waits_for_room(const struct waiting *w)
{
    return str_eq(w->reason, STR("Resources")) || str_eq(w->reason, STR("QuotaExceeded")) || str_eq(w->reason, STR("Reserved"));
}
