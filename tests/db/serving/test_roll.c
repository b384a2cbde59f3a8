/* SPDX-License-Identifier: Apache-2.0 */
/* test_roll.c - a roll turns when its job answers and ends the old one afterwards; a job that ends or is late leaves the old one
 * serving and says why; another roll takes its place; no other tenant can begin one. Jobs and attempts are rows as the scheduler
 * and a worker leave them. */
#include "tests/db/registry/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_repo.h"
#include "serving/roll.h"

static struct db_pool *own_pool;
static struct uuid model, node = { { 9 } };

static struct uuid add_job(const char *state)
{
    char sql[1024], t[UUID_TEXT], j[UUID_TEXT], u[UUID_TEXT];
    struct uuid job = uuid_v7(clock_wall_us(&clock_system));
    uuid_text(people[0]->tenant_id, t);
    uuid_text(people[0]->user_id, u);
    uuid_text(job, j);
    snprintf(sql, sizeof sql, "SET session_replication_role = replica;"
             "INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by, queued, state, fence) VALUES"
             " ('%s', '%s', 'serve m', 'serve', '{\"name\": \"m\"}', '%s', false, '%s', 1)", t, j, u, state);
    pg_harness_exec(pg, DB, sql);
    return job;
}

static void answers(struct uuid job)
{
    char sql[1024], t[UUID_TEXT], j[UUID_TEXT], n[UUID_TEXT];
    uuid_text(people[0]->tenant_id, t);
    uuid_text(job, j);
    uuid_text(node, n);
    snprintf(sql, sizeof sql, "SET session_replication_role = replica;"
             "INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, state, slots, gpus, lease_until, endpoint) "
             "VALUES"
             " ('%s', gen_random_uuid(), '%s', 1, '%s', 'RUNNING', 1, 0, now() + interval '1 day', '127.0.0.1:1')", t, j, n);
    pg_harness_exec(pg, DB, sql);
}

static void fails(struct uuid job)
{
    char sql[512], j[UUID_TEXT];
    uuid_text(job, j);
    snprintf(sql, sizeof sql, "SET session_replication_role = replica; UPDATE job SET state = 'FAILED', finished_at = now(),"
             " message = 'layer 3 has no weights' WHERE job_id = '%s'", j);
    pg_harness_exec(pg, DB, sql);
}

static void expect(const char *what, int want)
{
    char sql[1024];
    snprintf(sql, sizeof sql, "DO $$ BEGIN IF (SELECT count(*) FROM %s) <> %d THEN RAISE EXCEPTION 'there are %%', (SELECT "
        "count(*) FROM %s);"
             " END IF; END $$", what, want, what);
    pg_harness_exec(pg, DB, sql);
}

static bool is_stopped(struct uuid job)
{
    struct work w = begin(0);
    struct job j;
    OK(job_get(&w, job, &j, &e));
    end(&w);
    return j.cancel_requested;
}

/* Versions 1 and 2 of a model, and version 1 of it deployed. */
static struct deployment deploy(const char *name, struct uuid *ret_job)
{
    struct deployment d;
    *ret_job = add_job("RUNNING");
    answers(*ret_job);
    struct work w = begin(0);
    struct deployment_row row = { uuid_v7(w.now_us), str_c(name), model, 1, *ret_job };
    OK(deployment_insert(&w, &row, &d, &e));
    end(&w);
    assert_true(d.ready);
    assert_int_equal(d.roll, ROLL_NONE);
    return d;
}

static struct uuid roll_to(const struct deployment *d, const char *state, int64_t version, int64_t deadline_s)
{
    struct roll_state s = { 0 };
    struct uuid job = add_job(state);
    struct work w = begin(0);
    OK(roll_lock(&w, d->deployment_id, &s, &e));
    OK(roll_begin(&w, &s, job, version, deadline_s, &e));
    end(&w);
    return job;
}

static int64_t pass(int64_t drain_ms)
{
    int64_t steps = -1;
    OK(roll_pass(&app, arena, drain_ms, &steps, &e));
    return steps;
}

static struct deployment now_of(const struct deployment *d)
{
    struct deployment got;
    struct work w = begin(0);
    OK(deployment_get(&w, d->deployment_id, &got, &e));
    end(&w);
    return got;
}

