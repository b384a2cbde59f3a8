/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_repo.c - submissions of many tenants in one statement: each item its own verdict, quotas exact, one job per key. */
#include "tests/db/tenants/fixture.h"
#include "core/crypto/hash.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_repo.h"
#include "scheduler/jobs/job_search.h"
#include "tenants/accounts/quota.h"
#include <pthread.h>
#include <unistd.h>

enum { TENANTS = 4 };
static struct uuid tenants[TENANTS], users[TENANTS], objects[TENANTS];
static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { job_stmts, job_apply_stmts, job_search_stmts, quota_stmts, NULL };
    world_new(lists, 8);
    arena = arena_new(256u << 20);
    for (int i = 0; i < TENANTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "tenant-%d", i);
        tenants[i] = new_id();
        tenant_make(tenants[i], name);
        users[i] = user_make(tenants[i], "u", "ml-engineer");
        objects[i] = new_id();
        sql("INSERT INTO object (tenant_id, object_id, zone, kind, state, sha256, stored_sha256)"
            " VALUES ('%s', '%s', 'ae-dxb-1', 'dataset', 'COMMITTED', sha256(''), sha256(''))", hex(tenants[i]), hex(objects[i]));
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
    sql("DELETE FROM job_object; DELETE FROM job_event; DELETE FROM job; DELETE FROM idempotency; DELETE FROM audit_event;"
        "DELETE FROM job_end; UPDATE quota SET used = 0, ended = 0, hard_limit = 100");
    return 0;
}

/* body stands for the request: the same body has the same hash. */
static struct job_submission *item(int tenant, const char *key, const char *body)
{
    struct job_submission *s = ARENA_NEW(arena, struct job_submission);
    uint8_t *sha = arena_alloc(arena, 32);
    sha256(body, strlen(body), sha);
    s->job = (struct job){ .tenant_id = tenants[tenant], .job_id = new_id(), .name = str_dup(arena, str_c(body)), .kind = JOB_NOOP,
        .spec = { STR("{\"sleep_ms\": 1}") }, .pool = STR("default"), .data_class = STR("internal"), .queue = STR("default"), .slots = 1, .max_attempts = 3,
        .max_runtime_s = 60, .version = 1, .created_by = users[tenant] };
    s->kind_name = STR("noop");
    s->route = STR("job_submit");
    s->key = str_dup(arena, str_c(key));
    s->sha = str_n((char *)sha, 32);
    s->event_id = new_id();
    s->event = STR("{}");
    return s;
}

static struct work a_work(void)
{
    return (struct work){ .app = &app, .arena = arena, .now_us = clock_wall_us(&clock_system) };
}

static void submit(struct job_submission **items, size_t n)
{
    struct work w = a_work();
    OK(job_submit_many(&w, items, n, &e));
}

static int64_t used(int tenant)
{
    return NUMBER("SELECT " JOBS_USED " FROM quota WHERE tenant_id = '%s' AND resource = 'jobs'", hex(tenants[tenant]));
}

static int64_t jobs_of(int tenant)
{
    return NUMBER("SELECT count(*) FROM job WHERE tenant_id = '%s'", hex(tenants[tenant]));
}

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

static void reads_match_the_pair(void **state)
{
    (void)state;
    struct job_submission *a = item(0, "a", "a"), *b = item(1, "b", "b");
    struct job_submission *both[] = { a, b };
    submit(both, 2);
    struct uuid t[] = { tenants[0], tenants[1], tenants[0], tenants[1], tenants[0] };
    struct uuid j[] = { a->job.job_id, b->job.job_id, b->job.job_id, a->job.job_id, new_id() };
    struct job got[5];
    bool found[5];
    struct work w = a_work();
    OK(job_get_many(&w, t, j, 5, got, found, &e));
    assert_true(found[0] && found[1] && !found[2] && !found[3] && !found[4]);
    assert_true(uuid_eq(got[0].tenant_id, tenants[0]) && str_eq_c(got[1].name, "b"));
    assert_true(got[0].submitted_at.us == a->job.submitted_at.us && got[1].submitted_at.us == b->job.submitted_at.us);
    /* The same pair asked twice, as two callers of one batch would. */
    struct uuid t2[] = { tenants[0], tenants[0] }, j2[] = { a->job.job_id, a->job.job_id };
    OK(job_get_many(&w, t2, j2, 2, got, found, &e));
    assert_true(found[0] && found[1]);
    struct work *u = unit_open(tenants[0], NULL);
    REFUSED(job_get(u, b->job.job_id, got, &e), NOT_FOUND);
    unit_drop(u);
}

