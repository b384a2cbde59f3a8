/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - the leaf of an entry whose fields can be shown one by one: eight short hashes where an older leaf has one. */
#include "audit/fields.h"
#include <string.h>
#include "core/base/assert.h"
#include "core/crypto/hash.h"

enum { TAG_LEAF = 3, TAG_SALT = 4, TAG_SEAL = 5 };

/* The two salts of members 2n and 2n + 1. */
static void make_salts(const struct merkle_hash *plain, uint8_t n, uint8_t out[2][AUDIT_SALT])
{
    uint8_t in[2 + MERKLE_HASH] = { TAG_SALT, n }, both[SHA256_BYTES];
    memcpy(in + 2, plain->b, MERKLE_HASH);
    sha256(in, sizeof in, both);
    memcpy(out, both, sizeof both);
}

static void make_seal(const uint8_t salt[AUDIT_SALT], struct str member, bool is_open, struct merkle_hash *ret)
{
    uint8_t in[1 + AUDIT_SALT + AUDIT_MEMBER_MAX] = { TAG_SEAL };
    size_t n = 1 + AUDIT_SALT + member.len;
    ASSERT(member.len < AUDIT_MEMBER_MAX);
    memcpy(in + 1, salt, AUDIT_SALT);
    memcpy(in + 1 + AUDIT_SALT, member.ptr, member.len);
    if (is_open)
        in[n++] = '}';
    sha256(in, n, ret->b);
}

static void make_leaf(const struct merkle_hash seal[AUDIT_FIELDS], struct merkle_hash *ret)
{
    uint8_t in[1 + AUDIT_FIELDS * MERKLE_HASH] = { TAG_LEAF };
    memcpy(in + 1, seal, AUDIT_FIELDS * sizeof *seal);
    sha256(in, sizeof in, ret->b);
}

void audit_fields_of(const struct audit_view *v, const struct merkle_hash *plain, struct audit_fields *ret)
{
    for (uint8_t i = 0; i < AUDIT_FIELDS; i += 2)
        make_salts(plain, i / 2, ret->salt + i);
    for (int i = 0; i < AUDIT_FIELDS; i++)
        make_seal(ret->salt[i], v->member[i], i == AUDIT_FIELD_ACTOR, &ret->seal[i]);
    make_leaf(ret->seal, &ret->leaf);
}

bool audit_leaf_is(struct str event, const struct merkle_hash *leaf, struct audit_view *v)
{
    struct merkle_hash plain;
    struct audit_fields f;
    merkle_leaf(event.ptr, event.len, &plain);
    if (merkle_eq(&plain, leaf))
        return true;
    if (!audit_record_read(event, v))
        return false;
    audit_fields_of(v, &plain, &f);
    return merkle_eq(&f.leaf, leaf);
}

void audit_open(const struct audit_view *v, const struct audit_fields *f, enum audit_field which, char *text,
                struct audit_opened *ret)
{
    struct str m = v->member[which];
    ASSERT(m.len < AUDIT_MEMBER_MAX);
    memcpy(text, m.ptr, m.len);
    if (which == AUDIT_FIELD_ACTOR)
        text[m.len++] = '}';
    ret->field = which;
    ret->member = str_n(text, m.len);
    memcpy(ret->salt, f->salt[which], AUDIT_SALT);
    for (int i = 0, n = 0; i < AUDIT_FIELDS; i++)
        if (i != (int)which)
            ret->others[n++] = f->seal[i];
}

void audit_opened_leaf(const struct audit_opened *o, struct merkle_hash *ret)
{
    struct merkle_hash seal[AUDIT_FIELDS];
    for (int i = 0, n = 0; i < AUDIT_FIELDS; i++)
        if (i != (int)o->field)
            seal[i] = o->others[n++];
    make_seal(o->salt, o->member, false, &seal[o->field]);
    make_leaf(seal, ret);
}
