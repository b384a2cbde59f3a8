/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_root.c - the verbs of falaj-keyd about roots, imported and sovereign keys, and attestation. */
#include <stdio.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "keys/verbs_int.h"

/* zone, tenant: the store whose root is meant; entered when OK. A tenant that is named must have one of its own. */
static enum errc root_store(struct call *c, struct str zone, struct uuid tenant, struct store *s, struct err *e)
{
    TRY(custody_check_zone(c->k, zone, e));
    if (!uuid_is_nil(tenant) && !custody_has_own_root(c->k, tenant))
        return FAIL(e, NOT_FOUND, "that tenant has no root of its own in this zone");
    return custody_enter(c->k, tenant, s, e);
}

enum errc verb_root_new(struct call *c, struct err *e)
{
    struct store s;
    uint32_t version = 0;
    struct str zone = wire_text(&c->in);
    wire_raw(&c->in, c->tenant.b, sizeof c->tenant.b);
    TRY(call_read_all(c, e));
    TRY(root_store(c, zone, c->tenant, &s, e));
    enum errc rc = s.f->root_new(s.p, &version, e);
    custody_leave(c->k);
    TRY(rc);
    log_event(LOG_WARN, "keyd.root_new", "zone", LOG_S(c->k->zone), "version", LOG_I(version), "tenant", LOG_ID("tnt", c->tenant), NULL);
    wire_put_u32(c->out, version);
    return ERR_OK;
}

enum errc verb_root_destroy(struct call *c, struct err *e)
{
    struct store s;
    bool was_there = false;
    struct str zone = wire_text(&c->in);
    wire_raw(&c->in, c->tenant.b, sizeof c->tenant.b);
    uint32_t version = wire_u32(&c->in);
    TRY(call_read_all(c, e));
    TRY(root_store(c, zone, c->tenant, &s, e));
    enum errc rc = s.f->root_destroy(s.p, version, &was_there, e);
    tkek_cache_clear(c->k->cache);      /* whatever came of it: no key outlives its root here */
    custody_leave(c->k);
    TRY(rc);
    log_event(LOG_WARN, "keyd.root_destroyed", "zone", LOG_S(c->k->zone), "version", LOG_I(version), "was_there", LOG_I(was_there),
              "tenant", LOG_ID("tnt", c->tenant), NULL);
    wire_put_u8(c->out, was_there);
    return ERR_OK;
}

enum errc verb_import_public(struct call *c, struct err *e)
{
    struct store s;
    uint8_t point[P256_POINT];
    struct str zone = wire_text(&c->in);
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(c->k, zone, e));
    TRY(custody_enter(c->k, UUID_NIL, &s, e));
    enum errc rc = s.f->import_public(s.p, point, e);
    custody_leave(c->k);
    TRY(rc);
    wire_put_raw(c->out, point, sizeof point);
    return ERR_OK;
}

enum errc verb_tkek_import(struct call *c, struct err *e)
{
    struct tkek_ref t;
    struct store s;
    struct aad aad;
    struct key_blob blob;
    uint8_t ephemeral[P256_POINT], sealed[IMPORT_SEALED];
    wire_tkek(&c->in, &t);
    wire_raw(&c->in, ephemeral, sizeof ephemeral);
    wire_raw(&c->in, sealed, sizeof sealed);
    TRY(call_read_all(c, e));
    c->tenant = t.tenant;
    TRY(tkek_ref_check(&t, e));
    TRY(custody_check_zone(c->k, t.zone, e));
    CLEANUP(secret32_freep) struct secret32 *key = NULL;
    TRY(custody_secret(&key, e));
    import_aad(t.zone, t.tenant, &aad);
    TRY(custody_enter(c->k, UUID_NIL, &s, e));
    enum errc rc = s.f->import_open(s.p, ephemeral, sealed, &aad, key, e);
    custody_leave(c->k);
    TRY(rc);
    TRY(custody_tkek_wrap(c->k, &t, key, &blob, e));
    wire_put_blob(c->out, &blob);
    return ERR_OK;
}

/* tkek_ref -> the label of its object and the store, entered when OK. */
static enum errc object_store(struct call *c, struct tkek_ref *t, struct key_object *o, struct store *s, struct err *e)
{
    wire_tkek(&c->in, t);
    TRY(call_read_all(c, e));
    c->tenant = t->tenant;
    TRY(tkek_ref_check(t, e));
    TRY(custody_check_zone(c->k, t->zone, e));
    sovereign_label(t, o->label);
    TRY(custody_enter(c->k, t->tenant, s, e));
    if (s->f->object_new)
        return ERR_OK;
    custody_leave(c->k);
    return FAIL(e, UNPROCESSABLE, "the %s key store has no keys of single tenants", s->f->name);
}

enum errc verb_sovereign_new(struct call *c, struct err *e)
{
    struct tkek_ref t;
    struct key_object o;
    struct store s;
    struct key_blob blob;
    TRY(object_store(c, &t, &o, &s, e));
    enum errc rc = s.f->object_new(s.p, &o, e);
    custody_leave(c->k);
    TRY(rc);
    sovereign_make(&t, o.id, &blob);
    wire_put_blob(c->out, &blob);
    return ERR_OK;
}

enum errc verb_sovereign_destroy(struct call *c, struct err *e)
{
    struct tkek_ref t;
    struct key_object o;
    struct store s;
    bool was_there = false;
    TRY(object_store(c, &t, &o, &s, e));
    enum errc rc = s.f->object_destroy(s.p, o.label, &was_there, e);
    custody_leave(c->k);
    TRY(rc);
    wire_put_u8(c->out, was_there);
    return ERR_OK;
}

static void attest_tenants(struct keyd *k, struct attest *a)
{
    for (size_t i = 0; i < k->options.n_tenant_roots; i++) {
        const struct keyd_tenant_root *r = &k->options.tenant_roots[i];
        struct attest_tenant *out = &a->tenants[a->n_tenants++];
        struct err why;
        out->tenant = r->tenant;
        out->is_sealed = !k->tenant_provider[i] || r->provider->health(k->tenant_provider[i], &why) != ERR_OK;
        snprintf(out->token_label, sizeof out->token_label, "%s", r->config.token_label ? r->config.token_label : "");
    }
}

enum errc verb_attest(struct call *c, struct err *e)
{
    struct keyd *k = c->k;
    struct attest a = { 0 };
    enum errc rc = ERR_OK;
    struct str zone = wire_text(&c->in);
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(k, zone, e));
    pthread_rwlock_rdlock(&k->provider_lock);
    if (k->provider) {
        rc = k->options.provider->attest(k->provider, &a, e);
    } else {
        a.is_sealed = true;
        snprintf(a.provider, sizeof a.provider, "%s", k->options.provider->name);
        snprintf(a.reason, sizeof a.reason, "sealed by the operator");
    }
    a.n_tenants = 0;
    attest_tenants(k, &a);
    pthread_rwlock_unlock(&k->provider_lock);
    TRY(rc);
    wire_put_attest(c->out, &a);
    return ERR_OK;
}

enum errc verb_forget(struct call *c, struct err *e)
{
    struct str zone = wire_text(&c->in);
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(c->k, zone, e));
    tkek_cache_clear(c->k->cache);
    wire_put_u8(c->out, 1);
    return ERR_OK;
}
