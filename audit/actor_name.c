/* SPDX-License-Identifier: Apache-2.0 */
/* actor_name.c - names of the actors of a page of events, in one statement. */
#include "audit/actor_name.h"
#include "core/base/work.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

struct name_row {
    struct uuid user_id;
    struct str name;
};
SCHEMA_OF(name_row, "What a user is called", FIELD(name_row, user_id, 0, .doc = "Who"), FIELD(name_row, name, 0, .doc = "Name"));
/* An erased person keeps a row with a name that says so; whoever had no key has that name alone. */
static const struct stmt names = { .name = "audit_actor_names", .params = "uU", .row = &name_row_schema, .card = CARD_MANY, .sql =
  "SELECT u.user_id, u.name FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = ANY ($2)\n"
  "   AND u.name <> 'erased-' || replace(u.user_id::text, '-', '')\n"
  "   AND NOT EXISTS (SELECT FROM audit_subject_key k WHERE k.tenant_id = $1 AND k.subject_id = u.user_id AND k.erased_at IS NOT NULL)" };

static const struct stmt named = { .name = "audit_actor_named", .params = "us", .row = &name_row_schema, .card = CARD_MAYBE,
                                   .sql =
  "SELECT u.user_id, u.name FROM app_user u WHERE u.tenant_id = $1 AND lower(u.name) = lower($2)\n"
  "   AND u.name <> 'erased-' || replace(u.user_id::text, '-', '') LIMIT 1" };

const struct stmt *const audit_actor_name_stmts[] = { &names, &named, NULL };

static size_t distinct(const struct audit_row *rows, size_t n, struct uuid *out)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (uuid_is_nil(rows[i].actor_id))
            continue;
        while (k < count && !uuid_eq(out[k], rows[i].actor_id))
            k++;
        if (k == count)
            out[count++] = rows[i].actor_id;
    }
    return count;
}

enum errc audit_actor_names(struct work *w, struct uuid tenant, const struct audit_row *rows, size_t n, struct str **ret, struct err *e)
{
    struct { struct name_row *items; size_t n; } found = { 0 };
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    struct str *out = ARENA_ARRAY(w->arena, struct str, n + 1);
    size_t count = distinct(rows, n, ids);
    *ret = out;
    if (count == 0)
        return ERR_OK;
    TRY(db_many(w->tx, &names, ARGS(A_UUID(tenant), A_UUIDS(ids, count)), &found, count, e));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < found.n && !out[i].ptr; k++)
            if (uuid_eq(found.items[k].user_id, rows[i].actor_id))
                out[i] = found.items[k].name;
    return ERR_OK;
}

static bool is_kind(struct str s)
{
    for (int i = 0; i < AUDIT_ACTOR_COUNT; i++)
        if (str_eq_c(s, audit_actor_text((enum audit_actor)i)))
            return true;
    return false;
}

enum errc audit_actor_resolve(struct work *w, struct uuid tenant, struct str asked, struct str *ret, struct err *e)
{
    struct name_row row;
    struct uuid id;
    bool found = true;
    *ret = asked;
    if (!asked.ptr || is_kind(asked))
        return ERR_OK;
    if (!id_parse("usr", asked, &id) && !id_parse("nod", asked, &id) && !uuid_parse(asked, &id)) {
        TRY(db_maybe(w->tx, &named, ARGS(A_UUID(tenant), A_STR(asked)), &row, &found, e));
        id = row.user_id;
    }
    if (!found)
        return FAIL_AT(e, UNPROCESSABLE, "/actor",
                       "Nobody here is called %.*s; give a name, an id (usr_…, nod_…) or a kind of actor: "
                       "user, service, worker, system, anonymous", STR_ARG(asked));
    char *text = arena_alloc(w->arena, UUID_TEXT);
    uuid_text(id, text);
    *ret = str_c(text);
    return ERR_OK;
}
