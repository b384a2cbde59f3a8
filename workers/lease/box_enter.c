/* SPDX-License-Identifier: Apache-2.0 */
/* box_enter.c - the watcher's half: what the helper inherits. The helper's is box_visit.c. */
#include "workers/lease/box_enter.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/box_filter.h"
#include "workers/lease/box_visit.h"

enum { WORDS_MAX = 1 << 20 };

/* The folder it begins in and the program's environment, each with a NUL behind it. */
static enum errc words_file(const struct box_program *p, int *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(WORDS_MAX);
    buf_add_str(&b, p->workdir);
    buf_add_char(&b, '\0');
    for (size_t i = 0; i < p->nenv; i++) {
        buf_add_str(&b, p->env[i]);
        buf_add_char(&b, '\0');
    }
    CLEANUP(fd_closep) int fd = memfd_create("words", MFD_CLOEXEC);
    if (b.overflow || fd < 0 || write(fd, b.ptr, b.len) != (ssize_t)b.len || lseek(fd, 0, SEEK_SET) != 0)
        return FAIL(e, IO, "no file for the program's environment");
    *ret = fd;
    fd = -1;
    return ERR_OK;
}

/* In the child of fork, a copy of a threaded process. Does not return. */
static _Noreturn void become(const int *from, bool enters_net)
{
    static char name[] = "falaj-worker", flag[] = "--enter-box", net[] = "net";
    static char *const none[] = { NULL };
    char *argv[] = { name, flag, enters_net ? net : NULL, NULL };
    int high[VISIT_FDS];
    for (int i = 0; i < VISIT_FDS; i++)
        high[i] = fcntl(from[i], F_DUPFD, VISIT_FDS);
    for (int i = 0; i < VISIT_FDS; i++)
        if (high[i] < 0 || dup2(high[i], i) < 0)
            _exit(126);
    syscall(SYS_close_range, VISIT_FDS, ~0U, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL);
    execve("/proc/self/exe", argv, none);
    _exit(126);
}

static pid_t *free_place(struct box_visitors *v)
{
    for (int i = 0; i < BOX_VISITORS_MAX; i++)
        if (!v->pids[i])
            return &v->pids[i];
    return NULL;
}

enum errc box_enter(struct box_visitors *v, const struct box *b, const struct box_program *p, int socket, struct err *e)
{
    CLEANUP(fd_closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC), filter = -1, words = -1, first = -1;
    pid_t *place = free_place(v);
    if (!place)
        return FAIL(e, LIMIT, "%d are inside already", BOX_VISITORS_MAX);
    if (b->inner <= 1)
        return FAIL(e, IO, "the program has ended");
    first = (int)syscall(SYS_pidfd_open, b->inner, 0);
    if (first < 0)
        return FAIL(e, IO, "the program has ended");
    TRY(box_filter_file(&filter, e));
    TRY(words_file(p, &words, e));
    const int from[VISIT_FDS] = { null, null, 2, socket, first, filter, words };
    const pid_t pid = fork();
    if (pid == 0)
        become(from, !b->has_net);
    if (pid < 0)
        return FAIL(e, IO, "no process for who wants to look inside");
    *place = pid;
    return ERR_OK;
}

void box_visitors_look(struct box_visitors *v)
{
    for (int i = 0; i < BOX_VISITORS_MAX; i++)
        if (v->pids[i] && waitpid(v->pids[i], NULL, WNOHANG) != 0)
            v->pids[i] = 0;
}
