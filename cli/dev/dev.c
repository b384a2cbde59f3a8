/* SPDX-License-Identifier: Apache-2.0 */
/* dev.c - `falaj dev`, `falaj dev status|stop|remove`.
 *
 * The order of a start: folders, lock, leftovers of an earlier start, secrets, certificates, settings; then Redis and falaj-keyd beside
 * initdb; PostgreSQL, roles, migrations, the administrator's token; falaj-api, falaj-scheduler, falaj-worker. It is ready when
 * falaj-api says so and the worker's process is up (it waits for its zone by itself). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "cli/dev/process.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"

enum { STOP_WAIT_MS = 120000 };

static enum errc start_servers(struct dev *d, struct err *e)
{
    TRY(redis_prepare(d, e));
    daemons_describe(d);
    TRY(supervise_start(d, DEV_REDIS, e));
    for (int i = 0; i < d->nzones; i++) {
        TRY(hsm_prepare(d, i, e));
        TRY(supervise_start(d, DEV_KEYD_OF(i), e));
    }
    TRY(postgres_prepare(d, e));
    TRY(supervise_start(d, DEV_POSTGRES, e));
    TRY(certs_make(d, e));
    TRY(config_files_write(d, e));
    TRY(postgres_wait(d, e));
    TRY(postgres_setup(d, e));
    TRY(daemons_migrate(d, e));
    TRY(postgres_guard(d, e));
    TRY(redis_wait(d, e));
    TRY(supervise_start(d, DEV_SCHEDULER, e));
    TRY(daemons_admin_token(d, e));
    TRY(supervise_start(d, DEV_API, e));
    for (int i = 0; i < d->nzones; i++)
        TRY(supervise_start(d, DEV_WORKER_OF(i), e));
    TRY(daemons_wait_api(d, e));
    return supervise_pause(d, 0, e);
}

static enum errc start(struct dev *d, struct err *e)
{
    TRY(files_make(d, e));
    TRY(files_console(d, e));
    TRY(state_lock(d, e));
    state_kill_leftovers(d);
    TRY(sweep_claim(d, e));
    sweep_dead(d);
    TRY(ports_choose(d, e));
    TRY(supervise_init(d, e));
    TRY(start_servers(d, e));
    return state_save_ready(d, e);
}

/* So that the next `falaj …` in this account just works. */
static void save_profile(struct dev *d)
{
    struct err e = { 0 };
    struct profile_file *f = ARENA_NEW(d->arena, struct profile_file);
    if (d->is_ephemeral || profile_file_load(d->arena, f, &e) != ERR_OK)
        return;
    bool is_same = profile_find(f, "dev") && strcmp(profile_find(f, "dev")->url, d->api_url) == 0;
    if (profile_put(f, "dev", d->api_url, d->admin_token, &e) != ERR_OK)
        return;
    if (!f->current)
        f->current = "dev";
    if (profile_file_save(d->arena, f, &e) != ERR_OK)
        cli_note(d->c, "falaj dev: the profile 'dev' was not written: %s", e.msg);
    else if (!is_same)
        cli_note(d->c, "The profile 'dev' is in %s.", f->path);
}

void dev_say_path(FILE *out)
{
    char own[4096], found[4200];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (n <= 0)
        return;
    own[n] = '\0';
    struct str rest = str_c(getenv("PATH")), one;
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, ':', &one, &rest);
        snprintf(found, sizeof(found), "%.*s/falaj", STR_ARG(one));
        char *real = realpath(found, NULL);
        bool is_own = real && strcmp(real, own) == 0;
        free(real);
        if (is_own)
            return;
    }
    *strrchr(own, '/') = '\0';
    fprintf(out, "  export PATH=\"%s:$PATH\"\n", own);
}

