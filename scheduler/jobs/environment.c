/* SPDX-License-Identifier: Apache-2.0 */
/* environment.c - rows of environment beside the jobs that checked them; what is signed is in environment_trust.c. */
#include "scheduler/jobs/environment.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/wire/type_run.h"
#include "registry/catalog/content_delete.h"
#include "registry/catalog/dataset.h"
#include "tenants/access/actor.h"

enum { SWEEP_BATCH = 100, NAMED_MAX = 5 };

SCHEMA_EXTERN(environment, "An image by name, and what is in it",
    FIELD_ID(environment, environment_id, "env", F_ALWAYS, .doc = "The environment"),
    FIELD_ID(environment, project_id, "prj", 0, .doc = "The project of its data set; absent: of the tenant as a whole"),
    FIELD(environment, name, F_ALWAYS, .doc = "Its name; several images may have it, and the newest READY one is meant by it"),
    FIELD(environment, description, F_ALWAYS, .doc = "What it is for"),
    FIELD(environment, state, F_ALWAYS, .doc = "IMPORTING, READY or REFUSED"),
    FIELD(environment, reason, F_ALWAYS, .doc = "Why its import waits, or what was refused: the layer and its entry"),
    FIELD(environment, digest, F_ALWAYS, .doc = "Of its manifest, sha256:…; empty: not known yet"),
    FIELD(environment, zone, F_ALWAYS, .doc = "Where its archive lies"),
    FIELD(environment, data_class, F_ALWAYS, .doc = "Class of its data set"),
    FIELD_ID(environment, dataset_id, "dst", 0, .doc = "The data set with its archive; absent: it was refused, and the archive "
        "is gone"),
    FIELD(environment, dataset_version, F_ALWAYS, .doc = "Its version"),
    FIELD_ID(environment, job_id, "job", F_ALWAYS, .doc = "The job that checked it"),
    FIELD(environment, allow_setuid, F_ALWAYS, .doc = "Files with setuid and setgid bits were taken, without these bits"),
    FIELD(environment, owns_archive, F_ALWAYS, .doc = "The data set goes with it"),
    FIELD(environment, size_bytes, F_ALWAYS, .doc = "Bytes of the archive"),
    FIELD(environment, unpacked_bytes, F_ALWAYS, .doc = "Bytes of its files; 0: not known yet"),
    FIELD(environment, files, F_ALWAYS, .doc = "Entries of all its layers"),
    FIELD(environment, package_count, F_ALWAYS, .doc = "Packages in it"),
    FIELD(environment, package_source, F_ALWAYS, .doc = "Whose database says so: dpkg, apk or none"),
    FIELD(environment, layers, 0, .by = NULL, .doc = "Its layers: digest, size_bytes, unpacked_bytes, files"),
    FIELD(environment, signed_by, F_ALWAYS, .doc = "Name of the key that signed its digest; empty: none that the tenant has"),
    FIELD(environment, signed_at, 0, .doc = "When the signature was given"),
    FIELD(environment, offered_at, 0, .doc = "Since when the platform's staff may publish it to others; absent: they may not"),
    FIELD(environment, version, F_ALWAYS, .doc = "Grows with every change"),
    FIELD(environment, pulled_from, F_ALWAYS, .doc = "The registry that it came from, HOST/NAME@sha256:…; empty: it was sent"),
    FIELD_ID(environment, created_by, "usr", F_ALWAYS, .doc = "Who imported it"),
    FIELD(environment, created_at, F_ALWAYS, .doc = "When"));
SCHEMA_EXTERN(environment_package, "A package that an image has, by its own word",
    FIELD(environment_package, number, F_ALWAYS, .doc = "Its place in the list"),
    FIELD(environment_package, name, F_ALWAYS, .doc = "Name"), FIELD(environment_package, version, F_ALWAYS, .doc = "Version"),
    FIELD(environment_package, architecture, F_ALWAYS, .doc = "Architecture; -: not said"));
