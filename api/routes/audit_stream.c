/* SPDX-License-Identifier: Apache-2.0 */
/* audit_stream.c - giving parts of the log away, piece by piece: the answer, its event, its end. */
#include "api/routes/audit_int.h"
#include "api/download.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "tenants/access/actor.h"
#include "tenants/access/principal.h"

enum { STREAM_BYTES = 4 << 20, PIECE_BYTES = 1 << 20 };

/* The first bytes open the answer, so that what fails before them is still an error of its own. */
static enum errc stream_begin(struct audit_stream *s, struct err *e)
{
    struct http_header h[5] = { { STR("X-Request-Id"), s->request_id }, { STR("Content-Disposition"), s->file }, { STR("Cache-Control"), STR("no-store") } };
    size_t n = 3;
    if (s->is_resumable)
        h[n++] = (struct http_header){ STR("Accept-Ranges"), STR("bytes") };
    if (s->range.ptr)
        h[n++] = (struct http_header){ STR("Content-Range"), s->range };
    s->begun = true;
    if (http_stream_begin(s->call->exchange, s->status, s->content_type, h, n, STREAM_BYTES) != ERR_OK)
        return FAIL(e, UNAVAILABLE, "The client closed the connection");
    return ERR_OK;
}

static enum errc stream_piece(struct audit_stream *s, const void *p, size_t n, struct err *e)
{
    if (!download_wait(s->call, n))
        return FAIL(e, DEADLINE, "The client closed the connection or reads too slowly, or this server is stopping");
    return http_stream_write(s->call->exchange, p, n) ? ERR_OK : FAIL(e, DEADLINE, "The client closed the connection");
}

enum errc audit_stream_sink(void *ctx, const void *p, size_t n, struct err *e)
{
    struct audit_stream *s = ctx;
    if (!s->begun)
        TRY(stream_begin(s, e));
    for (size_t at = 0; at < n; at += PIECE_BYTES)
        TRY(stream_piece(s, (const char *)p + at, n - at < PIECE_BYTES ? n - at : PIECE_BYTES, e));
    return ERR_OK;
}

enum errc audit_stream_note(struct call *c, struct uuid export_id, struct err *e)
{
    struct work *w = &c->work;
    struct audit_event ev = audit_event_by(w, c->principal, AUDIT_AUDIT_EXPORT);
    ev.resource_kind = STR("audit");
    if (!uuid_is_nil(export_id)) {
        ev.resource_kind = STR("export");
        ev.resource_prefix = "exp";
        ev.resource_id = export_id;
    }
    ev.http_status = 200;
    return audit_append_apart(w, w->app->pool, scope_of(w), &ev, e);
}

/* What is not whole is cut, so that no reader takes it for the end. */
void audit_stream_finish(struct call *c, struct audit_stream *s, enum errc rc, const struct err *e)
{
    struct principal *p = TAKE(c->principal);
    if (rc != ERR_OK)
        log_err(LOG_WARN, "audit.export_cut", e);
    if (rc == ERR_OK)
        http_stream_end(s->call->exchange);
    else
        http_stream_abort(s->call->exchange);
    principal_unref(p);
}
