/* SPDX-License-Identifier: Apache-2.0 */
/* test_jsonlist.c - lists an item at a time: as strict as the parser of the whole, at every cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/json/jsonlist.h"

static struct err e;

/* The sum of the items (integers), -1: refused. */
static int64_t sum_of(struct str text, size_t bytes, size_t values)
{
    struct arena *a = arena_new(1 << 20);
    const struct jval *rest = NULL, *item = NULL;
    struct jlist l;
    int64_t sum = 0;
    enum errc rc = jlist_open(a, text, "items", bytes, values, &l, &rest, &e);
    while (rc == ERR_OK && (rc = jlist_next(&l, a, &item, &e)) == ERR_OK && item)
        sum += jval_i64(item, 1000);
    if (rc == ERR_OK && !jlist_is_there(&l))
        sum = -2;
    arena_free(a);
    return rc == ERR_OK ? sum : -1;
}

static void items_are_those_of_the_whole(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t sum; } rows[] = {
        { "{\"items\":[]}", 0 }, { "{\"items\":[ 1 , 2,3 ] , \"x\":[4]}", 6 }, { "{\"a\":{\"items\":[9]},\"items\":[7]}", 7 },
        { "{\"items\":[{\"a\":[1,2]},5]}", 1005 }, { "{\"items\":{}}", -2 }, { "{\"other\":[1]}", -2 },
        { "{\"items\":[1,]}", -1 }, { "{\"items\":[,1]}", -1 }, { "{\"items\":[1 2]}", -1 }, { "{\"items\":[1,,2]}", -1 },
        { "{\"items\":[{\"a\":1,\"a\":2}]}", -1 }, { "{\"items\":[1],\"items\":[2]}", -1 }, { "{\"items\":[1]]", -1 },
        { "{\"items\":[[1}]}", -1 }, { "{\"items\":[\"\\ud800\"]}", -1 }, { "", -1 }, { "[1]", -2 }, { "{\"items\":[1]}x", -1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sum_of(str_c(rows[i].text), 1000, 100) != rows[i].sum)
            fail_msg("%s", rows[i].text);
    const struct str whole = str_c(rows[1].text);
    for (size_t n = 0; n < whole.len; n++)
        assert_int_equal(sum_of(str_n(whole.ptr, n), 1000, 100), -1);
}

static void an_item_has_its_bounds_and_the_list_none(void **state)
{
    (void)state;
    const struct str text = STR("{\"items\":[[1,2,3],[4,5,6]]}");
    assert_int_equal(sum_of(text, 12, 4), 2000);
    assert_int_equal(sum_of(text, 12, 3), -1);          /* values of an item */
    assert_int_equal(e.code, ERR_TOO_LARGE);
    assert_int_equal(sum_of(text, 6, 4), -1);           /* what is beside the list */
    assert_int_equal(sum_of(STR("{\"items\":[\"1234567890\"]}"), 11, 100), -1);
    assert_int_equal(sum_of(STR("{\"items\":[\"1234567890\"]}"), 12, 100), 1000);
}

static void of_a_large_item_a_few_members_are_read(void **state)
{
    (void)state;
    static const char *const names[] = { "name", "id", "long", "away", NULL }, *const none[] = { "away", NULL };
    static const char *const bad[] = { "name", "bad", NULL };
    struct arena *a = arena_new(1 << 20);
    const struct jval *rest = NULL, *item = NULL;
    struct jlist l;
    const struct str text = STR("{\"items\":[{\"x\":{\"name\":1},"
                                "\"name\":\"n\\\"}\",\"id\":7,\"bad\":[1,,2],\"long\":\"0123456789\"},8]}");
    assert_int_equal(jlist_open(a, text, "items", 40, 100, &l, &rest, &e), ERR_OK);
    assert_int_equal(jlist_next(&l, a, &item, &e), ERR_TOO_LARGE);
    assert_int_equal(jlist_narrow(&l, a, names, 10, &item, &e), ERR_OK);
    assert_int_equal(jval_len(item), 2);
    assert_true(str_eq_c(jval_str(jval_get(item, "name")), "n\"}") && jval_i64(jval_get(item, "id"), 0) == 7);
    assert_int_equal(jlist_narrow(&l, a, none, 10, &item, &e), ERR_NOT_FOUND);
    assert_int_equal(jlist_narrow(&l, a, bad, 10, &item, &e), ERR_MALFORMED);
    assert_int_equal(jlist_next(&l, a, &item, &e), ERR_OK);             /* the list goes on behind it */
    assert_int_equal(jval_i64(item, 0), 8);
    assert_int_equal(jlist_narrow(&l, a, names, 10, &item, &e), ERR_NOT_FOUND);     /* no object */
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_those_of_the_whole), cmocka_unit_test(an_item_has_its_bounds_and_the_list_none),
        cmocka_unit_test(of_a_large_item_a_few_members_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
