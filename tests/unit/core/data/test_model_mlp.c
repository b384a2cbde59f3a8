/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_mlp.c - a model file that comes in pieces is judged as the whole one is, wherever it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/data/model_mlp.h"

enum { IN = 3, HIDDEN = 4, OUT = 2 };
static struct arena *arena;

static struct buf model(bool has_input)
{
    static float numbers[64];
    struct err e;
    struct buf out = BUF(1 << 20);
    for (int i = 0; i < 64; i++)
        numbers[i] = (float)(i + 1) / 7;
    const unsigned char *p = (const unsigned char *)numbers;
    struct st_tensor t[] = {
        { STR("mlp.0.weight"), ST_F32, 2, { HIDDEN, IN }, p, 4 * HIDDEN * IN },
        { STR("mlp.0.bias"), ST_F32, 1, { HIDDEN }, p, 4 * HIDDEN },
        { STR("mlp.1.weight"), ST_F32, 2, { OUT, HIDDEN }, p, 4 * OUT * HIDDEN },
        { STR("mlp.1.bias"), ST_F32, 1, { OUT }, p, 4 * OUT },
        { STR("input.mean"), ST_F32, 1, { IN }, p, 4 * IN }, { STR("input.scale"), ST_F32, 1, { IN }, p, 4 * IN },
    };
    struct st_pair meta[] = { { STR("family"), STR("mlp") }, { STR("activation"), STR("relu") } };
    assert_int_equal(st_write(&out, t, has_input ? 6 : 4, meta, 2, &e), ERR_OK);
    return out;
}

static enum errc whole(struct arena *a, const char *p, size_t n, struct model_mlp *ret, struct err *e)
{
    struct st_file f;
    enum errc rc = st_parse(a, p, n, &f, e);
    return rc == ERR_OK ? model_mlp_check(&f, ret, e) : rc;
}

static enum errc pieces(struct arena *a, const char *p, size_t n, size_t piece, struct model_mlp *ret, struct err *e)
{
    struct model_stream s = { .arena = a, .size_bytes = n };
    enum errc rc = ERR_OK;
    for (size_t at = 0; rc == ERR_OK && at < n; at += piece)
        rc = model_stream_add(&s, p + at, n - at < piece ? n - at : piece, e);
    if (rc == ERR_OK)
        rc = model_stream_end(&s, ret, e);
    model_stream_release(&s);
    return rc;
}

/* Both ways say the same, in the same words. */
static enum errc judge(const char *p, size_t n, size_t piece)
{
    struct model_mlp a = { 0 }, b = { 0 };
    struct err ea = { 0 }, eb = { 0 };
    arena_reset(arena);
    enum errc rc = whole(arena, p, n, &a, &ea), rc2 = pieces(arena, p, n, piece, &b, &eb);
    if (rc != rc2 || strcmp(ea.msg, eb.msg))
        fail_msg("pieces of %zu: \"%s\", whole: \"%s\"", piece, eb.msg, ea.msg);
    if (rc == ERR_OK) {
        assert_int_equal(a.layers, b.layers);
        assert_int_equal(a.parameters, b.parameters);
        assert_memory_equal(a.width, b.width, sizeof a.width);
    }
    return rc;
}

static void wherever_it_is_cut(void **state)
{
    (void)state;
    for (int has_input = 0; has_input < 2; has_input++) {
        struct buf f = model(has_input);
        for (size_t piece = 1; piece <= f.len; piece++)
            assert_int_equal(judge(f.ptr, f.len, piece), ERR_OK);
        buf_release(&f);
    }
}

