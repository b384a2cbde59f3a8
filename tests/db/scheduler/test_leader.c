/* SPDX-License-Identifier: Apache-2.0 */
/* test_leader.c - of two schedulers one leads; when it goes, or its connection is killed, the other one takes over. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"
#include "scheduler/leader.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct pg_harness *pg;
static int64_t now_us = 1000000;

static int64_t now(void *ctx)
{
    (void)ctx;
    return now_us;
}
static const struct clock turned = { .wall_us = now, .mono_us = now };

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    pg_harness_free(pg);
    return 0;
}

static bool later(struct leader *l)
{
    now_us += 1000000;
    return leader_check(l);
}

static void one_leads_and_the_other_takes_over(void **state)
{
    (void)state;
    struct leader *a = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned), *b = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned);
    assert_true(later(a));
    assert_false(later(b));
    assert_true(later(a));
    assert_false(later(b));
    leader_free(a);
    WAIT_WHILE(!later(b));
    leader_free(b);
}

static void a_broken_connection_is_no_leadership(void **state)
{
    (void)state;
    struct leader *a = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned);
    WAIT_WHILE(!later(a));
    pg_harness_exec(pg, NULL, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'falaj-scheduler-leader'");
    WAIT_WHILE(later(a));
    assert_int_equal(leader_term(a), 1);
    assert_true(later(a));                                      /* and asks again with a new one */
    assert_int_equal(leader_term(a), 2);
    assert_true(later(a));
    assert_int_equal(leader_term(a), 2);
    leader_free(a);
}

/* A process that leads until it is stopped. */
static pid_t leader_process(void)
{
    int said[2];
    char c;
    assert_int_equal(pipe(said), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        struct leader *l = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned);
        while (!later(l))
            usleep(10000);
        if (write(said[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(said[0], &c, 1), 1);
    close(said[0]);
    close(said[1]);
    return pid;
}

static void wait_out_a_silence(void)
{
    time_t begin = wait_now();
    WAIT_WHILE(wait_now() - begin <= LEADER_SILENCE_MS / 1000 + 1);
}

/* It is in a round that takes long: nobody asks it meanwhile, and it leads. Its machine is frozen: its connection stands, and it
 * leads no more. */
static void who_falls_silent_leads_no_more(void **state)
{
    (void)state;
    pid_t pid = leader_process();
    struct leader *b = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned);
    assert_false(later(b));
    wait_out_a_silence();
    assert_false(later(b));
    assert_int_equal(kill(pid, SIGSTOP), 0);
    WAIT_WHILE(!later(b));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    leader_free(b);
}

static void between_two_looks_nothing_is_asked(void **state)
{
    (void)state;
    struct leader *a = leader_new("host=/nonexistent", &turned);
    assert_false(later(a));
    assert_false(leader_check(a));
    leader_free(a);
    leader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_leads_and_the_other_takes_over),
        cmocka_unit_test(a_broken_connection_is_no_leadership),
        cmocka_unit_test(who_falls_silent_leads_no_more),
        cmocka_unit_test(between_two_looks_nothing_is_asked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
