/* SPDX-License-Identifier: Apache-2.0 */
/* test_url.c - strict decoding of paths and queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/http/url.h"

static void decodes_strictly(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct str s;
    assert_int_equal(url_decode(a, STR("a%20b%C3%a9"), false, &s, NULL), ERR_OK);
    assert_true(str_eq_c(s, "a b\xc3\xa9"));
    assert_int_equal(url_decode(a, STR("a+b"), false, &s, NULL), ERR_OK);
    assert_true(str_eq_c(s, "a+b"));
    assert_int_equal(url_decode(a, STR("a+b"), true, &s, NULL), ERR_OK);
    assert_true(str_eq_c(s, "a b"));
    static const char *const BAD[] = { "%", "%2", "a%2", "%zz", "%2g", "%00", "%0a", "%7f", "%ff", "%c3", "%ed%a0%80" };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_int_equal(url_decode(a, str_c(BAD[i]), false, &s, NULL), ERR_MALFORMED);
    assert_int_equal(url_segment_decode(a, STR("a%2fb"), &s, NULL), ERR_MALFORMED);
    assert_int_equal(url_segment_decode(a, STR("%2e%2e"), &s, NULL), ERR_MALFORMED);
    assert_int_equal(url_segment_decode(a, STR("a%5cb"), &s, NULL), ERR_MALFORMED);
    assert_int_equal(url_segment_decode(a, STR("..."), &s, NULL), ERR_OK);
    arena_free(a);
}

static void iterates_queries(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct str rest = STR("a=1&&b=x%26y&c&=z"), k, v;
    static const char *const WANT[][2] = { { "a", "1" }, { "b", "x&y" }, { "c", "" }, { "", "z" } };
    enum errc rc;
    size_t n = 0;
    while (url_query_next(a, &rest, &k, &v, &rc, NULL)) {
        assert_true(n < 4 && str_eq_c(k, WANT[n][0]) && str_eq_c(v, WANT[n][1]));
        n++;
    }
    assert_int_equal(rc, ERR_OK);
    assert_int_equal(n, 4);
    assert_int_equal(url_query_get(a, STR("x=1&y=2&y=3"), "y", &v, NULL), ERR_OK);
    assert_true(str_eq_c(v, "2"));
    assert_int_equal(url_query_get(a, STR_NULL, "y", &v, NULL), ERR_OK);
    assert_null(v.ptr);
    assert_int_equal(url_query_get(a, STR("y=2&z=%q"), "y", &v, NULL), ERR_MALFORMED);
    arena_free(a);
}

static void cuts_paths_and_encodes(void **state)
{
    (void)state;
    struct str path = STR("/v1/a%20b/"), seg;
    assert_true(url_path_next(&path, &seg) && str_eq_c(seg, "v1"));
    assert_true(url_path_next(&path, &seg) && str_eq_c(seg, "a%20b"));
    assert_true(url_path_next(&path, &seg) && seg.len == 0);
    assert_false(url_path_next(&path, &seg));
    struct buf b = BUF(64);
    assert_true(url_encode(&b, STR("a b/\xc3\xa9~")));
    assert_true(str_eq_c(buf_str(&b), "a%20b%2F%C3%A9~"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_strictly),
        cmocka_unit_test(iterates_queries),
        cmocka_unit_test(cuts_paths_and_encodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
