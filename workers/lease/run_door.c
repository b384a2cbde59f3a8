/* SPDX-License-Identifier: Apache-2.0 */
/* run_door.c - the door is the lease's descriptor c->door. */
#include "workers/lease/run_door.h"

#include "core/base/cleanup.h"
#include "workers/lease/run_lines.h"

enum { DOOR, TYPIST };

void run_door_open(struct run_door *d, struct child *c, struct box *box, const struct box_program *p)
{
    *d = (struct run_door){ .c = c, .box = box, .program = *p, .typist = -1, .room = arena_alloc(c->arena, FRAME_MAX) };
}

static const char *cannot_type(const struct run_door *d)
{
    if (!d->program.takes_input)
        return "the job did not ask for a standard input";
    if (d->box->input < 0)
        return "the program's standard input was ended";
    return d->typist >= 0 ? "somebody types to this program already" : NULL;
}

/* The typist writes to the pipe itself: the watcher sees none of it. */
static void attach(struct run_door *d, int *socket)
{
    const char *why = cannot_type(d);
    const int fd = d->box->input;
    struct err ignored;
    if (why) {
        (void)!frame_send(*socket, FRAME_FAILED, STR_NULL, str_c(why), NULL, 0, false, &ignored);     /* it has gone */
        return;
    }
    if (frame_send(*socket, FRAME_INSIDE, STR_NULL, STR_NULL, &fd, 1, false, &ignored) == ERR_OK)
        d->typist = TAKE_FD(*socket);
}

static void let_in(struct run_door *d)
{
    struct frame f = { 0 };
    struct err e = { 0 };
    if (frame_receive(d->c->door, d->room, &f, &e) != ERR_OK) {
        fd_closep(&d->c->door);
        return;
    }
    if (f.type == FRAME_ENTER && f.nfds == 1 && box_enter(&d->visitors, d->box, &d->program, f.fds[0], &e) != ERR_OK)
        run_note(d->c, "warning: somebody who wanted to look inside was not let in: %s", e.msg);
    if (f.type == FRAME_ATTACH && f.nfds == 1)
        attach(d, &f.fds[0]);
    frame_close_fds(&f);
}

static void let_typist_go(struct run_door *d)
{
    struct err ignored;
    if (d->typist >= 0)
        (void)!frame_send(d->typist, FRAME_ENDED, STR_NULL, STR("{}"), NULL, 0, false, &ignored);     /* it has gone */
    fd_closep(&d->typist);
}

static void hear_typist(struct run_door *d)
{
    struct frame f = { 0 };
    struct err ignored;
    if (frame_receive(d->typist, d->room, &f, &ignored) == ERR_OK && f.type == FRAME_ENDED)
        fd_closep(&d->box->input);
    frame_close_fds(&f);
    let_typist_go(d);
}

void run_door_polls(const struct run_door *d, struct pollfd ret[RUN_DOOR_POLLS])
{
    ret[DOOR] = (struct pollfd){ .fd = d->c->door, .events = POLLIN };
    ret[TYPIST] = (struct pollfd){ .fd = d->typist, .events = POLLIN };
}

void run_door_look(struct run_door *d, const struct pollfd *got)
{
    box_visitors_look(&d->visitors);
    if (got && got[TYPIST].revents && d->typist >= 0)
        hear_typist(d);                 /* before another one may come */
    if (got && got[DOOR].revents)
        let_in(d);
}

void run_door_close(struct run_door *d)
{
    let_typist_go(d);
}
