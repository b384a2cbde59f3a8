/* SPDX-License-Identifier: Apache-2.0 */
/* test_harness.c - the folder of a program that was killed is removed by the next one; those of who lives, and what is not of
 * this kit, stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/db/harness_int.h"

static void test_who_was_killed(void **st)
{
    (void)st;
    char base[] = "/tmp/falaj-harness-XXXXXX", other[64], file[160];
    struct child lost = { 0 }, first = { 0 }, second = { 0 };
    int ends[2];
    assert_non_null(mkdtemp(base));
    assert_int_equal(setenv("TMPDIR", base, 1), 0);
    snprintf(other, sizeof other, "%s/falaj-other", base);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);       /* it outlives no test that fails */
        harness_dir(&lost, "pg");
        snprintf(file, sizeof file, "%s/data", lost.dir);
        if (mkdir(file, 0700) == 0 && write(ends[1], &lost, sizeof lost) == sizeof lost)
            pause();
        _exit(1);
    }
    assert_true(pid > 0);
    assert_int_equal(read(ends[0], &lost, sizeof lost), sizeof lost);
    harness_dir(&first, "pg");
    assert_int_equal(access(lost.dir, F_OK), 0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    harness_dir(&second, "redis");
    assert_int_not_equal(access(lost.dir, F_OK), 0);
    assert_int_equal(access(first.dir, F_OK), 0);
    assert_int_equal(access(second.dir, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    harness_remove(base);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_who_was_killed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
