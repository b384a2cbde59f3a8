/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - one process: start it as an account that dies with us, tell it from a later one with the same pid, end it.
 *
 * PR_SET_PDEATHSIG is set after the change of account, which clears it, and the parent is checked once more afterwards: it may
 * have died in between. Logs are opened with O_APPEND, so that cutting one to nothing leaves no hole. */
#include "cli/dev/process.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"

enum { LOG_MAX = 16 << 20, TAIL_BYTES = 1500, ENV_MAX = 64 };

static const char *const passed_on[] = { "FALAJ_FAULTS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", "CUDA_VISIBLE_DEVICES", NULL };

/* Settings in the environment reach the daemons, but for those that falaj dev decides itself: places, ports, keys, addresses. */
static bool is_setting(const char *entry)
{
    static const char *const sections[] = { "FALAJ_RATE_", "FALAJ_LOG_", "FALAJ_API_", "FALAJ_DB_", "FALAJ_SCHEDULER_", "FALAJ_SEQUENCER_",
                                            "FALAJ_WORKER_", "FALAJ_NODE_", "FALAJ_AUTH_", "FALAJ_APPROVAL_", NULL };
    static const char *const ours[] = { "URL=", "PORT=", "BIND=", "CERT=", "KEY=", "_CA=", "UNIX=", "ZONE=", "POOL=", "NAME=", "DIR=", NULL };
    bool is_one = false;
    static const char *const wholly[] = { "FALAJ_SCHEDULER_ENGINES_",
        "FALAJ_BLOB_S3_", "FALAJ_SMTP_", "FALAJ_NOTIFY_", "FALAJ_OTLP_", NULL };
    /* Left to whoever looks at metrics, has engines, a bucket, a mail server or a collector. */
    if (strstr(entry, "_OPS_PORT="))
        return !strncmp(entry, "FALAJ_", strlen("FALAJ_"));
    for (int i = 0; wholly[i]; i++)
        if (!strncmp(entry, wholly[i], strlen(wholly[i])))
            return true;
    for (int i = 0; sections[i]; i++)
        is_one |= !strncmp(entry, sections[i], strlen(sections[i]));
    for (int i = 0; is_one && ours[i]; i++) {
        const char *eq = strchr(entry, '=');
        size_t n = strlen(ours[i]) - 1;
        if (!eq || ((size_t)(eq - entry) >= n && !strncmp(eq - n, ours[i], n)))
            return false;
    }
    return is_one;
}

