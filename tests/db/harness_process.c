/* SPDX-License-Identifier: Apache-2.0 */
/* harness_process.c - child processes with PR_SET_PDEATHSIG, so that nothing outlives a test program that was killed. postgres
 * refuses to run as root: the children then become user postgres (or nobody). */
#include "tests/db/harness_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t SHM_FREE_BYTES = (uint64_t)4 << 30;      /* a cluster has 50 MB, and tests with much data some hundred */
enum { SHM_FREE_FILES = 100000 };
#define HELD "held"

void harness_die(const char *what)
{
    fprintf(stderr, "test harness: %s: %s\n", what, strerror(errno));
    abort();
}

static const struct passwd *server_user(void)
{
    if (geteuid() != 0)
        return NULL;
    const struct passwd *u = getpwnam("postgres");
    return u ? u : getpwnam("nobody");
}

void harness_give(const char *path)
{
    const struct passwd *u = server_user();
    if (u && chown(path, u->pw_uid, u->pw_gid) != 0)
        harness_die(path);
}

pid_t harness_spawn(const char *const *argv, const char *dir, const char *log)
{
    const struct passwd *u = server_user();
    pid_t pid = fork();
    if (pid < 0)
        harness_die("fork");
    if (pid > 0)
        return pid;
    int out = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    int in = open("/dev/null", O_RDONLY);
    if (u && (initgroups(u->pw_name, u->pw_gid) != 0 || setgid(u->pw_gid) != 0 || setuid(u->pw_uid) != 0))
        _exit(126);
    if (prctl(PR_SET_PDEATHSIG, SIGQUIT) != 0 || chdir(dir) != 0 || out < 0 || in < 0)
        _exit(126);
    setpgid(0, 0);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

void harness_run(const char *const *argv, const char *dir, const char *log)
{
    int status;
    pid_t pid = harness_spawn(argv, dir, log);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            harness_die("waitpid");
    if (status != 0) {
        fprintf(stderr, "test harness: %s ended with status %d, see %s\n", argv[0], status, log ? log : "(no log)");
        abort();
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void harness_end(struct child *c, int sig)
{
    if (c->pid <= 0 || c->owner != getpid())
        return;
    kill(c->pid, sig);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    c->pid = 0;
}

/* In memory where there is room: of what a program on PostgreSQL costs, the files of a cluster on disk were a fifth. Not for
 * programs to run from: it may be mounted noexec. */
static const char *base_folder(void)
{
    struct statvfs v;
    if (getenv("TMPDIR"))
        return getenv("TMPDIR");
    if (statvfs("/dev/shm", &v) == 0 && access("/dev/shm", W_OK) == 0 && (uint64_t)v.f_bavail * v.f_frsize >= SHM_FREE_BYTES &&
        (!v.f_files || v.f_favail > SHM_FREE_FILES))
        return "/dev/shm";
    return "/tmp";
}

/* A file of the folder is locked for as long as this program lives, and has its name only once it is. The lock is all that the
 * descriptor is for, so it stays open. */
static void hold(const char *dir)
{
    char fresh[160], path[160];
    snprintf(fresh, sizeof fresh, "%s/held.new", dir);
    snprintf(path, sizeof path, "%s/" HELD, dir);
    int fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || rename(fresh, path) != 0)
        harness_die(path);
}

/* Folders of programs that were killed, which nobody else removes: in memory each takes its 50 MB. */
static void sweep(const char *base)
{
    DIR *all = opendir(base);
    for (const struct dirent *d; all && (d = readdir(all));) {
        char dir[400], path[420];
        struct stat st;
        if (strncmp(d->d_name, "falaj-", 6) != 0)
            continue;
        snprintf(dir, sizeof dir, "%s/%s", base, d->d_name);
        snprintf(path, sizeof path, "%s/" HELD, dir);
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            continue;
        if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            harness_remove(dir);
        close(fd);
    }
    if (all)
        closedir(all);
}

void harness_dir(struct child *c, const char *kind)
{
    const char *base = base_folder();
    sweep(base);
    snprintf(c->dir, sizeof c->dir, "%s/falaj-%s-XXXXXX", base, kind);
    if (!mkdtemp(c->dir))
        harness_die("mkdtemp");
    hold(c->dir);
    harness_give(c->dir);
    c->owner = getpid();
}

void harness_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct {
    void *h;
    void (*end)(void *h);
} live[16];

static void end_all(void)
{
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (live[i].h)
            live[i].end(live[i].h);
}

void harness_live(void *h, void (*end)(void *h))
{
    static bool is_hooked;
    if (!is_hooked)
        atexit(end_all);
    is_hooked = true;
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (!live[i].h) {
            live[i].h = h;
            live[i].end = end;
            return;
        }
}

void harness_gone(const void *h)
{
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (live[i].h == h)
            live[i].h = NULL;
}
