/* SPDX-License-Identifier: Apache-2.0 */
/* type_run.c - a program of a tenant's: inputs into its box, its words into the log, its files out of it
 * (docs/howto/run-a-program.md).
 *
 * This process watches from outside (box.h) and never runs a byte of the tenant's. How it ends: status 0 is success with the
 * outputs
 * that the spec names, RUN_AGAIN asks to be queued again, all else has failed, with the last line of standard error as the
 * reason. */
#include "workers/lease/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "core/wire/job_result.h"
#include "core/wire/type_run.h"
#include "workers/lease/folder.h"
#include "workers/lease/rank_bytes.h"
#include "workers/lease/run_door.h"
#include "workers/lease/run_image.h"
#include "workers/lease/run_keep.h"
#include "workers/lease/run_launch.h"
#include "workers/lease/run_lines.h"
#include "workers/lease/run_secrets.h"
#include "workers/lease/run_world.h"
#include "workers/lease/work_type.h"
#include "workers/rank/rank.h"

enum { RUN_FILES = 4096, RUN_PIDS = 1024, LOOK_MS = 500, STATUS_BYTES = 4096,
    ENV_ROOM = RUN_ENV_MAX + RUN_SECRETS_MAX + OCI_ENV_MAX + RUN_LAUNCH_MAX + 32,
    GRACE_SHARE = 4,
    SIGNALLED = 128,
       FIGURES_MAX = 1024, SCRATCH_FILES = 100000, IMAGE_FILES = 500000 };

struct running {
    struct child *c;
    struct run_job job;
    struct box box;
    struct oci_image image;
    struct run_launch launch;
    struct run_secrets secrets;
    struct run_lines lines;
    struct run_keep *keep;
    struct run_world world;
    struct run_door door;
    int64_t began_us, kill_at_us;       /* kill_at_us 0: it was not told to stop */
    char status[STATUS_BYTES];          /* what bwrap says of it */
    size_t nstatus;
};

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

/* Below `at`, made anew. Inputs can be run: what is in a box may run whatever it could write. */
static enum errc make_file(int at, const char *name, int *ret, struct err *e)
{
    *ret = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0555);
    return *ret >= 0 ? ERR_OK : FAIL(e, IO, "the file %s cannot be made: %s", name, strerror(errno));
}

static enum errc put_inputs(struct running *r, struct err *e)
{
    CLEANUP(fd_closep) int dir = openat(r->box.root, BOX_IN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < lease_grant_files(&r->c->grant.lease); i++) {
        CLEANUP(fd_closep) int to = -1;
        struct str name = r->c->inputs[i].about.name;
        if (run_secret_is(&r->c->inputs[i].about) || run_image_is(&r->c->inputs[i].about))
            continue;
        TRY(make_file(dir, str_z(r->c->arena, name), &to, e));
        TRY(child_open_input_to(r->c, i, to, e));
        run_note(r->c, "info: input %.*s: %ld bytes", STR_ARG(name), (long)r->c->inputs[i].about.size_bytes);
    }
    return ERR_OK;
}

static enum errc put_text(int dir, const char *name, struct str text, struct err *e)
{
    CLEANUP(fd_closep) int to = -1;
    TRY(make_file(dir, name, &to, e));
    return write(to, text.ptr, text.len) == (ssize_t)text.len ? ERR_OK : FAIL(e, IO, "the file %s cannot be written", name);
}

