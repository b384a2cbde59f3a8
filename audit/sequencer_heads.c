/* SPDX-License-Identifier: Apache-2.0 */
/* sequencer_heads.c - signs what the logs have come to, and enters each signed head into the log of the zone.
 *
 * The zone has a log of its own, whose entries are the bodies of all tenant heads in the order of signing: a head that was ever
 * signed cannot be taken back or replaced without the zone's head showing it. Its id is all ones instead of a tenant's. */
#include "audit/bundle.h"
#include "audit/sequencer.h"
#include "audit/sequencer_int.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

struct grown_row {
    struct uuid tenant_id;
    int64_t size;
    struct bytes chain, frontier, prev_body;
};
SCHEMA_OF(grown_row, "A log that grew since its last head", FIELD(grown_row, tenant_id, 0, .doc = "Whose log"),
  FIELD(grown_row, size, 0, .doc = "Entries"), FIELD(grown_row, chain, 0, .doc = "Last chain value"),
  FIELD(grown_row, frontier, 0, .max = PACKED_MAX, .doc = "Subtree roots"),
  FIELD(grown_row, prev_body, 0, .max = HEAD_BODY_MAX, .doc = "Body of the head before"));

static const struct stmt grown_read = { .name = "audit_grown_read", .params = "ui", .row = &grown_row_schema, .card = CARD_MANY, .sql =
  "SELECT s.tenant_id, s.size, s.chain, s.frontier, h.body AS prev_body\n"
  "  FROM audit_log_state s\n"
  "  LEFT JOIN LATERAL (SELECT body, size FROM audit_head WHERE tenant_id = s.tenant_id ORDER BY size DESC LIMIT 1) h ON true\n"
  " WHERE s.tenant_id <> $1 AND s.size > coalesce(h.size, 0)\n"
  " ORDER BY s.updated_at LIMIT $2" };

struct last_head_row {
    struct bytes body;
};
SCHEMA_OF(last_head_row, "The newest head of a log", FIELD(last_head_row, body, 0, .max = HEAD_BODY_MAX, .doc = "Its canonical bytes"));

