/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c - routes of the audit log: search, one event, proofs, heads, keys. Reading events is audited. */
#include "api/routes/audit_int.h"
#include "audit/actor_name.h"
#include "audit/event.h"
#include "audit/head_proof.h"
#include "audit/pii.h"
#include "audit/record_read.h"
#include "audit/search.h"
#include "audit/thing_name.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/redis/wake.h"
#include "keys/client.h"
#include "scheduler/jobs/job.h"
#include "tenants/access/principal.h"

struct audit_page { int64_t page_size, after; AUDIT_WANT; };
SCHEMA_OF(audit_page, "Which events",
    FIELD(audit_page, page_size, F_QUERY, .min = 1, .max = 200, .dflt = "50", .doc = "Events on a page"),
    FIELD(audit_page, after, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Events with a greater number; the number of the last one gives the next page"),
    AUDIT_WANT_FIELDS(audit_page));
struct audit_item {
    int64_t tseq;
    struct uuid event_id;
    struct str leaf, chain;
    struct json event;
    struct str src_ip, personal;
    struct timestamp at;
    struct str action, outcome, actor_kind, actor_id, actor_name, resource_kind, resource_id, resource_name;
    struct str resource_display_name, resource_display_name_ar, request_id;
    bool has_http_status;
    int64_t http_status;
};
SCHEMA_OF(audit_item, "An event of the log", FIELD(audit_item, tseq, 0, .doc = "Its number, dense from 1"),
    FIELD_ID(audit_item, event_id, "evt", F_ALWAYS, .doc = "The event"),
    FIELD(audit_item, leaf, F_ALWAYS, .doc = "SHA-256(0x00 || event), hex"),
    FIELD(audit_item, chain, F_ALWAYS, .doc = "Hash chain up to here, hex"),
    FIELD(audit_item, event, 0, .doc = "The canonical event; absent when its retention has ended"),
    FIELD(audit_item, src_ip, 0, .doc = "The source address, opened"),
    FIELD(audit_item, personal, 0, .doc = "Why a sealed address is not shown: erased, or unreadable (sealed by another log's key)"),
    FIELD(audit_item, at, F_ALWAYS,
          .doc = "When. This and what follows is taken out of the event for reading; the event alone is evidence"),
    FIELD(audit_item, action, F_ALWAYS, .doc = "What was done"),
    FIELD(audit_item, outcome, F_ALWAYS, .doc = "success, or the code of the error"),
    FIELD(audit_item, actor_kind, F_ALWAYS, .doc = "user, service, worker, system or anonymous"),
    FIELD(audit_item, actor_id, 0, .doc = "Who: usr_… or nod_…"),
    FIELD(audit_item, actor_name, 0, .doc = "The name that user has now in this tenant; absent for the erased and for others' people"),
    FIELD(audit_item, resource_kind, 0, .doc = "Kind of what it was about"),
    FIELD(audit_item, resource_id, 0, .doc = "What it was about, or its name where it has no id"),
    FIELD(audit_item, resource_name, 0, .doc = "What that is called now, or was when it was deleted; absent: it has no name"),
    FIELD(audit_item, resource_display_name, 0, .doc = "What that is called for people; absent: it has no such name"),
    FIELD(audit_item, resource_display_name_ar, 0, .doc = "And in Arabic"),
    FIELD_OPT(audit_item, http_status, 0, .doc = "Status of the answer"), FIELD(audit_item, request_id, 0, .doc = "The request that did it"));
struct event_ref { struct uuid event_id; };
SCHEMA_OF(event_ref, "Which event", FIELD_ID(event_ref, event_id, "evt", F_PATH, .doc = "The event"));
struct inclusion_in { int64_t tseq, size; };
SCHEMA_OF(inclusion_in, "Which entry of which tree", FIELD(inclusion_in, tseq, F_QUERY | F_REQ, .min = 1, .max = INT64_MAX, .doc = "Number of the entry"),
    FIELD(inclusion_in, size, F_QUERY | F_REQ, .min = 1, .max = INT64_MAX, .doc = "Size of the tree, as a signed head has it"));
struct consistency_in { int64_t from, to; };
SCHEMA_OF(consistency_in, "Which two trees", FIELD(consistency_in, from, F_QUERY | F_REQ, .min = 1, .max = INT64_MAX, .doc = "Size of the older tree"),
    FIELD(consistency_in, to, F_QUERY | F_REQ, .min = 1, .max = INT64_MAX, .doc = "Size of the newer tree"));
struct proof_out { int64_t from, to; struct slice proof; };
SCHEMA_OF(proof_out, "A proof of RFC 9162", FIELD(proof_out, from, 0, .doc = "The entry, or the size of the older tree"),
    FIELD(proof_out, to, 0, .doc = "The size of the tree"), FIELD_STRS(proof_out, proof, 0, .max = MERKLE_PROOF_MAX, .doc = "Its nodes in order, hex"));
struct zone_proof_in { int64_t size, from; };
SCHEMA_OF(zone_proof_in, "Which two heads",
    FIELD(zone_proof_in, size, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0",
          .doc = "Size of the own head; 0: the newest"),
    FIELD(zone_proof_in, from, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0",
          .doc = "Size of a head of the zone that was kept, to be extended; 0: none"));
struct zone_proof_out { int64_t tseq; struct json file; };
SCHEMA_OF(zone_proof_out, "A head's place under the zone's head",
    FIELD(zone_proof_out, tseq, 0, .doc = "Number of the own head in the zone's log"),
    FIELD(zone_proof_out, file, F_ALWAYS, .doc = "A head proof, byte for byte, as falaj-verify head-proof checks it"));
struct heads_in { int64_t page_size, after; };
SCHEMA_OF(heads_in, "Which heads", FIELD(heads_in, page_size, F_QUERY, .min = 1, .max = 200, .dflt = "50", .doc = "Heads on a page"),
    FIELD(heads_in, after, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Heads of more entries; the size of the last one gives the next page"));
struct head_item { int64_t size; struct timestamp signed_at; struct str key_id; struct json head; struct str signature; };
SCHEMA_OF(head_item, "A signed head", FIELD(head_item, size, 0, .doc = "Entries it covers"),
    FIELD(head_item, signed_at, F_ALWAYS, .doc = "When"),
    FIELD(head_item, key_id, F_ALWAYS, .doc = "Key that signed it"),
    FIELD(head_item, head, F_ALWAYS, .doc = "What was signed, byte for byte"),
    FIELD(head_item, signature, F_ALWAYS, .doc = "Ed25519 signature, hex"));
struct hmac_in { struct str value; struct uuid user_id; };
SCHEMA_OF(hmac_in, "A value to look for", FIELD(hmac_in, value, F_REQ, .min = 1, .max = 100, .check = check_name, .doc = "An address that is known"),
    FIELD_ID(hmac_in, user_id, "usr", 0, .doc = "Of this person only; absent: of everybody"));
struct hmac_out { struct slice seals; };
SCHEMA_OF(hmac_out, "How the value stands in the log", FIELD_STRS(hmac_out, seals, 0, .max = AUDIT_PII_TEST_MAX, .doc = "One text for each person who is not erased"));
struct head_out { int64_t size; struct str root, chain, key_id; struct json head; struct str signature; };
SCHEMA_OF(head_out, "The newest signed head", FIELD(head_out, size, 0, .doc = "Events it covers"), FIELD(head_out, root, 0, .doc = "Merkle root, hex"),
    FIELD(head_out, chain, 0, .doc = "Chain value, hex"), FIELD(head_out, key_id, 0, .doc = "Key that signed it"),
    FIELD(head_out, head, 0, .doc = "What was signed"), FIELD(head_out, signature, 0, .doc = "Ed25519 signature, hex"));
struct key_item { struct str key_id, zone, public_key; };
SCHEMA_OF(key_item, "A public key", FIELD(key_item, key_id, F_ALWAYS, .doc = "Its SHA-256, hex"),
    FIELD(key_item, zone, 0, .doc = "Zone"),
    FIELD(key_item, public_key, F_ALWAYS, .doc = "Ed25519 public key, base64"));
struct str audit_hex(struct arena *a, const void *p, size_t n)
{
    char *text = arena_alloc(a, 2 * n + 1);
    return str_n(text, hex_encode(p, n, text));
}

/* Equal addresses of one person are sealed alike, so a page opens each seal once. */
struct opened { struct str stored, text; enum audit_pii_state state; };

static enum errc show_source(struct work *w, struct opened *last, const struct audit_view *v, struct audit_item *it, struct err *e)
{
    if (!audit_text_is_sealed(v->src_ip))
        return ERR_OK;
    if (!str_eq(last->stored, v->src_ip)) {
        last->stored = str_dup(w->arena, v->src_ip);
        TRY(audit_pii_read(w, w->tenant_id, AUDIT_PII_SOURCE, last->stored, &last->text, &last->state, e));
    }
    it->src_ip = last->text;
    it->personal = last->state == PII_ERASED ? STR("erased") : last->state == PII_UNREADABLE ? STR("unreadable") : STR_NULL;
    return ERR_OK;
}

struct str audit_actor_id(struct arena *a, const struct audit_row *row)
{
    return uuid_is_nil(row->actor_id) ? STR_NULL : id_text(a, str_eq_c(row->actor, "worker") ? "nod" : "usr", row->actor_id);
}

static struct audit_item item_of(struct arena *a, const struct audit_row *r)
{
    return (struct audit_item){ .tseq = (int64_t)r->tseq, .event_id = r->event_id, .leaf = audit_hex(a, &r->leaf, MERKLE_HASH),
                                .chain = audit_hex(a, &r->chain, MERKLE_HASH), .event = { r->body }, .at = { r->at_us }, .action = r->action,
                                .outcome = r->outcome, .actor_kind = r->actor, .actor_id = audit_actor_id(a, r),
                                .resource_kind = r->resource_kind, .resource_id = r->resource_id, .request_id = r->request_id };
}

static enum errc show(struct work *w, const struct audit_row *rows, size_t n, struct audit_item *items, struct err *e)
{
    struct audit_view *view = ARENA_NEW(w->arena, struct audit_view);
    struct opened last = { 0 };
    struct str *names;
    struct audit_called *things;
    TRY(audit_actor_names(w, w->tenant_id, rows, n, &names, e));
    TRY(audit_thing_names(w, w->tenant_id, rows, n, &things, e));
    for (size_t i = 0; i < n; i++) {
        items[i] = item_of(w->arena, &rows[i]);
        items[i].actor_name = names[i];
        items[i].resource_name = things[i].name;
        items[i].resource_display_name = things[i].display_name;
        items[i].resource_display_name_ar = things[i].display_name_ar;
        if (!rows[i].body.ptr || !audit_record_read(rows[i].body, view))
            continue;
        items[i].http_status = view->http_status;
        items[i].has_http_status = view->http_status != 0;
        TRY(show_source(w, &last, view, &items[i], e));
    }
    return ERR_OK;
}

static enum errc events(struct work *w, const void *in, void *out, struct err *e)
{
    const struct audit_page *page = in;
    struct page_out *ret = out;
    struct audit_search q;
    struct audit_row *rows;
    size_t n;
    TRY(audit_search_of(w, AUDIT_WANT_OF(page), &q, e));
    q.after = (uint64_t)page->after;
    TRY(audit_search(w, w->tenant_id, &q, (size_t)page->page_size, &rows, &n, e));
    struct audit_item *items = ARENA_ARRAY(w->arena, struct audit_item, n + 1);
    TRY(show(w, rows, n, items, e));
    ret->items = (struct slice){ items, n };
    return ERR_OK;
}

static enum errc event(struct work *w, const void *in, void *out, struct err *e)
{
    struct audit_row row;
    TRY(audit_get(w, w->tenant_id, ((const struct event_ref *)in)->event_id, &row, e));
    return show(w, &row, 1, out, e);
}

static void proof_of(struct arena *a, int64_t from, int64_t to, const struct merkle_hash *nodes, size_t n, struct proof_out *ret)
{
    struct str *out = ARENA_ARRAY(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = audit_hex(a, &nodes[i], MERKLE_HASH);
    *ret = (struct proof_out){ from, to, { out, n } };
}

static enum errc inclusion(struct work *w, const void *in, void *out, struct err *e)
{
    const struct inclusion_in *q = in;
    struct merkle_hash nodes[MERKLE_PROOF_MAX];
    size_t n;
    TRY(audit_prove_inclusion(w, w->tenant_id, (uint64_t)q->tseq, (uint64_t)q->size, nodes, &n, e));
    proof_of(w->arena, q->tseq, q->size, nodes, n, out);
    return ERR_OK;
}

static enum errc consistency(struct work *w, const void *in, void *out, struct err *e)
{
    const struct consistency_in *q = in;
    struct merkle_hash nodes[MERKLE_PROOF_MAX];
    size_t n;
    TRY(audit_prove_consistency(w, w->tenant_id, (uint64_t)q->from, (uint64_t)q->to, nodes, &n, e));
    proof_of(w->arena, q->from, q->to, nodes, n, out);
    return ERR_OK;
}

static enum errc zone_proof(struct work *w, const void *in, void *out, struct err *e)
{
    const struct zone_proof_in *q = in;
    struct head_proof *p = ARENA_NEW(w->arena, struct head_proof);
    CLEANUP(buf_releasep) struct buf b = BUF(EVIDENCE_BYTES_MAX);
    TRY(audit_prove_head(w, w->tenant_id, (uint64_t)q->size, (uint64_t)q->from, p, e));
    if (!head_proof_encode(p, &b))
        return FAIL(e, INTERNAL, "the proof cannot be written");
    *(struct zone_proof_out *)out = (struct zone_proof_out){ (int64_t)p->tseq, { str_dup(w->arena, str_n(b.ptr, b.len - 1)) } };
    return ERR_OK;
}

static enum errc heads(struct work *w, const void *in, void *out, struct err *e)
{
    const struct heads_in *page = in;
    struct page_out *ret = out;
    struct audit_head_row *rows;
    size_t n;
    TRY(audit_heads(w, w->tenant_id, (uint64_t)page->after, (size_t)page->page_size, &rows, &n, e));
    struct head_item *items = ARENA_ARRAY(w->arena, struct head_item, n + 1);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct head_item){ rows[i].size, { rows[i].ts_us }, rows[i].key_id, { rows[i].body },
                                       audit_hex(w->arena, rows[i].signature.ptr, rows[i].signature.len) };
    ret->items = (struct slice){ items, n };
    return ERR_OK;
}

static enum errc hmac_test(struct work *w, const void *in, void *out, struct err *e)
{
    const struct hmac_in *q = in;
    struct hmac_out *ret = out;
    struct str *seals;
    TRY(audit_pii_test(w, w->tenant_id, q->user_id, AUDIT_PII_SOURCE, q->value, &seals, &ret->seals.n, e));
    ret->seals.items = seals;
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("seals", ret->seals.n));
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
        return FAIL(e, NOT_FOUND, "No tree head of this log has been signed yet; try again in a few seconds");
    }
    TRY(rc);
    *ret = (struct head_out){ (int64_t)h.size, audit_hex(w->arena, &h.root, 32), audit_hex(w->arena, &h.chain, 32),
                              str_dup(w->arena, str_c(h.key_id)), { body }, audit_hex(w->arena, sig, AUDIT_SIG) };
    return ERR_OK;
}

enum errc audit_zone_key(struct work *w, struct str zone, uint8_t public_key[ED25519_PUBLIC], struct str *key_id, struct err *e)
{
    uint8_t id[KEY_ID_BYTES], hash[32];
    TRY(keyd_public_key(w->app->keyd, zone, public_key, id, e));
    sha256(public_key, ED25519_PUBLIC, hash);       /* the audit log names keys by the whole hash */
    *key_id = audit_hex(w->arena, hash, 32);
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
        TRY(audit_zone_key(w, zones[i], pub, &k->key_id, e));
        char *text = arena_alloc(w->arena, BASE64_MAX(ED25519_PUBLIC));
        k->zone = zones[i];
        k->public_key = str_n(text, base64_encode(pub, ED25519_PUBLIC, text, false));
        ret->items.n++;
    }
    ret->items.items = items;
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/audit/events", .lane = LANE_HEAVY,
      .op = "audit_events", .perm = PERM_AUDIT_READ, .handler = events, .in = &audit_page_schema,
      .status = 200, .out = &audit_item_schema, .flags = R_LIST, .resource = "audit", .audited = true, .audit = AUDIT_AUDIT_READ,
      .doc = "Events of the own log, oldest first" },
    { .method = HTTP_GET, .path = "/v1/audit/events/{event_id}", .lane = LANE_CALLS,
      .op = "audit_event", .perm = PERM_AUDIT_READ, .handler = event,
      .in = &event_ref_schema, .status = 200, .out = &audit_item_schema, .resource = "event", .audited = true, .audit = AUDIT_AUDIT_READ,
      .doc = "One event of the own log" },
    { .method = HTTP_GET, .path = "/v1/audit/proofs/inclusion", .lane = LANE_HEAVY,
      .op = "audit_proof_inclusion", .perm = PERM_AUDIT_READ, .handler = inclusion,
      .in = &inclusion_in_schema, .status = 200, .out = &proof_out_schema, .flags = R_NO_TX,
      .doc = "That an entry is in the tree of a signed head (RFC 9162 §2.1.3)" },
    { .method = HTTP_GET, .path = "/v1/audit/proofs/consistency", .lane = LANE_HEAVY,
      .op = "audit_proof_consistency", .perm = PERM_AUDIT_READ, .handler = consistency,
      .in = &consistency_in_schema, .status = 200, .out = &proof_out_schema, .flags = R_NO_TX,
      .doc = "That a newer tree extends an older one (RFC 9162 §2.1.4)" },
    { .method = HTTP_GET, .path = "/v1/audit/proofs/zone", .lane = LANE_HEAVY,
      .op = "audit_proof_zone", .perm = PERM_AUDIT_READ, .handler = zone_proof,
      .in = &zone_proof_in_schema, .status = 200, .out = &zone_proof_out_schema, .flags = R_NO_TX,
      .doc = "That a signed head of the own log is under the zone's head, which covers all tenants and is anchored" },
    { .method = HTTP_GET, .path = "/v1/audit/heads", .lane = LANE_CALLS,
      .op = "audit_heads", .perm = PERM_AUDIT_READ, .handler = heads, .in = &heads_in_schema,
      .status = 200, .out = &head_item_schema, .flags = R_LIST, .doc = "Signed heads of the own log, oldest first" },
    { .method = HTTP_GET, .path = "/v1/audit/head", .lane = LANE_CALLS,
      .op = "audit_head", .perm = PERM_AUDIT_READ, .handler = head, .status = 200, .out = &head_out_schema,
      .doc = "The newest signed head of the own log" },
    { .method = HTTP_GET, .path = "/v1/audit/keys", .lane = LANE_CALLS,
      .op = "audit_keys", .perm = PERM_AUDIT_READ, .handler = keys, .status = 200, .out = &key_item_schema,
      .flags = R_LIST | R_NO_TX, .doc = "Public keys that sign the log's heads" },
    { .method = HTTP_POST, .path = "/v1/audit/hmac-test", .lane = LANE_CALLS,
      .op = "audit_hmac_test", .perm = PERM_PERSON_ERASE, .handler = hmac_test, .in = &hmac_in_schema,
      .status = 200, .out = &hmac_out_schema, .rate = RL_WRITE, .resource = "audit", .audited = true, .audit = AUDIT_AUDIT_READ,
      .doc = "How a known address stands sealed in the log, to look for it in an export" },
};
extern const struct route_table audit_routes;
ROUTE_TABLE(audit_routes, rows);
