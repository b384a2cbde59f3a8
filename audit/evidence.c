/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - forks, places under the zone's head and witnesses' signatures: their lines, and what they show.
 *
 * A fork of two sizes is shown by the log of the larger head alone: its tree had some root at the smaller size, and the
 * consistency
 * proof from that root holds. The smaller head was signed over another root, so one key signed two histories. A proof that merely
 * fails would show nothing, since anybody can spoil a proof. */
#include "audit/evidence.h"
#include "audit/scan_int.h"
#include "core/crypto/sign.h"

static bool take_newline(struct str s)
{
    return s.len == 0 || str_eq_c(s, "\n");
}

bool fork_file_encode(const struct fork_file *f, struct buf *b)
{
    buf_add_c(b, "{\"format\":\"falaj-fork-v1\",\"a\":");
    bundle_head_put(b, &f->a);
    buf_add_c(b, "},\"b\":");
    bundle_head_put(b, &f->b);
    buf_add_c(b, "},\"root\":");
    scan_put_hash(b, &f->root);
    buf_add_c(b, ",\"proof\":");
    scan_put_hashes(b, f->proof, f->proof_len);
    return buf_add_c(b, "}\n");
}

bool fork_file_decode(struct str text, struct fork_file *ret)
{
    struct str s = text;
    return scan_lit(&s, "{\"format\":\"falaj-fork-v1\",\"a\":") && bundle_head_scan(&s, &ret->a) && scan_lit(&s, "},\"b\":") &&
           bundle_head_scan(&s, &ret->b) && scan_lit(&s, "},\"root\":") && scan_hash(&s, &ret->root) && scan_lit(&s,
               ",\"proof\":") &&
           scan_hashes(&s, ret->proof, MERKLE_PROOF_MAX, &ret->proof_len) && scan_lit(&s, "}") && take_newline(s);
}

bool head_proof_encode(const struct head_proof *p, struct buf *b)
{
    buf_add_c(b, "{\"format\":\"falaj-head-proof-v1\",\"head\":");
    bundle_head_put(b, &p->head);
    buf_printf(b, "},\"tseq\":%llu,\"proof\":", (unsigned long long)p->tseq);
    scan_put_hashes(b, p->proof, p->proof_len);
    buf_add_c(b, ",\"zone_head\":");
    bundle_head_put(b, &p->zone_head);
    buf_add_c(b, "},\"previous\":");
    if (p->has_previous) {
        bundle_head_put(b, &p->previous);
        buf_add_c(b, ",\"proof\":");
        scan_put_hashes(b, p->previous_proof, p->previous_proof_len);
        buf_add_c(b, "}");
    } else {
        buf_add_c(b, "null");
    }
    return buf_add_c(b, "}\n");
}

bool head_proof_decode(struct str text, struct head_proof *ret)
{
    struct str s = text;
    if (!scan_lit(&s, "{\"format\":\"falaj-head-proof-v1\",\"head\":") || !bundle_head_scan(&s, &ret->head) ||
        !scan_lit(&s, "},\"tseq\":") || !scan_u64(&s, &ret->tseq) || !scan_lit(&s, ",\"proof\":") ||
        !scan_hashes(&s, ret->proof, MERKLE_PROOF_MAX, &ret->proof_len) || !scan_lit(&s, ",\"zone_head\":") ||
        !bundle_head_scan(&s, &ret->zone_head) || !scan_lit(&s, "},\"previous\":"))
        return false;
    ret->has_previous = !scan_lit(&s, "null");
    if (ret->has_previous &&
        !(bundle_head_scan(&s, &ret->previous) && scan_lit(&s, ",\"proof\":") &&
          scan_hashes(&s, ret->previous_proof, MERKLE_PROOF_MAX, &ret->previous_proof_len) && scan_lit(&s, "}")))
        return false;
    return scan_lit(&s, "}") && take_newline(s);
}

bool cosignature_encode(const struct cosignature *c, struct buf *b)
{
    struct merkle_hash key;
    memcpy(key.b, c->witness, AUDIT_PUB);
    buf_add_c(b, "{\"format\":\"falaj-cosignature-v1\",\"head\":");
    bundle_head_put(b, &c->head);
    buf_add_c(b, "},\"witness\":");
    scan_put_hash(b, &key);
    buf_add_c(b, ",\"sig\":");
    scan_put_base64(b, c->sig, AUDIT_SIG);
    return buf_add_c(b, "}\n");
}

