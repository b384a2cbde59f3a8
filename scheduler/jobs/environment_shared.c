/* SPDX-License-Identifier: Apache-2.0 */
/* environment_shared.c - rows of shared_environment. What an import found is copied when it is published: nobody else sees the
 * owner's rows, and an image never changes. */
#include "scheduler/jobs/environment_shared.h"
#include "core/crypto/sign.h"
#include "core/db/tx.h"
#include "scheduler/jobs/environment_int.h"
#include "tenants/access/principal.h"

SCHEMA_EXTERN(shared_environment, "An image that every tenant of a zone may run programs in",
    FIELD_ID(shared_environment, shared_id, "shi", F_ALWAYS, .doc = "The publication"),
    FIELD(shared_environment, name, F_ALWAYS, .doc = "What it is called; jobs name the digest"),
    FIELD(shared_environment, description, F_ALWAYS, .doc = "What it is for"),
    FIELD(shared_environment, state, F_ALWAYS, .doc = "PUBLISHED, or WITHDRAWN: no job gets it any more"),
    FIELD(shared_environment, zone, F_ALWAYS, .doc = "Where it lies, and so where its jobs run"),
    FIELD(shared_environment, digest, F_ALWAYS, .doc = "Of its manifest, sha256:…"),
    FIELD(shared_environment, environment, F_ALWAYS, .doc = "What a job's spec says as its environment: shared/sha256:…"),
    FIELD(shared_environment, size_bytes, F_ALWAYS, .doc = "Bytes of the archive; they count as no caller's"),
    FIELD(shared_environment, unpacked_bytes, F_ALWAYS, .doc = "Bytes of its files"),
    FIELD(shared_environment, files, F_ALWAYS, .doc = "Entries of all its layers"),
    FIELD(shared_environment, package_count, F_ALWAYS, .doc = "Packages in it"),
    FIELD(shared_environment, package_source, F_ALWAYS, .doc = "Whose database says so: dpkg, apk or none"),
    FIELD(shared_environment, layers, 0, .by = NULL, .doc = "Its layers: digest, size_bytes, unpacked_bytes, files"),
    FIELD(shared_environment, signed_by, F_ALWAYS, .doc = "Name of the caller's key that signed the digest; empty: none"),
    FIELD(shared_environment, signed_at, 0, .doc = "When"),
    FIELD(shared_environment, published_at, F_ALWAYS, .doc = "Since when"),
    FIELD(shared_environment, withdrawn_at, 0, .doc = "When it was withdrawn"),
    FIELD(shared_environment, withdrawn_reason, F_ALWAYS, .doc = "Why"),
    FIELD_OPT(shared_environment, jobs, 0, .doc = "Jobs that name it and have not ended; for the platform alone"),
    FIELD_ID(shared_environment, owner_id, "tnt", 0, .doc = "The tenant whose image it is; for the platform alone"),
    FIELD_ID(shared_environment, environment_id, "env", 0, .doc = "What that tenant calls it; for the platform alone"),
    FIELD(shared_environment, version, F_ALWAYS, .doc = "Grows with every change"));
SCHEMA_OF(shared_found, "Where it is", FIELD(shared_found, zone, 0, .doc = "Zone"),
    FIELD(shared_found, data_class, 0, .doc = "Class"));
struct used { int64_t jobs; bool is_withdrawn; };
SCHEMA_OF(used, "Who uses it", FIELD(used, jobs, 0, .doc = "Jobs"), FIELD(used, is_withdrawn, 0, .doc = "Withdrawn"));
struct verdict { bool is_withdrawn, require_signed, allow_shared; struct str reason; struct bytes signature; };
SCHEMA_OF(verdict, "What is known of an image and its tenant", FIELD(verdict, is_withdrawn, 0, .doc = "Withdrawn"),
    FIELD(verdict, require_signed, 0, .doc = "Only signed ones"), FIELD(verdict, allow_shared, 0, .doc = "Shared ones"),
    FIELD(verdict, reason, 0, .doc = "Why withdrawn"), FIELD(verdict, signature, 0, .doc = "The tenant's"));

/* $1: whose signatures; $2: staff. */
#define TOLD                                                                                                             \
    "s.shared_id, s.name, s.description,\n"                                                                            \
    "       CASE WHEN s.withdrawn_at IS NULL THEN 'PUBLISHED' ELSE 'WITHDRAWN' END AS state, s.zone, s.digest,\n"        \
    "       '" RUN_SHARED "' || s.digest AS environment, s.size_bytes, s.unpacked_bytes, s.files,\n"                      \
    "       s.package_count, s.package_source, coalesce(k.name, '') AS signed_by, g.signed_at, s.published_at,\n"        \
    "       s.withdrawn_at, s.withdrawn_reason, CASE WHEN $2 THEN shared_environment_jobs(s.digest, s.zone) END AS jobs,\n" \
    "       CASE WHEN $2 THEN s.owner_id END AS owner_id, CASE WHEN $2 THEN s.environment_id END AS environment_id, s.version"
