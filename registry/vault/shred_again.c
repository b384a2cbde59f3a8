/* SPDX-License-Identifier: Apache-2.0 */
/* shred_again.c - the journal's orders about keys and the database, each told what only the other one knows. */
#include "registry/vault/shred_again.h"
#include "audit/erasure_journal.h"
#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "registry/registry_int.h"

enum { BATCH = 1000, ORDER_ARENA = 16 << 20 };
static const int64_t YOUNG_US = 60000000;

struct undone { struct uuid tenant_id; struct str zone; };
SCHEMA_OF(undone, "A zone whose keys are back", FIELD(undone, tenant_id, 0, .doc = "Of which tenant"),
    FIELD(undone, zone, 0, .doc = "Zone"));
static const struct stmt undone_stmt = { .name = "key_shreds_undone", .params = "USIT", .row = &undone_schema, .card = CARD_MANY,
    .sql =
    "SELECT tenant_id, zone FROM key_shreds_undone($1, $2, $3, $4)" };
struct shredded { struct uuid tenant_id; struct str zone; int64_t version; struct timestamp since; };
SCHEMA_OF(shredded, "A zone without a key that opens", FIELD(shredded, tenant_id, 0, .doc = "Of which tenant"),
    FIELD(shredded, zone, 0, .doc = "Zone"), FIELD(shredded, version, 0, .doc = "The last version"),
    FIELD(shredded, since, 0, .doc = "Since when"));
static const struct stmt shredded_stmt = { .name = "key_shreds_after", .params = "usi", .row = &shredded_schema,
    .card = CARD_MANY, .sql =
    "SELECT tenant_id, zone, version, since FROM key_shreds_after($1, $2, $3)" };
struct scheduled { bool held; int64_t versions; };
SCHEMA_OF(scheduled, "What was scheduled", FIELD(scheduled, held, 0, .doc = "A legal hold keeps them"),
    FIELD(scheduled, versions, 0, .doc = "How many versions"));
static const struct stmt schedule_stmt = { .name = "key_schedule_again", .params = "usiti", .row = &scheduled_schema,
    .card = CARD_ONE, .sql =
    "WITH h AS (SELECT tenant_has_hold($1) AS held),\n"
    "     k AS (UPDATE tenant_key SET state = 'DESTROY_SCHEDULED', destroy_after = now() + $5 * interval '1 day',\n"
    "                                 disabled_at = coalesce(disabled_at, now())\n"
    "            WHERE tenant_id = $1 AND zone = $2 AND version <= $3 AND created_at <= $4 AND NOT (SELECT held FROM h)\n"
    "              AND state IN ('PRIMARY', 'DECRYPT_ONLY', 'DISABLED') RETURNING version)\n"
    "SELECT h.held, (SELECT count(*) FROM k) AS versions FROM h" };
const struct stmt *const shred_again_stmts[] = { &undone_stmt, &shredded_stmt, &schedule_stmt, NULL };

static enum errc schedule(struct work *w, const struct shred_order *o, struct scheduled *ret, struct err *e)
{
    TRY(db_one(w->tx, &schedule_stmt, ARGS(A_UUID(o->tenant_id), A_TEXT(o->zone), A_I64(o->version), A_TIME_US(o->ts_us),
               A_I64(w->app->config->keys_destroy_days)), ret, e));
    if (!ret->versions)
        return ERR_OK;
    struct audit_event ev = audit_event_of(w, AUDIT_KEY_DESTROY);
    ev.zone = str_c(o->zone);
    ev.resource_kind = STR("tenant_key");
    ev.resource_name = str_c(o->zone);
    audit_event_detail(&ev, AUDIT_D_STR("act", STR("scheduled_again")));
    audit_event_detail(&ev, AUDIT_D_INT("versions", ret->versions));
    audit_event_detail(&ev, AUDIT_D_STR("ordered_by", id_text(w->arena, "usr", o->by)));
    audit_event_detail(&ev, AUDIT_D_INT("ordered_us", o->ts_us));
    return audit_append(w, &ev, e);
}

static enum errc undo_restore(const struct app *app, const struct shred_order *o, struct erasure_look *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ORDER_ARENA);
    struct work w = { .app = app, .arena = a, .tenant_id = o->tenant_id, .now_us = clock_wall_us(app->clock) };
    struct scheduled done = { 0 };
    TRY(RUN_WRITE(&w, schedule(&w, o, &done, e), e));
    ret->again += done.versions > 0;
    ret->held += done.held;
    return ERR_OK;
}

static enum errc find_undone(struct work *w, const struct shred_order *o, size_t n, struct slice *ret, struct err *e)
{
    struct str *zones = ARENA_ARRAY(w->arena, struct str, n);
    struct timestamp *at = ARENA_ARRAY(w->arena, struct timestamp, n);
    for (size_t i = 0; i < n; i++) {
        zones[i] = str_c(o[i].zone);
        at[i].us = o[i].ts_us;
    }
    return RUN_TX(w, w->app->pool, SCOPE_SYSTEM, TX_READ_ONLY, db_many(w->tx, &undone_stmt, ARGS(A_UUIDS_OF(o, n, tenant_id),
                  A_STRS(zones, n), A_I64S_OF(o, n, version), A_TIMES(at, n)), ret, BATCH, e), e);
}

/* What the database has destroyed and the journal does not know, as after a tenant's deletion or in another process. */
static enum errc adopt(struct work *w, const char *dir, const struct erasure_orders *orders, struct erasure_look *ret,
                       struct err *e)
{
    struct shredded last = { .zone = STR("") };
    struct { struct shredded *items; size_t n; } rows;
    uint8_t line[SHA256_BYTES];
    do {
        TRY(RUN_TX(w, w->app->pool, SCOPE_SYSTEM, TX_READ_ONLY, db_many(w->tx, &shredded_stmt, ARGS(A_UUID(last.tenant_id),
                   A_STR(last.zone), A_I64(BATCH)), &rows, BATCH, e), e));
        for (size_t i = 0; i < rows.n; i++) {
            const struct shredded *r = &rows.items[i];
            const struct shred_order *known = erasure_shreds_find(orders, r->tenant_id, r->zone);
            struct shred_order o = { .tenant_id = r->tenant_id, .version = r->version, .ts_us = r->since.us };
            if ((known && known->version >= r->version) || r->zone.len >= sizeof o.zone)
                continue;
            memcpy(o.zone, r->zone.ptr, r->zone.len);
            TRY(erasure_journal_shred(dir, &o, line, e));
            ret->adopted++;
        }
        last = rows.n ? rows.items[rows.n - 1] : last;
    } while (rows.n == BATCH);
    return ERR_OK;
}

enum errc shred_again(struct work *w, const char *dir, const struct erasure_orders *orders, struct erasure_look *ret,
                      struct err *e)
{
    for (size_t i = 0; i < orders->nshreds; i += BATCH) {
        size_t n = orders->nshreds - i < BATCH ? orders->nshreds - i : BATCH;
        struct slice rows;
        TRY(find_undone(w, orders->shreds + i, n, &rows, e));
        const struct undone *u = rows.items;
        for (size_t k = 0; k < rows.n; k++) {
            const struct shred_order *o = erasure_shreds_find(orders, u[k].tenant_id, u[k].zone);
            if (w->now_us - o->ts_us >= YOUNG_US)
                TRY(undo_restore(w->app, o, ret, e));
        }
    }
    return adopt(w, dir, orders, ret, e);
}
