/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_convert.c - a real child makes a model of an ONNX file, which then computes what a reference does; files that cannot
 * be
 * converted fail the job with the node, the operator and the reason. */
#include "executor_kit.h"

#include <math.h>
#include "../compute/onnx/onnx_kit.h"

#define SPEC(more) "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1" more "}"

static const float weight[] = { 1, -2, 0.5f, 3, -1, 2 }, bias[] = { 0.25f, -1 };

/* scores = relu(pixels * W + b), for rows of three numbers. */
static struct buf small_net(void)
{
    struct buf g = BUF(KIT_BYTES), attrs = BUF(KIT_BYTES);
    kit_input(&g, "pixels", KIT_DIMS(-1, 3));
    KIT_F32(&g, "w", weight, 3, 2);
    KIT_F32(&g, "b", bias, 2);
    kit_node(&g, "Gemm", "pixels,w,b", "h", &attrs);
    kit_node(&g, "Relu", "h", "scores", NULL);
    kit_output(&g, "scores");
    return kit_model(&g, 17);
}

static void expect_reference(const struct buf *file)
{
    struct infer_model *m;
    struct infer_session *s;
    struct err e;
    const float x[] = { 1, 2, 3, -4, 0.5f, 7 };
    float y[4];
    assert_int_equal(infer_model_load(&backend_ref, NULL, file->ptr, file->len, &m, &e), ERR_OK);
    const struct model_sig *sig = &infer_model_info(m)->sig;
    assert_true(str_eq_c(sig->inputs[0].name, "pixels") && str_eq_c(sig->outputs[0].name, "scores"));
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { x }, .out = { y } }, 2, &e), ERR_OK);
    for (int row = 0; row < 2; row++)
        for (int col = 0; col < 2; col++) {
            double want = (double)bias[col];
            for (int k = 0; k < 3; k++)
                want += (double)x[row * 3 + k] * (double)weight[k * 2 + col];
            assert_true(fabs((double)y[row * 2 + col] - (want > 0 ? want : 0)) < 1e-5);
        }
    infer_session_free(s);
    infer_model_free(m);
}

static void test_a_file_becomes_a_model_that_computes_the_same(void **state)
{
    (void)state;
    struct fixture f;
    CLEANUP(buf_releasep) struct buf onnx = small_net();
    setup_with(&f, "1g", onnx.ptr, onnx.len);
    run_and_expect(&f, add_kind(&f, "convert", SPEC(""), 0), "\"event\":\"succeed\"",
                   "\"opset\":17,\"nodes\":2,\"operations\":3,\"parameters\":8");
    CLEANUP(buf_releasep) struct buf model = BUF(0);
    kit_open_output(&f.store, &model);
    expect_reference(&model);
    teardown(&f);
}

static void expect_failure(const struct buf *onnx, size_t bytes, const char *why)
{
    struct fixture f;
    setup_with(&f, "1g", onnx->ptr, bytes);
    run_and_expect(&f, add_kind(&f, "convert", SPEC(""), 0), "\"event\":\"fail\"", why);
    assert_int_equal(f.store.uploads, 0);
    teardown(&f);
}

static void test_what_cannot_be_converted_says_why(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf onnx = small_net();
    expect_failure(&onnx, onnx.len / 2, "the job failed: ");
    struct buf g = kit_one_node("NonMaxSuppression", "x", NULL, KIT_DIMS(-1, 3));
    CLEANUP(buf_releasep) struct buf odd = kit_model(&g, 17);
    expect_failure(&odd, odd.len, "NonMaxSuppression");
    expect_failure(&odd, odd.len, "the node");
    CLEANUP(buf_releasep) struct buf text = BUF(64);
    buf_add_c(&text, "a,b,label\n1,2,0\n");
    expect_failure(&text, text.len, "the job failed: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_file_becomes_a_model_that_computes_the_same),
                                        cmocka_unit_test(test_what_cannot_be_converted_says_why) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
