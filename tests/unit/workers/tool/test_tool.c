/* SPDX-License-Identifier: Apache-2.0 */
/* test_tool.c - the command line, convert, and files that are no models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tool_kit.h"

static void test_convert_then_use(void **st)
{
    (void)st;
    kit_says(0, "convert " KIT_MLP " $D/mlp.falaj", "operator set 17, 6 nodes");
    kit_says(1, "convert " KIT_MLP " $D/none/x", "it cannot be written");
    kit_says(1, "convert " KIT_MLP " /dev/full", "it cannot be written");      /* the disk is full when the file is closed */
    kit_says(1, "convert $D/none.onnx $D/x", "it cannot be read");
    kit_says(1, "convert tests/onnx/make_models.py $D/x", "make_models.py: no ONNX model, or a damaged one");
    kit_says(1, "infer $D/mlp.falaj --input tests/onnx/make_models.py", "this is no .npy file");
}

static void test_usage(void **st)
{
    (void)st;
    kit_says(2, "convert", "the model is missing");
    kit_says(2, "convert a.onnx", "a file is missing");
    kit_says(2, "infer a.onnx b", "one file too many");
    kit_says(2, "bench a.onnx --threads 0", "an option is not known");
    kit_says(2, "bench a.onnx --colour red", "an option is not known");
    kit_says(0, "--print-onnx", "| `Gemm` |");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_convert_then_use), cmocka_unit_test(test_usage) };
    return cmocka_run_group_tests(tests, kit_begin, kit_end);
}
