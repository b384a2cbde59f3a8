/* SPDX-License-Identifier: Apache-2.0 */
/* test_image_ref.c - references to images: what is one, and what is said of what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/wire/image_ref.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define AT "@sha256:" HEX64

static void good_ones_have_three_parts(void **state)
{
    (void)state;
    static const struct { const char *text, *host, *name; } rows[] = {
        { "docker://registry.example/library/debian" AT, "registry.example", "library/debian" },
        { "registry.example:5000/a" AT, "registry.example:5000", "a" },
        { "localhost/a-b/c__d/e.f/g---h" AT, "localhost", "a-b/c__d/e.f/g---h" },
        { "10.0.0.7:443/x:12" AT, "10.0.0.7:443", "x" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct image_ref ref = { 0 };
        struct err e = { 0 };
        if (image_ref_parse(str_c(rows[i].text), &ref, &e) != ERR_OK)
            fail_msg("%s: %s", rows[i].text, e.msg);
        assert_true(str_eq_c(ref.host, rows[i].host) && str_eq_c(ref.name, rows[i].name));
        assert_true(str_eq_c(ref.digest, "sha256:" HEX64));
    }
}

static void bad_ones_are_told_what_is_wrong(void **state)
{
    (void)state;
    static const struct { const char *text, *says; } rows[] = {
        { "", "host is missing" }, { "debian" AT, "host is missing" }, { "Registry.example/a" AT, "host is missing" },
        { "http://registry.example/a" AT, "host is missing" }, { "user@registry.example/a" AT, "host is missing" },
        { "registry.example:0/a" AT, "host is missing" }, { "registry.example:99999/a" AT, "host is missing" },
        { "-a.example/a" AT, "host is missing" }, { "a..example/a" AT, "host is missing" }, { "[::1]/a" AT, "host is missing" },
        { "registry.example/debian:12", "docker://registry.example/debian:12" },
        { "registry.example/debian", "docker://registry.example/debian:latest" },
        { "registry.example/" AT, "name has not the form" }, { "registry.example/../x" AT, "name has not the form" },
        { "registry.example/a//b" AT, "name has not the form" }, { "registry.example/A" AT, "name has not the form" },
        { "registry.example/a/" AT, "name has not the form" }, { "registry.example/a___b" AT, "name has not the form" },
        { "registry.example/a?b" AT, "name has not the form" }, { "registry.example/a..b" AT, "name has not the form" },
        { "registry.example/a@sha256:12", "64 lower-case hex digits" },
        { "registry.example/a@sha512:" HEX64, "64 lower-case hex digits" },
        { "registry.example/a" AT "0", "64 lower-case hex digits" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct image_ref ref = { 0 };
        struct err e = { 0 };
        assert_int_equal(image_ref_parse(str_c(rows[i].text), &ref, &e), ERR_INVALID);
        if (!strstr(e.msg, rows[i].says))
            fail_msg("%s: %s", rows[i].text, e.msg);
    }
}

static void hosts_are_the_same_by_name_and_port(void **state)
{
    (void)state;
    assert_true(image_host_eq(STR("a.example"), STR("a.example:443")));
    assert_false(image_host_eq(STR("a.example"), STR("a.example:5000")));
    assert_false(image_host_eq(STR("a.example"), STR("b.example")));
    assert_false(image_host_eq(STR("x y"), STR("x y")));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(good_ones_have_three_parts),
        cmocka_unit_test(bad_ones_are_told_what_is_wrong), cmocka_unit_test(hosts_are_the_same_by_name_and_port) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
