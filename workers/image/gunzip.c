/* SPDX-License-Identifier: Apache-2.0 */
/* gunzip.c - zlib's inflate over a room of compressed bytes. */
#include "workers/image/gunzip.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

enum { ROOM = 65536, WINDOW_GZIP = 15 + 16 };

struct gunzip {
    struct source from;
    z_stream z;
    uint64_t left;
    bool in_member, is_over;
    unsigned char room[ROOM];
};

enum errc gunzip_new(struct source from, uint64_t most, struct gunzip **ret, struct err *e)
{
    struct gunzip *g = calloc(1, sizeof *g);
    if (!g || inflateInit2(&g->z, WINDOW_GZIP) != Z_OK) {
        free(g);
        return FAIL(e, LIMIT, "no memory to unpack");
    }
    g->from = from;
    g->left = most;
    *ret = g;
    return ERR_OK;
}

void gunzip_free(struct gunzip *g)
{
    if (g)
        inflateEnd(&g->z);
    free(g);
}

void gunzip_freep(struct gunzip **g)
{
    gunzip_free(*g);
}

static enum errc fill(struct gunzip *g, struct err *e)
{
    size_t n;
    if (g->z.avail_in)
        return ERR_OK;
    TRY(g->from.read(g->from.ctx, g->room, sizeof g->room, &n, e));
    g->z.next_in = g->room;
    g->z.avail_in = (unsigned)n;
    return ERR_OK;
}

/* One step: some bytes out, or some in, or the end. */
static enum errc step(struct gunzip *g, struct err *e)
{
    TRY(fill(g, e));
    if (!g->z.avail_in) {
        g->is_over = !g->in_member;
        return g->is_over ? ERR_OK : FAIL(e, BAD_DATA, "the gzip stream is cut off");
    }
    g->in_member = true;
    const int rc = inflate(&g->z, Z_NO_FLUSH);
    if (rc == Z_STREAM_END) {
        g->in_member = false;
        return inflateReset(&g->z) == Z_OK ? ERR_OK : FAIL(e, BAD_DATA, "the gzip stream cannot go on");
    }
    return rc == Z_OK || rc == Z_BUF_ERROR ? ERR_OK : FAIL(e, BAD_DATA, "the gzip stream is damaged");
}

static enum errc read_some(void *ctx, void *p, size_t n, size_t *ret, struct err *e)
{
    struct gunzip *g = ctx;
    g->z.next_out = p;
    g->z.avail_out = n > ROOM ? ROOM : (unsigned)n;
    const unsigned asked = g->z.avail_out;
    while (g->z.avail_out == asked && !g->is_over)
        TRY(step(g, e));
    *ret = asked - g->z.avail_out;
    if (*ret > g->left)
        return FAIL(e, LIMIT, "it unpacks to more than the limit");
    g->left -= *ret;
    return ERR_OK;
}

struct source gunzip_source(struct gunzip *g)
{
    return (struct source){ read_some, g };
}
