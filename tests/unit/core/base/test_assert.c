/* SPDX-License-Identifier: Apache-2.0 */
/* test_assert.c - a false ASSERT says where and aborts; a true one is evaluated once. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/assert.h"

static void aborts(void **state)
{
    (void)state;
    int fds[2], status;
    char text[512] = "";
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(fds[1], STDERR_FILENO);
        ASSERT(1 + 1 == 3);
        _exit(0);
    }
    close(fds[1]);
    waitpid(pid, &status, 0);
    assert_true(read(fds[0], text, sizeof text - 1) > 0);
    close(fds[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "1 + 1 == 3"));
    assert_non_null(strstr(text, "test_assert.c"));
}

static void passes(void **state)
{
    (void)state;
    int n = 0;
    ASSERT(++n == 1);
    assert_int_equal(n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(aborts), cmocka_unit_test(passes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
