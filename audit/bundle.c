/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c - the lines of a bundle. One spelling of each line: what does not match it byte for byte is refused. */
#include "audit/bundle.h"
#include "audit/scan_int.h"

void bundle_head_put(struct buf *b, const struct bundle_head *h)
{
    buf_add_c(b, "{\"body\":");
    scan_put_base64(b, h->body, h->len);
    buf_add_c(b, ",\"sig\":");
    scan_put_base64(b, h->sig, AUDIT_SIG);
}

static bool scan_sig(struct str *s, uint8_t sig[AUDIT_SIG])
{
    size_t n;
    return scan_lit(s, "\"sig\":") && scan_base64(s, sig, AUDIT_SIG, &n) && n == AUDIT_SIG;
}

bool bundle_head_scan(struct str *s, struct bundle_head *ret)
{
    return scan_lit(s, "{\"body\":") && scan_base64(s, ret->body, sizeof ret->body, &ret->len) && scan_lit(s, ",") &&
           scan_sig(s, ret->sig);
}

static void put_keys(struct buf *b, const struct bundle_manifest *m)
{
    buf_add_c(b, ",\"keys\":[");
    for (size_t i = 0; i < m->key_count && i < AUDIT_KEYS_MAX; i++) {
        struct merkle_hash pub;
        memcpy(pub.b, m->keys[i].pub, AUDIT_PUB);
        buf_printf(b, "%s{\"key_id\":\"%s\",\"alg\":\"ed25519\",\"public\":", i ? "," : "", m->keys[i].key_id);
        scan_put_hash(b, &pub);
        buf_add_char(b, '}');
    }
    buf_add_c(b, "]}\n");
}

static bool scan_keys(struct str *s, struct bundle_manifest *m)
{
    if (!scan_lit(s, ",\"keys\":["))
        return false;
    while (!scan_lit(s, "]")) {
        struct merkle_hash pub;
        if (m->key_count == AUDIT_KEYS_MAX || (m->key_count && !scan_lit(s, ",")))
            return false;
        struct audit_key *k = &m->keys[m->key_count++];
        if (!scan_lit(s, "{\"key_id\":") || !scan_word(s, k->key_id, sizeof k->key_id) ||
            !scan_lit(s, ",\"alg\":\"ed25519\",\"public\":") || !scan_hash(s, &pub) || !scan_lit(s, "}"))
            return false;
        memcpy(k->pub, pub.b, AUDIT_PUB);
    }
    return true;
}

bool bundle_manifest_encode(const struct bundle_manifest *m, struct buf *b)
{
    if (!scan_is_word(str_c(m->zone)) || !audit_filter_is_valid(&m->filter))
        return false;
    buf_printf(b, "{\"format\":\"falaj-audit-bundle-v%d\",\"tenant\":", m->version == 2 ? 2 : 1);
    scan_put_uuid(b, m->tenant_id);
    buf_printf(b, ",\"zone\":\"%s\",\"from_tseq\":%llu,\"to_tseq\":%llu,\"count\":%llu,\"created_us\":%lld,\"mode\":\"%s\",\"filter\":",
               m->zone, (unsigned long long)m->from, (unsigned long long)m->to, (unsigned long long)m->count,
               (long long)m->created_us, m->is_selection ? "selection" : m->is_filtered ? "filtered" : "range");
    audit_filter_encode(&m->filter, b);
    if (m->is_selection && m->says_inclusion)
        buf_add_c(b, ",\"proves\":\"inclusion\"");
    if (m->is_filtered)
        buf_add_c(b, ",\"proves\":\"completeness\"");
    buf_add_c(b, ",\"head\":");
    bundle_head_put(b, &m->head);
    buf_add_c(b, "},\"previous\":");
    if (m->has_previous) {
        bundle_head_put(b, &m->previous);
        buf_add_c(b, ",\"proof\":");
        scan_put_hashes(b, m->previous_proof, m->previous_proof_len);
        buf_add_c(b, "}");
    } else {
        buf_add_c(b, "null");
    }
    buf_add_c(b, ",\"before\":{\"chain\":");
    scan_put_hash(b, &m->before_chain);
    buf_add_c(b, ",\"nodes\":");
    scan_put_hashes(b, m->before, m->before_len);
    buf_add_c(b, "},\"after\":");
    scan_put_hashes(b, m->after, m->after_len);
    put_keys(b, m);
    return !b->overflow;
}

