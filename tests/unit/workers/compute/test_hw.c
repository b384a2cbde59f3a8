/* SPDX-License-Identifier: Apache-2.0 */
/* test_hw.c - cores by affinity and quota; texts of the cgroup files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
