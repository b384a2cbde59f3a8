/* SPDX-License-Identifier: Apache-2.0 */
/* test_array_template.c - a submission comes back from its text as it went in, and what is no such text is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scheduler/jobs/array_template.h"
#include "scheduler/jobs/dependency.h"

static void a_submission_comes_back(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct err e = { 0 };
    struct job_input in[] = { { STR("data"), uuid_v7(1) }, { STR("secret:env:T"), uuid_v7(2) } };
    struct dependency dep[] = { { DEP_AFTERNOTOK, uuid_v7(3) } };
    const struct job_submission s = {
        .job = { .kind = JOB_RUN, .spec = { STR("{\"command\":[\"a\"]}") }, .retry = { STR("{\"max\":2}") }, .name = STR("n"),
                 .zone = STR("ae-dxb-1"), .pool = STR("p"), .data_class = STR("health"), .queue = STR("q"),
                     .gpu_models = STR("H100"),
                 .cls = STR("low"), .slots = 2, .gpus = 3, .priority = -4, .max_attempts = 5, .max_runtime_s = 6, .cpu_milli = 7,
                 .memory_bytes = 8, .gpu_milli = 9, .begin_at = { 1000001 }, .deadline_at = { 2000002 } },
        .inputs = { in, 2 }, .dependencies = { dep, 1 } };
    struct job_submission got;
    assert_int_equal(array_template_read(array_template_text(&s, a), a, &got, &e), ERR_OK);
    const struct job *x = &s.job, *y = &got.job;
    const struct str texts[][2] = { { x->spec.text, y->spec.text }, { x->retry.text, y->retry.text }, { x->name, y->name }, {
        x->zone, y->zone },
        { x->pool, y->pool }, { x->data_class, y->data_class }, { x->queue, y->queue }, { x->gpu_models, y->gpu_models }, {
            x->cls, y->cls } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(str_eq(texts[i][0], texts[i][1]));
    const int64_t numbers[][2] = { { x->slots, y->slots }, { x->gpus, y->gpus }, { x->priority, y->priority }, { x->max_attempts,
        y->max_attempts },
        { x->max_runtime_s, y->max_runtime_s }, { x->cpu_milli, y->cpu_milli }, { x->memory_bytes, y->memory_bytes },
        { x->gpu_milli, y->gpu_milli }, { x->begin_at.us, y->begin_at.us }, { x->deadline_at.us, y->deadline_at.us }, { x->kind,
            y->kind } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(numbers[i][0], numbers[i][1]);
    assert_true(str_eq_c(got.kind_name, "run"));
    assert_int_equal(got.inputs.n, 2);
    assert_true(uuid_eq(((struct job_input *)got.inputs.items)[1].object_id, in[1].object_id));
    assert_int_equal(got.dependencies.n, 1);
    assert_int_equal(((struct dependency *)got.dependencies.items)[0].type, DEP_AFTERNOTOK);
    arena_free(a);
}

static void what_is_absent_stays_absent(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct err e = { 0 };
    const struct job_submission s = { .job = { .kind = JOB_NOOP, .spec = { STR("{}") }, .name = STR("n") } };
    struct job_submission got;
    assert_int_equal(array_template_read(array_template_text(&s, a), a, &got, &e), ERR_OK);
    assert_null(got.job.zone.ptr);
    assert_null(got.job.retry.text.ptr);
    assert_int_equal(got.inputs.n + got.dependencies.n, 0);
    assert_int_not_equal(array_template_read(STR("{\"kind\":\"noop\"}"), a, &got, &e), ERR_OK);
    assert_int_not_equal(array_template_read(STR("{\"kind\":\"gone\",\"name\":\"n\",\"spec\":{}}"), a, &got, &e), ERR_OK);
    /* Of a newer program. */
    assert_int_equal(array_template_read(STR("{\"kind\":\"noop\",\"name\":\"n\",\"spec\":{},\"nodes\":3}"), a, &got, &e), ERR_OK);
    assert_int_equal(got.job.slots, 1);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_submission_comes_back),
        cmocka_unit_test(what_is_absent_stays_absent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
