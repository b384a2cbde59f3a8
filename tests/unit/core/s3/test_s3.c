/* SPDX-License-Identifier: Apache-2.0 */
/* test_s3.c - objects by key: put once, read by ranges, listed page by page under the URL's prefix. */
#include "s3_kit.h"

static void an_object_is_put_once_and_read_by_ranges(void **state)
{
    (void)state;
    struct s3 *s = bucket();
    char got[16] = "";
    uint64_t size;
    size_t n;
    OK(s3_ping(s, &e));
    assert_int_equal(s3_size(s, "a/b~c d", &size, &e), ERR_NOT_FOUND);
    assert_int_equal(s3_get(s, "a/b~c d", 0, got, 1, &n, &e), ERR_NOT_FOUND);
    OK(s3_put(s, "a/b~c d", STR("0123456789"), true, &e));
    assert_int_equal(s3_put(s, "a/b~c d", STR("012345678X"), true, &e), ERR_EXISTS);
    OK(s3_put(s, "a/b~c d", STR("0123456789"), true, &e));         /* what is there already: a repeated request met itself */
    OK(s3_size(s, "a/b~c d", &size, &e));
    assert_int_equal(size, 10);
    static const struct { uint64_t at; size_t ask, want; } reads[] = { { 0, 10, 10 }, { 3, 4, 4 }, { 8, 10, 2 }, { 10, 1, 0 },
                                                                       { 99, 1, 0 }, { 0, 0, 0 } };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        OK(s3_get(s, "a/b~c d", reads[i].at, got, reads[i].ask, &n, &e));
        assert_int_equal(n, reads[i].want);
        assert_memory_equal(got, "0123456789" + (reads[i].at < 10 ? reads[i].at : 10), n);
    }
    OK(s3_put(s, "a/b~c d", STR("other"), false, &e));
    OK(s3_put(s, "empty", STR_NULL, true, &e));
    OK(s3_size(s, "empty", &size, &e));
    assert_int_equal(size, 0);
    OK(s3_delete(s, "a/b~c d", &e));
    OK(s3_delete(s, "a/b~c d", &e));
    OK(s3_delete(s, "empty", &e));
    s3_free(s);
}

static void lists_go_on_behind_a_key(void **state)
{
    (void)state;
    struct s3 *s = bucket();
    struct s3_entry *list = calloc(S3_LIST_MAX, sizeof *list);
    size_t n;
    static const char *const keys[] = { "l/1", "l/2&", "l/3", "m/1" };
    for (size_t i = 0; i < 4; i++)
        OK(s3_put(s, keys[i], STR("xy"), false, &e));
    OK(s3_list(s, "l/", "", list, &n, &e));
    assert_int_equal(n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(list[i].key, keys[i]);
        assert_int_equal(list[i].size, 2);
        assert_true(list[i].at_us > INT64_C(1700000000) * 1000000);
    }
    OK(s3_list(s, "l/", "l/2&", list, &n, &e));
    assert_int_equal(n, 1);
    assert_string_equal(list[0].key, "l/3");
    for (size_t i = 0; i < 4; i++)
        OK(s3_delete(s, keys[i], &e));
    OK(s3_list(s, "", "", list, &n, &e));
    assert_int_equal(n, 0);
    free(list);
    s3_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_object_is_put_once_and_read_by_ranges),
                                        cmocka_unit_test(lists_go_on_behind_a_key) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
