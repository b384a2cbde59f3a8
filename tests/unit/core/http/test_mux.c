/* SPDX-License-Identifier: Apache-2.0 */
/* test_mux.c - calls under way together: each is told once, and every limit is kept. */
#include "mux_kit.h"

static void calls_are_under_way_together(void **state)
{
    (void)state;
    enum { N = 40 };
    struct asked a[N] = { 0 };
    for (int i = 0; i < N; i++)
        ask(&a[i], target, "/silent");
    wait_parked(N);                                         /* all at the server at once, by one thread */
    assert_int_equal(http_mux_calls(mux), N);
    answer_parked();
    for (int i = 0; i < N; i++) {
        wait_told(&a[i]);
        assert_int_equal(a[i].status, 200);
        assert_true(str_eq_c(a[i].body, "late"));
    }
    assert_int_equal(http_mux_calls(mux), 0);
    release(a, N);
}

/* One server that takes connections and is silent, one that never accepts: calls to a third are answered all the same. */
static void errors_have_their_codes(void **state)
{
    (void)state;
    struct asked a[4] = { 0 };
    struct http_target *nobody = to_port(1);
    assert_int_equal(start(&a[0], target, (struct http_call){ .path = "/silent", .timeout_ms = 100 }), ERR_OK);
    assert_int_equal(start(&a[1], nobody, (struct http_call){ .path = "/" }), ERR_OK);
    assert_int_equal(start(&a[2], target, (struct http_call){ .path = "/long", .response_max = 1000 }), ERR_OK);
    assert_int_equal(start(&a[3], target, (struct http_call){ .path = "no-slash" }), ERR_OK);
    static const enum errc WANT[] = { ERR_DEADLINE, ERR_UNAVAILABLE, ERR_LIMIT, ERR_INVALID };
    for (int i = 0; i < 4; i++) {
        wait_told(&a[i]);
        assert_int_equal(a[i].rc, WANT[i]);
    }
    http_target_unref(nobody);
    release(a, 4);
}

static void no_more_calls_than_may_be(void **state)
{
    (void)state;
    struct asked a[PARKED_MAX] = { 0 }, more = { 0 };
    for (int i = 0; i < PARKED_MAX; i++)
        ask(&a[i], target, "/silent");
    assert_int_equal(start(&more, target, (struct http_call){ .path = "/" }), ERR_UNAVAILABLE);
    wait_parked(PARKED_MAX);
    answer_parked();
    for (int i = 0; i < PARKED_MAX; i++)
        wait_told(&a[i]);
    ask(&more, target, "/");
    wait_told(&more);
    assert_int_equal(more.rc, ERR_OK);
    release(&more, 1);
    release(a, PARKED_MAX);
}

/* Room for 3 MiB: a reply of 6 MB is refused although it might be as long by itself, one of 1 MB is taken, again and again. */
static void replies_keep_to_their_memory(void **state)
{
    (void)state;
    struct asked large = { 0 }, a[6] = { 0 };
    ask(&large, target, "/longer");
    wait_told(&large);
    assert_int_equal(large.rc, ERR_UNAVAILABLE);
    for (int i = 0; i < 6; i++) {
        ask(&a[i], target, "/long");
        wait_told(&a[i]);
        assert_int_equal(a[i].rc, ERR_OK);
        assert_int_equal(a[i].body.len, 1000005);
    }
    release(&large, 1);
    release(a, 6);
}

static void *caller(void *arg)
{
    int *good = arg;
    for (int i = 0; i < 100; i++) {
        struct asked a = { 0 };
        ask(&a, target, "/");
        wait_told(&a);
        *good += a.rc == ERR_OK;
        release(&a, 1);
    }
    return NULL;
}

static void many_threads_ask(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t t[THREADS];
    int good[THREADS] = { 0 };
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, caller, &good[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(good[i], 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MUX_TEST(calls_are_under_way_together),
        MUX_TEST(errors_have_their_codes),
        MUX_TEST(no_more_calls_than_may_be),
        MUX_TEST(replies_keep_to_their_memory),
        MUX_TEST(many_threads_ask),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