static void make_environment(const struct dev *d, const struct child *p, char *list[ENV_MAX])
{
    int n = 0;
    list[n++] = (char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    list[n++] = (char *)"LANG=C.UTF-8";
    list[n++] = (char *)"TZ=UTC";
    list[n++] = arena_printf(d->arena, "HOME=%s", d->run);
    if (p->env)
        list[n++] = (char *)(uintptr_t)p->env;
    for (int i = 0; passed_on[i]; i++) {
        if (getenv(passed_on[i]))
            list[n++] = arena_printf(d->arena, "%s=%s", passed_on[i], getenv(passed_on[i]));
    }
    for (char **at = environ; *at && n < ENV_MAX - 1; at++)
        if (is_setting(*at))
            list[n++] = *at;
    list[n] = NULL;
}

static _Noreturn void become(const struct dev *d, const struct child *p, pid_t parent, int log_fd, int out_fd, char *const *env)
{
    int null_fd = open("/dev/null", O_RDONLY);
    sigset_t none;
    sigemptyset(&none);
    if (dup2(null_fd, 0) < 0 || dup2(out_fd >= 0 ? out_fd : log_fd, 1) < 0 || dup2(log_fd, 2) < 0)
        _exit(126);
    close_range(3, ~0u, 0);
    bool is_changed = d->is_root && p->uid != 0;
    if (is_changed && (setgroups(0, NULL) < 0 || setresgid(p->gid, p->gid, p->gid) < 0 || setresuid(p->uid, p->uid, p->uid) < 0)) {
        dprintf(2, "falaj dev: the account cannot be changed: %s\n", strerror(errno));
        _exit(126);
    }
    prctl(PR_SET_PDEATHSIG, p->stop_signal ? p->stop_signal : SIGTERM);
    if (getppid() != parent)
        _exit(125);
    setpgid(0, 0);
    umask(0077);
    if (chdir("/") < 0)
        _exit(126);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(p->argv[0], (char *const *)p->argv, env);
    dprintf(2, "falaj dev: %s cannot be run: %s\n", p->argv[0], strerror(errno));
    _exit(127);
}

enum errc process_start(const struct dev *d, struct child *p, int out_fd, struct err *e)
{
    char *env[ENV_MAX];
    make_environment(d, p, env);
    if (p->socket)
        unlink(p->socket);
    CLEANUP(fd_closep) int log_fd = open(p->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0)
        return err_errno((FAIL(e, IO, "%s cannot be written", p->log_path), e), errno);
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return err_errno((FAIL(e, IO, "no process could be started for %s", p->name), e), errno);
    if (pid == 0)
        become(d, p, parent, log_fd, out_fd, env);
    p->pid = pid;
    p->start_ticks = process_start_ticks(pid);
    p->started_us = clock_mono_us(&clock_system);
    p->restart_at_us = 0;
    return ERR_OK;
}

uint64_t process_start_ticks(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    char *p = strrchr(text, ')');       /* the name may hold anything, also parentheses */
    if (p && p[1] == ' ' && (p[2] == 'Z' || p[2] == 'X'))
        return 0;                       /* dead, only not yet waited for: by us, or by an init that takes its time */
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    return p ? strtoull(p + 1, NULL, 10) : 0;
}

bool process_is(pid_t pid, uint64_t start_ticks)
{
    return pid > 1 && start_ticks != 0 && process_start_ticks(pid) == start_ticks;
}

static void wait_gone(pid_t pid, uint64_t start_ticks, int ms)
{
    int64_t end = clock_mono_us(&clock_system) + (int64_t)ms * 1000;
    while (process_is(pid, start_ticks) && clock_mono_us(&clock_system) < end) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return;
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    }
}

void process_end(pid_t pid, uint64_t start_ticks, int signal_number, int ms)
{
    if (!process_is(pid, start_ticks))
        return;
    kill(pid, signal_number);
    wait_gone(pid, start_ticks, ms);
    if (!process_is(pid, start_ticks))
        return;
    if (signal_number == SIGINT) {      /* postgres: at once, its children too */
        kill(pid, SIGQUIT);
        wait_gone(pid, start_ticks, 2000);
    }
    if (process_is(pid, start_ticks)) {
        kill(pid, SIGKILL);
        wait_gone(pid, start_ticks, 1000);
    }
}

void log_rotate(struct arena *a, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_size > 0)
        rename(path, arena_printf(a, "%s.1", path));
}

void log_bound(struct arena *a, const char *path)
{
    struct stat st;
    char chunk[65536];
    if (stat(path, &st) < 0 || st.st_size < LOG_MAX)
        return;
    CLEANUP(fd_closep) int in = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    CLEANUP(fd_closep) int out = open(arena_printf(a, "%s.1", path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (in < 0 || out < 0)
        return;
    for (ssize_t n; (n = read(in, chunk, sizeof(chunk))) > 0;) {
        if (write(out, chunk, (size_t)n) != n)
            break;
    }
    if (ftruncate(in, 0) < 0)
        return;
}

const char *log_tail(struct arena *a, const char *path)
{
    char text[TAIL_BYTES + 1];
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END), from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    ssize_t n = fd < 0 ? 0 : pread(fd, text, TAIL_BYTES, from);
    if (n <= 0)
        return "";
    text[n] = '\0';
    char *start = text;
    if (from > 0 && memchr(text, '\n', (size_t)n))
        start = (char *)memchr(text, '\n', (size_t)n) + 1;
    return arena_strndup(a, start, (size_t)(text + n - start));
}