SCHEMA_EXTERN(environment_use, "A job whose program has the image as its root",
    FIELD_ID(environment_use, job_id, "job", F_ALWAYS, .doc = "The job"),
    FIELD(environment_use, job_name, F_ALWAYS, .doc = "Its name"), FIELD(environment_use, state, F_ALWAYS, .doc = "Its state"),
    FIELD_ID(environment_use, submitted_by, "usr", F_ALWAYS, .doc = "Who submitted it"),
    FIELD(environment_use, submitted_at, F_ALWAYS, .doc = "When"));
SCHEMA_OF(environment_found, "What a name means", FIELD(environment_found, dataset_id, 0, .doc = "Data set"),
    FIELD(environment_found, dataset_version, 0, .doc = "Version"), FIELD(environment_found, digest, 0, .doc = "Digest"));
struct user { struct uuid job_id; struct str name; };
SCHEMA_OF(user, "A job that has not ended", FIELD(user, job_id, 0, .doc = "The job"), FIELD(user, name, 0, .doc = "Its name"));
struct zoned { struct str zone; };
SCHEMA_OF(zoned, "Where it is published", FIELD(zoned, zone, 0, .doc = "Zone"));
struct refused { struct uuid tenant_id, dataset_id; int64_t dataset_version; };
SCHEMA_OF(refused, "An archive that nobody needs", FIELD(refused, tenant_id, 0, .doc = "Tenant"),
    FIELD(refused, dataset_id, 0, .doc = "Data set"), FIELD(refused, dataset_version, 0, .doc = "Version"));

#define STATE                                                                                                            \
    "CASE WHEN j.state = 'COMPLETED' AND e.object_id IS NOT NULL THEN 'READY'\n"                                         \
    "            WHEN j.finished_at IS NULL OR (j.state = 'COMPLETED' AND EXISTS (SELECT FROM job_object x\n"                \
    "              WHERE x.tenant_id = e.tenant_id AND x.job_id = e.job_id AND x.direction = 'output'\n"                    \
    "                AND x.fence = j.fence AND x.name = 'image')) THEN 'IMPORTING' ELSE 'REFUSED' END"
#define FIGURE(name) "coalesce((j.result->>'" name "')::bigint, 0) AS " name
#define TOLD                                                                                                             \
    "e.environment_id, e.project_id, e.name, e.description, " STATE " AS state,\n"                                       \
    "       CASE WHEN j.state <> 'COMPLETED' THEN coalesce(nullif(j.message, ''), j.reason) ELSE '' END AS reason,\n"     \
    "       coalesce(j.result->>'digest', e.asked_digest) AS digest, coalesce(o.zone, j.zone) AS zone,\n" \
    "       coalesce(o.data_class, j.data_class) AS data_class, e.dataset_id,\n"              \
    "       e.dataset_version, e.job_id, e.allow_setuid, e.owns_archive, coalesce(o.size_bytes, 0) AS size_bytes,\n" \
    "       " FIGURE("unpacked_bytes") ",\n"   \
    "       " FIGURE("files") ", " FIGURE("package_count") ", coalesce(j.result->>'package_source', '') AS\n"            \
    "       package_source, coalesce(k.name, '') AS signed_by, e.signed_at, e.offered_at, e.version, e.pulled_from,\n" \
    "       e.created_by, e.created_at"
#define TABLES                                                                                                           \
    "environment e JOIN job j ON j.tenant_id = e.tenant_id AND j.job_id = e.job_id\n"                                    \
    "  LEFT JOIN LATERAL environment_place(e.tenant_id, e.object_id) o ON true\n"                                        \
    "  LEFT JOIN environment_key k ON k.tenant_id = e.tenant_id AND k.key_id = e.key_id"

static const struct stmt environment_insert_stmt = { .name = "environment_insert", .params = "uuussuiusbbuuis", .card = CARD_NONE,
    .sql =
    "INSERT INTO environment (tenant_id, environment_id, project_id, name, description, dataset_id, dataset_version, object_id,\n"
    "                         asked_digest, allow_setuid, owns_archive, job_id, created_by, pulled_from)\n"
    "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $15\n"
    " WHERE (SELECT count(*) FROM environment WHERE tenant_id = $1) < $14" };
