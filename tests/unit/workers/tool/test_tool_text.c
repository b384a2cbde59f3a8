/* SPDX-License-Identifier: Apache-2.0 */
/* test_tool_text.c - a decoder on the command line: the same text again, with its seed; tokens per second in a line of JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tool_kit.h"
#include "../compute/text/text_kit.h"

static void save(const struct text_kit *k, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", kit_folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(k->file.ptr, 1, k->file.len, f), k->file.len);
    assert_int_equal(fclose(f), 0);
}

static void make_models(void)
{
    struct text_kit k;
    tk_make_of(&k, TK_WORDS, TK_LLAMA);
    save(&k, "words");
    tk_free(&k);
    tk_make(&k, false, false, false);
    save(&k, "numbers");
    tk_free(&k);
}

static void text_goes_on(void **st)
{
    (void)st;
    char one[4096], two[4096], other[4096];
    make_models();
    const char *words = "infer $D/words --prompt 'abab' --max-tokens 12 --temperature 2 --seed 7 --type bf16";
    assert_int_equal(kit_tool(one, sizeof one, words), 0);
    assert_int_equal(kit_tool(two, sizeof two, words), 0);
    assert_string_equal(one, two);
    assert_true(!strncmp(one, "abab", 4) && strlen(one) > 8);
    assert_int_equal(
        kit_tool(other, sizeof other, "infer $D/words --prompt 'abab' --max-tokens 12 --temperature 2 --seed 8 --type bf16"), 0);
    assert_string_not_equal(one, other);
    assert_int_equal(kit_tool(one, sizeof one, "infer $D/numbers --prompt 1,2,3 --max-tokens 100 --tier ref"), 0);
    size_t count = 1;
    for (const char *p = one; *p; p++)
        count += *p == ',';
    assert_int_equal(count, TK_CONTEXT);        /* as many as it has room for */
}

static void a_line_of_figures(void **st)
{
    (void)st;
    kit_says(0, "bench $D/words --batch 8 --threads 2 --type int8 --seconds 0.01",
             "\"model\":\"words\",\"prec\":\"int8\",\"tier\":\"");
    kit_says(0, "bench $D/numbers --seconds 0.01", "\"tokens_s\":");
}

static void faults_are_told(void **st)
{
    (void)st;
    kit_says(1, "infer $D/numbers --prompt 1,71", "token numbers below 71");
    kit_says(1, "infer $D/numbers --prompt abc", "token numbers below 71");
    kit_says(1, "infer $D/words --prompt x --type int3", "--type int3: fp32, bf16 and int8 are known");
    kit_says(1, "infer " KIT_MLP " --prompt x", "mlp.onnx is no decoder");
    kit_says(1, "bench $D/words --batch 33", "at most 32");
    kit_says(2, "infer $D/words --prompt x --temperature -1", "out of range");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(text_goes_on), cmocka_unit_test(a_line_of_figures),
                                        cmocka_unit_test(faults_are_told) };
    return cmocka_run_group_tests(tests, kit_begin, kit_end);
}
