/* SPDX-License-Identifier: Apache-2.0 */
/* registry_host.c - rows of registry_host. Who may change them is the routes' permission and row-level security. */
#include "scheduler/jobs/registry_host.h"
#include "core/crypto/x509.h"
#include "core/db/tx.h"
#include "core/wire/image_ref.h"
#include "tenants/access/principal.h"
#include "tenants/home/zone.h"

enum { NAMED_MAX = 10 };

SCHEMA_EXTERN(registry_host, "A registry that images of a zone may be pulled from",
    FIELD_ID(registry_host, registry_id, "reg", F_ALWAYS, .doc = "The row"),
    FIELD(registry_host, zone, F_ALWAYS, .doc = "Whose machines may ask it"),
    FIELD(registry_host, host, F_ALWAYS, .doc = "HOST or HOST:PORT, as references to its images begin"),
    FIELD(registry_host, description, F_ALWAYS, .doc = "What it is for"),
    FIELD_STRS(registry_host, hosts, F_ALWAYS, .doc = "Other hosts that it may send to, for blobs and for tokens"),
    FIELD(registry_host, ca_pem, F_ALWAYS, .doc = "Authorities (PEM) that vouch for all of them; empty: the machine's own"),
    FIELD_ENUM(registry_host, reach, F_ALWAYS, pull_reach_names,
               .doc = "Addresses that they may have: public; private: of private networks, too; local: and the machine's own"),
    FIELD(registry_host, max_bytes, F_ALWAYS, .doc = "Most bytes of an image, packed"),
    FIELD(registry_host, silent_s, F_ALWAYS, .doc = "A pull ends when so many seconds bring less than 1 KiB each"),
    FIELD(registry_host, allowed, F_ALWAYS, .doc = "Images may come from there now"),
    FIELD(registry_host, changed_at, F_ALWAYS, .doc = "Last change"),
    FIELD(registry_host, version, F_ALWAYS, .doc = "Grows with every change"));
SCHEMA_EXTERN(registry_host_new, "A registry to allow in a zone",
    FIELD(registry_host_new, zone, F_REQ, .min = 1, .max = 63, .doc = "Whose machines may ask it"),
    FIELD(registry_host_new, host, F_REQ, .min = 1, .max = IMAGE_HOST_MAX, .check = check_image_host,
          .example = "registry.example:5000", .doc = "HOST or HOST:PORT, as references to its images begin"),
    FIELD(registry_host_new, description, 0, .max = 256, .dflt = "", .doc = "What it is for"),
    FIELD_STRS(registry_host_new, hosts, 0, .max = PULL_HOSTS_MAX,
               .doc = "Other hosts that it may send to, for blobs and for tokens; to no other it does"),
    FIELD(registry_host_new, ca_pem, 0, .max = PULL_CA_MAX, .dflt = "",
          .doc = "Authorities (PEM) that vouch for all of them, and nobody else; empty: whom the machine believes"),
    FIELD_ENUM(registry_host_new, reach, 0, pull_reach_names, .dflt = "public",
               .doc = "Addresses that they may have: public; private: of private networks, too; local: and the machine's own"),
    FIELD(registry_host_new, max_bytes, 0, .min = 1, .max = PULL_BYTES_MAX, .dflt = "1073741824",
          .doc = "Most bytes of an image, packed"),
    FIELD(registry_host_new, silent_s, 0, .min = 1, .max = PULL_SILENT_MAX_S, .dflt = "30",
          .doc = "A pull ends when so many seconds bring less than 1 KiB each"));
struct registry_named { struct str host; };
SCHEMA_OF(registry_named, "A registry by its host", FIELD(registry_named, host, 0, .doc = "Host"));

static const struct stmt registry_insert = { .name = "registry_host_add", .params = "usssSssiiui", .card = CARD_NONE, .sql =
    "INSERT INTO registry_host (registry_id, zone, host, description, hosts, ca_pem, reach, max_bytes, silent_s, changed_by)\n"
    "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE (SELECT count(*) FROM registry_host) < $11" };
