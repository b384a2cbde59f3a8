/* SPDX-License-Identifier: Apache-2.0 */
/* test_library.c - a library that is there gives its functions; one that is not, may not be read, or is none says so in the
 * linker's words; a function that it lacks is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/library.h"

struct maths {
    double (*root)(double x);
    double (*power)(double x, double y);
};

static void test_functions(void **st)
{
    static const struct library_call calls[] = { { "sqrt", offsetof(struct maths, root) },
                                                 { "pow", offsetof(struct maths, power) },
                                                 { "not_of_this_library", offsetof(struct maths, root) } };
    struct maths m = { 0 };
    struct err e;
    void *library;
    (void)st;
    assert_int_equal(library_open("libm.so.6", "mathematics", &library, &e), ERR_OK);
    assert_int_equal(library_fill(library, "libm.so.6", calls, 2, &m, &e), ERR_OK);
    assert_true(m.root(9) == 3 && m.power(2, 5) == 32);
    assert_int_equal(library_fill(library, "libm.so.6", calls, 3, &m, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "libm.so.6 has no not_of_this_library");
}

static void test_why_not(void **st)
{
    char path[] = "/tmp/falaj-library-XXXXXX";
    struct err e;
    void *library = NULL;
    (void)st;
    assert_int_equal(library_open("libnothing-of-nobody.so", "thing", &library, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "this machine has no thing (libnothing-of-nobody.so: cannot open shared object file: "
                               "No such file or directory)");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "no library at all", 17) == 17);
    close(fd);
    assert_int_equal(library_open(path, "thing", &library, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, path));
    assert_null(strstr(e.msg, "No such file"));         /* it is there: other words */
    assert_null(library);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_functions), cmocka_unit_test(test_why_not) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
