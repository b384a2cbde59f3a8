/* SPDX-License-Identifier: Apache-2.0 */
/* test_environment.c - an environment stands as its import's job does; a name means its newest READY image; what is used stays,
 * and a refused archive goes. */
#include "tests/db/scheduler/jobs/environment_kit.h"

static void it_stands_as_its_import_does(void **state)
{
    (void)state;
    struct environment v;
    struct slice rows;
    begin();
    reset();
    struct uuid ready = add(1, "torch", digest_a, "COMPLETED", false), refused = add(2, "torch", digest_b, "FAILED", false),
                running = add(3, "other", digest_b, "RUNNING", false);
    assert_int_equal(RUN_READ(&w, environment_get(&w, ready, &v, &e), &e), ERR_OK);
    assert_true(str_eq_c(v.state, "READY") && str_eq_c(v.digest, digest_a) && v.package_count == 2 && !v.reason.len);
    assert_int_equal(RUN_READ(&w, environment_get(&w, refused, &v, &e), &e), ERR_OK);
    assert_true(str_eq_c(v.state, "REFUSED") && str_eq_c(v.reason, "layer 2 of the image: entry x: why"));
    assert_int_equal(RUN_READ(&w, environment_list(&w, STR_NULL, STR("IMPORTING"), UUID_NIL, 10, &rows, &e), &e), ERR_OK);
    assert_true(rows.n == 1 && uuid_eq(((struct environment *)rows.items)->environment_id, running));
    assert_int_equal(RUN_READ(&w, environment_packages(&w, ready, STR("LIB"), 0, 10, &rows, &e), &e), ERR_OK);
    const struct environment_package *p = rows.items;
    assert_true(rows.n == 1 && str_eq_c(p->name, "zlib1g") && str_eq_c(p->version, "1.3") && p->number == 2);
    w.tenant_id = f.tenant_b;
    assert_int_equal(RUN_READ(&w, environment_get(&w, ready, &v, &e), &e), ERR_NOT_FOUND);
    arena_free(arena);
}

static void a_name_means_the_newest_ready_one(void **state)
{
    (void)state;
    struct job_submission s;
    begin();
    reset();
    struct uuid old = add(1, "torch", digest_a, "COMPLETED", false);
    add(2, "torch", digest_b, "COMPLETED", false);
    add(3, "torch", digest_a, "FAILED", false);
    add(4, "broken", digest_a, "FAILED", false);
    const char *id = arena_printf(arena, "%.*s", STR_ARG(id_text(arena, "dst", dataset)));
    const struct { const char *name, *digest; } rows[] = {
        { "torch", digest_b }, { arena_printf(arena, "torch@%s", digest_a), digest_a }, { digest_b, digest_b },
        { arena_printf(arena, "%.*s", STR_ARG(id_text(arena, "env", old))), digest_a },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(run(rows[i].name, &s), ERR_OK);
        const char *spec = arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text));
        assert_non_null(strstr(spec, arena_printf(arena, "\"environment\":\"%s@2/%s\"", id, rows[i].digest)));
        assert_true(uuid_eq(((struct job_input *)s.inputs.items)->object_id, object));
    }
    assert_int_equal(run("broken", &s), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "is REFUSED, so nothing runs in it: layer 2 of the image: entry x: why"));
    assert_string_equal(e.field, "/spec/environment");
    assert_int_equal(run("nothing", &s), ERR_NOT_FOUND);
    arena_free(arena);
}

/* Who may write in one project alone does not say what another's jobs run in. */
static void a_name_means_nothing_of_other_projects(void **state)
{
    (void)state;
    struct job_submission s;
    struct environment_found found;
    begin();
    reset();
    const struct uuid red = uuid_v7(7000000000), blue = uuid_v7(7100000000);
    char id[UUID_TEXT], project[UUID_TEXT];
    uuid_text(red, project);
    add(1, "torch", digest_a, "COMPLETED", false);
    uuid_text(add(2, "torch", digest_b, "COMPLETED", false), id);
    fixture_exec(&f, "SET session_replication_role = replica;"
                     "UPDATE environment SET project_id = '%s' WHERE environment_id = '%s'", project, id);
    assert_int_equal(run("torch", &s), ERR_OK);
    assert_non_null(strstr(arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text)), digest_a));
    assert_int_equal(RUN_READ(&w, environment_find(&w, red, UUID_NIL, STR("torch"), STR_NULL, &found, &e), &e), ERR_OK);
    assert_true(str_eq_c(found.digest, digest_b));
    assert_int_equal(RUN_READ(&w, environment_find(&w, blue, UUID_NIL, STR("torch"), STR_NULL, &found, &e), &e), ERR_OK);
    assert_true(str_eq_c(found.digest, digest_a));
    assert_int_equal(RUN_READ(&w, environment_find(&w, blue, UUID_NIL, STR("torch"), str_c(digest_b), &found, &e), &e),
                     ERR_NOT_FOUND);
    assert_int_equal(RUN_READ(&w, environment_find(&w, blue, UUID_NIL, STR_NULL, str_c(digest_b), &found, &e), &e), ERR_OK);
    fixture_exec(&f, "DELETE FROM environment WHERE project_id IS NULL");
    assert_int_equal(run("torch", &s), ERR_NOT_FOUND);
    assert_non_null(strstr(e.msg, "There is no environment torch of the job's project or of the organisation as a whole"));
    arena_free(arena);
}

