/* SPDX-License-Identifier: Apache-2.0 */
/* key_shred.c - one version at a time: count what dies with it, destroy, certify, record. */
#include "registry/vault/key_shred.h"
#include "audit/event.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "keys/client.h"
#include "registry/registry_int.h"

SCHEMA_EXTERN(erasure_certificate, "That a key has been destroyed, and when the last copy of it is gone",
    FIELD_ID(erasure_certificate, certificate_id, "cer", F_ALWAYS, .doc = "The certificate"),
    FIELD(erasure_certificate, zone, F_ALWAYS, .doc = "Residency zone"),
    FIELD(erasure_certificate, key_version, 0, .doc = "The version destroyed"),
    FIELD(erasure_certificate, objects, 0, .doc = "Stored objects that cannot be read any more because of it"),
    FIELD(erasure_certificate, root_version, 0, .doc = "Copies in backups open under this root version only; its destruction ends them at once"),
    FIELD(erasure_certificate, destroyed_at, F_ALWAYS, .doc = "When the key was destroyed"),
    FIELD(erasure_certificate, backups_until, F_ALWAYS, .doc = "When the last backup that may hold a copy expires"),
    FIELD(erasure_certificate, body, F_ALWAYS, .max = 4096, .doc = "What was signed, as canonical JSON"),
    FIELD(erasure_certificate, signature, F_ALWAYS, .doc = "Ed25519 signature of the zone over body"),
    FIELD(erasure_certificate, key_id, F_ALWAYS, .doc = "Which signing key"),
    FIELD(erasure_certificate, created_at, F_ALWAYS, .doc = "When"));

