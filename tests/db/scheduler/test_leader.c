/* SPDX-License-Identifier: Apache-2.0 */
/* test_leader.c - of two schedulers one leads; when it goes, or its connection is killed, the other one takes over. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"
#include "scheduler/leader.h"
#include "scheduler/plan_apply.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
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
    assert_false(leader_is_connected(b));
    assert_true(later(a));
    assert_false(later(b));
    assert_true(leader_is_connected(b));
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

static void read_all(int fd, void *to, size_t n)
{
    for (char *at = to; n;) {
        ssize_t got = read(fd, at, n);
        assert_true(got > 0);
        at += got;
        n -= (size_t)got;
    }
}

/* A message of PostgreSQL's protocol, version 3: its kind (0: the first one has none), its length, its bytes. said < n: only so
 * many of them. */
static void say(int fd, char kind, const char *bytes, size_t n, size_t said)
{
    uint32_t len = htonl((uint32_t)n + 4);
    if (kind)
        assert_int_equal(write(fd, &kind, 1), 1);
    assert_int_equal(write(fd, &len, 4), 4);
    assert_int_equal(write(fd, bytes, said), said);
}

/* Until the server is ready for a query, within a transaction or not. */
static void hear(int fd)
{
    char bytes[1024], kind = 0;
    while (kind != 'Z') {
        uint32_t len;
        read_all(fd, &kind, 1);
        read_all(fd, &len, 4);
        assert_in_range(ntohl(len), 4, sizeof bytes);
        assert_int_not_equal(kind, 'E');
        read_all(fd, bytes, ntohl(len) - 4);
    }
}

/* A planner of this role whose link was cut in the middle of a message: it holds the planners' lock in a transaction, and the
 * server waits for the rest of its words. Its socket. */
static int half_spoken(const char *role)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    char first[100] = { 0, 3, 0, 0 }, sql[100];
    size_t n = 4 + 1 + (size_t)snprintf(first + 4, sizeof first - 4, "user%c%s%cdatabase%cpostgres%c", 0, role, 0, 0, 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.5432", pg_harness_socket_dir(pg));
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    say(fd, 0, first, n, n);
    hear(fd);
    n = 1 + (size_t)snprintf(sql, sizeof sql, "BEGIN; SELECT pg_advisory_xact_lock(%lld)", (long long)PLAN_TURN_KEY);
    say(fd, 'Q', sql, n, n);
    hear(fd);
    say(fd, 'Q', sql, n, n / 2);
    return fd;
}

static bool is_turn_free(void)
{
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT pg_try_advisory_xact_lock(%lld)::int", (long long)PLAN_TURN_KEY);
    return pg_harness_number(pg, NULL, sql);
}

/* No timeout of the server's would end that session: the next leader does. */
static void a_planner_cut_off_in_the_middle_of_a_message_is_ended(void **state)
{
    (void)state;
    int fd = half_spoken("postgres");
    assert_false(is_turn_free());
    struct leader *a = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned);
    WAIT_WHILE(!later(a));
    WAIT_WHILE(!is_turn_free());
    assert_int_equal(leader_term(a), 1);
    close(fd);
    leader_free(a);
}

/* falaj-api takes the planners' lock too, to change a limit. */
static void whose_session_is_another_roles_is_left_alone(void **state)
{
    (void)state;
    pg_harness_exec(pg, NULL, "CREATE ROLE other LOGIN; CREATE ROLE planner LOGIN");
    int fd = half_spoken("other");
    struct leader *a = leader_new(pg_harness_conninfo(pg, "planner", NULL), &turned);
    WAIT_WHILE(!later(a));
    assert_true(later(a));
    assert_false(is_turn_free());
    close(fd);
    WAIT_WHILE(!is_turn_free());
    leader_free(a);
}

static void between_two_looks_nothing_is_asked(void **state)
{
    (void)state;
    struct leader *a = leader_new("host=/nonexistent", &turned);
    assert_false(later(a));
    assert_false(leader_check(a));
    assert_false(leader_is_connected(a));
    leader_free(a);
    leader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_leads_and_the_other_takes_over),
        cmocka_unit_test(a_broken_connection_is_no_leadership),
        cmocka_unit_test(who_falls_silent_leads_no_more),
        cmocka_unit_test(a_planner_cut_off_in_the_middle_of_a_message_is_ended),
        cmocka_unit_test(whose_session_is_another_roles_is_left_alone),
        cmocka_unit_test(between_two_looks_nothing_is_asked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
