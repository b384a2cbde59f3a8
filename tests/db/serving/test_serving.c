/* SPDX-License-Identifier: Apache-2.0 */
/* test_serving.c - targets are remembered for a moment, counts become audit events of the right tenant, an outage loses none. */
#include "tests/db/registry/fixture.h"
#include "tests/lib/wait.h"
#include "serving/serving.h"

#include <arpa/inet.h>
#include <sys/socket.h>

/* A test that fails jumps out of its frame: what other threads write to outlives it, and its serving ends before the fixture. */
static struct serving *s;

static int open_serving(void **state)
{
    (void)state;
    s = serving_new(&app);
    return 0;
}

static int close_serving(void **state)
{
    (void)state;
    if (s)
        serving_free(s);
    s = NULL;
    return 0;
}

static void expect(const char *what, int want)
{
    char sql[2048];
    snprintf(sql, sizeof sql, "DO $$ BEGIN IF (SELECT count(*) FROM %s) <> %d THEN RAISE EXCEPTION 'there are %%', (SELECT count(*) FROM %s); END IF; END $$",
             what, want, what);
    pg_harness_exec(pg, DB, sql);
}

static int64_t mono_us = 1000000;

static int64_t by_hand(void *ctx)
{
    (void)ctx;
    return mono_us;
}

static void test_targets(void **state)
{
    (void)state;
    const struct clock turned = { clock_system.wall_us, by_hand, NULL };
    app.clock = &turned;
    struct deployment_target t = { { { 1 } }, { { 2 } }, STR("127.0.0.1:4000"), STR("ae-dxb-1"), STR("internal"), 3 }, got;
    struct uuid a = people[0]->tenant_id, b = people[1]->tenant_id;
    assert_false(serving_target_find(s, a, STR("m"), true, arena, &got));
    serving_target_keep(s, a, STR("m"), &t);
    assert_true(serving_target_find(s, a, STR("m"), true, arena, &got));
    assert_true(str_eq_c(got.endpoint, "127.0.0.1:4000"));
    assert_int_equal(got.model_version, 3);
    assert_true(uuid_eq(got.attempt_id, t.attempt_id));
    assert_false(serving_target_find(s, b, STR("m"), true, arena, &got));
    mono_us += (SERVING_TARGET_MS - SERVING_REFRESH_MS) * 1000;
    assert_false(serving_target_find(s, a, STR("m"), false, arena, &got));      /* who may not look leaves it to another */
    assert_false(serving_target_find(s, a, STR("m"), true, arena, &got));       /* who does */
    assert_true(serving_target_find(s, a, STR("m"), true, arena, &got));        /* and for the others it holds meanwhile */
    assert_true(serving_target_find(s, a, STR("m"), false, arena, &got));
    mono_us += SERVING_REFRESH_MS * 1000;
    assert_false(serving_target_find(s, a, STR("m"), true, arena, &got));
    serving_target_keep(s, a, STR("m"), &t);
    serving_target_forget(s, a, STR("m"));
    assert_false(serving_target_find(s, a, STR("m"), true, arena, &got));
    app.clock = &clock_system;
}

static void test_counts(void **state)
{
    (void)state;
    struct serving_caller a = { people[0]->tenant_id, { { 7 } }, actor_of(people[0]) }, b = a;
    b.tenant_id = people[1]->tenant_id;
    for (int i = 0; i < 5; i++)
        serving_note(s, &a, STR("ae-dxb-1"), i != 0);
    serving_note(s, &b, STR("ae-dxb-1"), true);
    pg_harness_stop(pg);
    serving_flush(s);
    pg_harness_start(pg);
    WAIT_WHILE(db_pool_ping(app.pool, &e) != ERR_OK);
    serving_note(s, &a, STR("ae-dxb-1"), true);
    close_serving(NULL);
    expect("audit_event e JOIN tenant t USING (tenant_id) WHERE t.name = 'aaa' AND convert_from(body, 'UTF8') LIKE '%FLJ-INF-001%'"
           " AND convert_from(body, 'UTF8') LIKE '%\"requests_ok\":5%' AND convert_from(body, 'UTF8') LIKE '%\"requests_failed\":1%'", 1);
    expect("audit_event e JOIN tenant t USING (tenant_id) WHERE t.name = 'bbb' AND convert_from(body, 'UTF8') LIKE '%FLJ-INF-001%'", 1);
    expect("audit_event WHERE convert_from(body, 'UTF8') LIKE '%FLJ-INF-001%'", 2);
}

