/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - the lines of a file from a reader, in blocks.
 *
 * What was read before a reader failed is given out first, so that what a caller sees does not depend on the
 * size of its reads. */
#include "audit/lines_int.h"
#include <stdlib.h>
#include "core/base/assert.h"

bool line_cut(struct str *s, struct str *ret)
{
    const char *nl = s->len ? memchr(s->ptr, '\n', s->len) : NULL;
    if (!nl)
        return false;
    *ret = str_n(s->ptr, (size_t)(nl - s->ptr));
    *s = str_n(nl + 1, s->len - ret->len - 1);
    return true;
}

enum line_state line_block_fill(verify_read_fn read, void *ctx, struct line_block *b)
{
    enum line_state after = LINE_HERE;
    while (after == LINE_HERE && b->len < LINES_BYTES) {
        size_t room = LINES_BYTES - b->len;
        ssize_t n = read(ctx, b->bytes + b->len, room);
        if (n < 0 || (size_t)n > room)
            after = LINE_ERROR;
        else if (n == 0)
            after = LINE_END;
        else
            b->len += (size_t)n;
    }
    const char *last = b->len ? memrchr(b->bytes, '\n', b->len) : NULL;
    b->whole = last ? (size_t)(last - b->bytes) + 1 : 0;
    size_t tail = b->len - b->whole;
    if (after == LINE_ERROR)
        return after;
    if (tail > AUDIT_LINE_MAX)
        return LINE_LONG;
    return after == LINE_END && tail ? LINE_PARTIAL : after;
}

void lines_open(struct line_feed *l, verify_read_fn read, void *ctx)
{
    *l = (struct line_feed){ .read = read, .ctx = ctx, .block = { .bytes = malloc(LINES_BYTES) }, .after = LINE_HERE };
    ASSERT(l->block.bytes);
}

enum line_state lines_next(struct line_feed *l, struct str *ret)
{
    struct line_block *b = &l->block;
    while (!line_cut(&l->rest, ret)) {
        if (l->after != LINE_HERE)
            return l->after;
        b->len -= b->whole;
        memmove(b->bytes, b->bytes + b->whole, b->len);
        l->after = line_block_fill(l->read, l->ctx, b);
        l->rest = str_n(b->bytes, b->whole);
    }
    return ret->len > AUDIT_LINE_MAX ? LINE_LONG : LINE_HERE;
}

void lines_close(struct line_feed *l)
{
    free(l->block.bytes);
}
