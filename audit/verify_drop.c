/* SPDX-License-Identifier: Apache-2.0 */
/* verify_drop.c - entries without body: the log's own retention entries say which ones it dropped.
 *
 * They stand before the records, out of their place in the log and therefore with inclusion proofs, since they are younger than
 * what they list. What is missing without them was not dropped by retention. */
#include "audit/record.h"
#include "audit/verify_int.h"

static bool is_at(const struct merkle_hash *leaf, const struct bundle_record *r, const struct audit_head *head)
{
    return merkle_verify_inclusion(leaf, r->tseq - 1, head->size, r->proof, r->proof_len, &head->root);
}

bool verify_retention(struct verifier *v, struct str line)
{
    struct bundle_record *r = &v->room.record;
    struct merkle_hash leaf;
    struct audit_fields fields;
    const struct audit_head *head = &v->ret->head;
    if (!bundle_retention_decode(line, r) || v->seen > 0)
        return verify_bad(v, VERIFY_MALFORMED, 0, v->seen > 0 ? "a retention entry stands behind the first record" :
                "a retention entry does not parse");
    if (r->tseq <= v->last_retention || r->tseq > head->size)
        return verify_bad(v, VERIFY_MALFORMED, 0, "retention entries ascend within the log");
    v->last_retention = r->tseq;
    merkle_leaf(r->event.ptr, r->event.len, &leaf);
    bool is_event = audit_record_read(r->event, &v->room.view);
    bool is_here = is_at(&leaf, r, head);
    if (!is_here && is_event && v->m.version == 2) {
        audit_fields_of(&v->room.view, &leaf, &fields);
        is_here = is_at(&fields.leaf, r, head);
    }
    if (!is_here)
        return verify_bad(v, VERIFY_EDITED, r->tseq, "the retention entry is not at this place in the tree of the signed head");
    if (!is_event || !uuid_eq(v->room.view.tenant_id, v->m.tenant_id) ||
        !drop_list_add(&v->drops, &v->room.view, r->tseq))
        return verify_bad(v, VERIFY_MALFORMED, r->tseq, "the entry is no list of what retention dropped");
    return true;
}

bool verify_dropped(struct verifier *v, uint64_t tseq)
{
    v->ret->dropped++;
    if (drop_list_has(&v->drops, tseq))
        return true;
    v->ret->unproved++;
    return v->opts->allow_unproved_drops ||
           verify_bad(v, VERIFY_EDITED, tseq, "the event is not in the bundle, and no retention entry of the log says that it "
               "was dropped");
}
