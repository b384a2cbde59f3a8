/* SPDX-License-Identifier: Apache-2.0 */
/* test_gang_race.c - jobs on two machines while two leaders plan, each with what it keeps of waiting jobs, three machines take,
 * meet, start, end and give back, and the reaper frees those whose member never came: no order of it breaks an invariant, and
 * each job is done once. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/engine/lease_member.h"
#include "scheduler/mirror/waiting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { JOBS = 24, MACHINES = 3, HELD = 16 };

static struct fixture f;
static struct machine machines[MACHINES];
static _Atomic bool is_over;

static int setup(void **state)
{
    (void)state;
    static const char *const names[] = { "w1", "w2", "w3" };
    fixture_open_wide(&f, 8);
    for (int i = 0; i < MACHINES; i++)
        machine_up(&f, &machines[i], "ae-dxb-1", names[i], 4, 0);
    fixture_exec(&f, "UPDATE node SET gangs = true");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void *plan_thread(void *arg)
{
    struct app own = f.scheduler;       /* a mirror is one thread's */
    (void)arg;
    own.waiting = waiting_new();
    while (!is_over) {
        struct arena *a = arena_new(256 << 20);
        int64_t k = 0;
        bool more;
        struct err e = { 0 };
        (void)!loop_plan_once(&own, a, true, &k, &more, &e);
        arena_free(a);
        usleep(2000);
    }
    waiting_free(own.waiting);
    return NULL;
}

/* A statement of the test, which nothing repeats, waits for no row while it holds others: two would meet in a deadlock. */
#define SKIPS " FOR UPDATE SKIP LOCKED)"

static void *reap_thread(void *arg)
{
    (void)arg;
    while (!is_over) {
        /* None is lost by a busy machine. */
        fixture_exec(&f, "UPDATE node SET last_seen_at = clock_timestamp() WHERE node_id IN (SELECT node_id FROM node" SKIPS);
        fixture_exec(&f, "UPDATE attempt_member SET lease_until = leased_at WHERE (tenant_id, attempt_id, rank) IN (SELECT"
                         " tenant_id, attempt_id, rank FROM attempt_member WHERE live AND rank > 0 AND state = 'LEASED'"
                         " AND leased_at < clock_timestamp() - interval '500 milliseconds'" SKIPS);
        reap(&f);
        fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE (tenant_id, job_id) IN (SELECT tenant_id, job_id FROM job"
                         " WHERE queued" SKIPS);
        usleep(20000);
    }
    return NULL;
}

/* How many are missing; -1: the lease is over. */
static int64_t meet(const struct machine *m, const struct lease_grant *g)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 20) };
    struct lease l;
    struct lease_gang_out out = { .missing = -1 };
    struct err why = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    if (lease_check(&w, g->tenant_id, g->attempt_id, g->fence, m->identity, &l, &why) == ERR_OK)
        OK(lease_meet(&w, &l, STR("127.0.0.1:1"), &out, e));
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
    return out.missing;
}

struct holding { struct lease_grant g; bool has_started; };

/* One look at what the machine holds; false: it is over. */
static bool go_on(const struct machine *m, struct holding *h, unsigned *seed)
{
    static const enum lease_event ends[] = { LE_SUCCEED, LE_SUCCEED, LE_SUCCEED, LE_RENEW, LE_RETURN };
    if (!h->has_started) {
        const int64_t missing = meet(m, &h->g);
        h->has_started = missing == 0 && tell(&f, m, &h->g, 1, LE_START, NULL);
        return missing > 0 || h->has_started;
    }
    const enum lease_event event = ends[rand_r(seed) % 5];
    return tell(&f, m, &h->g, 1, event, NULL) && event == LE_RENEW;
}

static void *machine_thread(void *arg)
{
    const struct machine *m = arg;
    struct holding held[HELD];
    size_t n = 0;
    unsigned seed = (unsigned)(m - machines) + 1;
    while (!is_over) {
        struct lease_grant g[4];
        struct uuid after = UUID_LEAST;
        const size_t came = n + 4 <= HELD ? offer(&f, m, &after, 4, g) : 0;
        for (size_t i = 0; i < came; i++) {
            bool is_known = g[i].rank && g[i].attempt_id.b[15] % 4 == 0;       /* it never comes: the reaper frees all */
            for (size_t k = 0; k < n; k++)
                is_known |= uuid_eq(held[k].g.attempt_id, g[i].attempt_id);
            if (!is_known && tell(&f, m, &g[i], 1, LE_RENEW, NULL))
                held[n++] = (struct holding){ g[i], false };
        }
        for (size_t i = n; i-- > 0;)
            if (!go_on(m, &held[i], &seed))
                held[i] = held[--n];
        usleep(10000);                  /* reports hold rows that the reaper passes over */
    }
    return NULL;
}

static void each_job_is_done_once(void **state)
{
    (void)state;
    pthread_t t[MACHINES + 3];
    submit(&f, f.tenant_a, JOBS, 1, 100, NULL);
    fixture_exec(&f, "UPDATE job SET nodes = 2");
    for (int i = 0; i < MACHINES; i++)
        pthread_create(&t[i], NULL, machine_thread, &machines[i]);
    pthread_create(&t[MACHINES], NULL, plan_thread, NULL);
    pthread_create(&t[MACHINES + 1], NULL, plan_thread, NULL);
    pthread_create(&t[MACHINES + 2], NULL, reap_thread, NULL);
    while (fixture_count(&f, "SELECT count(*) FROM job WHERE finished_at IS NULL")) {
        fixture_check(&f);
        usleep(50000);
    }
    is_over = true;
    for (int i = 0; i < MACHINES + 3; i++)
        pthread_join(t[i], NULL);
    fixture_check(&f);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'COMPLETED'"), JOBS);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE state = 'SUCCEEDED'"), JOBS);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM machine_hold"), 0);
    const int64_t attempts = fixture_count(&f, "SELECT count(*) FROM attempt");
    print_message("%d jobs in %ld attempts\n", JOBS, (long)attempts);
    assert_true(attempts > JOBS);       /* some came back, and were freed */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_job_is_done_once) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