static void tell_ready(struct dev *d, int64_t started_us, int ready_fd)
{
    struct cli *c = d->c;
    if (cli_has(c, "json-ready")) {
        struct str line = state_ready_json(d, true);
        fprintf(c->out, "%.*s\n", STR_ARG(line));
    } else {
        const char *data = cli_flag(c, "data") ? arena_printf(d->arena, " --data %s", d->data) : "";
        fprintf(c->out, "Falaj is ready after %.1f s.\n  API     %s\n  data    %s (logs in %s)\n  token   %s/admin-token (the platform's administrator)\n"
                "  login   %s/admin-login (its tenant, name and password on a browser)\n",
                (double)(clock_mono_us(&clock_system) - started_us) / 1e6, d->api_url, d->data, d->logs, d->secrets, d->secrets);
        for (int i = 0; i < d->nchildren; i++)
            if (d->ops_port[i] > 0)
                fprintf(c->out, "  metrics http://127.0.0.1:%lld/metrics (%s)\n", (long long)d->ops_port[i], d->children[i].name);
        if (d->console)
            fprintf(c->out, "Console %s/ login platform / operator / %s\n", d->api_url, *d->admin_password ? d->admin_password : "(as you changed it)");
        fprintf(c->out, "  stop    falaj dev stop%s\n  remove  falaj dev remove%s\n", data, data);
    }
    fflush(c->out);
    if (ready_fd < 0)
        return;
    CLEANUP(fd_closep) int log = open(arena_printf(d->arena, "%s/dev.log", d->logs), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    CLEANUP(fd_closep) int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(log, 2) < 0 || write(ready_fd, "R", 1) != 1)
        d->is_stopping = true;
    close(ready_fd);
}

static int start_failed(struct dev *d, struct err *e)
{
    const char *todo = e->code == ERR_CONFLICT ? "'falaj dev status' shows it, 'falaj dev stop' ends it; --port 0 takes any free port"
                                               : arena_printf(d->arena, "the logs are in %s; 'falaj doctor' looks closer", d->logs);
    return cli_fail_err(d->c, e, todo);
}

/* ready_fd: where a detached start tells that it is up; -1 in the foreground. */
static int run(struct dev *d, int ready_fd)
{
    struct err e = { 0 };
    int64_t started_us = clock_mono_us(&clock_system);
    int rc = CLI_OK;
    if (start(d, &e) == ERR_OK) {
        save_profile(d);
        tell_ready(d, started_us, ready_fd);
        supervise_run(d);
    } else {
        rc = d->is_stopping ? CLI_INTERRUPTED : start_failed(d, &e);
    }
    if (d->lock_fd < 0)
        return rc;
    if (!supervise_stop(d) && rc == CLI_OK)
        rc = CLI_FAILED;
    if (d->is_ephemeral && files_remove_data(d, &e) != ERR_OK)
        cli_note(d->c, "falaj dev: %s", e.msg);
    files_remove_tree(d->run);
    state_unlock(d);
    return rc;
}

static int run_detached(struct dev *d)
{
    int ends[2], status = 0;
    char ready = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return cli_fail(d->c, CLI_FAILED, NULL, "a pipe cannot be made: %s", strerror(errno));
    fflush(d->c->out);
    pid_t pid = fork();
    if (pid < 0)
        return cli_fail(d->c, CLI_FAILED, NULL, "no process can be started: %s", strerror(errno));
    if (pid == 0) {
        close(ends[0]);
        setsid();
        return run(d, ends[1]);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], &ready, 1);
    close(ends[0]);
    if (n == 1)
        return CLI_OK;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : CLI_FAILED;
}

