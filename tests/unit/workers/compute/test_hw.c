/* SPDX-License-Identifier: Apache-2.0 */
/* test_hw.c - cores by affinity and quota; texts of the cgroup files; instructions and memory beside the kernel's word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/hw.h"

static void test_hw(void **st)
{
    (void)st;
    struct hw hw;
    hw_read(&hw);
    assert_true(hw.cores >= 1 && hw.cores <= hw.cpus_allowed && hw.memory_bytes > 0 && hw.memory_limit_bytes <= hw.memory_bytes);
    assert_true(!hw.has_avx512f || hw.has_avx2);
    assert_true(hw_parse_cpu_max("max 100000") == 0 && hw_parse_cpu_max("150000 100000\n") == 1.5);
    assert_true(hw_parse_cpu_max("") == 0 && hw_parse_cpu_max("5") == 0 && hw_parse_cpu_max("-1 100000") == 0);
    assert_true(hw_cores(8, 1.5) == 2 && hw_cores(8, 0) == 8 && hw_cores(2, 16) == 2 && hw_cores(0, 0.1) == 1);
}

/* The value of the first line of /proc/cpuinfo that begins with name, with a space at both ends. */
static void kernel_says(const char *name, char *out, size_t size)
{
    static char line[16384];
    FILE *f = fopen("/proc/cpuinfo", "re");
    assert_non_null(f);
    bool is_found = false;
    while (!is_found && fgets(line, sizeof line, f))
        is_found = !strncmp(line, name, strlen(name));
    fclose(f);
    assert_true(is_found);
    line[strcspn(line, "\n")] = 0;
    snprintf(out, size, " %s ", strchr(line, ':') + 2);
}

/* A backend is chosen by these: one too many and the worker dies of an illegal instruction, one too few and it is slow. */
static void test_what_the_processor_can_is_what_the_kernel_says(void **st)
{
    (void)st;
#if defined(__x86_64__)
    static char flags[16384], model[256];
    kernel_says("flags", flags, sizeof flags);
    kernel_says("model name", model, sizeof model);
    struct hw hw;
    hw_read(&hw);
    const struct {
        const char *word;
        bool has;
    } rows[] = {
        { " fma ", hw.has_fma }, { " f16c ", hw.has_f16c }, { " avx2 ", hw.has_avx2 }, { " avx512f ", hw.has_avx512f },
        { " avx512dq ", hw.has_avx512dq }, { " avx512bw ", hw.has_avx512bw }, { " avx512vl ", hw.has_avx512vl },
        { " avx512_vnni ", hw.has_avx512_vnni }, { " avx512_bf16 ", hw.has_avx512_bf16 }, { " amx_bf16 ", hw.has_amx_bf16 },
        { " amx_tile ", hw.has_amx_tile }, { " amx_int8 ", hw.has_amx_int8 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].has != !!strstr(flags, rows[i].word))
            fail_msg("%s is %d here, and the kernel says %d", rows[i].word, rows[i].has, !rows[i].has);
    char word[128];
    snprintf(word, sizeof word, "%s", hw.cpu_model);
    for (size_t n = strlen(word); n && word[n - 1] == ' '; n--)
        word[n - 1] = 0;
    assert_non_null(strstr(model, word));
#endif
}

static void test_memory_is_what_the_kernel_says(void **st)
{
    (void)st;
    FILE *f = fopen("/proc/meminfo", "re");
    unsigned long long kb = 0;
    assert_true(f && fscanf(f, "MemTotal: %llu kB", &kb) == 1);
    fclose(f);
    struct hw hw;
    hw_read(&hw);
    assert_true(hw.memory_bytes / 1024 == kb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hw),
        cmocka_unit_test(test_what_the_processor_can_is_what_the_kernel_says),
        cmocka_unit_test(test_memory_is_what_the_kernel_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
