/* SPDX-License-Identifier: Apache-2.0 */
/* actor.c - who did an audited act. */
#include "tenants/access/actor.h"
#include "core/base/arena.h"
#include "core/base/work.h"
#include "tenants/access/authz.h"

struct actor actor_of(const struct principal *p)
{
    if (!p)
        return (struct actor){ .kind = AUDIT_ANONYMOUS };
    bool is_jwt = p->method == AUTH_JWT;
    return (struct actor){ .id = p->user_id, .token_id = is_jwt ? UUID_NIL : p->token_id, .issuer_id = is_jwt ? p->token_id : UUID_NIL,
                           .session_id = p->method == AUTH_SESSION ? p->session_id : UUID_NIL,
                           .kind = p->is_worker ? AUDIT_WORKER : AUDIT_USER, .roles = p->roles, .is_break_glass = p->is_break_glass };
}

void audit_event_set_actor(struct audit_event *ev, struct arena *a, const struct actor *by)
{
    ev->actor = (enum audit_actor)by->kind;
    ev->actor_id = by->id;
    ev->token_id = by->token_id;
    if (!uuid_is_nil(by->issuer_id))
        audit_event_detail(ev, AUDIT_D_STR("issuer", id_text(a, "iss", by->issuer_id)));
    if (by->is_break_glass)
        audit_event_detail(ev, AUDIT_D_INT("break_glass", 1));
    if (!uuid_is_nil(by->session_id))
        audit_event_detail(ev, AUDIT_D_STR("session", id_text(a, "ses", by->session_id)));
    for (int r = 0; r < ROLE_COUNT && ev->role_count < AUDIT_ROLES_MAX; r++)
        if (by->roles & UINT32_C(1) << r)
            ev->roles[ev->role_count++] = str_c(role_row((enum role)r)->wire);
}

struct audit_event audit_event_by(const struct work *w, const struct principal *p, enum audit_code code)
{
    struct audit_event ev = audit_event_of(w, code);
    struct actor by = actor_of(p);
    audit_event_set_actor(&ev, w->arena, &by);
    if (p)
        ev.zone = p->home_zone;
    return ev;
}

void audit_event_by_node(struct audit_event *ev, struct uuid node_id, struct str zone)
{
    ev->actor = AUDIT_WORKER;
    ev->actor_id = node_id;
    ev->zone = zone;
}