static const struct stmt last_head = { .name = "audit_last_head", .params = "u", .row = &last_head_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT body FROM audit_head WHERE tenant_id = $1 ORDER BY size DESC LIMIT 1" };

static const struct stmt head_insert = { .name = "audit_head_insert", .params = "UIYYIYSSYY", .card = CARD_NONE, .sql =
  "INSERT INTO audit_head (tenant_id, size, root, chain, ts_us, prev_hash, key_id, zone, body, signature)\n"
  "SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)" };

static const struct stmt zone_seq_insert = { .name = "audit_zone_seq_insert", .params = "UIUYY", .card = CARD_NONE, .sql =
  "INSERT INTO audit_seq (tenant_id, tseq, event_id, leaf, chain) SELECT * FROM unnest($1, $2, $3, $4, $5)" };

const struct stmt *const sequencer_head_stmts[] = { &grown_read, &last_head, &head_insert, &zone_seq_insert, NULL };

struct signed_row {
    struct uuid tenant_id;
    int64_t size, ts_us;
    struct audit_head head;
    uint8_t sig_bytes[AUDIT_SIG];
    struct str root, chain, prev, key_id, zone, body, sig;
};

static enum errc sign_row(struct work *w, struct sequencer *s, const struct log_state *st, struct str prev_body, const char *key_id,
                          struct signed_row *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(HEAD_BODY_MAX);
    struct audit_head *h = &ret->head;
    char used[AUDIT_KEY_ID] = "";
    h->is_zone = uuid_eq(st->tenant_id, ZONE_LOG);
    h->tenant_id = h->is_zone ? UUID_NIL : st->tenant_id;
    memcpy(h->zone, s->zone, sizeof h->zone);
    memcpy(h->key_id, key_id, AUDIT_KEY_ID);
    h->size = st->tree.size;
    h->chain = st->chain;
    h->ts_us = w->now_us;
    merkle_frontier_root(&st->tree, &h->root);
    if (prev_body.ptr)
        sha256(prev_body.ptr, prev_body.len, h->prev.b);
    if (!audit_head_encode(h, &b))
        return FAIL(e, INTERNAL, "the zone or the key id cannot stand in a signed head");
    TRY(s->sign(s->sign_ctx, str_c(s->zone), b.ptr, b.len, ret->sig_bytes, used, e));
    if (strcmp(used, key_id) != 0)
        return FAIL(e, RETRY, "the audit key was rotated while a head was signed");
    ret->tenant_id = st->tenant_id;
    ret->size = (int64_t)h->size;
    ret->ts_us = h->ts_us;
    ret->root = str_n((const char *)h->root.b, MERKLE_HASH);
    ret->chain = str_n((const char *)h->chain.b, MERKLE_HASH);
    ret->prev = prev_body.ptr ? str_n((const char *)h->prev.b, MERKLE_HASH) : STR_NULL;
    ret->key_id = str_c(h->key_id);
    ret->zone = str_c(h->zone);
    ret->sig = str_n((const char *)ret->sig_bytes, AUDIT_SIG);
    ret->body = str_dup(w->arena, buf_str(&b));
    return ERR_OK;
}

/* Enter the n heads into the zone's log and sign that log's head into rows[n]. */
static enum errc enter_zone(struct work *w, struct sequencer *s, struct signed_row *rows, size_t n, const char *key_id, struct err *e)
{
    struct log_state zone = { .tenant_id = ZONE_LOG };
    struct last_head_row last = { 0 };
    bool has_last;
    struct uuid *logs = ARENA_ARRAY(w->arena, struct uuid, n);
    int64_t *tseqs = ARENA_ARRAY(w->arena, int64_t, n);
    struct merkle_hash *hashes = ARENA_ARRAY(w->arena, struct merkle_hash, 2 * n);
    struct str *leaves = ARENA_ARRAY(w->arena, struct str, n), *chains = ARENA_ARRAY(w->arena, struct str, n);
    TRY(sequencer_load(w, &zone, 1, e));
    TRY(db_maybe(w->tx, &last_head, ARGS(A_UUID(ZONE_LOG)), &last, &has_last, e));
    for (size_t i = 0; i < n; i++) {
        merkle_leaf(rows[i].body.ptr, rows[i].body.len, &hashes[2 * i]);
        chain_next(&zone.chain, &hashes[2 * i], &zone.chain);
        merkle_add(&zone.tree, &hashes[2 * i]);
        hashes[2 * i + 1] = zone.chain;
        logs[i] = ZONE_LOG;
        tseqs[i] = (int64_t)zone.tree.size;
        leaves[i] = str_n((const char *)hashes[2 * i].b, MERKLE_HASH);
        chains[i] = str_n((const char *)hashes[2 * i + 1].b, MERKLE_HASH);
    }
    db_queue(w->tx, &zone_seq_insert, ARGS(A_UUIDS(logs, n), A_I64S(tseqs, n), A_UUIDS_OF(rows, n, tenant_id), A_BYTESS(leaves, n),
                                           A_BYTESS(chains, n)), false);
    sequencer_store(w, &zone, 1);
    return sign_row(w, s, &zone, has_last ? last.body.data : STR_NULL, key_id, &rows[n], e);
}

enum errc sequencer_sign_heads(struct work *w, struct sequencer *s, size_t limit, size_t *signed_heads, struct err *e)
{
    struct { struct grown_row *items; size_t n; } grown = { 0 };
    struct sequencer_place at;
    char key_id[AUDIT_KEY_ID] = "";
    uint8_t sig[AUDIT_SIG];
    *signed_heads = 0;
    TRY(sequencer_lock(w->tx, &at, e));
    TRY(db_many(w->tx, &grown_read, ARGS(A_UUID(ZONE_LOG), A_I64((int64_t)limit)), &grown, limit, e));
    size_t n = grown.n;
    if (n == 0)
        return ERR_OK;
    TRY(s->sign(s->sign_ctx, str_c(s->zone), NULL, 0, sig, key_id, e));
    struct signed_row *rows = ARENA_ARRAY(w->arena, struct signed_row, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct grown_row *g = &grown.items[i];
        struct log_state_row stored = { g->tenant_id, g->size, g->chain, g->frontier };
        struct log_state st = { 0 };
        TRY(log_state_of(&stored, &st, e));
        TRY(sign_row(w, s, &st, g->prev_body.data, key_id, &rows[i], e));
    }
    TRY(enter_zone(w, s, rows, n, key_id, e));
    size_t k = n + 1;
    TRY(db_exec(w->tx, &head_insert,
                ARGS(A_UUIDS_OF(rows, k, tenant_id), A_I64S_OF(rows, k, size), A_BYTESS_OF(rows, k, root), A_BYTESS_OF(rows, k, chain),
                     A_I64S_OF(rows, k, ts_us), A_BYTESS_OF(rows, k, prev), A_STRS_OF(rows, k, key_id), A_STRS_OF(rows, k, zone),
                     A_BYTESS_OF(rows, k, body), A_BYTESS_OF(rows, k, sig)), NULL, e));
    *signed_heads = n;
    return ERR_OK;
}
