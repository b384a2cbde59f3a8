/* SPDX-License-Identifier: Apache-2.0 */
/* test_tool_bench.c - one line of JSON with what was measured, for models with rows and with indices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tool_kit.h"

static void test_a_line(void **st)
{
    (void)st;
    kit_says(0, "bench " KIT_MLP " --batch 8 --seconds 0.01 --tier ref",
             "\"model\":\"mlp.onnx\",\"prec\":\"fp32\",\"batch\":8,\"threads\":1,\"conc\":1,\"tier\":\"ref\",\"us\":");
    kit_says(0, "bench tests/onnx/models/tokens.onnx --threads 2 --seconds 0.01", "\"batch\":1,\"threads\":2");
    kit_says(1, "bench " KIT_MLP " --type int3", "--type int3");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_line) };
    return cmocka_run_group_tests(tests, kit_begin, kit_end);
}
