/* SPDX-License-Identifier: Apache-2.0 */
/* test_text_file.c - whole files and first lines, at the edge of what they may have and one past it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/text_file.h"

static char path[] = "/tmp/text-file-XXXXXX";

static int make(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int drop(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void test_whole_file(void **state)
{
    (void)state;
    struct err e;
    char bytes[5001];
    memset(bytes, 'a', sizeof bytes);
    put(bytes, 5000);
    CLEANUP(buf_releasep) struct buf b = BUF(5000), small = BUF(4999);
    assert_int_equal(text_file_read(path, &b, &e), ERR_OK);
    assert_int_equal(b.len, 5000);
    assert_int_equal(text_file_read(path, &small, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, path));
    put("", 0);
    assert_int_equal(text_file_read(path, &b, &e), ERR_INVALID);
    assert_int_equal(text_file_read("/nowhere/at/all", &b, &e), ERR_IO);
    assert_non_null(strstr(e.msg, "/nowhere/at/all"));
    assert_non_null(strstr(e.detail, "No such file"));
}

static void line_is(const char *bytes, size_t n, enum errc want, const char *text)
{
    char line[9];
    struct err e;
    put(bytes, n);
    assert_int_equal(text_file_line(path, line, sizeof line, &e), want);
    if (want == ERR_OK)
        assert_string_equal(line, text);
    else
        assert_null(strstr(e.msg, "secret"));
}

static void test_first_line(void **state)
{
    (void)state;
    char line[9];
    struct err e;
    line_is("secret\nsecond\n", 14, ERR_OK, "secret");
    line_is("secret\r\n", 8, ERR_OK, "secret");
    line_is("secret12", 8, ERR_OK, "secret12");
    line_is("secret12\n", 9, ERR_OK, "secret12");
    line_is("secret123", 9, ERR_INVALID, NULL);
    line_is("secret123\n", 10, ERR_INVALID, NULL);
    line_is("\nsecret", 7, ERR_INVALID, NULL);
    line_is("sec\0ret\n", 8, ERR_INVALID, NULL);
    line_is("", 0, ERR_INVALID, NULL);
    assert_int_equal(text_file_line("/nowhere/at/all", line, sizeof line, &e), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_whole_file), cmocka_unit_test(test_first_line) };
    return cmocka_run_group_tests(tests, make, drop);
}
