/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - a part of a log as a bundle, streamed.
 *
 * The head is chosen first and fixes what the bundle proves; then the manifest with its proofs, the records page by page with the
 * checkpoints that lie between them, and the end line with the hash of all that was sent. */
#include "audit/export.h"
#include "audit/export_drops_int.h"
#include "audit/export_filter_int.h"
#include "audit/export_log_int.h"
#include "audit/export_select_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/db/session.h"

enum { PAGE_BYTES = 64 << 20, SEND_BYTES = 32 << 20 };

struct stream {
    struct export x;
    const struct audit_export_opts *o;
    struct bundle_manifest *m;
    struct audit_head head;
    struct select_proofs proofs;        /* of a selection */
    struct export_checkpoints checkpoints;
    size_t checkpoint_next;
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

static enum errc read_records(struct stream *s, uint64_t after, size_t only_from, struct record_slice *ret, struct err *e)
{
    const struct audit_export_opts *o = s->o;
    if (!o->only)
        return export_records(&s->x, after, s->m->to, EXPORT_PAGE, ret, e);
    size_t n = o->only_count - only_from < EXPORT_PAGE ? o->only_count - only_from : EXPORT_PAGE;
    return export_records_of(&s->x, o->only + only_from, n, ret, e);
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
    TRY(export_head(&s->x, o->head_size, &m->head, &s->head, e));
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
    struct record_slice rows = { 0 };
    TRY(export_records(&s->x, m->from - 2, m->from - 1, 1, &rows, e));
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
    TRY(export_head(&s->x, s->o->prev_size, &s->m->previous, &prev, e));
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
        TRY(export_checkpoints(&s->x, m->from, m->to, &s->checkpoints, e));
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
    if (s->checkpoint_next < s->checkpoints.n && s->checkpoints.sizes[s->checkpoint_next] == r->tseq)
        bundle_checkpoint_encode(&s->checkpoints.heads[s->checkpoint_next++], &s->out);
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

/* The zones' logs hold heads of heads, and nobody exports them. */
enum errc audit_logs(struct db_session *s, struct arena *a, struct db_text_rows *ret, struct err *e)
{
    static const char sql[] = "SELECT tenant_id, max(size) FROM audit_head"
                              " WHERE tenant_id <> 'ffffffff-ffff-ffff-ffff-ffffffffffff'"
                              " GROUP BY tenant_id ORDER BY tenant_id LIMIT 100000";
    return db_session_query(s, sql, NULL, 0, a, ret, e);
}
