/* SPDX-License-Identifier: Apache-2.0 */
/* test_dataset.c - data sets, models and deployments: versions are dense, faults are told, other tenants see nothing. */
#include "tests/db/registry/fixture.h"
#include "core/db/session.h"
#include <math.h>
#include <pthread.h>
#include "core/data/safetensors.h"
#include "registry/catalog/dataset.h"
#include "serving/deployment.h"
#include "registry/catalog/model.h"
#include "registry/catalog/versioned.h"

static const struct dataset_new DIGITS = { { "digits", 6 }, { "", 0 }, 1, { "label", 5 }, 2 };

static struct dataset make_dataset(int tenant)
{
    struct work w = begin(tenant);
    struct dataset d;
    OK(dataset_create(&w, &DIGITS, &d, &e));
    end(&w);
    return d;
}

static void test_dataset(void **state)
{
    (void)state;
    struct dataset d = make_dataset(0), got;
    struct dataset_version v;
    struct slice list;
    struct work w = begin(0);
    assert_int_equal(dataset_create(&w, &DIGITS, &got, &e), ERR_EXISTS);
    db_rollback(w.tx);
    for (int i = 1; i <= 3; i++) {
        w = begin(0);
        OK(add_version(&w, d.dataset_id, STR_NULL, DATA_CSV, STR("a,b,label\n1,2,0\n3,4,1\n"), &v, &e));
        end(&w);
        assert_int_equal(v.version, i);
        assert_int_equal(v.row_count, 2);
        assert_int_equal(v.column_count, 2);
        assert_int_equal(v.sha256.len, 64);
    }
    w = begin(0);
    int64_t objects = used(0, "objects");
    assert_int_equal(add_version(&w, d.dataset_id, STR_NULL, DATA_CSV, STR("a,b,label\n1,2,0\n3,x,1\n"), &v, &e),
                     ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "row 3"));
    db_rollback(w.tx);
    assert_int_equal(used(0, "objects"), objects);
    w = begin(0);
    OK(versioned_version_list(&w, &versioned_dataset, d.dataset_id, 0, 10, &list, &e));
    assert_int_equal(list.n, 3);
    OK(versioned_version_list(&w, &versioned_dataset, d.dataset_id, 3, 10, &list, &e));
    assert_int_equal(list.n, 2);
    OK(dataset_version_get(&w, d.dataset_id, 0, &v, &e));
    assert_int_equal(v.version, 3);
    OK(dataset_get(&w, d.dataset_id, &got, &e));
    assert_int_equal(got.latest_version, 3);
    end(&w);
    w = begin(1);
    assert_int_equal(dataset_get(&w, d.dataset_id, &got, &e), ERR_NOT_FOUND);
    assert_int_equal(dataset_version_get(&w, d.dataset_id, 1, &v, &e), ERR_NOT_FOUND);
    OK(versioned_list(&w, &versioned_dataset, &(struct versioned_filter){ 0 }, UUID_NIL, 10, &list, &e));
    assert_int_equal(list.n, 0);
    end(&w);
}

static struct buf weights(int inputs, int outputs)
{
    struct buf out = BUF(1 << 20);
    float *zero = arena_alloc(arena, 4096);
    struct st_tensor t[] = {
        { STR("mlp.0.weight"), ST_F32, 2, { (uint64_t)outputs, (uint64_t)inputs }, (unsigned char *)zero, (size_t)(4 * inputs * outputs) },
        { STR("mlp.0.bias"), ST_F32, 1, { (uint64_t)outputs }, (unsigned char *)zero, (size_t)(4 * outputs) },
    };
    struct st_pair meta[] = { { STR("family"), STR("mlp") }, { STR("activation"), STR("relu") } };
    OK(st_write(&out, t, 2, meta, 2, &e));
    return out;
}

/* A job that has completed with an output "model" of these bytes. */
static struct uuid completed_job(int tenant, struct str bytes, const char *state)
{
    static const struct object_new MODEL = { .kind = "model", .data_class = { "internal", 8 } };
    struct work w = begin(tenant);
    struct object o;
    OK(object_put(&w, &MODEL, bytes, &o, &e));
    end(&w);
    char sql[2048], t[UUID_TEXT], j[UUID_TEXT], u[UUID_TEXT], ob[UUID_TEXT];
    struct uuid job = uuid_v7(clock_wall_us(&clock_system));
    uuid_text(w.tenant_id, t);
    uuid_text(job, j);
    uuid_text(people[tenant]->user_id, u);
    uuid_text(o.object_id, ob);
    bool done = !strcmp(state, "COMPLETED");
    snprintf(sql, sizeof sql,
             "INSERT INTO job (tenant_id, job_id, name, kind, state, spec, created_by, queued, fence, finished_at, result) VALUES"
             " ('%s', '%s', 'j', 'train', '%s', '{}', '%s', false, 2, %s, '{\"holdout_accuracy\": 0.97, \"holdout_rows\": [1,2], \"note\": \"x\"}');"
             "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id, fence) VALUES ('%s', '%s', 'output', 'model', '%s', 2)",
             t, j, state, u, done ? "now()" : "NULL", t, j, ob);
    pg_harness_exec(pg, DB, sql);
    return job;
}

