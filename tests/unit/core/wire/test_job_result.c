/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_result.c - figures of a training, as they are printed and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/job_result.h"

static void figures_that_are_none_are_left_out(void **state)
{
    (void)state;
    int64_t rows[] = { 3, 5 };
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct train_figures f = { .has_train_loss = true, .train_loss = 0.25, .epochs = 2, .seconds = 1.5, .parameters = 10, .backend = STR("ref") }, g = { 0 };
    json_encode(&train_figures_schema, &f, &b);
    assert_string_equal(b.ptr, "{\"train_loss\":0.25,\"epochs\":2,\"seconds\":1.5,\"parameters\":10,\"holdout_count\":0,"
                               "\"early_stopped\":false,\"backend\":\"ref\"}");
    f.holdout_rows = (struct slice){ rows, 2 };
    buf_clear(&b);
    json_encode(&train_figures_schema, &f, &b);
    assert_int_equal(json_decode(&train_figures_schema, buf_str(&b), a, &g, NULL), ERR_OK);
    assert_int_equal(((const int64_t *)g.holdout_rows.items)[1], 5);
    assert_false(g.has_holdout_loss);
    struct err e;
    assert_int_equal(json_decode(&train_figures_schema, STR("{\"epochs\":2,\"note\":\"x\"}"), a, &g, &e), ERR_UNKNOWN_FIELD);
    assert_int_equal(json_decode(&train_figures_schema, STR("{\"epochs\":2}"), a, &g, &e), ERR_MISSING_FIELD);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(figures_that_are_none_are_left_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
