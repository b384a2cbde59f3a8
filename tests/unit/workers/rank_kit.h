/* SPDX-License-Identifier: Apache-2.0 */
/* rank_kit.h - falaj-rank out of the bytes that a worker carries, as a process of the test's. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workers/lease/rank_bytes.h"

enum { RANK_KIT_SAID = 3 };             /* the descriptor that a command of the program may write to, as `echo text >&3` */

struct rank_run { pid_t pid; int said; };       /* said: what it and its commands write to stderr and to RANK_KIT_SAID */

/* argv ends with NULL. The test reaps it (rank_end). */
static inline struct rank_run rank_start(char *const argv[])
{
    static char *const no_environment[] = { "PATH=/usr/bin:/bin", NULL };
    const struct str bytes = rank_bytes();
    const int program = memfd_create("falaj-rank", MFD_CLOEXEC);
    struct rank_run r;
    int said[2];
    assert_true(program >= 0);
    assert_int_equal(write(program, bytes.ptr, bytes.len), (ssize_t)bytes.len);
    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    assert_true((r.pid = fork()) >= 0);
    if (r.pid == 0) {
        const int moved = fcntl(program, F_DUPFD_CLOEXEC, RANK_KIT_SAID + 1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(said[1], STDERR_FILENO) >= 0 && dup2(STDERR_FILENO, RANK_KIT_SAID) >= 0)
            fexecve(moved, argv, no_environment);
        _exit(126);
    }
    close(said[1]);
    close(program);
    r.said = said[0];
    return r;
}

/* Its exit status; what it said until its end, and its commands' end, is in text. */
static inline int rank_end(struct rank_run *r, char *text, size_t cap)
{
    int status = 0;
    size_t n = 0;
    for (ssize_t got; n + 1 < cap && (got = read(r->said, text + n, cap - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(r->said);
    assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
    r->pid = 0;
    if (!WIFEXITED(status))
        fail_msg("falaj-rank ended by signal %d: %s", WTERMSIG(status), text);
    return WEXITSTATUS(status);
}
