/* SPDX-License-Identifier: Apache-2.0 */
/* test_submit.c - what a submission reads before it is stored: the data set's version and zone, and whether any machine is large enough. */
#include "tests/db/scheduler/jobs/submit_kit.h"
#include "audit/event.h"
#include "core/crypto/stream.h"
#include "core/table/config.h"
#include "scheduler/jobs/forecast.h"

static enum errc submit_layers(struct str dataset_text, const char *hidden, struct err *e)
{
    struct job_submission s;
    return prepare(who, JOB_TRAIN, arena_printf(arena, "{\"dataset_id\":\"%.*s\",\"hidden\":[%s]}", STR_ARG(dataset_text),
                                                hidden), NULL, 1, 0,
                   &s, e);
}

/* One input, ten classes: four square layers of 8192 units are 1 GiB and a little, three are below it. */
static void a_model_that_could_not_be_stored_is_refused_at_submit(void **state)
{
    (void)state;
    struct err e;
    arena = arena_new(64 << 20);
    struct str id = id_text(arena, "dst", dataset);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 2000000000 WHERE resource = 'stored_bytes'");
    assert_int_equal(submit_layers(id, "8192,8192,8192,8192", &e), ERR_OK);
    assert_int_equal(submit_layers(id, "8192,8192,8192,8192,8192", &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.field, "/spec/hidden");
    assert_non_null(strstr(e.msg, "models of at most 1073741824 are stored"));
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1000000 WHERE resource = 'stored_bytes'");
    assert_int_equal(submit_layers(id, "8192,8192", &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "the tenant's quota of stored_bytes is 1000000 in all"));
    assert_int_equal(submit_layers(id, "64", &e), ERR_OK);
    arena_free(arena);
}

/* A model in the data set's zone, whose object has that class. */
static struct uuid add_model(const char *name, const char *data_class)
{
    struct uuid model = uuid_v7(clock_wall_us(&clock_system)), content = uuid_v7(clock_wall_us(&clock_system));
    char t[UUID_TEXT], d[UUID_TEXT], o[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    uuid_text(model, d);
    uuid_text(content, o);
    fixture_exec(&f, "INSERT INTO object (tenant_id, object_id, zone, kind, state, data_class, sha256, stored_sha256)"
                     " VALUES ('%s','%s','ae-dxb-1','model','COMMITTED','%s', sha256('a'), sha256('b'));"
                     "INSERT INTO model (tenant_id, model_id, name, latest_version, created_by) VALUES ('%s','%s','%s',1,'%s');"
                     "INSERT INTO model_version (tenant_id, model_id, version, object_id, family, inputs, outputs, created_by)"
                     " VALUES ('%s','%s',1,'%s','mlp',2,10,'%s')", t, o, data_class, t, d, name, o, t, d, o, o);
    return model;
}

static enum errc submit_beside(const char *member, struct uuid model, struct job_submission *s, struct err *e)
{
    const char *spec = arena_printf(arena, "{\"dataset_id\":\"%.*s\",\"family\":\"mlp\",\"hidden\":[8],\"epochs\":1,"
                                    "\"%s\":\"%.*s\"}", STR_ARG(id_text(arena, "dst", dataset)), member,
                                    STR_ARG(id_text(arena, "mdl", model)));
    return prepare(who, JOB_TRAIN, spec, NULL, 1, 0, s, e);
}

/* The data set is under the law of health: a model under another law of its own is no input of the same job. */
static void models_under_another_law_are_refused(void **state)
{
    (void)state;
    static const char *const members[] = { "start_from", "teacher" };
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    const struct uuid bank = add_model("bank", "banking"), open = add_model("open", "public");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(submit_beside(members[i], bank, &s, &e), ERR_UNPROCESSABLE);
        assert_string_equal(e.field, arena_printf(arena, "/spec/%s", members[i]));
        assert_non_null(strstr(e.msg, "health and banking"));
        assert_int_equal(submit_beside(members[i], open, &s, &e), ERR_OK);
        assert_true(str_eq_c(s.job.data_class, "health"));
        assert_int_equal(s.inputs.n, 2);
    }
    arena_free(arena);
}

static void data_stays_where_it_may_be(void **state)
{
    (void)state;
    static const struct str both[] = { { "ae-dxb-1", 8 }, { "ae-auh-1", 8 } };
    struct principal *two = person(f.tenant_a, both, 2), *stranger = person(f.tenant_b, both, 2);
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    char t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    fixture_exec(&f, "INSERT INTO tenant_zone (tenant_id, data_class, zone) VALUES ('%s', 'health', 'ae-auh-1')", t);
    assert_int_equal(prepare(two, JOB_TRAIN, train_spec(0), NULL, 1, 0, &s, &e), ERR_RESIDENCY);
    assert_string_equal(e.field, "/spec/dataset_id");
    assert_non_null(strstr(e.detail, "rule=not_allowed act=submit class=health zone=ae-dxb-1"));
    fixture_exec(&f, "DELETE FROM tenant_zone");
    assert_int_equal(prepare(two, JOB_NOOP, "{}", "ae-auh-1", 1, 0, &s, &e), ERR_RESIDENCY);
    assert_string_equal(e.field, "/zone");
    assert_int_equal(prepare(two, JOB_TRAIN, train_spec(0), "ae-auh-1", 1, 0, &s, &e), ERR_RESIDENCY);
    assert_string_equal(e.field, "/zone");
    assert_int_equal(prepare(stranger, JOB_TRAIN, train_spec(0), NULL, 1, 0, &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/dataset_id");
    principal_unref(two);
    principal_unref(stranger);
    arena_free(arena);
}

static void what_no_machine_can_run_is_refused_with_the_numbers(void **state)
{
    (void)state;
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    assert_int_equal(prepare(who, JOB_NOOP, "{}", NULL, 8, 1, &s, &e), ERR_OK);
    assert_int_equal(prepare(who, JOB_NOOP, "{}", NULL, 9, 0, &s, &e), ERR_UNPLACEABLE);
    assert_string_equal(e.field, "/slots");
    assert_non_null(strstr(e.msg, "8"));
    assert_int_equal(prepare(who, JOB_NOOP, "{}", NULL, 1, 2, &s, &e), ERR_UNPLACEABLE);
    assert_string_equal(e.field, "/gpus");
    fixture_exec(&f, "UPDATE node SET gpus = 0");
    struct capacity_cache *before = f.api.capacity;
    f.api.capacity = capacity_cache_new();              /* which knows nothing yet */
    assert_int_equal(prepare(who, JOB_NOOP, "{}", NULL, 1, 1, &s, &e), ERR_UNPLACEABLE);
    assert_string_equal(e.msg, "No machine with a GPU is registered in a zone that the tenant may use");
    assert_int_equal(prepare(who, JOB_NOOP, "{}", "ae-dxb-1", 1, 1, &s, &e), ERR_UNPLACEABLE);
    assert_string_equal(e.msg, "No machine with a GPU is registered in zone ae-dxb-1");
    assert_string_equal(e.field, "/gpus");
    capacity_cache_free(f.api.capacity);
    f.api.capacity = before;
    arena_free(arena);
}

/* Submissions that come together are one statement: the first promises its most, and the second no longer fits. A job of 60 seconds
 * at 3600 an hour takes at most 60; the budget has room for one and a half. */
static void a_batch_cannot_promise_a_budget_twice(void **state)
{
    (void)state;
    struct uuid ids[2];
    fixture_exec(&f, "INSERT INTO price (price_id, flavor, valid_from, currency, slot_hour, gpu_hour, kwh, slot_watts, gpu_watts,"
                     " created_by) VALUES (gen_random_uuid(), 'cpu', now(), 'AED', 3600, 0, 0, 0, 0, gen_random_uuid());"
                     "INSERT INTO budget (tenant_id, budget_id, name, measure, amount, currency, period, period_start, stop_percent,"
                     " reserve, created_by) SELECT tenant_id, gen_random_uuid(), 'b', 'money', 90, 'AED', 'total', now(), 100, true,"
                     " gen_random_uuid() FROM tenant WHERE name = 'aaa'");
    assert_int_equal(submit(&f, f.tenant_a, 2, 1, 1, ids), 1);
    assert_string_equal(state_of(&f, ids[0]), "PENDING");
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 1, NULL), 0);
    cancel_job(&f, f.tenant_a, ids[0]);
    fixture_exec(&f, "DELETE FROM budget; INSERT INTO quota (tenant_id, resource, hard_limit)"
                     " SELECT tenant_id, 'pending_jobs', 1 FROM tenant WHERE name = 'aaa'");
    assert_int_equal(submit(&f, f.tenant_a, 2, 1, 1, ids), 1);      /* a limit of waiting jobs counts them in the same way */
    cancel_job(&f, f.tenant_a, ids[0]);
    fixture_exec(&f, "DELETE FROM quota WHERE resource = 'pending_jobs'");
    fixture_check(&f);
}

/* Alone, so that it is refused by what it asks itself. */
static enum errc submit_between(int64_t nodes, int64_t most, struct uuid *ret, struct err *e)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 22), .tenant_id = f.tenant_a,
                      .now_us = clock_wall_us(&clock_system) };
    struct job_submission s = {
        .job = { .tenant_id = f.tenant_a, .job_id = uuid_v7(w.now_us), .name = STR("gang"), .kind = JOB_TRAIN,
                 .spec = { STR("{}") }, .pool = STR("default"), .data_class = STR("internal"), .queue = STR("default"),
                 .slots = 1, .nodes = nodes, .nodes_max = most, .max_attempts = 1, .max_runtime_s = 60,
                 .created_by = f.tenant_a },
        .kind_name = STR("train"), .route = STR("job_submit"), .sha = STR("01234567890123456789012345678901") }, *item = &s;
    struct audit_event ev = audit_event_of(&w, AUDIT_JOB_SUBMIT);
    struct audit_rows rows;
    struct err bad = { 0 };
    assert_int_equal(audit_encode_many(w.arena, &ev, 1, &rows, &bad), ERR_OK);
    s.key = id_text(w.arena, "", s.job.job_id);
    s.event_id = rows.event_ids[0];
    s.event = rows.bodies[0];
    *ret = s.job.job_id;
    assert_int_equal(job_submit_many(&w, &item, 1, &bad), ERR_OK);
    enum errc rc = job_verdict_err(&s, e);
    arena_free(w.arena);
    return rc;
}

