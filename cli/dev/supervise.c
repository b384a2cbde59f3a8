/* SPDX-License-Identifier: Apache-2.0 */
/* supervise.c - keeps the processes of `falaj dev` running, and ends them in the right order.
 *
 * One thread: signals are blocked and read from a signalfd, so waiting for a child, for a stop and for time is one poll. While
 * starting, a daemon that dies ends the start; later it is restarted after 0.2 s, doubling up to 5 s, and back to 0.2 s once
 * it has run for 30 s. Stopping goes from the outermost (worker) to the innermost (PostgreSQL). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "cli/dev/process.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"

enum { BACKOFF_MIN_MS = 200, BACKOFF_MAX_MS = 5000, STABLE_US = 30 * 1000000, LOG_CHECK_US = 10 * 1000000, OUTPUT_MAX = 1 << 16, QUIT_MS = 2000 };

enum errc supervise_init(struct dev *d, struct err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return d->signal_fd < 0 ? err_errno((FAIL(e, IO, "signals cannot be watched"), e), errno) : ERR_OK;
}

enum errc supervise_start(struct dev *d, int which, struct err *e)
{
    struct child *p = &d->children[which];
    if (p->started_us == 0)
        log_rotate(d->arena, p->log_path);
    TRY(process_start(d, p, -1, e));
    return state_save_pids(d, e);
}

/* Read what signals came. */
static void read_signals(struct dev *d, int ms)
{
    struct pollfd watch = { d->signal_fd, POLLIN, 0 };
    struct signalfd_siginfo info;
    if (poll(&watch, 1, ms) <= 0)
        return;
    while (read(d->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD)
            d->is_stopping = true;
    }
}

static const char *ending(struct arena *a, int status)
{
    if (WIFSIGNALED(status))
        return arena_printf(a, "was ended by signal %d", WTERMSIG(status));
    return arena_printf(a, "ended with status %d", WEXITSTATUS(status));
}

/* The next child that has died, marked as not running; NULL: none. */
static struct child *reap(struct dev *d, int *status)
{
    for (int i = 0; i < d->nchildren; i++) {
        struct child *p = &d->children[i];
        if (p->pid && waitpid(p->pid, status, WNOHANG) == p->pid) {
            p->pid = 0;
            return p;
        }
    }
    return NULL;
}

enum errc supervise_pause(struct dev *d, int ms, struct err *e)
{
    int status = 0;
    read_signals(d, ms);
    if (d->is_stopping)
        return FAIL(e, UNAVAILABLE, "stopped while starting");
    struct child *dead = reap(d, &status);
    if (!dead)
        return ERR_OK;
    FAIL(e, UNAVAILABLE, "%s %s; its log is %s", dead->name, ending(d->arena, status), dead->log_path);
    return err_note(e, "%s", log_tail(d->arena, dead->log_path));
}

static enum errc wait_once(struct dev *d, struct child *run, int timeout_ms, struct err *e)
{
    int64_t end = clock_mono_us(&clock_system) + INT64_C(1000) * timeout_ms;
    for (int status = 0;;) {
        if (waitpid(run->pid, &status, WNOHANG) == run->pid) {
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return ERR_OK;
            FAIL(e, UNAVAILABLE, "%s %s; its log is %s", run->name, ending(d->arena, status), run->log_path);
            return err_note(e, "%s", log_tail(d->arena, run->log_path));
        }
        enum errc rc = supervise_pause(d, 20, e);
        if (rc == ERR_OK && clock_mono_us(&clock_system) > end)
            rc = FAIL(e, DEADLINE, "%s did not end within %d s; its log is %s", run->name, timeout_ms / 1000, run->log_path);
        if (rc != ERR_OK) {
            process_end(run->pid, run->start_ticks, SIGTERM, 500);
            waitpid(run->pid, NULL, WNOHANG);
            return rc;
        }
    }
}

enum errc supervise_run_once(struct dev *d, const struct child *what, int timeout_ms, struct str *ret_out, struct err *e)
{
    struct child run = *what;
    int ends[2] = { -1, -1 };
    log_rotate(d->arena, run.log_path);
    if (ret_out && pipe2(ends, O_CLOEXEC) < 0)
        return err_errno((FAIL(e, IO, "a pipe cannot be made"), e), errno);
    CLEANUP(fd_closep) int out = ends[0], in = ends[1];
    enum errc rc = process_start(d, &run, in, e);
    fd_closep(&in);
    if (rc == ERR_OK)
        rc = wait_once(d, &run, timeout_ms, e);
    if (rc != ERR_OK || !ret_out)
        return rc;
    /* What it printed fits the pipe: a token and a line or two. */
    char text[4096];
    ssize_t n = read(out, text, sizeof(text));
    *ret_out = str_dup(d->arena, str_n(text, n > 0 ? (size_t)n : 0));
    return ERR_OK;
}

