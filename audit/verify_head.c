/* SPDX-License-Identifier: Apache-2.0 */
/* verify_head.c - heads and trust: who signed, what the log was before, and whether the tree of the entries is the signed one.
 *
 * Trust comes from pinned keys. Only when none is pinned does the bundle's own key count, and then the result says so.
 * Heads that are known (kept by the auditor, named in the manifest, or checkpoints between the entries) narrow a fork down: the
 * first head that does not fit bounds it from above, the last that fitted from below. */
#include "audit/verify_int.h"
#include "core/crypto/sign.h"

static bool is_trusted(const struct verifier *v, const struct bundle_head *h, const char *key_id)
{
    const struct verify_opts *o = v->opts;
    for (size_t i = 0; i < o->pinned_count; i++)
        if (ed25519_verify(o->pinned[i], h->body, h->len, h->sig))
            return true;
    for (size_t i = 0; o->pinned_count == 0 && i < v->m.key_count; i++)
        if (strcmp(v->m.keys[i].key_id, key_id) == 0 && ed25519_verify(v->m.keys[i].pub, h->body, h->len, h->sig))
            return true;
    return false;
}

static bool decode_head(const struct verifier *v, const struct bundle_head *h, struct audit_head *ret)
{
    return audit_head_decode(str_n(h->body, h->len), ret) && !ret->is_zone && uuid_eq(ret->tenant_id, v->m.tenant_id);
}

static void know(struct verifier *v, const struct audit_head *h)
{
    v->known[v->known_count++] = (struct verify_known){ .head = *h };
}

static bool take_heads(struct verifier *v)
{
    struct audit_head *head = &v->ret->head, prev;
    if (!audit_head_decode(str_n(v->m.head.body, v->m.head.len), head))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the signed head in the manifest does not parse");
    if (!is_trusted(v, &v->m.head, head->key_id))
        return verify_bad(v, VERIFY_WRONG_KEY, 0, "the head is not signed by %s", v->opts->pinned_count ? "a pinned key" :
                          "the key that the bundle names");
    v->ret->pinned = v->opts->pinned_count > 0;
    if (head->is_zone || !uuid_eq(head->tenant_id, v->m.tenant_id) || strcmp(head->zone, v->m.zone) != 0)
        return verify_bad(v, VERIFY_SPLICED, 0, "the signed head is of another log than the bundle says");
    if (v->opts->previous) {
        if (!uuid_eq(v->opts->previous->tenant_id, v->m.tenant_id) || v->opts->previous->is_zone)
            return verify_bad(v, VERIFY_SPLICED, 0, "the head kept from before is of another log");
        know(v, v->opts->previous);
    }
    if (v->m.has_previous) {
        if (!decode_head(v, &v->m.previous, &prev))
            return verify_bad(v, VERIFY_MALFORMED, 0, "the previous head in the manifest does not parse");
        if (!is_trusted(v, &v->m.previous, prev.key_id))
            return verify_bad(v, VERIFY_WRONG_KEY, 0, "the previous head is not signed by a trusted key");
        know(v, &prev);
    }
    return true;
}

/* Where the entries begin: the frontier and the chain before them, which the head proves at the end. */
static bool take_range(struct verifier *v)
{
    const struct bundle_manifest *m = &v->m;
    uint64_t size = v->ret->head.size;
    struct merkle_range cover[BUNDLE_AFTER_MAX];
    struct merkle_hash start;
    if (m->from < 1 || m->to < m->from || m->to > size)
        return verify_bad(v, VERIFY_MALFORMED, 0, "the manifest names a range that the head does not have");
    if (!m->is_selection && !audit_filter_is_empty(&m->filter))
        return verify_bad(v, VERIFY_MALFORMED, 0, "a range has every entry: it cannot have a filter");
    v->expected = m->from;
    if (m->is_selection) {
        v->to = m->to;
        v->want = m->count;
        return true;
    }
    /* Without subtrees behind the range only the whole rest fits the head, whatever else the manifest says. */
    v->to = m->after_len == 0 ? size : m->to;
    v->want = v->to - m->from + 1;
    if (m->after_len > 0 && (int)m->after_len != merkle_cover_ranges(m->to, size, cover))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the manifest has a wrong number of subtrees behind the range");
    if (!merkle_unpack(m->from - 1, m->before, m->before_len * MERKLE_HASH, &v->tree))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the manifest has a wrong number of subtrees before the range");
    chain_start(m->tenant_id, &start);
    if (m->from == 1 && !merkle_eq(&start, &m->before_chain))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the chain does not begin as the tenant's does");
    v->chain = v->back = m->before_chain;
    v->good = m->from - 1;
    return verify_known_here(v);
}

