/* SPDX-License-Identifier: Apache-2.0 */
/* verify_drop.c - entries without body: the log's own retention entries say which ones it dropped.
 *
 * They stand before the records, out of their place in the log and therefore with inclusion proofs, since they are younger than
 * what they list. What is missing without them was not dropped by retention. */
#include "audit/record.h"
#include "audit/verify_int.h"

bool verify_retention(struct verifier *v, struct str line)
{
    struct bundle_record *r = &v->record;
    struct merkle_hash leaf;
    const struct audit_head *head = &v->ret->head;
    if (!bundle_retention_decode(line, r) || v->seen > 0)
        return verify_bad(v, VERIFY_MALFORMED, 0, v->seen > 0 ? "a retention entry stands behind the first record" :
                "a retention entry does not parse");
    if (r->tseq <= v->last_retention || r->tseq > head->size)
        return verify_bad(v, VERIFY_MALFORMED, 0, "retention entries ascend within the log");
    v->last_retention = r->tseq;
    merkle_leaf(r->event.ptr, r->event.len, &leaf);
    if (!merkle_verify_inclusion(&leaf, r->tseq - 1, head->size, r->proof, r->proof_len, &head->root))
        return verify_bad(v, VERIFY_EDITED, r->tseq, "the retention entry is not at this place in the tree of the signed head");
    if (!audit_record_read(r->event, &v->view) || !uuid_eq(v->view.tenant_id, v->m.tenant_id) ||
        !drop_list_add(&v->drops, &v->view, r->tseq))
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
