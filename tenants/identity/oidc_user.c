/* SPDX-License-Identifier: Apache-2.0 */
/* oidc_user.c - logins on their way, and from a provider's subject to a user with the roles of its groups.
 *
 * A user is known by (provider, subject), never by a name or an address: those can be given to somebody else. Roles that groups gave are
 * remembered one by one, so a login takes back exactly those whose group is gone. */
#include "core/crypto/hash.h"
#include "core/db/tx.h"
#include "core/json/jsonvalue.h"
#include "tenants/access/authz.h"
#include "tenants/access/binding.h"
#include "tenants/access/credential.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/oidc_int.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/user.h"

enum { ROLES_MAX = 64, GROUPS_DEPTH = 4 };

struct login_row { struct uuid of_tenant, of_provider; struct bytes cookie_hash; struct str return_to, redirect_uri; struct timestamp expires_at; };
SCHEMA_OF(login_row, "A login on its way", FIELD(login_row, of_tenant, 0, .doc = "Tenant"), FIELD(login_row, of_provider, 0, .doc = "Provider"),
    FIELD(login_row, cookie_hash, 0, .doc = "Of the browser"), FIELD(login_row, return_to, 0, .doc = "Where to go then"),
    FIELD(login_row, redirect_uri, 0, .doc = "As the provider was told"), FIELD(login_row, expires_at, 0, .doc = "Good until"));
struct known_user { struct uuid user_id; };
SCHEMA_OF(known_user, "A user", FIELD(known_user, user_id, 0, .doc = "User"));
struct given_role { struct uuid binding_id; struct str role; };
SCHEMA_OF(given_role, "A role that a group gave", FIELD(given_role, binding_id, 0, .doc = "Binding"), FIELD(given_role, role, 0, .doc = "Role"));

static const struct stmt oidc_login_insert = { .name = "oidc_login_insert", .params = "yyuusst", .card = CARD_NONE, .sql =
    "INSERT INTO oidc_login (state_hash, cookie_hash, of_tenant, of_provider, return_to, redirect_uri, expires_at)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7)" };
static const struct stmt oidc_login_take = { .name = "oidc_login_take", .params = "y", .row = &login_row_schema, .card = CARD_MAYBE, .sql =
    "DELETE FROM oidc_login WHERE state_hash = $1 RETURNING of_tenant, of_provider, cookie_hash, return_to, redirect_uri, expires_at" };
static const struct stmt oidc_known = { .name = "oidc_known", .params = "uust", .row = &known_user_schema, .card = CARD_MAYBE, .sql =
    "UPDATE federated_user SET last_login_at = $4 WHERE tenant_id = $1 AND provider_id = $2 AND subject = $3 RETURNING user_id" };
static const struct stmt oidc_link_insert = { .name = "oidc_link_insert", .params = "uusuu", .card = CARD_NONE, .sql =
    "INSERT INTO federated_user (tenant_id, provider_id, subject, user_id, linked_by) VALUES ($1, $2, $3, $4, $5)" };
static const struct stmt oidc_given = { .name = "oidc_given", .params = "uuu", .row = &given_role_schema, .card = CARD_MANY, .sql =
    "SELECT binding_id, role FROM federated_role WHERE tenant_id = $1 AND provider_id = $2 AND user_id = $3 LIMIT 64" };
static const struct stmt oidc_give = { .name = "oidc_give", .params = "uuuus", .card = CARD_NONE, .sql =
    "INSERT INTO federated_role (tenant_id, provider_id, binding_id, user_id, role) VALUES ($1, $2, $3, $4, $5)" };
static const struct stmt oidc_sweep_stmt = { .name = "oidc_sweep", .params = "", .card = CARD_NONE, .sql = "SELECT FROM federation_sweep()" };

const struct stmt *const oidc_stmts[] = { &oidc_login_insert, &oidc_login_take, &oidc_known, &oidc_link_insert, &oidc_given, &oidc_give, &oidc_sweep_stmt, NULL };

enum errc oidc_refuse(struct err *e, const char *why)
{
    FAIL(e, UNAUTHENTICATED, "The sign-in at the provider was not accepted");
    return err_note(e, "%s", why);
}

