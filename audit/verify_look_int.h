/* SPDX-License-Identifier: Apache-2.0 */
/* verify_look_int.h - what a line of a bundle says by itself: everything that needs the manifest and no other line.
 *
 * Reading an entry, hashing its event and asking the filter about it is most of a verification, and any thread may do it. What
 * the facts mean for the log, and which fault is the first, verify.c decides in the order of the lines. Pure. */
#pragma once
#include "audit/bundle.h"

/* What every line is looked at with; v->m and the signed head once the manifest has been judged. */
struct look_case {
    const struct bundle_manifest *m;
    const struct audit_head *head;
};
/* Room to read in, 20 KiB; nothing in it outlives a call. */
struct look_room {
    struct bundle_record record;
    struct audit_view view;
};
struct line_facts {
    struct str line;
    /* An entry, in the form that the bundle's mode has: what follows is set. */
    bool is_record;
    bool has_event, is_withheld;
    bool is_opened;                 /* has an event that begins as one does … */
    bool is_own;                    /* … and it is this tenant's */
    bool is_leaf;                   /* the event has the hash that the entry says */
    /* The filter could be asked, and lets the event through; of what is withheld: what is shown does not refute the filter. */
    bool is_read, is_through;
    bool is_placed;                 /* of a selection: its proof leads to the signed root */
    uint64_t tseq;
    struct merkle_hash leaf, chain;
};

void verify_look(const struct look_case *c, struct str line, struct look_room *room, struct line_facts *ret);
