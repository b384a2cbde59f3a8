/* SPDX-License-Identifier: Apache-2.0 */
/* hw.c - CPUID leaves 1, 7.0, 7.1 and 0x80000002…4, XCR0 by XGETBV (Intel SDM vol. 1, 13.3 and 14.3), cgroup v2 then v1.
 *
 * XCR0 bits: 1 SSE, 2 AVX, 5-7 AVX-512 (opmask, upper halves, upper sixteen), 17-18 AMX tiles. The cgroup of this process may
 * be nested: every level from its own to the root is read, and the tightest limit holds. */
#include "workers/compute/hw.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xE6, XCR0_AMX = 0x60000 };

#if defined(__x86_64__)
static uint64_t read_xcr0(void)
{
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

static void read_model(struct hw *hw)
{
    unsigned r[12] = { 0 };
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002u + i, &r[4 * i], &r[4 * i + 1], &r[4 * i + 2], &r[4 * i + 3]))
            return;
    memcpy(hw->cpu_model, r, sizeof r);
    hw->cpu_model[sizeof r] = '\0';
}

static void read_features(struct hw *hw)
{
    unsigned a, b, c, d, sub_a = 0, sub_b, sub_c, sub_d;
    read_model(hw);
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    uint64_t xcr0 = read_xcr0();
    bool os_avx = (xcr0 & XCR0_AVX) == XCR0_AVX, os_512 = (xcr0 & XCR0_AVX512) == XCR0_AVX512;
    bool os_amx = (xcr0 & XCR0_AMX) == XCR0_AMX;
    hw->has_fma = os_avx && (c & bit_FMA);
    hw->has_f16c = os_avx && (c & bit_F16C);
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return;
    hw->has_avx2 = os_avx && (b & bit_AVX2);
    hw->has_avx512f = os_512 && (b & bit_AVX512F);
    hw->has_avx512dq = os_512 && (b & bit_AVX512DQ);
    hw->has_avx512bw = os_512 && (b & bit_AVX512BW);
    hw->has_avx512vl = os_512 && (b & bit_AVX512VL);
    hw->has_avx512_vnni = os_512 && (c & (1u << 11));
    hw->has_amx_bf16 = os_amx && (d & (1u << 22));
    hw->has_amx_tile = os_amx && (d & (1u << 24));
    hw->has_amx_int8 = os_amx && (d & (1u << 25));
    if (a >= 1 && __get_cpuid_count(7, 1, &sub_a, &sub_b, &sub_c, &sub_d))
        hw->has_avx512_bf16 = os_512 && (sub_a & (1u << 5));
}
#else
static void read_features(struct hw *hw)
{
    (void)hw;
}
#endif

static bool read_file(const char *path, char *out, size_t cap)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(out, 1, cap - 1, f);
    fclose(f);
    out[n] = '\0';
    return n > 0;
}

double hw_parse_cpu_max(const char *text)
{
    char *end;
    if (!strncmp(text, "max", 3))
        return 0;
    double quota = strtod(text, &end);
    double period = end == text ? 0 : strtod(end, NULL);
    return quota > 0 && period > 0 ? quota / period : 0;
}

int hw_cores(int cpus_allowed, double cpu_quota)
{
    int by_quota = cpu_quota > 0 ? (int)(cpu_quota + 0.999) : cpus_allowed;
    int cores = by_quota < cpus_allowed ? by_quota : cpus_allowed;
    return cores > 0 ? cores : 1;
}

/* The path after the last "::" or ":<controller>:" of /proc/self/cgroup; "" at the root. */
static void own_cgroup(const char *marker, char *out, size_t cap)
{
    char text[4096];
    out[0] = '\0';
    if (!read_file("/proc/self/cgroup", text, sizeof text))
        return;
    const char *at = strstr(text, marker);
    if (!at)
        return;
    at += strlen(marker);
    size_t n = strcspn(at, "\n");
    if (n > 1 && n < cap) {
        memcpy(out, at, n);
        out[n] = '\0';
    }
}

static void tighten(double *limit, double v)
{
    if (v > 0 && (*limit == 0 || v < *limit))
        *limit = v;
}

static void read_cgroup2(double *quota, double *memory)
{
    char rel[1024], path[1200], text[128];
    own_cgroup("0::", rel, sizeof rel);
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", rel);
        if (read_file(path, text, sizeof text))
            tighten(quota, hw_parse_cpu_max(text));
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", rel);
        if (read_file(path, text, sizeof text))
            tighten(memory, strtod(text, NULL));       /* "max" reads as 0: none */
        char *slash = strrchr(rel, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

static void read_cgroup1(double *quota, double *memory)
{
    char text[128], period[128];
    if (read_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", text, sizeof text)
        && read_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, sizeof period) && strtod(period, NULL) > 0)
        tighten(quota, strtod(text, NULL) / strtod(period, NULL));      /* -1: none */
    if (read_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", text, sizeof text))
        tighten(memory, strtod(text, NULL));
}

void hw_read(struct hw *ret)
{
    struct hw hw = { 0 };
    double memory = 0;
    read_features(&hw);
    cpu_set_t set;
    CPU_ZERO(&set);
    hw.cpus_allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    read_cgroup2(&hw.cpu_quota, &memory);
    read_cgroup1(&hw.cpu_quota, &memory);
    hw.cores = hw_cores(hw.cpus_allowed, hw.cpu_quota);
    hw.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    hw.memory_limit_bytes = memory > 0 && memory < (double)hw.memory_bytes ? (uint64_t)memory : hw.memory_bytes;
    *ret = hw;
}