#define TABLES                                                                                                           \
    "shared_environment s LEFT JOIN environment_signature g ON g.tenant_id = $1 AND g.digest = s.digest\n"               \
    "  LEFT JOIN environment_key k ON k.tenant_id = $1 AND k.key_id = g.key_id"

#define FIGURE(name) "coalesce((j.result->>'" name "')::bigint, 0)"
static const struct stmt shared_publish = { .name = "shared_environment_publish", .params = "uuusssui", .card = CARD_NONE,
    .sql =
    "INSERT INTO shared_environment (shared_id, zone, digest, name, description, owner_id, environment_id, object_id,\n"
    "  data_class, size_bytes, unpacked_bytes, files, package_count, package_source, layers, packages, published_by)\n"
    "SELECT $3, p.zone, j.result->>'digest', coalesce($5, e.name), coalesce($6, e.description), $1, $2, o, p.data_class,\n"
    "       p.size_bytes, " FIGURE("unpacked_bytes") ", " FIGURE("files") ", " FIGURE("package_count") ",\n"
    "       coalesce(j.result->>'package_source', 'none'),\n"
    "       coalesce(j.result->'layers', '[]'), coalesce(j.result->'packages', '[]'), $7\n"
    "  FROM environment e JOIN job j ON j.tenant_id = $1 AND j.job_id = e.job_id AND j.state = 'COMPLETED'\n"
    " CROSS JOIN LATERAL environment_objects($1, $2) AS o CROSS JOIN LATERAL environment_place($1, o) p\n"
    " WHERE e.tenant_id = $1 AND e.environment_id = $2 AND p.zone = $4\n"
    "   AND (SELECT count(*) FROM shared_environment) < $8 LIMIT 1" };
static const struct stmt shared_lock = { .name = "shared_environment_lock", .params = "uu", .card = CARD_NONE, .sql =
    "SELECT FROM environment WHERE tenant_id = $1 AND environment_id = $2 FOR UPDATE" };
static const struct stmt shared_withdraw = { .name = "shared_environment_withdraw", .params = "usu", .card = CARD_NONE, .sql =
    "UPDATE shared_environment SET withdrawn_at = now(), withdrawn_reason = $2, withdrawn_by = $3, version = version + 1\n"
    " WHERE shared_id = $1 AND withdrawn_at IS NULL" };
static const struct stmt shared_used = { .name = "shared_environment_used", .params = "u", .row = &used_schema,
    .card = CARD_ONE, .sql =
    "SELECT shared_environment_jobs(digest, zone) AS jobs, withdrawn_at IS NOT NULL AS is_withdrawn FROM shared_environment\n"
    " WHERE shared_id = $1 FOR UPDATE" };
static const struct stmt shared_remove = { .name = "shared_environment_remove", .params = "u", .card = CARD_NONE, .sql =
    "DELETE FROM shared_environment WHERE shared_id = $1" };
static const struct stmt shared_get = { .name = "shared_environment_get", .params = "ubSu", .row = &shared_environment_schema,
    .card = CARD_ONE, .sql =
    "SELECT " TOLD ", s.layers FROM " TABLES "\n WHERE s.shared_id = $4 AND ($2 OR s.zone = ANY ($3))" };
static const struct stmt shared_list = { .name = "shared_environment_list", .params = "ubSssui",
    .row = &shared_environment_schema, .card = CARD_MANY, .sql =
    "SELECT " TOLD ", NULL::jsonb AS layers FROM " TABLES "\n"
    " WHERE ($2 OR s.zone = ANY ($3)) AND ($4::text IS NULL OR s.zone = $4) AND ($5::text IS NULL OR s.name = $5)\n"
    "   AND ($6::uuid IS NULL OR s.shared_id < $6) ORDER BY s.shared_id DESC LIMIT $7" };
static const struct stmt shared_packages = { .name = "shared_environment_packages", .params = "usii",
    .row = &environment_package_schema, .card = CARD_MANY, .sql =
    "SELECT p.number, split_part(p.text, ' ', 1) AS name, split_part(p.text, ' ', 2) AS version,\n"
    "       split_part(p.text, ' ', 3) AS architecture\n"
    "  FROM shared_environment s CROSS JOIN LATERAL jsonb_array_elements_text(s.packages) WITH ORDINALITY AS p(text, number)\n"
    " WHERE s.shared_id = $1 AND p.number > $3\n"
    "   AND ($2::text IS NULL OR position(lower($2) IN lower(split_part(p.text, ' ', 1))) > 0) ORDER BY p.number LIMIT $4" };
