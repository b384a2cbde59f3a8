/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_dataset.c - the data set of a submission: its version fixed, its format that of the kind. */
#include "tests/db/scheduler/jobs/submit_kit.h"

static void a_version_is_fixed_when_the_job_is_made(void **state)
{
    (void)state;
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    assert_int_equal(prepare(who, JOB_TRAIN, train_spec(0), NULL, 1, 0, &s, &e), ERR_OK);
    assert_non_null(strstr(arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text)), "\"dataset_version\":2"));
    assert_true(str_eq_c(s.job.zone, "ae-dxb-1"));                      /* it runs where the data is */
    assert_true(str_eq_c(s.job.data_class, "health"));
    assert_int_equal(s.inputs.n, 1);
    assert_true(uuid_eq(((struct job_input *)s.inputs.items)->object_id, object));
    assert_int_equal(prepare(who, JOB_TRAIN, train_spec(1), NULL, 1, 0, &s, &e), ERR_OK);
    assert_false(uuid_eq(((struct job_input *)s.inputs.items)->object_id, object));
    assert_int_equal(prepare(who, JOB_TRAIN, train_spec(3), NULL, 1, 0, &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/dataset_version");
    arena_free(arena);
}

static const char *convert_spec(void)
{
    return arena_printf(arena, "{\"dataset_id\":\"%.*s\",\"dims\":[\"sequence=128\"]}", STR_ARG(id_text(arena, "dst", dataset)));
}

static void a_kind_reads_its_own_format_only(void **state)
{
    (void)state;
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    assert_int_equal(prepare(who, JOB_CONVERT, convert_spec(), NULL, 1, 0, &s, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.field, "/spec/dataset_id");
    assert_string_equal(e.msg, "A job of kind convert reads model files; this version has the format csv");
    fixture_exec(&f, "UPDATE dataset_version SET format = 'onnx'");
    assert_int_equal(prepare(who, JOB_CONVERT, convert_spec(), NULL, 1, 0, &s, &e), ERR_OK);
    const char *spec = arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text));
    assert_non_null(strstr(spec, "\"dataset_version\":2"));
    assert_non_null(strstr(spec, "\"dims\":[\"sequence=128\"]"));
    assert_true(uuid_eq(((struct job_input *)s.inputs.items)->object_id, object));
    assert_int_equal(prepare(who, JOB_TRAIN, train_spec(0), NULL, 1, 0, &s, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "reads tables and tokens; this version has the format onnx"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_is_fixed_when_the_job_is_made),
        cmocka_unit_test(a_kind_reads_its_own_format_only),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