static void a_task_knows_its_array(void **state)
{
    (void)state;
    struct job_submission *task = item(0, "a", "sweep[0]"), *alone = item(0, "b", "b[0]"), *both[] = { task, alone };
    submit(both, 2);
    char sql[1024];
    const struct uuid id = new_id();
    snprintf(sql, sizeof sql, "INSERT INTO job_array (tenant_id, array_id, name, tasks, first_index, step, total, most, template,"
             " created_by) SELECT tenant_id, '%s', 'sweep', '0', 0, 1, 1, 1, '{}', created_by FROM job WHERE name = 'b[0]';"
             "INSERT INTO array_task (tenant_id, array_id, task_index, try, job_id)"
             " SELECT a.tenant_id, array_id, 0, 1, '", hex(id));
    strcat(strcat(sql, hex(task->job.job_id)), "' FROM job_array a");
    pg_harness_exec(pg, DB, sql);
    struct uuid t[] = { tenants[0], tenants[0] }, j[] = { alone->job.job_id, task->job.job_id };
    struct job got[2];
    bool found[2];
    struct work w = a_work();
    OK(job_get_many(&w, t, j, 2, got, found, &e));
    pg_harness_exec(pg, DB, "DELETE FROM array_task; DELETE FROM job_array");
    assert_true(uuid_eq(got[1].array_id, id) && uuid_is_nil(got[0].array_id));
}

static void pages_and_filters(void **state)
{
    (void)state;
    struct job_submission *items[25];
    char key[16];
    for (int i = 0; i < 25; i++) {
        snprintf(key, sizeof key, "k%d", i);
        items[i] = item(i < 20 ? 0 : 1, key, "a");
    }
    submit(items, 25);
    struct slice page = { 0 };
    struct uuid at = UUID_NIL;
    size_t seen = 0;
    struct work *w = unit_open(tenants[0], NULL);
    do {
        OK(job_list(w, &(struct job_filter){ 0 }, at, 7, &page, &e));
        const struct job *j = page.items;
        for (size_t i = 0; i < page.n; i++, seen++) {
            assert_true(uuid_eq(j[i].tenant_id, tenants[0]));
            assert_true(uuid_is_nil(at) || uuid_cmp(j[i].job_id, at) < 0);
            at = j[i].job_id;
        }
    } while (page.n == 7);
    assert_int_equal(seen, 20);
    unit_drop(w);
}

static void a_pending_job_is_cancelled_at_once(void **state)
{
    (void)state;
    struct job_submission *s = item(0, "a", "a");
    struct job job;
    struct slice events = { 0 };
    submit(&s, 1);
    struct work *w = unit_open(tenants[1], NULL);
    REFUSED(job_cancel(w, s->job.job_id, &job, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(tenants[0], NULL);
    OK(job_cancel(w, s->job.job_id, &job, &e));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_true(job.cancel_requested && job.finished_at.us > 0 && job.version == 2);
    OK(job_events(w, s->job.job_id, 0, 10, &events, &e));
    assert_int_equal(events.n, 2);
    assert_true(str_eq_c(((struct job_event *)events.items)[1].state, "CANCELLED"));
    OK(job_events(w, s->job.job_id, 1, 10, &events, &e));
    assert_int_equal(events.n, 1);
    REFUSED(job_cancel(w, s->job.job_id, &job, &e), CONFLICT);
    unit_commit(w);
    assert_int_equal(used(0), 0);
}

static void one_that_a_worker_holds_is_asked_to_stop(void **state)
{
    (void)state;
    struct job_submission *s = item(0, "a", "a");
    struct job job;
    submit(&s, 1);
    sql("UPDATE job SET state = 'ADMITTED', queued = false, version = 2 WHERE job_id = '%s'", hex(s->job.job_id));
    struct work *w = unit_open(tenants[0], NULL);
    OK(job_cancel(w, s->job.job_id, &job, &e));
    unit_commit(w);
    assert_int_equal(job.state, JOB_ADMITTED);
    assert_true(job.cancel_requested);
    assert_int_equal(used(0), 1);                       /* the worker's report gives it back */
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
        T(two_at_once_with_one_key), T(inputs_are_stored_with_their_job), T(reads_match_the_pair),
        T(a_task_knows_its_array), T(pages_and_filters), T(a_pending_job_is_cancelled_at_once),
        T(one_that_a_worker_holds_is_asked_to_stop), T(the_books_balance),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