static enum errc submit_on(int64_t nodes, struct uuid *ret, struct err *e)
{
    return submit_between(nodes, nodes, ret, e);
}

/* As above, where one machine for 60 seconds takes at most 60: of four the budget of 150 has room for two. */
static void a_gang_promises_what_all_its_machines_take(void **state)
{
    (void)state;
    struct uuid id, other;
    struct err why = { 0 };
    fixture_exec(&f, "INSERT INTO budget (tenant_id, budget_id, name, measure, amount, currency, period, period_start,"
                     " stop_percent, reserve, created_by) SELECT tenant_id, gen_random_uuid(), 'b', 'money', 150, 'AED', 'total',"
                     " now(), 100, true, gen_random_uuid() FROM tenant WHERE name = 'aaa'");
    assert_int_equal(submit_on(4, &id, &why), ERR_BUDGET);
    assert_non_null(strstr(why.msg, "and this may take 240"));
    OK(submit_on(2, &id, e));
    assert_int_equal(submit_on(1, &other, &why), ERR_BUDGET);
    assert_non_null(strstr(why.msg, "120 are used or promised"));
    cancel_job(&f, f.tenant_a, id);
    /* of a range the most, for its attempt may have that */
    assert_int_equal(submit_between(1, 4, &other, &why), ERR_BUDGET);
    assert_non_null(strstr(why.msg, "and this may take 240"));
    OK(submit_between(1, 2, &id, e));
    assert_int_equal(submit_on(1, &other, &why), ERR_BUDGET);
    assert_non_null(strstr(why.msg, "120 are used or promised"));
    cancel_job(&f, f.tenant_a, id);
    fixture_exec(&f, "DELETE FROM budget");
    fixture_check(&f);
}

