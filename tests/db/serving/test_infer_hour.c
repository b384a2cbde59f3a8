/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer_hour.c - texts of two processes: tokens, the time to the first and the gaps are added up, and other calls have
 * none. */
#include "tests/db/tenants/fixture.h"

#include "core/db/run_tx.h"
#include "serving/infer_stats.h"

static const int64_t NOW = INT64_C(1700000000) * 1000000;
static struct uuid deployment = { { 7, 7 } }, tenant;
static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { infer_stats_stmts, NULL };
    world_new(lists, 4);
    arena = arena_new((size_t)64 << 20);
    char d[UUID_TEXT];
    uuid_text(deployment, d);
    tenant = new_id();
    tenant_make(tenant, "aaa");
    sql("SET session_replication_role = replica;"
        " INSERT INTO deployment (tenant_id, deployment_id, name, model_id, model_version,"
        " job_id, created_by) VALUES ('%s', '%s', 'm', '%s', 1, '%s', '%s')", hex(tenant), d, d, d, d);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    world_free();
    return 0;
}

static struct infer_window window(struct infer_stats *s)
{
    const struct infer_hour *h = NULL;
    struct infer_window ret;
    struct work w = { .app = &app, .arena = arena, .tenant_id = tenant };
    OK(RUN_READ(&w, infer_stats_load(&w, s, deployment, 0, NOW, &h, &e), &e));
    infer_hour_window(h, 60, &ret);
    return ret;
}

static void texts_are_summed(void **state)
{
    (void)state;
    struct infer_stats *a = infer_stats_new(&app), *b = infer_stats_new(&app);
    struct infer_text one = { .tokens = 30, .first_us = 40000 }, two = { .tokens = 10, .first_us = 4000000 };
    one.gaps[infer_class(10000)] = 29;
    infer_stats_add(a, tenant, deployment, NOW, 500, INFER_OK, NULL);
    struct infer_window w = window(a);
    assert_true(w.tokens == 0 && !w.has_first_p50_ms && !w.has_gap_p95_ms && w.has_p50_ms);
    for (int i = 0; i < 3; i++)
        infer_stats_add(a, tenant, deployment, NOW, 300000, INFER_OK, &one);
    infer_stats_add(b, tenant, deployment, NOW, 5000000, INFER_OK, &two);
    OK(infer_stats_flush(a, NOW, &e));
    w = window(b);
    assert_true(w.requests == 5 && w.tokens == 100 && w.tokens_per_second > 0);
    assert_true(w.has_first_p50_ms && w.first_p50_ms > 33 && w.first_p50_ms < 48 && w.first_p95_ms > 3300);
    assert_true(w.has_gap_p50_ms && w.gap_p50_ms > 8 && w.gap_p50_ms < 12);
    infer_stats_free(a);
    infer_stats_free(b);
}

/* A falaj-api of a release before says nothing of texts. */
static void rows_without_texts_are_taken(void **state)
{
    (void)state;
    char d[UUID_TEXT], t[UUID_TEXT];
    uuid_text(deployment, d);
    uuid_text(tenant, t);
    sql("DELETE FROM deployment_minute; SELECT deployment_minutes_put('[{\"tenant_id\":\"%s\",\"deployment_id\":\"%s\","
        "\"writer_id\":\"%s\",\"minute\":100,\"requests\":1,\"errors\":0,\"refused\":0,\"classes\":[1]}]', 0)", t, d, d);
    assert_int_equal(NUMBER("SELECT tokens FROM deployment_minute"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts_are_summed), cmocka_unit_test(rows_without_texts_are_taken) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
