/* SPDX-License-Identifier: Apache-2.0 */
/* test_id.c - UUIDv7 bits and order, and every text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/id.h"

static void version7(void **state)
{
    (void)state;
    int64_t now = 1795222923004567;
    struct uuid last = UUID_NIL;
    for (int i = 0; i < 20000; i++, now += 1 + i % 1500) {
        struct uuid u = uuid_v7(now);
        assert_int_equal(u.b[6] >> 4, 7);
        assert_int_equal(u.b[8] >> 6, 2);
        uint64_t ms = 0;
        for (int k = 0; k < 6; k++)
            ms = ms << 8 | u.b[k];
        assert_int_equal(ms, now / 1000);
        assert_true(uuid_cmp(last, u) < 0);         /* later is greater, to the microsecond */
        last = u;
    }
    assert_false(uuid_eq(uuid_v7(now), uuid_v7(now)));
}

static void nil(void **state)
{
    (void)state;
    struct uuid u = UUID_NIL;
    assert_true(uuid_is_nil(u));
    u.b[15] = 1;
    assert_false(uuid_is_nil(u) || uuid_eq(u, UUID_NIL));
    assert_true(uuid_cmp(UUID_NIL, u) < 0 && uuid_cmp(u, u) == 0);
}

static void text(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    char dashed[UUID_TEXT];
    for (int i = 0; i < 1000; i++) {
        struct uuid u = uuid_v7(i * 1000003ll), v = UUID_NIL, w = UUID_NIL, x = UUID_NIL;
        struct buf b = BUF(64);
        uuid_text(u, dashed);
        assert_int_equal(strlen(dashed), 36);
        assert_true(uuid_parse(str_c(dashed), &v) && uuid_eq(u, v));
        struct str s = id_text(a, "job", u);
        assert_int_equal(s.len, 36);
        assert_true(id_parse("job", s, &w) && uuid_eq(u, w));
        assert_true(id_parse(NULL, id_text(a, NULL, u), &x) && uuid_eq(u, x));
        buf_add_id(&b, "job", u);
        assert_true(str_eq(buf_str(&b), s));
        assert_false(id_parse("lse", s, &v) || id_parse("jo", s, &v) || id_parse("", s, &v));
        buf_release(&b);
    }
    arena_free(a);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "0", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0",
                                       "0123456789abcdef0123456789abcdeg", "01234567-89ab-cdef-0123-456789abcde",
                                       "0123456-789ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdeg",
                                       "01234567-89ab-cdef-0123+456789abcdef", "{1234567-89ab-cdef-0123-456789abcde}" };
    struct uuid u = { { 9 } };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(uuid_parse(str_c(bad[i]), &u));
    assert_int_equal(u.b[0], 9);
    assert_true(uuid_parse(STR("01234567-89AB-CDEF-0123-456789ABCDEF"), &u));
    assert_false(id_parse("job", STR("job-0123456789abcdef0123456789abcdef"), &u));
    assert_false(id_parse("job", STR("job_0123456789abcdef0123456789abcdeg"), &u));
    assert_false(id_parse("job", STR_NULL, &u));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(version7), cmocka_unit_test(nil), cmocka_unit_test(text),
                                        cmocka_unit_test(refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