bool verify_manifest(struct verifier *v, struct str line)
{
    if (!bundle_manifest_decode(line, &v->m))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the first line is not a manifest of falaj-audit-bundle-v1");
    v->ret->from = v->m.from;
    v->ret->to = v->m.to;
    return take_heads(v) && take_range(v);
}

static bool fits_here(struct verifier *v, const struct audit_head *h)
{
    struct merkle_hash root;
    merkle_frontier_root(&v->tree, &root);
    if (!merkle_eq(&root, &h->root) || !merkle_eq(&v->chain, &h->chain))
        return verify_bad(v, VERIFY_FORKED, v->good + 1, "the log differs from what was signed at size %llu; the first %llu entries fit",
                          (unsigned long long)h->size, (unsigned long long)v->good);
    v->good = h->size;
    return true;
}

bool verify_known_here(struct verifier *v)
{
    for (int i = 0; i < v->known_count; i++) {
        struct verify_known *k = &v->known[i];
        if (k->is_checked || k->head.size != v->tree.size)
            continue;
        k->is_checked = true;
        if (!fits_here(v, &k->head))
            return false;
    }
    return true;
}

bool verify_checkpoint(struct verifier *v, struct str line)
{
    struct bundle_head h;
    struct audit_head head;
    if (!bundle_checkpoint_decode(line, &h) || !audit_head_decode(str_n(h.body, h.len), &head))
        return verify_bad(v, VERIFY_MALFORMED, 0, "a checkpoint does not parse");
    /* A checkpoint can only help: one of another log, in another place, or signed by a key that is not trusted, says nothing. */
    if (v->m.is_selection || !decode_head(v, &h, &head) || head.size != v->tree.size || !is_trusted(v, &h, head.key_id))
        return true;
    return fits_here(v, &head);
}

static bool close_end(struct verifier *v)
{
    if (!v->has_end)
        return verify_bad(v, VERIFY_TRUNCATED, 0, "the end line is missing");
    if (v->end.count != v->seen || v->m.count != v->seen)
        return verify_bad(v, v->seen < v->m.count ? VERIFY_DELETED : VERIFY_INSERTED, 0, "%llu entries are here, %llu were counted",
                          (unsigned long long)v->seen, (unsigned long long)v->m.count);
    if (!merkle_eq(&v->digest, &v->end.sha256) || memcmp(v->end.sig, v->m.head.sig, AUDIT_SIG) != 0)
        return verify_bad(v, VERIFY_MALFORMED, 0, "the end line does not fit the lines before it");
    return true;
}

static bool close_tree(struct verifier *v)
{
    const struct audit_head *head = &v->ret->head;
    struct merkle_range cover[BUNDLE_AFTER_MAX];
    struct merkle_hash root;
    int n = v->m.after_len ? merkle_cover_ranges(v->to, head->size, cover) : 0;
    bool is_whole = v->tree.size == head->size;
    for (int i = 0; i < n; i++)
        merkle_add_subtree(&v->tree, &v->m.after[i], __builtin_ctzll(cover[i].end - cover[i].start));
    merkle_frontier_root(&v->tree, &root);
    if (v->tree.size != head->size || !merkle_eq(&root, &head->root) || (is_whole && !merkle_eq(&v->chain, &head->chain)))
        return verify_bad(v, VERIFY_FORKED, v->good + 1, "the entries are not those of the signed head; the first %llu fit",
                          (unsigned long long)v->good);
    return true;
}

static bool close_known(struct verifier *v, const struct audit_head *known)
{
    const struct audit_head *head = &v->ret->head;
    struct audit_head prev;
    unsigned long long size = known->size;
    if (known->size > head->size)
        return verify_bad(v, VERIFY_TRUNCATED, head->size + 1, "the log had %llu entries before and has %llu now", size,
                          (unsigned long long)head->size);
    if (known->size == head->size)
        return merkle_eq(&known->root, &head->root) ||
               verify_bad(v, VERIFY_FORKED, 0, "two different heads were signed at size %llu", size);
    if (!v->m.has_previous || !decode_head(v, &v->m.previous, &prev) || prev.size != known->size)
        return verify_bad(v, VERIFY_MALFORMED, 0, "the bundle does not prove that it extends the head of size %llu", size);
    return merkle_verify_consistency(known->size, &known->root, head->size, &head->root, v->m.previous_proof,
                                     v->m.previous_proof_len) ||
           verify_bad(v, VERIFY_FORKED, 0, "the signed head does not extend the head of size %llu", size);
}

bool verify_close(struct verifier *v)
{
    if (!v->m.is_selection && !close_tree(v))
        return false;
    for (int i = 0; i < v->known_count; i++)
        if (!v->known[i].is_checked && !close_known(v, &v->known[i].head))
            return false;
    return close_end(v);
}
