/* SPDX-License-Identifier: Apache-2.0 */
/* resource.c - the arithmetic of one machine. */
#include "scheduler/plan/resource.h"
#include "core/base/assert.h"

bool ask_is_valid(const struct ask *a)
{
    bool is_whole = a->gpu_milli == GPU_MILLI, is_share = a->gpus == 1 && a->gpu_milli > 0 && a->gpu_milli < GPU_MILLI;
    return a->cpu_milli >= 0 && a->cpu_milli <= CPU_MILLI_MAX && a->memory_bytes >= 0 && a->memory_bytes <= MEMORY_BYTES_MAX &&
           a->slots >= 0 && a->slots <= SLOTS_MAX &&
           (a->gpus == 0 ? a->gpu_milli == 0 : a->gpus > 0 && a->gpus <= MACHINE_GPUS_MAX && (is_whole || is_share));
}

bool room_is_valid(const struct room *r)
{
    if (r->cpu_milli < 0 || r->cpu_milli > CPU_MILLI_MAX || r->memory_bytes < 0 || r->memory_bytes > MEMORY_BYTES_MAX)
        return false;
    if (r->gpus > MACHINE_GPUS_MAX || r->group >= GROUPS_MAX || r->slots < 0 || r->slots > SLOTS_MAX)
        return false;
    for (int i = 0; i < MACHINE_GPUS_MAX; i++)
        if (r->milli[i] > (i < r->gpus ? GPU_MILLI : 0))
            return false;
    return true;
}

int32_t room_milli(const struct room *r)
{
    int32_t sum = 0;
    for (int i = 0; i < r->gpus; i++)
        sum += r->milli[i];
    return sum;
}

int32_t ask_milli(const struct ask *a)
{
    return a->gpus * a->gpu_milli;
}

bool resource_fits(const struct room *r, const struct ask *a)
{
    if (r->cpu_milli < a->cpu_milli || r->memory_bytes < a->memory_bytes || r->slots < a->slots || !groups_has(&a->groups,
                                                                                                               r->group))
        return false;
    int devices = 0;
    for (int i = 0; i < r->gpus && devices < a->gpus; i++)
        devices += r->milli[i] >= a->gpu_milli;
    return devices >= a->gpus;
}

uint32_t resource_devices(const struct room *r, const struct ask *a, int level)
{
    uint32_t mask = 0;
    int32_t n = a->gpus;
    for (int i = 0; i < r->gpus && n; i++)
        if (r->milli[i] == level) {
            mask |= 1u << i;
            n--;
        }
    ASSERT(!n && (!a->gpus || level >= a->gpu_milli));
    return mask;
}

void resource_take(struct room *r, const struct ask *a, uint32_t devices)
{
    ASSERT(r->cpu_milli >= a->cpu_milli && r->memory_bytes >= a->memory_bytes && r->slots >= a->slots);
    ASSERT(__builtin_popcount(devices) == a->gpus);
    r->slots -= (int32_t)a->slots;
    r->cpu_milli -= a->cpu_milli;
    r->memory_bytes -= a->memory_bytes;
    for (int i = 0; devices >> i; i++)
        if (devices >> i & 1) {
            ASSERT(i < r->gpus && r->milli[i] >= a->gpu_milli);
            r->milli[i] = (uint16_t)(r->milli[i] - a->gpu_milli);
        }
}

void resource_give(struct room *r, const struct ask *a, uint32_t devices)
{
    r->slots += (int32_t)a->slots;
    r->cpu_milli += a->cpu_milli;
    r->memory_bytes += a->memory_bytes;
    for (int i = 0; devices >> i; i++)
        if (devices >> i & 1) {
            ASSERT(i < r->gpus && r->milli[i] + a->gpu_milli <= GPU_MILLI);
            r->milli[i] = (uint16_t)(r->milli[i] + a->gpu_milli);
        }
}

void room_sort(struct room *r)
{
    for (int i = 1; i < r->gpus; i++) {
        uint16_t v = r->milli[i];
        int j = i;
        for (; j > 0 && r->milli[j - 1] > v; j--)
            r->milli[j] = r->milli[j - 1];
        r->milli[j] = v;
    }
}
