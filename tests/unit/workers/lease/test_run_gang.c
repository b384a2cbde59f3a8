/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_gang.c - two agents and their children make what one makes; a machine that waits for another hears that it shall
 * end, and one that is told nonsense gives its lease back. */
#include "gang_kit.h"
#include "../../../lib/wait.h"

#define SPEC "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1,\"label_column\":\"label\"," \
             "\"epochs\":3," \
             "\"seed\":1,\"accumulate\":4,\"hidden\":[16]}"

static void two_machines_make_the_model_of_one(void **state)
{
    (void)state;
    static struct fixture one;
    static struct member m[MACHINES];
    struct meeting at;
    CLEANUP(buf_releasep) struct buf want = BUF(0), got = BUF(0);
    setup(&one, "1g");
    run_and_expect(&one, add_kind(&one, "train", SPEC, 0), "\"event\":\"succeed\"", "model sealed");
    kit_open_output(&one.store, &want);
    meeting_begin(&at);
    struct member_run r[MACHINES];
    for (int i = 0; i < MACHINES; i++) {
        member_begin(&m[i], &at, i);
        r[i] = (struct member_run){ &m[i], member_add(&m[i], SPEC) };
        assert_int_equal(pthread_create(&m[i].thread, NULL, member_main, &r[i]), 0);
    }
    members_join(m);
    member_says(&m[0], "\"event\":\"succeed\"", "info: rank 0 of 2 machines: all are there");
    member_says(&m[1], "\"event\":\"succeed\"", "info: rank 1 of 2 machines: all are there");
    kit_open_output(&m[0].f.store, &got);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, want.len);
    assert_int_equal(m[1].f.store.uploads, 0);          /* what all made, rank 0 gives */
    assert_int_equal(m[1].f.store.n_ckpts, 0);
    teardown(&one);
    members_end(m, &at);
}

/* The other one never comes: somebody asks the job to stop. */
static void a_machine_that_waits_hears_that_it_shall_end(void **state)
{
    (void)state;
    static struct member m;
    struct meeting at;
    meeting_begin(&at);
    member_begin(&m, &at, 0);
    struct held *h = member_add(&m, SPEC);
    struct member_run r = { &m, h };
    assert_int_equal(pthread_create(&m.thread, NULL, member_main, &r), 0);
    while (at.asked < 3)
        usleep(1000);
    held_cancel(h);
    pthread_join(m.thread, NULL);
    member_says(&m, "\"event\":\"cancel\"", "data opened");
    teardown(&m.f);
    arena_free(at.a);
}

/* Nobody can be called there: no failure of the program's, so the lease goes back. */
static void an_address_that_is_none_gives_the_lease_back(void **state)
{
    (void)state;
    static struct member m;
    struct meeting at;
    meeting_begin(&at);
    snprintf(at.endpoint[0], sizeof at.endpoint[0], "nowhere");
    member_begin(&m, &at, 1);
    struct member_run r = { &m, member_add(&m, SPEC) };
    (void)member_main(&r);
    member_says(&m, "\"event\":\"return\"", "rank 0 says that it listens at nowhere; expected an address and a port");
    teardown(&m.f);
    arena_free(at.a);
}

/* A machine that died after it had said where it listens: who calls it hears the end of its own lease. */
static void a_machine_that_calls_hears_that_it_shall_end(void **state)
{
    (void)state;
    static struct member m;
    struct meeting at;
    meeting_begin(&at);
    snprintf(at.endpoint[0], sizeof at.endpoint[0], "127.0.0.1:1");
    member_begin(&m, &at, 1);
    struct held *h = member_add(&m, SPEC);
    struct member_run r = { &m, h };
    assert_int_equal(pthread_create(&m.thread, NULL, member_main, &r), 0);
    WAIT_WHILE(at.asked < 1);
    const int64_t began = clock_mono_us(&clock_system);
    held_cancel(h);
    pthread_join(m.thread, NULL);
    assert_true(clock_mono_us(&clock_system) - began < 20000000);       /* a call would go on for 30 s */
    member_says(&m, "\"event\":\"cancel\"", "data opened");
    teardown(&m.f);
    arena_free(at.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_machines_make_the_model_of_one),
        cmocka_unit_test(a_machine_that_waits_hears_that_it_shall_end),
        cmocka_unit_test(an_address_that_is_none_gives_the_lease_back),
        cmocka_unit_test(a_machine_that_calls_hears_that_it_shall_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
