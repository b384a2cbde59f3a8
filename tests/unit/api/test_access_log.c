/* SPDX-License-Identifier: Apache-2.0 */
/* test_access_log.c - lines go to the file of the name as it was opened last: rotation moves the file away and has it opened
 * anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "api/access_log.h"

static int lines(const char *path)
{
    int n = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    for (int c; (c = fgetc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

static void a_moved_file_is_left_at_reopening(void **state)
{
    (void)state;
    char dir[] = "/tmp/falaj-test-XXXXXX", path[64], moved[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/access", dir);
    snprintf(moved, sizeof moved, "%s/access.1", dir);
    struct access_log *l = access_log_new(path);
    assert_non_null(l);
    access_log_write(l, 1, uuid_v7(1), "job_get", 200, false, STR("req_1"));
    assert_int_equal(rename(path, moved), 0);
    access_log_write(l, 2, uuid_v7(1), "job_get", 200, false, STR("req_2"));
    assert_int_equal(lines(moved), 2);
    assert_int_equal(lines(path), -1);
    access_log_reopen(l);
    access_log_write(l, 3, uuid_v7(1), "job_get", 200, false, STR("req_3"));
    assert_int_equal(lines(moved), 2);
    assert_int_equal(lines(path), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);             /* cannot be opened: the old file goes on */
    access_log_reopen(l);
    access_log_write(l, 4, uuid_v7(1), "job_get", 200, false, STR("req_4"));
    access_log_reopen(NULL);
    access_log_free(l);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(unlink(moved), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void what_could_not_be_opened_at_the_start_is_opened_later(void **state)
{
    (void)state;
    char dir[] = "/tmp/falaj-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/access", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    struct access_log *l = access_log_new(path);
    access_log_write(l, 1, uuid_v7(1), "job_get", 200, false, STR("req_1"));
    assert_int_equal(rmdir(path), 0);
    access_log_reopen(l);
    access_log_write(l, 2, uuid_v7(1), "job_get", 200, false, STR("req_2"));
    assert_int_equal(lines(path), 1);
    access_log_free(l);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_moved_file_is_left_at_reopening),
                                        cmocka_unit_test(what_could_not_be_opened_at_the_start_is_opened_later) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
