/* SPDX-License-Identifier: Apache-2.0 */
/* plain.h - the plaintext of an input that is read once: what was read is wiped, and its memory given back, while the rest is
 * still read. A few MiB of it wait for being written over: their pages become those of what is made of the rest (bring).
 *
 * Calling order: plain_open -> a reader, which is given ret->once (core/base/pages.h) -> plain_close. Data that is not of this
 * plaintext is none of its business. Threads: one. */
#pragma once
#include "core/base/pages.h"
#include "workers/lease/child.h"

struct plain {
    struct buf bytes;
    struct read_once once;
    unsigned char *gone;                /* by page: it was given back */
    const char *spare, *read;           /* whole pages from spare to read: done with, and still there */
};

/* LIMIT: the content and what the process itself takes are more than the lease's memory. ret must stay where it is. */
MUST_CHECK enum errc plain_open(struct child *c, size_t input, struct plain *ret, struct err *e);
void plain_close(struct plain *p);      /* wipes the rest; after an error of plain_open, too */
