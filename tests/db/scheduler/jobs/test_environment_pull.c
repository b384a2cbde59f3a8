/* SPDX-License-Identifier: Apache-2.0 */
/* test_environment_pull.c - an environment that comes from a registry: IMPORTING until its archive is a version of a data set of
 * its own, READY and usable from then on, and made so once. */
#include "tests/db/scheduler/jobs/environment_kit.h"

/* A pull whose job stands so; object nil: it left none. */
static struct uuid pulled(int n, const char *state, struct uuid out)
{
    char t[UUID_TEXT], v[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT];
    const struct uuid env = uuid_v7(5000000 + (int64_t)n * 1000000), job = uuid_v7(1000000000 + (int64_t)n * 1000000);
    const bool is_over = strcmp(state, "RUNNING") != 0;
    uuid_text(f.tenant_a, t);
    uuid_text(env, v);
    uuid_text(job, j);
    uuid_text(out, o);
    fixture_exec(&f, "SET session_replication_role = replica;"
        "INSERT INTO job (tenant_id, job_id, name, kind, spec, state, queued, fence, finished_at, result, zone, data_class,"
        " created_by)"
        " VALUES ('%s', '%s', 'import', 'pull', '{}', '%s', false, 2, %s, %s, 'ae-dxb-1', 'public', '%s');"
        "INSERT INTO environment (tenant_id, environment_id, name, dataset_version, asked_digest, allow_setuid, owns_archive,"
        " job_id, created_by, pulled_from) VALUES ('%s', '%s', 'tiny', 1, '%s', false, true, '%s', '%s', 'hub.example/tiny@%s')",
        t, j, state, is_over ? "now()" : "NULL", strcmp(state, "COMPLETED") ? "NULL"
        : arena_printf(arena, "'{\"digest\":\"%s\",\"package_count\":0,\"packages\":[],\"layers\":[]}'", digest_a), t,
        t, v, digest_b, j, t, digest_b);
    if (!uuid_is_nil(out))
        fixture_exec(&f, "SET session_replication_role = replica;"
            "INSERT INTO object (tenant_id, object_id, zone, kind, data_class, state, size_bytes, sha256, stored_sha256)"
            " VALUES ('%s', '%s', 'ae-dxb-1', 'dataset', 'public', 'COMMITTED', 77, sha256('a'), sha256('b'));"
            "INSERT INTO job_object (tenant_id, job_id, fence, direction, name, object_id)"
            " VALUES ('%s', '%s', 2, 'output', 'image', '%s')", t, o, t, j, o);
    return env;
}

static struct environment get(struct uuid id)
{
    struct environment v;
    assert_int_equal(RUN_READ(&w, environment_get(&w, id, &v, &e), &e), ERR_OK);
    return v;
}

static int64_t settle(void)
{
    int64_t settled = 0;
    assert_int_equal(environment_settle(&f.api, arena, &settled, &e), ERR_OK);
    return settled;
}

static void it_is_ready_when_its_archive_is_a_data_set(void **state)
{
    (void)state;
    struct environment_found found;
    begin();
    reset();
    const struct uuid running = pulled(1, "RUNNING", UUID_NIL), failed = pulled(2, "FAILED", UUID_NIL);
    const struct uuid done = pulled(3, "COMPLETED", uuid_v7(99));
    assert_true(str_eq_c(get(running).state, "IMPORTING") && str_eq_c(get(failed).state, "REFUSED"));
    struct environment v = get(done);
    assert_true(str_eq_c(v.state, "IMPORTING") && str_eq_c(v.zone, "ae-dxb-1") && str_eq_c(v.data_class, "public"));
    assert_int_equal(RUN_READ(&w, environment_find(&w, UUID_NIL, done, STR_NULL, STR_NULL, &found, &e), &e), ERR_NOT_FOUND);
    assert_int_equal(settle(), 1);
    v = get(done);
    assert_true(str_eq_c(v.state, "READY") && !uuid_is_nil(v.dataset_id) && v.size_bytes == 77 && str_eq_c(v.digest, digest_a));
    assert_int_equal(RUN_READ(&w, environment_find(&w, UUID_NIL, done, STR_NULL, STR_NULL, &found, &e), &e), ERR_OK);
    assert_true(uuid_eq(found.dataset_id, v.dataset_id) && found.dataset_version == 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM dataset_version WHERE format = 'oci' AND dataset_id IN"
                                       " (SELECT dataset_id FROM dataset WHERE name LIKE 'image-tiny-%%' AND data_class ="
                                       " 'public')"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE"
                                       " '%%hub.example/tiny@%%'"), 1);
    assert_int_equal(settle(), 0);                              /* once */
    assert_true(str_eq_c(get(running).state, "IMPORTING") && uuid_is_nil(get(failed).dataset_id));
    int64_t removed = 0;
    assert_int_equal(environment_sweep(&f.api, arena, &removed, &e), ERR_OK);       /* a refused pull has left nothing */
    assert_int_equal(removed, 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(it_is_ready_when_its_archive_is_a_data_set) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
