/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.c - the child process of a lease: its directory, its files, fork and exec, the first messages, its end.
 *
 * Between fork and exec only calls that are safe in a copy of a threaded process. The child dies with the thread that made it
 * (PR_SET_PDEATHSIG), so with the agent. It inherits descriptor 3, standard error and nothing else; its environment is empty. */
#include "workers/lease/executor_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "workers/lease/child_wire.h"
#include "workers/lease/image_cache.h"
#include "workers/lease/work_dir.h"

enum { PIDS_MAX = 128, GRANT_BYTES = 140 * 1024, REAP_US = 2000000, REAP_STEP_MS = 2 };

/* The account of the lease's child: its own, else nobody. False: it stays the agent's. */
static bool account_of(const struct run *r, uid_t *ret_uid, gid_t *ret_gid)
{
    if (!r->uid)
        return sandbox_nobody(ret_uid, ret_gid);
    *ret_uid = r->uid;
    *ret_gid = r->uid;
    return true;
}

static enum errc make_dir(const char *path, struct err *e)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        FAIL(e, IO, "the work directory cannot be made");
        return err_errno(e, errno);
    }
    return ERR_OK;
}

enum errc run_dir_make(struct run *r, struct err *e)
{
    char hex[UUID_HEX];
    uid_t uid;
    gid_t gid;
    hex_encode(r->g->attempt_id.b, 16, hex);
    int n = snprintf(r->dir, sizeof r->dir, "%s/lease-%s", r->env->work_dir, hex);
    if (n >= (int)sizeof r->dir)
        return FAIL(e, INVALID, "worker.work_dir is too long");
    TRY(make_dir(r->dir, e));
    r->dir_lock = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->dir_lock < 0 || flock(r->dir_lock, LOCK_SH) != 0)
        return FAIL(e, IO, "the work directory cannot be held");
    if (account_of(r, &uid, &gid) && !work_dir_give(r->dir, uid, gid))
        return FAIL(e, IO, "the work directory cannot be given away");
    return ERR_OK;
}

void run_dir_leave(const struct run *r)
{
    if (r->dir[0])
        work_dir_remove(r->dir);
}

enum errc run_file(const struct run *r, int *ret, struct err *e)
{
    char path[512];
    snprintf(path, sizeof path, "%s/object-XXXXXX", r->env->work_dir);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        FAIL(e, IO, "the work directory cannot be written");
        return err_errno(e, errno);
    }
    unlink(path);
    *ret = fd;
    return ERR_OK;
}

/* In the child of fork. Does not return. */
static _Noreturn void become(const struct run *r, const char *program, enum isolation_net net, int sock, pid_t agent)
{
    static char name[] = "falaj-worker", flag[] = "--run-lease";
    char visible[CARDS_VISIBLE_MAX];
    char *argv[] = { name, flag, NULL }, *envp[] = { NULL, NULL };
    if (r->g->gpus > 0)                 /* as CUDA's programs take them: it shows a process no others */
        envp[0] = cards_visible(r->env->cards, (uint64_t)r->g->devices, visible);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != agent || !cage_join(r->cage) || !isolation_enter_net(net))
        _exit(126);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    if (sock == FRAME_FD)
        fcntl(sock, F_SETFD, 0);
    else
        dup2(sock, FRAME_FD);
    syscall(SYS_close_range, FRAME_FD + 1, ~0U, 0);
    signal(SIGTERM, SIG_DFL);
    execve(program, argv, envp);
    _exit(127);
}

enum errc run_spawn(struct run *r, struct err *e)
{
    char name[80], hex[UUID_HEX];
    hex_encode(r->g->attempt_id.b, 16, hex);
    snprintf(name, sizeof name, "%d-%s", (int)getpid(), hex);
    const struct work_type *type = work_type_of(r->g->kind);
    const int64_t slots = r->g->slots > 0 ? r->g->slots : 1;
    r->memory_bytes = r->g->memory_bytes > 0 ? r->g->memory_bytes : r->env->config->worker_slot_memory * slots;
    const struct cage_limits limits = { r->memory_bytes, type->pids ? type->pids : PIDS_MAX,
                                        r->g->cpu_milli > 0 ? r->g->cpu_milli : slots * 1000 };
    TRY(cage_new(name, &limits, &r->cage, e));
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return FAIL(e, IO, "no socket for the child");
    int room = FRAME_MAX * 2;
    for (int i = 0; i < 2; i++)
        setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    /* Who opens a box enters a network of its own there: in a user namespace without a map it could make no other. */
    enum isolation_net net = r->env->isolation && !type->starts_programs ? isolation_net(r->env->isolation) : ISOLATION_NET_NONE;
    pid_t agent = getpid(), pid = fork();
    if (pid == 0)
        become(r, r->env->program ? r->env->program : "/proc/self/exe", net, pair[1], agent);
    close(pair[1]);
    r->socket = pair[0];
    r->pid = pid;
    if (pid < 0) {
        FAIL(e, IO, "no process for the lease");
        return err_errno(e, errno);
    }
    return ERR_OK;
}

static struct str real_path(const struct run *r, const char *path)
{
    char *real = path[0] ? realpath(path, NULL) : NULL;
    struct str ret = str_dup(r->arena, str_c(real ? real : path));
    free(real);
    return ret;
}

