/* SPDX-License-Identifier: Apache-2.0 */
/* unzstd.c - libzstd's stream over a room of compressed bytes. */
#include "workers/image/unzstd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

enum { ROOM = 65536 };

struct unzstd {
    struct source from;
    ZSTD_DStream *z;
    ZSTD_inBuffer in;
    uint64_t left;
    bool in_frame, is_over;
    unsigned char room[ROOM];
};

enum errc unzstd_new(struct source from, uint64_t most, struct unzstd **ret, struct err *e)
{
    struct unzstd *z = calloc(1, sizeof *z);
    if (z)
        z->z = ZSTD_createDStream();
    if (!z || !z->z || ZSTD_isError(ZSTD_DCtx_setParameter(z->z, ZSTD_d_windowLogMax, UNZSTD_WINDOW_LOG))) {
        unzstd_free(z);
        return FAIL(e, LIMIT, "no memory to unpack");
    }
    z->from = from;
    z->left = most;
    z->in.src = z->room;
    *ret = z;
    return ERR_OK;
}

void unzstd_free(struct unzstd *z)
{
    if (z)
        ZSTD_freeDStream(z->z);
    free(z);
}

void unzstd_freep(struct unzstd **z)
{
    unzstd_free(*z);
}

static enum errc fill(struct unzstd *z, struct err *e)
{
    size_t n;
    if (z->in.pos < z->in.size)
        return ERR_OK;
    TRY(z->from.read(z->from.ctx, z->room, sizeof z->room, &n, e));
    z->in.size = n;
    z->in.pos = 0;
    return ERR_OK;
}

/* One step: some bytes out, or some in, or the end. What is held back of a frame needs no bytes more. */
static enum errc step(struct unzstd *z, ZSTD_outBuffer *out, struct err *e)
{
    TRY(fill(z, e));
    const bool is_dry = z->in.size == 0;
    if (is_dry && !z->in_frame) {
        z->is_over = true;
        return ERR_OK;
    }
    const size_t rc = ZSTD_decompressStream(z->z, out, &z->in);
    if (ZSTD_isError(rc))
        return FAIL(e, BAD_DATA, "the zstd stream is damaged, or of another kind: %s", ZSTD_getErrorName(rc));
    z->in_frame = rc != 0;
    return is_dry && z->in_frame && !out->pos ? FAIL(e, BAD_DATA, "the zstd stream is cut off") : ERR_OK;
}

static enum errc read_some(void *ctx, void *p, size_t n, size_t *ret, struct err *e)
{
    struct unzstd *z = ctx;
    ZSTD_outBuffer out = { p, n > ROOM ? ROOM : n, 0 };
    while (!out.pos && !z->is_over)
        TRY(step(z, &out, e));
    *ret = out.pos;
    if (*ret > z->left)
        return FAIL(e, LIMIT, "it unpacks to more than the limit");
    z->left -= *ret;
    return ERR_OK;
}

struct source unzstd_source(struct unzstd *z)
{
    return (struct source){ read_some, z };
}
