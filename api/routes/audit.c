/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c - routes of the audit log: read, newest head, keys, export as a verifiable bundle. Reading and exporting are audited. */
#include "api/route.h"
#include "audit/event.h"
#include "audit/export.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/crypto/hash.h"
#include "core/db/tx.h"
#include "core/redis/wake.h"
#include "keys/client.h"
#include "scheduler/job.h"
#include "tenants/principal.h"

#include <time.h>

enum { HEAD_WAIT_MS = 3000, HEAD_STEP_MS = 50 };

struct audit_page { int64_t page_size, after; };
SCHEMA_OF(audit_page, "Which events",
    FIELD(audit_page, page_size, F_QUERY, .min = 1, .max = 200, .dflt = "50", .doc = "Events on a page"),
    FIELD(audit_page, after, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Events with a greater number; the number of the last one gives the next page"));
struct audit_item { int64_t tseq; struct uuid event_id; struct str leaf, chain; struct json event; };
SCHEMA_OF(audit_item, "An event of the log", FIELD(audit_item, tseq, 0, .doc = "Its number, dense from 1"),
    FIELD_ID(audit_item, event_id, "evt", 0, .doc = "The event"), FIELD(audit_item, leaf, 0, .doc = "SHA-256(0x00 || event), hex"),
    FIELD(audit_item, chain, 0, .doc = "Hash chain up to here, hex"), FIELD(audit_item, event, 0, .doc = "The canonical event"));
struct head_out { int64_t size; struct str root, chain, key_id; struct json head; struct str signature; };
SCHEMA_OF(head_out, "The newest signed head", FIELD(head_out, size, 0, .doc = "Events it covers"), FIELD(head_out, root, 0, .doc = "Merkle root, hex"),
    FIELD(head_out, chain, 0, .doc = "Chain value, hex"), FIELD(head_out, key_id, 0, .doc = "Key that signed it"),
    FIELD(head_out, head, 0, .doc = "What was signed"), FIELD(head_out, signature, 0, .doc = "Ed25519 signature, hex"));
struct key_item { struct str key_id, zone, public_key; };
SCHEMA_OF(key_item, "A public key", FIELD(key_item, key_id, 0, .doc = "Its SHA-256, hex"), FIELD(key_item, zone, 0, .doc = "Zone"),
    FIELD(key_item, public_key, 0, .doc = "Ed25519 public key, base64"));
struct export_in { int64_t from, to; };
SCHEMA_OF(export_in, "Which part", FIELD(export_in, from, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "First number; 0: 1"),
    FIELD(export_in, to, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Last number; 0: as far as is signed"));

static struct str hex_of(struct arena *a, const void *p, size_t n)
{
    char *text = arena_alloc(a, 2 * n + 1);
    return str_n(text, hex_encode(p, n, text));
}

static enum errc events(struct work *w, const void *in, void *out, struct err *e)
{
    const struct audit_page *page = in;
    struct page_out *ret = out;
    struct audit_row *rows;
    size_t n;
    TRY(audit_list(w, w->tenant_id, (uint64_t)page->after, (size_t)page->page_size, &rows, &n, e));
    struct audit_item *items = ARENA_ARRAY(w->arena, struct audit_item, n + 1);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct audit_item){ (int64_t)rows[i].tseq, rows[i].event_id, hex_of(w->arena, &rows[i].leaf, 32),
                                        hex_of(w->arena, &rows[i].chain, 32), { rows[i].body } };
    ret->items = (struct slice){ items, n };
    return ERR_OK;
}

static enum errc head(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    struct head_out *ret = out;
    struct audit_head h;
    struct str body;
    uint8_t sig[AUDIT_SIG];
    enum errc rc = audit_newest_head(w, w->tenant_id, &h, &body, sig, e);
    if (rc == ERR_NOT_FOUND) {
        wake_publish(w->app->redis, STR(WAKE_AUDIT), STR("1"));
        return FAIL(e, NOT_FOUND, "No head of this log is signed yet; one is being signed, ask again in a moment");
    }
    TRY(rc);
    *ret = (struct head_out){ (int64_t)h.size, hex_of(w->arena, &h.root, 32), hex_of(w->arena, &h.chain, 32),
                              str_dup(w->arena, str_c(h.key_id)), { body }, hex_of(w->arena, sig, AUDIT_SIG) };
    return ERR_OK;
}

static enum errc zone_key(struct work *w, struct str zone, uint8_t public_key[ED25519_PUBLIC], struct str *key_id, struct err *e)
{
    uint8_t id[KEY_ID_BYTES], hash[32];
    TRY(keyd_public_key(w->app->keyd, zone, public_key, id, e));
    sha256(public_key, ED25519_PUBLIC, hash);       /* the audit log names keys by the whole hash */
    *key_id = hex_of(w->arena, hash, 32);
    return ERR_OK;
}

/* Zones whose falaj-keyd is configured here; the platform's own log is signed by each of them. */
static enum errc keys(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    struct page_out *ret = out;
    const struct principal *p = w->principal;
    const struct str *zones = p->allowed_zones.items;
    struct key_item *items = ARENA_ARRAY(w->arena, struct key_item, p->allowed_zones.n + 1);
    for (size_t i = 0; i < p->allowed_zones.n; i++) {
        uint8_t pub[ED25519_PUBLIC];
        struct key_item *k = &items[ret->items.n];
        if (!keyd_client_has_zone(w->app->keyd, zones[i]))
            continue;
        TRY(zone_key(w, zones[i], pub, &k->key_id, e));
        char *text = arena_alloc(w->arena, BASE64_MAX(ED25519_PUBLIC));
        k->zone = zones[i];
        k->public_key = str_n(text, base64_encode(pub, ED25519_PUBLIC, text, false));
        ret->items.n++;
    }
    ret->items.items = items;
    return ERR_OK;
}

struct export_stream { struct http_exchange *x; bool begun; struct str request_id; };

/* Waits for a slow reader instead of dropping it: an export is one reader's own, and its thread is bounded by the pool. */
static enum errc export_sink(void *ctx, const void *p, size_t n, struct err *e)
{
    struct export_stream *s = ctx;
    if (!s->begun) {
        struct http_header h[] = { { STR("X-Request-Id"), s->request_id }, { STR("Content-Disposition"), STR("attachment; filename=\"audit.jsonl\"") } };
        TRY(http_stream_begin(s->x, 200, STR("application/jsonl"), h, 2, 4 << 20));
        s->begun = true;
    }
    for (int tries = 0; tries < 3000; tries++) {
        if (http_stream_write(s->x, p, n))
            return ERR_OK;
        if (http_stream_gone(s->x))
            break;
        struct timespec pause = { 0, 10000000 };
        nanosleep(&pause, NULL);
    }
    return FAIL(e, DEADLINE, "The reader of the export has gone or is too slow");
}

static enum errc note_export(struct call *c, struct err *e)
{
    struct work *w = &c->work;
    struct audit_event ev = audit_event_of(w, AUDIT_AUDIT_EXPORT);
    ev.actor = AUDIT_USER;
    ev.actor_id = c->principal->user_id;
    ev.token_id = c->principal->token_id;
    ev.zone = c->principal->home_zone;
    ev.resource_kind = STR("audit");
    ev.http_status = 200;
    TRY(db_begin(w->app->pool, scope_of(w), 0, w->arena, &w->tx, e));
    enum errc rc = audit_append(w, &ev, e);
    if (rc == ERR_OK)
        rc = db_commit(w->tx, e);
    db_rollback(w->tx);
    w->tx = NULL;
    return rc;
}

/* Asks the sequencer for a head that covers what has happened until now; after HEAD_WAIT_MS the newest there is will do. */
static void await_head(struct work *w)
{
    for (int waited = 0; waited < HEAD_WAIT_MS; waited += HEAD_STEP_MS) {
        struct audit_head h = { 0 };
        struct str body;
        struct err e;
        uint8_t sig[AUDIT_SIG];
        wake_publish(w->app->redis, STR(WAKE_AUDIT), STR("1"));
        struct timespec pause = { 0, HEAD_STEP_MS * 1000000 };
        nanosleep(&pause, NULL);
        if (db_begin(w->app->pool, scope_of(w), TX_READ_ONLY, w->arena, &w->tx, &e) != ERR_OK)
            continue;
        bool fresh = audit_newest_head(w, w->tenant_id, &h, &body, sig, &e) == ERR_OK && h.ts_us >= w->now_us;
        db_rollback(w->tx);
        w->tx = NULL;
        if (fresh)
            return;
    }
}

static enum errc export(struct call *c, struct err *e)
{
    const struct export_in *in = c->in;
    struct work *w = &c->work;
    struct export_stream s = { c->exchange, false, w->request_id };
    struct audit_key key = { 0 };
    struct audit_export_opts o = { .tenant_id = w->tenant_id, .from = (uint64_t)in->from, .to = (uint64_t)in->to, .sink = export_sink, .sink_ctx = &s };
    struct audit_export_result result;
    struct str id;
    struct str zone = c->principal->home_zone;
    if (zone.len && keyd_client_has_zone(w->app->keyd, zone)) {
        TRY(zone_key(w, zone, key.pub, &id, e));
        memcpy(key.key_id, id.ptr, id.len);
        o.keys = &key;
        o.key_count = 1;
    }
    TRY(note_export(c, e));
    if (!in->to)
        await_head(w);
    struct principal *p = c->principal;
    enum errc rc = audit_export(w, &o, &result, e);
    if (!s.begun)
        return rc != ERR_OK ? rc : FAIL(e, NOT_FOUND, "There is nothing to export yet");
    if (rc != ERR_OK)
        log_err(LOG_WARN, "audit.export_cut", e);       /* the bundle lacks its footer: no verifier takes it for whole */
    c->principal = NULL;
    http_stream_end(s.x);
    principal_unref(p);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/audit/events", .op = "audit_events", .perm = PERM_AUDIT_READ, .handler = events, .in = &audit_page_schema,
      .status = 200, .out = &audit_item_schema, .flags = R_LIST, .resource = "audit", .audited = true, .audit = AUDIT_AUDIT_READ, .sql_max = 3,
      .doc = "Events of the own log, oldest first" },
    { .method = HTTP_GET, .path = "/v1/audit/head", .op = "audit_head", .perm = PERM_AUDIT_READ, .handler = head, .status = 200, .out = &head_out_schema,
      .sql_max = 2, .doc = "The newest signed head of the own log" },
    { .method = HTTP_GET, .path = "/v1/audit/keys", .op = "audit_keys", .perm = PERM_AUDIT_READ, .handler = keys, .status = 200, .out = &key_item_schema,
      .flags = R_LIST | R_NO_TX, .doc = "Public keys that sign the log's heads" },
    { .method = HTTP_GET, .path = "/v1/audit/export", .op = "audit_export", .perm = PERM_AUDIT_EXPORT, .raw = export, .in = &export_in_schema,
      .status = 200, .content_type = "application/jsonl", .resource = "audit", .audit = AUDIT_AUDIT_EXPORT,
      .doc = "The log as a bundle that verifies offline" },
};
extern const struct route_table audit_routes;
ROUTE_TABLE(audit_routes, rows);
