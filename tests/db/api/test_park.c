/* SPDX-License-Identifier: Apache-2.0 */
/* test_park.c - calls that wait: woken by a hint, by their own look, and at the end of their time; no hint is lost. */
#include "tests/db/api/pipeline_kit.h"
#include <pthread.h>

static void a_long_poll_waits_and_is_woken(void **state)
{
    (void)state;
    pthread_t t;
    struct caller c = { .path = "/v1/poll?wait_ms=8000" };
    pthread_create(&t, NULL, call_thread, &c);
    WAIT_WHILE(!polls);
    usleep(50000);
    struct uuid other = wake_id;
    other.b[0]++;                                            /* another id of the same bucket wakes nobody */
    pipeline_wake(pipeline, other);
    usleep(50000);
    assert_in_range(polls, 1, 2);
    value = 7;
    pipeline_wake(pipeline, wake_id);
    pthread_join(t, NULL);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 7);
    assert_true(c.took_ms < 6000);
}

static void a_long_poll_ends_by_itself(void **state)
{
    (void)state;
    struct caller c = { .path = "/v1/poll?wait_ms=300" };
    call_thread(&c);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 0);
    assert_int_equal(c.runs, 2);
    assert_in_range(c.took_ms, 290, 5000);
}

static void a_wake_up_between_the_look_and_the_wait(void **state)
{
    (void)state;
    struct caller c = { .path = "/v1/poll?wait_ms=8000" };
    wake_while_looking = true;
    call_thread(&c);
    assert_int_equal(c.value, 5);
    assert_int_equal(c.runs, 2);
    assert_true(c.took_ms < 6000);
}

static void no_wake_up_is_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        struct caller c = { .path = "/v1/poll?wait_ms=8000" };
        value = polls = 0;
        pthread_create(&t, NULL, call_thread, &c);
        usleep((unsigned)(i % 20) * 150);                    /* before, while and after the handler looks */
        value = 1;
        pipeline_wake(pipeline, wake_id);
        pthread_join(t, NULL);
        assert_int_equal(c.value, 1);
        assert_true(c.took_ms < 7000);
    }
}

/* Without a hint a parked call looks by itself: nothing waits for Redis longer than that. */
static void a_lost_hint_costs_one_look(void **state)
{
    (void)state;
    pthread_t t;
    struct caller c = { .path = "/v1/poll?wait_ms=8000" };
    park_set_look(pipeline->park, 60000000, 100000);        /* these pipelines have no Redis */
    pthread_create(&t, NULL, call_thread, &c);
    WAIT_WHILE(!polls);
    value = 3;
    pthread_join(t, NULL);
    park_set_look(pipeline->park, 60000000, 60000000);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 3);
    assert_true(c.took_ms < 6000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(a_long_poll_waits_and_is_woken), T(a_long_poll_ends_by_itself), T(a_wake_up_between_the_look_and_the_wait),
        T(no_wake_up_is_lost), T(a_lost_hint_costs_one_look),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
