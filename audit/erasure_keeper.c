/* SPDX-License-Identifier: Apache-2.0 */
/* erasure_keeper.c - journal and database, each told what only the other one knows. */
#include "audit/erasure_keeper.h"
#include "audit/erasure.h"
#include "audit/erasure_journal.h"
#include "audit/event.h"
#include "audit/pii.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 1000, PLACE_MAX = 160 };
static const int64_t LOOK_EVERY_US = 3600000000;
static const size_t LOOK_ARENA = 1 << 30, ORDER_ARENA = 64 << 20;

struct erasure_keeper {
    char *dir;
    erasure_keys_fn keys;
    atomic_bool is_unsure;          /* an order was made void, though its commit may have reached the database */
    char place[PLACE_MAX];          /* where the database stood at the last look */
    int64_t looked_us;
};

struct place_row { int64_t epoch; struct str cluster; };
SCHEMA_OF(place_row, "Where the database stands", FIELD(place_row, epoch, 0, .doc = "Epoch"),
    FIELD(place_row, cluster, 0, .max = PLACE_MAX, .doc = "Cluster, database, timeline"));
static const struct stmt place = { .name = "erasure_place", .row = &place_row_schema, .card = CARD_ONE, .sql =
  "SELECT epoch, cluster FROM database_epoch WHERE id = 1" };
struct order_row { struct uuid tenant_id, user_id, by; struct timestamp erased_at; };
SCHEMA_OF(order_row, "A person that is erased", FIELD(order_row, tenant_id, 0, .doc = "Of which tenant"),
    FIELD(order_row, user_id, 0, .doc = "Who"), FIELD(order_row, by, 0, .doc = "By whom"),
    FIELD(order_row, erased_at, 0, .doc = "When"));
static const struct stmt erased = { .name = "erasure_erased", .params = "uui", .row = &order_row_schema, .card = CARD_MANY, .sql =
  "SELECT tenant_id, user_id, by, erased_at FROM erasures_after($1, $2, $3)" };
struct due_row { struct uuid tenant_id, user_id; };
SCHEMA_OF(due_row, "A person that is back", FIELD(due_row, tenant_id, 0, .doc = "Of which tenant"),
    FIELD(due_row, user_id, 0, .doc = "Who"));
static const struct stmt due = { .name = "erasure_due", .params = "UU", .row = &due_row_schema, .card = CARD_MANY, .sql =
  "SELECT tenant_id, user_id FROM erasures_undone($1, $2)" };
const struct stmt *const erasure_keeper_stmts[] = { &place, &erased, &due, NULL };

struct erasure_keeper *erasure_keeper_new(const char *dir)
{
    if (!*dir)
        return NULL;
    struct erasure_keeper *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->dir = strdup(dir);
    ASSERT(k->dir);
    return k;
}

void erasure_keeper_set_keys(struct erasure_keeper *k, erasure_keys_fn keys)
{
    if (k)
        k->keys = keys;
}

void erasure_keeper_free(struct erasure_keeper *k)
{
    if (!k)
        return;
    free(k->dir);
    free(k);
}

/* ------------------------------------------------------------------------------------------------------------------- order */
struct pending { struct erasure_keeper *k; uint8_t line[SHA256_BYTES]; bool is_committed; };

static void committed(void *ctx)
{
    struct pending *p = ctx;
    p->is_committed = true;
}

static void end_order(void *ctx)
{
    const struct pending *p = ctx;
    struct err e;
    if (p->is_committed)
        return;
    if (erasure_journal_void(p->k->dir, p->line, &e) != ERR_OK)
        log_err(LOG_ERROR, "erasure.void", &e);
    p->k->is_unsure = true;
}

/* A line that has just been written is void unless the transaction commits. */
static enum errc await(struct work *w, struct pending *p)
{
    p->k = w->app->erasures;
    db_after_commit(w->tx, committed, p);
    arena_defer(w->arena, end_order, p);
    return ERR_OK;
}

enum errc erasure_keeper_order(struct work *w, struct uuid user_id, struct uuid by, struct err *e)
{
    struct erasure_keeper *k = w->app->erasures;
    struct pending *p = ARENA_NEW(w->arena, struct pending);
    if (!k)
        return ERR_OK;
    TRY(erasure_journal_add(k->dir, &(struct erasure_order){ w->tenant_id, user_id, by, w->now_us }, p->line, e));
    return await(w, p);
}

enum errc erasure_keeper_order_shred(struct work *w, struct str zone, int64_t version, struct uuid by, struct err *e)
{
    struct erasure_keeper *k = w->app->erasures;
    struct pending *p = ARENA_NEW(w->arena, struct pending);
    struct shred_order o = { .tenant_id = w->tenant_id, .by = by, .version = version, .ts_us = w->now_us };
    if (!k)
        return ERR_OK;
    ASSERT(zone.len < sizeof o.zone);
    memcpy(o.zone, zone.ptr, zone.len);
    TRY(erasure_journal_shred(k->dir, &o, p->line, e));
    return await(w, p);
}

enum errc erasure_keeper_keep(struct work *w, struct str zone, int64_t version, struct err *e)
{
    struct erasure_keeper *k = w->app->erasures;
    struct pending *p = ARENA_NEW(w->arena, struct pending);
    if (!k)
        return ERR_OK;
    TRY(erasure_journal_keep(k->dir, w->tenant_id, zone, version, p->line, e));
    return await(w, p);
}

