/* SPDX-License-Identifier: Apache-2.0 */
/* transact.c - the handler and all that is kept of a call, in one transaction: its effect, its idempotency record and its audit
 * event.
 * Nothing a handler did is kept that did not pass run_in_tx to its end. */
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/fault.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "tenants/access/actor.h"
#include "tenants/access/authz.h"

struct audit_event flight_audit_event(struct flight *f, enum audit_code code)
{
    struct call *c = &f->call;
    struct audit_event ev = audit_event_by(&c->work, c->principal, code);
    ev.rule = c->audit.rule;
    ev.http_status = c->status ? c->status : c->route->status;
    for (int i = 0; i < c->audit.detail_count; i++)
        audit_event_detail(&ev, c->audit.details[i]);
    ev.resource_kind = str_c(c->route->resource ? c->route->resource : "");
    const struct field *id = f->match->id;
    const void *from = f->match->id_is_in ? c->in : c->out;
    if (id && from) {
        ev.resource_id = *(struct uuid *)field_at(id, from);
        ev.resource_prefix = id->prefix;
    }
    return ev;
}

static enum errc write_audit(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    struct audit_event ev = flight_audit_event(f, c->route->audit);
    if (FAULT("audit_lost"))
        return FAIL(e, INTERNAL, "The audit event could not be written, so nothing was changed");
    TRY(audit_append(&c->work, &ev, e));
    if (c->principal && !c->principal->is_worker && principal_is_platform(c->principal) && !uuid_is_nil(c->work.tenant_id)) {
        /* What the platform does in a tenant stands in both logs. */
        ev.event_id = uuid_v7(c->work.now_us);
        ev.tenant_id = UUID_NIL;
        TRY(audit_append(&c->work, &ev, e));
    }
    return ERR_OK;
}

static enum errc replay(struct flight *f)
{
    f->answer = BUF(RESPONSE_MAX);
    buf_add_str(&f->answer, f->call.replay_body);
    return ERR_OK;
}

/* begin -> idempotency -> handler -> encode -> audit -> commit */
static enum errc run_in_tx(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    const struct route *row = c->route;
    struct work *w = &c->work;
    bool read_only = row->method == HTTP_GET && !row->audited;
    c->out = arena_alloc(w->arena, row->flags & R_LIST ? sizeof(struct page_out) : row->flags & R_TEXT ? sizeof(struct buf)
                         : row->out ? row->out->size : 16);
    if (row->flags & R_NO_TX) {
        TRY(row->handler(w, c->in, c->out, e));
        if (c->replayed)
            return replay(f);
        return f->is_parked ? ERR_OK : flight_encode(f, e);
    }
    TRY(row->flags & R_NODE ? db_begin(w->app->node_pool, SCOPE_SYSTEM, 0, w->arena, &w->tx, e)
                            : db_begin(w->app->pool, scope_of(w), read_only ? TX_READ_ONLY : 0, w->arena, &w->tx, e));
    if (row->flags & R_IDEMPOTENT)
        TRY(idempotency_begin(c, e));
    if (c->replayed) {
        TRY(replay(f));
        return db_commit(w->tx, e);
    }
    TRY(row->handler(w, c->in, c->out, e));
    f->is_handled = true;
    if (f->is_parked) {
        db_rollback(TAKE(w->tx));
        return ERR_OK;
    }
    TRY(flight_encode(f, e));
    if (row->flags & R_IDEMPOTENT)
        idempotency_end(c, c->status ? c->status : row->status, buf_str(&f->answer));
    if (row->audited)
        TRY(write_audit(f, e));
    return db_commit(w->tx, e);
}

enum errc flight_transact(struct flight *f, struct err *e)
{
    enum errc rc = ERR_OK;
    for (int i = 0; i < TRIES_MAX; i++) {
        park_note(f->pipeline->park, f);
        f->is_handled = false;
        rc = run_in_tx(f, e);
        if (rc == ERR_OK)
            break;
        db_rollback(TAKE(f->call.work.tx));
        buf_release(&f->answer);
        f->call.audit.detail_count = 0;
        if (rc != ERR_RETRY)
            break;
        if (!f->outside) {
            metrics_inc(M_db_retries_total, "retry");
            continue;
        }
        rc = TAKE(f->outside)(&f->call.work, f->call.in, e);
        if (rc != ERR_OK)
            break;
        i--;                            /* no try was spent */
    }
    f->call.work.tx = NULL;
    /* A commit that failed may have come through: what it knows of must stay, and what it does not is swept. */
    if (f->call.drop_own && f->call.own && !f->is_handled)
        f->call.drop_own(&f->call.work, f->call.own);
    return rc;
}

enum errc call_outside(struct work *w, enum errc (*act)(struct work *w, const void *in, struct err *e), struct err *e)
{
    struct flight *f = flight_of(w);
    ASSERT(!f->was_outside);
    f->was_outside = true;
    f->outside = act;
    return FAIL(e, RETRY, "The call goes on outside of its transaction");
}