static void plan_restart(struct dev *d, struct child *p, int status)
{
    int64_t now = clock_mono_us(&clock_system);
    bool was_stable = now - p->started_us > STABLE_US;
    p->backoff_ms = was_stable || !p->backoff_ms ? BACKOFF_MIN_MS : p->backoff_ms * 2;
    p->backoff_ms = p->backoff_ms > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : p->backoff_ms;
    p->restart_at_us = now + INT64_C(1000) * p->backoff_ms;
    cli_note(d->c, "falaj dev: %s %s; starting it again in %d ms (log: %s)", p->name, ending(d->arena, status), p->backoff_ms, p->log_path);
}

/* Start what is due; returns the time to sleep. */
static int restart_due(struct dev *d)
{
    int64_t now = clock_mono_us(&clock_system), next = now + LOG_CHECK_US;
    bool is_changed = false;
    for (int i = 0; i < d->nchildren; i++) {
        struct child *p = &d->children[i];
        struct err e = { 0 };
        if (p->pid || !p->restart_at_us)
            continue;
        if (p->restart_at_us > now) {
            next = p->restart_at_us < next ? p->restart_at_us : next;
        } else if (process_start(d, p, -1, &e) != ERR_OK) {
            p->restart_at_us = now + INT64_C(1000) * BACKOFF_MAX_MS;
            cli_note(d->c, "falaj dev: %s", e.msg);
        } else {
            is_changed = true;
        }
    }
    struct err e = { 0 };
    if (is_changed && (state_save_pids(d, &e) != ERR_OK || state_save_ready(d, &e) != ERR_OK))
        cli_note(d->c, "falaj dev: %s", e.msg);
    return (int)((next - now) / 1000) + 1;
}

void supervise_run(struct dev *d)
{
    struct arena *kept = d->arena, *turn = arena_new(64 << 20);
    int64_t logs_at = 0;
    while (!d->is_stopping) {
        int status = 0;
        d->arena = turn;            /* memory of one turn of the loop */
        read_signals(d, restart_due(d));
        for (struct child *p; !d->is_stopping && (p = reap(d, &status));)
            plan_restart(d, p, status);
        if (clock_mono_us(&clock_system) - logs_at > LOG_CHECK_US) {
            for (int i = 0; i < d->nchildren; i++)
                log_bound(turn, d->children[i].log_path);
            logs_at = clock_mono_us(&clock_system);
        }
        d->arena = kept;
        arena_reset(turn);
    }
    arena_free(turn);
}

/* Wait up to ms for the end of a child of ours; its status says how it ended. A process whose first thread is gone may have
 * others that still end: only waitpid knows when it is over. */
static bool wait_end(struct child *p, int ms, int *ret_status)
{
    int64_t end = clock_mono_us(&clock_system) + INT64_C(1000) * ms;
    for (;;) {
        if (waitpid(p->pid, ret_status, WNOHANG) == p->pid)
            return true;
        if (clock_mono_us(&clock_system) > end)
            return false;
        poll(NULL, 0, 2);
    }
}

/* Ended by itself with status 0, or by the signal it was asked to end by before it could listen to it. */
static bool stop_child(struct dev *d, struct child *p)
{
    int status = 0;
    kill(p->pid, p->stop_signal);
    bool is_gone = wait_end(p, p->stop_ms, &status);
    if (!is_gone && p->stop_signal == SIGINT) {         /* postgres: at once, its children too */
        kill(p->pid, SIGQUIT);
        is_gone = wait_end(p, QUIT_MS, &status);
    }
    if (!is_gone) {
        kill(p->pid, SIGKILL);
        cli_note(d->c, "falaj dev: %s did not end within %d ms and was killed (log: %s)", p->name, p->stop_ms, p->log_path);
        wait_end(p, QUIT_MS, &status);
        return false;
    }
    if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == p->stop_signal))
        return true;
    cli_note(d->c, "falaj dev: %s %s when it was told to stop:\n%s", p->name, ending(d->arena, status), log_tail(d->arena, p->log_path));
    return false;
}

bool supervise_stop(struct dev *d)
{
    bool is_clean = true;
    for (int i = d->nchildren; i-- > 0;) {
        struct child *p = &d->children[i];
        if (p->pid)
            is_clean = stop_child(d, p) && is_clean;
        p->pid = 0;
    }
    unlink(arena_printf(d->arena, "%s/pids", d->data));
    unlink(arena_printf(d->arena, "%s/dev.json", d->data));
    return is_clean;
}
