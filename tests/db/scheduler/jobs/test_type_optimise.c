/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_optimise.c - a submission that names no model of the tenant's is refused at the model, before its data set is looked
 * for; the good way is in tests/http/bring_model.test.ts. */
#include "submit_kit.h"

static void a_model_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    const char *spec = arena_printf(arena, "{\"model_id\":\"mdl_0123456789abcdef0123456789abcdef\",\"dataset_id\":\"%.*s\"}",
                                    STR_ARG(id_text(arena, "dst", dataset)));
    assert_int_equal(prepare(who, JOB_OPTIMISE, spec, NULL, 1, 0, &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/model_id");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_model_that_is_not_there_is_refused) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
