/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - the agent's side of box_enter.h: somebody is let into a held lease's box.
 *
 * The descriptors that come are of the box: a pipe, a terminal or a socket, made by our own helper there. Errors: CONFLICT (the
 * program has not begun, or has ended), LIMIT, and in the helper's words UPSTREAM. Not offered: moving the bytes. */
#pragma once
#include "workers/agent/book.h"

struct inside_ends {
    int socket;                         /* of the helper: closing it ends what was started */
    int in, out, err;                   /* -1: none; of a terminal or a connection in and out are one, each its own descriptor */
};

/* ask: JSON (core/wire/inside_wire.h). Blocks until it is begun, ten seconds at most. */
MUST_CHECK enum errc inside_open(struct held *h, struct str ask, struct inside_ends *ret, struct err *e);
/* To the program's own standard input: ret->in alone. Blocks until the program has begun, or has ended. */
MUST_CHECK enum errc inside_attach(struct held *h, struct inside_ends *ret, struct err *e);
/* Of inside_attach: the program finds the end of its input. */
void inside_no_more(struct inside_ends *i);
/* What the helper says next, JSON (inside_end) in the arena; once the socket is readable. IO: it is gone without a word. */
MUST_CHECK enum errc inside_ended(const struct inside_ends *i, struct arena *a, struct str *ret, struct err *e);
void inside_close(struct inside_ends *i);
