/* SPDX-License-Identifier: Apache-2.0 */
/* energy.h - the energy that leases take, measured: of processors by RAPL through powercap, of cards by NVML's counters.
 *
 * Of processors: what all packages of the machine (with their memory, where that has a counter of its own) took between two
 * looks, in the share that the lease's processor time has in that of the whole machine (/proc/stat). So idle power goes to
 * whom the machine works for, and what leases have together is never more than what was measured. Of cards: what each of the
 * lease's took meanwhile, in its thousandths of the card. A lease is looked at every
 * LOOK_US, sooner than a counter may wrap.
 * What cannot be read is not measured, and nobody guesses: has_cpu or has_gpu is false, for good once a look has failed. The
 * counters are root's to read since Linux 5.10; an agent of another account measures no processor.
 * Calling order: energy_new -> (energy_begin -> energy_look* of one lease, on its thread) -> energy_free. Any number of
 * leases.
 * Sources: Linux, Documentation/power/powercap/powercap.rst; proc(5); NVML API Reference. */
#pragma once
#include "workers/agent/cards.h"

enum { ENERGY_LOOK_US = 20 * 1000000, ENERGY_UNKNOWN = -1 };

struct energy;

struct energy_use {                     /* of one lease */
    bool has_cpu, has_gpu;              /* measured so far. Without cards has_gpu is false */
    double cpu_uj, gpu_mj;
    int64_t next_us;                    /* when to look again; INT64_MAX: nothing is measured */
    uint64_t devices;                   /* the rest is energy.c's */
    int64_t gpu_milli, last_cpu_us;
    double last_uj, last_busy_us, first_mj;
};

/* powercap, stat: "/sys/class/powercap", "/proc/stat"; tests put files in their place. powercap "": processors are not measured.
 * cards: borrowed; NULL: no card is measured. */
struct energy *energy_new(const char *powercap, const char *stat, const struct cards *cards);
void energy_free(struct energy *m);
bool energy_has_cpu(const struct energy *m);
/* m NULL: nothing is measured. devices: those of the lease; gpu_milli: its thousandths of each. */
void energy_begin(struct energy *m, struct energy_use *u, uint64_t devices, int64_t gpu_milli, int64_t now_us);
/* Millijoules of all that the lease has, as of the last look; false: a part of it is not measured. */
bool energy_total(const struct energy_use *u, double *ret_mj);
/* cpu_us: the lease's processor time since it began; ENERGY_UNKNOWN: it is told later, so counters alone are read, and the next
 * look that is told shares out all since the last one. Also at its end. */
void energy_look(struct energy *m, struct energy_use *u, int64_t cpu_us, int64_t now_us);
