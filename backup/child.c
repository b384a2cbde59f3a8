/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - processes of a backup. The service file of libpq lies in a memfd that the child inherits as descriptor 9. */
#include "backup/child.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/str.h"

enum { SERVICE_FD = 9, WORDS_MAX = 8192, COMPLAINT_MAX = 300 };

enum errc account_find(const char *name, struct account *ret, struct err *e)
{
    *ret = (struct account){ 0 };
    if (geteuid() != 0 || !*name)
        return ERR_OK;
    const struct passwd *p = getpwnam(name);        /* one thread: see the header */
    if (!p)
        return FAIL(e, NOT_FOUND, "there is no account %s on this machine", name);
    *ret = (struct account){ true, p->pw_uid, p->pw_gid };
    return ERR_OK;
}

void account_enter(const struct account *a)
{
    if (a->is_set && (setegid(a->gid) < 0 || seteuid(a->uid) < 0))
        abort();                /* going on as root would act with more than was asked for */
}

void account_leave(const struct account *a)
{
    if (a->is_set && (seteuid(0) < 0 || setegid(0) < 0))
        abort();
}

/* "host=x dbname=y" as the lines of a service file, which know no quotes. */
static enum errc service_text(const char *words, struct buf *out, struct err *e)
{
    struct str rest = str_c(words), word;
    buf_add_c(out, "[falaj]\n");
    while (rest.len) {
        bool more = str_cut(rest, ' ', &word, &rest);
        if (word.len && (str_find(word, '=') < 1 || str_find(word, '\'') >= 0 || str_find(word, '\\') >= 0))
            return FAIL(e, INVALID,
                        "the address of a database is words as in host=… dbname=… user=…, without quotes and spaces in them");
        if (word.len) {
            buf_add_str(out, word);
            buf_add_char(out, '\n');
        }
        if (!more)
            break;
    }
    return out->overflow ? FAIL(e, INVALID, "the address of a database is too long") : ERR_OK;
}

enum errc write_all(int fd, const void *p, size_t n, struct err *e)
{
    for (const char *at = p; n > 0;) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return err_errno((FAIL(e, IO, "writing failed"), e), errno);
        at += k;
        n -= (size_t)k;
    }
    return ERR_OK;
}

static enum errc service_file(const char *words, int *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf text = BUF(WORDS_MAX);
    TRY(service_text(words, &text, e));
    CLEANUP(fd_closep) int fd = memfd_create("service", MFD_CLOEXEC);
    if (fd < 0)
        return err_errno((FAIL(e, IO, "no memory for the address of the database"), e), errno);
    TRY(write_all(fd, text.ptr, text.len, e));
    *ret = TAKE_FD(fd);
    return ERR_OK;
}

static _Noreturn void become(const char *const *argv, const struct child_opts *o, int in, int out, int complaint, int service)
{
    static const char *const env[] = { "PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                                       "PGSERVICEFILE=/proc/self/fd/9", "PGSERVICE=falaj", NULL };
    static const char *const bare[] = { "PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", NULL };
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(complaint, 2) < 0 || (service >= 0 && dup2(service, SERVICE_FD) < 0))
        _exit(126);
    if (service == SERVICE_FD && fcntl(service, F_SETFD, 0) < 0)
        _exit(126);
    close_range(3, SERVICE_FD - 1, 0);
    close_range(service >= 0 ? SERVICE_FD + 1 : SERVICE_FD, ~0u, 0);
    const struct account *a = &o->account;
    if (a->is_set && (setgroups(0, NULL) < 0 || setresgid(a->gid, a->gid, a->gid) < 0 || setresuid(a->uid, a->uid, a->uid) < 0))
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGINT);
    signal(SIGPIPE, SIG_DFL);
    umask(0077);
    if (chdir("/") < 0)
        _exit(126);
    execvpe(argv[0], (char *const *)argv, (char *const *)(service >= 0 ? env : bare));
    dprintf(2, "%s cannot be run: %s", argv[0], strerror(errno));
    _exit(127);
}

enum errc child_start(struct arena *a, const char *const *argv, const struct child_opts *o, struct child *ret, struct err *e)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    CLEANUP(fd_closep) int service = -1;
    CLEANUP(fd_closep) int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (o->words)
        TRY(service_file(o->words, &service, e));
    if (service >= 0 && o->account.is_set && fchown(service, o->account.uid, o->account.gid) < 0)
        return err_errno((FAIL(e, IO, "the address of the database cannot be handed on"), e), errno);
    CLEANUP(fd_closep) int complaint = memfd_create("complaint", MFD_CLOEXEC);
    if (complaint < 0 || null_fd < 0 || (o->has_in && pipe2(to, O_CLOEXEC) < 0) || (o->has_out && pipe2(from, O_CLOEXEC) < 0))
        return err_errno((FAIL(e, IO, "no pipe could be made"), e), errno);
    pid_t pid = fork();
    if (pid == 0)
        become(argv, o, o->has_in ? to[0] : null_fd, o->has_out ? from[1] : null_fd, complaint, service);
    if (to[0] >= 0)
        close(to[0]);
    if (from[1] >= 0)
        close(from[1]);
    const char *slash = strrchr(argv[0], '/');
    *ret = (struct child){ pid, to[1], from[0], TAKE_FD(complaint), arena_strndup(a, slash ? slash + 1 : argv[0],
            strlen(slash ? slash + 1 : argv[0])) };
    if (pid > 0)
        return ERR_OK;
    struct err ignored;
    (void)!child_wait(ret, &ignored);       /* gives the descriptors back */
    return FAIL(e, IO, "no process could be started for %s", argv[0]);
}

enum errc child_wait(struct child *c, struct err *e)
{
    int status = -1;
    char text[COMPLAINT_MAX + 1] = "";
    fd_closep(&c->in);
    fd_closep(&c->out);
    while (c->pid > 0 && waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    off_t size = lseek(c->complaint, 0, SEEK_END);
    ssize_t n = pread(c->complaint, text, COMPLAINT_MAX, size > COMPLAINT_MAX ? size - COMPLAINT_MAX : 0);
    fd_closep(&c->complaint);
    c->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ERR_OK;
    text[n > 0 ? n : 0] = '\0';
    for (char *p = text; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    FAIL(e, UNAVAILABLE, "%s failed%s", c->name, *text ? ":" : "");
    return err_note(e, "%s", text);
}

void child_stop(struct child *c)
{
    struct err ignored;
    if (c->pid <= 0)
        return;
    kill(c->pid, SIGINT);
    (void)!child_wait(c, &ignored);         /* it was told to end: how it did says nothing */
}

enum errc child_run(struct arena *a, const char *const *argv, const struct child_opts *o, struct err *e)
{
    struct child c;
    TRY(child_start(a, argv, o, &c, e));
    return child_wait(&c, e);
}