static const struct stmt registry_get = { .name = "registry_host_get", .params = "ubS", .row = &registry_host_schema,
    .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM registry_host WHERE registry_id = $1 AND ($2 OR zone = ANY ($3))" };
static const struct stmt registry_list = { .name = "registry_host_list", .params = "bSsui", .row = &registry_host_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM registry_host\n"
    " WHERE ($1 OR zone = ANY ($2)) AND ($3::text IS NULL OR zone = $3) AND ($4::uuid IS NULL OR registry_id < $4)\n"
    " ORDER BY registry_id DESC LIMIT $5" };
static const struct stmt registry_allow = { .name = "registry_host_allow", .params = "ubu", .card = CARD_NONE, .sql =
    "UPDATE registry_host SET allowed = $2, changed_by = $3, changed_at = now(), version = version + 1 WHERE registry_id = $1" };
static const struct stmt registry_remove = { .name = "registry_host_remove", .params = "u", .card = CARD_NONE, .sql =
    "DELETE FROM registry_host WHERE registry_id = $1" };
static const struct stmt registry_find = { .name = "registry_host_find", .params = "ss", .row = &registry_host_schema,
    .card = CARD_MAYBE, .sql = "SELECT " ROW_COLUMNS " FROM registry_host WHERE zone = $1 AND host = $2 AND allowed" };
static const struct stmt registry_names = { .name = "registry_host_names", .params = "si", .row = &registry_named_schema,
    .card = CARD_MANY, .sql = "SELECT host FROM registry_host WHERE zone = $1 AND allowed ORDER BY host LIMIT $2" };
const struct stmt *const registry_host_stmts[] = { &registry_insert, &registry_get, &registry_list, &registry_allow,
    &registry_remove, &registry_find, &registry_names, NULL };

#define SEEN_BY(w) A_BOOL(principal_is_platform((w)->principal)), \
    A_STRS((w)->principal->allowed_zones.items, (w)->principal->allowed_zones.n)

static enum errc check(struct work *w, const struct registry_host_new *in, struct err *e)
{
    struct zone zone;
    struct x509_facts facts;
    struct err why = { 0 };
    const struct str *hosts = in->hosts.items;
    enum errc rc = zone_get(w, in->zone, &zone, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, "/zone", "There is no zone %.*s", STR_ARG(in->zone));
    TRY(rc);
    for (size_t i = 0; i < in->hosts.n; i++) {
        const char *must;
        if (!check_image_host(hosts[i], &must)) {
            FAIL(e, INVALID, "must %s", must);
            err_field(e, "/hosts/%zu", i);
            return e->code;
        }
    }
    if (in->ca_pem.len && x509_read(w->arena, in->ca_pem, &facts, &why) != ERR_OK)
        return FAIL_AT(e, INVALID, "/ca_pem", "must be certificates in PEM, the first of which can be read");
    return ERR_OK;
}

enum errc registry_host_add(struct work *w, const struct registry_host_new *in, struct registry_host *ret, struct err *e)
{
    const struct uuid id = uuid_v7(w->now_us);
    int64_t rows = 0;
    TRY(check(w, in, e));
    enum errc rc = db_exec(w->tx, &registry_insert, ARGS(A_UUID(id), A_STR(in->zone), A_STR(in->host), A_STR(in->description),
        A_STRS(in->hosts.items, in->hosts.n), A_STR(in->ca_pem), A_TEXT(pull_reach_names[in->reach]), A_I64(in->max_bytes),
        A_I64(in->silent_s), A_UUID(w->principal->user_id), A_I64(REGISTRY_HOSTS_MAX)), &rows, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/host", "Zone %.*s has a row for %.*s already", STR_ARG(in->zone), STR_ARG(in->host));
    TRY(rc);
    if (!rows)
        return FAIL(e, LIMIT, "There are %d registries already; remove one first", REGISTRY_HOSTS_MAX);
    return registry_host_get(w, id, ret, e);
}

enum errc registry_host_get(struct work *w, struct uuid registry_id, struct registry_host *ret, struct err *e)
{
    return db_one(w->tx, &registry_get, ARGS(A_UUID(registry_id), SEEN_BY(w)), ret, e);
}

enum errc registry_host_list(struct work *w, struct str zone, struct uuid position, int64_t limit, struct slice *ret,
                             struct err *e)
{
    return db_many(w->tx, &registry_list, ARGS(SEEN_BY(w), A_STR(zone), A_UUID_OR_NULL(position), A_I64(limit)), ret,
                   (size_t)limit, e);
}

enum errc registry_host_allow(struct work *w, struct uuid registry_id, bool allowed, struct registry_host *ret, struct err *e)
{
    TRY(db_exec(w->tx, &registry_allow, ARGS(A_UUID(registry_id), A_BOOL(allowed), A_UUID(w->principal->user_id)), NULL, e));
    return registry_host_get(w, registry_id, ret, e);
}

enum errc registry_host_remove(struct work *w, struct uuid registry_id, struct err *e)
{
    return db_exec(w->tx, &registry_remove, ARGS(A_UUID(registry_id)), NULL, e);
}

enum errc registry_host_find(struct work *w, struct str zone, struct str host, struct registry_host *ret, struct err *e)
{
    struct { struct registry_named *items; size_t n; } rows;
    struct str named = STR("");
    bool found = false;
    TRY(db_maybe(w->tx, &registry_find, ARGS(A_STR(zone), A_STR(host)), ret, &found, e));
    if (found)
        return ERR_OK;
    TRY(db_many(w->tx, &registry_names, ARGS(A_STR(zone), A_I64(NAMED_MAX + 1)), &rows, NAMED_MAX + 1, e));
    for (size_t i = 0; i < rows.n && i < NAMED_MAX; i++)
        named = str_fmt(w->arena, "%.*s%s%.*s", STR_ARG(named), i ? ", " : "", STR_ARG(rows.items[i].host));
    return FAIL(e, UNPROCESSABLE, "Zone %.*s lets no images come from %.*s; %s%.*s%s. The platform's staff allow a registry "
                "(falaj registry add)", STR_ARG(zone), STR_ARG(host), rows.n ? "it allows " : "it allows no registry",
                STR_ARG(named), rows.n > NAMED_MAX ? " and more" : "");
}