static int read_zones(struct dev *d, const char *list)
{
    struct str rest = str_c(list), one;
    d->nzones = 0;
    for (bool more = true; more;) {
        more = str_cut(rest, ',', &one, &rest);
        const char *code = arena_strndup(d->arena, one.ptr, one.len);
        if (one.len < 2 || one.len > 31 || strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789-") != one.len)
            return cli_fail(d->c, CLI_USAGE, "for example ae-dxb-1, or ae-dxb-1,ae-auh-1", "'%.40s' is no code of a zone", code);
        if (d->nzones == DEV_ZONES)
            return cli_fail(d->c, CLI_USAGE, NULL, "at most %d zones fit on one machine", DEV_ZONES);
        for (int i = 0; i < d->nzones; i++)
            if (!strcmp(d->zones[i], code))
                return cli_fail(d->c, CLI_USAGE, NULL, "zone %s is named twice", code);
        d->zones[d->nzones++] = code;
    }
    d->zone = d->zones[0];
    return CLI_OK;
}

static int dev_start(struct dev *d)
{
    struct cli *c = d->c;
    int rc = cli_flag_i64(c, "port", 0, 65535, &d->port);
    if (rc == CLI_OK)
        rc = cli_flag_i64(c, "slots", 1, 4096, &d->slots);
    if (rc != CLI_OK)
        return rc;
    d->is_port_fixed = cli_has(c, "port");
    rc = read_zones(d, cli_flag(c, "zone") ? cli_flag(c, "zone") : "ae-dxb-1");
    if (rc != CLI_OK)
        return rc;
    return cli_has(c, "detach") ? run_detached(d) : run(d, -1);
}

static int dev_status(struct dev *d)
{
    struct err e = { 0 };
    struct str text;
    const struct jval *v;
    if (!state_owner(d))
        return cli_fail(d->c, CLI_NOT_FOUND, "start it with 'falaj dev'", "no falaj dev runs on %s", d->data);
    if (files_read(d->arena, arena_printf(d->arena, "%s/dev.json", d->data), &text, &e) != ERR_OK)
        return cli_fail(d->c, CLI_NETWORK, "wait a moment", "falaj dev on %s is not ready yet, or is stopping", d->data);
    if (jval_parse(d->arena, text, 0, &v, &e) != ERR_OK)
        return cli_fail_err(d->c, &e, NULL);
    output_object(d->c, v, text, "data_dir:DATA");
    return CLI_OK;
}

static int dev_stop(struct dev *d, bool must_run)
{
    pid_t pid = state_owner(d);
    if (!pid && must_run)
        cli_note(d->c, "No falaj dev runs on %s.", d->data);
    if (!pid)
        return CLI_OK;
    uint64_t ticks = process_start_ticks(pid);
    kill(pid, SIGTERM);
    for (int ms = 0; process_is(pid, ticks) && state_owner(d); ms += 10) {
        if (ms > STOP_WAIT_MS)
            return cli_fail(d->c, CLI_TIMEOUT, arena_printf(d->arena, "kill -9 %ld ends it; the next start cleans up", (long)pid), "falaj dev (pid %ld) does not stop", (long)pid);
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    cli_note(d->c, "Stopped.");
    return CLI_OK;
}

static int dev_remove(struct dev *d)
{
    struct err e = { 0 };
    if (access(d->data, F_OK) < 0)
        return cli_fail(d->c, CLI_NOT_FOUND, NULL, "%s does not exist", d->data);
    if (!cli_confirm(d->c, arena_printf(d->arena, "Remove %s and everything in it?", d->data)))
        return CLI_USAGE;
    int rc = dev_stop(d, false);
    if (rc != CLI_OK)
        return rc;
    if (files_remove_data(d, &e) != ERR_OK)
        return cli_fail_err(d->c, &e, NULL);
    struct profile_file *f = ARENA_NEW(d->arena, struct profile_file);
    if (profile_file_load(d->arena, f, &e) == ERR_OK && profile_find(f, "dev")) {
        profile_drop(f, "dev");
        if (profile_file_save(d->arena, f, &e) != ERR_OK)
            cli_note(d->c, "falaj dev: %s", e.msg);
    }
    cli_note(d->c, "%s is removed.", d->data);
    return CLI_OK;
}

int cmd_dev(struct cli *c)
{
    struct dev *d = ARENA_NEW(c->arena, struct dev);
    struct err e = { 0 };
    d->c = c;
    d->arena = c->arena;
    d->lock_fd = d->signal_fd = -1;
    d->is_ephemeral = cli_has(c, "ephemeral");
    if (dev_paths(d, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (!c->cmd->group)
        return dev_start(d);
    if (strcmp(c->cmd->name, "stop") == 0)
        return dev_stop(d, true);
    return strcmp(c->cmd->name, "remove") == 0 ? dev_remove(d) : dev_status(d);
}
