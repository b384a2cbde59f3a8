/* SPDX-License-Identifier: Apache-2.0 */
/* test_thread.c - every item is run once, the queue is bounded, and pool_free finishes what waits. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/thread.h"

enum { ITEMS = 20000 };
static _Atomic int runs[ITEMS];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int at_gate;

static void count(void *ctx, void *item)
{
    (void)ctx;
    runs[(uintptr_t)item]++;
}

static void each_once(void **state)
{
    (void)state;
    struct thread_pool *p = thread_pool_new("test", 4, 64, count, NULL);
    for (uintptr_t i = 0; i < ITEMS; i++)
        while (!thread_pool_submit(p, (void *)i))
            usleep(50);
    thread_pool_free(p);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(runs[i], 1);
    thread_pool_free(NULL);
}

static void wait_at_gate(void *ctx, void *item)
{
    (void)item;
    at_gate++;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    ++*(_Atomic int *)ctx;
}

static void bounded(void **state)
{
    (void)state;
    static _Atomic int done;
    pthread_mutex_lock(&gate);
    struct thread_pool *p = thread_pool_new("a name that is too long", 1, 3, wait_at_gate, &done);
    assert_true(thread_pool_submit(p, NULL));
    while (!at_gate)
        usleep(100);
    for (int i = 0; i < 3; i++)
        assert_true(thread_pool_submit(p, NULL));
    assert_false(thread_pool_submit(p, NULL));
    assert_int_equal(thread_pool_waiting(p), 3);
    pthread_mutex_unlock(&gate);
    thread_pool_free(p);
    assert_int_equal(done, 4);
}

static void what_computes_leaves_half_of_the_processors(void **state)
{
    (void)state;
    static const int rows[][3] = { { 2, 1, 1 }, { 2, 2, 1 }, { 2, 3, 1 }, { 2, 4, 2 }, { 2, 64, 2 }, { 64, 16, 8 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(thread_computing_max(rows[i][0], rows[i][1]), rows[i][2]);
    assert_true(thread_processors() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_once), cmocka_unit_test(bounded),
                                        cmocka_unit_test(what_computes_leaves_half_of_the_processors) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
