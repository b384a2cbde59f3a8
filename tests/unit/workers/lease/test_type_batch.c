/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_batch.c - a real child puts a table and a request through a model of ours: the artifact is what the model says, its
 * columns are found by their names, and what cannot be is told with its place. */
#include "batch_kit.h"

#define FROM ",\"request_from\":\"job_00000000000000000000000000000001/rows\""
#define CALL(data) "{\"id\":\"mine\",\"inputs\":[{\"name\":\"pixels\",\"datatype\":\"FP32\",\"shape\":[2,3],\"data\":" data "}]}"

static void expect_result(struct fixture *f, const char *want)
{
    CLEANUP(buf_releasep) struct buf got = BUF(0);
    kit_open_artifact(&f->store, "result", &got);
    assert_string_equal(got.ptr, want);
}

static void test_a_table(void **state)
{
    (void)state;
    struct fixture f;
    batch_begin(&f, "label,a,b,c\n1,1,2,4\n0,0,1,0\n");
    run_and_expect(&f, batch_job_of(&f, "dataset", BATCH_SPEC(BATCH_SET)), "\"event\":\"succeed\"", "\"rows_done\":2,\"rows\":2");
    expect_result(&f, "scores_0,scores_1\n1,19\n0.5,2\n");
    teardown(&f);
}

static void test_a_request_of_the_spec(void **state)
{
    (void)state;
    struct fixture f;
    batch_begin(&f, "unused");
    static const char spec[] = BATCH_SPEC(",\"request\":\"{\\\"id\\\":\\\"mine\\\",\\\"inputs\\\":[{\\\"name\\\":\\\"pixels\\\","
                                    "\\\"datatype\\\":\\\"FP32\\\",\\\"shape\\\":[1,3],\\\"data\\\":[1,2,4]}]}\"");
    run_and_expect(&f, batch_job_of(&f, "dataset", spec), "\"event\":\"succeed\"", "\"rows\":1");
    expect_result(&f, "{\"model_name\":\"small\",\"model_version\":\"4\",\"id\":\"mine\",\"outputs\":[{\"name\":\"scores\","
                      "\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,19]}]}");
    teardown(&f);
}

static void test_a_request_in_an_artifact(void **state)
{
    (void)state;
    struct fixture f;
    batch_begin(&f, CALL("[[1,2,4],[0,1,0]]"));
    run_and_expect(&f, batch_job_of(&f, "request", BATCH_SPEC(FROM)), "\"event\":\"succeed\"", "\"rows\":2");
    expect_result(&f, "{\"model_name\":\"small\",\"model_version\":\"4\",\"id\":\"mine\",\"outputs\":[{\"name\":\"scores\","
                      "\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[1,19,0.5,2]}]}");
    teardown(&f);
}

static void test_what_cannot_be_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    static const struct { const char *content, *input, *spec, *why; } rows[] = {
        { "label,a,b\n1,1,2\n0,0,1\n", "dataset", BATCH_SPEC(BATCH_SET),
          "has 2 columns of numbers and 0 of words; the model takes 3 and 0" },
        { CALL("[1,2]"), "request", BATCH_SPEC(FROM), "inputs[0].data: shape says 6 numbers, data has 2" },
        { "{}", "request", BATCH_SPEC(FROM), "inputs: 0 are given; the model takes pixels FP32[-1,3]" },
        { CALL("[[1,2,4],[0,1,0]]"), "request", BATCH_SPEC(FROM ",\"request_json_bytes\":100000"),
          "is no number of bytes within" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        batch_begin(&f, rows[i].content);
        run_and_expect(&f, batch_job_of(&f, rows[i].input, rows[i].spec), "\"event\":\"fail\"", rows[i].why);
        assert_int_equal(f.store.n_ckpts, 1);
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_table), cmocka_unit_test(test_a_request_of_the_spec),
                                        cmocka_unit_test(test_a_request_in_an_artifact),
                                        cmocka_unit_test(test_what_cannot_be_is_told_and_leaves_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
