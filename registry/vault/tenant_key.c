/* SPDX-License-Identifier: Apache-2.0 */
/* tenant_key.c - the wrapped key of a tenant in a zone. Two transactions that both make the first version meet at the primary key of
 * the table: the second does nothing and reads what the first made, and its own key is never used. */
#include "registry/vault/tenant_key.h"
#include "audit/event.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "registry/registry_int.h"
#include "registry/vault/object_keys.h"

static const int64_t WRAPS_MAX = INT64_C(1) << 32, WRAPS_WARN = INT64_C(1) << 31, WRAPS_KEPT_BACK = INT64_C(1) << 20;

struct tenant_key_row { int64_t version, wraps; struct bytes wrapped; };
SCHEMA_OF(tenant_key_row, "The primary key of a tenant in a zone", FIELD(tenant_key_row, version, 0, .doc = "Version"),
    FIELD(tenant_key_row, wraps, 0, .doc = "Data keys wrapped so far"), FIELD(tenant_key_row, wrapped, 0, .doc = "As falaj-keyd wrapped it"));

const struct stmt tenant_key_primary_stmt = { .name = "tenant_key_primary", .params = "us", .row = &tenant_key_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT version, wraps, wrapped FROM tenant_key WHERE tenant_id = $1 AND zone = $2 AND state = 'PRIMARY'" };
const struct stmt tenant_key_insert_stmt = { .name = "tenant_key_insert", .params = "usyis", .card = CARD_NONE, .sql =
    "INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider)\n"
    "VALUES ($1, $2, 1, 'PRIMARY', $3, $4, $5) ON CONFLICT DO NOTHING" };
const struct stmt tenant_key_count_stmt = { .name = "tenant_key_count", .params = "usi", .card = CARD_NONE, .sql =
    "UPDATE tenant_key SET wraps = wraps + 1 WHERE tenant_id = $1 AND zone = $2 AND version = $3" };

/* KEY_CREATE stands in the tenant's log with the key it is about. */
static enum errc note_created(struct work *w, struct str zone, struct err *e)
{
    struct audit_event ev = audit_event_of(w, AUDIT_KEY_CREATE);
    ev.tenant_id = w->tenant_id;
    ev.zone = zone;
    ev.resource_kind = STR("tenant_key");
    ev.resource_name = zone;
    audit_event_detail(&ev, AUDIT_D_INT("key_version", 1));
    return audit_append(w, &ev, e);
}

static enum errc make_first(struct work *w, struct str zone, struct tenant_key_row *row, struct err *e)
{
    struct tkek_ref ref = { zone, w->tenant_id, STR(KEY_PURPOSE_DATA), 1 };
    struct keyd_health health;
    struct key_blob blob;
    int64_t made;
    bool found;
    TRY(keyd_health(w->app->keyd, zone, &health, e));
    TRY(keyd_tkek_new(w->app->keyd, &ref, &blob, e));
    TRY(db_exec(w->tx, &tenant_key_insert_stmt, ARGS(A_UUID(w->tenant_id), A_STR(zone), A_BYTES(blob.b, blob.n), A_I64(tkek_root_version(&blob)),
        A_TEXT(health.provider)), &made, e));
    if (made)
        TRY(note_created(w, zone, e));
    TRY(db_maybe(w->tx, &tenant_key_primary_stmt, ARGS(A_UUID(w->tenant_id), A_STR(zone)), row, &found, e));
    return found ? ERR_OK : FAIL(e, UNAVAILABLE, "The tenant has no usable key in zone %.*s", STR_ARG(zone));
}

enum errc key_blob_from(struct bytes wrapped, struct key_blob *ret, struct err *e)
{
    if (!wrapped.data.len || wrapped.data.len > KEY_BLOB_MAX)
        return FAIL(e, DAMAGED, "A stored key of the tenant is damaged: its length is wrong");
    memcpy(ret->b, wrapped.data.ptr, wrapped.data.len);
    ret->n = (uint16_t)wrapped.data.len;
    return ERR_OK;
}

enum errc tenant_key_primary(struct work *w, struct str zone, bool may_create, struct tenant_key *ret, struct err *e)
{
    struct tenant_key_row row;
    bool found;
    if (!keyd_client_has_zone(w->app->keyd, zone))
        return FAIL(e, UNAVAILABLE, "No key daemon of zone %.*s is configured here", STR_ARG(zone));
    TRY(db_maybe(w->tx, &tenant_key_primary_stmt, ARGS(A_UUID(w->tenant_id), A_STR(zone)), &row, &found, e));
    if (!found && !may_create)
        return FAIL(e, UNAVAILABLE, "The tenant has no usable key in zone %.*s", STR_ARG(zone));
    if (!found)
        TRY(make_first(w, zone, &row, e));
    if (row.wraps >= WRAPS_MAX - WRAPS_KEPT_BACK)
        return FAIL(e, LIMIT, "The tenant's key in zone %.*s has reached its limit of uses; rotate it", STR_ARG(zone));
    if (row.wraps >= WRAPS_WARN)
        log_event(LOG_WARN, "tenant_key.rotate_soon", "tenant", LOG_ID("tnt", w->tenant_id), "zone", LOG_STR(zone), "wraps", LOG_I(row.wraps), NULL);
    ret->ref = (struct tkek_ref){ str_dup(w->arena, zone), w->tenant_id, STR(KEY_PURPOSE_DATA), (uint32_t)row.version };
    ret->wraps = row.wraps;
    return key_blob_from(row.wrapped, &ret->blob, e);
}

void tenant_key_count(struct work *w, const struct tenant_key *k)
{
    db_queue(w->tx, &tenant_key_count_stmt, ARGS(A_UUID(w->tenant_id), A_STR(k->ref.zone), A_I64(k->ref.version)), true);
}
