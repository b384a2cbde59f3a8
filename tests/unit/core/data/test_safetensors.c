/* SPDX-License-Identifier: Apache-2.0 */
/* test_safetensors.c - round trip, every rule of the format broken once, 20,000 mutations, and the model check on top. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/cleanup.h"
#include "core/data/model_mlp.h"

static const float w0[6] = { 1, 2, 3, 4, 5, 6 }, b0[2] = { 7, 8 }, w1[6] = { 1, 0, 0, 1, 1, 1 }, b1[3] = { 0, 0, 0 };
static const float mean[3] = { 0, 0, 0 }, scale[3] = { 1, 1, 1 };

static struct st_tensor f32(const char *name, const float *p, uint64_t rows, uint64_t cols)
{
    return (struct st_tensor){ .name = str_c(name), .dtype = ST_F32, .rank = cols ? 2 : 1, .shape = { rows, cols },
                               .data = (const void *)p, .size_bytes = rows * (cols ? cols : 1) * 4 };
}

static void write_model(struct buf *out)
{
    struct err e;
    struct st_tensor t[] = { f32("mlp.0.weight", w0, 2, 3), f32("mlp.0.bias", b0, 2, 0), f32("mlp.1.weight", w1, 3, 2),
                             f32("mlp.1.bias", b1, 3, 0), f32("input.mean", mean, 3, 0), f32("input.scale", scale, 3, 0) };
    struct st_pair meta[] = { { STR("family"), STR("mlp") }, { STR("activation"), STR("relu") }, { STR("q\"\n\xC3\xA9"), STR("v\\") } };
    assert_int_equal(st_write(out, t, 6, meta, 3, &e), ERR_OK);
}

static void test_round_trip(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf out = BUF(1 << 16);
    struct st_file f;
    struct err e;
    const float *p;
    static const unsigned char bytes[3] = { 1, 0, 1 };
    static const double d[2] = { 1.5, -2 };
    struct st_tensor t[] = { { STR("flags"), ST_BOOL, 1, { 3 }, bytes, 3 }, f32("a", w0, 2, 3),
                             { STR("d"), ST_F64, 1, { 2 }, (const void *)d, 16 }, { STR("scalar"), ST_F32, 0, { 0 }, (const void *)b0, 4 },
                             { STR("none"), ST_I64, 2, { 0, 5 }, (const void *)d, 0 } };
    struct st_pair meta[] = { { STR("format"), STR("pt") }, { STR("a\x01z"), STR("\"\\\xF0\x9F\x90\xAB") } };
    assert_int_equal(st_write(&out, t, 5, meta, 2, &e), ERR_OK);
    assert_int_equal(st_parse(a, out.ptr, out.len, &f, &e), ERR_OK);
    assert_int_equal(f.tensor_count, 5);
    assert_int_equal(st_f32(&f, "a", 2, 3, &p, &e), ERR_OK);
    assert_memory_equal(p, w0, sizeof w0);
    assert_int_equal(st_f32(&f, "a", 3, 2, &p, &e), ERR_BAD_DATA);
    assert_int_equal(st_f32(&f, "d", 2, 0, &p, &e), ERR_BAD_DATA);
    assert_memory_equal(st_find(&f, STR("flags"))->data, bytes, 3);
    assert_memory_equal(st_find(&f, STR("d"))->data, d, 16);
    assert_int_equal(st_find(&f, STR("none"))->size_bytes, 0);
    assert_null(st_find(&f, STR("zz")));
    assert_true(str_eq_c(st_meta(&f, "a\x01z"), "\"\\\xF0\x9F\x90\xAB"));
    assert_true(((uintptr_t)st_find(&f, STR("d"))->data - (uintptr_t)out.ptr) % 8 == 0);
    CLEANUP(buf_releasep) struct buf small = BUF(100);
    assert_int_equal(st_write(&small, t, 5, meta, 2, &e), ERR_LIMIT);
}

static void try_header(const char *json, size_t data, enum errc want, const char *part)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct st_file f;
    struct err e = { 0 };
    size_t n = strlen(json);
    unsigned char *p = calloc(1, 8 + n + data);     /* exactly as long as the file: a sanitizer sees any step beyond */
    for (int i = 0; i < 8; i++)
        p[i] = (unsigned char)(n >> (8 * i));
    memcpy(p + 8, json, n);
    enum errc rc = st_parse(a, p, 8 + n + data, &f, &e);
    free(p);
    if (rc != want || (part && !strstr(e.msg, part)))
        fail_msg("%s: %d \"%s\", wanted \"%s\"", json, rc, e.msg, part ? part : "success");
}

#define T(shape, from, to) "{\"a\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}}"

