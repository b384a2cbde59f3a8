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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(answers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
