/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_inspect.c - the job of an import: the archive's version and place, memory by its size, and what is no image. */
#include "tests/db/scheduler/jobs/environment_kit.h"
#include "scheduler/jobs/job_prepare.h"

static enum errc make(struct inspect_order *o, struct job_submission *s)
{
    *s = (struct job_submission){ 0 };
    e = (struct err){ 0 };
    return RUN_READ(&w, inspect_job_make(&w, o, s, &e), &e);
}

static void it_reads_the_archive_where_it_lies(void **state)
{
    (void)state;
    struct inspect_order o = { .name = STR("tiny"), .pool = STR("images"), .dataset_id = dataset };
    struct job_submission s;
    begin();
    reset();
    fixture_exec(&f, "UPDATE object SET size_bytes = 1 << 29");
    assert_int_equal(make(&o, &s), ERR_OK);
    assert_true(o.dataset_version == 2 && uuid_eq(o.object_id, object));
    assert_true(str_eq_c(s.job.zone, "ae-dxb-1") && str_eq_c(s.job.data_class, "health") && str_eq_c(s.job.pool, "images"));
    assert_int_equal(s.job.memory_bytes, INT64_C(8) << 29);
    assert_true(s.inputs.n == 1 && uuid_eq(((struct job_input *)s.inputs.items)->object_id, object));
    o.memory_bytes = 1 << 30;
    assert_int_equal(make(&o, &s), ERR_OK);
    assert_int_equal(s.job.memory_bytes, 1 << 30);
    o.owns_archive = true;              /* the other version would go with it */
    assert_int_equal(make(&o, &s), ERR_UNPROCESSABLE);
    assert_string_equal(e.field, "/owns_archive");
    fixture_exec(&f, "UPDATE dataset SET latest_version = 1");
    assert_int_equal(make(&o, &s), ERR_OK);
    fixture_exec(&f, "UPDATE dataset SET latest_version = 2");
    o.owns_archive = false;
    o.dataset_version = 9;
    assert_int_equal(make(&o, &s), ERR_NOT_FOUND);
    o.dataset_version = 1;
    fixture_exec(&f, "UPDATE dataset_version SET format = 'csv'");
    assert_int_equal(make(&o, &s), ERR_UNPROCESSABLE);
    assert_string_equal(e.field, "/dataset_id");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(it_reads_the_archive_where_it_lies) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
