/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - logs made in memory and their bundles as lines that a test can damage and put together again. */
#pragma once
#include "tests/unit/audit/log_kit.h"

/* A bundle as lines: line[0] the manifest, line[1…n] the records, the end line is made by lines_join. */
struct lines {
    size_t n;
    struct buf *line;
    uint8_t sig[AUDIT_SIG];
};

static inline void lines_free(struct lines *s)
{
    for (size_t i = 0; i < s->n; i++)
        buf_release(&s->line[i]);
    free(s->line);
    free(s);
}
static inline void lines_insert(struct lines *s, size_t at, struct buf b)
{
    memmove(s->line + at + 1, s->line + at, (s->n - at) * sizeof *s->line);
    s->line[at] = b;
    s->n++;
}
static inline void lines_delete(struct lines *s, size_t at)
{
    buf_release(&s->line[at]);
    memmove(s->line + at, s->line + at + 1, (s->n - at - 1) * sizeof *s->line);
    s->n--;
}
static inline struct lines *lines_copy(const struct lines *from)
{
    struct lines *s = calloc(1, sizeof *s);
    *s = *from;
    s->line = calloc(from->n + 16, sizeof *s->line);
    for (size_t i = 0; i < from->n; i++) {
        s->line[i] = BUF(AUDIT_LINE_MAX);
        buf_add_str(&s->line[i], buf_str(&from->line[i]));
    }
    return s;
}
static inline struct buf lines_record(uint64_t tseq, const struct log_entry *e)
{
    struct buf b = BUF(AUDIT_LINE_MAX);
    struct bundle_record r = { .tseq = tseq, .leaf = e->leaf, .chain = e->chain, .event = buf_str(&e->body) };
    ASSERT(bundle_record_encode(&r, &b));
    return b;
}

/* Takes the body out of a record and shows a field instead; AUDIT_FIELDS: the first that the filter does not let through. */
static inline void lines_withhold(const struct log *l, uint64_t tseq, const struct audit_filter *f, enum audit_field field,
                                  struct bundle_record *r)
{
    static struct audit_view view;
    static char text[AUDIT_MEMBER_MAX];
    struct merkle_hash plain;
    struct audit_fields fields;
    struct str body = buf_str(&l->e[tseq - 1].body);
    ASSERT(audit_record_read(body, &view));
    merkle_leaf(body.ptr, body.len, &plain);
    audit_fields_of(&view, &plain, &fields);
    *r = (struct bundle_record){ .tseq = tseq, .leaf = fields.leaf, .chain = l->e[tseq - 1].chain, .is_withheld = true };
    audit_open(&view, &fields, field == AUDIT_FIELDS ? audit_filter_refuter(&view, f) : field, text, &r->opened);
}

struct make {
    uint64_t from, to, head_size, prev_size;    /* 0: all, all, all, none */
    uint64_t checkpoint;                        /* put one after this entry; 0: none */
    bool is_selection;
    const struct audit_filter *filter;          /* only what it lets through; a selection */
    bool is_filtered;                           /* … or every entry, where what does not fit shows a field */
    uint64_t dropped;                           /* this entry has no body any more; 0: none */
};

