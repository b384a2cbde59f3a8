/* SPDX-License-Identifier: Apache-2.0 */
/* deliver.c - part by part. What the API has staged may be gone, with its disk or by age: then all of it is sent again. */
#include "workers/lease/deliver.h"

#include <unistd.h>

enum { DELIVERIES_MAX = 3 };

static enum errc send_part(const struct run *r, const struct delivery *d, const struct upload_part *p, struct err *e)
{
    const struct executor_io *io = r->env->io;
    for (int n = 0;; n++) {
        enum errc rc = io ? io->upload(io->ctx, d->arena, r->g, p, e) : client_upload(d->client, d->arena, r->g, p, e);
        if (rc == ERR_OK || !run_try_again(r, rc, n))
            return rc;
    }
}

enum errc run_deliver(const struct run *r, const struct delivery *d, struct err *e)
{
    char hex[65];
    hex_encode(d->about.sha256, 32, hex);
    int64_t size = lseek(d->fd, 0, SEEK_END), most = d->part_bytes_max;
    if (size < 0)
        return FAIL(e, IO, "the sealed output cannot be read");
    struct upload_part p = { d->object_id, d->about.plain_size, str_c(hex), d->fd, 0, 0 };
    for (int begun = 1; p.offset < size; p.offset += p.bytes) {
        p.bytes = size - p.offset < most ? size - p.offset : most;
        enum errc rc = send_part(r, d, &p, e);
        if (rc == ERR_CONFLICT && p.offset > 0 && begun++ < DELIVERIES_MAX)
            p.offset = p.bytes = 0;
        else if (rc != ERR_OK)
            return rc;
    }
    return ERR_OK;
}
