/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_repo.c - submissions of many tenants in one statement: each item its own verdict, quotas exact, one job per key. */
#include "tests/db/scheduler/jobs/job_repo_kit.h"

#include <pthread.h>
#include <unistd.h>

static void many_tenants_in_one_call(void **state)
{
    (void)state;
    struct job_submission *items[40];
    char key[16];
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "k%d", i);
        items[i] = item(i % TENANTS, key, "a");
    }
    submit(items, 40);
    for (int i = 0; i < 40; i++)
        assert_int_equal(items[i]->verdict, JOB_STORED);
    for (int t = 0; t < TENANTS; t++) {
        assert_int_equal(jobs_of(t), 10);
        assert_int_equal(used(t), 10);
        assert_int_equal(NUMBER("SELECT count(*) FROM job_step WHERE tenant_id = '%s' AND state = 'PENDING' AND version = 1", hex(tenants[t])), 10);
        assert_int_equal(NUMBER("SELECT count(*) FROM audit_event WHERE tenant_id = '%s'", hex(tenants[t])), 10);
        assert_int_equal(NUMBER("SELECT count(*) FROM idempotency WHERE tenant_id = '%s' AND status = 201", hex(tenants[t])), 10);
    }
    /* A pending job has its reason, and the event's row was written by the transaction of the job. */
    assert_int_equal(NUMBER("SELECT count(*) FROM job WHERE reason = ''"), 0);
    assert_int_equal(NUMBER("SELECT count(DISTINCT xmin::text) FROM job"), 1);
}

static void what_fits_is_taken_in_order(void **state)
{
    (void)state;
    struct job_submission *items[10];
    sql("UPDATE quota SET hard_limit = 10, used = 7 WHERE tenant_id = '%s' AND resource = 'jobs'", hex(tenants[0]));
    sql("UPDATE quota SET hard_limit = 0 WHERE tenant_id = '%s' AND resource = 'jobs'", hex(tenants[2]));
    char key[16];
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof key, "k%d", i);
        items[i] = item(i < 6 ? 0 : i < 8 ? 1 : 2, key, "a");
    }
    submit(items, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(items[i]->verdict, i < 3 || (i >= 6 && i < 8) ? JOB_STORED : JOB_NO_QUOTA);
    assert_int_equal(items[3]->room, 3);
    assert_int_equal(items[9]->room, 0);
    assert_int_equal(used(0), 10);
    assert_int_equal(jobs_of(0), 3);
    assert_int_equal(used(1), 2);                       /* a full neighbour is no concern of theirs */
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency WHERE key IN ('k3', 'k9')"), 0);   /* a refusal is not kept: try again later */
}

static void the_same_key_gives_the_same_job(void **state)
{
    (void)state;
    struct job_submission *first = item(0, "key", "a"), *again = item(0, "key", "a"), *other = item(0, "key", "b"),
                          *neighbour = item(1, "key", "b"), *route = item(0, "key", "c");
    route->route = STR("job_submit_batch");
    submit(&first, 1);
    assert_int_equal(first->verdict, JOB_STORED);
    struct uuid id = first->job.job_id;
    submit(&again, 1);
    assert_int_equal(again->verdict, JOB_REPLAY);
    assert_true(uuid_eq(again->job.job_id, id));
    assert_true(again->job.submitted_at.us > 0);        /* read back: the job as it is now */
    submit(&other, 1);
    assert_int_equal(other->verdict, JOB_KEY_REUSED);
    submit(&neighbour, 1);
    assert_int_equal(neighbour->verdict, JOB_STORED);   /* another tenant's key is another key */
    submit(&route, 1);
    assert_int_equal(route->verdict, JOB_STORED);
    assert_int_equal(jobs_of(0), 2);
    assert_int_equal(used(0), 2);
    struct job_submission *user = item(0, "key", "d");  /* and so is another user's */
    user->job.created_by = users[1];
    submit(&user, 1);
    assert_int_equal(user->verdict, JOB_STORED);
}

