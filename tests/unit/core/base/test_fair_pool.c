/* SPDX-License-Identifier: Apache-2.0 */
/* test_fair_pool.c - owners take turns by what they cost, none has more than its share of threads, and every item is run once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/fair_pool.h"

enum { LOG_MAX = 4096, OWNERS = 8 };

struct item { int owner; int64_t spin_us; bool waits; };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int at_gate, done, began, running[OWNERS], most[OWNERS];
static _Atomic int order[LOG_MAX];
/* the last two: of owners 1 and 2, while both have work */
static _Atomic int64_t charged[OWNERS], tasks_of[OWNERS], dearest, apart_most;

static struct uuid owner_id(int n)
{
    return (struct uuid){ { (uint8_t)n, 7, 7 } };
}

static void task(void *ctx, void *arg)
{
    (void)ctx;
    struct item *it = arg;
    int now = ++running[it->owner], at = began++;
    if (now > most[it->owner])
        most[it->owner] = now;
    if (at < LOG_MAX)
        order[at] = it->owner;
    if (it->waits) {
        at_gate++;
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    int64_t until = clock_mono_us(&clock_system) + it->spin_us;
    while (it->spin_us && clock_mono_us(&clock_system) < until)
        continue;
    running[it->owner]--;
    free(it);
    done++;
}

static void cost(void *ctx, struct uuid owner, int64_t us)
{
    (void)ctx;
    int n = owner.b[0];
    charged[n] += us;
    tasks_of[n]++;
    dearest = us > dearest ? us : dearest;
    int64_t apart = llabs(charged[1] - charged[2]);
    if ((n == 1 || n == 2) && tasks_of[1] < 200 && tasks_of[2] < 20 && apart > apart_most)
        apart_most = apart;
}

static bool give(struct fair_pool *p, int owner, int64_t spin_us, bool waits)
{
    struct item *it = malloc(sizeof *it);
    *it = (struct item){ owner, spin_us, waits };
    bool ok = fair_pool_submit(p, owner_id(owner), it);
    if (!ok)
        free(it);
    return ok;
}

static struct fair_pool *pool(int threads, int owner_running, size_t queue, size_t owner_queue)
{
    at_gate = done = began = 0;
    dearest = apart_most = 0;
    for (int i = 0; i < OWNERS; i++) {
        running[i] = most[i] = 0;
        charged[i] = tasks_of[i] = 0;
    }
    return fair_pool_new(&(struct fair_pool_opts){ .name = "a name that is too long", .threads = threads,
        .owner_running = owner_running,
        .queue_max = queue, .owner_queue_max = owner_queue, .task = task, .cost = cost });
}

static void until(_Atomic int *what, int n)
{
    while (*what < n)
        usleep(100);
}

static void each_once(void **state)
{
    (void)state;
    struct fair_pool *p = pool(4, 3, 64, 0);
    for (int i = 0; i < 20000; i++)
        while (!give(p, i % OWNERS, 0, false))
            usleep(50);
    fair_pool_free(p);
    assert_int_equal(done, 20000);
    fair_pool_free(NULL);
}

static void an_owner_has_its_share_of_threads(void **state)
{
    (void)state;
    pthread_mutex_lock(&gate);
    struct fair_pool *p = pool(4, 3, 64, 0);
    for (int i = 0; i < 10; i++)
        assert_true(give(p, 1, 0, true));
    until(&at_gate, 3);
    assert_true(give(p, 2, 0, false));
    until(&done, 1);                        /* while all that owner 1 may have stands still */
    assert_int_equal(at_gate, 3);
    struct fair_pool_stats s;
    fair_pool_stats(p, &s);
    assert_int_equal(s.waiting, 7);
    pthread_mutex_unlock(&gate);
    fair_pool_free(p);
    assert_int_equal(done, 11);
    assert_int_equal(most[1], 3);
}

static void nobody_waits_behind_anothers_queue(void **state)
{
    (void)state;
    pthread_mutex_lock(&gate);
    struct fair_pool *p = pool(1, 0, 4096, 0);
    assert_true(give(p, 0, 0, true));
    until(&at_gate, 1);
    for (int i = 0; i < 1000; i++)
        assert_true(give(p, 1, 0, false));
    assert_true(give(p, 2, 0, false));
    pthread_mutex_unlock(&gate);
    fair_pool_free(p);
    int place = 0;
    while (order[place] != 2)
        place++;
    assert_in_range(place, 1, 2);           /* the gate's, one of the thousand at most, and then it */
}

/* Tasks of 1 ms beside tasks of 20 ms: while both have work they have equal time, whatever a task really took. */
static void turns_are_by_cost(void **state)
{
    (void)state;
    pthread_mutex_lock(&gate);
    struct fair_pool *p = pool(1, 0, 4096, 0);
    assert_true(give(p, 0, 0, true));
    until(&at_gate, 1);
    for (int i = 0; i < 200; i++)
        assert_true(give(p, 1, 1000, false));
    for (int i = 0; i < 20; i++)
        assert_true(give(p, 2, 20000, false));
    pthread_mutex_unlock(&gate);
    fair_pool_free(p);
    assert_true(charged[1] >= 200 * 1000 && charged[2] >= 20 * 20000);
    assert_true(apart_most <= 2 * dearest + 20000);
}

static void queues_are_bounded(void **state)
{
    (void)state;
    pthread_mutex_lock(&gate);
    struct fair_pool *p = pool(1, 0, 5, 3);
    assert_true(give(p, 0, 0, true));
    until(&at_gate, 1);
    for (int i = 0; i < 3; i++)
        assert_true(give(p, 1, 0, false));
    assert_false(give(p, 1, 0, false));     /* its own */
    assert_true(give(p, 2, 0, false));
    assert_true(give(p, 3, 0, false));
    assert_false(give(p, 4, 0, false));     /* of all */
    pthread_mutex_unlock(&gate);
    fair_pool_free(p);
    assert_int_equal(done, 6);
}

/* More owners than are remembered: none with work is forgotten. */
static void many_owners(void **state)
{
    (void)state;
    struct fair_pool *p = pool(2, 1, 64, 0);
    for (int i = 0; i < 10000; i++) {
        struct item *it = calloc(1, sizeof *it);
        struct uuid id = { { (uint8_t)(i & 7), (uint8_t)(i >> 8), (uint8_t)i } };
        while (!fair_pool_submit(p, id, it))
            usleep(50);
    }
    fair_pool_free(p);
    assert_int_equal(done, 10000);
}

static _Atomic int nice_seen;

static void see_nice(void *ctx, void *arg)
{
    (void)ctx, (void)arg;
    nice_seen = getpriority(PRIO_PROCESS, 0);
    done++;
}

/* Only its own threads stand back. */
static void a_pool_stands_back(void **state)
{
    (void)state;
    int own = getpriority(PRIO_PROCESS, 0), nices[] = { 0, 3 };
    for (int i = 0; i < 2; i++) {
        done = 0;
        struct fair_pool *p = fair_pool_new(&(struct fair_pool_opts){ .name = "nice", .threads = 1, .nice = nices[i],
            .queue_max = 1, .task = see_nice });
        assert_true(fair_pool_submit(p, owner_id(1), &done));
        fair_pool_free(p);
        assert_int_equal(nice_seen, own + nices[i] < 19 ? own + nices[i] : 19);
    }
    assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_once), cmocka_unit_test(an_owner_has_its_share_of_threads),
                                        cmocka_unit_test(nobody_waits_behind_anothers_queue), cmocka_unit_test(turns_are_by_cost),
                                        cmocka_unit_test(queues_are_bounded), cmocka_unit_test(many_owners),
                                        cmocka_unit_test(a_pool_stands_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
