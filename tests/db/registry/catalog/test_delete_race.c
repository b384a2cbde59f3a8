/* SPDX-License-Identifier: Apache-2.0 */
/* test_delete_race.c - a data set is deleted while a job that reads it is submitted: one of them wins, and the other says so.
 * Told as sessions and steps in both orders, each waiting in the database for the other, and as many rounds of both at once. */
#include "tests/db/registry/fixture.h"
#include "registry/catalog/content_delete.h"
#include "registry/catalog/dataset.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_repo.h"

#include <pthread.h>

enum { ROUNDS = 12, ARENA = 64 << 20 };

static struct app submitter;        /* the same, with the statements of jobs */

static int setup_both(void **state)
{
    static const struct stmt *const *const lists[] = { job_stmts, NULL };
    int rc = setup(state);
    submitter = app;
    submitter.pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_app", DB), .size = 2,
                                                         .lists = lists });
    OK(db_pool_check(submitter.pool, &e));
    return rc;
}

static int teardown_both(void **state)
{
    db_pool_free(submitter.pool);
    return teardown(state);
}

static struct dataset make(struct dataset_version *v)
{
    static int n;
    struct dataset d;
    const char *name = arena_printf(arena, "reeds-%d", n++);
    struct dataset_new in = { .name = str_c(name), .description = STR(""), .data_class = 1, .label_column = STR("label"),
                              .classes = 2 };
    struct work w = begin(0);
    OK(dataset_create(&w, &in, &d, &e));
    end(&w);
    w = begin(0);
    OK(add_version(&w, d.dataset_id, STR_NULL, DATA_CSV, STR("a,b,label\n1,2,0\n3,4,1\n"), v, &e));
    end(&w);
    return d;
}

/* A job that reads the object. */
static struct job_submission submission(struct arena *a, struct uuid object)
{
    struct job_input *in = ARENA_NEW(a, struct job_input);
    struct uuid id = uuid_v7(clock_wall_us(&clock_system));
    *in = (struct job_input){ STR("dataset"), object };
    return (struct job_submission){
        .job = { .tenant_id = people[0]->tenant_id, .job_id = id, .name = STR("j"), .kind = JOB_TRAIN, .spec = { STR("{}") },
                 .zone = str_c(ZONE), .pool = STR("default"), .data_class = STR("internal"), .queue = STR("default"), .slots = 1,
                 .max_attempts = 1, .max_runtime_s = 60, .created_by = people[0]->user_id },
        .kind_name = str_c(job_kind_names[JOB_TRAIN]), .route = STR("job_submit"), .key = id_text(a, "", id),
        .sha = STR("01234567890123456789012345678901"), .event_id = id, .event = STR("{}"), .inputs = { in, 1 } };
}

struct session {
    struct uuid dataset, object;
    pthread_barrier_t *barrier;     /* NULL: at once */
    struct arena *arena;
    struct job_submission s;
    struct content_deleted gone;
    enum errc rc;
    struct err err;
};

static void *submit_main(void *arg)
{
    struct session *t = arg;
    struct work w = { .app = &submitter, .arena = t->arena, .now_us = clock_wall_us(&clock_system) };
    struct job_submission *one = &t->s;
    t->s = submission(t->arena, t->object);
    if (t->barrier)
        pthread_barrier_wait(t->barrier);
    t->rc = job_submit_many(&w, &one, 1, &t->err);
    return NULL;
}

static void *delete_main(void *arg)
{
    struct session *t = arg;
    struct work w = { .app = &app, .arena = t->arena, .principal = people[0], .tenant_id = people[0]->tenant_id,
                      .now_us = clock_wall_us(&clock_system) };
    t->rc = db_begin(app.pool, SCOPE_TENANT(w.tenant_id), 0, t->arena, &w.tx, &t->err);
    if (t->barrier)
        pthread_barrier_wait(t->barrier);
    if (t->rc == ERR_OK)
        t->rc = content_delete(&w, &versioned_dataset, t->dataset, &t->gone, &t->err);
    if (t->rc == ERR_OK)
        t->rc = db_commit(w.tx, &t->err);
    db_rollback(w.tx);
    return NULL;
}

/* Until a session waits for another's lock. */
static void somebody_waits(void)
{
    pg_harness_exec(pg, DB, "DO $$ BEGIN FOR i IN 1..6000 LOOP"
                            " IF EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock') THEN RETURN; END IF;"
                            " PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP;"
                            " RAISE EXCEPTION 'nobody waits'; END $$");
}