void oidc_sweep(struct work *w)
{
    db_queue(w->tx, &oidc_sweep_stmt, NO_ARGS, false);
}

enum errc oidc_store(struct work *w, const struct oidc_login *l, struct err *e)
{
    uint8_t state[SHA256_BYTES], cookie[SHA256_BYTES];
    sha256(l->state.ptr, l->state.len, state);
    sha256(l->cookie.ptr, l->cookie.len, cookie);
    return db_exec(w->tx, &oidc_login_insert, ARGS(A_BYTES(state, sizeof state), A_BYTES(cookie, sizeof cookie), A_UUID(l->tenant_id),
                   A_UUID(l->provider_id), A_STR(l->return_to), A_STR(l->redirect_uri),
                   A_TIME_US(w->now_us + LOGIN_MINUTES * INT64_C(60000000))), NULL, e);
}

enum errc oidc_take(struct work *w, struct str state, struct str cookie, struct oidc_login *ret, bool *ret_found, struct err *e)
{
    uint8_t hash[SHA256_BYTES];
    struct login_row row;
    sha256(state.ptr, state.len, hash);
    TRY(db_maybe(w->tx, &oidc_login_take, ARGS(A_BYTES(hash, sizeof hash)), &row, ret_found, e));
    if (!*ret_found)
        return ERR_OK;
    sha256(cookie.ptr, cookie.len, hash);
    *ret_found = row.cookie_hash.data.len == sizeof hash && mem_eq_ct(row.cookie_hash.data.ptr, hash, sizeof hash) && row.expires_at.us > w->now_us;
    *ret = (struct oidc_login){ row.of_tenant, row.of_provider, row.return_to, row.redirect_uri, state, cookie };
    return ERR_OK;
}

/* The roles that the person's groups give, each once. */
static size_t wanted_roles(struct work *w, const struct identity_provider *p, const struct oidc_person *who, struct str ret[ROLES_MAX])
{
    const struct jval *list;
    struct err ignored;
    size_t n = 0;
    if (jval_parse(w->arena, p->group_roles.text, GROUPS_DEPTH, &list, &ignored) != ERR_OK)
        return 0;
    for (size_t i = 0; i < jval_len(list) && n < ROLES_MAX; i++) {
        struct str group = jval_str(jval_get(jval_at(list, i), "group")), role = jval_str(jval_get(jval_at(list, i), "role"));
        bool is_in = false, is_known = false;
        for (size_t k = 0; k < who->n_groups; k++)
            is_in |= str_eq(who->groups[k], group);
        for (size_t k = 0; k < n; k++)
            is_known |= str_eq(ret[k], role);
        if (is_in && !is_known)
            ret[n++] = role;
    }
    return n;
}

static bool has_role(const struct str *roles, size_t n, struct str role)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(roles[i], role))
            return true;
    return false;
}

/* What cannot be given (held otherwise, no longer grantable, separate from a role held) is left out; the login goes on without it. */
static enum errc give(struct work *w, const struct identity_provider *p, struct uuid user_id, struct str role, struct err *e)
{
    struct role_binding b;
    struct err why;
    TRY(db_mark(w->tx, e));
    struct binding_new wanted = { .user_id = user_id, .role = role, .source = STR("group") };
    int r = role_by_wire(role);
    if (r < 0 || credential_for_role(w, (enum role)r, &why) != ERR_OK || binding_grant(w, &wanted, &b, &why) != ERR_OK)
        return db_back_to_mark(w->tx, e);
    return db_exec(w->tx, &oidc_give, ARGS(A_UUID(w->tenant_id), A_UUID(p->provider_id), A_UUID(b.binding_id), A_UUID(user_id), A_STR(role)), NULL, e);
}