/* At 3600 an hour and slot, two machines with two slots each take 240 in a minute. Of a range it must hold the least, and may
 * cost the most. */
static void forecast_between(int64_t nodes, int64_t most, int64_t slots_wanted, int64_t minor)
{
    arena = arena_new(64 << 20);
    struct work w = { .app = &f.api, .arena = arena, .tenant_id = f.tenant_a, .principal = who,
                      .now_us = clock_wall_us(&clock_system) };
    const char *spec = arena_printf(arena, "{\"dataset_id\":\"%.*s\",\"family\":\"mlp\",\"hidden\":[8],\"epochs\":1,"
                                    "\"accumulate\":2}", STR_ARG(id_text(arena, "dst", dataset)));
    const struct job_create in = { .name = STR("j"), .kind = JOB_TRAIN, .spec = { str_c(spec) }, .pool = STR("default"),
                                   .queue = STR("default"), .slots = 2, .nodes = { nodes, most }, .max_attempts = 3,
                                   .max_runtime_seconds = 60 };
    struct forecast said;
    int64_t slots = 0;
    OK(forecast_check(&w, &in, who, &said, e));
    assert_int_equal(said.verdict.code, ERR_OK);
    const struct quota_outlook *q = said.quotas.items;
    for (size_t i = 0; i < said.quotas.n; i++)
        slots += str_eq_c(q[i].resource, "slots") ? q[i].after - q[i].used : 0;
    assert_int_equal(slots, slots_wanted);
    assert_int_equal(said.estimate.max_minor, minor);
    arena_free(arena);
}

static void a_forecast_counts_all_machines_of_a_gang(void **state)
{
    (void)state;
    forecast_between(2, 2, 4, 240);
    forecast_between(1, 2, 2, 240);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_under_another_law_are_refused), cmocka_unit_test(data_stays_where_it_may_be),
        cmocka_unit_test(a_model_that_could_not_be_stored_is_refused_at_submit),
        cmocka_unit_test(what_no_machine_can_run_is_refused_with_the_numbers),
        cmocka_unit_test(a_batch_cannot_promise_a_budget_twice),
        cmocka_unit_test(a_gang_promises_what_all_its_machines_take),
        cmocka_unit_test(a_forecast_counts_all_machines_of_a_gang),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
