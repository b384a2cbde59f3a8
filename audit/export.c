/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - a part of a log as a bundle, streamed.
 *
 * The head is chosen first and fixes what the bundle proves; then the manifest with its proofs, the records page by page with the
 * checkpoints that lie between them, and the end line with the hash of all that was sent. */
#include "audit/export.h"
#include "audit/export_drops_int.h"
#include "audit/export_filter_int.h"
#include "audit/export_select_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

enum { RECORD_PAGE = 1000, CHECKPOINTS = 256, PAGE_BYTES = 64 << 20, SEND_BYTES = 32 << 20 };

struct head_row {
    int64_t size;
    struct bytes body, signature;
};
SCHEMA_OF(head_row, "A signed head", FIELD(head_row, size, 0, .doc = "Entries"),
  FIELD(head_row, body, 0, .max = HEAD_BODY_MAX, .doc = "Canonical bytes"), FIELD(head_row, signature, 0, .doc = "Ed25519"));

static const struct stmt head_newest = { .name = "audit_head_newest", .params = "u", .row = &head_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT size, body, signature FROM audit_head WHERE tenant_id = $1 ORDER BY size DESC LIMIT 1" };
static const struct stmt head_at = { .name = "audit_head_at", .params = "ui", .row = &head_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT size, body, signature FROM audit_head WHERE tenant_id = $1 AND size = $2" };
/* At most one head in each of 200 equal parts of the range. */
static const struct stmt head_checkpoints = { .name = "audit_head_checkpoints", .params = "uii", .row = &head_row_schema, .card = CARD_MANY, .sql =
  "SELECT size, body, signature FROM (\n"
  "  SELECT DISTINCT ON ((size - $2) * 200 / ($3 - $2 + 1)) size, body, signature FROM audit_head\n"
  "   WHERE tenant_id = $1 AND size >= $2 AND size < $3\n"
  "   ORDER BY (size - $2) * 200 / ($3 - $2 + 1), size DESC) h\n"
  " ORDER BY size LIMIT 256" };

struct record_row {
    int64_t tseq;
    struct uuid event_id;
    struct bytes leaf, chain, body;
};
SCHEMA_OF(record_row, "An entry of a log", FIELD(record_row, tseq, 0, .doc = "Its number"), FIELD(record_row, event_id, 0, .doc = "The event"),
  FIELD(record_row, leaf, 0, .doc = "Its hash"), FIELD(record_row, chain, 0, .doc = "Chain value"),
  FIELD(record_row, body, 0, .max = 65536, .doc = "Canonical bytes; absent: dropped by retention"));

static const struct stmt record_page = { .name = "audit_record_page", .params = "uiii", .row = &record_row_schema, .card = CARD_MANY, .sql =
  "SELECT s.tseq, s.event_id, s.leaf, s.chain, e.body FROM audit_seq s\n"
  "  LEFT JOIN audit_event e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id\n"
  " WHERE s.tenant_id = $1 AND s.tseq > $2 AND s.tseq <= $3 ORDER BY s.tseq LIMIT $4" };
static const struct stmt record_some = { .name = "audit_record_some", .params = "uI", .row = &record_row_schema, .card = CARD_MANY, .sql =
  "SELECT s.tseq, s.event_id, s.leaf, s.chain, e.body FROM audit_seq s\n"
  "  LEFT JOIN audit_event e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id\n"
  " WHERE s.tenant_id = $1 AND s.tseq = ANY($2) ORDER BY s.tseq LIMIT 1000" };

const struct stmt *const audit_export_stmts[] = { &head_newest, &head_at, &head_checkpoints, &record_page, &record_some,
                                                 &export_opened_stmt, NULL };

struct record_slice { struct record_row *items; size_t n; };

struct stream {
    struct export x;
    const struct audit_export_opts *o;
    struct bundle_manifest *m;
    struct audit_head head;
    struct select_proofs proofs;        /* of a selection */
    struct bundle_head *checkpoints;
    uint64_t *checkpoint_sizes;
    size_t checkpoint_count, checkpoint_next;
    struct audit_view *view;            /* of a filtered range */
    char member[AUDIT_MEMBER_MAX];
    struct buf out;
    struct sha256 sum;
};

enum errc export_begin_page(struct export *x, struct db_tx **tx, struct err *e)
{
    arena_reset(x->page);
    return db_begin(x->w->app->pool, SCOPE_TENANT(x->tenant_id), TX_READ_ONLY, x->page, tx, e);
}

static enum errc take_head(const struct head_row *row, struct bundle_head *ret, struct audit_head *head, struct err *e)
{
    if (row->body.data.len > HEAD_BODY_MAX || row->signature.data.len != AUDIT_SIG || !audit_head_decode(row->body.data, head))
        return FAIL(e, DAMAGED, "a stored tree head is damaged");
    memcpy(ret->body, row->body.data.ptr, row->body.data.len);
    ret->len = row->body.data.len;
    memcpy(ret->sig, row->signature.data.ptr, AUDIT_SIG);
    return ERR_OK;
}

/* size 0: the newest head. */
static enum errc read_head(struct stream *s, uint64_t size, struct bundle_head *ret, struct audit_head *head, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct head_row row;
    bool found;
    TRY(export_begin_page(&s->x, &tx, e));
    TRY(size ? db_maybe(tx, &head_at, ARGS(A_UUID(s->x.tenant_id), A_I64((int64_t)size)), &row, &found, e)
             : db_maybe(tx, &head_newest, ARGS(A_UUID(s->x.tenant_id)), &row, &found, e));
    if (!found)
        return FAIL(e, NOT_FOUND, size ? "no head was signed at that size" : "no head of this log is signed yet");
    return take_head(&row, ret, head, e);
}

static enum errc read_checkpoints(struct stream *s, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct { struct head_row *items; size_t n; } rows = { 0 };
    struct audit_head head;
    s->checkpoints = ARENA_ARRAY(s->x.w->arena, struct bundle_head, CHECKPOINTS);
    s->checkpoint_sizes = ARENA_ARRAY(s->x.w->arena, uint64_t, CHECKPOINTS);
    TRY(export_begin_page(&s->x, &tx, e));
    TRY(db_many(tx, &head_checkpoints, ARGS(A_UUID(s->x.tenant_id), A_I64((int64_t)s->m->from), A_I64((int64_t)s->m->to)), &rows,
                CHECKPOINTS, e));
    for (size_t i = 0; i < rows.n; i++) {
        TRY(take_head(&rows.items[i], &s->checkpoints[i], &head, e));
        s->checkpoint_sizes[i] = head.size;
    }
    s->checkpoint_count = rows.n;
    return ERR_OK;
}

static enum errc read_records(struct stream *s, uint64_t after, size_t only_from, struct record_slice *ret, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    const struct audit_export_opts *o = s->o;
    struct uuid t = s->x.tenant_id;
    TRY(export_begin_page(&s->x, &tx, e));
    if (o->only) {
        size_t n = o->only_count - only_from < RECORD_PAGE ? o->only_count - only_from : RECORD_PAGE;
        TRY(db_many(tx, &record_some, ARGS(A_UUID(t), A_I64S((const int64_t *)o->only + only_from, n)), ret, n, e));
    } else {
        TRY(db_many(tx, &record_page, ARGS(A_UUID(t), A_I64((int64_t)after), A_I64((int64_t)s->m->to), A_I64(RECORD_PAGE)), ret,
                    RECORD_PAGE, e));
    }
    return db_commit(tx, e);
}

static enum errc flush(struct stream *s, bool is_summed, struct err *e)
{
    if (s->out.overflow)
        return FAIL(e, LIMIT, "a page of the bundle is too large");
    if (is_summed)
        sha256_add(&s->sum, s->out.ptr, s->out.len);
    enum errc rc = s->out.len ? s->o->sink(s->o->sink_ctx, s->out.ptr, s->out.len, e) : ERR_OK;
    buf_clear(&s->out);
    return rc;
}

/* Readers that know version 1 alone would call leaves that can be opened edited; they cannot read version 2. */
static enum errc choose_version(struct stream *s, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct log_opened opened;
    s->m->version = s->o->version;
    if (s->o->version)
        return ERR_OK;
    TRY(export_begin_page(&s->x, &tx, e));
    TRY(export_opened(tx, s->x.tenant_id, &opened, e));
    s->m->version = opened.opened_to ? 2 : 1;
    return ERR_OK;
}

static enum errc choose_range(struct stream *s, struct err *e)
{
    const struct audit_export_opts *o = s->o;
    struct bundle_manifest *m = s->m;
    bool has_filter = o->filter && !o->only;
    TRY(choose_version(s, e));
    m->is_filtered = has_filter && o->proves == AUDIT_PROVES_COMPLETENESS;
    if (m->is_filtered && m->version != 2)
        return FAIL(e, CONFLICT, "No entry of this log can be opened yet; export with proves=inclusion, or without a filter");
    TRY(read_head(s, o->head_size, &m->head, &s->head, e));
    m->from = o->from ? o->from : 1;
    m->to = o->to ? o->to : s->head.size;
    m->is_selection = m->says_inclusion = (o->only || o->filter) && !m->is_filtered;
    if (o->only && (o->only_count == 0 || o->only_count > AUDIT_SELECT_MAX))
        return FAIL(e, INVALID, "a selection has 1 to %d entries", AUDIT_SELECT_MAX);
    for (size_t i = 0; o->only && i < o->only_count; i++)
        if (o->only[i] < m->from || o->only[i] > m->to || (i && o->only[i] <= o->only[i - 1]))
            return FAIL(e, INVALID, "a selection ascends within its range");
    if (m->from > m->to || m->to > s->head.size)
        return FAIL(e, INVALID, "the signed log has the entries 1 to %llu", (unsigned long long)s->head.size);
    m->count = o->only ? o->only_count : m->to - m->from + 1;
    if (!has_filter)
        return ERR_OK;
    m->filter = *o->filter;
    s->view = ARENA_NEW(s->x.w->arena, struct audit_view);
    if (m->is_filtered)
        return ERR_OK;
    TRY(export_select_count(&s->x, o->filter, m->from, m->to, &m->count, e));
    return m->count ? ERR_OK : FAIL(e, NOT_FOUND, "No event fits the filter");
}

/* Chain and frontier before the range, subtrees behind it. */
static enum errc prove_range(struct stream *s, struct err *e)
{
    struct bundle_manifest *m = s->m;
    struct merkle_range r[2 * BUNDLE_AFTER_MAX];
    struct merkle_hash out[2 * BUNDLE_AFTER_MAX];
    m->before_len = (size_t)merkle_cover_ranges(0, m->from - 1, r);
    m->after_len = (size_t)merkle_cover_ranges(m->to, s->head.size, r + m->before_len);
    TRY(export_roots(&s->x, r, m->before_len + m->after_len, out, e));
    memcpy(m->before, out, m->before_len * sizeof *out);
    memcpy(m->after, out + m->before_len, m->after_len * sizeof *out);
    if (m->from == 1)
        return ERR_OK;
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct record_slice rows = { 0 };
    TRY(export_begin_page(&s->x, &tx, e));
    TRY(db_many(tx, &record_page, ARGS(A_UUID(s->x.tenant_id), A_I64((int64_t)m->from - 2), A_I64((int64_t)m->from - 1), A_I64(1)), &rows, 1, e));
    if (rows.n != 1 || rows.items[0].chain.data.len != MERKLE_HASH)
        return FAIL(e, DAMAGED, "entry %llu of the audit log is missing", (unsigned long long)m->from - 1);
    memcpy(m->before_chain.b, rows.items[0].chain.data.ptr, MERKLE_HASH);
    return ERR_OK;
}

static enum errc prove_previous(struct stream *s, struct err *e)
{
    struct merkle_range r[MERKLE_PROOF_MAX];
    struct audit_head prev;
    if (s->o->prev_size == 0)
        return ERR_OK;
    TRY(read_head(s, s->o->prev_size, &s->m->previous, &prev, e));
    s->m->has_previous = true;
    s->m->previous_proof_len = (size_t)merkle_consistency_ranges(prev.size, s->head.size, r);
    return export_roots(&s->x, r, s->m->previous_proof_len, s->m->previous_proof, e);
}

static enum errc send_manifest(struct stream *s, struct err *e)
{
    struct bundle_manifest *m = s->m;
    m->tenant_id = s->x.tenant_id;
    memcpy(m->zone, s->head.zone, sizeof m->zone);
    m->created_us = s->o->created_us ? s->o->created_us : s->x.w->now_us;
    m->key_count = s->o->key_count < AUDIT_KEYS_MAX ? s->o->key_count : AUDIT_KEYS_MAX;
    if (m->key_count)
        memcpy(m->keys, s->o->keys, m->key_count * sizeof m->keys[0]);
    chain_start(m->tenant_id, &m->before_chain);
    TRY(m->is_selection ? export_select_open(&s->x, s->head.size, &s->proofs, e) : prove_range(s, e));
    TRY(prove_previous(s, e));
    if (!m->is_selection)
        TRY(read_checkpoints(s, e));
    if (!bundle_manifest_encode(m, &s->out))
        return FAIL(e, INTERNAL, "the manifest of the bundle cannot be written");
    return flush(s, true, e);
}

static enum errc put_record(struct stream *s, struct bundle_record *r, struct err *e)
{
    r->has_proof = s->m->is_selection;
    if (r->has_proof)
        TRY(export_select_prove(&s->proofs, r->tseq, r->proof, &r->proof_len, e));
    if (!bundle_record_encode(r, &s->out))
        return FAIL(e, DAMAGED, "event %llu of the audit log is not canonical", (unsigned long long)r->tseq);
    if (s->checkpoint_next < s->checkpoint_count && s->checkpoint_sizes[s->checkpoint_next] == r->tseq)
        bundle_checkpoint_encode(&s->checkpoints[s->checkpoint_next++], &s->out);
    return ERR_OK;
}

static enum errc put_row(struct stream *s, const struct record_row *row, uint64_t want, struct err *e)
{
    struct bundle_record r = { .tseq = want, .event = row->body.data };
    if (row->tseq != (int64_t)want || row->leaf.data.len != MERKLE_HASH || row->chain.data.len != MERKLE_HASH)
        return FAIL(e, DAMAGED, "entry %llu of the audit log is missing or damaged", (unsigned long long)want);
    memcpy(r.leaf.b, row->leaf.data.ptr, MERKLE_HASH);
    memcpy(r.chain.b, row->chain.data.ptr, MERKLE_HASH);
    if (s->m->is_filtered && r.event.ptr)
        TRY(export_withhold(&s->m->filter, s->view, s->member, &r, e));
    return put_record(s, &r, e);
}

static enum errc send_records(struct stream *s, struct err *e)
{
    uint64_t sent = 0;
    while (sent < s->m->count) {
        struct record_slice rows = { 0 };
        TRY(read_records(s, s->m->from - 1 + sent, sent, &rows, e));
        if (rows.n == 0)
            return FAIL(e, DAMAGED, "entries of the audit log are missing after %llu", (unsigned long long)(s->m->from - 1 + sent));
        for (size_t i = 0; i < rows.n; i++, sent++)
            TRY(put_row(s, &rows.items[i], s->o->only ? s->o->only[sent] : s->m->from + sent, e));
        TRY(flush(s, true, e));
    }
    return ERR_OK;
}

/* Retention empties columns that a filter asks for; an export that it crosses is cut, and the next one counts anew. */
static enum errc send_selected(struct stream *s, struct err *e)
{
    uint64_t sent = 0, after = s->m->from - 1;
    while (after < s->m->to) {
        struct audit_row *rows;
        size_t n;
        TRY(export_select_page(&s->x, s->o->filter, s->m->to, &after, &rows, &n, e));
        for (size_t i = 0; i < n; i++, sent++) {
            struct bundle_record r = { .tseq = rows[i].tseq, .leaf = rows[i].leaf, .event = rows[i].body };
            TRY(put_record(s, &r, e));
        }
        TRY(flush(s, true, e));
    }
    return sent == s->m->count ? ERR_OK : FAIL(e, CONFLICT, "The log lost entries to retention while it was exported; export it again");
}

/* What retention dropped is shown by its own entries, each with its proof; a drop younger than the head cannot be shown. */
static enum errc send_retention(struct stream *s, struct err *e)
{
    const struct bundle_manifest *m = s->m;
    struct export_drop *rows;
    size_t n;
    uint64_t after = s->head.size;
    TRY(export_drops_page(&s->x, m->from, m->to, INT64_MAX, &after, &rows, &n, e));
    if (n)
        return FAIL(e, CONFLICT, "Retention dropped entries of this range after the head of size %llu was signed; "
                    "make a new export in a minute", (unsigned long long)s->head.size);
    for (after = 0; after < s->head.size;) {
        TRY(export_drops_page(&s->x, m->from, m->to, s->head.size, &after, &rows, &n, e));
        if (n && !s->proofs.size)
            TRY(export_select_open(&s->x, s->head.size, &s->proofs, e));
        for (size_t i = 0; i < n; i++) {
            struct bundle_record r = { .tseq = rows[i].tseq, .event = rows[i].body };
            TRY(export_select_prove(&s->proofs, r.tseq, r.proof, &r.proof_len, e));
            if (!bundle_retention_encode(&r, &s->out))
                return FAIL(e, DAMAGED, "event %llu of the audit log is not canonical", (unsigned long long)r.tseq);
        }
        TRY(flush(s, true, e));
    }
    return ERR_OK;
}

static enum errc send_all(struct stream *s, struct err *e)
{
    struct bundle_end end = { 0 };
    TRY(choose_range(s, e));
    TRY(send_manifest(s, e));
    TRY(send_retention(s, e));
    TRY(s->m->is_selection && s->o->filter && !s->o->only ? send_selected(s, e) : send_records(s, e));
    end.count = s->m->count;
    sha256_final(&s->sum, end.sha256.b);
    memcpy(end.sig, s->m->head.sig, AUDIT_SIG);
    bundle_end_encode(&end, &s->out);
    return flush(s, false, e);
}

enum errc audit_export(struct work *w, const struct audit_export_opts *opts, struct audit_export_result *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *page = arena_new(PAGE_BYTES);
    struct stream *s = ARENA_NEW(w->arena, struct stream);
    ASSERT(w->tx == NULL && opts->sink);
    *s = (struct stream){ .x = { w, opts->tenant_id, page }, .o = opts, .m = ARENA_NEW(w->arena, struct bundle_manifest),
                          .out = BUF(SEND_BYTES) };
    sha256_init(&s->sum);
    enum errc rc = send_all(s, e);
    sha256_release(&s->sum);
    buf_release(&s->out);
    if (rc == ERR_OK)
        *ret = (struct audit_export_result){ s->m->count, s->m->from, s->m->to, s->head.size };
    return rc;
}

enum errc audit_list(struct work *w, struct uuid tenant, uint64_t after, size_t limit, struct audit_row **ret, size_t *ret_count,
                     struct err *e)
{
    struct record_slice rows = { 0 };
    if (limit > RECORD_PAGE)
        limit = RECORD_PAGE;
    TRY(db_many(w->tx, &record_page, ARGS(A_UUID(tenant), A_I64((int64_t)after), A_I64(INT64_MAX), A_I64((int64_t)limit)), &rows, limit, e));
    struct audit_row *out = ARENA_ARRAY(w->arena, struct audit_row, rows.n ? rows.n : 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct record_row *r = &rows.items[i];
        if (r->leaf.data.len != MERKLE_HASH || r->chain.data.len != MERKLE_HASH)
            return FAIL(e, DAMAGED, "entry %lld of the audit log is damaged", (long long)r->tseq);
        out[i] = (struct audit_row){ .tseq = (uint64_t)r->tseq, .event_id = r->event_id, .body = r->body.data };
        memcpy(out[i].leaf.b, r->leaf.data.ptr, MERKLE_HASH);
        memcpy(out[i].chain.b, r->chain.data.ptr, MERKLE_HASH);
    }
    *ret = out;
    *ret_count = rows.n;
    return ERR_OK;
}

enum errc audit_newest_head(struct work *w, struct uuid tenant, struct audit_head *ret, struct str *body, uint8_t sig[AUDIT_SIG],
                            struct err *e)
{
    struct head_row row;
    struct bundle_head bytes;
    bool found;
    TRY(db_maybe(w->tx, &head_newest, ARGS(A_UUID(tenant)), &row, &found, e));
    if (!found)
        return FAIL(e, NOT_FOUND, "no head of this log is signed yet");
    TRY(take_head(&row, &bytes, ret, e));
    *body = row.body.data;
    memcpy(sig, bytes.sig, AUDIT_SIG);
    return ERR_OK;
}
