/* SPDX-License-Identifier: Apache-2.0 */
/* test_tool_infer.c - arrays in, JSON or arrays out; what does not fit says what the model takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tool_kit.h"
#include "core/data/npy.h"

static void put(const char *name, uint64_t rows, uint64_t cols)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    float x[64] = { 1, 0.5f, -1, 2, 3, 3, 3, 3 };
    char path[128];
    assert_true(npy_write(&b, 'f', 4, 2, (const uint64_t[]){ rows, cols }, x, rows * cols * 4));
    snprintf(path, sizeof path, "%s/%s", kit_folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(b.ptr, 1, b.len, f), b.len);
    fclose(f);
}

static void test_json_and_arrays(void **st)
{
    (void)st;
    put("x.npy", 2, 4);
    kit_says(0, "infer " KIT_MLP " --input $D/x.npy --backend ref",
             "[{\"name\":\"probabilities\",\"datatype\":\"FP32\",\"shape\":[2,3],\"data\":[");
    kit_says(0, "infer " KIT_MLP " --input x=$D/x.npy --threads 2",
             "{\"name\":\"label\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[");
    kit_says(0, "infer " KIT_MLP " --input $D/x.npy --output $D", "");
    kit_says(1, "infer " KIT_MLP " --input $D/0.npy", "the model takes x FP32[-1,4]");
    kit_says(1, "infer " KIT_MLP " --input z=$D/x.npy", "there is no such input");
    kit_says(1, "infer tests/onnx/models/tokens.onnx --input $D/x.npy", "the model takes ids INT64[-1,5]");
    kit_says(1, "infer " KIT_MLP " --input $D/x.npy --backend gpu9", "there is no backend \"gpu9\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_json_and_arrays) };
    return cmocka_run_group_tests(tests, kit_begin, kit_end);
}