static void a_replay_needs_no_quota(void **state)
{
    (void)state;
    struct job_submission *first = item(0, "key", "a"), *again = item(0, "key", "a");
    sql("UPDATE quota SET hard_limit = 1 WHERE tenant_id = '%s' AND resource = 'jobs'", hex(tenants[0]));
    submit(&first, 1);
    submit(&again, 1);
    assert_int_equal(again->verdict, JOB_REPLAY);
    assert_int_equal(used(0), 1);
}

struct twin {
    struct job_submission *item;
    pthread_barrier_t *barrier;
    enum errc rc;
};

static void *submit_twin(void *arg)
{
    struct twin *t = arg;
    struct err mine = { 0 };
    struct work w = { .app = &app, .arena = arena_new(4 << 20), .now_us = clock_wall_us(&clock_system) };
    pthread_barrier_wait(t->barrier);
    do
        t->rc = job_submit_many(&w, &t->item, 1, &mine);
    while (t->rc == ERR_RETRY);
    arena_free(w.arena);
    return NULL;
}

static void two_at_once_with_one_key(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[2];
        pthread_barrier_t barrier;
        char key[16];
        snprintf(key, sizeof key, "r%d", round);
        struct twin twins[2] = { { item(0, key, "a"), &barrier, 0 }, { item(0, key, "a"), &barrier, 0 } };
        pthread_barrier_init(&barrier, NULL, 2);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, submit_twin, &twins[i]), 0);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        int stored = 0;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(twins[i].rc, ERR_OK);
            stored += twins[i].item->verdict == JOB_STORED;
            assert_true(twins[i].item->verdict == JOB_STORED || twins[i].item->verdict == JOB_REPLAY || twins[i].item->verdict == JOB_KEY_BUSY);
        }
        assert_int_equal(stored, 1);
        assert_int_equal(jobs_of(0), round + 1);
        assert_int_equal(used(0), round + 1);
    }
}

