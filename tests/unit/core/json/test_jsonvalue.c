/* SPDX-License-Identifier: Apache-2.0 */
/* test_jsonvalue.c - the reader of free-form documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/json/jsonvalue.h"

static const struct jval *doc(struct arena *a, const char *text)
{
    const struct jval *v;
    struct err e;
    assert_int_equal(jval_parse(a, str_c(text), 0, &v, &e), ERR_OK);
    return v;
}

static void reading(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    const struct jval *v = doc(a, "{\"s\":\"x\",\"i\":3,\"w\":4.0,\"r\":2.5,\"t\":true,\"n\":null,\"l\":[1,[2]],\"o\":{\"k\":\"v\"}}");
    assert_true(str_eq_c(jval_str(jval_get(v, "s")), "x"));
    assert_int_equal(jval_i64(jval_get(v, "i"), -1), 3);
    assert_int_equal(jval_i64(jval_get(v, "w"), -1), 4);
    assert_int_equal(jval_i64(jval_get(v, "r"), -1), -1);
    assert_true(jval_f64(jval_get(v, "r"), 0) == 2.5 && jval_f64(jval_get(v, "i"), 0) == 3);
    assert_true(jval_bool(jval_get(v, "t"), false));
    assert_int_equal(jval_type(jval_get(v, "n")), JT_NULL);
    assert_int_equal(jval_type(jval_get(v, "none")), JT_NONE);
    assert_int_equal(jval_len(v), 8);
    assert_int_equal(jval_len(jval_get(v, "l")), 2);
    assert_true(str_eq_c(jval_str(jval_get(jval_get(v, "o"), "k")), "v"));
    assert_null(jval_at(v, 0));
    assert_null(jval_str(jval_get(jval_at(NULL, 3), "x")).ptr);
    assert_int_equal(jval_len(NULL), 0);
    arena_free(a);
}

static void needing(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    const struct jval *v = doc(a, "{\"s\":\"x\",\"i\":3,\"r\":2.5}");
    struct err e;
    struct str s;
    int64_t i;
    double d;
    assert_int_equal(jval_need_str(v, "s", &s, &e), ERR_OK);
    assert_int_equal(jval_need_i64(v, "i", 0, 3, &i, &e), ERR_OK);
    assert_int_equal(jval_need_f64(v, "r", &d, &e), ERR_OK);
    assert_int_equal(jval_need_i64(v, "i", 0, 2, &i, &e), ERR_INVALID);
    assert_string_equal(e.field, "/i");
    assert_string_equal(e.msg, "must be from 0 to 2, is 3");
    assert_int_equal(jval_need_i64(v, "r", 0, 2, &i, &e), ERR_INVALID);
    assert_string_equal(e.msg, "must be an integer, is number");
    assert_int_equal(jval_need_str(v, "gone", &s, &e), ERR_INVALID);
    assert_string_equal(e.msg, "the member gone is required");
    assert_int_equal(jval_need_f64(NULL, "gone", &d, &e), ERR_INVALID);
    arena_free(a);
}

static void iterating(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    char seen[64] = "";
    for (struct jval_iter it = jval_iter(doc(a, "{\"b\":1,\"a\":2,\"c\":3}")); jval_next(&it);)
        strcat(strcat(seen, it.name), jval_i64(it.value, 0) == 2 ? "!" : "");
    assert_string_equal(seen, "ba!c");
    int64_t sum = 0;
    for (struct jval_iter it = jval_iter(doc(a, "[1,2,3]")); jval_next(&it);) {
        assert_null(it.name);
        sum += jval_i64(it.value, 0);
    }
    assert_int_equal(sum, 6);
    for (struct jval_iter it = jval_iter(doc(a, "{}")); jval_next(&it);)
        fail();
    for (struct jval_iter it = jval_iter(NULL); jval_next(&it);)
        fail();
    arena_free(a);
}

static void tensors(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct err e;
    float f[6];
    int64_t i[6];
    const struct jval *v = doc(a, "[[1,2.5],[-3,4],[5,1e2]]");
    assert_int_equal(jval_count_numbers(v), 6);
    assert_int_equal(jval_to_f32(v, f, 6, &e), ERR_OK);
    assert_true(f[1] == 2.5f && f[5] == 100.0f);
    assert_int_equal(jval_to_f32(v, f, 5, &e), ERR_INVALID);
    assert_string_equal(e.msg, "must hold 5 numbers, has 6");
    assert_int_equal(jval_to_f32(v, f, 7, &e), ERR_INVALID);
    assert_int_equal(jval_to_i64(v, i, 6, &e), ERR_INVALID);
    assert_string_equal(e.msg, "must hold integers only; item 1 is none");
    assert_int_equal(jval_to_i64(doc(a, "[[1,2],[3.0]]"), i, 3, &e), ERR_OK);
    assert_int_equal(i[2], 3);
    assert_int_equal(jval_to_f32(doc(a, "[1,\"2\"]"), f, 2, &e), ERR_INVALID);
    assert_int_equal(jval_to_f32(doc(a, "3"), f, 1, &e), ERR_INVALID);
    assert_int_equal(jval_to_f32(NULL, f, 1, &e), ERR_INVALID);
    arena_free(a);
}

static void printing(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct buf b = BUF(256), small = BUF(4);
    const struct jval *v = doc(a, "{ \"b\" : [1, null], \"a\": \"\xc3\xa9\" }");
    assert_true(jval_encode(v, false, &b));
    assert_string_equal(b.ptr, "{\"b\":[1,null],\"a\":\"\xc3\xa9\"}");
    buf_clear(&b);
    assert_true(jval_encode(v, true, &b));
    assert_string_equal(b.ptr, "{\"a\":\"\xc3\xa9\",\"b\":[1,null]}");
    assert_false(jval_encode(v, true, &small));
    assert_false(jval_encode(NULL, true, &b));
    buf_release(&b);
    buf_release(&small);
    arena_free(a);
}

static void refusing(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    const struct jval *v;
    struct err e;
    assert_int_equal(jval_parse(a, STR(""), 0, &v, &e), ERR_MALFORMED);
    assert_int_equal(jval_parse(a, STR_NULL, 0, &v, &e), ERR_MALFORMED);
    assert_int_equal(jval_parse(a, STR("{\"a\":1,\"a\":1}"), 0, &v, &e), ERR_MALFORMED);
    assert_int_equal(jval_parse(a, STR("[[[1]]]"), 2, &v, &e), ERR_MALFORMED);
    assert_int_equal(jval_parse(a, STR("[[[1]]]"), 3, &v, &e), ERR_OK);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(reading),  cmocka_unit_test(needing),  cmocka_unit_test(iterating),
                                        cmocka_unit_test(tensors), cmocka_unit_test(printing), cmocka_unit_test(refusing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
