/* SPDX-License-Identifier: Apache-2.0 */
/* box_visit.c - the helper: into the box, then one command, one terminal or one connection there.
 *
 * It makes itself unreadable before it enters: a program of the box may be of the same account. What it starts is a child, since
 * a process namespace is entered by children only; the child gives everything up before it becomes the command. */
#include "workers/lease/box_enter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/inside_wire.h"
#include "workers/lease/accounts.h"
#include "workers/lease/box_visit.h"
#include "workers/lease/frame.h"

enum { STDIN_AT, STDOUT_AT, STDERR_AT, ENDS, CONNECT_MS = 5000, HANGUP_MS = 2000, FILTER_MAX = 4096, ENV_MAX = 4096,
       PROCESSES_MAX = 1024, SIGNALLED = 128, NOT_FOUND = 127, NOT_RUN = 126 };

struct visit {
    struct arena *arena;
    struct inside_ask ask;
    const char *workdir;
    char *env[ENV_MAX];
    char *const *argv;
    struct sock_filter filter[FILTER_MAX];
    struct sock_fprog program;
    int ours[ENDS], theirs[ENDS];       /* -1: none; a terminal: one descriptor at STDIN_AT, its other end at all of theirs */
};

static enum errc read_filter(struct visit *v, struct err *e)
{
    const ssize_t n = read(VISIT_FILTER, v->filter, sizeof v->filter);
    if (n <= 0 || (size_t)n == sizeof v->filter || (size_t)n % sizeof *v->filter)
        return FAIL(e, IO, "the filter of system calls cannot be read");
    v->program = (struct sock_fprog){ (unsigned short)((size_t)n / sizeof *v->filter), v->filter };
    return ERR_OK;
}

static enum errc read_words(struct visit *v, struct err *e)
{
    struct stat st;
    if (fstat(VISIT_WORDS, &st) != 0 || st.st_size <= 0)
        return FAIL(e, IO, "the program's environment cannot be read");
    char *text = arena_alloc(v->arena, (size_t)st.st_size + 1);
    if (read(VISIT_WORDS, text, (size_t)st.st_size) != st.st_size)
        return FAIL(e, IO, "the program's environment cannot be read");
    size_t n = 0;
    v->workdir = text;
    for (char *at = text + strlen(text) + 1; at < text + st.st_size && n < ENV_MAX - 2; at += strlen(at) + 1)
        v->env[n++] = at;
    if (inside_has_tty(&v->ask))
        v->env[n++] = arena_printf(v->arena, "TERM=%.*s", STR_ARG(v->ask.term));
    return ERR_OK;
}

static enum errc read_ask(struct visit *v, struct err *e)
{
    char *room = arena_alloc(v->arena, FRAME_MAX);
    struct frame f = { 0 };
    TRY(frame_receive(VISIT_SOCKET, room, &f, e));
    frame_close_fds(&f);
    if (f.type != FRAME_ASK)
        return FAIL(e, INVALID, "the first message is no question");
    TRY(json_decode(&inside_ask_schema, f.body, v->arena, &v->ask, e));
    return inside_ask_check(&v->ask, e);
}

static enum errc enter(bool enters_net, struct err *e)
{
    const int spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |
                       (enters_net ? CLONE_NEWNET : 0);
    prctl(PR_SET_DUMPABLE, 0);
    if (setns(VISIT_FIRST, spaces) == 0 && chdir("/") == 0)
        return ERR_OK;
    FAIL(e, IO, "the program's box cannot be entered; it may have ended");
    return err_errno(e, errno);
}

/* --- a connection --- */

static int connect_to(const struct sockaddr *to, socklen_t n, int family)
{
    CLEANUP(fd_closep) int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd p = { fd, POLLOUT, 0 };
    int failed = 0;
    socklen_t size = sizeof failed;
    if (fd < 0 || (connect(fd, to, n) != 0 && errno != EINPROGRESS) || poll(&p, 1, CONNECT_MS) != 1
        || getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed)
        return -1;
    const int ret = fd;
    fd = -1;
    return ret;
}

static enum errc forward(struct visit *v, struct err *e)
{
    const struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)v->ask.port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)v->ask.port),
                                     .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    CLEANUP(fd_closep) int fd = connect_to((const struct sockaddr *)(const void *)&a4, sizeof a4, AF_INET);
    if (fd < 0)
        fd = connect_to((const struct sockaddr *)(const void *)&a6, sizeof a6, AF_INET6);
    if (fd < 0)
        return FAIL(e, UNAVAILABLE, "nothing in the job listens on port %d of its loopback", (int)v->ask.port);
    return frame_send(VISIT_SOCKET, FRAME_INSIDE, STR_NULL, STR_NULL, &fd, 1, true, e);
}

/* --- a command --- */

