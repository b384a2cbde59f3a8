/* SPDX-License-Identifier: Apache-2.0 */
/* custody.c - what falaj-keyd does with the keys it keeps.
 *
 * The read lock of the providers is held from the choice of a store to the end of its use, the cache included, so that after a seal
 * nothing is put into the cleared cache. */
#include "keys/custody.h"
#include "core/base/cleanup.h"
#include "keys/keyd_wire.h"

enum errc custody_check_zone(const struct keyd *k, struct str zone, struct err *e)
{
    if (str_eq_c(zone, k->zone))
        return ERR_OK;
    return FAIL(e, RESIDENCY, "this is the key service of zone %s, not of %.*s", k->zone, STR_ARG(zone));
}

enum errc custody_secret(struct secret32 **ret, struct err *e)
{
    *ret = secret32_new();
    return *ret ? ERR_OK : FAIL(e, UNAVAILABLE, "the locked memory of the key service is used up");
}

/* The place of the tenant's own root, or -1. */
static int own_root(const struct keyd *k, struct uuid tenant)
{
    for (size_t i = 0; i < k->options.n_tenant_roots && !uuid_is_nil(tenant); i++)
        if (uuid_eq(k->options.tenant_roots[i].tenant, tenant))
            return (int)i;
    return -1;
}

bool custody_has_own_root(const struct keyd *k, struct uuid tenant)
{
    return own_root(k, tenant) >= 0;
}

enum errc custody_enter(struct keyd *k, struct uuid tenant, struct store *ret, struct err *e)
{
    int own = own_root(k, tenant);
    pthread_rwlock_rdlock(&k->provider_lock);
    *ret = own >= 0 ? (struct store){ k->options.tenant_roots[own].provider, k->tenant_provider[own] }
                    : (struct store){ k->options.provider, k->provider };
    if (ret->p)
        return ERR_OK;
    pthread_rwlock_unlock(&k->provider_lock);
    return FAIL(e, SEALED, "the keys of zone %s are sealed by the operator", k->zone);
}

void custody_leave(struct keyd *k)
{
    pthread_rwlock_unlock(&k->provider_lock);
}

enum errc custody_random(struct keyd *k, struct secret32 *ret, struct err *e)
{
    struct store s;
    TRY(custody_enter(k, UUID_NIL, &s, e));
    enum errc rc = s.f->random(s.p, ret->b, KEY_BYTES, e);
    custody_leave(k);
    return rc;
}

static enum errc check(const struct keyd *k, const struct tkek_ref *t, struct err *e)
{
    TRY(tkek_ref_check(t, e));
    return custody_check_zone(k, t->zone, e);
}

enum errc custody_tkek_wrap(struct keyd *k, const struct tkek_ref *t, const struct secret32 *key, struct key_blob *ret, struct err *e)
{
    struct aad aad;
    struct store s;
    TRY(check(k, t, e));
    tkek_aad(t, &aad);
    TRY(custody_enter(k, t->tenant, &s, e));
    enum errc rc = s.f->wrap(s.p, tkek_head(t, 0), &aad, key, ret, e);
    custody_leave(k);
    return rc;
}

enum errc custody_tkek_open(struct keyd *k, const struct tkek_ref *t, const struct key_blob *tkek, struct secret32 *ret, struct err *e)
{
    struct aad aad;
    struct store s;
    uint8_t key[32];
    TRY(check(k, t, e));
    tkek_aad(t, &aad);
    tkek_cache_key(&aad, tkek, key);
    TRY(custody_enter(k, t->tenant, &s, e));
    enum errc rc = ERR_OK;
    if (!tkek_cache_get(k->cache, key, wire_now_us(), ret)) {
        rc = s.f->unwrap(s.p, tkek_head(t, 0), &aad, tkek, ret, e);
        if (rc == ERR_OK)
            tkek_cache_put(k->cache, key, wire_now_us(), ret);
    }
    custody_leave(k);
    return rc;
}

/* The object a reference names; the store is entered when OK. */
static enum errc object_enter(struct keyd *k, const struct tkek_ref *t, const struct key_blob *tkek, struct key_object *o,
                              struct store *s, struct err *e)
{
    TRY(sovereign_read(t, tkek, o->id, e));
    sovereign_label(t, o->label);
    TRY(custody_enter(k, t->tenant, s, e));
    if (s->f->object_wrap)
        return ERR_OK;
    custody_leave(k);
    return FAIL(e, UNPROCESSABLE, "the %s key store has no keys of single tenants", s->f->name);
}

enum errc custody_dek_wrap(struct keyd *k, const struct tkek_ref *t, const struct key_blob *tkek, const struct dek_ref *d,
                           const struct secret32 *dek, struct key_blob *ret, struct err *e)
{
    struct key_object o;
    struct store s;
    struct aad aad;
    TRY(check(k, t, e));
    TRY(dek_ref_check(d, e));
    if (!tkek_is_sovereign(tkek)) {
        CLEANUP(secret32_freep) struct secret32 *key = NULL;
        TRY(custody_secret(&key, e));
        TRY(custody_tkek_open(k, t, tkek, key, e));
        return dek_wrap(key, t, d, dek, ret, e);
    }
    TRY(dek_under_tkek(d, t, e));
    dek_aad(d, &aad);
    TRY(object_enter(k, t, tkek, &o, &s, e));
    enum errc rc = s.f->object_wrap(s.p, &o, dek_head(d, t->version), &aad, dek, ret, e);
    custody_leave(k);
    return rc;
}

enum errc custody_dek_unwrap(struct keyd *k, const struct tkek_ref *t, const struct key_blob *tkek, const struct dek_ref *d,
                             const struct key_blob *wrapped, struct secret32 *ret, struct err *e)
{
    struct key_object o;
    struct store s;
    struct aad aad;
    TRY(check(k, t, e));
    TRY(dek_ref_check(d, e));
    if (!tkek_is_sovereign(tkek)) {
        CLEANUP(secret32_freep) struct secret32 *key = NULL;
        TRY(custody_secret(&key, e));
        TRY(custody_tkek_open(k, t, tkek, key, e));
        return dek_unwrap(key, t, d, wrapped, ret, e);
    }
    TRY(dek_under_tkek(d, t, e));
    dek_aad(d, &aad);
    TRY(object_enter(k, t, tkek, &o, &s, e));
    enum errc rc = s.f->object_unwrap(s.p, &o, dek_head(d, t->version), &aad, wrapped, ret, e);
    custody_leave(k);
    return rc;
}