static bool scan_numbers(struct str *s, struct bundle_manifest *m)
{
    if (!scan_lit(s, "\",\"zone\":") || !scan_word(s, m->zone, sizeof m->zone) || !scan_lit(s, ",\"from_tseq\":") ||
        !scan_u64(s, &m->from) || !scan_lit(s, ",\"to_tseq\":") || !scan_u64(s, &m->to) || !scan_lit(s, ",\"count\":") ||
        !scan_u64(s, &m->count) || !scan_lit(s, ",\"created_us\":") || !scan_i53(s, &m->created_us) ||
        !scan_lit(s, ",\"mode\":\""))
        return false;
    m->is_selection = scan_lit(s, "selection\"");
    m->is_filtered = m->version == 2 && !m->is_selection && scan_lit(s, "filtered\"");
    if ((!m->is_selection && !m->is_filtered && !scan_lit(s, "range\"")) || !scan_lit(s, ",\"filter\":") ||
        !audit_filter_scan(s, &m->filter))
        return false;
    m->says_inclusion = m->is_selection && scan_lit(s, ",\"proves\":\"inclusion\"");
    if (m->version == 2 && m->is_selection != m->says_inclusion)
        return false;
    return !m->is_filtered || scan_lit(s, ",\"proves\":\"completeness\"");
}

bool bundle_manifest_decode(struct str line, struct bundle_manifest *m)
{
    struct str s = line;
    memset(m, 0, sizeof *m);
    m->version = scan_lit(&s, "{\"format\":\"falaj-audit-bundle-v2\"") ? 2 : 1;
    if (m->version == 1 && !scan_lit(&s, "{\"format\":\"falaj-audit-bundle-v1\""))
        return false;
    if (!scan_lit(&s, ",\"tenant\":\"") || !scan_uuid(&s, &m->tenant_id) ||
        !scan_numbers(&s, m) || !scan_lit(&s, ",\"head\":") ||
        !bundle_head_scan(&s, &m->head) || !scan_lit(&s, "},\"previous\":"))
        return false;
    m->has_previous = !scan_lit(&s, "null");
    if (m->has_previous &&
        !(bundle_head_scan(&s, &m->previous) && scan_lit(&s, ",\"proof\":") &&
          scan_hashes(&s, m->previous_proof, MERKLE_PROOF_MAX, &m->previous_proof_len) && scan_lit(&s, "}")))
        return false;
    return scan_lit(&s, ",\"before\":{\"chain\":") && scan_hash(&s, &m->before_chain) && scan_lit(&s, ",\"nodes\":") &&
           scan_hashes(&s, m->before, MERKLE_PROOF_MAX, &m->before_len) && scan_lit(&s, "},\"after\":") &&
           scan_hashes(&s, m->after, BUNDLE_AFTER_MAX, &m->after_len) && scan_keys(&s, m) && scan_lit(&s, "}") && s.len == 0;
}

static bool fits_a_line(struct str event)
{
    for (size_t i = 0; i < event.len; i++)
        if ((unsigned char)event.ptr[i] < 0x20)
            return false;
    return true;
}

static bool put_withheld(const struct bundle_record *r, struct buf *b)
{
    buf_printf(b, "{\"tseq\":%llu,\"chain\":", (unsigned long long)r->tseq);
    scan_put_hash(b, &r->chain);
    buf_add_c(b, ",\"withheld\":{");
    buf_add_str(b, r->opened.member);
    buf_add_c(b, "},\"salt\":");
    scan_put_base64(b, r->opened.salt, AUDIT_SALT);
    buf_add_c(b, ",\"others\":");
    scan_put_base64(b, r->opened.others, sizeof r->opened.others);
    buf_add_c(b, "}\n");
    return !b->overflow;
}

/* The member is what stands before the first `},"salt":"`: no string of an event holds a quote that is not escaped. */
static bool scan_withheld(struct str *s, struct bundle_record *r)
{
    static const char behind[] = "},\"salt\":\"";
    const char *at = s->len ? memmem(s->ptr, s->len, behind, sizeof behind - 1) : NULL;
    size_t salt, others;
    if (!at || (size_t)(at - s->ptr) >= AUDIT_MEMBER_MAX)
        return false;
    r->opened.member = str_n(s->ptr, (size_t)(at - s->ptr));
    *s = str_n(at, s->len - r->opened.member.len);
    return scan_lit(s, "},\"salt\":") && scan_base64(s, r->opened.salt, AUDIT_SALT, &salt) && salt == AUDIT_SALT &&
           scan_lit(s, ",\"others\":") && scan_base64(s, r->opened.others, sizeof r->opened.others, &others) &&
           others == sizeof r->opened.others && scan_lit(s, "}") && s->len == 0;
}

bool bundle_record_encode(const struct bundle_record *r, struct buf *b)
{
    if (r->is_withheld)
        return put_withheld(r, b);
    if (!fits_a_line(r->event))
        return false;
    buf_add_c(b, "{\"tseq\":");
    buf_add_i64(b, (int64_t)r->tseq);
    buf_add_c(b, ",\"leaf\":");
    scan_put_hash(b, &r->leaf);
    if (r->has_proof) {
        buf_add_c(b, ",\"proof\":");
        scan_put_hashes(b, r->proof, r->proof_len);
    } else {
        buf_add_c(b, ",\"chain\":");
        scan_put_hash(b, &r->chain);
    }
    buf_add_c(b, ",\"event\":");
    buf_add_str(b, r->event.ptr ? r->event : STR("null"));
    buf_add_c(b, "}\n");
    return !b->overflow;
}

