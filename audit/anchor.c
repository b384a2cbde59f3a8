/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.c - the zone's head into a file and under another zone's key; what was anchored as rows. */
#include "audit/anchor.h"
#include "audit/event.h"
#include "audit/line_chain.h"
#include "audit/sequencer_int.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/table/metrics.h"
#include "keys/client.h"

#include <stdio.h>

static const char zone_label[] = "falaj-anchor-v1 ";

struct head_row {
    int64_t size, ts_us;
    struct str zone;
    struct bytes body, signature;
};
SCHEMA_OF(head_row, "The zone's newest head", FIELD(head_row, size, 0, .doc = "Entries"), FIELD(head_row, ts_us, 0, .doc = "When"),
    FIELD(head_row, zone, 0, .doc = "Zone"), FIELD(head_row, body, 0, .max = HEAD_BODY_MAX, .doc = "Canonical bytes"),
    FIELD(head_row, signature, 0, .doc = "Ed25519"));
static const struct stmt newest = { .name = "audit_anchor_newest", .params = "u", .row = &head_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT size, ts_us, zone, body, signature FROM audit_head WHERE tenant_id = $1 ORDER BY size DESC LIMIT 1" };
struct has_row { bool has; };
SCHEMA_OF(has_row, "Whether a head is anchored", FIELD(has_row, has, 0, .doc = "It is"));
static const struct stmt has = { .name = "audit_anchor_has", .params = "ussi", .row = &has_row_schema, .card = CARD_ONE, .sql =
  "SELECT EXISTS (SELECT FROM audit_anchor WHERE tenant_id = $1 AND kind = $2 AND target = $3 AND size = $4 AND outcome = 'success') AS has" };
static const struct stmt insert = { .name = "audit_anchor_insert", .params = "uussiyyss", .card = CARD_NONE, .sql =
  "INSERT INTO audit_anchor (tenant_id, anchor_id, kind, target, size, head_sha, proof, key_id, outcome)\n"
  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)" };

const struct stmt *const audit_anchor_stmts[] = { &newest, &has, &insert, NULL };

enum errc audit_anchor_newest(struct work *w, struct anchor_head *ret, bool *ret_found, struct err *e)
{
    struct head_row row;
    TRY(db_maybe(w->tx, &newest, ARGS(A_UUID(ZONE_LOG)), &row, ret_found, e));
    if (!*ret_found)
        return ERR_OK;
    if (row.signature.data.len != AUDIT_SIG || row.zone.len > AUDIT_ZONE_MAX)
        return FAIL(e, DAMAGED, "a stored tree head is damaged");
    *ret = (struct anchor_head){ .size = row.size, .ts_us = row.ts_us, .body = row.body.data };
    memcpy(ret->zone, row.zone.ptr, row.zone.len);
    memcpy(ret->sig, row.signature.data.ptr, AUDIT_SIG);
    return ERR_OK;
}

enum errc audit_anchor_has(struct work *w, const char *kind, struct str target, int64_t size, bool *ret, struct err *e)
{
    struct has_row row;
    TRY(db_one(w->tx, &has, ARGS(A_UUID(UUID_NIL), A_TEXT(kind), A_STR(target), A_I64(size)), &row, e));
    *ret = row.has;
    return ERR_OK;
}

enum errc audit_anchor_note(struct work *w, const struct anchor_head *h, const char *kind, struct str target, const struct anchor_proof *p,
                            enum errc outcome, struct err *e)
{
    uint8_t sha[SHA256_BYTES];
    char text[2 * SHA256_BYTES + 1];
    struct uuid id = uuid_v7(w->now_us);
    struct audit_event ev = audit_event_of(w, AUDIT_ANCHOR);
    const char *result = outcome == ERR_OK ? "success" : err_row(outcome)->wire;
    sha256(h->body.ptr, h->body.len, sha);
    hex_encode(sha, sizeof sha, text);
    TRY(db_exec(w->tx, &insert, ARGS(A_UUID(UUID_NIL), A_UUID(id), A_TEXT(kind), A_STR(target), A_I64(h->size), A_BYTES(sha, sizeof sha),
                                     p && p->n ? A_BYTES(p->bytes, p->n) : A_NULL('y'), p && p->key_id[0] ? A_TEXT(p->key_id) : A_NULL('s'),
                                     A_TEXT(result)), NULL, e));
    ev.tenant_id = UUID_NIL;
    ev.zone = str_c(h->zone);
    ev.error = outcome;
    ev.resource_kind = STR("audit_anchor");
    ev.resource_prefix = "anc";
    ev.resource_id = id;
    audit_event_detail(&ev, AUDIT_D_STR("kind", str_c(kind)));
    audit_event_detail(&ev, AUDIT_D_INT("size", h->size));
    audit_event_detail(&ev, AUDIT_D_STR("head_sha256", str_c(text)));
    metrics_inc(M_audit_anchors_total, kind, result);
    return audit_append(w, &ev, e);
}

void anchor_members(struct buf *b, const struct anchor_head *h)
{
    char head[BASE64_MAX(HEAD_BODY_MAX)], sig[BASE64_MAX(AUDIT_SIG)];
    base64_encode(h->body.ptr, h->body.len, head, false);
    base64_encode(h->sig, AUDIT_SIG, sig, false);
    buf_printf(b, "\"zone\":\"%s\",\"size\":%lld,\"ts_us\":%lld,\"head\":\"%s\",\"sig\":\"%s\"", h->zone, (long long)h->size, (long long)h->ts_us, head,
               sig);
}

enum errc audit_anchor_file(const struct anchor_head *h, const char *dir, struct anchor_proof *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf members = BUF(LINE_CHAIN_MAX);
    char name[AUDIT_ZONE_MAX + 32];
    *ret = (struct anchor_proof){ 0 };
    snprintf(name, sizeof name, "falaj-anchor-%s.jsonl", h->zone);
    anchor_members(&members, h);
    TRY(line_chain_append(dir, name, buf_str(&members), ret->bytes, e));
    ret->n = SHA256_BYTES;
    return ERR_OK;
}

enum errc audit_anchor_zone(const struct anchor_head *h, struct keyd_client *keyd, struct str zone, struct anchor_proof *ret, struct err *e)
{
    char text[sizeof zone_label + HEAD_BODY_MAX];
    uint8_t id[KEY_ID_BYTES];
    *ret = (struct anchor_proof){ 0 };
    if (!keyd || h->body.len > HEAD_BODY_MAX)
        return FAIL(e, UNAVAILABLE, "No key daemon is configured here");
    memcpy(text, zone_label, sizeof zone_label - 1);
    memcpy(text + sizeof zone_label - 1, h->body.ptr, h->body.len);
    TRY(keyd_sign(keyd, zone, text, sizeof zone_label - 1 + h->body.len, ret->bytes, id, e));
    ret->n = ED25519_SIG;
    hex_encode(id, sizeof id, ret->key_id);
    return ERR_OK;
}
