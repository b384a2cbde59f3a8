/* SPDX-License-Identifier: Apache-2.0 */
/* test_shuffle.c - the generator's known answers, and that every order is a permutation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/rng.h"
#include "workers/compute/train/shuffle.h"

static void test_philox(void **st)
{
    (void)st;
    /* Random123's known answers for philox4x32-10. */
    struct philox z = philox(0, 0, 0), f = philox(UINT64_MAX, UINT64_MAX, UINT64_MAX);
    const uint32_t zero[4] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 }, ones[4] = { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd };
    assert_memory_equal(z.v, zero, sizeof zero);
    assert_memory_equal(f.v, ones, sizeof ones);
    double sum = 0, square = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        double v = philox_normal(3, 1, i);
        sum += v;
        square += v * v;
    }
    assert_true(fabs(sum / 1e5) < 0.012 && fabs(square / 1e5 - 1) < 0.02);
}

static void test_shuffle(void **st)
{
    (void)st;
    static const uint64_t sizes[] = { 1, 2, 3, 4, 5, 16, 17, 100, 1437, 4096, 5001 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint64_t n = sizes[s], same = 0, fixed = 0;
        unsigned char *seen = calloc(n, 1);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = shuffle_at(9, 4, n, i);
            assert_true(at < n);
            assert_false(seen[at]);
            seen[at] = 1;
            fixed += at == i;
            same += at == shuffle_at(9, 5, n, i);
        }
        free(seen);
        if (n >= 100)
            assert_true(fixed < 10 && same < 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox),
        cmocka_unit_test(test_shuffle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
