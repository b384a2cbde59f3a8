/* SPDX-License-Identifier: Apache-2.0 */
/* hw.h - what this machine lets a process use: instruction sets, cores, memory.
 *
 * A feature counts only if the processor has it (CPUID) AND the kernel saves its registers (XGETBV). Cores are the smaller of the
 * affinity mask and the cgroup's CPU quota, because a pool sized to the host but throttled to a quota is slower than a small one.
 * Reads /proc and /sys once; a file that is missing counts as "no limit". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct hw {
    char cpu_model[64];
    bool has_avx2, has_fma, has_f16c;
    bool has_avx512f, has_avx512bw, has_avx512dq, has_avx512vl, has_avx512_vnni, has_avx512_bf16;
    bool has_amx_tile, has_amx_int8, has_amx_bf16;  /* instructions; permission is asked for by the kernel that uses them */
    int cpus_allowed;                               /* sched_getaffinity */
    double cpu_quota;                               /* cores by the cgroup; 0: none */
    int cores;                                      /* to use: min of both, rounded up, at least 1 */
    uint64_t memory_bytes;                          /* of the machine */
    uint64_t memory_limit_bytes;                    /* the smaller of that and the cgroup's limit */
};

void hw_read(struct hw *ret);
/* Pure parts, for tests: cgroup v2 "max 100000" or "150000 100000"; 0: no quota. */
double hw_parse_cpu_max(const char *text);
int hw_cores(int cpus_allowed, double cpu_quota);
