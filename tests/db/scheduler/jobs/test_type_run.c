/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_run.c - a program's inputs before it is stored: versions are fixed, zone and class follow, what is not there is
 * refused. */
#include "tests/db/scheduler/jobs/submit_kit.h"

static enum errc ask(const char *inputs, struct job_submission *s, struct err *e)
{
    *e = (struct err){ 0 };
    return prepare(who, JOB_RUN, arena_printf(arena, "{\"command\":[\"x\"],\"inputs\":[%s]}", inputs), NULL, 1, 0, s, e);
}

static void inputs_are_found_and_their_versions_fixed(void **state)
{
    (void)state;
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    const char *id = arena_printf(arena, "%.*s", STR_ARG(id_text(arena, "dst", dataset)));
    assert_int_equal(ask("", &s, &e), ERR_OK);
    assert_int_equal(s.inputs.n, 0);
    assert_int_equal(ask(arena_printf(arena, "\"a=%s\",\"b=%s@1\"", id, id), &s, &e), ERR_OK);
    assert_int_equal(s.inputs.n, 2);
    assert_true(uuid_eq(((struct job_input *)s.inputs.items)[0].object_id, object));
    const char *spec = arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text));
    assert_non_null(strstr(spec, arena_printf(arena, "\"a=%s@2\",\"b=%s@1\"", id, id)));
    assert_true(str_eq_c(s.job.zone, "ae-dxb-1") && str_eq_c(s.job.data_class, "health"));
    assert_int_equal(ask(arena_printf(arena, "\"a=%s\",\"b=%s@7\"", id, id), &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/inputs/1");
    assert_int_equal(ask("\"a=job_0123456789abcdef0123456789abcdef/x\"", &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/inputs/0");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(inputs_are_found_and_their_versions_fixed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
