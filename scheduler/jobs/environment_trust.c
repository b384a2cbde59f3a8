/* SPDX-License-Identifier: Apache-2.0 */
/* environment_trust.c - whose word an image needs: a tenant's keys, its rule, signatures, and the one judge of them. */
#include "scheduler/jobs/environment_int.h"
#include "scheduler/jobs/environment_shared.h"
#include "core/crypto/sign.h"
#include "core/db/tx.h"
#include "core/wire/type_run.h"
#include "tenants/access/principal.h"

enum { KEYS_MAX = 16, ROWS_MAX = 64 };

SCHEMA_EXTERN(environment_key, "A key that signs images",
    FIELD_ID(environment_key, key_id, "sgk", F_ALWAYS, .doc = "The key"), FIELD(environment_key, name, F_ALWAYS,
        .doc = "Its name"),
    FIELD(environment_key, public_key, F_ALWAYS, .doc = "Its 32 bytes, hex"),
    FIELD_ID(environment_key, created_by, "usr", F_ALWAYS, .doc = "Who added it"),
    FIELD(environment_key, created_at, F_ALWAYS, .doc = "When"));
SCHEMA_EXTERN(environment_policy, "What images a tenant's programs may run in",
    FIELD(environment_policy, require_signed, F_REQ,
          .doc = "Only those whose digest one of the tenant's keys has signed; jobs that wait are held to it, too"),
    FIELD_OPT(environment_policy, allow_shared, 0,
              .doc = "Also those that the platform's staff publish to all (GET /v1/shared-environments); absent in a request: "
                     "as it is"));
struct trust_key { struct uuid key_id; struct bytes public_key; };
SCHEMA_OF(trust_key, "A key", FIELD(trust_key, key_id, 0, .doc = "Its id"), FIELD(trust_key, public_key, 0, .doc = "Its bytes"));
struct claim { struct bytes signature; struct str digest; };
SCHEMA_OF(claim, "A signature over an image", FIELD(claim, signature, 0, .doc = "64 bytes"), FIELD(claim, digest, 0,
    .doc = "Over"));
struct lease_image { struct str environment, zone; };
SCHEMA_OF(lease_image, "The image of a job", FIELD(lease_image, environment, 0, .doc = "As its spec says it"),
    FIELD(lease_image, zone, 0, .doc = "Zone of the job"));

static const struct stmt environment_key_insert = { .name = "environment_key_insert", .params = "uusyui",
    .row = &environment_key_schema, .card = CARD_MAYBE, .sql =
    "INSERT INTO environment_key (tenant_id, key_id, name, public_key, created_by)\n"
    "SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM environment_key WHERE tenant_id = $1) < $6\n"
    "RETURNING key_id, name, encode(public_key, 'hex') AS public_key, created_by, created_at" };
static const struct stmt environment_key_list_stmt = { .name = "environment_key_list", .params = "uui",
    .row = &environment_key_schema, .card = CARD_MANY, .sql =
    "SELECT key_id, name, encode(public_key, 'hex') AS public_key, created_by, created_at FROM environment_key\n"
    " WHERE tenant_id = $1 AND ($2::uuid IS NULL OR key_id < $2) ORDER BY key_id DESC LIMIT $3" };
