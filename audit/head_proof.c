/* SPDX-License-Identifier: Apache-2.0 */
/* head_proof.c - the place of a tenant's head in the zone's log, whose entries are the bodies of all heads as signed. */
#include "audit/head_proof.h"
#include "audit/export_int.h"
#include "audit/sequencer_int.h"
#include "core/base/cleanup.h"

enum { PAGE_BYTES = 64 << 20 };

struct kept_row {
    struct bytes body, signature;
};
SCHEMA_OF(kept_row, "A signed head", FIELD(kept_row, body, 0, .max = HEAD_BODY_MAX, .doc = "Canonical bytes"),
  FIELD(kept_row, signature, 0, .doc = "Ed25519"));
static const struct stmt kept_at = { .name = "audit_kept_at", .params = "ui", .row = &kept_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT body, signature FROM audit_head WHERE tenant_id = $1 AND ($2 = 0 OR size = $2) ORDER BY size DESC LIMIT 1" };
struct place_row {
    int64_t tseq;
};
SCHEMA_OF(place_row, "An entry of the zone's log", FIELD(place_row, tseq, 0, .doc = "Its number"));
static const struct stmt place_of = { .name = "audit_zone_place", .params = "uuy", .row = &place_row_schema, .card = CARD_MAYBE,
  .sql = "SELECT tseq FROM audit_seq WHERE tenant_id = $1 AND event_id = $2 AND leaf = $3 ORDER BY tseq LIMIT 1" };

const struct stmt *const audit_head_proof_stmts[] = { &kept_at, &place_of, NULL };

static enum errc read_kept(struct export *x, uint64_t size, struct bundle_head *ret, struct audit_head *head, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct kept_row row;
    bool found;
    TRY(export_begin_page(x, &tx, e));
    TRY(db_maybe(tx, &kept_at, ARGS(A_UUID(x->tenant_id), A_I64((int64_t)size)), &row, &found, e));
    if (!found)
        return FAIL(e, NOT_FOUND, size ? "No head was signed at that size" : "No head of this log has been signed yet");
    if (row.body.data.len > HEAD_BODY_MAX || row.signature.data.len != AUDIT_SIG || !audit_head_decode(row.body.data, head))
        return FAIL(e, DAMAGED, "a stored tree head is damaged");
    memcpy(ret->body, row.body.data.ptr, row.body.data.len);
    ret->len = row.body.data.len;
    memcpy(ret->sig, row.signature.data.ptr, AUDIT_SIG);
    return db_commit(tx, e);
}

static enum errc find_place(struct export *zone, struct uuid tenant, const struct bundle_head *head, uint64_t *ret, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct merkle_hash leaf;
    struct place_row row;
    bool found;
    merkle_leaf(head->body, head->len, &leaf);
    TRY(export_begin_page(zone, &tx, e));
    TRY(db_maybe(tx, &place_of, ARGS(A_UUID(ZONE_LOG), A_UUID(tenant), A_BYTES(leaf.b, MERKLE_HASH)), &row, &found, e));
    if (!found)
        return FAIL(e, DAMAGED, "a signed head is missing in the zone's log");
    *ret = (uint64_t)row.tseq;
    return db_commit(tx, e);
}

enum errc audit_prove_head(struct work *w, struct uuid tenant, uint64_t size, uint64_t from, struct head_proof *ret,
                           struct err *e)
{
    CLEANUP(arena_freep) struct arena *page = arena_new(PAGE_BYTES);
    struct export own = { w, tenant, page }, zone = { w, ZONE_LOG, page };
    struct merkle_range ranges[2 * MERKLE_PROOF_MAX];
    struct merkle_hash nodes[2 * MERKLE_PROOF_MAX];
    struct audit_head head, top, before;
    size_t n, more = 0;
    *ret = (struct head_proof){ .has_previous = from > 0 };
    TRY(read_kept(&own, size, &ret->head, &head, e));
    TRY(find_place(&zone, tenant, &ret->head, &ret->tseq, e));
    TRY(read_kept(&zone, 0, &ret->zone_head, &top, e));
    if (from)
        TRY(read_kept(&zone, from, &ret->previous, &before, e));
    if (ret->tseq > top.size)
        return FAIL(e, DAMAGED, "the zone's head does not cover its log");
    n = (size_t)merkle_inclusion_ranges(ret->tseq - 1, top.size, ranges);
    if (from && from < top.size)
        more = (size_t)merkle_consistency_ranges(from, top.size, ranges + n);
    TRY(export_roots(&zone, ranges, n + more, nodes, e));
    ret->proof_len = n;
    ret->previous_proof_len = more;
    memcpy(ret->proof, nodes, n * sizeof *nodes);
    memcpy(ret->previous_proof, nodes + n, more * sizeof *nodes);
    return ERR_OK;
}