/* As the route does it: the weights outside of any transaction, then the rows in one. */
static enum errc register_model(struct work *w, const struct model_new *in, struct model_version *ret)
{
    struct model_weights weights;
    struct db_tx *tx = TAKE(w->tx);
    enum errc rc = model_weights_check(w, in->job_id, &weights, &e);
    w->tx = tx;
    return rc == ERR_OK ? model_register(w, in, &weights, ret, &e) : rc;
}

static void test_model(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf good = weights(3, 2);
    struct uuid job = completed_job(0, buf_str(&good), "COMPLETED");
    struct model_version v;
    struct model m;
    for (int i = 1; i <= 2; i++) {
        struct work w = begin(0);
        struct model_new in = { STR("classifier"), i == 1 ? STR("first") : STR_NULL, job };
        OK(register_model(&w, &in, &v));
        end(&w);
        assert_int_equal(v.version, i);
    }
    assert_int_equal(v.inputs, 3);
    assert_int_equal(v.outputs, 2);
    assert_true(str_eq_c(v.family, "mlp"));
    assert_true(str_eq_c(v.metrics.text, "{\"holdout_accuracy\": 0.97}"));
    struct work w = begin(0);
    OK(model_get(&w, v.model_id, &m, &e));
    assert_int_equal(m.latest_version, 2);
    assert_true(str_eq_c(m.description, "first"));
    end(&w);
    w = begin(1);
    assert_int_equal(model_get(&w, v.model_id, &m, &e), ERR_NOT_FOUND);
    struct model_new theirs = { STR("stolen"), STR_NULL, job };
    assert_int_equal(register_model(&w, &theirs, &v), ERR_NOT_FOUND);
    end(&w);
    w = begin(0);
    struct model_new running = { STR("early"), STR_NULL, completed_job(0, buf_str(&good), "RUNNING") };
    assert_int_equal(register_model(&w, &running, &v), ERR_CONFLICT);
    struct model_new bad = { STR("bad"), STR_NULL, completed_job(0, STR("no safetensors"), "COMPLETED") };
    assert_int_equal(register_model(&w, &bad, &v), ERR_BAD_DATA);
    db_rollback(w.tx);
}

