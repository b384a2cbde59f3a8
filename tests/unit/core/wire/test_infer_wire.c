/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer_wire.c - answers as the Open Inference Protocol has them, letter by letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/json/encode.h"
#include "core/wire/infer_wire.h"

static void expect(const struct schema *s, const void *obj, const char *text)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    json_encode(s, obj, &b);
    assert_string_equal(b.ptr, text);
}

static void answers(void **state)
{
    (void)state;
    int64_t shape[] = { 1, 2 }, any[] = { -1, 64 };
    const float p[] = { 0.1f, 0.9f };
    const int32_t labels[] = { 1 };
    CLEANUP(buf_releasep) struct buf probabilities = BUF(100);
    CLEANUP(buf_releasep) struct buf label = BUF(100);
    json_add_f32s(&probabilities, p, 2);
    json_add_i32s(&label, labels, 1);
    struct infer_tensor out[] = { { STR("probabilities"), STR("FP32"), { shape, 2 }, { buf_str(&probabilities) } },
                                  { STR("label"), STR("INT64"), { shape, 1 }, { buf_str(&label) } } };
    struct infer_tensor in = { .name = STR("input"), .datatype = STR("FP32"), .shape = { any, 2 } };
    struct str version = STR("3");
    expect(&infer_reply_schema, &(struct infer_reply){ STR("digits"), version, STR("a\"b"), { out, 2 } },
           "{\"model_name\":\"digits\",\"model_version\":\"3\",\"id\":\"a\\\"b\",\"outputs\":[{\"name\":\"probabilities\",\"datatype\":\"FP32\","
           "\"shape\":[1,2],\"data\":[0.100000001,0.899999976]},{\"name\":\"label\",\"datatype\":\"INT64\",\"shape\":[1],\"data\":[1]}]}");
    expect(&infer_reply_schema, &(struct infer_reply){ STR("digits"), version, STR_NULL, { out, 0 } },
           "{\"model_name\":\"digits\",\"model_version\":\"3\",\"outputs\":[]}");
    expect(&infer_metadata_schema, &(struct infer_metadata){ STR("digits"), { &version, 1 }, STR("falaj_mlp"), { &in, 1 }, { 0 } },
           "{\"name\":\"digits\",\"versions\":[\"3\"],\"platform\":\"falaj_mlp\",\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[-1,64]}],"
           "\"outputs\":[]}");
    expect(&infer_ready_schema, &(struct infer_ready){ true }, "{\"ready\":true}");
    expect(&infer_error_schema, &(struct infer_error){ STR("why") }, "{\"error\":\"why\"}");
}

/* What a caller depends on: names, datatypes, shapes; not their order. */
static void signatures(void **state)
{
    (void)state;
    int64_t wide[] = { -1, 64 }, narrow[] = { -1, 3 }, flat[] = { -1 };
    struct infer_tensor a[] = { { STR("x"), STR("FP32"), { wide, 2 } }, { STR("ids"), STR("INT64"), { flat, 1 } } };
    struct infer_tensor turned[] = { a[1], a[0] }, y = { STR("y"), STR("FP32"), { narrow, 2 } };
    const struct infer_signature is = { { a, 2 }, { &y, 1 } }, same = { { turned, 2 }, { &y, 1 } };
    CLEANUP(buf_releasep) struct buf b = BUF(200);
    assert_true(infer_signature_same(&is, &is) && infer_signature_same(&is, &same) && infer_signature_same(&same, &is));
    struct infer_tensor other[] = { a[0], a[1] };
    const struct infer_signature unlike = { { other, 2 }, { &y, 1 } }, fewer = { { a, 1 }, { &y, 1 } },
                                 gives = { { a, 2 }, { a, 1 } };
    other[0].shape = (struct slice){ narrow, 2 };
    assert_false(infer_signature_same(&is, &unlike));
    other[0] = a[0];
    other[1].datatype = STR("INT32");
    assert_false(infer_signature_same(&is, &unlike));
    other[1] = a[1];
    other[1].name = STR("id");
    assert_false(infer_signature_same(&is, &unlike));
    other[1] = a[1];
    other[1].shape = (struct slice){ wide, 2 };
    assert_false(infer_signature_same(&is, &unlike));
    assert_false(infer_signature_same(&is, &fewer) || infer_signature_same(&fewer, &is) || infer_signature_same(&is, &gives));
    infer_signature_print(&b, &is);
    assert_true(str_eq_c(buf_str(&b), "x FP32[-1,64], ids INT64[-1] -> y FP32[-1,3]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(signatures) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
