/* SPDX-License-Identifier: Apache-2.0 */
/* download.c - a slow reader blocks one of the threads that are kept for downloads (LANE_PACED), never a handler.
 *
 * What nobody waits for with a finger on a button takes about one processor together, here and in the database: while n of these
 * threads work, each rests n - 1 times as long as it worked before it goes on. One export alone never rests. */
#include "api/download.h"
#include "api/api_int.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"

#include <time.h>

enum { STREAM_BYTES = 8 << 20, STEP_MS = 5, WAIT_MS = 30000, REST_MAX_US = 500000 };

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

/* Since this thread began, or waited last. */
static void rest(struct flight *f, int64_t now_us)
{
    struct fair_pool_stats s;
    fair_pool_stats(f->pipeline->lanes[LANE_PACED].pool, &s);
    int64_t others = (int64_t)s.running - f->pipeline->paced_waiting - 1;
    int64_t worked_us = f->rested_mono_us ? now_us - f->rested_mono_us : 0;
    int64_t us = others > 0 ? others * worked_us : 0;
    us = us < REST_MAX_US ? us : REST_MAX_US;
    const struct timespec pause = { 0, us * 1000 };
    if (us > 0)
        nanosleep(&pause, NULL);
}

static bool wait_for_room(const struct flight *f, size_t n)
{
    const struct timespec pause = { 0, STEP_MS * 1000000 };
    const struct pipeline *p = f->pipeline;
    const struct http_exchange *x = f->call.exchange;
    for (int waited = 0; !p->stopping && http_stream_room(f->call.exchange) < n; waited += STEP_MS) {
        if (http_stream_gone(x) || waited >= WAIT_MS)
            return false;
        nanosleep(&pause, NULL);
    }
    return !p->stopping;
}

bool download_wait(struct call *c, size_t n)
{
    struct flight *f = flight_of(&c->work);
    rest(f, clock_mono_us(&clock_system));
    f->pipeline->paced_waiting++;
    bool ok = wait_for_room(f, n);
    f->pipeline->paced_waiting--;
    f->rested_mono_us = clock_mono_us(&clock_system);
    return ok;
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
