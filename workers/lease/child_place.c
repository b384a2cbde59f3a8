/* SPDX-License-Identifier: Apache-2.0 */
/* child_place.c - asks the agent for a file and a key, seals into it, and says digest and size at the end. */
#include "workers/lease/child_place.h"

#include <unistd.h>
#include "core/base/cleanup.h"

enum { READ_BYTES = 1 << 18 };

static enum errc into_place(void *ctx, const void *p, size_t n, struct err *e)
{
    for (const char *at = p; n;) {
        ssize_t w = write(*(int *)ctx, at, n);
        if (w <= 0)
            return FAIL(e, IO, "a file of the lease cannot be written");
        at += w;
        n -= (size_t)w;
    }
    return ERR_OK;
}

enum errc child_place_open(struct child *c, struct str name, struct child_place *ret, struct err *e)
{
    char *room = arena_alloc(c->arena, FRAME_MAX);
    struct frame f = { 0 };
    struct frame_output out;
    *ret = (struct child_place){ .fd = -1, .name = name };
    TRY(frame_send(FRAME_FD, FRAME_PLACE, STR_NULL, name, NULL, 0, true, e));
    TRY(frame_receive(FRAME_FD, room, &f, e));
    if (f.type != FRAME_OUTPUT || f.body.len != sizeof out || f.nfds != 1) {
        frame_close_fds(&f);
        return FAIL(e, UNAVAILABLE, "the agent got no place for the output");
    }
    ret->fd = f.fds[0];
    memcpy(&out, f.body.ptr, sizeof out);
    secret_wipe(room, FRAME_MAX);
    const struct stream_ref ref = { out.tenant_id, STR("artifact"), out.object_id, out.version, out.dek_id };
    sha256_init(&ret->sha);
    enum errc rc = stream_sealer_new(&out.key, &ref, into_place, &ret->fd, &ret->sealer, e);
    secret_wipe(&out, sizeof out);
    return rc;
}

enum errc child_place_add(struct child_place *p, const void *bytes, size_t n, struct err *e)
{
    if (n > (size_t)(LEASE_OUTPUT_MAX - p->bytes))
        return FAIL(e, TOO_LARGE, "the output %.*s has more than %d bytes, which is the most that is kept", STR_ARG(p->name),
                    LEASE_OUTPUT_MAX);
    p->bytes += (int64_t)n;
    sha256_add(&p->sha, bytes, n);
    return stream_sealer_feed(p->sealer, bytes, n, e);
}

enum errc child_place_close(struct child_place *p, struct err *e)
{
    struct frame_result r = { .plain_size = p->bytes };
    sha256_final(&p->sha, r.sha256);
    enum errc rc = stream_sealer_finish(p->sealer, e);
    if (rc == ERR_OK)
        rc = frame_send(FRAME_FD, FRAME_GIVEN, STR_NULL, str_n((const char *)&r, sizeof r), NULL, 0, true, e);
    child_place_drop(p);
    return rc;
}

void child_place_drop(struct child_place *p)
{
    stream_sealer_freep(&p->sealer);
    p->sealer = NULL;
    sha256_release(&p->sha);
    fd_closep(&p->fd);
}

static enum errc pour(struct child_place *p, int fd, struct err *e)
{
    ssize_t n;
    CLEANUP(buf_releasep) struct buf room = BUF(READ_BYTES);
    buf_reserve(&room, READ_BYTES);
    while ((n = read(fd, room.ptr, READ_BYTES)) > 0)
        TRY(child_place_add(p, room.ptr, (size_t)n, e));
    return n < 0 ? FAIL(e, IO, "an output cannot be read") : ERR_OK;
}

enum errc child_give_file(struct child *c, struct str name, int fd, struct err *e)
{
    struct child_place p;
    enum errc rc = child_place_open(c, name, &p, e);
    if (rc == ERR_OK)
        rc = pour(&p, fd, e);
    if (rc == ERR_OK)
        return child_place_close(&p, e);
    child_place_drop(&p);
    return rc;
}
