/* SPDX-License-Identifier: Apache-2.0 */
/* changed_by.c - the newest successful event of the same kind about the object, in the log of the tenant that the call is about.
 *
 * Row-level security shows only people of that tenant; any other actor is platform staff, whose identity is not shown. Platform staff
 * acting in a tenant do not see its people either. Callers always see themselves. A name needs user:read. */
#include "api/changed_by.h"
#include "api/api_int.h"
#include "audit/last_change.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "tenants/access/authz.h"

struct last_change {
    struct audit_last_change by;
    struct str name;
};
struct user_name { struct str name; };
SCHEMA_OF(user_name, "Who changed it", FIELD(user_name, name, 0, .doc = "Name, where it is one of the tenant"));

static const struct stmt user_name_stmt = { .name = "changed_by_name", .params = "uu", .row = &user_name_schema, .card = CARD_MAYBE, .sql =
    "SELECT name FROM app_user WHERE tenant_id = $1 AND user_id = $2" };

const struct stmt *const changed_by_stmts[] = { &user_name_stmt, NULL };

/* "user.update" -> "user.": what changes a thing is named after it, as the call itself is. */
static struct str family_of(const struct route *row)
{
    struct str action = str_c(audit_code_row(row->audit)->action), head, rest;
    str_cut(action, '.', &head, &rest);
    return str_n(action.ptr, head.len + 1);
}

static enum errc read_in_tx(struct work *w, struct str id, struct str family, struct last_change *ret, bool *found, struct err *e)
{
    struct user_name u = { 0 };
    bool is_known;
    TRY(audit_last_change(w, w->tenant_id, id, family, &ret->by, found, e));
    if (*found)
        TRY(db_maybe(w->tx, &user_name_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(ret->by.actor_id)), &u, &is_known, e));
    ret->name = u.name;
    return ERR_OK;
}

static enum errc read_last(struct call *c, struct str id, struct last_change *ret, bool *found, struct err *e)
{
    return RUN_READ(&c->work, read_in_tx(&c->work, id, family_of(c->route), ret, found, e), e);
}

static void tell(struct call *c, const struct last_change *l, struct buf *out)
{
    const struct principal *p = c->principal;
    bool is_own = uuid_eq(l->by.actor_id, p->user_id);
    bool is_known = l->name.ptr && uuid_eq(p->tenant_id, c->work.tenant_id);
    char at[TIME_TEXT];
    time_text(l->by.at.us, at);
    buf_printf(out, ",\"changed_at\":\"%s\",\"changed_by\":{\"kind\":\"%s\"", at,
               !str_eq_c(l->by.actor, "user") ? "system" : is_own || l->name.ptr ? "user" : "platform");
    if (is_own || is_known) {
        buf_add_c(out, ",\"user_id\":");
        buf_add_json(out, id_text(c->work.arena, "usr", l->by.actor_id));
        if (is_own || authz_work(&c->work, PERM_USER_READ).allowed) {
            buf_add_c(out, ",\"name\":");
            buf_add_json(out, is_own ? p->name : l->name);
        }
    }
    buf_add_c(out, "}");
}

void changed_by_tell(struct call *c, struct str id, struct buf *out)
{
    struct last_change last = { 0 };
    struct err e = { 0 };
    bool found = false;
    if (read_last(c, id, &last, &found, &e) != ERR_OK)
        log_err(LOG_WARN, "changed_by.not_read", &e);
    else if (found)
        tell(c, &last, out);
}
