/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - writing audit events in the caller's transaction. The statement is queued: it costs no round trip of its own. */
#include "audit/event.h"
#include "audit/pii.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/work.h"
#include "core/db/run_tx.h"

static const struct stmt audit_event_insert = { .name = "audit_event_insert", .params = "uuy", .card = CARD_NONE, .sql =
  "INSERT INTO audit_event (tenant_id, event_id, body) VALUES ($1, $2, $3)" };

const struct stmt *const audit_event_stmts[] = { &audit_event_insert, NULL };

struct audit_event audit_event_of(const struct work *w, enum audit_code code)
{
    return (struct audit_event){ .event_id = uuid_v7(w->now_us), .tenant_id = w->tenant_id, .ts_us = w->now_us, .code = code,
                                 .src_ip = w->source_ip, .request_id = w->request_id, .pii = w->app ? w->app->pii : NULL };
}

/* A machine's address is no person's. Without a key at hand a person's is left out: nothing waits for it and nothing shows it. */
static bool encode(const struct audit_event *ev, struct buf *b)
{
    if (!ev->src_ip.ptr || ev->actor == AUDIT_WORKER || ev->actor == AUDIT_SYSTEM)
        return audit_event_encode(ev, b);
    char text[AUDIT_TEXT_MAX];
    struct audit_event sealed = *ev;
    if (!ev->pii || !audit_pii_seal(ev->pii, ev->actor_id, AUDIT_PII_SOURCE, ev->src_ip, text, &sealed.src_ip))
        sealed.src_ip = STR_NULL;
    return audit_event_encode(&sealed, b);
}

enum errc audit_append(struct work *w, const struct audit_event *ev, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(AUDIT_BODY_MAX);
    ASSERT(w->tx);
    if (!encode(ev, &b))
        return FAIL(e, INTERNAL, "an audit event does not fit its bounds");
    db_queue(w->tx, &audit_event_insert, ARGS(A_UUID(ev->tenant_id), A_UUID(ev->event_id), A_BYTES(b.ptr, b.len)), false);
    return ERR_OK;
}

enum errc audit_append_apart(struct work *w, struct db_pool *pool, struct db_scope scope, const struct audit_event *ev, struct err *e)
{
    return RUN_TX(w, pool, scope, 0, audit_append(w, ev, e), e);
}

enum errc audit_encode_many(struct arena *a, const struct audit_event *evs, size_t n, struct audit_rows *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(AUDIT_BODY_MAX);
    struct audit_rows rows = { .count = n, .tenant_ids = ARENA_ARRAY(a, struct uuid, n ? n : 1),
                               .event_ids = ARENA_ARRAY(a, struct uuid, n ? n : 1), .bodies = ARENA_ARRAY(a, struct str, n ? n : 1) };
    for (size_t i = 0; i < n; i++) {
        buf_clear(&b);
        if (!encode(&evs[i], &b))
            return FAIL(e, INTERNAL, "an audit event does not fit its bounds");
        rows.tenant_ids[i] = evs[i].tenant_id;
        rows.event_ids[i] = evs[i].event_id;
        rows.bodies[i] = str_dup(a, buf_str(&b));
    }
    *ret = rows;
    return ERR_OK;
}
