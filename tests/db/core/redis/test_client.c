/* SPDX-License-Identifier: Apache-2.0 */
/* Wake-ups and rate limits over a real Redis that goes away and comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/redis/client.h"
#include "core/redis/rate.h"
#include "core/redis/wake.h"
#include "tests/db/harness.h"
#include "tests/lib/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static struct redis_harness *redis;
static struct redis_opts opts;

static int setup(void **state)
{
    (void)state;
    redis = redis_harness_new("pass word");
    opts = (struct redis_opts){ .address = redis_harness_address(redis), .password = "pass word" };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    redis_harness_free(redis);
    return 0;
}

struct heard {
    atomic_int resets, wakes, last;
};

static void hear(void *ctx, struct str channel, struct str payload)
{
    struct heard *h = ctx;
    int64_t n = 0;
    if (!channel.ptr) {
        atomic_fetch_add(&h->resets, 1);
        return;
    }
    str_to_i64(payload, 0, 1 << 30, &n);
    atomic_store(&h->last, (int)n);
    atomic_fetch_add(&h->wakes, 1);
}

static bool reaches(atomic_int *v, int want)
{
    WAIT_WHILE(atomic_load(v) < want);
    return atomic_load(v) >= want;
}

static bool is_up_soon(struct redis_client *c, bool want)
{
    WAIT_WHILE(redis_is_up(c) != want);
    return redis_is_up(c) == want;
}

static void publish(struct redis_client *c, const char *channel, int n)
{
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    wake_publish(c, str_c(channel), str_c(text));
}

static void test_wake_coalesces_and_survives(void **state)
{
    (void)state;
    struct heard h = { 0 };
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&opts);
    CLEANUP(wake_listener_freep) struct wake_listener *l = wake_listener_new(&opts, (const char *const[]){ "jobs", "node:*" }, 2, hear, &h);
    assert_true(is_up_soon(c, true) && reaches(&h.resets, 1) && wake_listener_is_up(l));
    struct err e;
    assert_int_equal(redis_ping(c, 50, &e), ERR_OK);
    for (int i = 1; i <= 20000; i++)
        publish(c, "jobs", i);
    assert_true(reaches(&h.last, 20000));
    assert_true(atomic_load(&h.wakes) < 10000);         /* many became one, and the last one came */
    atomic_store(&h.last, 0);
    publish(c, "node:7", 77);
    assert_true(reaches(&h.last, 77));
    publish(c, "other", 5);

    redis_harness_stop(redis);
    assert_true(is_up_soon(c, false));
    int64_t start = clock_mono_us(&clock_system);
    for (int i = 0; i < 1000; i++)
        publish(c, "jobs", i);
    assert_int_equal(redis_ping(c, 50, &e), ERR_UNAVAILABLE);
    assert_true(clock_mono_us(&clock_system) - start < 25000000);   /* nobody waits: 50 ms each would be 50 s */
    redis_harness_start(redis);
    assert_true(is_up_soon(c, true) && reaches(&h.resets, 2));
    publish(c, "jobs", 123456);
    assert_true(reaches(&h.last, 123456));
    wake_publish(NULL, STR("jobs"), STR("1"));
}

static void test_wrong_password_is_down(void **state)
{
    (void)state;
    CLEANUP(redis_client_freep) struct redis_client *c =
        redis_client_new(&(struct redis_opts){ .address = redis_harness_address(redis), .password = "no" });
    assert_true(is_up_soon(c, false));
    usleep(50000);
    assert_false(redis_is_up(c));
}

static void store(void *ctx, bool ok, int64_t value)
{
    atomic_store((atomic_int *)ctx, ok ? (int)value + 1000 : 1);
}

static void test_wrong_reply_type_closes(void **state)
{
    (void)state;
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&opts);
    assert_true(is_up_soon(c, true));
    atomic_int got = 0;
    assert_true(redis_send(c, (const struct str[]){ STR("INCRBY"), STR("n"), STR("7") }, 3, REDIS_INT, store, &got));
    assert_true(reaches(&got, 1007));
    atomic_store(&got, 0);
    assert_true(redis_send(c, (const struct str[]){ STR("ECHO"), STR("x") }, 2, REDIS_INT, store, &got));
    assert_true(reaches(&got, 1));
    assert_int_equal(atomic_load(&got), 1);
    assert_true(is_up_soon(c, true));
    struct redis_stats st;
    redis_client_stats(c, &st);
    assert_int_equal(st.connects, 2);
}

static int64_t fake_us;
static int64_t fake_now(void *ctx)
{
    (void)ctx;
    return fake_us;
}
static const struct clock fake_clock = { fake_now, fake_now, NULL };

static void test_local_bucket(void **state)
{
    (void)state;
    fake_us = 1000000;
    CLEANUP(rate_limiter_freep) struct rate_limiter *l = rate_limiter_new(&fake_clock, NULL, 64);
    struct rate_rule rule = { 2, 5 };
    struct rate_result r;
    for (int i = 0; i < 5; i++)
        assert_true(rate_take(l, STR("a"), rule, 1, &r) && r.remaining == 4 - i && r.limit == 5);
    assert_false(rate_take(l, STR("a"), rule, 1, &r));
    assert_true(r.remaining == 0 && r.reset_s == 1);
    assert_true(rate_take(l, STR("b"), rule, 5, &r));
    assert_false(rate_take(l, STR("a"), rule, 4, &r));
    assert_int_equal(r.reset_s, 2);
    fake_us += 500000;
    assert_true(rate_take(l, STR("a"), rule, 1, &r));
    assert_false(rate_take(l, STR("a"), rule, 1, &r));
    fake_us += 100000000;
    assert_true(rate_take(l, STR("a"), rule, 0, &r) && r.remaining == 5);
    assert_true(rate_take(l, str_c("a key that is longer than one hundred and twenty-eight bytes, which is shortened by a hash instead of "
                                   "being refused or cut off at the end"), rule, 1, &r));
    /* More keys than the table has: still limited, never a crash. */
    int allowed = 0;
    for (int i = 0; i < 10000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        allowed += rate_take(l, str_c(key), rule, 5, &r);
        assert_false(rate_take(l, str_c(key), rule, 1, &r));
    }
    assert_int_equal(allowed, 10000);
}