static inline struct lines *lines_make(const struct log *l, const struct key *k, struct make o)
{
    struct bundle_manifest *m = calloc(1, sizeof *m);
    struct merkle_range r[BUNDLE_AFTER_MAX];
    struct merkle_frontier f = { 0 };
    struct audit_head head;
    uint64_t size = o.head_size ? o.head_size : l->n;
    m->tenant_id = l->tenant;
    strcpy(m->zone, "ae-dxb-1");
    m->from = o.from ? o.from : 1;
    m->to = o.to ? o.to : size;
    m->count = m->to - m->from + 1;
    m->version = l->opened_from ? 2 : 1;
    m->is_filtered = o.is_filtered;
    m->is_selection = m->says_inclusion = !o.is_filtered && (o.is_selection || o.filter);
    if (o.filter)
        m->filter = *o.filter;
    m->created_us = 1700000001000000;
    log_head(l, size, k, &m->head, &head);
    if (o.prev_size) {
        struct audit_head prev;
        m->has_previous = true;
        log_head(l, o.prev_size, k, &m->previous, &prev);
        m->previous_proof_len = (size_t)merkle_consistency_ranges(o.prev_size, size, r);
        for (size_t i = 0; i < m->previous_proof_len; i++)
            log_root(l, r[i].start, r[i].end, &m->previous_proof[i]);
    }
    chain_start(l->tenant, &m->before_chain);
    if (m->from > 1 && !m->is_selection)
        m->before_chain = l->e[m->from - 2].chain;
    if (!m->is_selection) {
        for (uint64_t i = 0; i < m->from - 1; i++)
            merkle_add(&f, &l->e[i].leaf);
        m->before_len = (size_t)f.count;
        memcpy(m->before, f.node, m->before_len * MERKLE_HASH);
        m->after_len = (size_t)merkle_cover_ranges(m->to, size, r);
        for (size_t i = 0; i < m->after_len; i++)
            log_root(l, r[i].start, r[i].end, &m->after[i]);
    }
    m->key_count = 1;
    memcpy(m->keys[0].key_id, k->id, sizeof k->id);
    memcpy(m->keys[0].pub, k->pub, 32);
    for (uint64_t t = m->from; o.filter && m->is_selection && t <= m->to; t++)
        m->count -= !log_matches(l, t, o.filter);
    struct lines *s = calloc(1, sizeof *s);
    s->line = calloc(m->to - m->from + 17, sizeof *s->line);
    memcpy(s->sig, m->head.sig, AUDIT_SIG);
    s->line[0] = BUF(AUDIT_LINE_MAX);
    ASSERT(bundle_manifest_encode(m, &s->line[0]));
    s->n = 1;
    for (uint64_t t = m->from; t <= m->to; t++) {
        struct buf b = BUF(AUDIT_LINE_MAX);
        struct bundle_record rec = { .tseq = t, .leaf = l->e[t - 1].leaf, .chain = l->e[t - 1].chain, .has_proof = m->is_selection,
                                     .event = t == o.dropped ? STR_NULL : buf_str(&l->e[t - 1].body) };
        bool is_fit = !o.filter || log_matches(l, t, o.filter);
        if (!is_fit && !o.is_filtered)
            continue;
        if (!is_fit && rec.event.ptr)
            lines_withhold(l, t, o.filter, AUDIT_FIELDS, &rec);
        if (m->is_selection) {
            rec.proof_len = (size_t)merkle_inclusion_ranges(t - 1, size, r);
            for (size_t i = 0; i < rec.proof_len; i++)
                log_root(l, r[i].start, r[i].end, &rec.proof[i]);
        }
        ASSERT(bundle_record_encode(&rec, &b));
        s->line[s->n++] = b;
        if (o.checkpoint == t) {
            struct bundle_head ch;
            struct buf c = BUF(AUDIT_LINE_MAX);
            log_head(l, t, k, &ch, &head);
            ASSERT(bundle_checkpoint_encode(&ch, &c));
            s->line[s->n++] = c;
        }
    }
    free(m);
    return s;
}

/* All lines and an end line that fits them, as an attacker would make it. */
static inline struct buf lines_join(const struct lines *s)
{
    struct buf b = BUF(256u << 20);
    struct bundle_end end = { 0 };
    for (size_t i = 0; i < s->n; i++) {
        buf_add_str(&b, buf_str(&s->line[i]));
        end.count += str_starts(buf_str(&s->line[i]), "{\"tseq\":");
    }
    sha256(b.ptr, b.len, end.sha256.b);
    memcpy(end.sig, s->sig, AUDIT_SIG);
    ASSERT(bundle_end_encode(&end, &b));
    return b;
}

struct reader {
    struct str rest;
    size_t step;        /* bytes per call at most; 0: any */
};
static inline ssize_t read_mem(void *ctx, void *p, size_t n)
{
    struct reader *r = ctx;
    if (r->step && n > r->step)
        n = r->step;
    if (n > r->rest.len)
        n = r->rest.len;
    memcpy(p, r->rest.ptr, n);
    r->rest = str_n(r->rest.ptr + n, r->rest.len - n);
    return (ssize_t)n;
}
static inline struct verify_result verify_text(struct str text, const struct key *pin, const struct audit_head *previous)
{
    struct reader r = { text, 0 };
    struct verify_result ret;
    struct bundle_head kept = { 0 };
    struct verify_opts o = { .pinned = pin ? (const uint8_t(*)[AUDIT_PUB])pin->pub : NULL, .pinned_count = pin ? 1 : 0,
            .trust_embedded = !pin,
                             .previous = previous ? &kept : NULL, .previous_is_unsigned = true };
    if (previous) {
        struct buf b = BUF(HEAD_BODY_MAX);
        ASSERT(audit_head_encode(previous, &b));
        memcpy(kept.body, b.ptr, kept.len = b.len);
        buf_release(&b);
    }
    audit_verify(read_mem, &r, &o, &ret);
    return ret;
}
static inline struct verify_result verify_lines(const struct lines *s, const struct key *pin, const struct audit_head *previous)
{
    struct buf b = lines_join(s);
    struct verify_result r = verify_text(buf_str(&b), pin, previous);
    buf_release(&b);
    return r;
}