static const struct stmt certificate_get = { .name = "erasure_certificate_get", .params = "uu", .row = &erasure_certificate_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM erasure_certificate WHERE tenant_id = $1 AND certificate_id = $2" };
static const struct stmt certificate_list = { .name = "erasure_certificate_list", .params = "uui", .row = &erasure_certificate_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM erasure_certificate WHERE tenant_id = $1 AND ($2::uuid IS NULL OR certificate_id < $2)\n"
    " ORDER BY certificate_id DESC LIMIT $3" };
const struct stmt *const key_shred_stmts[] = { &certificate_get, &certificate_list, NULL };

enum { ZONES_MAX = 64 };

struct due { struct uuid tenant_id; struct str zone, tier; int64_t version, root_version, objects; struct bytes blob_sha, wrapped; };
SCHEMA_OF(due, "A key whose time has come", FIELD(due, tenant_id, 0, .doc = "Tenant"), FIELD(due, zone, 0, .doc = "Zone"), FIELD(due, tier, 0, .doc = "Tier"),
    FIELD(due, version, 0, .doc = "Version"), FIELD(due, root_version, 0, .doc = "Root version"), FIELD(due, objects, 0, .doc = "Objects below it"),
    FIELD(due, blob_sha, 0, .doc = "Digest of the wrapped key"), FIELD(due, wrapped, 0, .doc = "The wrapped key"));
static const struct stmt due_stmt = { .name = "key_due", .params = "iS", .row = &due_schema, .card = CARD_MANY, .sql =
    "SELECT k.tenant_id, k.zone, k.tier, k.version, k.root_version, sha256(k.wrapped) AS blob_sha, k.wrapped,\n"
    "       (SELECT count(*) FROM dek d WHERE d.tenant_id = k.tenant_id AND d.zone = k.zone AND d.key_version = k.version) AS objects\n"
    "  FROM tenant_key k WHERE k.state = 'DESTROY_SCHEDULED' AND k.destroy_after <= now() AND NOT tenant_has_hold(k.tenant_id)\n"
    "   AND k.zone <> ALL ($2)\n"
    " ORDER BY k.destroy_after LIMIT $1 FOR UPDATE SKIP LOCKED" };
static const struct stmt destroy_stmt = { .name = "key_destroy", .params = "usiyt", .card = CARD_ONE, .sql =
    "UPDATE tenant_key SET state = 'DESTROYED', wrapped = NULL, blob_sha = $4, destroyed_at = $5\n"
    " WHERE tenant_id = $1 AND zone = $2 AND version = $3 AND state = 'DESTROY_SCHEDULED'" };
static const struct stmt certify_stmt = { .name = "key_certify", .params = "uusiyititsys", .card = CARD_NONE, .sql =
    "INSERT INTO erasure_certificate (tenant_id, certificate_id, zone, key_version, blob_sha, objects, destroyed_at, root_version, backups_until,\n"
    "                                 body, signature, key_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)" };
const struct stmt *const key_shred_leader_stmts[] = { &due_stmt, &destroy_stmt, &certify_stmt, NULL };

enum errc erasure_certificate_get(struct work *w, struct uuid id, struct erasure_certificate *ret, struct err *e)
{
    return db_one(w->tx, &certificate_get, ARGS(A_UUID(w->tenant_id), A_UUID(id)), ret, e);
}

enum errc erasure_certificate_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &certificate_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

static enum errc certify(struct work *w, const struct due *d, struct uuid id, int64_t until_us, struct err *e)
{
    uint8_t sig[ED25519_SIG], key[KEY_ID_BYTES];
    char key_id[2 * KEY_ID_BYTES + 1], sha[65];
    hex_encode(d->blob_sha.data.ptr, 32, sha);
    struct str body = str_fmt(w->arena,
        "{\"v\":1,\"kind\":\"erasure-certificate\",\"certificate\":\"%.*s\",\"tenant\":\"%.*s\",\"zone\":\"%.*s\",\"key_version\":%ld,"
        "\"tier\":\"%.*s\",\"blob_sha256\":\"%s\",\"objects\":%ld,\"destroyed_us\":%ld,\"root_version\":%ld,\"irrecoverable_by_us\":%ld}",
        STR_ARG(id_text(w->arena, "cer", id)), STR_ARG(id_text(w->arena, "tnt", d->tenant_id)), STR_ARG(d->zone), (long)d->version,
        STR_ARG(d->tier), sha, (long)d->objects, (long)w->now_us, (long)d->root_version, (long)until_us);
    TRY(keyd_sign(w->app->keyd, d->zone, body.ptr, body.len, sig, key, e));
    hex_encode(key, sizeof key, key_id);
    return db_exec(w->tx, &certify_stmt, ARGS(A_UUID(d->tenant_id), A_UUID(id), A_STR(d->zone), A_I64(d->version), A_BYTES(d->blob_sha.data.ptr, 32),
        A_I64(d->objects), A_TIME_US(w->now_us), A_I64(d->root_version), A_TIME_US(until_us), A_STR(body), A_BYTES(sig, sizeof sig),
        A_STR(str_dup(w->arena, str_c(key_id)))), NULL, e);
}

static enum errc record(struct work *w, const struct due *d, struct uuid certificate, struct err *e)
{
    struct audit_event ev = audit_event_of(w, AUDIT_KEY_DESTROY);
    ev.tenant_id = d->tenant_id;
    ev.zone = d->zone;
    ev.resource_kind = STR("tenant_key");
    ev.resource_name = d->zone;
    audit_event_detail(&ev, AUDIT_D_STR("act", STR("destroyed")));
    audit_event_detail(&ev, AUDIT_D_INT("key_version", d->version));
    audit_event_detail(&ev, AUDIT_D_INT("objects", d->objects));
    audit_event_detail(&ev, AUDIT_D_STR("certificate", id_text(w->arena, "cer", certificate)));
    return audit_append(w, &ev, e);
}

static enum errc destroy_one(struct work *w, const struct due *d, struct err *e)
{
    struct uuid id = uuid_v7(w->now_us);
    struct tkek_ref ref = { d->zone, d->tenant_id, STR(KEY_PURPOSE_DATA), (uint32_t)d->version };
    /* A sovereign key has no copy anywhere: it is gone now, whatever backups there are. */
    bool is_sovereign = str_eq_c(d->tier, "sovereign");
    int64_t until_us = w->now_us + (is_sovereign ? 0 : w->app->config->keys_backup_days * INT64_C(86400000000));
    if (is_sovereign)
        TRY(keyd_sovereign_destroy(w->app->keyd, &ref, NULL, e));
    TRY(db_exec(w->tx, &destroy_stmt, ARGS(A_UUID(d->tenant_id), A_STR(d->zone), A_I64(d->version), A_BYTES(d->blob_sha.data.ptr, 32),
        A_TIME_US(w->now_us)), NULL, e));
    TRY(certify(w, d, id, until_us, e));
    TRY(keyd_forget(w->app->keyd, d->zone, e));
    return record(w, d, id, e);
}

/* All of one key's end, or nothing of it: ret_done false where its zone's falaj-keyd is sealed or does not answer. */
static enum errc try_one(struct work *w, const struct due *d, bool *ret_done, struct err *e)
{
    TRY(db_mark(w->tx, e));
    enum errc rc = destroy_one(w, d, e);
    *ret_done = rc == ERR_OK;
    if (rc == ERR_OK || db_is_failed(w->tx))
        return rc;
    log_event(LOG_ERROR, "key_shred.zone_waits", "zone", LOG_STR(d->zone), "why", LOG_S(e->msg), NULL);
    return db_back_to_mark(w->tx, e);
}

static bool is_among(const struct str *zones, size_t n, struct str zone)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(zones[i], zone))
            return true;
    return false;
}

enum errc key_shred_due(struct work *w, int64_t limit, int64_t *ret_destroyed, struct err *e)
{
    struct { struct due *items; size_t n; } due;
    struct str waiting[ZONES_MAX];      /* zones in which nothing can be destroyed now: their keys must not hold up the others' */
    size_t nwaiting = 0;
    bool is_new = true;
    *ret_destroyed = 0;
    while (is_new && nwaiting < ZONES_MAX && *ret_destroyed < limit) {
        is_new = false;
        TRY(db_many(w->tx, &due_stmt, ARGS(A_I64(limit - *ret_destroyed), A_STRS(waiting, nwaiting)), &due, (size_t)limit, e));
        for (size_t i = 0; i < due.n; i++) {
            bool is_done;
            if (is_among(waiting, nwaiting, due.items[i].zone) || nwaiting == ZONES_MAX)
                continue;
            TRY(try_one(w, &due.items[i], &is_done, e));
            if (is_done)
                (*ret_destroyed)++;
            else
                waiting[nwaiting++] = due.items[i].zone;
            is_new |= !is_done;
        }
    }
    return ERR_OK;
}
