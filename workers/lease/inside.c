/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - one packet through the door, one question, one answer with descriptors. */
#include "workers/lease/inside.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/frame.h"

enum { WAIT_MS = 10000, ENDS = 3 };

static enum errc knock(struct held *h, enum frame_type as, int theirs, struct err *e)
{
    CLEANUP(fd_closep) int door = held_door(h);
    if (door < 0)
        return FAIL(e, CONFLICT, "The job's program has not begun, or has ended");
    if (frame_send(door, as, STR_NULL, STR_NULL, &theirs, 1, false, e) != ERR_OK)
        return FAIL(e, CONFLICT, "The job's program is ending");
    return ERR_OK;
}

static enum errc answer(int socket, int wait_ms, char *room, struct frame *f, struct err *e)
{
    struct pollfd p = { socket, POLLIN, 0 };
    if (poll(&p, 1, wait_ms) != 1)
        return FAIL(e, UPSTREAM, "The job's box does not answer");
    if (frame_receive(socket, room, f, e) != ERR_OK)
        return FAIL(e, CONFLICT, "The job's program has ended, or as many are inside as may be");
    if (f->type == FRAME_FAILED)
        return FAIL(e, UPSTREAM, "%.*s", STR_ARG(f->body));
    if (f->type != FRAME_INSIDE || (f->nfds != 1 && f->nfds != ENDS))
        return FAIL(e, UPSTREAM, "The job's box gave an odd answer");
    return ERR_OK;
}

static void take(struct frame *f, struct inside_ends *ret)
{
    ret->in = f->fds[0];
    ret->out = f->nfds == ENDS ? f->fds[1] : fcntl(f->fds[0], F_DUPFD_CLOEXEC, 0);
    ret->err = f->nfds == ENDS ? f->fds[2] : -1;
    f->nfds = 0;
    const int all[] = { ret->in, ret->out, ret->err };
    for (int i = 0; i < ENDS; i++)
        if (all[i] >= 0)
            fcntl(all[i], F_SETFL, fcntl(all[i], F_GETFL) | O_NONBLOCK);
}

static enum errc open_socket(struct held *h, enum frame_type as, int *ret, struct err *e)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return FAIL(e, IO, "no socket for who wants to look inside");
    *ret = pair[0];
    const enum errc rc = knock(h, as, pair[1], e);
    close(pair[1]);
    return rc;
}

static enum errc take_answer(int *socket, int wait_ms, struct inside_ends *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(2 * FRAME_MAX);
    struct frame f = { 0 };
    const enum errc rc = answer(*socket, wait_ms, arena_alloc(a, FRAME_MAX), &f, e);
    if (rc == ERR_OK)
        take(&f, ret);
    frame_close_fds(&f);
    if (rc == ERR_OK)
        ret->socket = TAKE_FD(*socket);
    return rc;
}

enum errc inside_open(struct held *h, struct str ask, struct inside_ends *ret, struct err *e)
{
    CLEANUP(fd_closep) int ours = -1;
    *ret = (struct inside_ends){ -1, -1, -1, -1 };
    TRY(open_socket(h, FRAME_ENTER, &ours, e));
    if (frame_send(ours, FRAME_ASK, STR_NULL, ask, NULL, 0, true, e) != ERR_OK)
        return FAIL(e, CONFLICT, "The job's program has ended");
    return take_answer(&ours, WAIT_MS, ret, e);
}

enum errc inside_attach(struct held *h, struct inside_ends *ret, struct err *e)
{
    CLEANUP(fd_closep) int ours = -1;
    *ret = (struct inside_ends){ -1, -1, -1, -1 };
    TRY(open_socket(h, FRAME_ATTACH, &ours, e));
    TRY(take_answer(&ours, -1, ret, e));
    fd_closep(&ret->out);               /* nothing is read there: what the program writes is in its log */
    return ERR_OK;
}

void inside_no_more(struct inside_ends *i)
{
    struct err ignored;
    fd_closep(&i->in);
    (void)!frame_send(i->socket, FRAME_ENDED, STR_NULL, STR_NULL, NULL, 0, false, &ignored);       /* the program has ended */
}

enum errc inside_ended(const struct inside_ends *i, struct arena *a, struct str *ret, struct err *e)
{
    struct frame f = { 0 };
    TRY(frame_receive(i->socket, arena_alloc(a, FRAME_MAX), &f, e));
    frame_close_fds(&f);
    *ret = f.body;
    return f.type == FRAME_ENDED ? ERR_OK : FAIL(e, IO, "the helper said what it does not say");
}

void inside_close(struct inside_ends *i)
{
    fd_closep(&i->in);
    fd_closep(&i->out);
    fd_closep(&i->err);
    fd_closep(&i->socket);
}
