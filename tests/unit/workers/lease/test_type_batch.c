/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_batch.c - a real child puts a table and a request through a model of ours: the artifact is what the model says, its
 * columns are found by their names, and what cannot be is told with its place. */
#include "executor_kit.h"

#include "../compute/onnx/onnx_kit.h"

enum { COLS = 3, CLASSES = 2 };
#define SPEC(more) "{\"model_id\":\"mdl_00000000000000000000000000000001\",\"model_version\":4,\"model_name\":\"small\"" more "}"
#define SET ",\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1"
#define FROM ",\"request_from\":\"job_00000000000000000000000000000001/rows\""
#define CALL(data) "{\"id\":\"mine\",\"inputs\":[{\"name\":\"pixels\",\"datatype\":\"FP32\",\"shape\":[2,3],\"data\":" data "}]}"

static const float weights[COLS * CLASSES] = { 1, -1, 0.5f, 2, -0.25f, 4 };

/* scores = rows * W */
static void make(struct buf *file)
{
    struct buf g = BUF(KIT_BYTES);
    struct err e = { 0 };
    *file = BUF(KIT_BYTES);
    kit_input(&g, "pixels", KIT_DIMS(-1, COLS));
    kit_tensor(&g, 5, "w", ONNX_FLOAT, KIT_DIMS(COLS, CLASSES), weights, sizeof weights);
    kit_node(&g, "MatMul", "pixels,w", "scores", NULL);
    kit_output(&g, "scores");
    assert_int_equal(kit_convert(&g, 17, file, &e), ERR_OK);
}

/* The model is the second input, sealed under another key, where the kit keeps checkpoints. */
static void add_model(struct fixture *f, const struct buf *file)
{
    struct kit_ckpt *k = &f->store.ckpts[0];
    struct stream_sealer *sealer = NULL;
    struct err e = { 0 };
    uint8_t digest[32];
    const struct stream_ref ref = { kit_id(200), STR("model"), kit_id(KIT_CKPT_ID), 1, kit_id(61) };
    k->sealed = BUF((size_t)64 << 20);
    f->store.n_ckpts = 1;
    assert_int_equal(stream_sealer_new(&f->store.out_key, &ref, kit_to_buf, &k->sealed, &sealer, &e), ERR_OK);
    assert_int_equal(stream_sealer_feed(sealer, file->ptr, file->len, &e), ERR_OK);
    assert_int_equal(stream_sealer_finish(sealer, &e), ERR_OK);
    stream_sealer_free(sealer);
    sha256(file->ptr, file->len, digest);
    hex_encode(digest, 32, k->sha);
    k->size = (int64_t)file->len;
}

static struct held *add_job(struct fixture *f, const char *input, const char *spec)
{
    static struct lease_input in[2];            /* until the grant is copied into the book */
    struct lease_grant g = kit_grant(1, "batch", spec);
    kit_add_input(&g, &f->store, "dataset");
    in[0] = ((const struct lease_input *)g.inputs.items)[0];
    in[0].name = str_c(input);
    in[1] = (struct lease_input){ .name = STR("model"), .kind = STR("model"), .sha256 = str_c(f->store.ckpts[0].sha),
                                  .object_id = kit_id(KIT_CKPT_ID), .version = 1, .size_bytes = f->store.ckpts[0].size };
    g.inputs = (struct slice){ in, 2 };
    return book_add(f->book, &g, true);
}

static void begin(struct fixture *f, const char *content)
{
    CLEANUP(buf_releasep) struct buf file = BUF(0);
    make(&file);
    setup_with(f, "1g", content, strlen(content));
    add_model(f, &file);
}

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
    begin(&f, "label,a,b,c\n1,1,2,4\n0,0,1,0\n");
    run_and_expect(&f, add_job(&f, "dataset", SPEC(SET)), "\"event\":\"succeed\"", "\"rows_done\":2,\"rows\":2");
    expect_result(&f, "scores_0,scores_1\n1,19\n0.5,2\n");
    teardown(&f);
}

static void test_a_request_of_the_spec(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, "unused");
    static const char spec[] = SPEC(",\"request\":\"{\\\"id\\\":\\\"mine\\\",\\\"inputs\\\":[{\\\"name\\\":\\\"pixels\\\","
                                    "\\\"datatype\\\":\\\"FP32\\\",\\\"shape\\\":[1,3],\\\"data\\\":[1,2,4]}]}\"");
    run_and_expect(&f, add_job(&f, "dataset", spec), "\"event\":\"succeed\"", "\"rows\":1");
    expect_result(&f, "{\"model_name\":\"small\",\"model_version\":\"4\",\"id\":\"mine\",\"outputs\":[{\"name\":\"scores\","
                      "\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,19]}]}");
    teardown(&f);
}

static void test_a_request_in_an_artifact(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, CALL("[[1,2,4],[0,1,0]]"));
    run_and_expect(&f, add_job(&f, "request", SPEC(FROM)), "\"event\":\"succeed\"", "\"rows\":2");
    expect_result(&f, "{\"model_name\":\"small\",\"model_version\":\"4\",\"id\":\"mine\",\"outputs\":[{\"name\":\"scores\","
                      "\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[1,19,0.5,2]}]}");
    teardown(&f);
}

static void test_what_cannot_be_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    static const struct { const char *content, *input, *spec, *why; } rows[] = {
        { "label,a,b\n1,1,2\n0,0,1\n", "dataset", SPEC(SET), "has 2 columns of numbers and 0 of words; the model takes 3 and 0" },
        { CALL("[1,2]"), "request", SPEC(FROM), "inputs[0].data: shape says 6 numbers, data has 2" },
        { "{}", "request", SPEC(FROM), "inputs: 0 are given; the model takes pixels FP32[-1,3]" },
        { CALL("[[1,2,4],[0,1,0]]"), "request", SPEC(FROM ",\"request_json_bytes\":100000"), "is no number of bytes within" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        begin(&f, rows[i].content);
        run_and_expect(&f, add_job(&f, rows[i].input, rows[i].spec), "\"event\":\"fail\"", rows[i].why);
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
