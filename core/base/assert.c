/* SPDX-License-Identifier: Apache-2.0 */
/* assert.c - ends the process on a bug with the place and a backtrace on standard error; supervisors restart it. */
#include "core/base/assert.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void assert_failed(const char *what, const char *file, int line)
{
    void *frames[32];
    fprintf(stderr, "falaj: bug: %s at %s:%d\n", what, file, line);
    int n = backtrace(frames, 32);
    backtrace_symbols_fd(frames, n, STDERR_FILENO);
    abort();
}