/* Every byte spoilt in several ways, and every length that is too short. */
static void whatever_is_wrong(void **state)
{
    (void)state;
    static const unsigned char WITH[] = { 0x00, 0x01, 0x20, 0x31, 0x7f, 0x80, 0xff };
    struct buf f = model(true);
    int refused = 0;
    for (size_t i = 0; i < f.len; i++) {
        char kept = f.ptr[i];
        for (size_t k = 0; k < sizeof WITH; k++) {
            f.ptr[i] = (char)WITH[k];
            refused += judge(f.ptr, f.len, 5 + i % 60) != ERR_OK;
        }
        f.ptr[i] = kept;
        refused += judge(f.ptr, i, 7) != ERR_OK;
    }
    assert_true(refused > (int)f.len * 3);
    buf_release(&f);
}

static void numbers_are_looked_at(void **state)
{
    (void)state;
    static const float BAD[] = { NAN, INFINITY, -INFINITY, 0 };
    struct buf f = model(true);
    size_t header;
    struct err e;
    assert_int_equal(st_header_size((const unsigned char *)f.ptr, f.len, &header, &e), ERR_OK);
    int zeros = 0;
    for (size_t at = ST_PREFIX + header; at < f.len; at += 4)
        for (int k = 0; k < 4; k++) {
            char kept[4];
            memcpy(kept, f.ptr + at, 4);
            memcpy(f.ptr + at, &BAD[k], 4);
            enum errc rc = judge(f.ptr, f.len, 3);
            if (k < 3)
                assert_int_equal(rc, ERR_BAD_DATA);
            zeros += k == 3 && rc != ERR_OK;
            memcpy(f.ptr + at, kept, 4);
        }
    assert_int_equal(zeros, IN);            /* in input.scale, and only there */
    buf_release(&f);
}

/* A file with a graph may have bytes and halves beside fp32, each judged by its own width, wherever the file is cut. */
static void numbers_of_a_graph_have_their_widths(void **state)
{
    (void)state;
    static const unsigned char nan[4] = { 0xc0, 0x7f, 0xc0, 0x7f }, one[2] = { 0x80, 0x3f };
    static const char sig[] = "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,3]}],"
                              "\"outputs\":[{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[-1,1]}]}";
    static const struct { enum st_dtype small; const unsigned char *half; enum errc want; } rows[] = {
        { ST_I8, one, ERR_OK }, { ST_I8, nan, ERR_BAD_DATA }, { ST_U8, one, ERR_BAD_DATA },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece < 40; piece++) {
            struct buf f = BUF(1 << 16);
            struct err e = { 0 };
            struct model_mlp m;
            const float numbers[] = { 1, 2, 3 };
            struct st_tensor t[] = { { STR("a"), rows[i].small, 1, { 4 }, nan, 4 },
                                     { STR("b"), ST_BF16, 1, { 1 }, rows[i].half, 2 },
                                     { STR("c"), ST_F32, 1, { 3 }, (const unsigned char *)numbers, 12 } };
            struct st_pair meta[] = { { STR("family"), STR("graph") }, { STR("graph"), STR("{}") },
                                      { STR("graph_format"), STR("falaj-graph-1") }, { STR("signature"), str_c(sig) } };
            arena_reset(arena);
            assert_int_equal(st_write(&f, t, 3, meta, 4, &e), ERR_OK);
            assert_int_equal(pieces(arena, f.ptr, f.len, piece, &m, &e), rows[i].want);
            buf_release(&f);
        }
}

static void it_is_not_longer_than_said(void **state)
{
    (void)state;
    struct buf f = model(false);
    struct err e = { 0 };
    struct model_stream s = { .arena = arena, .size_bytes = f.len };
    assert_int_equal(model_stream_add(&s, f.ptr, f.len, &e), ERR_OK);
    assert_int_equal(model_stream_add(&s, "x", 1, &e), ERR_BAD_DATA);
    model_stream_release(&s);
    buf_release(&f);
}

static int setup(void **state)
{
    (void)state;
    arena = arena_new(16 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wherever_it_is_cut), cmocka_unit_test(whatever_is_wrong), cmocka_unit_test(numbers_are_looked_at),
        cmocka_unit_test(numbers_of_a_graph_have_their_widths),
        cmocka_unit_test(it_is_not_longer_than_said),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