/* A file with a graph is taken by its signature, its numbers are looked at; without one its family is named. */
static void test_model_with_a_graph(void **state)
{
    (void)state;
    static const char *const SIG = "{\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[-1,64]}],"
                                   "\"outputs\":[{\"name\":\"probabilities\",\"datatype\":\"FP32\",\"shape\":[-1,10]}]}";
    static const float good[2] = { 1, 2 }, bad[2] = { 1, INFINITY };
    static const struct { const char *signature; const float *numbers; enum errc rc; const char *why; } rows[] = {
        { "", good, ERR_BAD_DATA, "the family \"cnn\" and no graph" },
        { "{}", good, ERR_BAD_DATA, "the signature is not readable" },
        { NULL, bad, ERR_BAD_DATA, "tensor \"head.weight\" holds a value that is no finite number" },
        { NULL, good, ERR_OK, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(buf_releasep) struct buf file = BUF(1 << 16);
        struct st_tensor t[] = { { STR("head.weight"), ST_F32, 1, { 2 }, (const void *)rows[i].numbers, sizeof good } };
        struct st_pair meta[] = { { STR("family"), STR("cnn") }, { STR("graph_format"), STR("falaj-graph-1") },
                                  { STR("signature"), str_c(rows[i].signature ? rows[i].signature : SIG) },
                                  { STR("graph"), STR("{\"inputs\":[]}") } };
        OK(st_write(&file, t, 1, meta, i ? 4 : 1, &e));
        struct uuid job = completed_job(0, buf_str(&file), "COMPLETED");
        struct model_version v;
        struct work w = begin(0);
        assert_int_equal(register_model(&w, &(struct model_new){ STR("images"), STR_NULL, job }, &v), rows[i].rc);
        if (rows[i].rc != ERR_OK) {
            assert_non_null(strstr(e.msg, rows[i].why));
            db_rollback(w.tx);
            continue;
        }
        end(&w);
        assert_true(v.inputs == 64 && v.outputs == 10 && str_eq_c(v.family, "cnn"));
    }
}

static int64_t memory_kb(const char *what)
{
    char line[256];
    int64_t kb = -1;
    FILE *f = fopen("/proc/self/status", "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, what, strlen(what)))
            kb = atoll(line + strlen(what) + 1);
    fclose(f);
    return kb;
}

/* 48 MB of weights go through a megabyte or two. */
static void test_weights_are_streamed(void **state)
{
    (void)state;
    enum { WIDTH = 3500 };
    CLEANUP(buf_releasep) struct buf file = BUF((size_t)64 << 20);
    float *zero = calloc(WIDTH, WIDTH * sizeof *zero);
    struct st_tensor t[] = {
        { STR("mlp.0.weight"), ST_F32, 2, { WIDTH, WIDTH }, (unsigned char *)zero, sizeof *zero * WIDTH * WIDTH },
        { STR("mlp.0.bias"), ST_F32, 1, { WIDTH }, (unsigned char *)zero, sizeof *zero * WIDTH },
    };
    struct st_pair meta[] = { { STR("family"), STR("mlp") }, { STR("activation"), STR("relu") } };
    OK(st_write(&file, t, 2, meta, 2, &e));
    struct uuid job = completed_job(0, buf_str(&file), "COMPLETED");
    struct model_weights weights;
    struct work w = { .app = &app, .arena = arena_new(64 << 20), .principal = people[0], .tenant_id = people[0]->tenant_id };
    FILE *f = fopen("/proc/self/clear_refs", "we");     /* the peak begins anew */
    assert_non_null(f);
    assert_true(fputs("5", f) >= 0);
    fclose(f);
    int64_t before = memory_kb("VmRSS:");
    OK(model_weights_check(&w, job, &weights, &e));
    assert_int_equal(weights.inputs, WIDTH);
    assert_in_range(memory_kb("VmHWM:") - before, 0, 12 * 1024);
    arena_free(w.arena);
    free(zero);
}

struct checker {
    struct uuid job;
    enum errc rc;
    _Atomic bool has_ended;
};

static void *check_thread(void *arg)
{
    struct checker *c = arg;
    struct err mine;
    struct model_weights weights;
    struct work w = { .app = &app, .arena = arena_new(1 << 20), .principal = people[0], .tenant_id = people[0]->tenant_id };
    c->rc = model_weights_check(&w, c->job, &weights, &mine);
    arena_free(w.arena);
    c->has_ended = true;
    return NULL;
}

/* A keyd that stands still holds up the reader and no transaction. */
static void test_no_transaction_waits_for_weights(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf good = weights(3, 2);
    struct checker c = { .job = completed_job(0, buf_str(&good), "COMPLETED") };
    pthread_t t;
    int held = 0, free_ = 0;
    struct db_session *session = NULL;
    OK(db_session_new(pg_harness_conninfo(pg, "postgres", DB), "test", 30000, &session, &e));
    keyd_stop();
    assert_int_equal(pthread_create(&t, NULL, check_thread, &c), 0);
    while (!c.has_ended) {
        struct db_text_rows rows = { 0 };
        OK(db_session_query(session, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'falaj_app'"
                            " AND state = 'idle in transaction'", NULL, 0, arena, &rows, &e));
        *(str_eq_c(rows.cells[0], "0") ? &free_ : &held) += 1;
        usleep(5000);
    }
    pthread_join(t, NULL);
    kill(keyd, SIGCONT);
    db_session_free(session);
    assert_true(c.rc == ERR_UNAVAILABLE || c.rc == ERR_DEADLINE);
    assert_true(free_ > 10 * held);
}

static void test_deployment(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf good = weights(3, 2);
    struct uuid job = completed_job(0, buf_str(&good), "COMPLETED");
    struct deployment_jobs ended;
    struct model_version v;
    struct deployment d, again;
    struct deployment_target t;
    struct work w = begin(0);
    struct model_new in = { STR("served"), STR_NULL, job };
    OK(register_model(&w, &in, &v));
    struct deployment_row row = { uuid_v7(w.now_us), STR("live"), v.model_id, 1, job };
    OK(deployment_insert(&w, &row, &d, &e));
    end(&w);
    assert_false(d.ready);
    w = begin(0);
    OK(deployment_target(&w, STR("live"), &t, &e));
    assert_null(t.endpoint.ptr);
    row.deployment_id = uuid_v7(w.now_us);
    assert_int_equal(deployment_insert(&w, &row, &again, &e), ERR_EXISTS);
    db_rollback(w.tx);
    w = begin(1);
    assert_int_equal(deployment_get(&w, d.deployment_id, &again, &e), ERR_NOT_FOUND);
    assert_int_equal(deployment_target(&w, STR("live"), &t, &e), ERR_NOT_FOUND);
    end(&w);
    w = begin(0);
    OK(deployment_delete(&w, d.deployment_id, &ended, &e));
    assert_true(uuid_eq(ended.job_id, job));
    assert_true(uuid_is_nil(ended.next_job_id));
    assert_int_equal(deployment_get(&w, d.deployment_id, &again, &e), ERR_NOT_FOUND);
    OK(deployment_insert(&w, &row, &again, &e));        /* the name is free again */
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_dataset), cmocka_unit_test(test_model),
                                        cmocka_unit_test(test_model_with_a_graph), cmocka_unit_test(test_deployment),
                                        cmocka_unit_test(test_weights_are_streamed),
                                        cmocka_unit_test(test_no_transaction_waits_for_weights) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