struct asked {
    struct arena *arena;
    _Atomic int told;
    enum errc rc;
    char why[256];
};

static void on_done(void *ctx, enum errc rc, const struct http_result *r, const struct err *why)
{
    struct asked *a = ctx;
    (void)r;
    a->rc = rc;
    snprintf(a->why, sizeof a->why, "%s", rc == ERR_OK ? "it was answered" : why->msg);
    a->told++;
}

static enum errc ask(struct serving *by, struct asked *a, struct uuid tenant, const char *endpoint)
{
    if (!a->arena)
        a->arena = arena_new(1 << 20);
    const struct serving_question q = { .tenant_id = tenant, .zone = STR("ae-dxb-1"), .endpoint = str_c(endpoint),
                                        .method = "GET", .path = "/ready", .arena = a->arena, .timeout_ms = SERVING_TEXT_MS,
                                        .done = on_done, .ctx = a };
    return serving_ask(by, &q, &e);
}

static void test_unreachable(void **state)
{
    (void)state;
    static struct asked a, none;
    OK(ask(s, &a, people[0]->tenant_id, "127.0.0.1:1"));
    WAIT_WHILE(!a.told);
    assert_int_equal(a.told, 1);
    assert_int_equal(a.rc, ERR_UNAVAILABLE);
    assert_int_equal(ask(s, &none, people[0]->tenant_id, ""), ERR_UPSTREAM);
    close_serving(NULL);
    arena_free(a.arena);
    arena_free(none.arena);
}

/* A machine that never answers. Its backlog has room for every call: without a place a connection may be refused at any time. */
static int deaf_machine(char endpoint[32])
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, SERVING_CALLS_MAX), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    snprintf(endpoint, 32, "127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

/* A stalled deployment has its limit, a tenant has one over all of its own, and neither is anybody else's. */
static void test_limits(void **state)
{
    (void)state;
    enum { MACHINES = 3 };
    struct uuid amal = people[0]->tenant_id, bana = people[1]->tenant_id;
    struct asked *a = calloc(SERVING_CALLS_MAX, sizeof *a);
    char machine[MACHINES][32];
    int fds[MACHINES], n = 0;
    serving_set_connect(s, SERVING_TEXT_MS);                /* the calls end with serving_stop only */
    for (int i = 0; i < MACHINES; i++)
        fds[i] = deaf_machine(machine[i]);
    for (; n < SERVING_BUSY_MAX; n++)
        OK(ask(s, &a[n], amal, machine[0]));
    assert_int_equal(ask(s, &a[n], amal, machine[0]), ERR_RATE);
    assert_int_equal(ask(s, &a[n], bana, machine[0]), ERR_RATE);
    for (; n < SERVING_TENANT_MAX; n++)
        OK(ask(s, &a[n], amal, machine[1]));
    for (int i = 0; i < n; i++)
        if (a[i].told)
            fail_msg("call %d of %d ended early: %s", i, n, a[i].why);
    assert_int_equal(ask(s, &a[n], amal, machine[2]), ERR_RATE);
    OK(ask(s, &a[n], bana, machine[2]));                    /* the other tenant has its own */
    n++;
    serving_stop(s);
    for (int i = 0; i < n; i++) {
        assert_int_equal(a[i].told, 1);
        assert_int_equal(a[i].rc == ERR_UNAVAILABLE || a[i].rc == ERR_DEADLINE, 1);
    }
    assert_int_equal(ask(s, &a[n], bana, machine[2]), ERR_UNAVAILABLE);
    close_serving(NULL);
    for (int i = 0; i < SERVING_CALLS_MAX; i++)
        arena_free(a[i].arena);
    free(a);
    for (int i = 0; i < MACHINES; i++)
        close(fds[i]);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_serving, close_serving)
    const struct CMUnitTest tests[] = { T(test_targets), T(test_counts), T(test_unreachable), T(test_limits) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
