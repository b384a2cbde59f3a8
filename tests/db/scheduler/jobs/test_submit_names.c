/* SPDX-License-Identifier: Apache-2.0 */
/* test_submit_names.c - submissions of several tenants name queues, classes and projects, known and not: each gets its own answer
 * from one look, and a batch of them is judged by one quota, whatever queue or class its jobs name; a stopped queue's wait. */
#include "tests/db/scheduler/fixture.h"
#include "audit/event.h"
#include "scheduler/jobs/job_queue.h"
#include "scheduler/jobs/submit.h"
#include "scheduler/jobs/submit_names.h"
#include "tenants/access/principal.h"

#include <string.h>

enum { MOST = 8 };
static struct machine m;
static struct principal *who;

static void before_all(void);
FIXTURE_GROUP(before_all(), principal_unref(who))

static void declare(const char *queue, const char *stop)
{
    char t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    fixture_exec(&f, "INSERT INTO queue (tenant_id, queue_id, name, stop_policy, created_by)"
                     " VALUES ('%s', gen_random_uuid(), '%s', '%s', gen_random_uuid())", t, queue, stop);
}

static void before_all(void)
{
    static struct str zones[] = { { "ae-dxb-1", 8 } };
    char t[UUID_TEXT];
    machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0);
    who = principal_new();
    who->tenant_id = f.tenant_a;
    who->user_id = uuid_v7(1);
    who->home_zone = zones[0];
    who->allowed_zones = (struct slice){ zones, 1 };
    uuid_text(f.tenant_a, t);
    declare("night", "None");
    declare("stopped", "Hold");
    fixture_exec(&f, "INSERT INTO priority_class (class, value) VALUES ('usual', 10);"
                     "INSERT INTO quota_rule (tenant_id, rule_id, place, queue, resource, nominal, created_by)"
                     " VALUES ('%s', gen_random_uuid(), 'queue', 'ruled', 'slots', 4, gen_random_uuid())", t);
}

static struct work work_of(struct uuid tenant)
{
    return (struct work){ .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = tenant, .principal = who,
                          .now_us = clock_wall_us(&clock_system) };
}

static struct job_create noop(const char *queue, const char *cls)
{
    return (struct job_create){ .name = STR("j"), .kind = JOB_NOOP, .spec = { STR("{}") }, .pool = STR("default"), .slots = 1,
                                .queue = str_c(queue), .cls = str_c(cls), .max_attempts = 3, .max_runtime_seconds = 60 };
}

static void each_submission_has_its_own_answer(void **state)
{
    (void)state;
    static const struct { const char *queue, *cls; bool is_b, no_queue, no_class; } rows[MOST] = {
        { "night", "usual", false, false, false },  { "ruled", "default", false, false, false },
        { "nigth", "usual", false, true, false },   { "night", "usaul", false, false, true },
        { "night", "usual", true, true, false },    { "default", "default", true, false, false },
        { "zzzzzz", "night", true, true, true },    { "", "", false, false, false },
    };
    struct job_create in[MOST];
    const struct job_create *each[MOST];
    const struct work *who_of[MOST];
    struct submit_names names[MOST];
    struct work w = work_of(UUID_NIL), a = { .tenant_id = f.tenant_a }, b = { .tenant_id = f.tenant_b };
    for (size_t i = 0; i < MOST; i++) {
        in[i] = noop(rows[i].queue, rows[i].cls);
        each[i] = &in[i];
        who_of[i] = rows[i].is_b ? &b : &a;
    }
    OK(submit_names_ask(&w, each, who_of, MOST, names, e));
    for (size_t i = 0; i < MOST; i++) {
        assert_int_equal(names[i].no_queue, rows[i].no_queue);
        assert_int_equal(names[i].no_class, rows[i].no_class);
    }
    arena_free(w.arena);
}

/* The same rule for one, with the words of the refusal. */
static enum errc ask_one(const char *queue, const char *cls, struct err *why)
{
    struct work w = work_of(f.tenant_a);
    struct job_submission s = { 0 };
    const struct job_create in = noop(queue, cls);
    *why = (struct err){ 0 };
    enum errc rc = submit_prepare_one(&w, &in, who, &s, why);
    arena_free(w.arena);
    return rc;
}

