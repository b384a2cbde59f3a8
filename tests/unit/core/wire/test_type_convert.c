/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_convert.c - the dimensions of a conversion's spec, at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/wire/type_convert.h"

static enum errc read_dims(struct arena *a, const char *dims, struct convert_job *ret, struct err *e)
{
    *ret = (struct convert_job){ 0 };
    *e = (struct err){ 0 };
    return json_decode(&convert_job_schema, str_fmt(a, "{\"dataset_id\":\"dst_0123456789abcdef0123456789abcdef\",\"dims\":%s}",
                                                    dims), a,
                       ret, e);
}

static void a_dimension_is_a_name_and_a_number(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    static const char *const bad[] = { "[\"sequence\"]", "[\"=3\"]", "[\"s=0\"]", "[\"s=2147483648\"]", "[\"s=1\",\"t=x\"]",
                                       "[7]" };
    struct convert_job job;
    struct str name;
    int64_t n;
    struct err e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_dims(a, bad[i], &job, &e), ERR_INVALID);
    assert_int_equal(read_dims(a, "[\"sequence=128\",\"past=2147483647\"]", &job, &e), ERR_OK);
    assert_int_equal(job.dims.n, 2);
    assert_true(convert_dim(((const struct str *)job.dims.items)[1], &name, &n) && str_eq_c(name, "past") && n == INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_dimension_is_a_name_and_a_number) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
