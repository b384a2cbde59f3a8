/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h - what a job asks of one machine, what a machine has free, and whether the one goes into the other.
 *
 * Units: processors in thousandths (cpu_milli), memory in bytes, GPUs as devices with 1000 thousandths each. A job asks for no
 * GPU, for a share of
 * one (gpus 1, gpu_milli 1 … 1000), or for whole ones (gpus n, gpu_milli 1000); shares of several devices are not asked for. A
 * share lies on one
 * device. Machines that differ in what a job may choose by (model, zone, pool …) belong to different groups; an ask holds the
 * set of groups that
 * it accepts, so this file knows neither names nor rules.
 *
 * Invariant: 0 <= milli[i] <= 1000, free never below 0: resource_take asserts that what it takes fits. Pure; integers only; no
 * memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { GPU_MILLI = 1000, MACHINE_GPUS_MAX = 16, GROUPS_MAX = 256, SLOTS_MAX = 1 << 30 };
/* Above these a sum of a fleet could pass 63 bits: 2^40 thousandths of a processor, 2^56 bytes on one machine. */
#define CPU_MILLI_MAX ((int64_t)1 << 40)
#define MEMORY_BYTES_MAX ((int64_t)1 << 56)

struct groups { uint64_t w[GROUPS_MAX / 64]; };

struct ask {
    int64_t cpu_milli, memory_bytes;
    int32_t gpus, gpu_milli;            /* 0 0; 1 1…1000; n 1000 */
    struct groups groups;
    int64_t slots;                      /* leases at once, as the machine's agent counts them */
};

/* What a machine has free, or all that it has. */
struct room {
    int64_t cpu_milli, memory_bytes;
    uint16_t group, gpus;
    uint16_t milli[MACHINE_GPUS_MAX];   /* by device; 0 beyond gpus */
    int32_t slots;
};

static inline bool groups_has(const struct groups *g, unsigned group)
{
    return g->w[group / 64] >> group % 64 & 1;
}

static inline void groups_add(struct groups *g, unsigned group)
{
    g->w[group / 64] |= (uint64_t)1 << group % 64;
}

/* The invariants of the picture above hold. */
bool ask_is_valid(const struct ask *a);
bool room_is_valid(const struct room *r);

/* Thousandths of all its GPUs together. */
int32_t room_milli(const struct room *r);
int32_t ask_milli(const struct ask *a);

bool resource_fits(const struct room *r, const struct ask *a);
/* Devices for the ask, as a bit mask: for a share the first device with exactly `level` thousandths free, for whole ones the
 * first free ones.
 * 0 where the ask has no GPU. The ask must fit; a share's level must be there and sufficient. */
uint32_t resource_devices(const struct room *r, const struct ask *a, int level);
/* Takes the ask's share on those devices, or gives it back. */
void resource_take(struct room *r, const struct ask *a, uint32_t devices);
void resource_give(struct room *r, const struct ask *a, uint32_t devices);

/* The same room with its devices in ascending order: machines that differ only in the numbers of their devices are alike. */
void room_sort(struct room *r);
