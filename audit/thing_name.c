/* SPDX-License-Identifier: Apache-2.0 */
/* thing_name.c - names of the things that a log is about, by the view audit_thing. */
#include "audit/thing_name.h"
#include "audit/resource_kind.def"
#include "core/base/cleanup.h"
#include "core/base/work.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

#include <stdio.h>

enum { NAMED_MAX = 5 };             /* things of one name that an error lists */

SCHEMA_EXTERN(audit_thing, "Something that the log is about",
    FIELD(audit_thing, kind, F_ALWAYS, .doc = "Kind, as events write it"),
    FIELD(audit_thing, id, F_ALWAYS, .doc = "Id, as events write it"),
    FIELD(audit_thing, name, F_ALWAYS, .doc = "Name; of what was deleted the last one"),
    FIELD(audit_thing, display_name, 0, .doc = "Name for people; absent: none"),
    FIELD(audit_thing, display_name_ar, 0, .doc = "Name for people in Arabic; absent: none"),
    FIELD(audit_thing, deleted, F_ALWAYS, .doc = "Whether it is gone"));
struct thing_row {
    struct uuid thing_id;
    struct str kind, prefix, name, display_name, display_name_ar;
    bool gone;
};
SCHEMA_OF(thing_row, "Something with a name",
    FIELD(thing_row, thing_id, 0, .doc = "Which"), FIELD(thing_row, kind, 0, .doc = "Kind"),
    FIELD(thing_row, prefix, 0, .doc = "Prefix of its ids; empty: its name is its id"), FIELD(thing_row, name, 0, .doc = "Name"),
    FIELD(thing_row, display_name, 0, .doc = "For people"), FIELD(thing_row, display_name_ar, 0, .doc = "In Arabic"),
    FIELD(thing_row, gone, 0, .doc = "Deleted"));
struct things { struct thing_row *items; size_t n; };

#define THING \
    "SELECT thing_id, kind, prefix, name, nullif(display_name, '') AS display_name,\n" \
    "       nullif(display_name_ar, '') AS display_name_ar, gone\n" \
    "  FROM audit_thing WHERE tenant_id = $1 AND "
static const struct stmt by_id = { .name = "audit_thing_by_id", .params = "uU", .row = &thing_row_schema, .card = CARD_MANY,
  .sql =
  THING "thing_id = ANY ($2)" };
static const struct stmt by_name = { .name = "audit_thing_by_name", .params = "usi", .row = &thing_row_schema, .card = CARD_MANY,
  .sql =
  THING "kind <> 'job' AND lower($2) IN (lower(name), lower(display_name), lower(display_name_ar))\n"
  " ORDER BY gone, kind, thing_id LIMIT $3" };
static const struct stmt by_part = { .name = "audit_thing_by_part", .params = "usi", .row = &thing_row_schema, .card = CARD_MANY,
  .sql =
  THING "kind <> 'job' AND position(lower($2) IN lower(concat_ws(E'\\n', name, display_name, display_name_ar))) > 0\n"
  " ORDER BY NOT (starts_with(lower(name), lower($2)) OR starts_with(lower(display_name), lower($2))\n"
  "               OR starts_with(lower(display_name_ar), lower($2))), gone, lower(name), kind, thing_id LIMIT $3" };
const struct stmt *const audit_thing_stmts[] = { &by_id, &by_name, &by_part, NULL };

#define KIND_NAME(kind) #kind,
static const char *const kinds[] = { AUDIT_RESOURCE_KINDS(KIND_NAME) };

bool audit_resource_kind_is_known(struct str kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq_c(kind, kinds[i]))
            return true;
    return false;
}

static bool id_of(struct str s, struct uuid *ret)
{
    struct str prefix, hex;
    return str_cut(s, '_', &prefix, &hex) && hex.len == 32 && uuid_parse(hex, ret);
}

enum errc audit_thing_names(struct work *w, struct uuid tenant, const struct audit_row *rows, size_t n, struct audit_called **ret,
                            struct err *e)
{
    struct things found = { 0 };
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n + 1), id;
    struct audit_called *out = ARENA_ARRAY(w->arena, struct audit_called, n + 1);
    size_t count = 0;
    *ret = out;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (!id_of(rows[i].resource_id, &id))
            continue;
        while (k < count && !uuid_eq(ids[k], id))
            k++;
        if (k == count)
            ids[count++] = id;
    }
    if (count == 0)
        return ERR_OK;
    TRY(db_many(w->tx, &by_id, ARGS(A_UUID(tenant), A_UUIDS(ids, count)), &found, count, e));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < found.n && !out[i].name.ptr && id_of(rows[i].resource_id, &id); k++)
            if (uuid_eq(found.items[k].thing_id, id))
                out[i] = (struct audit_called){ found.items[k].name, found.items[k].display_name,
                                                found.items[k].display_name_ar };
    return ERR_OK;
}

static void things_of(struct arena *a, const struct things *found, struct audit_thing *out)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct thing_row *r = &found->items[i];
        char prefix[8];
        snprintf(prefix, sizeof prefix, "%.*s", STR_ARG(r->prefix));
        out[i] = (struct audit_thing){ r->kind, prefix[0] ? id_text(a, prefix, r->thing_id) : r->name, r->name, r->display_name,
                                      r->display_name_ar, r->gone };
    }
}

enum errc audit_things_find(struct work *w, struct uuid tenant, struct str part, size_t limit, struct audit_thing **ret,
                            size_t *ret_n,
                            struct err *e)
{
    struct things found = { 0 };
    TRY(db_many(w->tx, &by_part, ARGS(A_UUID(tenant), A_STR(part), A_I64((int64_t)limit)), &found, limit, e));
    *ret = ARENA_ARRAY(w->arena, struct audit_thing, found.n + 1);
    *ret_n = found.n;
    things_of(w->arena, &found, *ret);
    return ERR_OK;
}

static enum errc refuse_several(const struct audit_thing *things, size_t n, struct str asked, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    for (size_t i = 0; i < n && i < NAMED_MAX; i++)
        buf_printf(&b, "%s%.*s %.*s%s", i ? ", " : "", STR_ARG(things[i].kind), STR_ARG(things[i].id),
                   things[i].deleted ? " (deleted)" : "");
    return FAIL_AT(e, UNPROCESSABLE, "/resource", "Several things are or were called %.*s: %.*s%s; give the id of one",
                   STR_ARG(asked),
                   STR_ARG(buf_str(&b)), n > NAMED_MAX ? " and more" : "");
}

enum errc audit_thing_resolve(struct work *w, struct uuid tenant, struct str asked, struct str *ret, struct err *e)
{
    struct things found = { 0 };
    struct uuid ignored;
    *ret = asked;
    if (!asked.ptr || id_of(asked, &ignored) || audit_resource_kind_is_known(asked))
        return ERR_OK;
    TRY(db_many(w->tx, &by_name, ARGS(A_UUID(tenant), A_STR(asked), A_I64(NAMED_MAX + 1)), &found, NAMED_MAX + 1, e));
    struct audit_thing *things = ARENA_ARRAY(w->arena, struct audit_thing, found.n + 1);
    things_of(w->arena, &found, things);
    if (found.n > 1)
        return refuse_several(things, found.n, asked, e);
    if (found.n == 0)
        return FAIL_AT(e, UNPROCESSABLE, "/resource",
                       "Nothing is or was called %.*s, and no kind of thing is; give a name, an id (dst_…) or "
                       "a kind (dataset). Jobs are found by their id", STR_ARG(asked));
    *ret = things[0].id;
    return ERR_OK;
}
