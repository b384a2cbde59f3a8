/* SPDX-License-Identifier: Apache-2.0 */
/* lines_int.h - the lines of a file from a reader, one after the other or as blocks of whole lines.
 *
 * A block is a buffer of LINES_BYTES that ends, for who looks at its lines, behind the last newline in it; what is behind that is
 * carried to the front of the next. It is what several threads can look at (batches_int.h); lines_next is the same for one.
 * Calling order: lines_open -> lines_next* -> lines_close. A line borrows until the next call. Memory: one block.
 * Not thread-safe. */
#pragma once
#include "audit/verify.h"
#include "core/base/str.h"

/* At least twice a line and its newline: the last line of a block and a part of the next are carried together. */
enum { LINES_BYTES = 256 << 10 };
_Static_assert(LINES_BYTES > 2 * (AUDIT_LINE_MAX + 1), "a block has room behind what is carried");
enum line_state { LINE_HERE, LINE_END, LINE_PARTIAL, LINE_LONG, LINE_ERROR };

struct line_block {
    char *bytes;                   /* LINES_BYTES */
    size_t whole, len;             /* up to the end of the last line that has its newline; of all bytes */
};
/* Reads behind the b->len bytes that are there already. LINE_HERE: there may be more; else what follows the block's whole lines,
 * LINE_LONG where that is more than AUDIT_LINE_MAX bytes without a newline. */
enum line_state line_block_fill(verify_read_fn read, void *ctx, struct line_block *b);
/* The first line, without its newline, off the front of *s. False: it holds no newline. */
bool line_cut(struct str *s, struct str *ret);

struct line_feed {
    verify_read_fn read;
    void *ctx;
    struct line_block block;
    struct str rest;               /* whole lines not yet given out */
    enum line_state after;         /* what follows them */
};

void lines_open(struct line_feed *l, verify_read_fn read, void *ctx);
/* LINE_PARTIAL: bytes without a newline at the end. A line longer than AUDIT_LINE_MAX is LINE_LONG. */
enum line_state lines_next(struct line_feed *l, struct str *ret);
void lines_close(struct line_feed *l);
