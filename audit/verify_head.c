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
    for (size_t i = 0; o->trust_embedded && o->pinned_count == 0 && i < v->m.key_count; i++)
        if (strcmp(v->m.keys[i].key_id, key_id) == 0 && ed25519_verify(v->m.keys[i].pub, h->body, h->len, h->sig))
            return true;
    return false;
}

/* A head of this very log, signed by a key that counts; `what` names it to people. */
static bool take_signed(struct verifier *v, const struct bundle_head *h, const char *what, struct audit_head *ret)
{
    if (!audit_head_decode(str_n(h->body, h->len), ret))
        return verify_bad(v, VERIFY_MALFORMED, 0, "%s does not parse", what);
    if (ret->is_zone || !uuid_eq(ret->tenant_id, v->m.tenant_id))
        return verify_bad(v, VERIFY_SPLICED, 0, "%s is of another log", what);
    return is_trusted(v, h, ret->key_id) ||
           verify_bad(v, VERIFY_WRONG_KEY, 0, "%s is not signed by a key that counts here; it names key %s", what, ret->key_id);
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
    v->ret->signed_head = v->m.head;
    if (!is_trusted(v, &v->m.head, head->key_id))
        return verify_bad(v, VERIFY_WRONG_KEY, 0, v->opts->pinned_count ?
                          "the head is not signed by a pinned key; it names key %s" : v->opts->trust_embedded ?
                                  "the head is not signed by the key that it names, %s" :
                          "no public key was given, so nothing says who signed; the head names key %s", head->key_id);
    v->ret->pinned = v->opts->pinned_count > 0;
    if (head->is_zone || !uuid_eq(head->tenant_id, v->m.tenant_id) || strcmp(head->zone, v->m.zone) != 0)
        return verify_bad(v, VERIFY_SPLICED, 0, "the signed head is of another log than the bundle says");
    if (v->opts->previous) {
        const struct bundle_head *kept = v->opts->previous;
        bool is_bare = v->opts->previous_is_unsigned && audit_head_decode(str_n(kept->body, kept->len), &prev) && !prev.is_zone &&
                       uuid_eq(prev.tenant_id, v->m.tenant_id);
        if (!is_bare && !take_signed(v, kept, "the head kept from before", &prev))
            return false;
        know(v, &prev);
    }
    if (v->m.has_previous) {
        if (!take_signed(v, &v->m.previous, "the previous head in the manifest", &prev))
            return false;
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
    if (!m->is_selection && m->is_filtered == audit_filter_is_empty(&m->filter))
        return verify_bad(v, VERIFY_MALFORMED, 0, m->is_filtered ? "a filtered range says no filter" :
                          "a range has every entry: it cannot have a filter");
    v->expected = m->from;
    v->to = m->to;
    chain_start(m->tenant_id, &start);
    if (m->is_selection) {
        v->want = m->count;
        return (m->before_len == 0 && m->after_len == 0 && merkle_eq(&start, &m->before_chain)) ||
               verify_bad(v, VERIFY_MALFORMED, 0, "a selection has no subtrees, and its chain is the log's first");
    }
    v->want = v->to - m->from + 1;
    if ((int)m->after_len != (m->to == size ? 0 : merkle_cover_ranges(m->to, size, cover)))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the manifest has a wrong number of subtrees behind entry %llu of %llu",
                          (unsigned long long)m->to, (unsigned long long)size);
    if (!merkle_unpack(m->from - 1, m->before, m->before_len * MERKLE_HASH, &v->tree))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the manifest has a wrong number of subtrees before the range");
    if (m->from == 1 && !merkle_eq(&start, &m->before_chain))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the chain does not begin as the tenant's does");
    v->chain = v->back = m->before_chain;
    v->good = m->from - 1;
    return verify_known_here(v);
}

bool verify_manifest(struct verifier *v, struct str line)
{
    if (!bundle_manifest_decode(line, &v->m))
        return verify_bad(v, VERIFY_MALFORMED, 0, "the first line is not a manifest of falaj-audit-bundle-v1 or -v2");
    v->ret->from = v->m.from;
    v->ret->to = v->m.to;
    v->ret->is_selection = v->m.is_selection;
    v->ret->is_filtered = v->m.is_filtered;
    v->ret->filter = v->m.filter;
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
    if (!bundle_checkpoint_decode(line, &h))
        return verify_bad(v, VERIFY_MALFORMED, 0, "a checkpoint does not parse");
    if (v->m.is_selection)
        return verify_bad(v, VERIFY_MALFORMED, 0, "a selection has no checkpoints");
    if (!take_signed(v, &h, "a checkpoint", &head))
        return false;
    if (head.size != v->tree.size)
        return verify_bad(v, VERIFY_MALFORMED, 0, "a checkpoint of size %llu stands behind entry %llu",
                          (unsigned long long)head.size, (unsigned long long)v->tree.size);
    v->ret->checkpoints++;
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
    unsigned long long size = known->size;
    if (known->size > head->size)
        return verify_bad(v, VERIFY_TRUNCATED, head->size + 1, "the log had %llu entries before and has %llu now", size,
                          (unsigned long long)head->size);
    if (known->size == head->size)
        return (merkle_eq(&known->root, &head->root) && merkle_eq(&known->chain, &head->chain)) ||
               verify_bad(v, VERIFY_FORKED, 0, "two different heads were signed at size %llu", size);
    if (!v->m.has_previous || v->known[v->known_count - 1].head.size != known->size)
        return verify_bad(v, VERIFY_MALFORMED, 0, "the bundle does not prove that it extends the head of size %llu", size);
    return merkle_verify_consistency(known->size, &known->root, head->size, &head->root, v->m.previous_proof,
                                     v->m.previous_proof_len) ||
           verify_bad(v, VERIFY_FORKED, 0, "the signed head does not extend the head of size %llu", size);
}

/* The manifest's own proof is looked at though the tree has shown the same: what stands in a bundle is right or refused. */
static bool close_previous(struct verifier *v)
{
    const struct audit_head *head = &v->ret->head, *prev = &v->known[v->known_count - 1].head;
    if (prev->size >= head->size)
        return v->m.previous_proof_len == 0 ||
               verify_bad(v, VERIFY_MALFORMED, 0, "there is nothing to prove from the previous head to the head");
    return merkle_verify_consistency(prev->size, &prev->root, head->size, &head->root, v->m.previous_proof,
                                     v->m.previous_proof_len) ||
           verify_bad(v, VERIFY_FORKED, 0, "the manifest's proof does not lead from the head of size %llu to the signed head",
                      (unsigned long long)prev->size);
}

bool verify_close(struct verifier *v)
{
    if (!v->m.is_selection && !close_tree(v))
        return false;
    for (int i = 0; i < v->known_count; i++)
        if (!v->known[i].is_checked && !close_known(v, &v->known[i].head))
            return false;
    return (!v->m.has_previous || close_previous(v)) && close_end(v);
}
