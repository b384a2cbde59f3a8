/* SPDX-License-Identifier: Apache-2.0 */
/* content_delete.c - one statement (migrations/functions/content_delete.sql) says what is in the way or deletes; here words are
 * made of it. */
#include "registry/catalog/content_delete.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "registry/registry_int.h"
#include "registry/vault/object.h"
#include "tenants/accounts/quota.h"

enum { ROWS_MAX = 1 << 16, NAMED_MAX = 5 };

SCHEMA_EXTERN(content_deleted, "What is gone for good",
    FIELD(content_deleted, objects, F_ALWAYS,
        .doc = "Objects whose data keys were forgotten: versions, and copies in other zones"),
    FIELD(content_deleted, stored_bytes, F_ALWAYS, .doc = "Bytes that they took"));
struct gone { struct str kind; struct uuid id; struct str name; int64_t stored_bytes; };
SCHEMA_OF(gone, "What is in the way, or gone", FIELD(gone, kind, 0, .doc = "hold, deployment, environment, job, upload, object"),
    FIELD(gone, id, 0, .doc = "Its id"), FIELD(gone, name, 0, .doc = "Its name"), FIELD(gone, stored_bytes, 0,
        .doc = "Of an object"));
struct gone_rows { struct gone *items; size_t n; };

const struct stmt content_delete_stmt = { .name = "content_delete", .params = "usu", .row = &gone_schema, .card = CARD_MANY,
    .sql =
    "SELECT kind, id, name, stored_bytes FROM content_delete($1, $2, $3)" };

static const char *prefix_of(struct str kind)
{
    return str_eq_c(kind, "job") ? "job" : str_eq_c(kind, "upload") ? "upl" : str_eq_c(kind, "environment") ? "env" : "dpl";
}

/* ERR_OK: nothing is in the way. */
static enum errc refuse(struct work *w, const struct gone_rows *rows, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    size_t users = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct gone *g = &rows->items[i];
        if (str_eq_c(g->kind, "object"))
            continue;
        if (str_eq_c(g->kind, "hold"))
            return FAIL(e, LEGAL_HOLD, "A legal hold keeps this; it must be lifted first");
        if (users++ < NAMED_MAX)
            buf_printf(&b, "%s%.*s %.*s%s(%.*s)", users > 1 ? ", " : "", STR_ARG(g->kind), STR_ARG(g->name),
                g->name.len ? " " : "",
                       STR_ARG(id_text(w->arena, prefix_of(g->kind), g->id)));
    }
    if (users > NAMED_MAX)
        buf_printf(&b, " and %zu more", users - NAMED_MAX);
    return users ? FAIL(e, CONFLICT, "It is still used by %.*s; end that first", STR_ARG(buf_str(&b))) : ERR_OK;
}

enum errc content_delete(struct work *w, const struct versioned *k, struct uuid id, struct content_deleted *ret, struct err *e)
{
    struct gone_rows rows;
    TRY(versioned_get(w, k, id, arena_alloc(w->arena, k->get->row->size), e));
    TRY(db_many(w->tx, &content_delete_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(k->name), A_UUID(id)), &rows, ROWS_MAX, e));
    TRY(refuse(w, &rows, e));
    *ret = (struct content_deleted){ .objects = (int64_t)rows.n };
    struct uuid *objects = ARENA_ARRAY(w->arena, struct uuid, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        objects[i] = rows.items[i].id;
        ret->stored_bytes += rows.items[i].stored_bytes;
    }
    if (rows.n) {
        quota_release(w, "objects", ret->objects);
        quota_release(w, "stored_bytes", ret->stored_bytes);
    }
    object_gone(w, objects, rows.n);
    return ERR_OK;
}
