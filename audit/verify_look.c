/* SPDX-License-Identifier: Apache-2.0 */
/* verify_look.c - what a line of a bundle says by itself. */
#include "audit/verify_look_int.h"
#include "audit/record.h"

/* With a proof in a selection, else with a chain value; without a body and with a field of it in a filtered range only. */
static bool is_form(const struct bundle_manifest *m, const struct bundle_record *r)
{
    return r->has_proof == m->is_selection && (!r->is_withheld || m->is_filtered);
}

/* Is this the leaf of the event, in either of the forms that the bundle's version allows? */
static bool is_leaf(const struct bundle_manifest *m, const struct bundle_record *r, struct audit_view *view)
{
    struct merkle_hash plain;
    if (m->version == 2)
        return audit_leaf_is(r->event, &r->leaf, view);
    merkle_leaf(r->event.ptr, r->event.len, &plain);
    return merkle_eq(&plain, &r->leaf);
}

/* A bundle says itself what was asked for: an entry that was not cannot be in it, and what is left out shows why. */
static void ask_filter(const struct bundle_manifest *m, const struct bundle_record *r, struct audit_view *view,
                       struct line_facts *f)
{
    enum audit_field field;
    f->is_read = f->is_through = true;
    if (r->is_withheld) {
        f->is_read = audit_member_read(r->opened.member, view, &field);
        f->is_through = !f->is_read || !audit_filter_refutes(view, field, &m->filter);
    } else if (r->event.ptr && !audit_filter_is_empty(&m->filter)) {
        f->is_read = audit_record_read(r->event, view);
        f->is_through = f->is_read && audit_filter_match(view, &m->filter);
    }
}

void verify_look(const struct look_case *c, struct str line, struct look_room *room, struct line_facts *f)
{
    struct bundle_record *r = &room->record;
    const struct bundle_manifest *m = c->m;
    struct audit_opening open;
    f->line = line;
    f->is_record = bundle_record_decode(line, r) && is_form(m, r);
    if (!f->is_record)
        return;
    f->tseq = r->tseq;
    f->leaf = r->leaf;
    f->chain = r->chain;
    f->is_withheld = r->is_withheld;
    f->has_event = r->event.ptr;
    f->is_opened = f->has_event && audit_event_opening(r->event, &open);
    f->is_own = f->is_opened && uuid_eq(open.tenant_id, m->tenant_id);
    f->is_leaf = f->has_event && is_leaf(m, r, &room->view);
    ask_filter(m, r, &room->view, f);
    f->is_placed = m->is_selection &&
                   merkle_verify_inclusion(&r->leaf, r->tseq - 1, c->head->size, r->proof, r->proof_len, &c->head->root);
}
