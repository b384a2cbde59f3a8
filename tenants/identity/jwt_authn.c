/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_authn.c - two short transactions, and between them the keys: who may have signed it, then who it is. */
#include "tenants/identity/jwt_authn.h"
#include "core/crypto/hash.h"
#include "core/crypto/jwt.h"
#include "core/db/run_tx.h"
#include "core/json/jsonvalue.h"
#include "core/table/schema.h"
#include "tenants/identity/issuer.h"
#include "tenants/identity/jwks.h"
#include "tenants/identity/outside.h"
#include "tenants/access/principal_load.h"

enum { BELIEVED_US = 5000000, JTI_MAX = 255, CLAIMS_DEPTH = 16 };
static const int64_t LIFE_MAX_US = INT64_C(3600000000);

struct found_issuer {
    struct uuid tenant_id, issuer_id;
    struct str issuer, audience;
    struct json algorithms;
    struct str jwks_uri;
    struct json jwks;
    bool single_use;
};
SCHEMA_OF(found_issuer, "An issuer that a token names", FIELD(found_issuer, tenant_id, 0, .doc = "Whose"), FIELD(found_issuer, issuer_id, 0, .doc = "Id"),
    FIELD(found_issuer, issuer, 0, .doc = "Issuer"), FIELD(found_issuer, audience, 0, .doc = "Audience"),
    FIELD(found_issuer, algorithms, 0, .doc = "Algorithms"), FIELD(found_issuer, jwks_uri, 0, .doc = "Keys' URL"), FIELD(found_issuer, jwks, 0, .doc = "Keys"),
    FIELD(found_issuer, single_use, 0, .doc = "Once"));
struct mapped { struct uuid user_id; };
SCHEMA_OF(mapped, "A mapped user", FIELD(mapped, user_id, 0, .doc = "User"));

static const struct stmt jwt_issuer = { .name = "jwt_issuer", .params = "sS", .row = &found_issuer_schema, .card = CARD_MANY, .sql =
    "SELECT tenant_id, issuer_id, issuer, audience, to_jsonb(algorithms) AS algorithms, jwks_uri, jwks, single_use FROM issuer_find($1, $2)" };
/* The issuer again: it may have been disabled while its keys were fetched. */
static const struct stmt jwt_subject = { .name = "jwt_subject", .params = "uus", .row = &mapped_schema, .card = CARD_MAYBE, .sql =
    "SELECT s.user_id FROM issuer_subject s JOIN issuer i ON i.tenant_id = s.tenant_id AND i.issuer_id = s.issuer_id AND i.state = 'ACTIVE'\n"
    " WHERE s.tenant_id = $1 AND s.issuer_id = $2 AND s.subject = $3" };
static const struct stmt jwt_use = { .name = "jwt_use", .params = "uuyt", .card = CARD_NONE, .sql =
    "INSERT INTO jwt_used (tenant_id, issuer_id, jti_hash, until) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING" };

const struct stmt *const jwt_authn_stmts[] = { &jwt_issuer, &jwt_subject, &jwt_use, NULL };

bool jwt_looks_like(struct str token)
{
    size_t dots = 0;
    for (size_t i = 0; i < token.len; i++)
        dots += token.ptr[i] == '.';
    return dots == 2 && !str_starts(token, "flj_");
}

static enum errc refuse(struct err *e, const char *why)
{
    FAIL(e, UNAUTHENTICATED, "The token is not known, has expired or was revoked");
    return err_note(e, "%s", why);
}

static enum errc find(struct work *w, const struct jws_peek *seen, struct found_issuer *ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(RUN_TX(w, w->app->pool, SCOPE_TENANT(UUID_NIL), TX_READ_ONLY,
               db_many(w->tx, &jwt_issuer, ARGS(A_STR(seen->iss), A_STRS(seen->aud, seen->n_aud)), &rows, 2, e), e));
    if (rows.n != 1)
        return refuse(e, rows.n ? "the audiences of the token name more than one row" : "no such issuer and audience");
    *ret = *(struct found_issuer *)rows.items;
    return ERR_OK;
}

static enum errc keys_of(struct work *w, const struct found_issuer *i, struct str kid, struct jws_key **ret, size_t *ret_n, struct err *e)
{
    unsigned algs = issuer_algs(string_array(w->arena, i->algorithms.text));
    if (i->jwks_uri.ptr)
        return outside_keys(w->app, w->arena, (struct outside_owner){ i->issuer_id, i->tenant_id }, i->jwks_uri, algs, kid, ret,
            ret_n, e);
    *ret = ARENA_ARRAY(w->arena, struct jws_key, JWKS_KEYS_MAX);
    return jwks_read(w->arena, i->jwks.text, algs, *ret, ret_n, e);
}