static const struct stmt environment_get_stmt = { .name = "environment_get", .params = "uu", .row = &environment_schema,
    .card = CARD_ONE, .sql =
    "SELECT " TOLD ", j.result->'layers' AS layers FROM " TABLES "\n WHERE e.tenant_id = $1 AND e.environment_id = $2" };
static const struct stmt environment_list_stmt = { .name = "environment_list", .params = "ussui", .row = &environment_schema,
    .card = CARD_MANY, .sql =
    "SELECT " TOLD ", NULL::jsonb AS layers FROM " TABLES "\n"
    " WHERE e.tenant_id = $1 AND ($2::text IS NULL OR e.name = $2) AND ($3::text IS NULL OR " STATE " = $3)\n"
    "   AND ($4::uuid IS NULL OR e.environment_id < $4) ORDER BY e.environment_id DESC LIMIT $5" };
static const struct stmt environment_lock = { .name = "environment_lock", .params = "uu", .card = CARD_NONE, .sql =
    "SELECT FROM environment WHERE tenant_id = $1 AND environment_id = $2 FOR UPDATE" };
static const struct stmt environment_users = { .name = "environment_users", .params = "uui", .row = &user_schema,
    .card = CARD_MANY, .sql =
    "SELECT j.job_id, j.name FROM environment_objects($1, $2) AS o\n"
    "  JOIN job_object i ON i.tenant_id = $1 AND i.object_id = o AND i.direction = 'input' AND i.name = '" RUN_IMAGE_INPUT "'\n"
    "  JOIN job j ON j.tenant_id = $1 AND j.job_id = i.job_id AND j.finished_at IS NULL ORDER BY j.job_id LIMIT $3" };
static const struct stmt environment_offer_stmt = { .name = "environment_offer", .params = "uubu", .card = CARD_NONE, .sql =
    "UPDATE environment SET offered_by = CASE WHEN $3 THEN $4::uuid END, offered_at = CASE WHEN $3 THEN now() END,\n"
    "       version = version + 1\n"
    " WHERE tenant_id = $1 AND environment_id = $2" };
static const struct stmt environment_published = { .name = "environment_published", .params = "uui", .row = &zoned_schema,
    .card = CARD_MANY, .sql =
    "SELECT zone FROM shared_environment WHERE owner_id = $1 AND environment_id = $2 ORDER BY zone LIMIT $3" };
