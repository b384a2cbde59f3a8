/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_file.c - any cut, any changed byte: refused or read, never past the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static struct buf sample(void)
{
    const float w[4] = { 1, 2, 3, 4 };
    struct buf g = BUF(KIT_BYTES), attrs = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    KIT_F32(&g, "w", w, 2, 2);
    kit_int(&attrs, "transB", 1);
    kit_real(&attrs, "alpha", 1.5f);
    kit_ints(&attrs, "more", (const int64_t[]){ 1, -1, INT64_MAX }, 3);
    kit_node(&g, "Gemm", "x,w", "y", &attrs);
    kit_output(&g, "y");
    return kit_model(&g, 17);
}

static enum errc parse(const char *p, size_t n, struct onnx_file *m, struct arena *a, struct err *e)
{
    return onnx_parse(a, str_n(p, n), m, e);
}

static void test_what_is_in_a_file(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    CLEANUP(buf_releasep) struct buf b = sample();
    struct onnx_file m;
    struct err e;
    assert_int_equal(parse(b.ptr, b.len, &m, a, &e), ERR_OK);
    assert_true(m.ir == 8 && m.opset == 17 && m.node_count == 1 && m.tensor_count == 1 && m.input_count == 1
        && m.output_count == 1);
    assert_true(str_eq_c(m.nodes[0].op, "Gemm") && m.nodes[0].in_count == 2 && str_eq_c(m.producer, "kit"));
    const struct onnx_attr *more = onnx_attr_find(&m.nodes[0], "more");
    assert_true(more && more->int_count == 3 && more->ints[1] == -1 && more->ints[2] == INT64_MAX);
    assert_true(onnx_attr_find(&m.nodes[0], "alpha")->f == 1.5);
    assert_true(m.inputs[0].dim[0] == -1 && m.inputs[0].dim[1] == 2 && str_eq_c(m.inputs[0].param[0], "N"));
}

static void test_every_cut_and_every_changed_byte(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf b = sample();
    size_t refused = 0;
    for (size_t n = 0; n < b.len; n++) {
        CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
        char *tight = malloc(n + 1);        /* so that one byte too far is seen */
        struct onnx_file m;
        struct err e;
        memcpy(tight, b.ptr, n);
        refused += parse(tight, n, &m, a, &e) != ERR_OK;
        free(tight);
    }
    assert_true(refused > b.len * 9 / 10);
    for (size_t i = 0; i < b.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
            CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
            struct onnx_about about;
            struct err e;
            b.ptr[i] ^= (char)(1 << bit);
            (void)onnx_convert(a, buf_str(&b), NULL, &file, &about, &e);
            b.ptr[i] ^= (char)(1 << bit);
        }
}

/* Each list has its own length: many inputs beside few outputs, and few beside many. */
static void test_lists_of_unlike_lengths(void **st)
{
    (void)st;
    for (size_t ins = 1; ins <= 9; ins += 4) {
        CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
        struct buf g = BUF(KIT_BYTES);
        struct onnx_file m;
        struct err e = { 0 };
        char name[8] = "x0";
        for (size_t i = 0; i < ins; i++, name[1]++)
            kit_input(&g, name, KIT_DIMS(-1, 2));
        strcpy(name, "y0");
        for (size_t i = 0; i < 10 - ins; i++, name[1]++)
            kit_output(&g, name);
        kit_node(&g, "Relu", "x0", "y0", NULL);
        CLEANUP(buf_releasep) struct buf b = kit_model(&g, 17);
        assert_int_equal(parse(b.ptr, b.len, &m, a, &e), ERR_OK);
        assert_true(m.input_count == ins && m.output_count == 10 - ins);
        for (size_t i = 0; i < ins; i++)
            assert_int_equal(m.inputs[i].name.ptr[1], '0' + (int)i);
        for (size_t i = 0; i < 10 - ins; i++)
            assert_true(m.outputs[i].name.ptr[0] == 'y' && m.outputs[i].name.ptr[1] == '0' + (int)i);
    }
}

/* What a graph has lists of, given as a number: it is damaged, and is not read as a list that is shorter. */
static void test_a_number_in_place_of_a_list(void **st)
{
    (void)st;
    const unsigned lists[] = { 1, 5, 11, 12 };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
        struct buf g = BUF(KIT_BYTES);
        struct onnx_file m;
        struct err e = { 0 };
        kit_input(&g, "x", KIT_DIMS(-1, 2));
        kit_node(&g, "Relu", "x", "y", NULL);
        kit_output(&g, "y");
        pb_add_number(&g, lists[i], 7);
        CLEANUP(buf_releasep) struct buf b = kit_model(&g, 17);
        assert_int_equal(parse(b.ptr, b.len, &m, a, &e), ERR_BAD_DATA);
        assert_non_null(strstr(e.msg, "another wire type than its number says"));
    }
}

static void test_what_is_no_model(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    struct onnx_file m;
    struct err e;
    assert_int_equal(parse("", 0, &m, a, &e), ERR_BAD_DATA);
    assert_int_equal(parse("hello, I am a text", 18, &m, a, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "no ONNX model, or a damaged one, at byte"));
    CLEANUP(buf_releasep) struct buf b = BUF(1024);
    struct buf g = BUF(64), f = BUF(64);
    pb_add_number(&b, 1, 8);
    pb_add_message(&b, 7, &g);
    pb_add_text(&f, 1, "F");
    pb_add_message(&b, 25, &f);
    assert_int_equal(parse(b.ptr, b.len, &m, a, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "functions of its own"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_in_a_file), cmocka_unit_test(test_every_cut_and_every_changed_byte),
        cmocka_unit_test(test_a_number_in_place_of_a_list), cmocka_unit_test(test_lists_of_unlike_lengths),
        cmocka_unit_test(test_what_is_no_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
