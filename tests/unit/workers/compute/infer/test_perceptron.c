/* SPDX-License-Identifier: Apache-2.0 */
/* test_perceptron.c - a file of our own training has the signature that its clients know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/data/safetensors.h"
#include "workers/compute/infer/model.h"

static void test_signature_and_numbers(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    CLEANUP(buf_releasep) struct buf text = BUF(1024);
    const float w[4] = { 1, 0, 0, 1 }, bias[2] = { 0, 0 };
    struct st_tensor t[] = { { STR("mlp.0.weight"), ST_F32, 2, { 2, 2 }, (const void *)w, sizeof w },
                             { STR("mlp.0.bias"), ST_F32, 1, { 2 }, (const void *)bias, sizeof bias } };
    struct st_pair meta[] = { { STR("family"), STR("mlp") }, { STR("activation"), STR("relu") } };
    struct infer_model *m;
    struct infer_session *s;
    struct err e;
    float p[2];
    int32_t label;
    assert_int_equal(st_write(&b, t, 2, meta, 2, &e), ERR_OK);
    assert_int_equal(infer_model_load(&backend_ref, NULL, b.ptr, b.len, &m, &e), ERR_OK);
    assert_true(model_sig_write(&text, &infer_model_info(m)->sig));
    assert_string_equal(text.ptr, "{\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[-1,2]}],\"outputs\":["
                                  "{\"name\":\"probabilities\",\"datatype\":\"FP32\",\"shape\":[-1,2]},"
                                  "{\"name\":\"label\",\"datatype\":\"INT64\",\"shape\":[-1]}]}");
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { (const float[]){ 1, 1 } }, .out = { p, &label } }, 1, &e), ERR_OK);
    assert_true(p[0] == 0.5f && p[1] == 0.5f && label == 0);
    infer_session_free(s);
    infer_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_signature_and_numbers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