static const struct stmt environment_forget = { .name = "environment_forget", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM environment WHERE tenant_id = $1 AND environment_id = $2" };
static const struct stmt environment_disown = { .name = "environment_disown", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE environment SET owns_archive = false, version = version + 1\n"
    " WHERE tenant_id = $1 AND dataset_id = $2 AND owns_archive" };
static const struct stmt environment_packages_stmt = { .name = "environment_packages", .params = "uusii",
    .row = &environment_package_schema, .card = CARD_MANY, .sql =
    "SELECT p.number, split_part(p.text, ' ', 1) AS name, split_part(p.text, ' ', 2) AS version,\n"
    "       split_part(p.text, ' ', 3) AS architecture\n"
    "  FROM environment e JOIN job j ON j.tenant_id = $1 AND j.job_id = e.job_id\n"
    " CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(j.result->'packages', '[]')) WITH ORDINALITY AS p(text, number)\n"
    " WHERE e.tenant_id = $1 AND e.environment_id = $2 AND p.number > $4\n"
    "   AND ($3::text IS NULL OR position(lower($3) IN lower(split_part(p.text, ' ', 1))) > 0) ORDER BY p.number LIMIT $5" };
static const struct stmt environment_uses_stmt = { .name = "environment_uses", .params = "uuui", .row = &environment_use_schema,
    .card = CARD_MANY, .sql =
    "SELECT j.job_id, j.name AS job_name, j.state, j.created_by AS submitted_by, j.submitted_at\n"
    "  FROM environment e JOIN job c ON c.tenant_id = $1 AND c.job_id = e.job_id\n"
    " CROSS JOIN LATERAL environment_objects($1, $2) AS o\n"
    "  JOIN job_object i ON i.tenant_id = $1 AND i.object_id = o AND i.direction = 'input' AND i.name = '" RUN_IMAGE_INPUT "'\n"
    "  JOIN job j ON j.tenant_id = $1 AND j.job_id = i.job_id\n"
    "       AND (position('/' IN j.spec->>'environment') = 0 OR j.spec->>'environment' LIKE '%/' || (c.result->>'digest'))\n"
    " WHERE e.tenant_id = $1 AND e.environment_id = $2 AND ($3::uuid IS NULL OR j.job_id < $3)\n"
    " ORDER BY j.job_id DESC LIMIT $4" };
static const struct stmt environment_find_stmt = { .name = "environment_find", .params = "uussu",
    .row = &environment_found_schema, .card = CARD_MAYBE, .sql =
    "SELECT e.dataset_id, e.dataset_version, j.result->>'digest' AS digest\n"
    "  FROM environment e JOIN job j ON j.tenant_id = $1 AND j.job_id = e.job_id\n"
    " WHERE e.tenant_id = $1 AND j.state = 'COMPLETED' AND e.dataset_id IS NOT NULL\n"
    "   AND ($2::uuid IS NULL OR e.environment_id = $2) AND ($4::text IS NULL OR j.result->>'digest' = $4)\n"
    "   AND ($3::text IS NULL OR (e.name = $3 AND (e.project_id IS NULL OR e.project_id = $5)))\n"
    " ORDER BY e.project_id IS NOT DISTINCT FROM $5 DESC, e.environment_id DESC LIMIT 1" };
static const struct stmt environment_refused = { .name = "environment_refused", .params = "i", .row = &refused_schema,
    .card = CARD_MANY, .sql =
    "SELECT DISTINCT e.tenant_id, e.dataset_id, e.dataset_version FROM environment e\n"
    "  JOIN job j ON j.tenant_id = e.tenant_id AND j.job_id = e.job_id\n"
    " WHERE e.owns_archive AND e.dataset_id IS NOT NULL AND j.finished_at IS NOT NULL AND j.state <> 'COMPLETED' LIMIT $1" };

const struct stmt *const environment_stmts[] = { &environment_insert_stmt, &environment_get_stmt, &environment_list_stmt,
    &environment_lock, &environment_users, &environment_offer_stmt, &environment_published, &environment_forget,
    &environment_disown, &environment_packages_stmt,
    &environment_uses_stmt, &environment_find_stmt, NULL };
const struct stmt *const environment_node_stmts[] = { &environment_refused, NULL };

enum errc environment_insert(struct work *w, const struct environment_new *in, struct environment *ret, struct err *e)
{
    int64_t rows;
    TRY(db_exec(w->tx, &environment_insert_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(in->environment_id),
        A_UUID_OR_NULL(in->project_id), A_STR(in->name), A_STR(in->description.ptr ? in->description : STR("")),
        A_UUID_OR_NULL(in->dataset_id), A_I64(in->dataset_version), A_UUID_OR_NULL(in->object_id),
        A_STR(in->digest.ptr ? in->digest : STR("")), A_BOOL(in->allow_setuid), A_BOOL(in->owns_archive), A_UUID(in->job_id),
        A_UUID(w->principal->user_id), A_I64(ENVIRONMENTS_MAX), A_STR(in->pulled_from)), &rows, e));
    if (!rows)
        return FAIL(e, LIMIT, "The tenant has %d environments already; delete one first", ENVIRONMENTS_MAX);
    return environment_get(w, in->environment_id, ret, e);
}

enum errc environment_get(struct work *w, struct uuid environment_id, struct environment *ret, struct err *e)
{
    return db_one(w->tx, &environment_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id)), ret, e);
}