/* -------------------------------------------------------------------------------------------------------------------- look */
/* What the database has erased and the journal does not know. */
static enum errc adopt(struct work *w, const char *dir, const struct erasure_orders *orders, struct erasure_look *ret,
                       struct err *e)
{
    struct order_row last = { .user_id = UUID_NIL };
    struct { struct order_row *items; size_t n; } rows;
    uint8_t line[SHA256_BYTES];
    do {
        TRY(RUN_TX(w, w->app->pool, SCOPE_SYSTEM, TX_READ_ONLY, db_many(w->tx, &erased, ARGS(A_UUID(last.tenant_id),
                   A_UUID(last.user_id), A_I64(BATCH)), &rows, BATCH, e), e));
        for (size_t i = 0; i < rows.n; i++) {
            const struct order_row *r = &rows.items[i];
            if (erasure_orders_find(orders, r->tenant_id, r->user_id))
                continue;
            TRY(erasure_journal_add(dir, &(struct erasure_order){ r->tenant_id, r->user_id, r->by, r->erased_at.us }, line, e));
            ret->adopted++;
        }
        last = rows.n ? rows.items[rows.n - 1] : last;
    } while (rows.n == BATCH);
    return ERR_OK;
}

static enum errc erase_and_tell(struct work *w, const struct erasure_order *o, struct err *e)
{
    struct audit_erasure done;
    struct audit_event ev = audit_event_of(w, AUDIT_PERSON_ERASE_AGAIN);
    TRY(audit_erase_restored(w, o->user_id, o->by, &done, e));
    ev.resource_kind = STR("user");
    ev.resource_prefix = "usr";
    ev.resource_id = o->user_id;
    audit_event_detail(&ev, AUDIT_D_STR("ordered_by", id_text(w->arena, "usr", o->by)));
    audit_event_detail(&ev, AUDIT_D_INT("ordered_us", o->ts_us));
    return audit_append(w, &ev, e);
}

static enum errc erase_again(const struct app *app, const struct erasure_order *o, struct erasure_look *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ORDER_ARENA);
    struct work w = { .app = app, .arena = a, .tenant_id = o->tenant_id, .now_us = clock_wall_us(app->clock) };
    enum errc rc = RUN_WRITE(&w, erase_and_tell(&w, o, e), e);
    if (rc == ERR_LEGAL_HOLD) {
        ret->held++;
        return ERR_OK;
    }
    if (rc == ERR_CONFLICT || rc == ERR_NOT_FOUND)
        return ERR_OK;                  /* another process was first, or the tenant went just now */
    if (rc == ERR_OK) {
        ret->again++;
        if (app->pii)
            audit_pii_forget(app->pii, o->user_id);
    }
    return rc;
}

static enum errc undo_restore(struct work *w, const struct erasure_orders *orders, struct erasure_look *ret, struct err *e)
{
    struct { struct due_row *items; size_t n; } rows;
    for (size_t i = 0; i < orders->n; i += BATCH) {
        const struct erasure_order *o = orders->items + i;
        size_t n = orders->n - i < BATCH ? orders->n - i : BATCH;
        TRY(RUN_TX(w, w->app->pool, SCOPE_SYSTEM, TX_READ_ONLY, db_many(w->tx, &due, ARGS(A_UUIDS_OF(o, n, tenant_id),
                   A_UUIDS_OF(o, n, user_id)), &rows, BATCH, e), e));
        for (size_t k = 0; k < rows.n; k++)
            TRY(erase_again(w->app, erasure_orders_find(orders, rows.items[k].tenant_id, rows.items[k].user_id), ret, e));
    }
    return ERR_OK;
}

static enum errc where_it_stands(struct work *w, char ret[PLACE_MAX], struct err *e)
{
    struct place_row row;
    TRY(RUN_TX(w, w->app->pool, SCOPE_SYSTEM, TX_READ_ONLY, db_one(w->tx, &place, NO_ARGS, &row, e), e));
    snprintf(ret, PLACE_MAX, "%lld %.*s", (long long)row.epoch, STR_ARG(row.cluster));
    return ERR_OK;
}

enum errc erasure_keeper_look(const struct app *app, struct erasure_look *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(LOOK_ARENA);
    struct erasure_keeper *k = app->erasures;
    struct work w = { .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
    struct erasure_orders orders;
    char here[PLACE_MAX];
    *ret = (struct erasure_look){ 0 };
    if (!k)
        return ERR_OK;
    k->is_unsure = false;
    TRY(where_it_stands(&w, here, e));
    TRY(erasure_journal_read(k->dir, a, &orders, e));
    if (orders.faults)
        log_event(LOG_ERROR, "erasure.journal", "faults", LOG_I(orders.faults), "first_line", LOG_I(orders.first_fault), "why",
                  LOG_S("a line of falaj-erasures.jsonl does not follow the one before it: lines were cut out or changed"), NULL);
    TRY(undo_restore(&w, &orders, ret, e));
    TRY(adopt(&w, k->dir, &orders, ret, e));
    if (k->keys)
        TRY(k->keys(&w, k->dir, &orders, ret, e));
    if (ret->again || ret->held || ret->adopted)
        log_event(ret->held ? LOG_ERROR : LOG_WARN, "erasure.look", "again", LOG_I(ret->again), "held", LOG_I(ret->held),
                  "adopted", LOG_I(ret->adopted), NULL);
    memcpy(k->place, here, sizeof here);
    k->looked_us = clock_mono_us(app->clock);
    return ERR_OK;
}

enum errc erasure_keeper_look_if_moved(const struct app *app, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ORDER_ARENA);
    struct erasure_keeper *k = app->erasures;
    struct work w = { .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
    struct erasure_look look;
    char here[PLACE_MAX];
    if (!k)
        return ERR_OK;
    TRY(where_it_stands(&w, here, e));
    bool is_due = clock_mono_us(app->clock) - k->looked_us >= LOOK_EVERY_US;
    return is_due || k->is_unsure || strcmp(here, k->place) != 0 ? erasure_keeper_look(app, &look, e) : ERR_OK;
}