static enum errc check(struct work *w, struct str token, const struct found_issuer *i, struct str kid, struct jws_claims *ret, struct str *ret_jti,
                       struct err *e)
{
    struct jws_key *keys;
    size_t n;
    const struct jval *claims;
    struct err why;
    enum errc rc = keys_of(w, i, kid, &keys, &n, &why);
    if (rc == ERR_UNPROCESSABLE)
        return refuse(e, why.msg);
    if (rc != ERR_OK) {
        *e = why;
        return rc;
    }
    struct jws_expect want = { .keys = keys, .n_keys = n, .issuer = i->issuer, .audience = i->audience, .now_us = w->now_us };
    if (jws_check(w->arena, token, &want, ret, &why) != ERR_OK)
        return refuse(e, why.msg);
    if (ret->exp_us <= ret->iat_us || ret->exp_us - ret->iat_us > LIFE_MAX_US)
        return refuse(e, "the token lives longer than an hour");
    TRY(jval_parse(w->arena, ret->payload, CLAIMS_DEPTH, &claims, e));
    *ret_jti = jval_str(jval_get(claims, "jti"));
    if (i->single_use && (ret_jti->len == 0 || ret_jti->len > JTI_MAX))
        return refuse(e, "the token has no jti, and its issuer's are good once");
    return ERR_OK;
}

static enum errc load(struct work *w, const struct found_issuer *i, const struct jws_claims *claims, struct str jti,
                      struct principal **ret, struct jwt_outcome *o, struct err *e)
{
    struct mapped user;
    struct principal_row row;
    uint8_t hash[SHA256_BYTES];
    int64_t written = 1;
    bool found;
    TRY(db_maybe(w->tx, &jwt_subject, ARGS(A_UUID(i->tenant_id), A_UUID(i->issuer_id), A_STR(claims->sub)), &user, &found, e));
    if (!found)
        return refuse(e, "the subject is mapped to nobody");
    if (i->single_use) {
        sha256(jti.ptr, jti.len, hash);
        TRY(db_exec(w->tx, &jwt_use, ARGS(A_UUID(i->tenant_id), A_UUID(i->issuer_id), A_BYTES(hash, sizeof hash),
                    A_TIME_US(claims->exp_us + 2 * JWS_SKEW_S * INT64_C(1000000))), &written, e));
    }
    o->is_replay = !written;
    if (!written)
        return refuse(e, "the token was used before");
    TRY(principal_find(w->tx, i->tenant_id, user.user_id, &row, e));
    TRY(principal_check(&row, e));
    return principal_make(&row, AUTH_JWT, (struct slice){ 0 }, w->arena, ret, e);
}

static enum errc admit(struct work *w, const struct found_issuer *i, const struct jws_claims *claims, struct str jti, struct principal **ret,
                       struct jwt_outcome *o, struct err *e)
{
    struct principal *p = NULL;
    enum errc rc = RUN_TX(w, w->app->pool, SCOPE_TENANT(i->tenant_id), i->single_use ? 0 : TX_READ_ONLY, load(w, i, claims, jti, &p, o, e), e);
    if (rc != ERR_OK) {
        principal_unref(p);
        return rc;
    }
    p->token_id = i->issuer_id;
    p->expires_us = claims->exp_us;
    *ret = p;
    return ERR_OK;
}

enum errc jwt_authn(struct work *w, struct str token, struct principal **ret, struct jwt_outcome *ret_outcome, struct err *e)
{
    uint8_t hash[SHA256_BYTES];
    struct jws_peek seen;
    struct found_issuer i;
    struct jws_claims claims;
    struct str jti;
    struct err why;
    int64_t now_us = clock_mono_us(w->app->clock);
    *ret_outcome = (struct jwt_outcome){ 0 };
    sha256(token.ptr, token.len, hash);
    struct principal *p = federation_recall(w->app->federation, hash, now_us);
    if (p && p->expires_us > w->now_us) {
        *ret = p;
        return ERR_OK;
    }
    principal_unref(p);
    if (jws_peek(w->arena, token, &seen, &why) != ERR_OK)
        return refuse(e, why.msg);
    TRY(find(w, &seen, &i, e));
    TRY(check(w, token, &i, seen.kid, &claims, &jti, e));
    *ret_outcome = (struct jwt_outcome){ .tenant_id = i.tenant_id, .issuer_id = i.issuer_id };
    TRY(admit(w, &i, &claims, jti, ret, ret_outcome, e));
    if (!i.single_use)
        federation_remember(w->app->federation, hash, *ret, now_us + BELIEVED_US);
    return ERR_OK;
}