/* The rest of the line but its last brace. */
static bool scan_event(struct str *s, struct str *ret)
{
    if (!scan_lit(s, ",\"event\":") || s->len < 2 || s->ptr[s->len - 1] != '}')
        return false;
    *ret = str_n(s->ptr, s->len - 1);
    return true;
}

static bool take_opened(struct bundle_record *r)
{
    struct audit_view v;
    if (!audit_member_read(r->opened.member, &v, &r->opened.field))
        return false;
    audit_opened_leaf(&r->opened, &r->leaf);
    return true;
}

bool bundle_record_decode(struct str line, struct bundle_record *r)
{
    struct str s = line;
    r->proof_len = 0;
    r->has_proof = false;
    if (!scan_lit(&s, "{\"tseq\":") || !scan_u64(&s, &r->tseq))
        return false;
    r->is_withheld = scan_lit(&s, ",\"chain\":");
    if (r->is_withheld) {
        r->event = STR_NULL;
        return scan_hash(&s, &r->chain) && scan_lit(&s, ",\"withheld\":{") && scan_withheld(&s, r) && take_opened(r);
    }
    if (!scan_lit(&s, ",\"leaf\":") || !scan_hash(&s, &r->leaf))
        return false;
    r->has_proof = scan_lit(&s, ",\"proof\":");
    if (r->has_proof ? !scan_hashes(&s, r->proof, MERKLE_PROOF_MAX, &r->proof_len)
                     : !(scan_lit(&s, ",\"chain\":") && scan_hash(&s, &r->chain)))
        return false;
    if (!scan_event(&s, &r->event))
        return false;
    if (str_eq_c(r->event, "null"))
        r->event = STR_NULL;
    return true;
}

bool bundle_retention_encode(const struct bundle_record *r, struct buf *b)
{
    if (!r->event.ptr || !fits_a_line(r->event))
        return false;
    buf_add_c(b, "{\"retention\":");
    buf_add_i64(b, (int64_t)r->tseq);
    buf_add_c(b, ",\"proof\":");
    scan_put_hashes(b, r->proof, r->proof_len);
    buf_add_c(b, ",\"event\":");
    buf_add_str(b, r->event);
    buf_add_c(b, "}\n");
    return !b->overflow;
}

bool bundle_retention_decode(struct str line, struct bundle_record *r)
{
    struct str s = line;
    r->has_proof = true;
    return scan_lit(&s, "{\"retention\":") && scan_u64(&s, &r->tseq) && scan_lit(&s, ",\"proof\":") &&
           scan_hashes(&s, r->proof, MERKLE_PROOF_MAX, &r->proof_len) && scan_event(&s, &r->event);
}

bool bundle_checkpoint_encode(const struct bundle_head *h, struct buf *b)
{
    buf_add_c(b, "{\"checkpoint\":");
    bundle_head_put(b, h);
    buf_add_c(b, "}}\n");
    return !b->overflow;
}

bool bundle_checkpoint_decode(struct str line, struct bundle_head *ret)
{
    struct str s = line;
    return scan_lit(&s, "{\"checkpoint\":") && bundle_head_scan(&s, ret) && scan_lit(&s, "}}") && s.len == 0;
}

bool bundle_kept_encode(const struct bundle_head *h, struct buf *b)
{
    bundle_head_put(b, h);
    buf_add_c(b, "}\n");
    return !b->overflow;
}

bool bundle_kept_decode(struct str text, struct bundle_head *ret)
{
    struct str s = text;
    return bundle_head_scan(&s, ret) && scan_lit(&s, "}") && (s.len == 0 || str_eq_c(s, "\n"));
}

bool bundle_end_encode(const struct bundle_end *f, struct buf *b)
{
    buf_printf(b, "{\"end\":{\"count\":%llu,\"sha256\":", (unsigned long long)f->count);
    scan_put_hash(b, &f->sha256);
    buf_add_c(b, ",\"sig\":");
    scan_put_base64(b, f->sig, AUDIT_SIG);
    buf_add_c(b, "}}\n");
    return !b->overflow;
}

bool bundle_end_decode(struct str line, struct bundle_end *ret)
{
    struct str s = line;
    return scan_lit(&s, "{\"end\":{\"count\":") && scan_u64(&s, &ret->count) && scan_lit(&s, ",\"sha256\":") &&
           scan_hash(&s, &ret->sha256) && scan_lit(&s, ",") && scan_sig(&s, ret->sig) && scan_lit(&s, "}}") && s.len == 0;
}