static void inputs_are_stored_with_their_job(void **state)
{
    (void)state;
    struct job_input inputs[] = { { STR("dataset"), objects[0] } }, theirs[] = { { STR("dataset"), objects[1] } };
    struct job_submission *with = item(0, "a", "a"), *without = item(0, "b", "b"), *stolen = item(0, "c", "c");
    with->inputs = (struct slice){ inputs, 1 };
    struct job_submission *both[] = { without, with };
    submit(both, 2);
    assert_int_equal(NUMBER("SELECT count(*) FROM job_object WHERE job_id = '%s' AND direction = 'input' AND object_id = '%s' AND fence = 0",
                            hex(with->job.job_id), hex(objects[0])), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM job_object WHERE job_id = '%s'", hex(without->job.job_id)), 0);
    stolen->inputs = (struct slice){ theirs, 1 };       /* another tenant's object is none, and nothing is stored */
    submit(&stolen, 1);
    assert_int_equal(stolen->verdict, JOB_INPUT_GONE);
    assert_int_equal(jobs_of(0), 2);
    assert_int_equal(used(0), 2);
}

static struct job_submission *dear(int tenant, const char *key, bool waits)
{
    struct job_submission *s = item(tenant, key, "dear");
    s->job.zone = STR("ae-dxb-1");
    s->job.pool = STR("gpus");
    s->job.data_class = STR("health");
    s->job.queue = STR("night");
    s->job.slots = 3;
    s->job.gpus = 2;
    s->job.priority = -7;
    s->job.max_attempts = 5;
    s->job.max_runtime_s = 61;
    s->job.cpu_milli = 2500;
    s->job.memory_bytes = 3 << 20;
    s->job.gpu_milli = 500;
    s->job.gpu_models = STR("a,b");
    s->job.cls = STR("high");
    if (waits) {
        s->job.begin_at.us = INT64_C(4000000000000000);
        s->job.deadline_at.us = INT64_C(4000000001000000);
    }
    return s;
}

/* What is stored of the jobs with this key, but who and when: one text that all of them must have. */
static void assert_alike(const char *key, int64_t n)
{
    static const char row[] = "to_jsonb(j) - '{tenant_id,job_id,created_by,submitted_at,submitted_xid,ready_xid}'::text[]";
    static const char claim[] = "to_jsonb(i) - '{tenant_id,principal_id,resource_id,created_at}'::text[]";
    const char *from = "FROM idempotency i JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.resource_id";
    assert_int_equal(NUMBER("SELECT count(*) %s WHERE i.key = '%s'", from, key), n);
    assert_int_equal(NUMBER("SELECT count(DISTINCT (%s)) %s WHERE i.key = '%s'", row, from, key), 1);
    assert_int_equal(NUMBER("SELECT count(DISTINCT (%s)) %s WHERE i.key = '%s'", claim, from, key), 1);
    assert_int_equal(NUMBER("SELECT count(*) %s WHERE i.key = '%s' AND j.submitted_xid = j.ready_xid"
                            " AND j.submitted_xid::text = j.xmin::text AND j.created_by = i.principal_id", from, key), n);
}

/* The function has a way of its own for a submission that comes alone. */
static void one_that_comes_alone_is_stored_as_one_of_many(void **state)
{
    (void)state;
    struct job_submission *plain = item(0, "plain", "a"), *some[] = { item(1, "plain", "a"), item(2, "plain", "a") };
    submit(&plain, 1);
    submit(some, 2);
    assert_alike("plain", 3);
    for (int waits = 0; waits < 2; waits++) {
        const char *key = waits ? "later" : "now";
        struct job_submission *one = dear(0, key, waits), *both[] = { dear(1, key, waits), dear(2, key, waits) };
        submit(&one, 1);
        submit(both, 2);
        assert_alike(key, 3);
        assert_int_equal(one->room, both[0]->room);
        assert_int_equal(one->verdict, JOB_STORED);
    }
    assert_int_equal(NUMBER("SELECT count(*) FROM job WHERE reason = 'BeginTime' AND not_before = begin_at"), 3);
    assert_int_equal(NUMBER("SELECT count(DISTINCT body) FROM audit_event"), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event"), 9);
    for (int t = 0; t < 3; t++)
        assert_int_equal(used(t), 3);
}

/* New ones are written before anybody is judged while there is room for all, and after it where somebody has none. */
static void a_known_key_leaves_its_neighbours_as_they_are(void **state)
{
    (void)state;
    struct job_submission *known[] = { item(0, "k", "a"), item(1, "k", "a") }, *plain = item(3, "with-room", "a"), *none;
    submit(known, 2);
    submit(&plain, 1);
    for (int full = 0; full < 2; full++) {
        const char *key = full ? "without" : "with-room";
        struct job_submission *some[] = { item(0, key, "a"), item(0, "k", "a"), item(1, "k", "b"), item(1, key, "a"),
                                          item(2, key, "a") };
        if (full)
            sql("UPDATE quota SET hard_limit = used WHERE tenant_id = '%s' AND resource = 'jobs'", hex(tenants[2]));
        submit(some, 5);
        assert_int_equal(some[0]->verdict, JOB_STORED);
        assert_int_equal(some[1]->verdict, JOB_REPLAY);
        assert_true(uuid_eq(some[1]->job.job_id, known[0]->job.job_id));
        assert_int_equal(some[2]->verdict, JOB_KEY_REUSED);
        assert_int_equal(some[3]->verdict, JOB_STORED);
        assert_int_equal(some[4]->verdict, full ? JOB_NO_QUOTA : JOB_STORED);
        assert_alike(key, full ? 2 : 4);
    }
    for (int t = 0; t < TENANTS; t++)
        assert_int_equal(used(t), t < 2 ? 3 : 1);
    for (int t = 0; t < TENANTS; t++)
        assert_int_equal(jobs_of(t), used(t));
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event"), 8);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency"), 8);
    none = item(0, "elsewhere", "a");           /* whose tenant has no row of a quota has no room */
    none->job.tenant_id = new_id();
    struct job_submission *two[] = { item(1, "beside", "a"), none };
    submit(two, 2);
    assert_int_equal(two[0]->verdict, JOB_STORED);
    assert_int_equal(none->verdict, JOB_NO_QUOTA);
}