static void what_nobody_knows_is_refused_by_name(void **state)
{
    (void)state;
    struct err why;
    OK(ask_one("night", "usual", e));
    OK(ask_one("ruled", "default", e));
    assert_int_equal(ask_one("nigth", "usual", &why), ERR_UNPROCESSABLE);
    assert_string_equal(why.field, "/queue");
    assert_string_equal(why.msg, "There is no queue nigth; did you mean night?");
    assert_int_equal(ask_one("zzzzzz", "usual", &why), ERR_UNPROCESSABLE);
    assert_string_equal(why.msg, "There is no queue zzzzzz: declare it, give it a quota rule, or leave it out for default");
    assert_int_equal(ask_one("nigth", "usaul", &why), ERR_INVALID);     /* the class comes first */
    assert_string_equal(why.field, "/class");
    assert_string_equal(why.msg, "There is no priority class usaul");
}

static struct uuid project_of(struct uuid tenant, const char *name, const char *state)
{
    char t[UUID_TEXT], p[UUID_TEXT];
    const struct uuid id = uuid_v7(clock_wall_us(&clock_system));
    uuid_text(tenant, t);
    uuid_text(id, p);
    fixture_exec(&f, "INSERT INTO project (tenant_id, project_id, name, display_name, state, created_by)"
                     " VALUES ('%s', '%s', '%s', '%s', '%s', gen_random_uuid())", t, p, name, name, state);
    return id;
}

/* Members of one project, of two, and of none in particular submit together: which project it is, and whether it may be. */
static void each_goes_to_a_project_that_it_may_use(void **state)
{
    (void)state;
    const struct uuid red = project_of(f.tenant_a, "red", "ACTIVE"), old = project_of(f.tenant_a, "old", "CLOSED");
    const struct uuid foreign = project_of(f.tenant_b, "red", "ACTIVE"), nobodys = uuid_v7(3);
    struct uuid one[] = { red }, two[] = { red, old };
    struct work all = { .tenant_id = f.tenant_a }, of_one = all, of_two = all, w = work_of(UUID_NIL);
    of_one.projects = (struct slice){ one, 1 };
    of_two.projects = (struct slice){ two, 2 };
    const struct { const struct work *who; struct uuid named, goes_to; enum errc rc; } rows[] = {
        { &all, UUID_NIL, UUID_NIL, ERR_OK }, { &all, red, red, ERR_OK }, { &all, old, UUID_NIL, ERR_CONFLICT },
        { &all, foreign, UUID_NIL, ERR_NOT_FOUND }, { &all, nobodys, UUID_NIL, ERR_NOT_FOUND },
        { &of_one, UUID_NIL, red, ERR_OK }, { &of_one, old, UUID_NIL, ERR_NOT_FOUND },
        { &of_two, UUID_NIL, UUID_NIL, ERR_MISSING_FIELD }, { &of_two, red, red, ERR_OK },
        { &of_two, old, UUID_NIL, ERR_CONFLICT },
    };
    enum { N = sizeof rows / sizeof *rows };
    struct job_create in[N];
    const struct job_create *each[N];
    const struct work *who_of[N];
    struct submit_names names[N];
    for (size_t i = 0; i < N; i++) {
        in[i] = noop("night", "usual");
        in[i].project_id = rows[i].named;
        each[i] = &in[i];
        who_of[i] = rows[i].who;
    }
    OK(submit_names_ask(&w, each, who_of, N, names, e));
    for (size_t i = 0; i < N; i++) {
        struct uuid to;
        struct err why = { 0 };
        assert_int_equal(submit_names_project(rows[i].who, &in[i], &names[i], &to, &why), rows[i].rc);
        if (rows[i].rc == ERR_OK)
            assert_true(uuid_eq(to, rows[i].goes_to));
        else
            assert_string_equal(why.field, "/project_id");
        assert_false(names[i].no_queue || names[i].no_class);
    }
    arena_free(w.arena);
}

