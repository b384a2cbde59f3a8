/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_cases.h - machines and jobs by chance, alike in every test of placement: few sizes, as in a real cluster, so that rooms
 * repeat. */
#pragma once
#include <string.h>
#include "scheduler/plan/random.h"
#include "scheduler/plan/resource.h"

static inline struct groups every_group(void)
{
    struct groups g;
    memset(&g, 0xff, sizeof g);
    return g;
}

static inline struct room machine_of(int64_t cpu_milli, int gpus, unsigned group)
{
    struct room r = { .cpu_milli = cpu_milli, .memory_bytes = cpu_milli << 22, .group = (uint16_t)group, .gpus = (uint16_t)gpus };
    for (int i = 0; i < gpus; i++)
        r.milli[i] = GPU_MILLI;
    return r;
}

static inline struct ask ask_of(int64_t cpu_milli, int gpus, int gpu_milli)
{
    return (struct ask){ cpu_milli, cpu_milli << 20, gpus, gpu_milli, every_group() };
}

static inline struct room any_machine(struct random *r)
{
    static const int gpus[] = { 0, 1, 2, 4, 8, 8, 8, 16 };
    int n = gpus[random_below(r, 8)];
    return machine_of(16000 + (int64_t)random_below(r, 4) * 32000, n, (unsigned)random_below(r, 3));
}

static inline struct ask any_ask(struct random *r)
{
    static const int shares[] = { 110, 230, 320, 470, 810, 1000 };
    int64_t cpu = 1000 + (int64_t)random_below(r, 8) * 1500;
    struct ask a = ask_of(cpu, 1, shares[random_below(r, 6)]);
    if (random_below(r, 5) == 0)
        a = ask_of(cpu, 0, 0);
    else if (random_below(r, 8) == 0)
        a = ask_of(cpu, 1 << (1 + random_below(r, 3)), 1000);
    if (random_below(r, 4) == 0) {
        a.groups = (struct groups){ 0 };
        groups_add(&a.groups, (unsigned)random_below(r, 3));
    }
    return a;
}
