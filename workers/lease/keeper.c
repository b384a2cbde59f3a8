/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.c - reads what the child asks, one message at a time, until its end is closed. */
#include "workers/lease/keeper.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "workers/lease/deliver.h"

static const size_t ARENA_MAX = (size_t)64 << 20;

struct keeper {
    const struct run *r;
    struct client *client;              /* its thread's; NULL with tests' io */
    struct arena *arena;                /* of one message */
    int socket;
    pthread_t thread;
    _Atomic bool is_forbidden, ends;
    _Atomic size_t kept;
    /* of the thread: a place that was given and not filled yet */
    int fd;
    struct uuid object_id;
    int64_t part_bytes_max;
    char room[FRAME_MAX];
};

static bool is_over(void *ctx)
{
    const struct keeper *k = ctx;
    return k->ends || held_is_stale(k->r->held);
}

/* A tenant without room has none in a second either; the run goes on meanwhile, and its next checkpoint asks again. */
static bool is_worth_it(const struct keeper *k, enum errc rc, int n)
{
    return rc != ERR_QUOTA && !k->ends && run_try_again(k->r, rc, n);
}

static enum errc place_get(struct keeper *k, struct output_place *p, struct err *e)
{
    const struct executor_io *io = k->r->env->io;
    for (int n = 0;; n++) {
        enum errc rc = io ? io->checkpoint(io->ctx, k->arena, k->r->g, p, e)
                          : client_checkpoint(k->client, k->arena, k->r->env->node.node_id, k->r->g, p, e);
        if (rc == ERR_OK || !is_worth_it(k, rc, n))
            return rc;
    }
}

static enum errc on_place(struct keeper *k, struct err *e)
{
    struct output_place p = { 0 };
    fd_closep(&k->fd);
    TRY(place_get(k, &p, e));
    struct frame_output out = { k->r->g->tenant_id, p.object_id, p.dek_id, (uint32_t)p.version, p.key };
    k->object_id = p.object_id;
    k->part_bytes_max = p.part_bytes_max;
    secret_wipe(&p, sizeof p);
    enum errc rc = run_file(k->r, &k->fd, e);
    if (rc == ERR_OK)
        rc = frame_send(k->socket, FRAME_OUTPUT, STR_NULL, str_n((const char *)&out, sizeof out), &k->fd, 1, true, e);
    secret_wipe(&out, sizeof out);
    return rc;
}

static enum errc count_it(struct keeper *k, int64_t step, struct err *e)
{
    const struct executor_io *io = k->r->env->io;
    for (int n = 0;; n++) {
        enum errc rc = io ? io->checkpoint_keep(io->ctx, k->arena, k->r->g, k->object_id, step, e)
                          : client_checkpoint_keep(k->client, k->arena, k->r->g, k->object_id, step, e);
        if (rc == ERR_OK || !is_worth_it(k, rc, n))
            return rc;
    }
}

static enum errc on_done(struct keeper *k, struct str body, struct err *e)
{
    struct frame_ckpt done;
    if (body.len != sizeof done || k->fd < 0)
        return FAIL(e, DAMAGED, "the child said a checkpoint done that it had not begun");
    memcpy(&done, body.ptr, sizeof done);
    if (done.step < 0)
        return FAIL(e, DAMAGED, "a checkpoint is of no step");
    const struct delivery d = { k->client, k->arena, k->fd, k->object_id, k->part_bytes_max, done.about };
    TRY(run_deliver(k->r, &d, e));
    TRY(count_it(k, done.step, e));
    k->kept++;
    fd_closep(&k->fd);
    return frame_send(k->socket, FRAME_CKPT_OK, STR_NULL, STR(""), NULL, 0, true, e);
}

static enum errc fetch(struct keeper *k, struct uuid object_id, int fd, struct err *e)
{
    const struct executor_io *io = k->r->env->io;
    for (int n = 0;; n++) {
        enum errc rc = io ? io->download(io->ctx, k->arena, k->r->g, object_id, fd, e)
                          : client_download(k->client, k->arena, k->r->g, object_id, fd, e);
        if (rc == ERR_OK || !is_worth_it(k, rc, n))
            return rc;
    }
}

static enum errc on_read(struct keeper *k, struct str body, struct err *e)
{
    uint32_t i;
    const struct slice *list = &k->r->g->inputs;
    CLEANUP(fd_closep) int fd = -1;
    if (body.len != sizeof i)
        return FAIL(e, DAMAGED, "a message was cut");
    memcpy(&i, body.ptr, sizeof i);
    if (i >= list->n || i < lease_grant_files(k->r->g))
        return FAIL(e, DAMAGED, "the child wants a checkpoint that its lease does not have");
    TRY(run_file(k->r, &fd, e));
    TRY(fetch(k, ((const struct lease_input *)list->items)[i].object_id, fd, e));
    return frame_send(k->socket, FRAME_CKPT_OK, STR_NULL, STR(""), &fd, 1, true, e);
}

static enum errc on_message(struct keeper *k, const struct frame *f, struct err *e)
{
    if (f->type == FRAME_CKPT_READ)
        return on_read(k, f->body, e);
    if (k->is_forbidden)
        return FAIL(e, UNAVAILABLE, "%s", "");
    return f->type == FRAME_CKPT_PLACE ? on_place(k, e) : f->type == FRAME_CKPT_DONE ? on_done(k, f->body, e)
                                                                                     : FAIL(e, DAMAGED,
                                                                                         "the child sent what it does not send");
}

static void *thread_main(void *p)
{
    struct keeper *k = p;
    struct frame f = { 0 };
    while (frame_receive(k->socket, k->room, &f, NULL) == ERR_OK) {
        struct err e = { 0 };
        frame_close_fds(&f);
        if (on_message(k, &f, &e) != ERR_OK && frame_send(k->socket, FRAME_CKPT_NO, STR_NULL, str_c(e.msg), NULL, 0, true,
                                                          NULL) != ERR_OK)
            break;
        arena_reset(k->arena);
    }
    return NULL;
}

static enum errc begin(struct keeper *k, int *ret_child_fd, struct err *e)
{
    int pair[2];
    if (!k->r->env->io) {
        k->client = client_new(k->r->env->config, e);
        if (!k->client)
            return e->code;
        client_until(k->client, is_over, k);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return FAIL(e, IO, "no socket for checkpoints");
    k->socket = pair[0];
    if (pthread_create(&k->thread, NULL, thread_main, k) != 0) {
        close(pair[0]);
        close(pair[1]);
        return FAIL(e, LIMIT, "the worker has no thread left");
    }
    *ret_child_fd = pair[1];
    return ERR_OK;
}

static void release(struct keeper *k)
{
    fd_closep(&k->fd);
    client_free(k->client);
    arena_free(k->arena);
    free(k);
}

enum errc keeper_new(const struct run *r, struct keeper **ret, int *ret_child_fd, struct err *e)
{
    struct keeper *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->r = r;
    k->fd = -1;
    k->arena = arena_new(ARENA_MAX);
    enum errc rc = begin(k, ret_child_fd, e);
    if (rc != ERR_OK)
        release(k);
    else
        *ret = k;
    return rc;
}

void keeper_forbid(struct keeper *k)
{
    if (k)
        k->is_forbidden = true;
}

size_t keeper_kept(const struct keeper *k)
{
    return k ? k->kept : 0;
}

void keeper_free(struct keeper *k)
{
    if (!k)
        return;
    k->ends = true;
    (void)shutdown(k->socket, SHUT_RDWR);
    pthread_join(k->thread, NULL);
    close(k->socket);
    release(k);
}
