/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_batch.c - a submission that names no model of the tenant's is refused at the model, one without anything to put
 * through at the member that is missing; the good ways are in tests/http/batch.test.ts. */
#include "submit_kit.h"

#define MODEL "\"model_id\":\"mdl_0123456789abcdef0123456789abcdef\""

static void what_is_not_there_is_refused_at_its_member(void **state)
{
    (void)state;
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    const char *spec = arena_printf(arena, "{" MODEL ",\"dataset_id\":\"%.*s\"}", STR_ARG(id_text(arena, "dst", dataset)));
    assert_int_equal(prepare(who, JOB_BATCH, spec, NULL, 1, 0, &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/model_id");
    assert_int_equal(prepare(who, JOB_BATCH, "{" MODEL "}", NULL, 1, 0, &s, &e), ERR_INVALID);
    assert_string_equal(e.field, "/spec/dataset_id");
    spec = "{" MODEL ",\"request\":\"{}\",\"keep\":[\"label\"]}";
    assert_int_equal(prepare(who, JOB_BATCH, spec, NULL, 1, 0, &s, &e), ERR_INVALID);
    assert_string_equal(e.field, "/spec/keep");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_not_there_is_refused_at_its_member) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
