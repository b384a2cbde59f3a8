/* SPDX-License-Identifier: Apache-2.0 */
/* child_place.c - asks the agent for a file and a key, seals into it, and says digest and size at the end. */
#include "workers/lease/child_place.h"
#include "workers/lease/work_type.h"

#include <unistd.h>
#include "core/base/cleanup.h"

enum { READ_BYTES = 1 << 18 };

enum errc child_place_open(struct child *c, struct str name, struct child_place *ret, struct err *e)
{
    *ret = (struct child_place){ .fd = -1, .name = name };
    TRY(frame_send(FRAME_FD, FRAME_PLACE, STR_NULL, name, NULL, 0, true, e));
    const bool is_dataset = work_type_of(c->grant.lease.kind)->gives_datasets;
    TRY(child_take_place(c, is_dataset ? STR("dataset") : STR("artifact"), &ret->fd, &ret->sealer, e));
    sha256_init(&ret->sha);
    return ERR_OK;
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
