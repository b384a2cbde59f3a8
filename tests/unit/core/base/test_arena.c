/* SPDX-License-Identifier: Apache-2.0 */
/* test_arena.c - zeroed, aligned, limited, undone in reverse. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/arena.h"

/* Blocks of random sizes must not overlap, must be zeroed and aligned. */
static void random_sizes(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    unsigned char *p[500];
    size_t n[500];
    srand(1);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 500; i++) {
            n[i] = (size_t)rand() % (i % 50 ? 300 : 20000);
            p[i] = arena_alloc(a, n[i]);
            assert_int_equal((uintptr_t)p[i] % 16, 0);
            for (size_t k = 0; k < n[i]; k++)
                assert_int_equal(p[i][k], 0);
            memset(p[i], i & 255, n[i]);
        }
        for (int i = 0; i < 500; i++)
            for (size_t k = 0; k < n[i]; k++)
                assert_int_equal(p[i][k], i & 255);
        arena_reset(a);
        assert_int_equal(arena_used(a), 0);
    }
    arena_free(a);
}

static void limit(void **state)
{
    (void)state;
    struct arena *a = arena_new(1000);
    assert_null(arena_try(a, 1001));
    assert_null(arena_try(a, SIZE_MAX));
    assert_null(arena_try(a, SIZE_MAX - 8));
    assert_non_null(arena_try(a, 900));
    assert_null(arena_try(a, 200));
    assert_non_null(arena_try(a, 0));
    arena_reset(a);
    assert_non_null(arena_try(a, 990));
    arena_free(a);
    arena_free(NULL);
}

static void past_the_limit_is_a_bug(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        struct arena *a = arena_new(64);
        arena_alloc(a, 65);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static char order[8];

static void note(void *p)
{
    strcat(order, p);
}

static void defers(void **state)
{
    (void)state;
    struct arena *a = arena_new(4096);
    arena_defer(a, note, "a");
    arena_defer(a, note, "b");
    arena_reset(a);
    assert_string_equal(order, "ba");
    arena_defer(a, note, "c");
    arena_freep(&a);
    assert_string_equal(order, "bac");
    assert_null(a);
}

static void text(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    assert_string_equal(arena_strndup(a, "abc", 2), "ab");
    assert_string_equal(arena_strndup(a, "", 0), "");
    assert_string_equal(arena_printf(a, "%d-%s", 7, "x"), "7-x");
    char *big = arena_printf(a, "%5000d", 1);
    assert_int_equal(strlen(big), 5000);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_sizes), cmocka_unit_test(limit),
                                        cmocka_unit_test(past_the_limit_is_a_bug), cmocka_unit_test(defers), cmocka_unit_test(text) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
