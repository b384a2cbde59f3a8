/* SPDX-License-Identifier: Apache-2.0 */
/* run_door.c - the door is the lease's descriptor c->door. */
#include "workers/lease/run_door.h"

#include "core/base/cleanup.h"
#include "workers/lease/run_lines.h"

void run_door_open(struct run_door *d, struct child *c, const struct box *box, const struct box_program *p)
{
    *d = (struct run_door){ .c = c, .box = box, .program = *p, .room = arena_alloc(c->arena, FRAME_MAX) };
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
    frame_close_fds(&f);
}

void run_door_look(struct run_door *d, bool is_readable)
{
    box_visitors_look(&d->visitors);
    if (is_readable)
        let_in(d);
}
