/* SPDX-License-Identifier: Apache-2.0 */
/* test_jwt_json.c - what the strict reader takes and what it refuses. */
#include "crypto_test.h"
#include "core/crypto/jwt_json_int.h"

static struct arena *a;

static bool reads(const char *text)
{
    struct jws_object o;
    return jws_json_object(a, str_c(text), &o);
}

static void test_texts(void **state)
{
    static const char *const good[] = { "{}", " { } ", "{\"a\":1}", "{\"a\":-1.5e3,\"b\":[1,{\"c\":null}],\"d\":\"\\u00e9\\n\"}",
                                        "{\"a\":[],\"b\":{},\"c\":true,\"d\":false}", NULL };
    static const char *const bad[] = { "", "{", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{\"a\":01}", "{\"a\":+1}",
                                       "{\"a\":NaN}", "{\"a\":1 \"b\":2}", "{\"a\":\"\\x\"}", "{\"a\":\"\\ud800\"}",
                                       "{\"a\":\"\\u0000\"}", "{\"a\":\"\n\"}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
                                       "{\"a\":\"\xff\"}", "{a:1}", "{\"a\":'x'}", "{\"a\":tru}", NULL };
    (void)state;
    for (int i = 0; good[i]; i++)
        if (!reads(good[i]))
            fail_msg("refused %s", good[i]);
    for (int i = 0; bad[i]; i++)
        if (reads(bad[i]))
            fail_msg("took %s", bad[i]);
}

static void test_depth_and_values(void **state)
{
    char deep[256] = "{\"a\":";
    struct jws_object o;
    struct str s, list[2];
    size_t n;
    int64_t t;
    (void)state;
    memset(deep + 5, '[', 100);
    memset(deep + 105, ']', 100);
    strncat(deep, "}", 2);
    assert_false(reads(deep));
    assert_true(jws_json_object(a, STR("{\"s\":\"\\ud83d\\ude00\",\"t\":1.8e9,\"l\":[\"x\",\"y\"],\"u\":-1}"), &o));
    assert_true(jws_json_string(a, jws_json_get(&o, "s"), &s) && str_eq_c(s, "\xf0\x9f\x98\x80"));
    assert_true(jws_json_seconds(jws_json_get(&o, "t"), &t) && t == 1800000000);
    assert_false(jws_json_seconds(jws_json_get(&o, "u"), &t));
    assert_true(jws_json_strings(a, jws_json_get(&o, "l"), list, 2, &n) && n == 2 && str_eq_c(list[1], "y"));
    assert_false(jws_json_strings(a, jws_json_get(&o, "l"), list, 1, &n));
    assert_false(jws_json_string(a, jws_json_get(&o, "none"), &s));
    assert_false(jws_json_strings(a, jws_json_get(&o, "t"), list, 2, &n));
}

int main(void)
{
    a = arena_new(1 << 20);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts), cmocka_unit_test(test_depth_and_values) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(a);
    return rc;
}
