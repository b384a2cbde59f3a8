/* SPDX-License-Identifier: Apache-2.0 */
/* run_door.h - where the agent asks a program's watcher to let somebody in (box_enter.h), or to let somebody type to the program
 * itself: one packet for each, with a socket. Who cannot be let in finds that socket closed.
 *
 * The program's standard input, where its job asked for one, is written to by one at a time. It stays open when they go, and is
 * closed for good when they say that there is no more.
 * Calling order: run_door_open, once the program has begun -> (run_door_polls, poll, run_door_look)* -> run_door_close. */
#pragma once
#include <poll.h>
#include "workers/lease/box_enter.h"
#include "workers/lease/child.h"

enum { RUN_DOOR_POLLS = 2 };

struct run_door {
    struct child *c;
    struct box *box;
    struct box_program program;     /* borrowed, as it was started */
    struct box_visitors visitors;
    int typist;                     /* the socket of who types to the program; -1: nobody */
    char *room;
};

void run_door_open(struct run_door *d, struct child *c, struct box *box, const struct box_program *p);
/* What is to be waited for. */
void run_door_polls(const struct run_door *d, struct pollfd ret[RUN_DOOR_POLLS]);
/* got: as poll has left it; NULL: nothing came. */
void run_door_look(struct run_door *d, const struct pollfd *got);
/* The program has ended: who types to it hears so. */
void run_door_close(struct run_door *d);
