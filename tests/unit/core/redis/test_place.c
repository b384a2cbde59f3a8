/* SPDX-License-Identifier: Apache-2.0 */
/* test_place.c - places of Redis and Sentinels as operators write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include "core/redis/place_int.h"

static void is(const char *text, bool is_unix, const char *host, int port)
{
    struct redis_place p;
    struct err e;
    if (redis_place_read(str_c(text), &p, &e) != ERR_OK)
        fail_msg("%s: %s", text, e.msg);
    assert_true(p.is_unix == is_unix && p.port == port);
    assert_string_equal(p.host, host);
}

static void test_places(void **state)
{
    (void)state;
    is("redis-1.example:6379", false, "redis-1.example", 6379);
    is("10.0.0.7:1", false, "10.0.0.7", 1);
    is("[2001:db8::1]:65535", false, "2001:db8::1", 65535);
    is("unix:/run/redis/redis.sock", true, "/run/redis/redis.sock", 0);
    static const char *const wrong[] = { "", ":", "redis", "redis:", ":6379", "redis:0", "redis:65536", "redis:6379x",
                                         "2001:db8::1:6379", "[]:6379", "redis 1:6379", "redis://redis:6379",
                                         "user@redis:6379", "unix:" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct redis_place p;
        struct err e;
        if (redis_place_read(str_c(wrong[i]), &p, &e) != ERR_INVALID)
            fail_msg("'%s' was taken", wrong[i]);
        assert_true(*e.msg);
    }
    char longest[300];
    struct redis_place p;
    struct err e;
    memset(longest, 'a', sizeof longest);
    snprintf(longest + REDIS_HOST_MAX - 1, 10, ":6379");
    assert_int_equal(redis_place_read(str_c(longest), &p, &e), ERR_OK);
    memset(longest, 'a', sizeof longest);
    snprintf(longest + REDIS_HOST_MAX, 10, ":6379");
    assert_int_equal(redis_place_read(str_c(longest), &p, &e), ERR_INVALID);
}

static void test_lists(void **state)
{
    (void)state;
    struct err e;
    struct str list = STR("a:1, b:2 ,c:3"), one;
    static const char *const want[] = { "a:1", "b:2", "c:3" };
    int n = 0;
    while (redis_place_next(&list, &one))
        assert_true(n < 3 && str_eq_c(one, want[n++]));
    assert_int_equal(n, 3);
    assert_int_equal(redis_places_check(STR("a:1, b:2 ,c:3"), &e), ERR_OK);
    assert_int_equal(redis_places_check(STR("a:1,"), &e), ERR_INVALID);
    assert_int_equal(redis_places_check(STR("a:1,,b:2"), &e), ERR_INVALID);
    assert_int_equal(redis_places_check(STR("a:1,unix:/run/redis.sock"), &e), ERR_INVALID);
    char many[200] = "";
    for (int i = 0; i < REDIS_PLACES_MAX; i++)
        strcat(many, i ? ",a:1" : "a:1");
    assert_int_equal(redis_places_check(str_c(many), &e), ERR_OK);
    strcat(many, ",a:1");
    assert_int_equal(redis_places_check(str_c(many), &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_places), cmocka_unit_test(test_lists) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