static enum errc settle_roles(struct work *w, const struct identity_provider *p, const struct oidc_person *who, struct uuid user_id, bool can_give,
                              struct err *e)
{
    struct str want[ROLES_MAX], have[ROLES_MAX];
    size_t n = wanted_roles(w, p, who, want);
    struct slice given;
    struct err why;
    TRY(db_many(w->tx, &oidc_given, ARGS(A_UUID(w->tenant_id), A_UUID(p->provider_id), A_UUID(user_id)), &given, ROLES_MAX, e));
    const struct given_role *g = given.items;
    for (size_t i = 0; i < given.n; i++) {
        have[i] = g[i].role;
        if (has_role(want, n, g[i].role))
            continue;
        TRY(db_mark(w->tx, e));
        if (role_revoke(w, g[i].binding_id, &why) != ERR_OK)
            TRY(db_back_to_mark(w->tx, e));
    }
    for (size_t i = 0; can_give && i < n; i++)
        if (!has_role(have, given.n, want[i]))
            TRY(give(w, p, user_id, want[i], e));
    return ERR_OK;
}

/* Acts by the right of who set the provider up; without that person, groups give nothing new. */
static enum errc as_setter(struct work *w, const struct identity_provider *p, struct principal **ret, bool *ret_can_give, struct err *e)
{
    struct principal_row row;
    struct err why;
    *ret = NULL;
    TRY(principal_find(w->tx, w->tenant_id, p->set_by, &row, e));
    *ret_can_give = principal_check(&row, &why) == ERR_OK;
    return principal_make(&row, AUTH_TOKEN, (struct slice){ 0 }, w->arena, ret, e);
}

static enum errc make_user(struct work *w, const struct identity_provider *p, const struct oidc_person *who, struct uuid *ret, struct err *e)
{
    struct app_user u;
    if (!p->create_users)
        return oidc_refuse(e, "unknown_user");
    if (!who->name.ptr)
        return oidc_refuse(e, "name");
    enum errc rc = user_create(w, who->name, STR("person"), (struct slice){ 0 }, &u, e);
    if (rc == ERR_EXISTS)
        return oidc_refuse(e, "name_taken");
    if (rc != ERR_OK)
        return rc;
    *ret = u.user_id;
    return db_exec(w->tx, &oidc_link_insert, ARGS(A_UUID(w->tenant_id), A_UUID(p->provider_id), A_STR(who->subject), A_UUID(u.user_id),
                   A_NULL('u')), NULL, e);
}

static enum errc user_of(struct work *w, const struct identity_provider *p, const struct oidc_person *who, struct uuid *ret, struct err *e)
{
    struct known_user known;
    bool found;
    TRY(db_maybe(w->tx, &oidc_known, ARGS(A_UUID(w->tenant_id), A_UUID(p->provider_id), A_STR(who->subject), A_TIME_US(w->now_us)), &known, &found, e));
    *ret = known.user_id;
    return found ? ERR_OK : make_user(w, p, who, ret, e);
}

enum errc oidc_user(struct work *w, const struct identity_provider *p, const struct oidc_person *who, struct uuid *ret, struct err *e)
{
    struct principal *setter;
    bool can_give;
    TRY(as_setter(w, p, &setter, &can_give, e));
    w->principal = setter;
    enum errc rc = user_of(w, p, who, ret, e);
    if (rc == ERR_OK)
        rc = settle_roles(w, p, who, *ret, can_give, e);
    w->principal = NULL;
    principal_unref(setter);
    return rc;
}

enum errc oidc_link(struct work *w, const struct oidc_link *link, struct err *e)
{
    struct identity_provider p;
    struct app_user u;
    TRY(provider_get(w, link->provider_id, &p, e));
    TRY(user_get(w, link->user_id, &u, e));
    if (!str_eq_c(u.kind, "person"))
        return FAIL_AT(e, UNPROCESSABLE, "/user_id", "A service account cannot be linked to an identity provider; link a person");
    TRY(credential_for_user(w, link->user_id, e));
    enum errc rc = db_exec(w->tx, &oidc_link_insert, ARGS(A_UUID(w->tenant_id), A_UUID(link->provider_id), A_STR(link->subject),
                           A_UUID(link->user_id), A_UUID(w->principal->user_id)), NULL, e);
    return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "/subject", "That subject of the provider is already linked to a user") : rc;
}