static void test_turn(void **state)
{
    (void)state;
    struct uuid old, next;
    struct deployment d = deploy("turns", &old), got;
    struct deployment_target t;
    next = roll_to(&d, "RUNNING", 2, 600);
    assert_int_equal(pass(60000), 0);           /* it runs, and does not answer yet */
    got = now_of(&d);
    assert_int_equal(got.roll, ROLL_LOADING);
    assert_int_equal(got.next_version, 2);
    assert_int_equal(got.model_version, 1);
    assert_true(got.ready && uuid_eq(got.next_job_id, next));
    answers(next);
    assert_int_equal(pass(60000), 1);
    got = now_of(&d);
    assert_int_equal(got.roll, ROLL_DRAINING);
    assert_true(got.ready && got.model_version == 2 && uuid_eq(got.job_id, next) && uuid_is_nil(got.next_job_id));
    struct work w = begin(0);
    OK(deployment_target(&w, STR("turns"), &t, &e));
    end(&w);
    assert_int_equal(t.model_version, 2);
    assert_false(is_stopped(old));              /* somebody may still ask it */
    assert_int_equal(pass(60000), 0);
    assert_int_equal(pass(0), 1);
    assert_true(is_stopped(old));
    assert_false(is_stopped(next));
    assert_int_equal(now_of(&d).roll, ROLL_NONE);
    assert_int_equal(pass(0), 0);
    expect("audit_event WHERE convert_from(body, 'UTF8') LIKE '%FLJ-DEP-003%\"step\":\"turned\"%'", 1);
}

static void test_given_up(void **state)
{
    (void)state;
    struct uuid old, next, late;
    struct deployment d = deploy("stays", &old), got;
    next = roll_to(&d, "RUNNING", 2, 600);
    fails(next);
    assert_int_equal(pass(0), 1);
    got = now_of(&d);
    assert_int_equal(got.roll, ROLL_FAILED);
    assert_non_null(strstr(str_z(arena, got.roll_error), "Version 2 does not serve: layer 3 has no weights"));
    assert_true(got.ready && got.model_version == 1 && uuid_eq(got.job_id, old));
    assert_false(is_stopped(old));
    late = roll_to(&d, "RUNNING", 2, 0);
    assert_null(now_of(&d).roll_error.ptr);     /* a new roll begins clean */
    assert_int_equal(pass(0), 1);
    got = now_of(&d);
    assert_non_null(strstr(str_z(arena, got.roll_error), "in time"));
    assert_true(is_stopped(late));
    assert_true(uuid_eq(got.job_id, old));
}

static void test_replaced(void **state)
{
    (void)state;
    struct uuid old, first, second;
    struct roll_state s;
    struct deployment d = deploy("twice", &old);
    struct deployment_jobs ended;
    first = roll_to(&d, "RUNNING", 2, 600);
    second = roll_to(&d, "RUNNING", 2, 600);
    assert_true(is_stopped(first));
    assert_true(uuid_eq(now_of(&d).next_job_id, second));
    struct work w = begin(1);
    assert_int_equal(roll_lock(&w, d.deployment_id, &s, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
    w = begin(0);
    OK(roll_lock(&w, d.deployment_id, &s, &e));
    OK(roll_give_up(&w, &s, STR("taken back"), &e));
    end(&w);
    assert_true(is_stopped(second));
    assert_false(is_stopped(old));
    second = roll_to(&d, "RUNNING", 2, 600);
    w = begin(0);
    OK(deployment_delete(&w, d.deployment_id, &ended, &e));
    end(&w);
    assert_true(uuid_eq(ended.job_id, old) && uuid_eq(ended.next_job_id, second));
    answers(second);
    assert_int_equal(pass(0), 0);               /* what is deleted turns no more */
}

static void test_keeper(void **state)
{
    (void)state;
    struct uuid old;
    struct deployment d = deploy("kept", &old);
    struct roll_keeper *k = roll_keeper_new(&app);
    answers(roll_to(&d, "RUNNING", 2, 600));
    WAIT_WHILE(now_of(&d).model_version != 2);
    roll_keeper_free(k);
}

static int setup_rolls(void **state)
{
    setup(state);
    static const struct stmt *const *const lists[] = { deployment_stmts, roll_stmts, job_stmts, job_apply_stmts,
                                                       audit_event_stmts, NULL };
    char sql[2048], t[UUID_TEXT], m[UUID_TEXT], n[UUID_TEXT];
    own_pool = app.pool;
    app.pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_app", DB), .size = 3, .lists =
        lists });
    model = uuid_v7(3000000);
    uuid_text(people[0]->tenant_id, t);
    uuid_text(model, m);
    uuid_text(node, n);
    snprintf(sql, sizeof sql, "SET session_replication_role = replica;"
             "INSERT INTO model (tenant_id, model_id, name, created_by) VALUES ('%s', '%s', 'm', '%s');"
             "INSERT INTO model_version (tenant_id, model_id, version, object_id, family, inputs, outputs, created_by)"
             " SELECT '%s', '%s', v, '%s', 'mlp', 1, 1, '%s' FROM generate_series(1, 2) v", t, m, t, t, m, t, t);
    pg_harness_exec(pg, DB, sql);
    return 0;
}

static int teardown_rolls(void **state)
{
    db_pool_free(app.pool);
    app.pool = own_pool;
    return teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_turn), cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_replaced),
                                        cmocka_unit_test(test_keeper) };
    return cmocka_run_group_tests(tests, setup_rolls, teardown_rolls);
}
