/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_optimise.c - the spec of an optimisation: its defaults, and its limits at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/arena.h"
#include "core/json/decode.h"
#include "core/wire/type_optimise.h"

static enum errc read(struct arena *a, const char *more, struct optimise_job *ret, struct err *e)
{
    *ret = (struct optimise_job){ 0 };
    return json_decode(&optimise_job_schema, str_fmt(a, "{\"model_id\":\"mdl_0123456789abcdef0123456789abcdef\","
                       "\"dataset_id\":\"dst_0123456789abcdef0123456789abcdef\"%s}", more), a, ret, e);
}

static void test_spec(void **st)
{
    (void)st;
    struct arena *a = arena_new(1 << 20);
    struct optimise_job job;
    struct err e;
    assert_int_equal(read(a, "", &job, &e), ERR_OK);
    assert_int_equal(job.precision, 0);
    assert_true(job.calibration_rows == 512 && job.max_accuracy_drop > 0.0099 && job.max_accuracy_drop < 0.0101);
    assert_int_equal(read(a, ",\"precision\":\"bf16\",\"calibration\":\"entropy\",\"max_accuracy_drop\":1", &job, &e), ERR_OK);
    assert_true(job.precision == 1 && job.calibration == 2);
    assert_int_not_equal(read(a, ",\"max_accuracy_drop\":1.01", &job, &e), ERR_OK);
    assert_int_not_equal(read(a, ",\"percentile\":49", &job, &e), ERR_OK);
    assert_int_not_equal(read(a, ",\"calibration_rows\":0", &job, &e), ERR_OK);
    assert_int_not_equal(read(a, ",\"precision\":\"int4\"", &job, &e), ERR_OK);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_spec) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
