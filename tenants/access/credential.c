/* SPDX-License-Identifier: Apache-2.0 */
/* credential.c - the bindings of the user are read under the lock that grants take, and judged one by one. */
#include "tenants/access/credential.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/principal_load.h"
#include "tenants/access/second_person.h"

/* Changes of rights update this row (binding_lock). */
static const struct stmt credential_rights_hold = { .name = "credential_rights_hold", .params = "u", .card = CARD_NONE, .sql =
    "SELECT FROM tenant WHERE tenant_id = $1 FOR SHARE" };

const struct stmt *const credential_stmts[] = { &credential_rights_hold, NULL };

static struct authz_context context_of(const struct work *w)
{
    return (struct authz_context){ .now_us = w->now_us, .source_ip = w->source_ip };
}

void credential_hold_rights(struct work *w)
{
    db_queue(w->tx, &credential_rights_hold, ARGS(A_UUID(w->tenant_id)), false);
}

enum errc credential_for_user(struct work *w, struct uuid user_id, struct err *e)
{
    struct principal_row row;
    struct slice bindings;
    struct authz_context ctx = context_of(w);
    if (uuid_eq(user_id, w->principal->user_id))
        return ERR_OK;
    credential_hold_rights(w);
    TRY(principal_find(w->tx, w->tenant_id, user_id, &row, e));
    TRY(bindings_read(row.bindings, w->arena, &bindings, e));
    for (size_t i = 0; i < bindings.n; i++) {
        enum permission missing;
        if (!authz_may_act_as(w->principal, &((const struct binding *)bindings.items)[i], &ctx, &missing))
            return FAIL(e, FORBIDDEN, "You cannot make a credential that acts as this user: it would hold the permission %s, which you do not",
                        perm_row(missing)->wire);
    }
    return ERR_OK;
}

enum errc credential_for_role(const struct work *w, enum role role, struct err *e)
{
    struct authz_context ctx = context_of(w);
    struct binding wanted = { .role = role, .place = uuid_is_nil(w->tenant_id) ? BOUND_PLATFORM : BOUND_TENANT };
    enum permission missing;
    if (!authz_work(w, PERM_ROLE_GRANT).allowed)
        return FAIL(e, FORBIDDEN, "Groups that give roles need the permission %s", perm_row(PERM_ROLE_GRANT)->wire);
    if (second_person_asked(w->app) && role_takes_two(role))
        return FAIL(e, FORBIDDEN, "A group cannot give the role %s: appointing to it takes two people; ask with POST "
            "/v1/appointments",
                    role_row(role)->wire);
    if (!authz_may_act_as(w->principal, &wanted, &ctx, &missing))
        return FAIL(e, FORBIDDEN, "A group cannot give the role %s by your hand: it includes the permission %s, which you do not hold; grant the "
                    "role to the person instead", role_row(role)->wire, perm_row(missing)->wire);
    return ERR_OK;
}
