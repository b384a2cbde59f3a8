/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer_stats.c - what two processes counted is summed, once; an outage loses nothing; old minutes go. */
#include "tests/db/tenants/fixture.h"
#include "tests/lib/wait.h"

#include <unistd.h>
#include "core/db/run_tx.h"
#include "serving/infer_stats.h"

static const int64_t MINUTE = 60000000, NOW = INT64_C(1700000000) * 1000000;
static struct uuid deployment = { { 7, 7 } }, tenants[2];
static struct arena *arena;

static int64_t rows(void)
{
    return NUMBER("SELECT count(*) FROM deployment_minute");
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { infer_stats_stmts, NULL };
    world_new(lists, 4);
    arena = arena_new((size_t)64 << 20);
    char d[UUID_TEXT];
    uuid_text(deployment, d);
    for (int i = 0; i < 2; i++) {
        tenants[i] = new_id();
        tenant_make(tenants[i], i ? "bbb" : "aaa");
        /* Its model and job do not matter here. */
        sql("SET session_replication_role = replica;"
            " INSERT INTO deployment (tenant_id, deployment_id, name, model_id, model_version,"
            " job_id, created_by) VALUES ('%s', '%s', 'm', '%s', 1, '%s', '%s')", hex(tenants[i]), d, d, d, d);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    world_free();
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    sql("DELETE FROM deployment_minute");
    return 0;
}

static void add(struct infer_stats *s, int who, int64_t now_us, int n, int64_t took_us, enum infer_end end)
{
    for (int i = 0; i < n; i++)
        infer_stats_add(s, tenants[who], deployment, now_us, took_us, end, NULL);
}

static const struct infer_hour *load(struct infer_stats *s, int who, int64_t now_us)
{
    const struct infer_hour *h = NULL;
    struct work w = { .app = &app, .arena = arena, .tenant_id = tenants[who] };
    OK(RUN_READ(&w, infer_stats_load(&w, s, deployment, 0, now_us, &h, &e), &e));
    return h;
}

static int64_t requests(struct infer_stats *s, int who, int64_t now_us)
{
    struct infer_window w;
    infer_hour_window(load(s, who, now_us), 60, &w);
    return w.requests;
}

static void processes_are_summed(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app), *b = infer_stats_new(&app);
    struct infer_window w;
    struct infer_minute each[INFER_MINUTES];
    add(a, 0, NOW, 90, 1000, INFER_OK);
    add(b, 0, NOW, 8, 200000, INFER_OK);
    add(b, 0, NOW - 2 * MINUTE, 3, 0, INFER_FAILED);
    add(b, 0, NOW, 2, 0, INFER_REFUSED);
    OK(infer_stats_flush(a, NOW, &e));
    OK(infer_stats_flush(b, NOW, &e));
    struct infer_stats *both[] = { a, b };
    for (int i = 0; i < 2; i++) {
        infer_hour_window(load(both[i], 0, NOW), 5, &w);
        assert_int_equal(w.requests, 103);
        assert_int_equal(w.errors, 3);
        assert_int_equal(w.refused, 2);
        assert_true(w.p50_ms > 0.8 && w.p50_ms < 1.25);
        assert_true(w.p95_ms > 160 && w.p95_ms < 250);      /* the slow ones are the other process's */
        assert_int_equal(infer_hour_minutes(load(both[i], 0, NOW), each), 3);
        assert_int_equal(each[0].errors, 3);
        assert_int_equal(each[1].requests, 0);
        assert_int_equal(each[2].requests, 100);
    }
    infer_hour_window(load(a, 0, NOW), 2, &w);
    assert_int_equal(w.requests, 100);
    assert_int_equal(requests(a, 1, NOW), 0);               /* a deployment of the same id of another tenant */
    infer_stats_free(a);
    infer_stats_free(b);
}