/* Either the data set is whole and the job stored, or it is gone and no job waits for it. */
static void holds(struct uuid object, bool is_stored)
{
    char sql[1024], id[UUID_TEXT];
    uuid_text(object, id);
    snprintf(sql, sizeof sql, "DO $$ BEGIN IF (SELECT count(*) FROM job_object WHERE object_id = '%s') <> %d OR"
                              " (SELECT state FROM object WHERE object_id = '%s') <> '%s' OR"
                              " (SELECT sum(used) FROM quota WHERE resource = 'jobs') <> (SELECT count(*) FROM job)"
                              " THEN RAISE EXCEPTION 'a job without its data, or data without its job'; END IF; END $$",
             id, is_stored, id, is_stored ? "COMMITTED" : "DELETED");
    pg_harness_exec(pg, DB, sql);
}

/* A submission waits for a deletion, which ends or is called off; what came of the submission. The caller frees t.arena. */
static struct session submit_during_deletion(struct dataset_version *v, bool is_called_off)
{
    struct dataset d = make(v);
    struct session t = { .object = v->object_id, .arena = arena_new(ARENA) };
    struct content_deleted gone;
    pthread_t thread;
    struct work w = begin(0);
    OK(content_delete(&w, &versioned_dataset, d.dataset_id, &gone, &e));
    assert_int_equal(pthread_create(&thread, NULL, submit_main, &t), 0);
    somebody_waits();
    if (is_called_off)
        db_rollback(w.tx);
    else
        end(&w);
    pthread_join(thread, NULL);
    assert_int_equal(t.rc, ERR_OK);
    return t;
}

static void a_submission_meets_a_deletion(void **state)
{
    (void)state;
    struct dataset_version v;
    struct session t = submit_during_deletion(&v, false);
    assert_int_equal(t.s.verdict, JOB_INPUT_GONE);
    assert_int_equal(job_verdict_err(&t.s, &t.err), ERR_NOT_FOUND);
    assert_string_equal(t.err.msg, "The dataset that this job reads has just been deleted");
    holds(v.object_id, false);
    arena_free(t.arena);
}

static void a_deletion_that_is_called_off_costs_the_submission_nothing(void **state)
{
    (void)state;
    struct dataset_version v;
    struct session t = submit_during_deletion(&v, true);
    assert_int_equal(t.s.verdict, JOB_STORED);
    holds(v.object_id, true);
    arena_free(t.arena);
}

static void a_deletion_meets_a_submission(void **state)
{
    (void)state;
    struct dataset_version v;
    struct dataset d = make(&v);
    struct session t = { .dataset = d.dataset_id, .arena = arena_new(ARENA) };
    struct job_submission s = submission(arena, v.object_id), *one = &s;
    struct db_tx *tx = NULL;
    pthread_t thread;
    char hex[UUID_HEX];
    OK(db_begin(submitter.pool, SCOPE_SYSTEM, 0, arena, &tx, &e));
    OK(job_repo_submit_many(tx, &one, 1, "0", &e));
    assert_int_equal(s.verdict, JOB_STORED);
    assert_int_equal(pthread_create(&thread, NULL, delete_main, &t), 0);
    somebody_waits();
    OK(db_commit(tx, &e));
    db_rollback(tx);
    pthread_join(thread, NULL);
    assert_int_equal(t.rc, ERR_CONFLICT);
    hex_encode(s.job.job_id.b, 16, hex);
    assert_non_null(strstr(t.err.msg, hex));
    holds(v.object_id, true);
    arena_free(t.arena);
}

static void both_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct dataset_version v;
        struct dataset d = make(&v);
        pthread_barrier_t barrier;
        pthread_t threads[2];
        struct session by = { .object = v.object_id, .barrier = &barrier, .arena = arena_new(ARENA) };
        struct session to = { .dataset = d.dataset_id, .barrier = &barrier, .arena = arena_new(ARENA) };
        pthread_barrier_init(&barrier, NULL, 2);
        assert_int_equal(pthread_create(&threads[0], NULL, submit_main, &by), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, delete_main, &to), 0);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        assert_int_equal(by.rc, ERR_OK);
        bool is_stored = by.s.verdict == JOB_STORED;
        assert_int_equal(by.s.verdict, is_stored ? JOB_STORED : JOB_INPUT_GONE);
        assert_int_equal(to.rc, is_stored ? ERR_CONFLICT : ERR_OK);
        holds(v.object_id, is_stored);
        arena_free(by.arena);
        arena_free(to.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_submission_meets_a_deletion),
                                        cmocka_unit_test(a_deletion_that_is_called_off_costs_the_submission_nothing),
                                        cmocka_unit_test(a_deletion_meets_a_submission), cmocka_unit_test(both_at_once) };
    return cmocka_run_group_tests(tests, setup_both, teardown_both);
}