/* What has ended since the last submission makes room, and is counted once. */
static void one_alone_sees_what_has_ended(void **state)
{
    (void)state;
    struct job_submission *one = item(0, "a", "a"), *both[] = { item(1, "a", "a"), item(2, "a", "a") };
    struct job_submission *more = item(0, "b", "b");
    sql("UPDATE quota SET hard_limit = 10, used = 10, ended = 2 WHERE resource = 'jobs';"
        "INSERT INTO job_end (tenant_id, ended) SELECT tenant_id, 5 FROM tenant WHERE tenant_id <> '%s'", hex(UUID_NIL));
    submit(&one, 1);
    submit(both, 2);
    assert_int_equal(one->verdict, JOB_STORED);
    assert_int_equal(one->room, 3);
    assert_int_equal(both[0]->room, 3);
    assert_int_equal(NUMBER("SELECT count(DISTINCT (used, ended)) FROM quota"
                            " WHERE resource = 'jobs' AND tenant_id IN ('%s', '%s')", hex(tenants[0]), hex(tenants[1])), 1);
    assert_int_equal(used(0), 8);
    sql("UPDATE quota SET used = 10 WHERE tenant_id = '%s' AND resource = 'jobs'", hex(tenants[0]));
    submit(&more, 1);
    assert_int_equal(more->verdict, JOB_NO_QUOTA);
    assert_int_equal(more->room, 0);
}

/* Random batches with repeated keys, changed bodies, tight quotas and cancellations: the books always balance. */
static void the_books_balance(void **state)
{
    (void)state;
    uint32_t seed = 12345;
#define DICE(n) ((seed = seed * 1664525u + 1013904223u) >> 8) % (uint32_t)(n)
    sql("UPDATE quota SET hard_limit = 25 WHERE resource = 'jobs'");
    for (int round = 0; round < 60; round++) {
        struct job_submission *items[24];
        size_t n = 1 + DICE(24);
        for (size_t i = 0; i < n; i++) {
            char key[32], body[8];
            /* Keys of one call are distinct (the combiner sees to it); across calls they repeat. */
            snprintf(key, sizeof key, "%zu-%u", i, DICE(6));
            snprintf(body, sizeof body, "%u", DICE(2));
            items[i] = item((int)(DICE(TENANTS)), key, body);
        }
        submit(items, n);
        for (size_t i = 0; i < n; i++)
            if (items[i]->verdict == JOB_STORED && DICE(3) == 0) {
                struct job job;
                int t = 0;
                while (!uuid_eq(tenants[t], items[i]->job.tenant_id))
                    t++;
                struct work *w = unit_open(tenants[t], NULL);
                OK(job_cancel(w, items[i]->job.job_id, &job, &e));
                unit_commit(w);
            }
        assert_int_equal(NUMBER("SELECT count(*) FROM quota WHERE resource = 'jobs' AND (" JOBS_USED ") <>"
                                " (SELECT count(*) FROM job j"
                                " WHERE j.tenant_id = quota.tenant_id AND j.finished_at IS NULL)"), 0);
    }
    assert_int_equal(NUMBER("SELECT count(*) FROM quota WHERE used > hard_limit"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event") - NUMBER("SELECT count(*) FROM job"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM job_step WHERE version = 1") - NUMBER("SELECT count(*) FROM job"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency") - NUMBER("SELECT count(*) FROM job"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency i LEFT JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.resource_id"
                            " WHERE j.job_id IS NULL"), 0);
    assert_true(NUMBER("SELECT count(*) FROM job") > 60);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(many_tenants_in_one_call), T(what_fits_is_taken_in_order), T(the_same_key_gives_the_same_job), T(a_replay_needs_no_quota),
        T(two_at_once_with_one_key), T(inputs_are_stored_with_their_job),
        T(one_that_comes_alone_is_stored_as_one_of_many), T(a_known_key_leaves_its_neighbours_as_they_are),
        T(one_alone_sees_what_has_ended),
        T(the_books_balance),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