enum errc environment_list(struct work *w, struct str name, struct str state, struct uuid position, int64_t limit,
                           struct slice *ret, struct err *e)
{
    return db_many(w->tx, &environment_list_stmt, ARGS(A_UUID(w->tenant_id), A_STR(name), A_STR(state), A_UUID_OR_NULL(position),
                   A_I64(limit)), ret, (size_t)limit, e);
}

/* With all its versions, of which the image was the only one at its import; one that has others by now is no environment's own
 * any more, and stays. That a data set went is in the tenant's log, whoever let it go. by NULL: the sweep. */
static enum errc remove_archive(struct work *w, struct uuid dataset_id, int64_t version, const struct principal *by,
                                bool *ret_gone, struct err *e)
{
    struct dataset d;
    struct content_deleted gone;
    TRY(dataset_get(w, dataset_id, &d, e));
    *ret_gone = d.latest_version <= version;
    if (!*ret_gone)
        return db_exec(w->tx, &environment_disown, ARGS(A_UUID(w->tenant_id), A_UUID(dataset_id)), NULL, e);
    TRY(content_delete(w, &versioned_dataset, dataset_id, &gone, e));
    struct audit_event ev = by ? audit_event_by(w, by, AUDIT_DATASET_DELETE) : audit_event_of(w, AUDIT_DATASET_DELETE);
    ev.resource_kind = STR("dataset");
    ev.resource_prefix = "dst";
    ev.resource_id = dataset_id;
    ev.rule = STR("environment");
    audit_event_detail(&ev, AUDIT_D_INT("objects", gone.objects));
    audit_event_detail(&ev, AUDIT_D_INT("stored_bytes", gone.stored_bytes));
    return audit_append(w, &ev, e);
}

static enum errc check_users(struct work *w, struct uuid environment_id, struct err *e)
{
    struct { struct user *items; size_t n; } rows;
    struct str named = STR("");
    TRY(db_many(w->tx, &environment_users, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id), A_I64(NAMED_MAX + 1)), &rows,
        NAMED_MAX + 1, e));
    for (size_t i = 0; i < rows.n && i < NAMED_MAX; i++)
        named = str_fmt(w->arena, "%.*s%sjob %.*s (%.*s)", STR_ARG(named), i ? ", " : "", STR_ARG(rows.items[i].name),
                        STR_ARG(id_text(w->arena, "job", rows.items[i].job_id)));
    return rows.n ? FAIL(e, CONFLICT, "It is still used by %.*s%s; end that first", STR_ARG(named),
                         rows.n > NAMED_MAX ? " and more" : "") : ERR_OK;
}

enum errc environment_offer(struct work *w, struct uuid environment_id, bool offered, struct environment *ret, struct err *e)
{
    TRY(db_exec(w->tx, &environment_offer_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id), A_BOOL(offered),
                A_UUID(w->principal->user_id)), NULL, e));
    return environment_get(w, environment_id, ret, e);
}

static enum errc check_published(struct work *w, struct uuid environment_id, struct err *e)
{
    struct { struct zoned *items; size_t n; } rows;
    TRY(db_many(w->tx, &environment_published, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id), A_I64(1)), &rows, 1, e));
    return rows.n ? FAIL(e, CONFLICT, "It is published to other organisations in zone %.*s; the platform's staff withdraw and "
                         "remove it there first", STR_ARG(rows.items[0].zone)) : ERR_OK;
}

enum errc environment_delete(struct work *w, struct uuid environment_id, struct err *e)
{
    struct environment v;
    bool is_gone;
    TRY(db_exec(w->tx, &environment_lock, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id)), NULL, e));
    TRY(environment_get(w, environment_id, &v, e));
    if (str_eq_c(v.state, "IMPORTING"))
        return FAIL(e, CONFLICT, "Its import has not ended; cancel %.*s first", STR_ARG(id_text(w->arena, "job", v.job_id)));
    TRY(check_published(w, environment_id, e));
    TRY(check_users(w, environment_id, e));
    TRY(db_exec(w->tx, &environment_forget, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id)), NULL, e));
    return v.owns_archive && !uuid_is_nil(v.dataset_id)
         ? remove_archive(w, v.dataset_id, v.dataset_version, w->principal, &is_gone, e) : ERR_OK;
}

