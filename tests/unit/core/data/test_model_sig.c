/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_sig.c - a signature reads back as it was written; what is none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/data/model_sig.h"

static const char good[] = "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,3,224,224]},"
                           "{\"name\":\"ids\",\"datatype\":\"INT64\","
                           "\"shape\":[-1,128]}],\"outputs\":[{\"name\":\"y\",\"datatype\":\"BOOL\",\"shape\":[1]}]}";

static void test_it_reads_back(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    CLEANUP(buf_releasep) struct buf text = BUF(4096);
    struct model_sig s;
    struct err e;
    assert_int_equal(model_sig_parse(a, str_c(good), &s, &e), ERR_OK);
    assert_true(model_sig_write(&b, &s));
    assert_string_equal(b.ptr, good);
    assert_true(sig_print(&text, s.inputs, s.input_count));
    assert_string_equal(text.ptr, "x FP32[-1,3,224,224], ids INT64[-1,128]");
    assert_int_equal(sig_find(s.inputs, 2, STR("ids")), 1);
    assert_int_equal(sig_find(s.inputs, 2, STR("y")), -1);
    assert_int_equal(sig_count(&s.inputs[1], 4), 512);
    assert_true(sig_has_rows(&s.inputs[0]) && !sig_has_rows(&s.outputs[0]));
}

static void refused(const char *json, const char *why)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct model_sig s;
    struct err e = { 0 };
    assert_int_equal(model_sig_parse(a, str_c(json), &s, &e), ERR_BAD_DATA);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}
#define TENSOR(name, type, shape) "{\"name\":\"" name "\",\"datatype\":\"" type "\",\"shape\":" shape "}"
#define SIG(inputs) "{\"inputs\":[" inputs "],\"outputs\":[" TENSOR("y", "FP32", "[1]") "]}"

static void test_refusals(void **st)
{
    (void)st;
    refused("", "there is no signature");
    refused("{\"outputs\":[]}", "another member is due here");
    refused(SIG(""), "a list is empty");
    refused(SIG(TENSOR("x", "FP7", "[1]")), "unknown datatype");
    refused(SIG(TENSOR("x", "FP32", "[]")), "without a shape");
    refused(SIG(TENSOR("x", "FP32", "[2,-1]")), "with -1 in dimension 1");
    refused(SIG(TENSOR("x", "FP32", "[0]")), "with 0 in dimension 0");
    refused(SIG(TENSOR("x", "FP32", "[1048576,1048576,2]")), "in dimension 1");
    refused(SIG(TENSOR("x", "FP32", "[1]") "," TENSOR("x", "FP32", "[1]")), "two named");
    refused(SIG(TENSOR("x", "FP32", "[1]")) "x", "goes on behind its end");
    for (size_t n = 0; n < sizeof good - 1; n++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
        struct model_sig s;
        struct err e;
        assert_int_equal(model_sig_parse(a, str_n(good, n), &s, &e), ERR_BAD_DATA);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_it_reads_back), cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
