/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_batch.c - the spec of a batch: one thing that goes through the model, and which members belong to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/wire/type_batch.h"

#define SET "\"dataset_id\":\"dst_0123456789abcdef0123456789abcdef\""
#define FROM "\"request_from\":\"job_0123456789abcdef0123456789abcdef/rows\""

static enum errc read_spec(struct arena *a, const char *more, struct batch_job *ret, struct err *e)
{
    *ret = (struct batch_job){ 0 };
    *e = (struct err){ 0 };
    TRY(json_decode(&batch_job_schema, str_fmt(a, "{\"model_id\":\"mdl_0123456789abcdef0123456789abcdef\"%s%s}", *more ? "," : "",
                                               more), a, ret, e));
    return batch_job_settle(ret, e);
}

static void members_that_go_together(void **state)
{
    (void)state;
    static const struct { const char *members, *field; } rows[] = {
        { SET, NULL }, { SET ",\"result\":\"npy\",\"keep\":[\"label\"],\"dataset_version\":3", NULL },
        { "\"request\":\"{}\"", NULL }, { FROM, NULL }, { FROM ",\"request_json_bytes\":12", NULL },
        { "", "/dataset_id" }, { SET ",\"request\":\"{}\"", "/request" }, { SET "," FROM, "/request_from" },
        { "\"request\":\"{}\"," FROM, "/request_from" }, { "\"request\":\"{}\",\"request_json_bytes\":2", "/request_json_bytes" },
        { "\"request\":\"{}\",\"dataset_version\":1", "/dataset_version" }, { FROM ",\"keep\":[\"label\"]", "/keep" },
        { "\"request_from\":\"job_0123456789abcdef0123456789abcdef\"", "/request_from" },
        { "\"request_from\":\"dst_0123456789abcdef0123456789abcdef/rows\"", "/request_from" },
        { SET ",\"result\":\"parquet\"", "/result" }, { SET ",\"request_json_bytes\":-1", "/request_json_bytes" },
    };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct batch_job b;
        struct err e;
        enum errc rc = read_spec(a, rows[i].members, &b, &e);
        if (rc != (rows[i].field ? ERR_INVALID : ERR_OK) || (rows[i].field && strcmp(e.field, rows[i].field)))
            fail_msg("%s: %s at %s", rows[i].members, err_row(rc)->name, e.field);
    }
}

static void an_output_is_named_by_its_job(void **state)
{
    (void)state;
    struct uuid job;
    struct str output;
    assert_true(batch_from(STR("job_0123456789abcdef0123456789abcdef/my-rows"), &job, &output));
    assert_true(str_eq_c(output, "my-rows"));
    assert_false(batch_from(STR("job_0123456789abcdef0123456789abcdef/My Rows"), &job, &output));
    assert_false(batch_from(STR("job_0123/rows"), &job, &output));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(members_that_go_together),
                                        cmocka_unit_test(an_output_is_named_by_its_job) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
