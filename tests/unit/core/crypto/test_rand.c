/* SPDX-License-Identifier: Apache-2.0 */
/* test_rand.c - both generators fill all that was asked for, with other bytes each time, in a forked child too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/crypto/rand.h"

enum { BYTES = 4096 };
typedef enum errc (*generator)(void *out, size_t n, struct err *e);
static const generator generators[] = { rand_bytes, rand_key };

/* A byte that is never written stays; one of 4,096 random bytes is 0 in all of eight draws with a chance of 2^-52. */
static void every_byte_is_drawn(void **state)
{
    (void)state;
    for (size_t g = 0; g < 2; g++) {
        uint8_t seen[BYTES] = { 0 }, draw[BYTES + 1];
        int counts[256] = { 0 };
        struct err e;
        for (int i = 0; i < 8; i++) {
            draw[BYTES] = 0xa5;
            memset(draw, 0, BYTES);
            assert_int_equal(generators[g](draw, BYTES, &e), ERR_OK);
            assert_int_equal(draw[BYTES], 0xa5);
            for (int k = 0; k < BYTES; k++)
                seen[k] |= draw[k], counts[draw[k]]++;
        }
        for (int k = 0; k < BYTES; k++)
            assert_int_not_equal(seen[k], 0);
        for (int v = 0; v < 256; v++)                           /* 128 expected, deviation 11 */
            assert_in_range(counts[v], 128 - 100, 128 + 120);
    }
}

static void nothing_is_nothing(void **state)
{
    (void)state;
    for (size_t g = 0; g < 2; g++) {
        uint8_t kept = 7;
        struct err e;
        assert_int_equal(generators[g](&kept, 0, &e), ERR_OK);
        assert_int_equal(kept, 7);
    }
}

static void a_forked_child_draws_its_own(void **state)
{
    (void)state;
    for (size_t g = 0; g < 2; g++) {
        uint8_t own[32], childs[32] = { 0 };
        int ends[2], status;
        struct err e;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(generators[g](own, sizeof own, &e), ERR_OK);       /* seeded before the fork */
        pid_t pid = fork();
        if (pid == 0) {
            bool is_drawn = generators[g](own, sizeof own, &e) == ERR_OK;
            _exit(is_drawn && write(ends[1], own, sizeof own) == sizeof own ? 0 : 1);
        }
        assert_int_equal(generators[g](own, sizeof own, &e), ERR_OK);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(read(ends[0], childs, sizeof childs), sizeof childs);
        close(ends[0]), close(ends[1]);
        assert_memory_not_equal(own, childs, sizeof own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_byte_is_drawn), cmocka_unit_test(nothing_is_nothing),
                                        cmocka_unit_test(a_forked_child_draws_its_own) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