static void written_twice_counts_once(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app), *b = infer_stats_new(&app);
    for (int i = 0; i < 5; i++) {
        add(a, 0, NOW, 2, 500, INFER_OK);
        OK(infer_stats_flush(a, NOW, &e));
        OK(infer_stats_flush(a, NOW, &e));
    }
    assert_int_equal(rows(), 1);
    assert_int_equal(requests(a, 0, NOW), 10);
    assert_int_equal(requests(b, 0, NOW), 10);
    infer_stats_free(a);
    infer_stats_free(b);
}

/* The next process knows what the one before it wrote when it ended; what was never written is not there. */
static void a_new_process_goes_on(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app);
    int64_t now = clock_wall_us(&clock_system);             /* an end writes by the clock */
    add(a, 0, now, 4, 500, INFER_OK);
    infer_stats_free(a);
    a = infer_stats_new(&app);
    assert_int_equal(requests(a, 0, now), 4);
    add(a, 0, now, 1, 500, INFER_OK);
    assert_int_equal(requests(a, 0, now), 5);
    infer_stats_free(a);
}

static void it_writes_by_itself(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app);
    add(a, 0, clock_wall_us(&clock_system), 1, 500, INFER_OK);
    WAIT_WHILE(rows() == 0);
    assert_int_equal(rows(), 1);
    infer_stats_free(a);
}

static void an_outage_loses_nothing(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app), *b = infer_stats_new(&app);
    add(a, 0, NOW, 6, 500, INFER_OK);
    pg_harness_stop(pg);
    assert_int_not_equal(infer_stats_flush(a, NOW, &e), ERR_OK);
    pg_harness_start(pg);
    WAIT_WHILE(infer_stats_flush(a, NOW, &e) != ERR_OK);
    assert_int_equal(requests(b, 0, NOW), 6);
    infer_stats_free(a);
    infer_stats_free(b);
}

static void old_minutes_go(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app);
    add(a, 0, NOW, 5, 500, INFER_OK);
    OK(infer_stats_flush(a, NOW, &e));
    assert_int_equal(requests(a, 0, NOW + 59 * MINUTE), 5);
    assert_int_equal(requests(a, 0, NOW + 60 * MINUTE), 0);
    add(a, 0, NOW + 60 * MINUTE, 1, 500, INFER_OK);
    OK(infer_stats_flush(a, NOW + 60 * MINUTE, &e));
    assert_int_equal(rows(), 1);
    infer_stats_free(a);
}

/* One deployment that nobody knows must not cost the others their counts. */
static void what_is_not_there_is_passed_over(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app);
    infer_stats_add(a, tenants[0], (struct uuid){ { 9 } }, NOW, 500, INFER_OK, NULL);
    add(a, 0, NOW, 1, 500, INFER_OK);
    OK(infer_stats_flush(a, NOW, &e));
    assert_int_equal(rows(), 1);
    infer_stats_free(a);
}

/* More deployments than are remembered: one that made room and comes back does not lower what it wrote before. */
static void who_made_room_keeps_what_was_written(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app);
    add(a, 0, NOW, 7, 500, INFER_OK);
    OK(infer_stats_flush(a, NOW, &e));
    for (uint32_t i = 0; i < INFER_STATS_MAX; i++) {
        struct uuid other = { { 1, 2, (uint8_t)(i >> 8), (uint8_t)i } };
        infer_stats_add(a, tenants[0], other, NOW + 1000, 500, INFER_OK, NULL);
    }
    add(a, 0, NOW + 2000, 1, 500, INFER_OK);
    OK(infer_stats_flush(a, NOW + 2000, &e));
    assert_int_equal(requests(a, 0, NOW), 8);
    infer_stats_free(a);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(processes_are_summed), T(written_twice_counts_once), T(a_new_process_goes_on), T(it_writes_by_itself),
        T(old_minutes_go),
        T(what_is_not_there_is_passed_over), T(who_made_room_keeps_what_was_written), T(an_outage_loses_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