/* What lies in /falaj/code: the job's script, and what its launcher reads. */
static enum errc put_code(struct running *r, struct err *e)
{
    CLEANUP(fd_closep) int dir = openat(r->box.root, BOX_CODE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    r->launch = run_launch_of((enum run_launcher)r->job.launcher, &r->c->grant.lease, r->c->arena);
    if (r->launch.hostfile)
        TRY(put_text(dir, RUN_HOSTFILE, str_c(r->launch.hostfile), e));
    if (r->launch.has_rank)
        TRY(put_text(dir, RUN_RANK, rank_bytes(), e));
    return r->job.script.len ? put_text(dir, "script", r->job.script, e) : ERR_OK;
}

struct env {
    struct arena *a;
    struct str items[ENV_ROOM];
    size_t n;
};

static void set(struct env *v, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void set(struct env *v, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    v->items[v->n++] = str_dup(v->a, str_c(text));
}

static void set_devices(struct env *v, const struct lease_grant *g)
{
    char list[256] = "";
    size_t n = 0;
    int count = __builtin_popcountll((uint64_t)g->devices);
    for (int i = 0; i < count && n < sizeof list - 8; i++)      /* its own are all that there are: they count from 0 */
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%d", i ? "," : "", i);
    if (count)
        set(v, "CUDA_VISIBLE_DEVICES=%s", list);
}

/* What a program may count on; the tenant's own come behind and win, but for FALAJ_… */
static void fill_env(struct env *v, const struct running *r, int64_t grace_ms)
{
    const struct lease_grant *g = &r->c->grant.lease;
    const struct str *own = r->job.env.items;
    char job[UUID_HEX];
    int64_t cpus = ((g->cpu_milli > 0 ? g->cpu_milli : g->slots * 1000) + 999) / 1000;
    hex_encode(g->job_id.b, sizeof g->job_id.b, job);
    set(v, "PATH=/usr/local/bin:/usr/bin:/usr/sbin");
    set(v, "HOME=/falaj/scratch");
    set(v, "TMPDIR=/tmp");
    set(v, "USER=falaj");
    set(v, "LANG=C.UTF-8");
    set(v, "PYTHONUNBUFFERED=1");
    set(v, "OMP_NUM_THREADS=%ld", (long)(cpus > 0 ? cpus : 1));
    set_devices(v, g);
    for (size_t i = 0; i < r->image.env.n; i++)
        v->items[v->n++] = ((const struct str *)r->image.env.items)[i];
    for (size_t i = 0; i < r->launch.nenv; i++)
        v->items[v->n++] = r->launch.env[i];
    for (size_t i = 0; i < r->job.env.n; i++)
        v->items[v->n++] = own[i];
    for (size_t i = 0; i < r->secrets.nenv; i++)
        v->items[v->n++] = r->secrets.env[i];
    set(v, "FALAJ_JOB_ID=job_%s", job);
    set(v, "FALAJ_ATTEMPT=%ld", (long)g->fence);
    set(v, "FALAJ_GRACE_SECONDS=%ld", (long)(grace_ms / 1000));
    set(v, "FALAJ_METRICS_FD=%d", BOX_METRICS_FD);
    if (g->max_runtime_s > 0)
        set(v, "FALAJ_DEADLINE=%ld", (long)(clock_wall_us(&clock_system) / 1000000 + g->max_runtime_s));
}

/* Of the time to stop a part is the watcher's, for the last checkpoint. */
static int64_t grace_ms_of(const struct running *r)
{
    int64_t most = r->c->grant.grace_ms - r->c->grant.grace_ms / GRACE_SHARE, asked = r->job.grace_seconds * 1000;
    return asked && asked < most ? asked : most;
}

static enum errc start(struct running *r, struct err *e)
{
    struct env *v = ARENA_NEW(r->c->arena, struct env);
    v->a = r->c->arena;
    fill_env(v, r, grace_ms_of(r));
    static const struct str serve[] = { STR("/falaj/code/" RUN_RANK), STR(RANK_SERVE) };
    const bool serves = r->launch.serves;
    const struct box_program p = { .command = serves ? serve : r->job.command.items,
                                   .ncommand = serves ? sizeof serve / sizeof *serve : r->job.command.n,
                                   .env = v->items, .nenv = v->n,
                                   .workdir = r->job.workdir, .has_image = r->image.layers > 0,
                                   .devices = (uint64_t)r->c->grant.gpu_nodes, .takes_input = r->job.takes_stdin && !serves };
    r->began_us = now_us();
    TRY(box_start(&r->box, r->c->arena, &p, e));
    run_door_open(&r->door, r->c, &r->box, &p);
    return ERR_OK;
}

static void read_status(struct running *r)
{
    ssize_t n = read(r->box.pipes[BOX_STATUS], r->status + r->nstatus, sizeof r->status - r->nstatus);
    if (n > 0)
        r->nstatus += (size_t)n;
    else
        fd_closep(&r->box.pipes[BOX_STATUS]);
}

static void read_pipes(struct running *r, int wait_ms)
{
    struct pollfd p[BOX_PIPES + RUN_DOOR_POLLS];
    for (int i = 0; i < BOX_PIPES; i++)
        p[i] = (struct pollfd){ .fd = r->box.pipes[i], .events = POLLIN };
    run_door_polls(&r->door, p + BOX_PIPES);
    const int ready = poll(p, BOX_PIPES + RUN_DOOR_POLLS, wait_ms);
    run_door_look(&r->door, ready > 0 ? p + BOX_PIPES : NULL);
    if (ready <= 0)
        return;
    for (int i = 0; i < BOX_PIPES; i++) {
        if (!(p[i].revents & (POLLIN | POLLHUP | POLLERR)))
            continue;
        if (i == BOX_STATUS)
            read_status(r);
        else if (!run_lines_read(&r->lines, (enum box_pipe)i, r->box.pipes[i]))
            fd_closep(&r->box.pipes[i]);
    }
}

static bool has_pipes(const struct running *r)
{
    for (int i = 0; i < BOX_PIPES; i++)
        if (r->box.pipes[i] >= 0)
            return true;
    return false;
}

static void tell_to_end(struct running *r)
{
    box_signal(&r->box, SIGTERM);
    r->kill_at_us = now_us() + grace_ms_of(r) * 1000;
}

static void look_at_clock(struct running *r)
{
    const char *why = r->kill_at_us && r->world.has_said_stop ? NULL : run_world_stops(&r->world);
    if (why && !r->kill_at_us) {
        run_note(r->c, "info: %s: SIGTERM now, SIGKILL in %ld s", why, (long)(grace_ms_of(r) / 1000));
        tell_to_end(r);
    } else if (!r->kill_at_us && r->launch.serves && run_world_leader_done(&r->world)) {
        tell_to_end(r);
    } else if (r->kill_at_us && now_us() >= r->kill_at_us) {
        box_signal(&r->box, SIGKILL);
    }
}

/* Until the program and all that it started have ended, and all that they said is read. */
static void watch(struct running *r)
{
    int64_t look_us = now_us();
    for (bool ended = false; !ended || has_pipes(r); ended = ended || box_ended(&r->box)) {
        read_pipes(r, r->kill_at_us ? LOOK_MS / 10 : LOOK_MS);
        if (ended)
            continue;
        look_at_clock(r);
        if (now_us() - look_us >= LOOK_MS * 1000) {
            run_keep_look(r->keep);
            look_us = now_us();
        }
    }
    run_door_close(&r->door);
    run_lines_end(&r->lines);
}

/* The program's exit status, 128 and the signal that ended it; -1: it never began. */
static int exit_of(struct running *r)
{
    const struct jval *v;
    struct str rest = str_n(r->status, r->nstatus), line;
    int code = -1;
    while (rest.len) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (jval_parse(r->c->arena, line, 2, &v, NULL) == ERR_OK && jval_get(v, "exit-code"))
            code = (int)jval_i64(jval_get(v, "exit-code"), -1);
    }
    return code;
}

static enum errc give_outputs(struct running *r, struct err *e)
{
    CLEANUP(fd_closep) int dir = openat(r->box.root, BOX_OUT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct str *all = r->job.outputs.items;
    for (size_t i = 0; i < r->job.outputs.n; i++) {
        struct str name, path;
        int64_t size;
        CLEANUP(fd_closep) int fd = -1;
        if (!run_output(all[i], &name, &path))
            return FAIL(e, INVALID, "the output %.*s has no such name", STR_ARG(all[i]));
        if (folder_open(dir, path, &fd, &size, e) != ERR_OK)
            return FAIL(e, UNPROCESSABLE, "the program ended well without its output %.*s: %s in /falaj/out", STR_ARG(name),
                        str_z(r->c->arena, str_c(e->msg)));
        if (size > LEASE_OUTPUT_MAX)
            return FAIL(e, TOO_LARGE, "the output %.*s has %ld bytes; at most %d are kept", STR_ARG(name), (long)size,
                LEASE_OUTPUT_MAX);
        TRY(child_give_file(r->c, name, fd, e));
        run_note(r->c, "info: output %.*s: %ld bytes", STR_ARG(name), (long)size);
    }
    return ERR_OK;
}

static enum errc say_success(struct running *r, struct err *e)
{
    const struct run_figures f = { .outputs = (int64_t)r->job.outputs.n, .checkpoints = run_keep_count(r->keep),
                                   .seconds = (double)(now_us() - r->began_us) / 1e6 };
    CLEANUP(buf_releasep) struct buf json = BUF(FIGURES_MAX);
    TRY(give_outputs(r, e));
    json_encode(&run_figures_schema, &f, &json);
    return frame_send(FRAME_FD, FRAME_ENDED, STR_NULL, buf_str(&json), NULL, 0, true, e);
}

static enum errc say_failure(struct running *r, int code, struct err *e)
{
    const char *why = r->lines.last_error, *colon = *why ? ": " : "";
    static const char own[] = "bwrap: ";
    if (strncmp(why, own, sizeof own - 1) == 0)
        why += sizeof own - 1;
    r->c->exit_code = code;
    if (code > SIGNALLED && code - SIGNALLED < NSIG)
        return FAIL(e, UNPROCESSABLE, "the program ended with status %d, as by signal %d (%s)%s%s", code, code - SIGNALLED,
                    strsignal(code - SIGNALLED), colon, why);
    return FAIL(e, UNPROCESSABLE, "the program ended with status %d%s%s", code, colon, why);
}

static enum errc conclude(struct running *r, struct err *e)
{
    int code = exit_of(r);
    const enum errc rc = run_world_end(&r->world, code, r->lines.last_error[0] ? r->lines.last_error : "its program failed",
                                       r->kill_at_us, &code, e);
    if (rc != ERR_OK || *r->c->stop)
        run_keep_last(r->keep);
    TRY(rc);
    if (*r->c->stop)
        return FAIL(e, RETRY, "told to stop");
    if (code < 0) {
        r->c->exit_code = 127;
        return FAIL(e, UNPROCESSABLE, "the program could not be started: %s", r->lines.last_error);
    }
    if (code == 0)
        return run_world_gives(&r->world) ? say_success(r, e) : ERR_OK;
    if (code != RUN_AGAIN)
        return say_failure(r, code, e);
    run_keep_last(r->keep);
    TRY(frame_send(FRAME_FD, FRAME_AGAIN, STR_NULL, STR("the program asked to be queued again (exit status 75)"), NULL, 0, true,
        e));
    return FAIL(e, RETRY, "asked to be queued again");
}

static enum errc prepare(struct running *r, struct err *e)
{
    const struct child_grant *g = &r->c->grant;
    const struct sandbox s = { .memory_bytes = g->data_limit, .files = RUN_FILES, .uid = g->uid, .gid = g->gid,
        .parent = (int)g->parent };
    if (!g->runs_host)
        return FAIL(e, UNPROCESSABLE, "this machine runs no programs: its operator has not set worker.programs; name a pool "
            "whose machines do");
    if (g->data_limit && g->needs_groups)
        return FAIL(e, UNPROCESSABLE, "this machine runs no programs: it has no control groups to hold them");
    TRY(json_decode(&run_job_schema, g->lease.spec.text, r->c->arena, &r->job, e));
    struct run_environment env = { 0 };
    const bool has_image = run_environment(r->job.environment, &env) && !env.is_host;
    const struct box_net net = { g->tun_device.ptr, (int)g->lease.rank, (int)g->lease.nodes };
    TRY(box_open(&s, g->memory_bytes / 2, has_image ? IMAGE_FILES + SCRATCH_FILES : SCRATCH_FILES,
                 lease_grant_is_gang(&g->lease) ? &net : NULL, &r->box, e));
    if (g->data_limit)
        run_note(r->c, "warning: there are no control groups here: memory is limited for each process alone");
    TRY(run_image_open(r->c, &r->job, r->box.root, &(struct oci_limits){ (uint64_t)g->memory_bytes / 2, IMAGE_FILES, false },
        &r->image,
        e));
    TRY(put_inputs(r, e));
    TRY(run_secrets_open(r->c, &r->job, r->box.root, &r->secrets, e));
    TRY(run_lines_begin(&r->lines, r->c, r->secrets.mask, e));
    return put_code(r, e);
}

static enum errc run_in(struct running *r, int kept, struct err *e)
{
    TRY(run_keep_new(r->c, kept, &r->keep, e));
    TRY(run_keep_restore(r->keep, e));
    TRY(run_world_join(&r->world, r->c, &r->box, run_keep_step(r->keep), e));
    TRY(start(r, e));
    watch(r);
    return conclude(r, e);
}

static enum errc run(struct child *c, struct err *e)
{
    struct running *r = ARENA_NEW(c->arena, struct running);
    r->c = c;
    r->box.root = -1;
    TRY(prepare(r, e));
    CLEANUP(fd_closep) int kept = openat(r->box.root, BOX_CHECKPOINT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum errc rc = run_in(r, kept, e);
    run_world_close(&r->world);
    run_keep_free(r->keep);
    run_secrets_close(&r->secrets);
    box_close(&r->box);
    return rc;
}

const struct work_type work_type_run = { .run = run, .starts_programs = true, .pids = RUN_PIDS, .keeps_checkpoint = true };
