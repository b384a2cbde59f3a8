/* SPDX-License-Identifier: Apache-2.0 */
/* root_key.c - the register of root versions follows the provider: what it reports as current is CURRENT, older ones are RETIRED. */
#include "registry/vault/root_key.h"
#include "core/db/tx.h"
#include "keys/client.h"
#include "registry/vault/key_rewrap.h"

enum { VERSIONS_MAX = 200 };

SCHEMA_EXTERN(root_key, "A version of a zone's root key",
    FIELD(root_key, version, 0, .doc = "Version, from 1"),
    FIELD(root_key, provider, F_ALWAYS, .doc = "Where it lives: pkcs11 or softfile"),
    FIELD(root_key, state, F_ALWAYS, .doc = "CURRENT, RETIRED or DESTROYED"),
    FIELD(root_key, tenant_keys, 0, .doc = "Tenant keys that hang on it"),
    FIELD(root_key, created_at, F_ALWAYS, .doc = "When Falaj first saw it"),
    FIELD(root_key, retired_at, 0, .doc = "When a newer one took over"),
    FIELD(root_key, destroyed_at, 0, .doc = "When it was destroyed"));

static const struct stmt list_stmt = { .name = "root_key_list", .params = "si", .row = &root_key_schema, .card = CARD_MANY, .sql =
    "SELECT r.version, r.provider, r.state, coalesce(u.keys, 0) AS tenant_keys, r.created_at, r.retired_at, r.destroyed_at\n"
    "  FROM root_key r LEFT JOIN root_key_users($1) u ON u.root_version = r.version WHERE r.zone = $1 ORDER BY r.version DESC LIMIT $2" };
static const struct stmt note_stmt = { .name = "root_key_note", .params = "siis", .card = CARD_NONE, .sql =
    "INSERT INTO root_key (zone, version, provider, state, retired_at)\n"
    "SELECT $1, v, $4, CASE WHEN v = $3 THEN 'CURRENT' ELSE 'RETIRED' END, CASE WHEN v <> $3 THEN now() END FROM generate_series($2, $3) v\n"
    "ON CONFLICT (zone, version) DO NOTHING" };
static const struct stmt retire_stmt = { .name = "root_key_retire", .params = "si", .card = CARD_NONE, .sql =
    "UPDATE root_key SET state = 'RETIRED', retired_at = coalesce(retired_at, now()) WHERE zone = $1 AND version < $2 AND state = 'CURRENT'" };
static const struct stmt destroyed_stmt = { .name = "root_key_destroyed", .params = "si", .card = CARD_ONE, .sql =
    "UPDATE root_key SET state = 'DESTROYED', destroyed_at = now() WHERE zone = $1 AND version = $2 AND state = 'RETIRED'" };
/* Waits for every transaction that is writing a tenant key: none may commit one under a root that is being destroyed. */
static const struct stmt lock_stmt = { .name = "root_key_lock", .params = "", .card = CARD_NONE, .sql = "LOCK TABLE tenant_key IN SHARE MODE" };
const struct stmt *const root_key_stmts[] = { &lock_stmt, &list_stmt, &note_stmt, &retire_stmt, &destroyed_stmt, NULL };

static enum errc follow(struct work *w, struct str zone, struct keyd_health *h, struct err *e)
{
    if (!keyd_client_has_zone(w->app->keyd, zone))
        return FAIL(e, NOT_FOUND, "The zone does not exist");
    TRY(keyd_health(w->app->keyd, zone, h, e));
    if (h->is_sealed)
        return FAIL(e, SEALED, "The keys of zone %.*s are sealed: %s", STR_ARG(zone), h->reason);
    db_queue(w->tx, &note_stmt, ARGS(A_STR(zone), A_I64(h->oldest_root_version), A_I64(h->root_version), A_TEXT(h->provider)), false);
    db_queue(w->tx, &retire_stmt, ARGS(A_STR(zone), A_I64(h->root_version)), false);
    return ERR_OK;
}

static enum errc read_all(struct work *w, struct str zone, void *ret, struct err *e)
{
    return db_many(w->tx, &list_stmt, ARGS(A_STR(zone), A_I64(VERSIONS_MAX)), ret, VERSIONS_MAX, e);
}

enum errc root_key_list(struct work *w, struct str zone, struct slice *ret, struct err *e)
{
    struct keyd_health h;
    TRY(follow(w, zone, &h, e));
    return read_all(w, zone, ret, e);
}

enum errc root_key_rotate(struct work *w, struct str zone, int64_t *ret_version, struct err *e)
{
    struct keyd_health h;
    uint32_t version;
    TRY(follow(w, zone, &h, e));
    TRY(keyd_root_new(w->app->keyd, zone, UUID_NIL, &version, e));
    *ret_version = version;
    db_queue(w->tx, &note_stmt, ARGS(A_STR(zone), A_I64(version), A_I64(version), A_TEXT(h.provider)), false);
    db_queue(w->tx, &retire_stmt, ARGS(A_STR(zone), A_I64(version)), false);
    return rewrap_start(w, zone, "root", version, e);
}

enum errc root_key_destroy_check(struct work *w, struct str zone, int64_t version, struct err *e)
{
    struct keyd_health h;
    struct { struct root_key *items; size_t n; } all;
    TRY(follow(w, zone, &h, e));
    TRY(read_all(w, zone, &all, e));
    for (size_t i = 0; i < all.n; i++) {
        const struct root_key *k = &all.items[i];
        if (k->version != version)
            continue;
        if (!str_eq_c(k->state, "RETIRED"))
            return FAIL(e, CONFLICT, "Root version %ld is %.*s; only a retired one can be destroyed", (long)version, STR_ARG(k->state));
        if (k->tenant_keys)
            return FAIL(e, CONFLICT, "%ld tenant keys still hang on root version %ld; wait for the rewrap to end", (long)k->tenant_keys, (long)version);
        return ERR_OK;
    }
    return FAIL(e, NOT_FOUND, "There is no such object");
}

enum errc root_key_destroy(struct work *w, struct str zone, int64_t version, struct err *e)
{
    TRY(db_exec(w->tx, &lock_stmt, NO_ARGS, NULL, e));
    TRY(root_key_destroy_check(w, zone, version, e));
    TRY(keyd_root_destroy(w->app->keyd, zone, UUID_NIL, (uint32_t)version, NULL, e));
    return db_exec(w->tx, &destroyed_stmt, ARGS(A_STR(zone), A_I64(version)), NULL, e);
}
