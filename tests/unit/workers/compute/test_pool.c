/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - every task once, from many callers at a time, nested too; idle threads use no processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "workers/compute/pool.h"

enum { TASKS = 1000, CALLERS = 6, ROUNDS = 200 };

struct count {
    struct pool *pool;
    _Atomic int hits[TASKS];
};

static void hit(void *ctx, size_t task)
{
    atomic_fetch_add(&((struct count *)ctx)->hits[task], 1);
}

static struct pool *pool_of(int threads)
{
    struct err e;
    struct pool *p = NULL;
    assert_int_equal(pool_new(threads, &p, &e), ERR_OK);
    assert_int_equal(pool_threads(p), threads);
    return p;
}

static void test_every_task_once(void **st)
{
    (void)st;
    for (int threads = 0; threads <= 5; threads++) {
        struct pool *p = threads ? pool_of(threads) : NULL;
        struct count *c = calloc(1, sizeof *c);
        for (size_t tasks = 0; tasks <= TASKS; tasks = tasks * 3 + 1)
            pool_run(p, tasks, hit, c);
        for (size_t i = 0; i < TASKS; i++) {
            int want = 0;
            for (size_t tasks = 0; tasks <= TASKS; tasks = tasks * 3 + 1)
                want += i < tasks;
            assert_int_equal(c->hits[i], want);
        }
        free(c);
        pool_free(p);
    }
}

static void *call_often(void *arg)
{
    struct count *c = arg;
    for (int i = 0; i < ROUNDS; i++)
        pool_run(c->pool, 1 + (size_t)(i * 37 % 200), hit, c);
    return NULL;
}

static void test_many_callers(void **st)
{
    (void)st;
    struct pool *p = pool_of(4);
    struct count *c[CALLERS];
    pthread_t t[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        c[i] = calloc(1, sizeof **c);
        c[i]->pool = p;
        assert_int_equal(pthread_create(&t[i], NULL, call_often, c[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(t[i], NULL);
        long want = 0, got = 0;
        for (int r = 0; r < ROUNDS; r++)
            want += 1 + r * 37 % 200;
        for (size_t k = 0; k < TASKS; k++)
            got += c[i]->hits[k];
        assert_int_equal(got, want);
        free(c[i]);
    }
    pool_free(p);
}

static void hit_inside(void *ctx, size_t task)
{
    (void)task;
    pool_run(((struct count *)ctx)->pool, 10, hit, ctx);
}

static void test_nested(void **st)
{
    (void)st;
    struct count *c = calloc(1, sizeof *c);
    c->pool = pool_of(3);
    pool_run(c->pool, 50, hit_inside, c);
    for (int i = 0; i < 10; i++)
        assert_int_equal(c->hits[i], 50);
    pool_free(c->pool);
    free(c);
}

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int here, wanted;
};

static void meet(void *ctx, size_t task)
{
    struct meeting *m = ctx;
    (void)task;
    pthread_mutex_lock(&m->lock);
    if (++m->here == m->wanted)
        pthread_cond_broadcast(&m->all_here);
    while (m->here < m->wanted)
        pthread_cond_wait(&m->all_here, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

/* Tasks that end only when all of them run: without helpers this would hang. */
static void test_helpers_help(void **st)
{
    (void)st;
    struct pool *p = pool_of(4);
    struct meeting m = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 4 };
    pool_run(p, 4, meet, &m);
    assert_int_equal(m.here, 4);
    pool_free(p);
}

static int64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Processor time, not the clock of the wall: helpers that spun through 200 ms of sleep would use many times what is allowed. */
static void test_idle_threads_sleep(void **st)
{
    (void)st;
    struct pool *p = pool_of(4);
    struct count *c = calloc(1, sizeof *c);
    pool_run(p, TASKS, hit, c);
    int64_t before = cpu_us();
    usleep(200000);
    assert_true(cpu_us() - before < 20000);
    free(c);
    pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_once), cmocka_unit_test(test_many_callers),       cmocka_unit_test(test_nested),
        cmocka_unit_test(test_helpers_help),    cmocka_unit_test(test_idle_threads_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
