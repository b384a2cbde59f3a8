/* SPDX-License-Identifier: Apache-2.0 */
/* test_reserve_race.c - machines are reserved and let go while two planners plan, quickly and deeply, and jobs come and end:
 * nobody gets a machine after its reservation was committed, no two reservations have a machine, and no invariant breaks. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/engine/reservation.h"
#include "tests/lib/share.h"
#include "tests/lib/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MACHINES = 3, ROUNDS = 8, ROUNDS_PART = 2 };
#define HOUR ((int64_t)3600 * 1000000)

static struct fixture f;
static struct machine m[MACHINES];
static _Atomic bool is_over;

static int setup(void **state)
{
    (void)state;
    static const char *const names[] = { "w1", "w2", "w3" };
    fixture_open_wide(&f, 8);
    for (int i = 0; i < MACHINES; i++)
        machine_up(&f, &m[i], "ae-dxb-1", names[i], 4, 0);
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
    const bool is_full = arg != NULL;
    while (!is_over) {
        struct arena *a = arena_new(256 << 20);
        int64_t k = 0;
        bool more;
        struct err e = { 0 };
        (void)!loop_plan_once(&f.scheduler, a, is_full, &k, &more, &e);
        arena_free(a);
        usleep(1000);
    }
    return NULL;
}

/* What a planner gave out ends, so that there is always room to give. */
static void *end_thread(void *arg)
{
    (void)arg;
    while (!is_over) {
        struct lease_grant g[8];
        for (int i = 0; i < MACHINES; i++) {
            const size_t n = take(&f, &m[i], 8, g);
            (void)run_through(&f, &m[i], g, n);
        }
    }
    return NULL;
}

/* All three for an hour, or why not. */
static enum errc reserve(struct uuid *ret)
{
    struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .now_us = clock_wall_us(&clock_system) };
    const struct reservation_create in = { .purpose = RESERVE_MAINTENANCE, .until_at.us = w.now_us + HOUR,
                                           .zone = STR("ae-dxb-1"), .flavor = STR("cpu"), .machines = MACHINES,
                                           .reason = STR("") };
    struct reservation r = { 0 };
    struct err why = { 0 };
    OK(db_begin(f.api.pool, SCOPE_TENANT(UUID_NIL), 0, w.arena, &w.tx, e));
    const enum errc rc = reservation_make(&w, &in, &r, &why);
    if (rc == ERR_OK)
        OK(db_commit(w.tx, e));
    else
        db_rollback(w.tx);
    *ret = r.reservation_id;
    arena_free(w.arena);
    return rc;
}

static void *reserve_thread(void *arg)
{
    struct uuid id;
    *(enum errc *)arg = reserve(&id);
    return NULL;
}

static void nobody_gets_a_machine_that_was_reserved_before(void **state)
{
    (void)state;
    pthread_t planners[2], ends;
    int64_t admitted = 0;
    pthread_create(&planners[0], NULL, plan_thread, NULL);
    pthread_create(&planners[1], NULL, plan_thread, &f);
    pthread_create(&ends, NULL, end_thread, NULL);
    const int rounds = share_of("rounds of reservations", ROUNDS_PART, ROUNDS);
    for (int i = 0; i < rounds; i++) {
        pthread_t makers[2];
        enum errc rc[2];
        submit(&f, f.tenant_a, 20, 1, 3, NULL);
        WAIT_WHILE(fixture_count(&f, "SELECT count(*) FROM attempt") == admitted);
        for (int k = 0; k < 2; k++)
            pthread_create(&makers[k], NULL, reserve_thread, &rc[k]);
        for (int k = 0; k < 2; k++)
            pthread_join(makers[k], NULL);
        assert_int_equal((rc[0] == ERR_OK) + (rc[1] == ERR_OK), 1);      /* one has them all */
        assert_int_equal((rc[0] == ERR_CONFLICT) + (rc[1] == ERR_CONFLICT), 1);
        submit(&f, f.tenant_a, 5, 1, 3, NULL);
        const int64_t after = fixture_count(&f, "SELECT count(*) FROM attempt");
        for (int k = 0; k < 20; k++)
            assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt"), after);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt a JOIN reservation r ON a.leased_at > r.created_at"), 0);
        admitted = after;
        fixture_exec(&f, "DELETE FROM reservation");
    }
    is_over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(planners[i], NULL);
    pthread_join(ends, NULL);
    fixture_check(&f);
    fixture_end_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_gets_a_machine_that_was_reserved_before) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