static const struct stmt environment_key_delete = { .name = "environment_key_delete", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM environment_key WHERE tenant_id = $1 AND key_id = $2" };
static const struct stmt environment_policy_read = { .name = "environment_policy_read", .params = "u",
    .row = &environment_policy_schema, .card = CARD_ONE, .sql =
    "SELECT coalesce(p.require_signed, false) AS require_signed, coalesce(p.allow_shared, true) AS allow_shared\n"
    "  FROM (SELECT) one LEFT JOIN environment_policy p ON p.tenant_id = $1" };
static const struct stmt environment_policy_write = { .name = "environment_policy_write", .params = "ubub", .card = CARD_NONE,
    .sql =
    "INSERT INTO environment_policy (tenant_id, require_signed, changed_by, allow_shared) VALUES ($1, $2, $3, $4)\n"
    "ON CONFLICT (tenant_id) DO UPDATE SET require_signed = $2, changed_by = $3, changed_at = now(), allow_shared = $4" };
static const struct stmt environment_trust_keys = { .name = "environment_trust_keys", .params = "ui", .row = &trust_key_schema,
    .card = CARD_MANY, .sql = "SELECT " ROW_COLUMNS " FROM environment_key WHERE tenant_id = $1 LIMIT $2" };
static const struct stmt environment_sign_stmt = { .name = "environment_sign", .params = "uuyu", .card = CARD_NONE, .sql =
    "UPDATE environment SET signature = $3, key_id = $4, signed_at = now(), version = version + 1\n"
    " WHERE tenant_id = $1 AND environment_id = $2" };
static const struct stmt environment_claims = { .name = "environment_claims", .params = "uuii", .row = &claim_schema,
    .card = CARD_MANY, .sql =
    "SELECT e.signature, j.result->>'digest' AS digest FROM environment e\n"
    "  JOIN job j ON j.tenant_id = $1 AND j.job_id = e.job_id AND j.state = 'COMPLETED'\n"
    " WHERE e.tenant_id = $1 AND e.dataset_id = $2 AND e.dataset_version = $3 AND e.signature IS NOT NULL\n"
    " ORDER BY e.environment_id DESC LIMIT $4" };
static const struct stmt environment_of_lease = { .name = "environment_of_lease", .params = "uuU", .row = &lease_image_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT j.spec->>'environment' AS environment, j.zone FROM job j WHERE j.tenant_id = $1 AND j.job_id = $2 AND (EXISTS (\n"
    "  SELECT FROM job_object i WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.direction = 'input'\n"
    "     AND i.name = '" RUN_IMAGE_INPUT "' AND i.object_id = ANY ($3))\n"
    "  OR EXISTS (SELECT FROM shared_environment_of($1, $2) s WHERE s.object_id = ANY ($3)))" };

const struct stmt *const environment_trust_stmts[] = { &environment_key_insert, &environment_key_list_stmt,
    &environment_key_delete, &environment_policy_read, &environment_policy_write, &environment_trust_keys, &environment_sign_stmt,
    &environment_claims, NULL };
/* environment_node_stmts has the sweep's; these are the judge's in the scope of leases. */
const struct stmt *const environment_lease_stmts[] = { &environment_policy_read, &environment_trust_keys, &environment_claims,
    &environment_of_lease, NULL };

enum errc environment_key_add(struct work *w, struct str name, struct str public_key_pem, struct environment_key *ret,
                              struct err *e)
{
    uint8_t key[ED25519_PUBLIC];
    bool found = false;
    struct err why = { 0 };
    if (ed25519_public_of_pem(public_key_pem, key, &why) != ERR_OK)
        return FAIL_AT(e, INVALID, "/public_key_pem", "It is no Ed25519 public key in PEM: `openssl pkey -in KEY -pubout` "
            "prints one");
    enum errc rc = db_maybe(w->tx, &environment_key_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(name),
        A_BYTES(key, sizeof key), A_UUID(w->principal->user_id), A_I64(KEYS_MAX)), ret, &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "The tenant has a key of this name, or these bytes, already");
    TRY(rc);
    return found ? ERR_OK : FAIL(e, LIMIT, "The tenant has %d keys already; remove one first", KEYS_MAX);
}

enum errc environment_key_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &environment_key_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret,
                   (size_t)limit, e);
}

enum errc environment_key_remove(struct work *w, struct uuid key_id, struct err *e)
{
    int64_t rows;
    TRY(db_exec(w->tx, &environment_key_delete, ARGS(A_UUID(w->tenant_id), A_UUID(key_id)), &rows, e));
    return rows ? ERR_OK : FAIL(e, NOT_FOUND, "There is no such key");
}

enum errc environment_policy_get(struct work *w, struct environment_policy *ret, struct err *e)
{
    return db_one(w->tx, &environment_policy_read, ARGS(A_UUID(w->tenant_id)), ret, e);
}

enum errc environment_policy_set(struct work *w, const struct environment_policy *in, struct err *e)
{
    struct environment_policy now;
    TRY(environment_policy_get(w, &now, e));
    return db_exec(w->tx, &environment_policy_write, ARGS(A_UUID(w->tenant_id), A_BOOL(in->require_signed),
                   A_UUID(w->principal->user_id), A_BOOL(in->has_allow_shared ? in->allow_shared : now.allow_shared)), NULL, e);
}

struct trust_keys { struct trust_key *items; size_t n; };

