/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - one falaj dev per data folder, and what an earlier one left behind.
 *
 * DATA/lock is locked with flock as long as falaj dev runs, so the kernel lets it go whatever happens; its text names the owner, pid and start time.
 * DATA/pids names the children the same way: "name pid start". DATA/dev.json is the line of --json-ready, without the token. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/dev/process.h"
#include "core/base/cleanup.h"

enum { LEFTOVER_MS = 3000 };

enum errc state_lock(struct dev *d, struct err *e)
{
    const char *path = arena_printf(d->arena, "%s/lock", d->data);
    d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (d->lock_fd < 0)
        return err_errno((FAIL(e, IO, "%s cannot be opened", path), e), errno);
    if (flock(d->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        close(d->lock_fd);
        d->lock_fd = -1;
        return FAIL(e, CONFLICT, "a falaj dev runs on %s already", d->data);
    }
    char text[64];
    int n = snprintf(text, sizeof(text), "%ld %llu\n", (long)getpid(), (unsigned long long)process_start_ticks(getpid()));
    if (ftruncate(d->lock_fd, 0) < 0 || pwrite(d->lock_fd, text, (size_t)n, 0) != n)
        return err_errno((FAIL(e, IO, "%s cannot be written", path), e), errno);
    return ERR_OK;
}

void state_unlock(struct dev *d)
{
    if (d->lock_fd < 0)
        return;
    if (ftruncate(d->lock_fd, 0) < 0)
        cli_note(d->c, "falaj dev: the lock file could not be emptied");
    close(d->lock_fd);
    d->lock_fd = -1;
}

pid_t state_owner(struct dev *d)
{
    CLEANUP(fd_closep) int fd = open(arena_printf(d->arena, "%s/lock", d->data), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    char text[64] = "";
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    char *end = text;
    long pid = n > 0 ? strtol(text, &end, 10) : 0;
    return process_is((pid_t)pid, strtoull(end, NULL, 10)) ? (pid_t)pid : 0;
}

enum errc state_save_pids(struct dev *d, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    for (int i = 0; i < d->nchildren; i++) {
        const struct child *p = &d->children[i];
        if (p->pid)
            buf_printf(&b, "%s %ld %llu\n", p->name, (long)p->pid, (unsigned long long)p->start_ticks);
    }
    return files_write(d, arena_printf(d->arena, "%s/pids", d->data), buf_str(&b), geteuid(), getegid(), e);
}

/* PostgreSQL refuses to start while the pid in postmaster.pid lives, even when that is another program by now. */
static void clear_postmaster_pid(struct dev *d)
{
    const char *path = arena_printf(d->arena, "%s/cluster/postmaster.pid", d->pg);
    char exe[256] = "";
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[64] = "";
    if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
        return;
    long pid = strtol(text, NULL, 10);
    ssize_t n = pid > 1 ? readlink(arena_printf(d->arena, "/proc/%ld/exe", pid), exe, sizeof(exe) - 1) : -1;
    bool is_postgres = n > 0 && strstr(exe, "/postgres");
    char cwd[4096] = "";
    n = is_postgres ? readlink(arena_printf(d->arena, "/proc/%ld/cwd", pid), cwd, sizeof(cwd) - 1) : -1;
    if (n > 0 && strcmp(cwd, arena_printf(d->arena, "%s/cluster", d->pg)) == 0)
        process_end((pid_t)pid, process_start_ticks((pid_t)pid), SIGINT, LEFTOVER_MS);
    else
        unlink(path);
}

void state_kill_leftovers(struct dev *d)
{
    struct err ignored;
    struct str text, line, name, pid_text, ticks_text;
    if (files_read(d->arena, arena_printf(d->arena, "%s/pids", d->data), &text, &ignored) == ERR_OK) {
        for (bool more = true; more;) {
            more = str_cut(text, '\n', &line, &text);
            int64_t pid, ticks;
            str_cut(line, ' ', &name, &line);
            str_cut(line, ' ', &pid_text, &ticks_text);
            if (str_to_i64(pid_text, 2, INT32_MAX, &pid) && str_to_i64(ticks_text, 1, INT64_MAX, &ticks))
                process_end((pid_t)pid, (uint64_t)ticks, str_eq_c(name, "postgres") ? SIGINT : SIGTERM, LEFTOVER_MS);
        }
    }
    clear_postmaster_pid(d);
}

struct str state_ready_json(struct dev *d, bool with_token)
{
    CLEANUP(buf_releasep) struct buf b = BUF(16384);
    buf_printf(&b, "{\"ready\":true,\"api_url\":\"%s\"", d->api_url);
    if (d->console)
        buf_printf(&b, ",\"console_url\":\"%s/\"", d->api_url);
    if (with_token) {
        buf_add_c(&b, ",\"admin_token\":");
        buf_add_json(&b, str_c(d->admin_token ? d->admin_token : ""));
        buf_add_c(&b, ",\"admin_login\":{\"tenant\":\"platform\",\"name\":\"operator\",\"password\":");
        buf_add_json(&b, str_c(d->admin_password ? d->admin_password : ""));
        buf_add_c(&b, "}");
    }
    buf_add_c(&b, ",\"data_dir\":");
    buf_add_json(&b, str_c(d->data));
    buf_add_c(&b, ",\"pg\":{\"socket_dir\":");
    buf_add_json(&b, str_c(d->run));
    buf_printf(&b, ",\"port\":%d},\"redis_socket\":", DEV_PG_PORT);
    buf_add_json(&b, str_c(arena_printf(d->arena, "%s/redis.sock", d->run)));
    buf_printf(&b, ",\"worker_url\":\"https://127.0.0.1:%lld\",\"zone\":\"%s\",\"pids\":{\"dev\":%ld", (long long)d->worker_port, d->zone, (long)getpid());
    for (int i = 0; i < d->nchildren; i++)
        buf_printf(&b, ",\"%s\":%ld", d->children[i].name, (long)d->children[i].pid);
    buf_add_c(&b, "},\"metrics\":{");
    for (int i = 0, n = 0; i < d->nchildren; i++)
        if (d->ops_port[i] > 0)
            buf_printf(&b, "%s\"%s\":\"http://127.0.0.1:%lld/metrics\"", n++ ? "," : "", d->children[i].name,
                       (long long)d->ops_port[i]);
    buf_add_c(&b, "}}");
    return str_dup(d->arena, buf_str(&b));
}

enum errc state_save_ready(struct dev *d, struct err *e)
{
    return files_write(d, arena_printf(d->arena, "%s/dev.json", d->data), state_ready_json(d, false), geteuid(), getegid(), e);
}