static void test_rules(void **st)
{
    (void)st;
    try_header(T("[2]", "0", "8"), 8, ERR_OK, NULL);
    try_header("{} ", 0, ERR_OK, NULL);
    try_header("{\"__metadata__\":{\"k\":\"\\u00e9\\ud83d\\ude00\"}}", 0, ERR_OK, NULL);
    try_header(T("[2]", "0", "8"), 9, ERR_BAD_DATA, "belong to no tensor");
    try_header(T("[2]", "0", "8"), 7, ERR_BAD_DATA, "beyond the end");
    try_header(T("[3]", "0", "8"), 8, ERR_BAD_DATA, "needs 12 bytes");
    try_header(T("[2]", "0", "12"), 12, ERR_BAD_DATA, "needs 8 bytes");
    try_header(T("[]", "0", "8"), 8, ERR_BAD_DATA, "needs 4 bytes");
    try_header(T("[2]", "4", "12"), 12, ERR_BAD_DATA, "does not begin");
    try_header(T("[2]", "8", "0"), 8, ERR_BAD_DATA, "does not begin");
    try_header(T("[4611686018427387904,4]", "0", "0"), 0, ERR_BAD_DATA, "beyond 64 bits");
    try_header(T("[18446744073709551616]", "0", "0"), 0, ERR_BAD_DATA, "beyond 64 bits");
    try_header(T("[1,1,1,1,1,1,1,1,1]", "0", "4"), 4, ERR_BAD_DATA, "too long");
    try_header(T("[02]", "0", "8"), 8, ERR_BAD_DATA, "leading zero");
    try_header(T("[-2]", "0", "8"), 8, ERR_BAD_DATA, "integer");
    try_header(T("[2.0]", "0", "8"), 8, ERR_BAD_DATA, "due here");
    try_header("{\"a\":{\"dtype\":\"F31\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, ERR_BAD_DATA, "not known");
    try_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 0, ERR_BAD_DATA, "missing");
    try_header("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, ERR_BAD_DATA, "twice");
    try_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":1}}", 0, ERR_BAD_DATA, "does not have");
    try_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
               0, ERR_BAD_DATA, "two tensors are named");
    try_header("{\"__metadata__\":{\"k\":1}}", 0, ERR_BAD_DATA, "due here");
    try_header("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, ERR_BAD_DATA, "twice");
    try_header("{\"__metadata__\":{\"k\":\"\\ud83d\"}}", 0, ERR_BAD_DATA, "surrogate");
    try_header("{\"__metadata__\":{\"k\":\"\xff\"}}", 0, ERR_BAD_DATA, "UTF-8");
    try_header("{\"__metadata__\":{\"k\":\"\\", 0, ERR_BAD_DATA, "never closed");
    try_header("{\"a", 0, ERR_BAD_DATA, "never closed");
    try_header("{} x", 0, ERR_BAD_DATA, "follows");
    try_header(" {}", 0, ERR_BAD_DATA, "'{' is due");
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct st_file f;
    struct err e;
    static const unsigned char huge[16] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '{', '}' };
    assert_int_equal(st_parse(a, huge, sizeof huge, &f, &e), ERR_BAD_DATA);
    assert_int_equal(st_parse(a, huge, 3, &f, &e), ERR_BAD_DATA);
}

static void test_model_check(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf out = BUF(1 << 16);
    struct st_file f;
    struct err e;
    struct model_mlp m;
    write_model(&out);
    assert_int_equal(st_parse(a, out.ptr, out.len, &f, &e), ERR_OK);
    assert_int_equal(model_mlp_check(&f, &m, &e), ERR_OK);
    assert_true(m.layers == 2 && m.width[0] == 3 && m.width[1] == 2 && m.width[2] == 3 && m.parameters == 17);
    assert_memory_equal(m.weight[0], w0, sizeof w0);
    struct st_tensor keep[6];
    memcpy(keep, f.tensors, sizeof keep);
    f.tensors[5].shape[1] = 3;      /* mlp.1.weight no longer fits */
    f.tensors[5].shape[0] = 2;
    assert_int_equal(model_mlp_check(&f, &m, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "takes 3 inputs, the layer before gives 2"));
    memcpy(f.tensors, keep, sizeof keep);
    f.meta_count = 0;
    assert_int_equal(model_mlp_check(&f, &m, &e), ERR_BAD_DATA);
}

static void test_mutations(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf out = BUF(1 << 16);
    write_model(&out);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    unsigned random = 1;
    int parsed = 0, models = 0;
    for (int i = 0; i < 20000; i++) {
        size_t n = out.len;
        unsigned char *p = malloc(n);
        memcpy(p, out.ptr, n);
        for (int flips = 1 + i % 4; flips > 0; flips--) {
            random = random * 1664525 + 1013904223;
            size_t at = (random >> 8) % (i % 2 ? n : 8 + 200);
            p[at] = (unsigned char)(i % 3 ? p[at] ^ (1u << (random >> 5 & 7)) : (unsigned char)"0123456789{}[]\",:"[random >> 4 & 15]);
        }
        if (i % 5 == 0)
            n = (random >> 7) % (n + 1);
        unsigned char *tight = malloc(n ? n : 1);
        memcpy(tight, p, n);
        free(p);
        struct st_file f;
        struct model_mlp m;
        struct err e;
        arena_reset(a);
        if (st_parse(a, tight, n, &f, &e) == ERR_OK) {
            parsed++;
            models += model_mlp_check(&f, &m, &e) == ERR_OK;
            unsigned sum = 0;
            for (size_t k = 0; k < f.tensor_count; k++)
                for (size_t j = 0; j < f.tensors[k].size_bytes; j++)
                    sum += f.tensors[k].data[j];
            assert_true(sum < (unsigned)-1);
        }
        free(tight);
    }
    print_message("20,000 mutations: %d parsed, %d still models\n", parsed, models);
    assert_true(parsed > 100 && parsed < 19000);
}

static void test_pairs(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
    struct st_pair *p;
    size_t n;
    struct err e;
    assert_int_equal(st_parse_pairs(a, STR("{\"b\":\"2\",\"a\":\"1\"}"), &p, &n, &e), ERR_OK);
    assert_int_equal(n, 2);
    assert_true(str_eq_c(st_pair_get(p, n, "a"), "1") && !st_pair_get(p, n, "c").ptr);
    assert_int_equal(st_parse_pairs(a, STR("{\"b\":\"2\"}}"), &p, &n, &e), ERR_BAD_DATA);
    assert_int_equal(st_parse_pairs(a, STR("{\"b\":\"2\",}"), &p, &n, &e), ERR_BAD_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_rules),     cmocka_unit_test(test_model_check),
        cmocka_unit_test(test_mutations),  cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