static const struct stmt shared_sign = { .name = "shared_environment_sign", .params = "usyuu", .card = CARD_NONE, .sql =
    "INSERT INTO environment_signature (tenant_id, digest, signature, key_id, signed_by) VALUES ($1, $2, $3, $4, $5)\n"
    "ON CONFLICT (tenant_id, digest) DO UPDATE SET signature = $3, key_id = $4, signed_by = $5, signed_at = now()" };
static const struct stmt shared_find = { .name = "shared_environment_find", .params = "sSs", .row = &shared_found_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT zone, data_class FROM shared_environment WHERE digest = $1 AND zone = ANY ($2)\n"
    " ORDER BY zone = $3 DESC, withdrawn_at IS NULL DESC, zone LIMIT 1" };
static const struct stmt shared_verdict = { .name = "shared_environment_verdict", .params = "uss", .row = &verdict_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT s.withdrawn_at IS NOT NULL AS is_withdrawn, s.withdrawn_reason AS reason, g.signature,\n"
    "       coalesce(p.require_signed, false) AS require_signed, coalesce(p.allow_shared, true) AS allow_shared\n"
    "  FROM shared_environment s LEFT JOIN environment_policy p ON p.tenant_id = $1\n"
    "  LEFT JOIN environment_signature g ON g.tenant_id = $1 AND g.digest = s.digest\n"
    " WHERE s.zone = $2 AND s.digest = $3" };

const struct stmt *const shared_environment_stmts[] = { &shared_publish, &shared_lock, &shared_withdraw, &shared_used,
    &shared_remove, &shared_get, &shared_list, &shared_packages, &shared_sign, &shared_find, &shared_verdict, NULL };
const struct stmt *const shared_environment_lease_stmts[] = { &shared_verdict, NULL };

#define SEEN_BY(w)                                                                                                       \
    A_UUID((w)->tenant_id), A_BOOL(principal_is_platform((w)->principal)),                                               \
        A_STRS((w)->principal->allowed_zones.items, (w)->principal->allowed_zones.n)

enum errc shared_environment_get(struct work *w, struct uuid shared_id, struct shared_environment *ret, struct err *e)
{
    return db_one(w->tx, &shared_get, ARGS(SEEN_BY(w), A_UUID(shared_id)), ret, e);
}

enum errc shared_environment_list(struct work *w, struct str zone, struct str name, struct uuid position, int64_t limit,
                                  struct slice *ret, struct err *e)
{
    return db_many(w->tx, &shared_list, ARGS(SEEN_BY(w), A_STR(zone), A_STR(name), A_UUID_OR_NULL(position), A_I64(limit)), ret,
                   (size_t)limit, e);
}

enum errc shared_environment_packages(struct work *w, struct uuid shared_id, struct str q, int64_t after, int64_t limit,
                                      struct slice *ret, struct err *e)
{
    struct shared_environment v;
    TRY(shared_environment_get(w, shared_id, &v, e));
    return db_many(w->tx, &shared_packages, ARGS(A_UUID(shared_id), A_STR(q), A_I64(after), A_I64(limit)), ret, (size_t)limit, e);
}

/* What everybody may read is public: its class then asks nothing of the jobs that run in it. */
static enum errc check_offer(const struct environment *v, struct err *e)
{
    if (!v->offered_at.us)
        return FAIL_AT(e, UNPROCESSABLE, "/environment_id", "Its organisation has not offered it: one of its administrators does "
                       "(falaj environment offer)");
    if (!str_eq_c(v->state, "READY"))
        return FAIL_AT(e, UNPROCESSABLE, "/environment_id", "It is %.*s; only a READY environment is published",
                       STR_ARG(v->state));
    if (!str_eq_c(v->data_class, "public"))
        return FAIL_AT(e, UNPROCESSABLE, "/environment_id", "Its data set has the class %.*s; only one of the class public is "
                       "published (falaj environment import --class public)", STR_ARG(v->data_class));
    return ERR_OK;
}