/* A queue that is declared or forgotten counts at once. */
static void no_answer_is_kept(void **state)
{
    (void)state;
    struct err why;
    assert_int_equal(ask_one("late", "default", &why), ERR_UNPROCESSABLE);
    declare("late", "None");
    OK(ask_one("late", "default", e));
    fixture_exec(&f, "DELETE FROM queue WHERE name = 'late'");
    assert_int_equal(ask_one("late", "default", &why), ERR_UNPROCESSABLE);
    fixture_exec(&f, "INSERT INTO priority_class (class, value) VALUES ('late', 1)");
    OK(ask_one("default", "late", e));
    fixture_exec(&f, "DELETE FROM priority_class WHERE class = 'late'");
    assert_int_equal(ask_one("default", "late", &why), ERR_INVALID);
}

/* As the combiner does it: names of all, each prepared, all stored. Returns how many were. */
static size_t submit_all(const struct job_create *in, size_t n, struct job_submission *all)
{
    struct work w = work_of(f.tenant_a);
    struct job_submission *items[MOST];
    const struct job_create *each[MOST];
    const struct work *who_of[MOST];
    struct submit_names names[MOST];
    struct audit_rows rows;
    size_t stored = 0;
    for (size_t i = 0; i < n; i++) {
        each[i] = &in[i];
        who_of[i] = &w;
    }
    OK(submit_names_ask(&w, each, who_of, n, names, e));
    for (size_t i = 0; i < n; i++) {
        all[i] = (struct job_submission){ .kind_name = STR("noop"), .route = STR("job_submit"),
                                          .sha = STR("01234567890123456789012345678901") };
        OK(submit_prepare(&w, &in[i], who, &names[i], &all[i], e));
        struct audit_event ev = audit_event_of(&w, AUDIT_JOB_SUBMIT);
        OK(audit_encode_many(w.arena, &ev, 1, &rows, e));
        all[i].key = id_text(w.arena, "", all[i].job.job_id);
        all[i].event_id = rows.event_ids[0];
        all[i].event = rows.bodies[0];
        items[i] = &all[i];
    }
    OK(job_submit_many(&w, items, n, e));
    for (size_t i = 0; i < n; i++)
        stored += all[i].verdict == JOB_STORED;
    arena_free(w.arena);
    return stored;
}

static void room_is_one_for_all_queues_and_classes(void **state)
{
    (void)state;
    const struct job_create in[] = { noop("night", "usual"), noop("default", "default"), noop("ruled", "usual"),
                                     noop("night", "default"), noop("stopped", "usual") };
    struct job_submission s[5];
    fixture_exec(&f, "UPDATE quota SET hard_limit = 3 WHERE resource = 'jobs'");
    assert_int_equal(submit_all(in, 5, s), 3);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(s[i].verdict, i < 3 ? JOB_STORED : JOB_NO_QUOTA);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE (queue, class) IN (('night', 'usual'),"
                                       " ('default', 'default'), ('ruled', 'usual'))"), 3);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job"), 3);
    for (size_t i = 0; i < 3; i++)
        cancel_job(&f, f.tenant_a, s[i].job.job_id);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1000 WHERE resource = 'jobs'");
    fixture_check(&f);
}

static void of_one_batch_the_stopped_queues_jobs_wait(void **state)
{
    (void)state;
    const struct job_create in[] = { noop("stopped", "usual"), noop("night", "usual"), noop("stopped", "default"),
                                     noop("default", "default") };
    struct job_submission s[4];
    assert_int_equal(submit_all(in, 4, s), 4);
    assert_int_equal(plan(&f), 2);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(state_of(&f, s[i].job.job_id), i % 2 ? "ADMITTED" : "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND reason = 'QueueStopped'"), 2);
    fixture_end_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_submission_has_its_own_answer), cmocka_unit_test(what_nobody_knows_is_refused_by_name),
        cmocka_unit_test(each_goes_to_a_project_that_it_may_use), cmocka_unit_test(no_answer_is_kept),
        cmocka_unit_test(room_is_one_for_all_queues_and_classes),
        cmocka_unit_test(of_one_batch_the_stopped_queues_jobs_wait),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
