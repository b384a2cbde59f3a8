/* SPDX-License-Identifier: Apache-2.0 */
/* issuer.c - rows of outside issuers; who is believed by them is in jwt_authn.c. */
#include "tenants/identity/issuer.h"
#include "core/crypto/jwt.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/credential.h"
#include "tenants/identity/jwks.h"
#include "tenants/identity/outside.h"
#include "tenants/identity/user.h"

SCHEMA_EXTERN(issuer_subject, "A subject of an issuer, and who that is here",
    FIELD(issuer_subject, subject, F_REQ, .min = 1, .max = 255, .check = check_name, .doc = "The claim sub of its tokens, exactly"),
    FIELD_ID(issuer_subject, user_id, "usr", F_REQ, .doc = "The service account it is"));

SCHEMA_EXTERN(issuer, "An outside issuer of tokens for programs",
    FIELD_ID(issuer, issuer_id, "iss", F_ALWAYS, .doc = "The issuer"), FIELD(issuer, name, F_ALWAYS, .doc = "Name"),
    FIELD(issuer, issuer, F_ALWAYS, .doc = "The claim iss of its tokens, exactly"),
    FIELD(issuer, audience, F_ALWAYS, .doc = "What its tokens must name as audience"),
    FIELD(issuer, algorithms, F_ALWAYS, .doc = "Algorithms that are taken"),
    FIELD(issuer, jwks_uri, 0, .doc = "Where its keys are fetched from"),
    FIELD(issuer, jwks, 0, .doc = "Its keys, where they are pinned"), FIELD(issuer, single_use, 0, .doc = "Each token is good once, by its jti"),
    FIELD(issuer, subjects, 0, .doc = "Who its subjects are here"), FIELD(issuer, state, F_ALWAYS, .doc = "ACTIVE or DISABLED"),
    FIELD(issuer, version, 0, .doc = "Grows with every change"),
    FIELD_ID(issuer, created_by, "usr", F_ALWAYS, .doc = "Who set it up"),
    FIELD(issuer, created_at, F_ALWAYS, .doc = "When"));

#define COLUMNS                                                                                                                      \
    "i.issuer_id, i.name, i.issuer, i.audience, to_jsonb(i.algorithms) AS algorithms, i.jwks_uri, i.jwks, i.single_use, "             \
    "(SELECT coalesce(jsonb_agg(jsonb_build_object('subject', s.subject, 'user_id', 'usr_' || replace(s.user_id::text, '-', '')) "   \
    "ORDER BY s.subject), '[]') FROM issuer_subject s WHERE s.tenant_id = i.tenant_id AND s.issuer_id = i.issuer_id) AS subjects, "   \
    "i.state, i.version, i.created_by, i.created_at"

static const struct stmt issuer_insert = { .name = "issuer_insert", .params = "uusssSsjbu", .card = CARD_NONE, .sql =
    "INSERT INTO issuer (tenant_id, issuer_id, name, issuer, audience, algorithms, jwks_uri, jwks, single_use, created_by)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)" };
static const struct stmt issuer_subjects_insert = { .name = "issuer_subjects_insert", .params = "uuSU", .card = CARD_NONE, .sql =
    "INSERT INTO issuer_subject (tenant_id, issuer_id, subject, user_id) SELECT $1, $2, s.subject, s.user_id FROM unnest($3, $4) AS s(subject, user_id)" };
struct service_count { int64_t n; };
SCHEMA_OF(service_count, "How many", FIELD(service_count, n, 0, .doc = "Number"));
static const struct stmt issuer_services = { .name = "issuer_services", .params = "uU", .row = &service_count_schema, .card = CARD_ONE, .sql =
    "SELECT count(*) AS n FROM unnest($2) AS want(user_id)\n"
    "  JOIN app_user u ON u.tenant_id = $1 AND u.user_id = want.user_id AND u.kind = 'service'" };
static const struct stmt issuer_get_stmt = { .name = "issuer_get", .params = "uu", .row = &issuer_schema, .card = CARD_ONE, .sql =
    "SELECT " COLUMNS " FROM issuer i WHERE i.tenant_id = $1 AND i.issuer_id = $2" };
static const struct stmt issuer_list_stmt = { .name = "issuer_list", .params = "uui", .row = &issuer_schema, .card = CARD_MANY, .sql =
    "SELECT " COLUMNS " FROM issuer i WHERE i.tenant_id = $1 AND ($2::uuid IS NULL OR i.issuer_id < $2) ORDER BY i.issuer_id DESC LIMIT $3" };
static const struct stmt issuer_state = { .name = "issuer_state", .params = "uusi", .card = CARD_NONE, .sql =
    "UPDATE issuer SET state = $3, version = version + 1 WHERE tenant_id = $1 AND issuer_id = $2 AND $4 IN (-1, version)" };
static const struct stmt issuer_remove = { .name = "issuer_remove", .params = "uu", .card = CARD_ONE, .sql =
    "DELETE FROM issuer WHERE tenant_id = $1 AND issuer_id = $2" };

const struct stmt *const issuer_stmts[] = { &issuer_insert, &issuer_subjects_insert, &issuer_services, &issuer_get_stmt, &issuer_list_stmt,
                                            &issuer_state, &issuer_remove, NULL };

unsigned issuer_algs(struct slice names)
{
    unsigned algs = 0;
    for (size_t i = 0; i < names.n; i++) {
        struct str name = ((const struct str *)names.items)[i];
        if (!str_eq_c(name, "RS256") && !str_eq_c(name, "ES256"))
            return 0;
        algs |= 1u << (str_eq_c(name, "RS256") ? JWS_RS256 : JWS_ES256);
    }
    return algs;
}

