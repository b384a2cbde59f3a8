/* SPDX-License-Identifier: Apache-2.0 */
/* verify_report.c - a verdict as members of JSON and as sentences: what was checked, against what, and what was not.
 *
 * falaj-verify and `falaj audit verify` print these, so that both say the same. */
#include "audit/verify.h"

void verify_put_members(const struct verify_result *r, struct buf *b)
{
    buf_printf(b, ",\"mode\":\"%s\",\"filter\":", r->is_selection ? "selection" : r->is_filtered ? "filtered" : "range");
    audit_filter_encode(&r->filter, b);
    buf_printf(b, ",\"proves\":\"%s\",\"key\":\"%s\",\"unproved_drops\":%llu,\"checkpoints\":%llu,\"withheld\":%llu",
               r->is_selection ? "inclusion" : r->is_filtered ? "completeness" : "range", r->pinned ? "pinned" : "embedded",
               (unsigned long long)r->unproved, (unsigned long long)r->checkpoints,
               (unsigned long long)r->withheld);
}

void verify_put_claim(const struct verify_result *r, struct buf *b)
{
    if (r->is_selection) {
        buf_add_c(b, "Mode: selection, filter ");
        audit_filter_encode(&r->filter, b);
        buf_add_c(b, ". Each entry here is in the log and fits; that no other entry would have fitted is NOT proven (a "
            "range or a filtered range shows it).\n");
    } else if (r->is_filtered) {
        buf_add_c(b, "Mode: filtered range, filter ");
        audit_filter_encode(&r->filter, b);
        buf_printf(b, ". Every entry from %llu to %llu that fits is here: %llu. The other %llu show one field each that does not "
                "fit, so none was left out.\n", (unsigned long long)r->from, (unsigned long long)r->to,
                (unsigned long long)(r->count - r->withheld - r->dropped), (unsigned long long)r->withheld);
    } else {
        buf_printf(b, "Mode: range, no filter. Every entry from %llu to %llu is here.\n", (unsigned long long)r->from,
                (unsigned long long)r->to);
    }
    if (r->is_filtered && r->dropped)
        buf_printf(b, "Whether the %llu entries without body would have fitted, nothing says.\n", (unsigned long long)r->dropped);
    if (r->dropped > r->unproved)
        buf_printf(b, "%llu entries have no body any more; the log's own retention entries list them.\n",
                   (unsigned long long)(r->dropped - r->unproved));
    if (r->unproved)
        buf_printf(b, "UNPROVED: %llu entries have no body and no retention entry lists them. Anybody may have taken these "
            "bodies; their place is proven.\n",
                   (unsigned long long)r->unproved);
    if (!r->pinned)
        buf_add_c(b, "UNTRUSTED KEY: the key came with the bundle, so this shows only that the bundle fits itself. Anybody can "
            "make such a bundle.\n");
}

bool verify_read_kept(struct str file, struct bundle_head *ret, bool *ret_unsigned)
{
    struct audit_head head;
    *ret_unsigned = false;
    if (bundle_kept_decode(file, ret))
        return audit_head_decode(str_n(ret->body, ret->len), &head);
    if (file.len && file.ptr[file.len - 1] == '\n')
        file.len--;
    if (file.len > sizeof ret->body || !audit_head_decode(file, &head))
        return false;
    *ret = (struct bundle_head){ .len = file.len };
    memcpy(ret->body, file.ptr, file.len);
    *ret_unsigned = true;
    return true;
}
