/* SPDX-License-Identifier: Apache-2.0 */
/* head.c - the signed tree head as canonical bytes. */
#include "audit/head.h"
#include "audit/scan_int.h"

bool audit_head_encode(const struct audit_head *h, struct buf *b)
{
    if (!scan_is_word(str_c(h->zone)) || !scan_is_word(str_c(h->key_id)))
        return false;
    buf_add_c(b, "{\"v\":1,\"log_id\":");
    if (h->is_zone)
        buf_add_c(b, "\"zone\"");
    else
        scan_put_uuid(b, h->tenant_id);
    buf_printf(b, ",\"zone\":\"%s\",\"size\":%llu,\"root\":", h->zone, (unsigned long long)h->size);
    scan_put_hash(b, &h->root);
    buf_add_c(b, ",\"chain\":");
    scan_put_hash(b, &h->chain);
    buf_printf(b, ",\"ts_us\":%lld,\"prev_sth_hash\":", (long long)h->ts_us);
    scan_put_hash(b, &h->prev);
    buf_printf(b, ",\"key_id\":\"%s\"}", h->key_id);
    return !b->overflow;
}

bool audit_head_decode(struct str body, struct audit_head *ret)
{
    struct str s = body;
    struct audit_head h = { 0 };
    if (!scan_lit(&s, "{\"v\":1,\"log_id\":\""))
        return false;
    h.is_zone = scan_lit(&s, "zone\"");
    if (!h.is_zone && !(scan_uuid(&s, &h.tenant_id) && scan_lit(&s, "\"")))
        return false;
    bool is_good = scan_lit(&s, ",\"zone\":") && scan_word(&s, h.zone, sizeof h.zone) && scan_lit(&s, ",\"size\":") &&
                   scan_u64(&s, &h.size) && scan_lit(&s, ",\"root\":") && scan_hash(&s, &h.root) &&
                   scan_lit(&s, ",\"chain\":") && scan_hash(&s, &h.chain) && scan_lit(&s, ",\"ts_us\":") &&
                   scan_i53(&s, &h.ts_us) && scan_lit(&s, ",\"prev_sth_hash\":") && scan_hash(&s, &h.prev) &&
                   scan_lit(&s, ",\"key_id\":") && scan_word(&s, h.key_id, sizeof h.key_id) && scan_lit(&s, "}") && s.len == 0 &&
                           h.size > 0;
    if (is_good)
        *ret = h;
    return is_good;
}