bool cosignature_decode(struct str text, struct cosignature *ret)
{
    struct str s = text;
    struct merkle_hash key;
    size_t n;
    if (!scan_lit(&s, "{\"format\":\"falaj-cosignature-v1\",\"head\":") || !bundle_head_scan(&s, &ret->head) ||
        !scan_lit(&s, "},\"witness\":") || !scan_hash(&s, &key) || !scan_lit(&s, ",\"sig\":") ||
        !scan_base64(&s, ret->sig, AUDIT_SIG, &n) || n != AUDIT_SIG || !scan_lit(&s, "}") || !take_newline(s))
        return false;
    memcpy(ret->witness, key.b, AUDIT_PUB);
    return true;
}

static bool is_signed_text(struct head_keys keys, struct str text, const uint8_t sig[AUDIT_SIG])
{
    for (size_t i = 0; i < keys.n; i++)
        if (ed25519_verify(keys.key[i], text.ptr, text.len, sig))
            return true;
    return false;
}

bool head_is_signed(const struct bundle_head *h, struct head_keys keys, struct audit_head *ret)
{
    return audit_head_decode(str_n(h->body, h->len), ret) && is_signed_text(keys, str_n(h->body, h->len), h->sig);
}

const char *fork_file_fault(const struct fork_file *f, struct head_keys keys)
{
    struct audit_head a, b;
    if (!head_is_signed(&f->a, keys, &a) || !head_is_signed(&f->b, keys, &b))
        return "a head is not signed by a key that was given";
    if (a.is_zone != b.is_zone || !uuid_eq(a.tenant_id, b.tenant_id) || strcmp(a.zone, b.zone) != 0)
        return "the heads are of two logs";
    if (a.size > b.size)
        return "the first head is larger than the second";
    if (a.size == b.size) {
        bool is_one = merkle_eq(&a.root, &b.root) && merkle_eq(&a.chain, &b.chain);
        return f->proof_len || !merkle_eq(&f->root, &b.root) ? "there is nothing to prove between heads of one size" :
               is_one ? "the heads say the same" : NULL;
    }
    if (merkle_eq(&a.root, &f->root))
        return "the second head extends the first";
    return merkle_verify_consistency(a.size, &f->root, b.size, &b.root, f->proof, f->proof_len) ? NULL :
           "the proof does not lead to the second head";
}

const char *head_proof_fault(const struct head_proof *p, struct head_keys keys, struct audit_head *head, struct audit_head *zone)
{
    struct audit_head before;
    struct merkle_hash leaf;
    if (!head_is_signed(&p->head, keys, head) || !head_is_signed(&p->zone_head, keys, zone))
        return "a head is not signed by a key that was given";
    if (head->is_zone || !zone->is_zone || strcmp(head->zone, zone->zone) != 0)
        return "the heads are not those of a tenant and of its zone";
    merkle_leaf(p->head.body, p->head.len, &leaf);
    if (p->tseq < 1 || p->tseq > zone->size ||
        !merkle_verify_inclusion(&leaf, p->tseq - 1, zone->size, p->proof, p->proof_len, &zone->root))
        return "the tenant's head is not at this place in the zone's log";
    if (!p->has_previous)
        return NULL;
    if (!head_is_signed(&p->previous, keys, &before) || !before.is_zone || strcmp(before.zone, zone->zone) != 0)
        return "the earlier head is not the zone's";
    if (before.size == zone->size)
        return p->previous_proof_len == 0 && merkle_eq(&before.root, &zone->root) && merkle_eq(&before.chain,
            &zone->chain) ? NULL :
               "the zone signed two heads of one size";
    return before.size < zone->size && merkle_verify_consistency(before.size, &before.root, zone->size, &zone->root,
                                                                 p->previous_proof, p->previous_proof_len) ? NULL :
           "the zone's head does not extend the earlier one";
}

bool cosignature_text(const struct bundle_head *h, struct buf *b)
{
    buf_add_c(b, "falaj-witness-v1 ");
    return buf_add(b, h->body, h->len);
}

const char *cosignature_fault(const struct cosignature *c, struct head_keys keys, struct head_keys witnesses)
{
    char space[HEAD_BODY_MAX + 64];
    size_t n = strlen("falaj-witness-v1 ");
    struct audit_head head;
    if (!head_is_signed(&c->head, keys, &head))
        return "the head is not signed by a key that was given";
    memcpy(space, "falaj-witness-v1 ", n);
    memcpy(space + n, c->head.body, c->head.len);
    bool is_known = false;
    for (size_t i = 0; i < witnesses.n; i++)
        is_known |= memcmp(witnesses.key[i], c->witness, AUDIT_PUB) == 0;
    if (!is_known)
        return "the witness is none whose key was given";
    return ed25519_verify(c->witness, space, n + c->head.len, c->sig) ? NULL : "the witness did not sign this head";
}