enum errc shared_environment_publish(struct work *w, const struct shared_environment_new *in, struct shared_environment *ret,
                                     struct err *e)
{
    struct environment v;
    int64_t rows = 0;
    const struct uuid id = uuid_v7(w->now_us);
    TRY(db_exec(w->tx, &shared_lock, ARGS(A_UUID(w->tenant_id), A_UUID(in->environment_id)), NULL, e));
    enum errc rc = environment_get(w, in->environment_id, &v, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, "/environment_id", "The organisation has no such environment");
    TRY(rc);
    TRY(check_offer(&v, e));
    const struct str zone = in->zone.ptr ? in->zone : v.zone;
    rc = db_exec(w->tx, &shared_publish, ARGS(A_UUID(w->tenant_id), A_UUID(in->environment_id), A_UUID(id), A_STR(zone),
        A_STR(in->name), A_STR(in->description), A_UUID(w->principal->user_id), A_I64(SHARED_ENVIRONMENTS_MAX)), &rows, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/environment_id", "The image %.*s is published in zone %.*s already, or was withdrawn "
                       "there and not removed", STR_ARG(v.digest), STR_ARG(zone));
    TRY(rc);
    if (!rows)
        return FAIL_AT(e, UNPROCESSABLE, "/zone", "No copy of its archive lies in zone %.*s (it lies in %.*s), or %d images are "
                       "published already", STR_ARG(zone), STR_ARG(v.zone), SHARED_ENVIRONMENTS_MAX);
    return shared_environment_get(w, id, ret, e);
}

enum errc shared_environment_withdraw(struct work *w, struct uuid shared_id, struct str reason, struct shared_environment *ret,
                                      struct err *e)
{
    TRY(db_exec(w->tx, &shared_withdraw, ARGS(A_UUID(shared_id), A_STR(reason), A_UUID(w->principal->user_id)), NULL, e));
    return shared_environment_get(w, shared_id, ret, e);
}

enum errc shared_environment_remove(struct work *w, struct uuid shared_id, struct err *e)
{
    struct used u;
    TRY(db_one(w->tx, &shared_used, ARGS(A_UUID(shared_id)), &u, e));
    if (!u.is_withdrawn)
        return FAIL(e, CONFLICT, "It is published; withdraw it first, with a reason that its users are told");
    if (u.jobs)
        return FAIL(e, CONFLICT, "%ld jobs that have not ended name it; it is removed when they have", (long)u.jobs);
    return db_exec(w->tx, &shared_remove, ARGS(A_UUID(shared_id)), NULL, e);
}

enum errc shared_environment_sign(struct work *w, struct uuid shared_id, struct str hex, struct shared_environment *ret,
                                  struct err *e)
{
    uint8_t sig[ED25519_SIG];
    struct uuid key;
    TRY(shared_environment_get(w, shared_id, ret, e));
    TRY(environment_signature_read(w, ret->digest, hex, sig, &key, e));
    TRY(db_exec(w->tx, &shared_sign, ARGS(A_UUID(w->tenant_id), A_STR(ret->digest), A_BYTES(sig, sizeof sig), A_UUID(key),
                A_UUID(w->principal->user_id)), NULL, e));
    return shared_environment_get(w, shared_id, ret, e);
}

static enum errc refuse_unknown(struct str digest, struct err *e)
{
    return FAIL(e, NOT_FOUND, "No image %.*s is published in a zone that the organisation may use; GET /v1/shared-environments "
                "lists those that are", STR_ARG(digest));
}

enum errc shared_environment_find(struct work *w, struct str digest, struct str zone, struct shared_found *ret, struct err *e)
{
    bool found = false;
    const struct slice *may = &w->principal->allowed_zones;
    TRY(db_maybe(w->tx, &shared_find, ARGS(A_STR(digest), A_STRS(may->items, may->n), A_STR(zone)), ret, &found, e));
    return found ? ERR_OK : refuse_unknown(digest, e);
}

enum errc shared_environment_permits(struct work *w, struct str zone, struct str digest, struct err *e)
{
    struct verdict v;
    bool found = false, is_signed = false;
    TRY(db_maybe(w->tx, &shared_verdict, ARGS(A_UUID(w->tenant_id), A_STR(zone), A_STR(digest)), &v, &found, e));
    if (!found)
        return refuse_unknown(digest, e);
    if (v.is_withdrawn)
        return FAIL(e, FORBIDDEN, "The shared image %.*s was withdrawn by the platform's staff: %.*s. Name another one",
                    STR_ARG(digest), STR_ARG(v.reason));
    if (!v.allow_shared)
        return FAIL(e, FORBIDDEN, "The organisation's programs do not run in images that the platform's staff publish; name an "
                    "environment of its own, or let an administrator allow shared ones");
    if (v.require_signed)
        TRY(environment_is_signed(w, digest, v.signature, &is_signed, e));
    return !v.require_signed || is_signed ? ERR_OK
         : FAIL(e, FORBIDDEN, "The organisation's programs run in signed images alone, and the shared image %.*s is not signed "
                "by a key that it has (falaj environment sign-shared)", STR_ARG(digest));
}