static enum errc check_keys(struct work *w, const struct issuer_new *in, struct err *e)
{
    unsigned algs = issuer_algs(in->algorithms);
    size_t n;
    if (!algs)
        return FAIL_AT(e, INVALID, "/algorithms", "must be RS256, ES256 or both");
    if (!in->jwks_uri.ptr == !in->jwks.text.ptr)
        return FAIL_AT(e, UNPROCESSABLE, "/jwks_uri", "Give either jwks_uri or jwks");
    if (in->jwks_uri.ptr)
        return outside_url_check(w->app->config, in->jwks_uri, "/jwks_uri", e);
    struct jws_key *keys = ARENA_ARRAY(w->arena, struct jws_key, JWKS_KEYS_MAX);
    enum errc rc = jwks_read(w->arena, in->jwks.text, algs, keys, &n, e);
    if (rc != ERR_OK)
        err_field(e, "/jwks");
    return rc;
}

static enum errc check_names(struct work *w, const struct issuer_new *in, struct err *e)
{
    struct str own = str_fmt(w->arena, "falaj:%.*s", STR_ARG(id_text(w->arena, "tnt", w->tenant_id)));
    TRY(outside_url_check(w->app->config, in->issuer, "/issuer", e));
    for (size_t i = 0; i < in->audience.len; i++)
        if (in->audience.ptr[i] <= ' ' || in->audience.ptr[i] > '~')
            return FAIL_AT(e, INVALID, "/audience", "must be printable ASCII without blanks");
    if (str_starts(in->audience, "falaj:tnt_") && !(str_starts(in->audience, own.ptr)
        && (in->audience.len == own.len || in->audience.ptr[own.len] == ':')))
        return FAIL_AT(e, UNPROCESSABLE, "/audience",
            "An audience that begins with falaj: is reserved for the tenant it names, and it names another one");
    return ERR_OK;
}

/* Who maps a subject to an account gives a way to act as that account, as with a token. */
static enum errc add_subjects(struct work *w, struct uuid issuer_id, struct slice subjects, struct err *e)
{
    const struct issuer_subject *list = subjects.items;
    struct service_count found;
    if (!authz_work(w, PERM_TOKEN_MANAGE).allowed)
        return FAIL(e, FORBIDDEN, "Mapping subjects to service accounts needs the permission %s", perm_row(PERM_TOKEN_MANAGE)->wire);
    for (size_t i = 0; i < subjects.n; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(list[i].subject, list[k].subject))
                return FAIL_AT(e, INVALID, "/subjects", "A subject is listed twice");
    TRY(db_one(w->tx, &issuer_services, ARGS(A_UUID(w->tenant_id), A_UUIDS_OF(list, subjects.n, user_id)), &found, e));
    if ((size_t)found.n != subjects.n)
        return FAIL_AT(e, UNPROCESSABLE, "/subjects", "A subject can be mapped only to a service account of this tenant");
    for (size_t i = 0; i < subjects.n; i++)
        if (credential_for_user(w, list[i].user_id, e) != ERR_OK)
            return err_field(e, "/subjects/%zu/user_id", i);
    return db_exec(w->tx, &issuer_subjects_insert, ARGS(A_UUID(w->tenant_id), A_UUID(issuer_id), A_STRS_OF(list, subjects.n, subject),
                   A_UUIDS_OF(list, subjects.n, user_id)), NULL, e);
}

enum errc issuer_create(struct work *w, const struct issuer_new *in, struct issuer *ret, struct err *e)
{
    struct uuid id = uuid_v7(w->now_us);
    TRY(check_names(w, in, e));
    TRY(check_keys(w, in, e));
    enum errc rc = db_exec(w->tx, &issuer_insert, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(in->name), A_STR(in->issuer), A_STR(in->audience),
                           A_STRS(in->algorithms.items, in->algorithms.n), A_STR(in->jwks_uri), A_JSON(in->jwks.text), A_BOOL(in->single_use),
                           A_UUID(w->principal->user_id)), NULL, e);
    if (rc == ERR_EXISTS)
        return FAIL(e, EXISTS,
            "That name, or that issuer with that audience, is already taken; an audience that begins with falaj:%.*s is reserved for you",
                    STR_ARG(id_text(w->arena, "tnt", w->tenant_id)));
    if (rc != ERR_OK)
        return rc;
    if (in->subjects.n)
        TRY(add_subjects(w, id, in->subjects, e));
    return issuer_get(w, id, ret, e);
}

enum errc issuer_get(struct work *w, struct uuid issuer_id, struct issuer *ret, struct err *e)
{
    return db_one(w->tx, &issuer_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(issuer_id)), ret, e);
}

enum errc issuer_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &issuer_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc issuer_set_state(struct work *w, struct uuid issuer_id, const char *state, int64_t if_match, struct issuer *ret, struct err *e)
{
    int64_t changed;
    TRY(db_exec(w->tx, &issuer_state, ARGS(A_UUID(w->tenant_id), A_UUID(issuer_id), A_TEXT(state), A_I64(if_match)), &changed, e));
    TRY(issuer_get(w, issuer_id, ret, e));
    return changed ? ERR_OK : FAIL(e, PRECONDITION, "The issuer has changed since you read it");
}

enum errc issuer_delete(struct work *w, struct uuid issuer_id, struct err *e)
{
    return db_exec(w->tx, &issuer_remove, ARGS(A_UUID(w->tenant_id), A_UUID(issuer_id)), NULL, e);
}
