/* SPDX-License-Identifier: Apache-2.0 */
/* test_rawjson.c - pieces of accepted JSON text, and depth of any text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/json/rawjson_int.h"

static void member(const char *text, const char *name, const char *expect)
{
    struct str got = STR_NULL;
    assert_int_equal(rawjson_member(str_c(text), str_c(name), &got), expect != NULL);
    if (expect && !str_eq_c(got, expect))
        fail_msg("%s of %s is %.*s", name, text, STR_ARG(got));
}

static void members(void **state)
{
    (void)state;
    const char *text = " { \"a\" : 1 , \"b\":\"}\\\"]\",\"c\" :[1,{\"a\":2}] ,\n\"d\":{\"x\":[]},\"e\":true}";
    member(text, "a", "1");
    member(text, "b", "\"}\\\"]\"");
    member(text, "c", "[1,{\"a\":2}]");
    member(text, "d", "{\"x\":[]}");
    member(text, "e", "true");
    member(text, "f", NULL);
    member("{}", "a", NULL);
    member("[1]", "a", NULL);
    member("{\"\\u0061\":1,\"a\":2}", "a", NULL);
}

static void items(void **state)
{
    (void)state;
    struct str got;
    struct str text = STR(" [ 1 ,\"a,]\", {\"b\":[2]},[ ] ]");
    static const char *const expect[] = { "1", "\"a,]\"", "{\"b\":[2]}", "[ ]" };
    static const size_t order[] = { 0, 1, 2, 3, 3, 0, 2, 1 };   /* a cursor goes back, too */
    struct rawjson_cursor c = { 0 }, empty = { 0 }, none = { 0 };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_true(rawjson_item(text, &c, order[i], &got));
        assert_true(str_eq_c(got, expect[order[i]]));
    }
    assert_false(rawjson_item(text, &c, 4, &got));
    assert_false(rawjson_item(STR("[]"), &empty, 0, &got));
    assert_false(rawjson_item(STR("{}"), &none, 0, &got));
}

static void depth(void **state)
{
    (void)state;
    assert_int_equal(rawjson_depth(STR("1"), 9), 0);
    assert_int_equal(rawjson_depth(STR("[[],[[]]]"), 9), 3);
    assert_int_equal(rawjson_depth(STR("\"[[[\\\"[\" [{}"), 9), 2);
    assert_int_equal(rawjson_depth(STR("[[[[[[[["), 3), 4);
    assert_int_equal(rawjson_depth(STR("]]]][["), 9), 0);
}

/* Text that no parser has seen must at least be safe to walk. */
static void junk(void **state)
{
    (void)state;
    srand(11);
    for (int round = 0; round < 50000; round++) {
        size_t n = (size_t)rand() % 12;
        char *text = malloc(n + 1);
        for (size_t i = 0; i < n; i++)
            text[i] = "{}[]\",:\\a1 "[rand() % 11];
        struct str got, s = str_n(text, n);
        if (rawjson_member(s, STR("a"), &got))
            assert_true(got.ptr >= text && got.ptr + got.len <= text + n);
        struct rawjson_cursor c = { 0 };
        if (rawjson_item(s, &c, 1, &got))
            assert_true(got.ptr >= text && got.ptr + got.len <= text + n);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(members), cmocka_unit_test(items), cmocka_unit_test(depth),
                                        cmocka_unit_test(junk) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
