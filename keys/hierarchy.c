/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy.c - the key hierarchy as data. */
#include "keys/hierarchy.h"
#include <stdio.h>

static bool is_name(struct str s, size_t max)
{
    if (s.len == 0 || s.len > max)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'))
            return false;
    }
    return true;
}

enum errc tkek_ref_check(const struct tkek_ref *t, struct err *e)
{
    if (!is_name(t->zone, KEY_ZONE_MAX))
        return FAIL_AT(e, INVALID, "/zone", "a zone is 1 to %d of a-z, 0-9, '.', '_' and '-'", KEY_ZONE_MAX);
    if (!is_name(t->purpose, KEY_PURPOSE_MAX))
        return FAIL_AT(e, INVALID, "/purpose", "a purpose is 1 to %d of a-z, 0-9, '.', '_' and '-'", KEY_PURPOSE_MAX);
    if (t->version == 0)
        return FAIL_AT(e, INVALID, "/version", "versions of a tenant key start at 1");
    return ERR_OK;
}

enum errc dek_ref_check(const struct dek_ref *d, struct err *e)
{
    if (!is_name(d->zone, KEY_ZONE_MAX))
        return FAIL_AT(e, INVALID, "/zone", "a zone is 1 to %d of a-z, 0-9, '.', '_' and '-'", KEY_ZONE_MAX);
    if (!is_name(d->object_kind, KEY_KIND_MAX))
        return FAIL_AT(e, INVALID, "/object_kind", "a kind is 1 to %d of a-z, 0-9, '.', '_' and '-'", KEY_KIND_MAX);
    if (uuid_is_nil(d->object_id))
        return FAIL_AT(e, INVALID, "/object_id", "a data key belongs to an object");
    if (d->object_version == 0)
        return FAIL_AT(e, INVALID, "/object_version", "versions of an object start at 1");
    if (uuid_is_nil(d->dek_id))
        return FAIL_AT(e, INVALID, "/dek_id", "a data key has an id");
    return ERR_OK;
}

enum errc dek_under_tkek(const struct dek_ref *d, const struct tkek_ref *t, struct err *e)
{
    if (!str_eq(d->zone, t->zone) || !uuid_eq(d->tenant, t->tenant))
        return FAIL(e, INVALID, "the data key and the tenant key are of different zones or tenants");
    return ERR_OK;
}

uint32_t tkek_root_version(const struct key_blob *blob)
{
    struct blob_head head;
    struct err ignored;
    return blob_parse(blob->b, blob->n, &head, &ignored) == ERR_OK ? head.version : 0;
}

void tkek_aad(const struct tkek_ref *t, struct aad *ret)
{
    aad_init(ret, "falaj-kek-v1");
    aad_str(ret, t->zone);
    aad_uuid(ret, t->tenant);
    aad_str(ret, t->purpose);
    aad_u32(ret, t->version);
}

void dek_aad(const struct dek_ref *d, struct aad *ret)
{
    aad_init(ret, "falaj-dek-v1");
    aad_str(ret, d->zone);
    aad_uuid(ret, d->tenant);
    aad_str(ret, d->object_kind);
    aad_uuid(ret, d->object_id);
    aad_u32(ret, d->object_version);
    aad_uuid(ret, d->dek_id);
}

struct blob_head tkek_head(const struct tkek_ref *t, uint32_t root_version)
{
    return (struct blob_head){ .zone = zone_tag(t->zone), .tenant = t->tenant, .version = root_version };
}

struct blob_head dek_head(const struct dek_ref *d, uint32_t tkek_version)
{
    return (struct blob_head){ .zone = zone_tag(d->zone), .tenant = d->tenant, .version = tkek_version };
}

bool tkek_is_sovereign(const struct key_blob *tkek)
{
    struct blob_head head;
    return blob_parse(tkek->b, tkek->n, &head, NULL) == ERR_OK && head.alg == BLOB_TOKEN_OBJECT;
}

void sovereign_label(const struct tkek_ref *t, char ret[SOVEREIGN_LABEL_MAX])
{
    char tenant[2 * sizeof t->tenant.b + 1];
    hex_encode(t->tenant.b, sizeof t->tenant.b, tenant);
    snprintf(ret, SOVEREIGN_LABEL_MAX, "falaj-tkek-%.*s-%s-%.*s-v%u", STR_ARG(t->zone), tenant, STR_ARG(t->purpose), t->version);
}

void sovereign_make(const struct tkek_ref *t, const uint8_t id[SOVEREIGN_ID], struct key_blob *ret)
{
    struct blob_head head = tkek_head(t, t->version);
    head.alg = BLOB_TOKEN_OBJECT;
    blob_head_write(&head, ret->b);
    memcpy(ret->b + BLOB_HEAD, id, SOVEREIGN_ID);
    ret->n = SOVEREIGN_BLOB;
}

enum errc sovereign_read(const struct tkek_ref *t, const struct key_blob *tkek, uint8_t ret_id[SOVEREIGN_ID], struct err *e)
{
    struct key_blob expect;
    if (tkek->n != SOVEREIGN_BLOB)
        return FAIL(e, DAMAGED, "the reference to the tenant key has the wrong size");
    sovereign_make(t, tkek->b + BLOB_HEAD, &expect);
    if (memcmp(expect.b, tkek->b, SOVEREIGN_BLOB) != 0)
        return FAIL(e, DAMAGED, "the reference to the tenant key does not belong to this place");
    memcpy(ret_id, tkek->b + BLOB_HEAD, SOVEREIGN_ID);
    return ERR_OK;
}

enum errc dek_wrap(const struct secret32 *tkek, const struct tkek_ref *t, const struct dek_ref *d, const struct secret32 *dek,
                   struct key_blob *ret, struct err *e)
{
    struct aad aad;
    struct blob_head head = dek_head(d, t->version);
    size_t n = 0;
    TRY(dek_under_tkek(d, t, e));
    dek_aad(d, &aad);
    TRY(blob_seal(tkek, &head, &aad, dek->b, KEY_BYTES, ret->b, sizeof ret->b, &n, e));
    ret->n = (uint16_t)n;
    return ERR_OK;
}

enum errc dek_unwrap(const struct secret32 *tkek, const struct tkek_ref *t, const struct dek_ref *d, const struct key_blob *blob,
                     struct secret32 *ret, struct err *e)
{
    struct aad aad;
    struct blob_head head = dek_head(d, t->version);
    size_t n = 0;
    TRY(dek_under_tkek(d, t, e));
    if (blob->n != BLOB_OVERHEAD + KEY_BYTES)
        return FAIL(e, DAMAGED, "the wrapped data key has the wrong size");
    dek_aad(d, &aad);
    return blob_open(tkek, &head, &aad, blob->b, blob->n, ret->b, KEY_BYTES, &n, e);
}