static enum errc read_ca(const struct run *r, struct str *ret, struct err *e)
{
    const char *path = r->env->config->worker_ca;
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = arena_alloc(r->arena, CHILD_CA_MAX + 1);
    ssize_t n = fd >= 0 ? read(fd, text, CHILD_CA_MAX + 1) : -1;
    if (n <= 0 || n > CHILD_CA_MAX)
        return FAIL(e, IO, "worker.ca must be a file of 1 to %d bytes", CHILD_CA_MAX);
    *ret = str_n(text, (size_t)n);
    return ERR_OK;
}

static enum errc grant_of(const struct run *r, struct child_grant *ret, struct err *e)
{
    const struct config *cfg = r->env->config;
    uid_t uid = 0;
    gid_t gid = 0;
    struct child_grant g = {
        .lease = *r->g, .work_dir = real_path(r, r->dir), .backend = str_c(cfg->worker_backend),
        .cublaslt = str_c(cfg->worker_cublaslt), .onnxruntime = str_c(cfg->worker_onnxruntime),
        .memory_bytes = r->memory_bytes, .data_limit = cage_kind(r->cage) == CAGE_RLIMITS ? r->memory_bytes : 0,
        .keeps_checkpoints = r->keeper != NULL, .has_door = r->door_end >= 0, .checkpoint_gap_ms = cfg->worker_checkpoint_gap_ms,
        .parent = (int64_t)getpid(), .runs_host = cfg->worker_programs == PROGRAMS_HOST,
        .gpu_nodes = (int64_t)cards_minors(r->env->cards, (uint64_t)r->g->devices),
        .needs_groups = cfg->run_profile == PROFILE_PROD, .grace_ms = cfg->worker_grace_ms,
        .image_is_flat = r->image_is_flat, .image_most = r->image_is_flat ? 0 : image_cache_most(r->env->images, r->g),
        .tun_device = str_c(cfg->worker_tun_device),
    };
    if (account_of(r, &uid, &gid)) {
        g.uid = uid;
        g.gid = gid;
    }
    if (job_listens(r->g->kind))
        TRY(read_ca(r, &g.ca_pem, e));
    if (!g.lease.zone.len)
        g.lease.zone = str_c(cfg->worker_zone);
    *ret = g;
    return ERR_OK;
}

/* A program's: the agent keeps its end with what it holds. */
static enum errc open_door(struct run *r, struct err *e)
{
    int pair[2];
    if (!work_type_of(r->g->kind)->starts_programs)
        return ERR_OK;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return FAIL(e, IO, "no socket for who wants to look inside");
    r->door_end = pair[1];
    held_set_door(r->held, pair[0]);
    return ERR_OK;
}

/* The output, the inputs, a listener, the keeper and the door. */
_Static_assert(1 + INPUTS_MAX + 3 <= FRAME_FDS_MAX, "a grant's descriptors go in one message");

enum errc run_send_grant(struct run *r, const struct release_key *keys, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(GRANT_BYTES);
    struct child_grant g;
    TRY(open_door(r, e));
    TRY(grant_of(r, &g, e));
    json_encode(&child_grant_schema, &g, &b);
    if (b.overflow)
        return FAIL(e, LIMIT, "the job's spec is too long");
    int fds[FRAME_FDS_MAX];
    size_t n = 0;
    fds[n++] = r->output;
    for (size_t i = 0; i < lease_grant_files(r->g); i++)
        fds[n++] = r->inputs[i];
    if (r->listener >= 0)
        fds[n++] = r->listener;
    if (r->keeper_end >= 0)
        fds[n++] = r->keeper_end;
    if (r->door_end >= 0)
        fds[n++] = r->door_end;
    TRY(frame_send(r->socket, FRAME_GRANT, STR_NULL, buf_str(&b), fds, n, true, e));
    fd_closep(&r->keeper_end);
    fd_closep(&r->door_end);
    fd_closep(&r->listener);            /* the child's alone: with it the port ends */
    for (size_t i = 0; i < INPUTS_MAX; i++)         /* and so is what it reads: an image is in memory for as long as one has it */
        fd_closep(&r->inputs[i]);
    return frame_send(r->socket, FRAME_KEYS, STR_NULL, str_n((const char *)keys, r->g->inputs.n * sizeof *keys), NULL, 0, true, e);
}

void run_kill(struct run *r)
{
    r->was_killed = true;
    cage_kill(r->cage, r->pid);
}

void run_reap(struct run *r)
{
    if (r->pid <= 0)
        return;
    struct rusage u;
    int64_t until_us = clock_mono_us(&clock_system) + REAP_US;
    for (pid_t got = 0; (got = wait4(r->pid, &r->status, until_us ? WNOHANG : 0, &u)) == 0 || (got < 0 && errno == EINTR);) {
        if (got == 0)
            poll(NULL, 0, REAP_STEP_MS);
        if (until_us && clock_mono_us(&clock_system) >= until_us) {
            run_kill(r);                /* it closed its end and lives on: nobody else would ever end its lease */
            until_us = 0;
        }
    }
    r->peak_bytes = u.ru_maxrss * 1024;
    r->cpu_us = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * INT64_C(1000000) + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
    cage_kill(r->cage, r->pid);
    r->pid = 0;
}
