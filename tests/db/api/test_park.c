/* SPDX-License-Identifier: Apache-2.0 */
/* test_park.c - calls that wait: woken by a hint, by their own look, and at the end of their time; no hint is lost. */
#include "tests/db/api/pipeline_kit.h"
#include <pthread.h>

static void a_long_poll_waits_and_is_woken(void **state)
{
    (void)state;
    pthread_t t;
    struct caller c = { .path = "/v1/poll?wait_ms=60000" };
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
    assert_true(c.took_ms < 45000);
}

static void a_long_poll_ends_by_itself(void **state)
{
    (void)state;
    struct caller c = { .path = "/v1/poll?wait_ms=300" };
    call_thread(&c);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 0);
    assert_int_equal(c.runs, 2);
    assert_true(c.took_ms >= 290);
}

static void a_wake_up_between_the_look_and_the_wait(void **state)
{
    (void)state;
    struct caller c = { .path = "/v1/poll?wait_ms=60000" };
    wake_while_looking = true;
    call_thread(&c);
    assert_int_equal(c.value, 5);
    assert_int_equal(c.runs, 2);
    assert_true(c.took_ms < 45000);
}

static void no_wake_up_is_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        struct caller c = { .path = "/v1/poll?wait_ms=60000" };
        value = polls = 0;
        pthread_create(&t, NULL, call_thread, &c);
        usleep((unsigned)(i % 20) * 150);                    /* before, while and after the handler looks */
        value = 1;
        pipeline_wake(pipeline, wake_id);
        pthread_join(t, NULL);
        assert_int_equal(c.value, 1);
        assert_true(c.took_ms < 45000);
    }
}

/* Without a hint a parked call looks by itself: nothing waits for Redis longer than that. */
static void a_lost_hint_costs_one_look(void **state)
{
    (void)state;
    pthread_t t;
    struct caller c = { .path = "/v1/poll?wait_ms=60000" };
    park_set_look(pipeline->park, 60000000, 100000, 60000000);        /* these pipelines have no Redis */
    pthread_create(&t, NULL, call_thread, &c);
    WAIT_WHILE(!polls);
    value = 3;
    pthread_join(t, NULL);
    park_set_look(pipeline->park, 60000000, 60000000, 60000000);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 3);
    assert_true(c.took_ms < 45000);
}

/* The looks of a poll that waits until its time is over, right after one that was answered at once: its last one, and one at its
 * beginning where what the first saw does not stand. */
static int looks_after_one(void (*meanwhile)(void))
{
    struct caller first = { .path = "/v1/poll" }, c = { .path = "/v1/poll?wait_ms=200" };
    static uint8_t n;
    wake_id.b[4] = ++n;                                      /* an id of its own: nobody has looked at it */
    polls = value = 0;
    call_thread(&first);
    assert_int_equal(first.status, 200);
    assert_int_equal(polls, 1);
    if (meanwhile)
        meanwhile();
    call_thread(&c);
    assert_int_equal(c.status, 200);
    return polls - 1;
}

static void wake_it(void) { pipeline_wake(pipeline, wake_id); }
static void wake_another(void)
{
    struct uuid other = wake_id;
    other.b[15]++;
    pipeline_wake(pipeline, other);
}
static void move_cursor(void) { cursor.b[0]++; }
static void ask_for_another(void) { wake_id.b[4] ^= 0x80; }
static void let_it_age(void) { park_set_look(pipeline->park, 60000000, 60000000, 0); }
static void lose_hints(void) { app.redis = NULL; }

static void what_was_seen_is_not_asked_again(void **state)
{
    (void)state;
    sees = true;
    app.redis = redis_client;
    assert_int_equal(looks_after_one(NULL), 1);
    assert_int_equal(looks_after_one(wake_another), 1);
    assert_int_equal(looks_after_one(wake_it), 2);
    assert_int_equal(looks_after_one(move_cursor), 2);
    assert_int_equal(looks_after_one(ask_for_another), 2);
    wake_while_looking = true;                               /* the first may not have seen what came while it looked */
    assert_int_equal(looks_after_one(NULL), 2);
    wake_while_looking = false;
    assert_int_equal(looks_after_one(let_it_age), 2);
    park_set_look(pipeline->park, 60000000, 60000000, 60000000);
    assert_int_equal(looks_after_one(lose_hints), 2);
}

/* What it rests on counts: it is looked again when that is as old as a look may be, and a hint wakes it as any other. */
static void what_parks_so_is_woken_as_any_other(void **state)
{
    (void)state;
    pthread_t t;
    struct caller first = { .path = "/v1/poll" }, c = { .path = "/v1/poll?wait_ms=60000" };
    sees = true;
    app.redis = redis_client;
    for (int by_hint = 0; by_hint < 2; by_hint++) {
        polls = value = 0;
        cursor.b[1]++;
        call_thread(&first);
        park_set_look(pipeline->park, by_hint ? 60000000 : 300000, 60000000, 60000000);
        pthread_create(&t, NULL, call_thread, &c);
        value = 7;
        if (by_hint)
            pipeline_wake(pipeline, wake_id);
        pthread_join(t, NULL);
        assert_int_equal(c.status, 200);
        assert_int_equal(c.value, 7);
        assert_int_equal(c.runs, 2);
        assert_true(c.took_ms < 45000);
    }
    park_set_look(pipeline->park, 60000000, 60000000, 60000000);
    app.redis = NULL;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(a_long_poll_waits_and_is_woken), T(a_long_poll_ends_by_itself), T(a_wake_up_between_the_look_and_the_wait),
        T(no_wake_up_is_lost), T(a_lost_hint_costs_one_look),
        T(what_was_seen_is_not_asked_again), T(what_parks_so_is_woken_as_any_other),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
