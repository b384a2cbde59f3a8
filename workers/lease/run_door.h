/* SPDX-License-Identifier: Apache-2.0 */
/* run_door.h - where the agent asks a program's watcher to let somebody in (box_enter.h): one packet for each, with the socket of
 * its helper. Who cannot be let in finds that socket closed.
 * Calling order: run_door_open, once the program has begun -> (run_door_look when the door is readable, and now and then)* . */
#pragma once
#include "workers/lease/box_enter.h"
#include "workers/lease/child.h"

struct run_door {
    struct child *c;
    const struct box *box;
    struct box_program program;     /* borrowed, as it was started */
    struct box_visitors visitors;
    char *room;
};

void run_door_open(struct run_door *d, struct child *c, const struct box *box, const struct box_program *p);
/* is_readable: the door has a packet, or its other end is closed, and then it is closed too. */
void run_door_look(struct run_door *d, bool is_readable);
