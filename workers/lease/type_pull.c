/* SPDX-License-Identifier: Apache-2.0 */
/* type_pull.c - an image from a registry as an environment: brought into the box's scratch over connections that the agent made,
 * checked there as an archive that was sent, and given away as the job's output. Nothing of it runs.
 *
 * The child has no network. What it may reach, the agent compares with the grant itself (pull_dial): a child that was taken over
 * by what it parses asks for the same few hosts, of the same addresses, and turns no socket elsewhere (sandbox_keep_peers). */
#include "workers/lease/type_inspect.h"

#include <fcntl.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/table/config.h"
#include "core/wire/image_ref.h"
#include "core/wire/type_pull.h"
#include "workers/image/pull.h"
#include "workers/lease/box.h"
#include "workers/lease/dial.h"
#include "workers/lease/run_lines.h"
#include "workers/lease/run_secrets.h"
#include "workers/lease/sandbox.h"
#include "workers/lease/work_type.h"

enum { TELL_US = 1000000, FIGURES_MAX = 256 };

struct progress { int64_t pulled_bytes, of_bytes; };
SCHEMA_OF(progress, "How far a pull is", FIELD(progress, pulled_bytes, F_ALWAYS), FIELD(progress, of_bytes, F_ALWAYS));

struct pulling { struct child *c; char *room; int64_t told_us, step; };

/* HOST:PORT of the row, whatever the child says. In the agent. */
static enum errc pull_dial(const struct lease_grant *g, const struct config *cfg, struct arena *a, struct str place, int *ret,
                           struct err *e)
{
    struct pull_job job = { 0 };
    struct str host;
    int port;
    if (!cfg->worker_pulls)
        return FAIL(e, UNPROCESSABLE, "this machine pulls no images: its operator has not set worker.pulls; name a pool whose "
                    "machines do");
    TRY(json_decode(&pull_job_schema, g->spec.text, a, &job, e));
    bool is_named = image_host_eq(place, job.registry);
    for (size_t i = 0; i < job.hosts.n; i++)
        is_named |= image_host_eq(place, ((const struct str *)job.hosts.items)[i]);
    if (!job.is_allowed || !is_named || !image_host_parse(place, &host, &port))
        return FAIL(e, FORBIDDEN, "the zone's row of the registry does not name this host");
    return dial(str_z(a, host), port, (enum pull_reach)job.reach, ret, e);
}

/* In the child: asks the agent, which answers this and nothing else meanwhile. */
static int ask_agent(void *ctx, struct str place, struct err *e)
{
    struct pulling *p = ctx;
    struct frame f = { 0 };
    if (frame_send(FRAME_FD, FRAME_DIAL, STR_NULL, place, NULL, 0, true, e) != ERR_OK ||
        frame_receive(FRAME_FD, p->room, &f, e) != ERR_OK)
        return -1;
    if (f.type == FRAME_DIALLED && f.nfds == 1)
        return f.fds[0];
    frame_close_fds(&f);
    FAIL(e, FORBIDDEN, "%.*s", STR_ARG(f.type == FRAME_FAILED ? f.body : STR("the agent gave no connection")));
    return -1;
}

static bool is_stopped(void *ctx)
{
    return atomic_load(((struct pulling *)ctx)->c->stop);
}

static void tell(void *ctx, uint64_t bytes, uint64_t of)
{
    struct pulling *p = ctx;
    const int64_t now = clock_mono_us(&clock_system);
    const struct progress at = { (int64_t)bytes, (int64_t)of };
    if (now - p->told_us < TELL_US)
        return;
    CLEANUP(buf_releasep) struct buf json = BUF(FIGURES_MAX);
    p->told_us = now;
    json_encode(&progress_schema, &at, &json);
    child_metric(p->c, p->step++, buf_str(&json));
}

static enum errc bring(struct child *c, const struct pull_job *job, int root, struct str credentials, int *ret, struct err *e)
{
    struct pulling p = { .c = c, .room = arena_alloc(c->arena, FRAME_MAX) };
    const int64_t half = c->grant.memory_bytes / 2;
    const struct image_pull order = {
        .place = { .host = job->registry, .hosts = job->hosts.items, .nhosts = job->hosts.n, .ca_pem = job->ca_pem,
                   .repository = job->repository, .credentials = credentials, .silent_s = job->silent_s, .dial = ask_agent,
                   .is_stopped = is_stopped, .ctx = &p },
        .digest = job->digest, .most = (uint64_t)(job->max_bytes < half ? job->max_bytes : half), .tell = tell, .ctx = &p };
    struct str digest;
    *ret = openat(root, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*ret < 0)
        return FAIL(e, IO, "there is no file for the image's archive");
    run_note(c, "info: pulling %.*s/%.*s@%.*s", STR_ARG(job->registry), STR_ARG(job->repository), STR_ARG(job->digest));
    return image_pull(&order, *ret, c->arena, &digest, e);
}

static enum errc pull(struct child *c, const struct pull_job *job, int root, struct inspect_figures *figures, struct err *e)
{
    CLEANUP(fd_closep) int archive = -1;
    struct str credentials = STR("");
    if (job->secrets.n)
        TRY(run_secret_value(c, PULL_CREDENTIALS, &credentials, e));
    enum errc rc = bring(c, job, root, credentials, &archive, e);
    if (credentials.len)
        secret_wipe((char *)(uintptr_t)credentials.ptr, credentials.len);
    TRY(rc);
    TRY(inspect_archive(c, root, archive, STR(""), job->allow_setuid, figures, e));
    if (lseek(archive, 0, SEEK_SET) != 0)
        return FAIL(e, IO, "the image's archive cannot be read");
    return child_give_file(c, STR(PULL_OUTPUT), archive, e);
}

static enum errc run(struct child *c, struct err *e)
{
    const struct child_grant *g = &c->grant;
    const struct sandbox s = { .memory_bytes = g->data_limit, .files = INSPECT_FILES, .uid = g->uid, .gid = g->gid,
        .parent = (int)g->parent };
    const int64_t began = clock_mono_us(&clock_system);
    struct pull_job job = { 0 };
    struct inspect_figures figures;
    struct box box;
    TRY(json_decode(&pull_job_schema, g->lease.spec.text, c->arena, &job, e));
    if (!job.is_allowed)
        return FAIL(e, FORBIDDEN, "zone %.*s lets no images come from %.*s any more", STR_ARG(g->lease.zone),
                    STR_ARG(job.registry));
    TRY(box_open(&s, g->memory_bytes / 2, INSPECT_IMAGE_FILES + INSPECT_EXTRA_FILES, NULL, &box, e));
    enum errc rc = sandbox_keep_peers(e);
    if (rc == ERR_OK)
        rc = pull(c, &job, box.root, &figures, e);
    box_close(&box);
    TRY(rc);
    return inspect_tell(&figures, began, e);
}

const struct work_type work_type_pull = { .run = run, .starts_programs = true, .gives_datasets = true, .dial = pull_dial };
