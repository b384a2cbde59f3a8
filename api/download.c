/* SPDX-License-Identifier: Apache-2.0 */
/* download.c - a slow reader blocks one of the threads that are kept for downloads (LANE_PACED), never a handler. */
#include "api/download.h"
#include "api/api_int.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"

#include <time.h>

enum { STREAM_BYTES = 8 << 20, STEP_MS = 5, WAIT_MS = 30000 };

enum errc download_begin(struct download *d, struct call *c, struct str content_type, struct str file, struct err *e)
{
    struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                               { STR("X-Content-Type-Options"), STR("nosniff") }, { STR("Content-Disposition"), STR_NULL } };
    if (file.ptr)
        h[3].value = str_fmt(c->work.arena, "attachment; filename=\"%.*s\"", STR_ARG(file));
    if (http_stream_begin(c->exchange, 200, content_type, h, file.ptr ? 4 : 3, STREAM_BYTES) != ERR_OK)
        return FAIL(e, UNAVAILABLE, "The client closed the connection");
    *d = (struct download){ c, TAKE(c->principal) };
    return ERR_OK;
}

bool download_wait(const struct call *c, size_t n)
{
    const struct timespec pause = { 0, STEP_MS * 1000000 };
    const struct pipeline *p = ((const struct flight *)c)->pipeline;
    for (int waited = 0; !p->stopping && http_stream_room(c->exchange) < n; waited += STEP_MS) {
        if (http_stream_gone(c->exchange) || waited >= WAIT_MS)
            return false;
        nanosleep(&pause, NULL);
    }
    return !p->stopping;
}

bool download_send(struct download *d, struct str s)
{
    return download_wait(d->call, s.len) && http_stream_write(d->call->exchange, s.ptr, s.len);
}

void download_end(struct download *d, enum errc rc, const struct err *e)
{
    if (rc != ERR_OK)
        log_err(LOG_WARN, "download.cut", e);
    if (rc == ERR_OK)
        http_stream_end(d->call->exchange);
    else
        http_stream_abort(d->call->exchange);
    principal_unref(d->principal);
}
