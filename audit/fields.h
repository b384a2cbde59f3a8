/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - the leaf of an entry whose fields can be shown one by one, so that a filtered range proves what it leaves out
 * (docs/audit-format.md §2).
 *
 *   plain = SHA-256(0x00 || event)                             the whole leaf of entries that older versions numbered
 *   salt  = half of SHA-256(0x04 || number of the pair || plain)
 *   seal  = SHA-256(0x05 || salt || member)                    of each of the four members that a filter asks about
 *   leaf  = SHA-256(0x03 || the four seals)
 *
 * Who has the event makes all of it, so nothing is stored beside the event and what retention drops takes its salts along. Who
 * gets
 * one opened member learns that member: the salts of the others come from the event's hash, which he does not have. The leaf
 * binds
 * the whole event, because the salts do. Pure. */
#pragma once
#include "audit/merkle.h"
#include "audit/record_read.h"

enum { AUDIT_SALT = 16, AUDIT_MEMBER_MAX = 512 };

struct audit_fields {
    struct merkle_hash leaf, seal[AUDIT_FIELDS];
    uint8_t salt[AUDIT_FIELDS][AUDIT_SALT];
};
/* v: what audit_record_read made of the event; plain: merkle_leaf of its bytes. */
void audit_fields_of(const struct audit_view *v, const struct merkle_hash *plain, struct audit_fields *ret);
/* Is this the leaf of an event with these bytes? Entries of older versions have the plain one. The view is room to read in. */
bool audit_leaf_is(struct str event, const struct merkle_hash *leaf, struct audit_view *v);

/* One member of an event that is not shown, and what makes the leaf of it. */
struct audit_opened {
    enum audit_field field;
    struct str member;              /* as in the event, an actor's with its closing brace; borrowed */
    uint8_t salt[AUDIT_SALT];
    struct merkle_hash others[AUDIT_FIELDS - 1];    /* the other seals, in order */
};
/* text: at least AUDIT_MEMBER_MAX bytes, for the member. */
void audit_open(const struct audit_view *v, const struct audit_fields *f, enum audit_field which, char *text,
                struct audit_opened *ret);
void audit_opened_leaf(const struct audit_opened *o, struct merkle_hash *ret);