static enum errc open_terminal(struct visit *v, struct err *e)
{
    const struct winsize size = { .ws_row = (unsigned short)v->ask.rows, .ws_col = (unsigned short)v->ask.cols };
    int locked = 0;
    v->ours[STDIN_AT] = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (v->ours[STDIN_AT] < 0 || ioctl(v->ours[STDIN_AT], TIOCSPTLCK, &locked) != 0)
        return FAIL(e, IO, "the box has no terminals");
    (void)ioctl(v->ours[STDIN_AT], TIOCSWINSZ, &size);      /* a terminal of no size is a terminal */
    v->theirs[STDIN_AT] = ioctl(v->ours[STDIN_AT], TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return v->theirs[STDIN_AT] >= 0 ? ERR_OK : FAIL(e, IO, "the box has no terminals");
}

static enum errc open_pipes(struct visit *v, struct err *e)
{
    for (int i = 0; i < ENDS; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return FAIL(e, IO, "no pipe for the command");
        v->theirs[i] = ends[i != STDIN_AT];
        v->ours[i] = ends[i == STDIN_AT];
    }
    return ERR_OK;
}

/* The image's shell: bash where it has one. */
static char *const *shell_of(struct arena *a)
{
    static const char *const all[] = { "/bin/bash", "/usr/bin/bash", "/bin/sh", NULL };
    char **argv = ARENA_ARRAY(a, char *, 2);
    int i = 0;
    while (all[i + 1] && access(all[i], X_OK) != 0)
        i++;
    argv[0] = (char *)(uintptr_t)all[i];
    return argv;
}

static char *const *argv_of(const struct visit *v)
{
    if (v->ask.kind == INSIDE_SHELL)
        return shell_of(v->arena);
    char **argv = ARENA_ARRAY(v->arena, char *, v->ask.command.n + 1);
    for (size_t i = 0; i < v->ask.command.n; i++)
        argv[i] = (char *)(uintptr_t)str_z(v->arena, ((const struct str *)v->ask.command.items)[i]);
    return argv;
}

/* The program's own rights, and no more: nothing is left of what the helper could do here. */
static bool give_up(struct visit *v)
{
    const struct rlimit processes = { PROCESSES_MAX, PROCESSES_MAX };
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    return setrlimit(RLIMIT_NPROC, &processes) == 0 && caps_keep(0) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0
           && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &v->program) == 0;
}

/* In the child of fork, inside. Does not return. */
static _Noreturn void become(struct visit *v)
{
    const bool is_terminal = v->theirs[STDOUT_AT] < 0;
    setsid();
    for (int i = 0; i < ENDS; i++)
        if (dup2(v->theirs[is_terminal ? STDIN_AT : i], i) < 0)
            _exit(NOT_RUN);
    if (is_terminal)
        ioctl(0, TIOCSCTTY, 0);
    syscall(SYS_close_range, ENDS, ~0U, 0);
    if (chdir(v->workdir) != 0 && chdir("/") != 0)
        _exit(NOT_RUN);
    environ = v->env;
    if (!give_up(v)) {
        dprintf(2, "falaj: the command was not given the program's own rights\r\n");
        _exit(NOT_RUN);
    }
    execvp(v->argv[0], v->argv);
    const int failed = errno;
    dprintf(2, "falaj: %s: %s\r\n", v->argv[0], strerror(failed));
    _exit(failed == ENOENT ? NOT_FOUND : NOT_RUN);
}

static void close_all(int fds[ENDS])
{
    for (int i = 0; i < ENDS; i++)
        fd_closep(&fds[i]);
}

/* Until it has ended, or the agent has hung up. Returns its status. */
static int wait_for(pid_t pid)
{
    CLEANUP(fd_closep) int child = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p[2] = { { child, POLLIN, 0 }, { VISIT_SOCKET, 0, 0 } };      /* the socket: POLLHUP alone */
    int status = 0, wait_ms = -1;
    for (;;) {
        const int n = poll(p, 2, wait_ms);
        if (p[0].revents || (n < 0 && errno != EINTR))
            break;
        if (n == 0) {
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
            break;
        }
        if (n > 0 && p[1].revents) {
            kill(-pid, SIGHUP);
            kill(-pid, SIGCONT);
            p[1].fd = -1;
            wait_ms = HANGUP_MS;
        }
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static void say_end(int status)
{
    const struct inside_end end = { .has_exit_code = true, .exit_code = status };
    CLEANUP(buf_releasep) struct buf json = BUF(256);
    json_encode(&inside_end_schema, &end, &json);
    const enum errc ignored = frame_send(VISIT_SOCKET, FRAME_ENDED, STR_NULL, buf_str(&json), NULL, 0, true, NULL);
    (void)ignored;                      /* the agent is gone: nobody asks */
}

static enum errc command(struct visit *v, struct err *e)
{
    const bool is_terminal = inside_has_tty(&v->ask);
    TRY(is_terminal ? open_terminal(v, e) : open_pipes(v, e));
    v->argv = argv_of(v);
    const pid_t pid = fork();
    if (pid == 0)
        become(v);
    close_all(v->theirs);
    if (pid < 0)
        return FAIL(e, LIMIT, "the job has as many processes as it may have");
    enum errc rc = frame_send(VISIT_SOCKET, FRAME_INSIDE, STR_NULL, STR_NULL, v->ours, is_terminal ? 1 : ENDS, true, e);
    close_all(v->ours);
    caps_keep(0);
    say_end(wait_for(pid));
    return rc;
}

static enum errc visit(struct visit *v, bool enters_net, struct err *e)
{
    for (int i = 0; i < ENDS; i++)
        v->ours[i] = v->theirs[i] = -1;
    TRY(read_ask(v, e));
    TRY(read_filter(v, e));
    TRY(read_words(v, e));
    TRY(enter(enters_net, e));
    return v->ask.kind == INSIDE_FORWARD ? forward(v, e) : command(v, e);
}

_Noreturn void box_enter_main(bool enters_net)
{
    struct err e = { 0 };
    struct arena *a = arena_new((size_t)8 << 20);
    struct visit *v = ARENA_NEW(a, struct visit);
    v->arena = a;
    signal(SIGPIPE, SIG_IGN);
    if (visit(v, enters_net, &e) == ERR_OK)
        _exit(0);
    const enum errc ignored = frame_send(VISIT_SOCKET, FRAME_FAILED, STR_NULL, str_c(e.msg), NULL, 0, true, NULL);
    (void)ignored;                      /* the agent is gone: nobody asks */
    _exit(1);
}