static void what_is_used_stays(void **state)
{
    (void)state;
    const struct uuid job = uuid_v7(8888000000);
    struct content_deleted gone;
    struct slice rows;
    struct environment v;
    begin();
    reset();
    struct uuid env = add(1, "torch", digest_a, "COMPLETED", false), running = add(2, "torch", digest_a, "RUNNING", false);
    job_in(job, arena_printf(arena, "%.*s@2/%s", STR_ARG(id_text(arena, "dst", dataset)), digest_a), "RUNNING");
    assert_int_equal(RUN_READ(&w, environment_uses(&w, env, UUID_NIL, 10, &rows, &e), &e), ERR_OK);
    assert_true(rows.n == 1 && uuid_eq(((struct environment_use *)rows.items)->job_id, job));
    assert_int_equal(RUN_WRITE(&w, environment_delete(&w, env, &e), &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "It is still used by job user (job_"));
    assert_int_equal(RUN_WRITE(&w, environment_delete(&w, running, &e), &e), ERR_CONFLICT);
    fixture_exec(&f, "DELETE FROM job_object WHERE name = 'image:'; DELETE FROM job WHERE name = 'user'");
    assert_int_equal(RUN_WRITE(&w, content_delete(&w, &versioned_dataset, dataset, &gone, &e), &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "environment torch (env_"));
    assert_int_equal(RUN_WRITE(&w, environment_delete(&w, env, &e), &e), ERR_OK);
    assert_int_equal(RUN_READ(&w, environment_get(&w, env, &v, &e), &e), ERR_NOT_FOUND);
    arena_free(arena);
}

static void a_refused_archive_goes(void **state)
{
    (void)state;
    int64_t removed = 0;
    struct environment v;
    begin();
    reset();
    struct uuid kept = add(1, "torch", digest_a, "FAILED", false);
    assert_int_equal(environment_sweep(&f.api, arena, &removed, &e), ERR_OK);
    assert_int_equal(removed, 0);                               /* the data set is somebody's */
    char blobs[] = "/tmp/falaj-blobs-XXXXXX";
    assert_non_null(mkdtemp(blobs));
    assert_int_equal(blob_store_open_local(blobs, &f.api.blobs, &e), ERR_OK);
    fixture_exec(&f, "UPDATE quota SET used = 10 WHERE resource = 'objects'");     /* which its objects never were */
    struct uuid own = add(2, "torch", digest_a, "FAILED", true);
    fixture_exec(&f, "UPDATE dataset SET latest_version = latest_version + 1");     /* somebody went on with it */
    assert_int_equal(environment_sweep(&f.api, arena, &removed, &e), ERR_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM environment WHERE owns_archive"), 0);   /* nor looked at again */
    fixture_exec(&f, "UPDATE dataset SET latest_version = latest_version - 1;"
                     "UPDATE environment SET owns_archive = true WHERE environment_id = (SELECT max(environment_id::text)::uuid"
                     " FROM environment)");
    assert_int_equal(environment_sweep(&f.api, arena, &removed, &e), ERR_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(RUN_READ(&w, environment_get(&w, own, &v, &e), &e), ERR_OK);
    assert_true(uuid_is_nil(v.dataset_id) && str_eq_c(v.state, "REFUSED") && v.reason.len);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM dataset"), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE"
                                       " '%%\"dataset.delete\"%%'"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM dek WHERE wrapped IS NOT NULL"), 0);
    assert_int_equal(environment_sweep(&f.api, arena, &removed, &e), ERR_OK);
    assert_int_equal(removed, 1);
    blob_store_free(f.api.blobs);
    assert_int_equal(RUN_WRITE(&w, environment_delete(&w, kept, &e), &e), ERR_OK);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stands_as_its_import_does), cmocka_unit_test(a_name_means_the_newest_ready_one),
        cmocka_unit_test(a_name_means_nothing_of_other_projects), cmocka_unit_test(what_is_used_stays),
        cmocka_unit_test(a_refused_archive_goes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