enum errc environment_packages(struct work *w, struct uuid environment_id, struct str q, int64_t after, int64_t limit,
                               struct slice *ret, struct err *e)
{
    struct environment v;
    TRY(environment_get(w, environment_id, &v, e));
    return db_many(w->tx, &environment_packages_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id), A_STR(q), A_I64(after),
                   A_I64(limit)), ret, (size_t)limit, e);
}

enum errc environment_uses(struct work *w, struct uuid environment_id, struct uuid position, int64_t limit, struct slice *ret,
                           struct err *e)
{
    struct environment v;
    TRY(environment_get(w, environment_id, &v, e));
    return db_many(w->tx, &environment_uses_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(environment_id), A_UUID_OR_NULL(position),
                   A_I64(limit)), ret, (size_t)limit, e);
}

/* What a submission named, in words. */
static struct str sought(struct work *w, struct uuid id, struct str name, struct str digest)
{
    if (!uuid_is_nil(id))
        return id_text(w->arena, "env", id);
    return str_fmt(w->arena, "%.*s%s%.*s", STR_ARG(name), name.len && digest.len ? "@" : "", STR_ARG(digest));
}

enum errc environment_find(struct work *w, struct uuid project_id, struct uuid environment_id, struct str name,
                           struct str digest, struct environment_found *ret, struct err *e)
{
    bool found = false;
    struct slice rows = { 0 };
    const struct str what = sought(w, environment_id, name, digest);
    TRY(db_maybe(w->tx, &environment_find_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(environment_id), A_STR(name),
                 A_STR(digest), A_UUID_OR_NULL(project_id)), ret, &found, e));
    if (found)
        return ERR_OK;
    if (name.len && !digest.len)
        TRY(environment_list(w, name, STR_NULL, UUID_NIL, 1, &rows, e));
    const struct environment *v = rows.items;
    if (rows.n && str_eq_c(v->state, "READY"))
        return FAIL(e, NOT_FOUND, "There is no environment %.*s of the job's project or of the organisation as a whole",
                    STR_ARG(what));
    if (rows.n)
        return FAIL(e, UNPROCESSABLE, "The environment %.*s is %.*s, so nothing runs in it: %.*s", STR_ARG(what),
                    STR_ARG(v->state), STR_ARG(v->reason));
    return FAIL(e, NOT_FOUND, "There is no environment %.*s that is READY", STR_ARG(what));
}

static enum errc remove_one(const struct app *app, const struct refused *r, struct arena *a, bool *ret_gone, struct err *e)
{
    struct work w = { .app = app, .arena = a, .tenant_id = r->tenant_id, .now_us = clock_wall_us(app->clock) };
    return RUN_WRITE(&w, remove_archive(&w, r->dataset_id, r->dataset_version, NULL, ret_gone, e), e);
}

enum errc environment_sweep(const struct app *app, struct arena *a, int64_t *ret_removed, struct err *e)
{
    struct { struct refused *items; size_t n; } rows;
    CLEANUP(arena_freep) struct arena *own = arena_new(16 << 20);
    struct work w = { .app = app, .arena = a };
    TRY(RUN_SYSTEM(&w, app->node_pool, TX_READ_ONLY,
                   db_many(w.tx, &environment_refused, ARGS(A_I64(SWEEP_BATCH)), &rows, SWEEP_BATCH, e), e));
    for (size_t i = 0; i < rows.n; i++, arena_reset(own)) {
        struct err why = { 0 };         /* a legal hold, or a job that reads it: another look will do */
        bool is_gone = false;
        if (remove_one(app, &rows.items[i], own, &is_gone, &why) != ERR_OK) {
            log_err(LOG_INFO, "environment.archive_kept", &why);
            continue;
        }
        if (!is_gone)
            continue;
        log_event(LOG_INFO, "environment.archive_removed", "dataset", LOG_ID("dst", rows.items[i].dataset_id), NULL);
        ++*ret_removed;
    }
    return ERR_OK;
}
