/* SPDX-License-Identifier: Apache-2.0 */
/* inside_sweep.c - which tenants have such is asked in the scope of all of them; what is done in one is done in its own. */
#include "scheduler/jobs/inside_sweep.h"

#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/wire/inside_wire.h"

enum { SWEEP_BATCH = 64 };

struct due { struct uuid tenant_id; };
SCHEMA_OF(due, "A tenant with lost sessions", FIELD_ID(due, tenant_id, "tnt", 0, .doc = "The tenant"));
/* Behind $3, in order, so that each is looked at once in a sweep: those that fail do not stand before others for good. */
const struct stmt inside_due_stmt = { .name = "inside_due", .params = "iiu", .row = &due_schema, .card = CARD_MANY, .sql =
    "SELECT DISTINCT tenant_id FROM job_session\n"
    " WHERE heard_at < clock_timestamp() - $1 * interval '1 second' AND tenant_id > $3 ORDER BY tenant_id LIMIT $2" };

enum errc inside_note_lost(struct work *w, struct err *e)
{
    struct slice lost;
    TRY(inside_lost(w, &lost, e));
    for (size_t i = 0; i < lost.n; i++) {
        const struct inside_session *s = (const struct inside_session *)lost.items + i;
        struct audit_event ev = audit_event_of(w, AUDIT_JOB_LEAVE);
        ev.resource_kind = STR("job");
        ev.resource_prefix = "job";
        ev.resource_id = s->job_id;
        ev.http_status = 200;
        audit_event_detail(&ev, AUDIT_D_STR("inside", id_text(w->arena, "ins", s->session_id)));
        audit_event_detail(&ev, AUDIT_D_STR("why", str_c(inside_whys[INSIDE_WHY_LOST].text)));
        TRY(audit_append(w, &ev, e));
    }
    return ERR_OK;
}

static enum errc sweep_one(const struct app *app, struct uuid tenant, struct arena *a, struct err *e)
{
    struct work w = { .app = app, .arena = a, .tenant_id = tenant, .now_us = clock_wall_us(app->clock) };
    return RUN_WRITE(&w, inside_note_lost(&w, e), e);
}

/* Of the next tenants behind *after, which goes on; *ret_more: there may be others. */
static enum errc sweep_some(const struct app *app, struct arena *a, struct uuid *after, int64_t *ret_tenants, bool *ret_more,
                            struct err *e)
{
    struct { struct due *items; size_t n; } due = { 0 };
    struct work w = { .app = app, .arena = a };
    enum errc rc = ERR_OK;
    *ret_more = false;
    arena_reset(a);
    TRY(RUN_SYSTEM(&w, app->node_pool, TX_READ_ONLY,
                   db_many(w.tx, &inside_due_stmt, ARGS(A_I64(INSIDE_LOST_S), A_I64(SWEEP_BATCH), A_UUID(*after)), &due,
                           SWEEP_BATCH, e), e));
    for (size_t i = 0; i < due.n; i++) {
        struct err one;
        CLEANUP(arena_freep) struct arena *own = arena_new(4 << 20);
        const enum errc now = sweep_one(app, due.items[i].tenant_id, own, &one);
        *after = due.items[i].tenant_id;
        *ret_tenants += now == ERR_OK;
        if (now != ERR_OK && rc == ERR_OK) {    /* one tenant's fault holds no other up */
            rc = now;
            *e = one;
        }
    }
    *ret_more = due.n == SWEEP_BATCH;
    return rc;
}

enum errc inside_sweep(const struct app *app, int64_t *ret_tenants, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct uuid after = UUID_LEAST;
    enum errc rc = ERR_OK;
    for (bool more = true; more;) {
        struct err some;
        const enum errc now = sweep_some(app, a, &after, ret_tenants, &more, &some);
        if (now != ERR_OK && rc == ERR_OK) {
            rc = now;
            *e = some;
        }
    }
    return rc;
}