static void test_shared_hint(void **state)
{
    (void)state;
    CLEANUP(redis_client_freep) struct redis_client *ca = redis_client_new(&opts), *cb = redis_client_new(&opts);
    assert_true(is_up_soon(ca, true) && is_up_soon(cb, true));
    struct rate_limiter *a = rate_limiter_new(&clock_system, ca, 0), *b = rate_limiter_new(&clock_system, cb, 0);
    struct rate_rule rule = { 0.001, 100 };
    struct rate_result r;
    assert_true(rate_take(b, STR("t"), rule, 1, &r) && r.remaining == 99);
    assert_true(rate_take(a, STR("t"), rule, 60, &r));
    int64_t left = 99;
    for (int i = 0; i < 100 && left > 50; i++) {        /* b learns when it tells of its own next token */
        usleep(50000);
        rate_take(b, STR("t"), rule, 1, &r);
        left = r.remaining;
    }
    assert_true(left <= 50);
    redis_harness_stop(redis);
    assert_true(is_up_soon(cb, false));
    int allowed = 0;
    for (int i = 0; i < 1000; i++)
        allowed += rate_take(b, STR("t"), rule, 1, &r);
    assert_true(allowed <= 50);                         /* without Redis: the local bucket, never unlimited */
    redis_harness_start(redis);
    assert_true(is_up_soon(cb, true));
    rate_limiter_free(a);
    rate_limiter_free(b);
}

/* How many of twenty calls two processes let through together. */
static int taken(struct rate_limiter *const both[2], const char *key, struct rate_rule rule)
{
    struct rate_result r;
    int n = 0;
    for (int i = 0; i < 20; i++)
        n += rate_take(both[i % 2], str_c(key), rule, 1, &r);
    return n;
}

static void test_without_redis_each_has_its_part(void **state)
{
    (void)state;
    fake_us = 1000000;
    struct redis_client *clients[2] = { redis_client_new(&opts), redis_client_new(&opts) };
    struct rate_limiter *both[2];
    struct rate_rule rule = { 1, 8 };
    struct rate_result r;
    for (int i = 0; i < 2; i++) {
        assert_true(is_up_soon(clients[i], true));
        both[i] = rate_limiter_new(&fake_clock, clients[i], 64);
        rate_limiter_share(both[i], 2);
    }
    assert_true(rate_take(both[0], STR("old"), rule, 1, &r) && r.limit == 8 && r.remaining == 7);
    redis_harness_stop(redis);
    assert_true(is_up_soon(clients[0], false) && is_up_soon(clients[1], false));
    assert_int_equal(taken(both, "new", rule), 8);          /* both together what the rule allows one */
    assert_int_equal(taken(both, "old", rule), 8);          /* what was left from better times is cut to the part */
    assert_false(rate_take(both[0], STR("new"), rule, 1, &r));
    assert_true(r.limit == 4 && r.remaining == 0 && r.reset_s == 2);
    fake_us += 2000000;
    assert_int_equal(taken(both, "new", rule), 2);          /* each earns at half the speed */
    assert_int_equal(taken(both, "one", (struct rate_rule){ 1, 1 }), 2);    /* a part is one at least, or nobody could ever call */
    redis_harness_start(redis);
    assert_true(is_up_soon(clients[0], true) && is_up_soon(clients[1], true));
    assert_true(rate_take(both[0], STR("later"), rule, 1, &r) && r.limit == 8 && r.remaining == 7);
    for (int i = 0; i < 2; i++) {
        rate_limiter_free(both[i]);
        redis_client_free(clients[i]);
    }
}

static void *take_many(void *arg)
{
    struct rate_result r;
    long n = 0;
    for (int i = 0; i < 20000; i++)
        n += rate_take(arg, STR("x"), (struct rate_rule){ 0.001, 1000 }, 1, &r);
    return (void *)n;
}

static void test_threads_take_no_more_than_there_is(void **state)
{
    (void)state;
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&opts);
    struct rate_limiter *l = rate_limiter_new(&clock_system, c, 0);
    pthread_t t[4];
    long sum = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, take_many, l);
    for (int i = 0; i < 4; i++) {
        void *n;
        pthread_join(t[i], &n);
        sum += (long)n;
    }
    assert_int_equal(sum, 1000);
    rate_limiter_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wake_coalesces_and_survives), cmocka_unit_test(test_wrong_password_is_down),
        cmocka_unit_test(test_wrong_reply_type_closes),     cmocka_unit_test(test_local_bucket),
        cmocka_unit_test(test_shared_hint),                 cmocka_unit_test(test_threads_take_no_more_than_there_is),
        cmocka_unit_test(test_without_redis_each_has_its_part),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
