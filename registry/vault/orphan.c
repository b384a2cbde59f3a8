/* SPDX-License-Identifier: Apache-2.0 */
/* orphan.c - blobs without rows. Old blobs are collected in batches; each batch is one question to the database. */
#include "registry/vault/orphan.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "registry/vault/blob_store.h"
#include "registry/registry_int.h"

enum { BATCH = 512 };

struct orphan_known { struct uuid object_id; };
SCHEMA_OF(orphan_known, "An object that has a row", FIELD_ID(orphan_known, object_id, "obj", 0, .doc = "The object"));
const struct stmt orphan_known_stmt = { .name = "orphan_known", .params = "UU", .row = &orphan_known_schema, .card = CARD_MANY, .sql =
    "SELECT o.object_id FROM unnest($1, $2) AS i(tenant_id, object_id)\n"
    "  JOIN object o ON o.tenant_id = i.tenant_id AND o.object_id = i.object_id AND o.state <> 'DELETED' LIMIT 512" };

struct sweep {
    const struct app *app;
    struct arena *arena;
    struct uuid tenants[BATCH], objects[BATCH];
    size_t n;
    int64_t removed;
    enum errc rc;
    struct err *e;
};

static enum errc ask(struct sweep *s, bool *is_known, struct err *e)
{
    struct { struct orphan_known *items; size_t n; } rows;
    struct work w = { .app = s->app, .arena = s->arena };
    TRY(RUN_SYSTEM(&w, s->app->node_pool, TX_READ_ONLY,
                   db_many(w.tx, &orphan_known_stmt, ARGS(A_UUIDS(s->tenants, s->n), A_UUIDS(s->objects, s->n)),
                           &rows, BATCH, e), e));
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < rows.n && !is_known[i]; k++)
            is_known[i] = uuid_eq(rows.items[k].object_id, s->objects[i]);
    return ERR_OK;
}

static enum errc one_batch(struct sweep *s, struct err *e)
{
    bool is_known[BATCH] = { false };
    if (!s->n)
        return ERR_OK;
    TRY(ask(s, is_known, e));
    for (size_t i = 0; i < s->n; i++)
        if (!is_known[i] && blob_delete(s->app->blobs, s->tenants[i], s->objects[i], e) == ERR_OK) {
            s->removed++;
            log_event(LOG_INFO, "orphan.removed", "object", LOG_ID("obj", s->objects[i]), NULL);
        }
    s->n = 0;
    arena_reset(s->arena);
    return ERR_OK;
}

static bool collect(void *ctx, struct uuid tenant, struct uuid object)
{
    struct sweep *s = ctx;
    s->tenants[s->n] = tenant;
    s->objects[s->n++] = object;
    if (s->n == BATCH)
        s->rc = one_batch(s, s->e);
    return s->rc == ERR_OK;
}

enum errc orphan_sweep(const struct app *app, struct arena *a, int64_t age_s, int64_t *ret_removed, struct err *e)
{
    struct arena *own = arena_new(4 << 20);
    struct sweep *s = arena_try(a, sizeof *s);
    enum errc rc;
    if (!s) {
        rc = FAIL(e, LIMIT, "No memory for the sweep");
    } else {
        *s = (struct sweep){ .app = app, .arena = own, .e = e };
        rc = blob_each(app->blobs, age_s, collect, s, e);
        if (rc == ERR_OK)
            rc = s->rc == ERR_OK ? one_batch(s, e) : s->rc;
        if (rc == ERR_OK)
            *ret_removed = s->removed;
    }
    arena_free(own);
    return rc;
}
