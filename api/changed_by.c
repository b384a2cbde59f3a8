/* SPDX-License-Identifier: Apache-2.0 */
/* changed_by.c - the newest successful event of the same kind about the object, in the log of the tenant that the call is about.
 *
 * What the sequencer has numbered is found by its index. Events without a number yet, usually the change that won
 * against the caller, are searched among the tenant's newest ones, so that no older change is named instead.
 * Row-level security shows only people of that tenant; any other actor is platform staff, whose identity is not shown. Platform staff
 * acting in a tenant do not see its people either. Callers always see themselves. A name needs user:read. */
#include "api/changed_by.h"
#include "api/api_int.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "tenants/access/authz.h"

/* Newer events than the sequencer needs at its worst; and how many of them are looked through. */
#define UNNUMBERED_US INT64_C(60000000)
enum { UNNUMBERED_MAX = 5000 };

struct last_change {
    struct timestamp at;
    struct str actor, name;
    struct uuid actor_id;
};
SCHEMA_OF(last_change, "The last change of an object", FIELD(last_change, at, 0, .doc = "When"), FIELD(last_change, actor, 0, .doc = "Kind of who did it"),
    FIELD(last_change, name, 0, .doc = "Name, where it is one of the tenant"), FIELD(last_change, actor_id, 0, .doc = "Who"));

static const struct stmt last_change_stmt = { .name = "last_change", .params = "ussui", .row = &last_change_schema, .card = CARD_MAYBE, .sql =
    "SELECT c.at, c.actor, u.name, c.actor_id FROM (\n"
    "  (SELECT s.at, s.actor, s.actor_id FROM audit_seq s WHERE s.tenant_id = $1 AND s.resource_id = $2\n"
    "      AND starts_with(s.action, $3) AND right(s.code, 1) = 'S' ORDER BY s.tseq DESC LIMIT 1)\n"
    "  UNION ALL\n"
    "  SELECT n.at, j #>> '{actor,type}', (j #>> '{actor,id}')::uuid\n"
    "    FROM (SELECT e.at, e.body FROM audit_event e WHERE e.tenant_id = $1 AND e.event_id > $4 ORDER BY e.event_id DESC LIMIT $5) n,\n"
    "         LATERAL (SELECT CASE WHEN position(convert_to($2, 'UTF8') IN n.body) > 0 THEN convert_from(n.body, 'UTF8')::jsonb END) x(j)\n"
    "   WHERE j #>> '{resource,id}' = $2 AND starts_with(j ->> 'action', $3) AND right(j ->> 'code', 1) = 'S') c\n"
    "  LEFT JOIN app_user u ON u.tenant_id = $1 AND u.user_id = c.actor_id ORDER BY c.at DESC LIMIT 1" };

const struct stmt *const changed_by_stmts[] = { &last_change_stmt, NULL };

/* "user.update" -> "user.": what changes a thing is named after it, as the call itself is. */
static struct str family_of(const struct route *row)
{
    struct str action = str_c(audit_code_row(row->audit)->action), head, rest;
    str_cut(action, '.', &head, &rest);
    return str_n(action.ptr, head.len + 1);
}

static enum errc read_last(struct call *c, struct str id, struct last_change *ret, bool *found, struct err *e)
{
    struct work *w = &c->work;
    struct uuid floor = { 0 };
    uint64_t ms = (uint64_t)((w->now_us - UNNUMBERED_US) / 1000);
    for (int i = 0; i < 6; i++)
        floor.b[i] = (uint8_t)(ms >> (8 * (5 - i)));
    return RUN_READ(w, db_maybe(w->tx, &last_change_stmt, ARGS(A_UUID(w->tenant_id), A_STR(id), A_STR(family_of(c->route)), A_UUID(floor),
                    A_I64(UNNUMBERED_MAX)), ret, found, e), e);
}

static void tell(struct call *c, const struct last_change *l, struct buf *out)
{
    const struct principal *p = c->principal;
    bool is_own = uuid_eq(l->actor_id, p->user_id);
    bool is_known = l->name.ptr && uuid_eq(p->tenant_id, c->work.tenant_id);
    char at[TIME_TEXT];
    time_text(l->at.us, at);
    buf_printf(out, ",\"changed_at\":\"%s\",\"changed_by\":{\"kind\":\"%s\"", at,
               !str_eq_c(l->actor, "user") ? "system" : is_own || l->name.ptr ? "user" : "platform");
    if (is_own || is_known) {
        buf_add_c(out, ",\"user_id\":");
        buf_add_json(out, id_text(c->work.arena, "usr", l->actor_id));
        if (is_own || authz_work(&c->work, PERM_USER_READ).allowed) {
            buf_add_c(out, ",\"name\":");
            buf_add_json(out, is_own ? p->name : l->name);
        }
    }
    buf_add_c(out, "}");
}

void changed_by_tell(struct call *c, struct str id, struct buf *out)
{
    struct last_change last;
    struct err e = { 0 };
    bool found = false;
    if (read_last(c, id, &last, &found, &e) != ERR_OK)
        log_err(LOG_WARN, "changed_by.not_read", &e);
    else if (found)
        tell(c, &last, out);
}
