/* SPDX-License-Identifier: Apache-2.0 */
/* attest_wire.c - an attestation as part of a message: flags, numbers, the texts of one table, keys, lists. */
#include "keys/keyd_wire.h"
#include <stddef.h>

enum { ROOT_SENSITIVE = 1, ROOT_ALWAYS_SENSITIVE = 2, ROOT_EXTRACTABLE = 4, ROOT_NEVER_EXTRACTABLE = 8, ROOT_LOCAL = 16 };
enum { HAS_SEALED = 1, HAS_HARDWARE = 2, HAS_SIGNING = 4, HAS_IMPORT = 8, HAS_OBJECTS = 16 };

static const struct {
    size_t at, cap;
} texts[] = {
#define TEXT(member) { offsetof(struct attest, member), sizeof((struct attest *)NULL)->member }
    TEXT(provider),           TEXT(mechanism),   TEXT(module),       TEXT(library),  TEXT(token_label),
    TEXT(token_manufacturer), TEXT(token_model), TEXT(token_serial), TEXT(firmware), TEXT(hardware),
    TEXT(reason),
#undef TEXT
};

static uint32_t at_most(uint32_t n, uint32_t max)
{
    return n < max ? n : max;
}

static void put_root(struct buf *b, const struct attest_root *r)
{
    wire_put_u32(b, r->version);
    wire_put_u8(b, (uint8_t)((r->is_sensitive ? ROOT_SENSITIVE : 0) | (r->is_always_sensitive ? ROOT_ALWAYS_SENSITIVE : 0)
                             | (r->is_extractable ? ROOT_EXTRACTABLE : 0) | (r->is_never_extractable ? ROOT_NEVER_EXTRACTABLE : 0)
                             | (r->is_local ? ROOT_LOCAL : 0)));
    wire_put_text(b, str_c(r->label));
}

void wire_put_attest(struct buf *b, const struct attest *a)
{
    wire_put_u8(b, (uint8_t)((a->is_sealed ? HAS_SEALED : 0) | (a->is_hardware ? HAS_HARDWARE : 0) | (a->has_signing_key ? HAS_SIGNING : 0)
                             | (a->has_import_key ? HAS_IMPORT : 0) | (a->has_objects ? HAS_OBJECTS : 0)));
    wire_put_u32(b, a->current_root);
    wire_put_u32(b, a->oldest_root);
    wire_put_u32(b, a->n_roots);
    wire_put_u32(b, a->n_tenants);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wire_put_text(b, str_c((const char *)a + texts[i].at));
    wire_put_raw(b, a->signing_key_id, sizeof a->signing_key_id);
    wire_put_raw(b, a->import_point, sizeof a->import_point);
    for (uint32_t i = 0; i < at_most(a->n_roots, ATTEST_ROOTS_MAX); i++)
        put_root(b, &a->roots[i]);
    for (uint32_t i = 0; i < at_most(a->n_tenants, ATTEST_TENANTS_MAX); i++) {
        wire_put_raw(b, a->tenants[i].tenant.b, sizeof a->tenants[i].tenant.b);
        wire_put_u8(b, a->tenants[i].is_sealed);
        wire_put_text(b, str_c(a->tenants[i].token_label));
    }
}

void wire_text_into(struct wire_in *in, char *ret, size_t cap)
{
    struct str s = wire_text(in);
    if (s.len >= cap) {
        in->bad = true;
        s.len = 0;
    }
    if (s.len > 0)
        memcpy(ret, s.ptr, s.len);
    ret[s.len] = '\0';
}

static void get_root(struct wire_in *in, struct attest_root *r)
{
    r->version = wire_u32(in);
    uint8_t flags = wire_u8(in);
    r->is_sensitive = flags & ROOT_SENSITIVE;
    r->is_always_sensitive = flags & ROOT_ALWAYS_SENSITIVE;
    r->is_extractable = flags & ROOT_EXTRACTABLE;
    r->is_never_extractable = flags & ROOT_NEVER_EXTRACTABLE;
    r->is_local = flags & ROOT_LOCAL;
    wire_text_into(in, r->label, sizeof r->label);
}

void wire_attest(struct wire_in *in, struct attest *ret)
{
    memset(ret, 0, sizeof *ret);
    uint8_t flags = wire_u8(in);
    ret->is_sealed = flags & HAS_SEALED;
    ret->is_hardware = flags & HAS_HARDWARE;
    ret->has_signing_key = flags & HAS_SIGNING;
    ret->has_import_key = flags & HAS_IMPORT;
    ret->has_objects = flags & HAS_OBJECTS;
    ret->current_root = wire_u32(in);
    ret->oldest_root = wire_u32(in);
    ret->n_roots = wire_u32(in);
    ret->n_tenants = wire_u32(in);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wire_text_into(in, (char *)ret + texts[i].at, texts[i].cap);
    wire_raw(in, ret->signing_key_id, sizeof ret->signing_key_id);
    wire_raw(in, ret->import_point, sizeof ret->import_point);
    for (uint32_t i = 0; i < at_most(ret->n_roots, ATTEST_ROOTS_MAX); i++)
        get_root(in, &ret->roots[i]);
    for (uint32_t i = 0; i < at_most(ret->n_tenants, ATTEST_TENANTS_MAX); i++) {
        wire_raw(in, ret->tenants[i].tenant.b, sizeof ret->tenants[i].tenant.b);
        ret->tenants[i].is_sealed = wire_u8(in);
        wire_text_into(in, ret->tenants[i].token_label, sizeof ret->tenants[i].token_label);
    }
}
