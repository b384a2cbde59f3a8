/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.c - one transaction in the platform's scope, as the role that serves requests: no more power than a request has. */
#include "api/bootstrap.h"
#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/binding.h"
#include "tenants/access/second_person.h"
#include "tenants/identity/local_auth.h"
#include "tenants/identity/password.h"
#include "tenants/identity/user.h"

struct operator_row { struct uuid user_id; };
SCHEMA_OF(operator_row, "The operator", FIELD(operator_row, user_id, 0, .doc = "The user"));

static const struct stmt operator_find = { .name = "operator_find", .params = "us", .row = &operator_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT user_id FROM app_user WHERE tenant_id = $1 AND name = $2" };
static const struct stmt operator_create = { .name = "operator_create", .params = "uus", .card = CARD_NONE, .sql =
    "INSERT INTO app_user (tenant_id, user_id, name, created_by) VALUES ($1, $2, $3, $2)" };
static const struct stmt operator_bind = { .name = "operator_bind", .params = "uuus", .card = CARD_NONE, .sql =
    "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, place, created_by) VALUES ($1, $2, $3, $4, 'platform', $3)\n"
    "ON CONFLICT DO NOTHING" };
static const struct stmt operator_token = { .name = "operator_token", .params = "uuuyst", .card = CARD_NONE, .sql =
    "INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, created_by, expires_at)\n"
    "VALUES ($1, $2, $3, 'bootstrap', $4, $5, $3, $6)" };

const struct stmt *const bootstrap_stmts[] = { &operator_find, &operator_create, &operator_bind, &operator_token, NULL };

/* Hashed before the transaction that keeps it. */
static enum errc make_password(struct work *w, char ret[21], char phc[ARGON_PHC], struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 pepper = { { 0 } };
    ret[0] = '\0';
    if (!w->app->auth || !local_auth_zone(w->app->auth).len)
        return ERR_OK;
    TRY(RUN_WRITE(w, local_auth_pepper(w, local_auth_zone(w->app->auth), &pepper, e), e));
    TRY(password_make(ret, e));
    return local_auth_hash(w->app, &pepper, str_c(ret), phc, e);
}

/* The first officer only: the next ones take two people. */
static enum errc check_first_officer(struct work *w, struct str name, struct err *e)
{
    struct slice have;
    struct operator_row taken;
    bool found;
    struct binding_filter f = { .role = str_c(role_row(ROLE_COMPLIANCE_OFFICER)->wire) };
    TRY(role_binding_list(w, &f, UUID_NIL, 1, &have, e));
    if (have.n)
        return FAIL(e, CONFLICT, "The platform has a compliance officer: further ones are appointed with POST /v1/appointments");
    TRY(db_maybe(w->tx, &operator_find, ARGS(A_UUID(UUID_NIL), A_STR(name)), &taken, &found, e));
    return found ? FAIL(e, CONFLICT, "The name %.*s is taken by another account of the platform", STR_ARG(name)) : ERR_OK;
}

/* phc: the hashed password; NULL: none. */
static enum errc make_person(struct work *w, const char *officer, struct str token, const char *phc, struct err *e)
{
    struct str name = str_c(officer ? officer : "operator");
    struct operator_row op;
    bool found;
    uint8_t hash[32];
    struct uuid token_id = uuid_v7(w->now_us);
    token_hash(token, hash);
    if (officer)
        TRY(check_first_officer(w, name, e));
    TRY(db_maybe(w->tx, &operator_find, ARGS(A_UUID(UUID_NIL), A_STR(name)), &op, &found, e));
    if (!found) {
        op.user_id = uuid_v7(w->now_us);
        TRY(db_exec(w->tx, &operator_create, ARGS(A_UUID(UUID_NIL), A_UUID(op.user_id), A_STR(name)), NULL, e));
    }
    TRY(db_exec(w->tx, &operator_bind, ARGS(A_UUID(UUID_NIL), A_UUID(uuid_v7(w->now_us)), A_UUID(op.user_id),
                A_TEXT(role_row(officer ? ROLE_COMPLIANCE_OFFICER : ROLE_PLATFORM_ADMIN)->wire)), NULL, e));
    TRY(db_exec(w->tx, &operator_token, ARGS(A_UUID(UUID_NIL), A_UUID(token_id), A_UUID(op.user_id), A_BYTES(hash, 32),
                A_STR(str_fmt(w->arena, "…%.*s", 4, token.ptr + token.len - 4)), A_TIME_US(w->now_us + 30 * INT64_C(86400000000))), NULL, e));
    if (phc)
        TRY(password_put(w, op.user_id, str_c(phc), local_auth_zone(w->app->auth), e));
    struct audit_event ev = audit_event_of(w, AUDIT_TOKEN_CREATE);
    ev.rule = STR("bootstrap");
    ev.resource_kind = STR("token");
    ev.resource_prefix = "tok";
    ev.resource_id = token_id;
    audit_event_detail(&ev, AUDIT_D_STR("user", id_text(w->arena, "usr", op.user_id)));
    audit_event_detail(&ev, AUDIT_D_STR("role", str_c(role_row(officer ? ROLE_COMPLIANCE_OFFICER : ROLE_PLATFORM_ADMIN)->wire)));
    return audit_append(w, &ev, e);
}

enum errc bootstrap_person(const struct app *app, struct arena *arena, const char *officer, char ret_token[TOKEN_TEXT],
                           char ret_password[21], struct err *e)
{
    struct work w = { .app = app, .arena = arena, .now_us = clock_wall_us(app->clock) };
    char phc[ARGON_PHC];
    TRY(make_password(&w, ret_password, phc, e));
    TRY(token_make("user", ret_token, e));
    struct str token = str_c(ret_token);
    return RUN_TX(&w, app->pool, SCOPE_TENANT(UUID_NIL), 0, make_person(&w, officer, token, ret_password[0] ? phc : NULL, e), e);
}

static enum errc note_separation(struct work *w, struct err *e)
{
    struct audit_event ev = audit_event_of(w, AUDIT_APPROVAL_SEPARATION);
    ev.rule = STR("approval.separation");
    audit_event_detail(&ev, AUDIT_D_STR("separation", STR("accounts")));
    return audit_append(w, &ev, e);
}

enum errc bootstrap_note_separation(const struct app *app, struct err *e)
{
    if (second_person_asked(app))
        return ERR_OK;
    CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
    struct work w = { .app = app, .arena = arena, .now_us = clock_wall_us(app->clock) };
    log_event(LOG_WARN, "approval.accounts", "why",
        LOG_S("approval.separation = accounts: any two accounts count as two people"), NULL);
    return RUN_TX(&w, app->pool, SCOPE_TENANT(UUID_NIL), 0, note_separation(&w, e), e);
}