static enum errc read_keys(struct work *w, struct trust_keys *ret, struct err *e)
{
    return db_many(w->tx, &environment_trust_keys, ARGS(A_UUID(w->tenant_id), A_I64(KEYS_MAX)), ret, KEYS_MAX, e);
}

/* The key whose signature it is; NULL: of none. */
static const struct trust_key *signer(const struct trust_keys *keys, struct str digest, const uint8_t sig[ED25519_SIG])
{
    for (size_t i = 0; i < keys->n; i++)
        if (ed25519_verify((const uint8_t *)keys->items[i].public_key.data.ptr, digest.ptr, digest.len, sig))
            return &keys->items[i];
    return NULL;
}

enum errc environment_signature_read(struct work *w, struct str digest, struct str hex, uint8_t *ret,
                                     struct uuid *ret_key, struct err *e)
{
    struct trust_keys keys;
    if (hex.len != ENVIRONMENT_SIG_HEX || !hex_decode(hex, ret, ED25519_SIG))
        return FAIL_AT(e, INVALID, "/signature", "A signature has 64 bytes, which are %d hex digits", ENVIRONMENT_SIG_HEX);
    TRY(read_keys(w, &keys, e));
    const struct trust_key *by = signer(&keys, digest, ret);
    if (!by)
        return FAIL_AT(e, UNPROCESSABLE, "/signature", "It is no signature over the text %.*s by one of the tenant's %zu keys",
                       STR_ARG(digest), keys.n);
    *ret_key = by->key_id;
    return ERR_OK;
}

enum errc environment_is_signed(struct work *w, struct str digest, struct bytes signature, bool *ret, struct err *e)
{
    struct trust_keys keys;
    TRY(read_keys(w, &keys, e));
    *ret = signature.data.len == ED25519_SIG && signer(&keys, digest, (const uint8_t *)signature.data.ptr);
    return ERR_OK;
}

enum errc environment_sign(struct work *w, struct uuid environment_id, struct str hex, struct environment *ret, struct err *e)
{
    uint8_t sig[ED25519_SIG];
    struct uuid key;
    TRY(environment_get(w, environment_id, ret, e));
    if (!ret->digest.len)
        return FAIL(e, UNPROCESSABLE, "Its digest is not known before its import has ended; name the digest at the import");
    TRY(environment_signature_read(w, ret->digest, hex, sig, &key, e));
    TRY(db_exec(w->tx, &environment_sign_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id), A_BYTES(sig, sizeof sig),
                A_UUID(key)), NULL, e));
    return environment_get(w, environment_id, ret, e);
}

enum errc environment_permits(struct work *w, struct uuid dataset_id, int64_t version, struct str digest, struct err *e)
{
    struct environment_policy policy;
    struct trust_keys keys;
    struct { struct claim *items; size_t n; } claims;
    TRY(environment_policy_get(w, &policy, e));
    if (!policy.require_signed)
        return ERR_OK;
    TRY(read_keys(w, &keys, e));
    TRY(db_many(w->tx, &environment_claims, ARGS(A_UUID(w->tenant_id), A_UUID(dataset_id), A_I64(version), A_I64(ROWS_MAX)),
        &claims, ROWS_MAX, e));
    for (size_t i = 0; i < claims.n; i++)
        if (digest.len && str_eq(digest, claims.items[i].digest) && claims.items[i].signature.data.len == ED25519_SIG &&
            signer(&keys, digest, (const uint8_t *)claims.items[i].signature.data.ptr))
            return ERR_OK;
    return digest.len ? FAIL(e, FORBIDDEN, "The organisation's programs run in signed images alone, and the image %.*s is not "
                             "signed by a key that it has", STR_ARG(digest))
                      : FAIL(e, FORBIDDEN, "The organisation's programs run in signed images alone: name an environment, or the "
                             "image's digest");
}

enum errc environment_permits_lease(struct work *w, struct uuid job_id, const struct uuid *objects, size_t n, struct err *e)
{
    struct lease_image image;
    struct run_environment env;
    bool found = false;
    TRY(db_maybe(w->tx, &environment_of_lease, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_UUIDS(objects, n)), &image, &found,
        e));
    if (!found || !run_environment(image.environment, &env))
        return ERR_OK;
    return env.is_shared ? shared_environment_permits(w, image.zone, env.digest, e)
                         : environment_permits(w, env.dataset_id, env.version, env.digest, e);
}
