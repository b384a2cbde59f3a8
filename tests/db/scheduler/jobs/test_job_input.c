/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_input.c - zone and class of a job that reads more than one thing: one zone, the strictest class, and no two laws. */
#include "submit_kit.h"

#include "scheduler/jobs/job_input.h"

static enum errc join(struct job *j, const char *zone, const char *data_class, struct err *e)
{
    struct work w = { .app = &f.api, .arena = arena, .tenant_id = f.tenant_a, .now_us = clock_wall_us(&clock_system) };
    const struct job_found found = { .object_id = object, .zone = str_c(zone), .data_class = str_c(data_class) };
    w.principal = who;
    *e = (struct err){ 0 };
    return job_input_join(&w, j, &found, e);
}

static void the_strictest_class_and_one_zone(void **state)
{
    (void)state;
    struct job j = { .tenant_id = f.tenant_a, .kind = JOB_BATCH };
    struct err e;
    arena = arena_new(64 << 20);
    assert_int_equal(join(&j, "ae-dxb-1", "public", &e), ERR_OK);
    assert_true(str_eq_c(j.zone, "ae-dxb-1") && str_eq_c(j.data_class, "public"));
    assert_int_equal(join(&j, "ae-dxb-1", "health", &e), ERR_OK);
    assert_true(str_eq_c(j.data_class, "health"));
    assert_int_equal(join(&j, "ae-dxb-1", "internal", &e), ERR_OK);
    assert_true(str_eq_c(j.data_class, "health"));
    assert_int_equal(join(&j, "ae-dxb-1", "banking", &e), ERR_UNPROCESSABLE);
    assert_int_equal(join(&j, "ae-auh-1", "health", &e), ERR_RESIDENCY);
    assert_true(str_eq_c(j.zone, "ae-dxb-1") && str_eq_c(j.data_class, "health"));
    arena_free(arena);
}

static void what_is_not_there_is_not_found(void **state)
{
    (void)state;
    struct job_found found;
    struct err e = { 0 };
    arena = arena_new(64 << 20);
    struct work w = { .app = &f.api, .arena = arena, .tenant_id = f.tenant_a, .now_us = clock_wall_us(&clock_system) };
    assert_int_equal(job_input_model(&w, object, 0, &found, &e), ERR_NOT_FOUND);
    assert_int_equal(job_input_output(&w, object, STR("result"), &found, &e), ERR_NOT_FOUND);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_strictest_class_and_one_zone),
                                        cmocka_unit_test(what_is_not_there_is_not_found) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
