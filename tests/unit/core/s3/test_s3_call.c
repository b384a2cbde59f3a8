/* SPDX-License-Identifier: Apache-2.0 */
/* test_s3_call.c - addresses that are none, refusals with the store's own words, and how often a store is asked again. */
#include "s3_kit.h"

static void what_is_no_store_is_refused(void **state)
{
    (void)state;
    static const char *const urls[] = { "", "ftp://h/b", "http://h", "http://h/", "http://u:p@h/b", "https:///b" };
    struct s3_options o;
    struct s3 *s;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        o = options();
        o.url = urls[i];
        assert_int_equal(s3_new(&o, &s, &e), ERR_INVALID);
        assert_non_null(strstr(e.msg, "/bucket"));
    }
    o = options(), o.secret = "";
    assert_int_equal(s3_new(&o, &s, &e), ERR_INVALID);
    o = options(), o.key_id = "";
    assert_int_equal(s3_new(&o, &s, &e), ERR_INVALID);
}

static void refusals_are_told_with_their_code(void **state)
{
    (void)state;
    static const struct { const char *fault; enum errc want; } rows[] = {
        { "method=HEAD&times=1&status=404", ERR_NOT_FOUND }, { "method=HEAD&times=1&status=507", ERR_LIMIT },
        { "method=HEAD&times=1&status=403", ERR_IO },        { "method=HEAD&times=1&status=400", ERR_IO },
        { "method=HEAD&times=5&status=503", ERR_UNAVAILABLE } };
    struct s3 *s = bucket();
    uint64_t size;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        order(rows[i].fault);
        assert_int_equal(s3_size(s, "k", &size, &e), rows[i].want);
        assert_non_null(strstr(e.detail, "S3 answered"));
    }
    order("method=HEAD&times=4&status=503");
    assert_int_equal(s3_size(s, "k", &size, &e), ERR_NOT_FOUND);        /* the fifth try got an answer */
    assert_non_null(strstr(e.detail, "404"));
    s3_free(s);
    struct s3_options o = options();
    o.secret = "another";
    OK(s3_new(&o, &s, &e));
    assert_int_equal(s3_put(s, "k", STR("x"), false, &e), ERR_IO);
    assert_non_null(strstr(e.detail, "403 SignatureDoesNotMatch"));
    s3_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_no_store_is_refused),
                                        cmocka_unit_test(refusals_are_told_with_their_code) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
