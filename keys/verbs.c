/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.c - what falaj-keyd does for one request: a table from verb to function.
 *
 * Each function reads its whole request, checks it, works with keys in the locked heap only, and appends the reply. The table
 * function logs verb, place, outcome and time, and nothing that is secret. */
#include <stdio.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/table/metrics.h"
#include "keys/verbs_int.h"
#include "keys/zone_ca.h"

enum errc call_read_all(const struct call *c, struct err *e)
{
    return wire_done(&c->in) ? ERR_OK : FAIL(e, MALFORMED, "the request is not well formed");
}

static enum errc do_health(struct call *c, struct err *e)
{
    struct keyd *k = c->k;
    struct root_info info = { 0 };
    struct err why;
    struct str zone = wire_text(&c->in);
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(k, zone, e));
    pthread_rwlock_rdlock(&k->provider_lock);
    enum errc rc = !k->provider ? FAIL(&why, SEALED, "sealed by the operator") : k->options.provider->health(k->provider, &why);
    if (rc == ERR_OK)
        rc = k->options.provider->root_info(k->provider, &info, &why);
    pthread_rwlock_unlock(&k->provider_lock);
    bool is_sealed = rc != ERR_OK;
    char reason[ATTEST_REASON_MAX];
    snprintf(reason, sizeof reason, "%.*s", ATTEST_REASON_MAX - 1, is_sealed ? why.msg : "");
    wire_put_u8(c->out, is_sealed);
    wire_put_u8(c->out, info.is_hardware);
    wire_put_u32(c->out, info.current_version);
    wire_put_u32(c->out, info.oldest_version);
    wire_put_u64(c->out, tkek_cache_count(k->cache));
    wire_put_u64(c->out, atomic_load(&k->calls));
    wire_put_text(c->out, str_c(k->options.provider->name));
    wire_put_text(c->out, str_c(k->zone));
    wire_put_text(c->out, str_c(info.mechanism));
    wire_put_text(c->out, str_c(reason));
    return ERR_OK;
}

static enum errc do_tkek_new(struct call *c, struct err *e)
{
    struct tkek_ref t;
    struct key_blob blob;
    wire_tkek(&c->in, &t);
    TRY(call_read_all(c, e));
    c->tenant = t.tenant;
    TRY(tkek_ref_check(&t, e));
    TRY(custody_check_zone(c->k, t.zone, e));
    CLEANUP(secret32_freep) struct secret32 *key = NULL;
    TRY(custody_secret(&key, e));
    TRY(custody_random(c->k, key, e));
    TRY(custody_tkek_wrap(c->k, &t, key, &blob, e));
    wire_put_blob(c->out, &blob);
    return ERR_OK;
}

/* A sovereign key is under no root: it goes back as it came, as if it were under the current version. */
static enum errc sovereign_rewrap(struct call *c, const struct tkek_ref *t, const struct key_blob *blob, struct err *e)
{
    uint8_t id[SOVEREIGN_ID];
    struct root_info info = { 0 };
    struct store s;
    TRY(tkek_ref_check(t, e));
    TRY(custody_check_zone(c->k, t->zone, e));
    TRY(sovereign_read(t, blob, id, e));
    TRY(custody_enter(c->k, t->tenant, &s, e));
    enum errc rc = s.f->root_info(s.p, &info, e);
    custody_leave(c->k);
    TRY(rc);
    wire_put_blob(c->out, blob);
    wire_put_u32(c->out, info.current_version);
    return ERR_OK;
}

static enum errc do_tkek_rewrap(struct call *c, struct err *e)
{
    struct tkek_ref t;
    struct key_blob blob, again;
    struct blob_head head;
    wire_tkek(&c->in, &t);
    wire_blob(&c->in, &blob);
    TRY(call_read_all(c, e));
    c->tenant = t.tenant;
    if (tkek_is_sovereign(&blob))
        return sovereign_rewrap(c, &t, &blob, e);
    CLEANUP(secret32_freep) struct secret32 *key = NULL;
    TRY(custody_secret(&key, e));
    TRY(custody_tkek_open(c->k, &t, &blob, key, e));
    TRY(custody_tkek_wrap(c->k, &t, key, &again, e));
    TRY(blob_parse(again.b, again.n, &head, e));
    wire_put_blob(c->out, &again);
    wire_put_u32(c->out, head.version);
    return ERR_OK;
}

static enum errc do_dek_new(struct call *c, struct err *e)
{
    struct tkek_ref t;
    struct dek_ref d;
    struct key_blob blob, wrapped;
    wire_tkek(&c->in, &t);
    wire_blob(&c->in, &blob);
    wire_dek(&c->in, &d);
    bool is_shown = wire_u8(&c->in) != 0;
    TRY(call_read_all(c, e));
    c->tenant = d.tenant;
    c->subject = d.object_id;
    CLEANUP(secret32_freep) struct secret32 *dek = NULL;
    TRY(custody_secret(&dek, e));
    TRY(custody_random(c->k, dek, e));
    TRY(custody_dek_wrap(c->k, &t, &blob, &d, dek, &wrapped, e));
    wire_put_blob(c->out, &wrapped);
    wire_put_u8(c->out, is_shown);
    if (is_shown)
        wire_put_raw(c->out, dek->b, KEY_BYTES);
    return ERR_OK;
}

/* tkek_ref, blob, dek_ref, wrapped -> the data key. */
static enum errc read_dek(struct call *c, struct dek_ref *d, struct secret32 *ret, struct err *e)
{
    struct tkek_ref t;
    struct key_blob blob, wrapped;
    wire_tkek(&c->in, &t);
    wire_blob(&c->in, &blob);
    wire_dek(&c->in, d);
    wire_blob(&c->in, &wrapped);
    if (c->in.bad)
        return FAIL(e, MALFORMED, "the request is not well formed");
    c->tenant = d->tenant;
    return custody_dek_unwrap(c->k, &t, &blob, d, &wrapped, ret, e);
}

static enum errc do_dek_open(struct call *c, struct err *e)
{
    struct dek_ref d;
    CLEANUP(secret32_freep) struct secret32 *dek = NULL;
    TRY(custody_secret(&dek, e));
    TRY(read_dek(c, &d, dek, e));
    c->subject = d.object_id;
    TRY(call_read_all(c, e));
    wire_put_raw(c->out, dek->b, KEY_BYTES);
    return ERR_OK;
}

static enum errc do_dek_rewrap(struct call *c, struct err *e)
{
    struct tkek_ref from, to;
    struct dek_ref d;
    struct key_blob from_blob, to_blob, wrapped, again;
    wire_tkek(&c->in, &from);
    wire_blob(&c->in, &from_blob);
    wire_tkek(&c->in, &to);
    wire_blob(&c->in, &to_blob);
    wire_dek(&c->in, &d);
    wire_blob(&c->in, &wrapped);
    TRY(call_read_all(c, e));
    c->tenant = d.tenant;
    c->subject = d.object_id;
    CLEANUP(secret32_freep) struct secret32 *dek = NULL;
    TRY(custody_secret(&dek, e));
    TRY(custody_dek_unwrap(c->k, &from, &from_blob, &d, &wrapped, dek, e));
    TRY(custody_dek_wrap(c->k, &to, &to_blob, &d, dek, &again, e));
    wire_put_blob(c->out, &again);
    return ERR_OK;
}

static enum errc release_read(struct call *c, struct release_key *keys, size_t n, struct err *e)
{
    struct uuid tenant = UUID_NIL;
    for (size_t i = 0; i < n; i++) {
        struct dek_ref d;
        TRY(read_dek(c, &d, &keys[i].key, e));
        if (i > 0 && !uuid_eq(d.tenant, tenant))
            return FAIL(e, INVALID, "a release carries keys of one tenant only");
        tenant = d.tenant;
        keys[i].dek_id = d.dek_id;
    }
    return call_read_all(c, e);
}

static enum errc do_release(struct call *c, struct err *e)
{
    struct release_terms terms;
    uint8_t message[RELEASE_MESSAGE_MAX];
    size_t len = 0;
    wire_terms(&c->in, &terms);
    size_t n = wire_u8(&c->in);
    c->subject = terms.job_id;
    if (c->in.bad || n == 0 || n > RELEASE_KEYS_MAX)
        return FAIL(e, INVALID, "a release carries 1 to %d keys", RELEASE_KEYS_MAX);
    TRY(custody_check_zone(c->k, terms.zone, e));
    if (terms.not_after_us <= clock_wall_us(&clock_system))
        return FAIL(e, INVALID, "the release is over before it begins");
    struct release_key *keys = secret_alloc(n * sizeof *keys);
    if (!keys)
        return FAIL(e, UNAVAILABLE, "the locked memory of the key service is used up");
    enum errc rc = release_read(c, keys, n, e);
    if (rc == ERR_OK)
        rc = release_seal(&terms, keys, n, message, &len, e);
    secret_free(keys, n * sizeof *keys);
    TRY(rc);
    wire_put_text(c->out, str_n((const char *)message, len));
    return ERR_OK;
}

static enum errc do_sign(struct call *c, struct err *e)
{
    struct keyd *k = c->k;
    uint8_t sig[ED25519_SIG], public_key[ED25519_PUBLIC], key_id[KEY_ID_BYTES];
    struct str zone = wire_text(&c->in);
    struct str bytes = wire_run(&c->in, wire_u32(&c->in));
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(k, zone, e));
    if (bytes.len > KEYD_SIGN_MAX)
        return FAIL(e, TOO_LARGE, "at most %d bytes are signed at once", KEYD_SIGN_MAX);
    struct store store;
    TRY(custody_enter(k, UUID_NIL, &store, e));
    enum errc rc = store.f->sign(store.p, bytes.ptr, bytes.len, sig, e);
    if (rc == ERR_OK)
        rc = store.f->public_key(store.p, public_key, e);
    custody_leave(k);
    TRY(rc);
    ed25519_key_id(public_key, key_id);
    wire_put_raw(c->out, sig, sizeof sig);
    wire_put_raw(c->out, key_id, sizeof key_id);
    return ERR_OK;
}

static enum errc do_public_key(struct call *c, struct err *e)
{
    struct keyd *k = c->k;
    uint8_t public_key[ED25519_PUBLIC];
    struct str zone = wire_text(&c->in);
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(k, zone, e));
    struct store store;
    TRY(custody_enter(k, UUID_NIL, &store, e));
    enum errc rc = store.f->public_key(store.p, public_key, e);
    custody_leave(k);
    TRY(rc);
    wire_put_raw(c->out, public_key, sizeof public_key);
    return ERR_OK;
}

enum { CA_ARENA = 64 * 1024 };

/* r NULL: the authority's own certificate. */
static enum errc ca_answer(struct call *c, const struct zone_ca_request *r, struct err *e)
{
    struct str zone = str_c(c->k->zone), pem;
    struct store store;
    TRY(custody_enter(c->k, UUID_NIL, &store, e));
    struct arena *a = arena_new(CA_ARENA);
    enum errc rc = r ? zone_ca_issue(a, store.f, store.p, zone, r, clock_wall_us(&clock_system), &pem, e)
                     : zone_ca_certificate(a, store.f, store.p, zone, &pem, e);
    custody_leave(c->k);
    if (rc == ERR_OK)
        wire_put_text(c->out, pem);
    arena_free(a);
    return rc;
}

static enum errc do_ca_sign(struct call *c, struct err *e)
{
    struct zone_ca_request r;
    struct str zone = wire_text(&c->in);
    r.pool = wire_text(&c->in);
    r.name = wire_text(&c->in);
    r.lease = wire_text(&c->in);
    r.lifetime_s = wire_u32(&c->in);
    r.csr_pem = wire_text(&c->in);
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(c->k, zone, e));
    return ca_answer(c, &r, e);
}

static enum errc do_ca_public(struct call *c, struct err *e)
{
    struct str zone = wire_text(&c->in);
    TRY(call_read_all(c, e));
    TRY(custody_check_zone(c->k, zone, e));
    return ca_answer(c, NULL, e);
}

static const struct verb {
    const char *name;
    enum errc (*run)(struct call *c, struct err *e);
} verbs[KEYD_KIND_END] = {
    [KEYD_HEALTH] = { "health", do_health },
    [KEYD_TKEK_NEW] = { "tkek_new", do_tkek_new },
    [KEYD_TKEK_REWRAP] = { "tkek_rewrap", do_tkek_rewrap },
    [KEYD_DEK_NEW] = { "dek_new", do_dek_new },
    [KEYD_DEK_OPEN] = { "dek_open", do_dek_open },
    [KEYD_DEK_REWRAP] = { "dek_rewrap", do_dek_rewrap },
    [KEYD_RELEASE] = { "release", do_release },
    [KEYD_SIGN] = { "sign", do_sign },
    [KEYD_PUBLIC_KEY] = { "public_key", do_public_key },
    [KEYD_ROOT_NEW] = { "root_new", verb_root_new },
    [KEYD_ROOT_DESTROY] = { "root_destroy", verb_root_destroy },
    [KEYD_IMPORT_PUBLIC] = { "import_public", verb_import_public },
    [KEYD_TKEK_IMPORT] = { "tkek_import", verb_tkek_import },
    [KEYD_SOVEREIGN_NEW] = { "sovereign_new", verb_sovereign_new },
    [KEYD_SOVEREIGN_DESTROY] = { "sovereign_destroy", verb_sovereign_destroy },
    [KEYD_ATTEST] = { "attest", verb_attest },
    [KEYD_FORGET] = { "forget", verb_forget },
    [KEYD_CA_SIGN] = { "ca_sign", do_ca_sign },
    [KEYD_CA_PUBLIC] = { "ca_public", do_ca_public },
};

void keyd_answer(struct keyd *k, const void *frame, size_t n, struct buf *reply)
{
    struct call c = { .k = k, .out = reply };
    struct err e;
    uint8_t kind = 0;
    int64_t started_us = wire_now_us();
    enum errc rc;
    err_clear(&e);
    wire_begin(reply, KEYD_DONE);
    bool is_known = wire_open(&c.in, frame, n, &kind) && kind < KEYD_KIND_END && verbs[kind].run;
    rc = is_known ? verbs[kind].run(&c, &e) : FAIL(&e, MALFORMED, "the request has an unknown version or verb");
    if (rc == ERR_OK && !wire_end(reply))
        rc = FAIL(&e, LIMIT, "the reply is too long");
    if (rc != ERR_OK) {
        wire_begin(reply, KEYD_REFUSED);
        wire_put_text(reply, str_c(err_row(rc)->wire));
        wire_put_text(reply, str_c(e.msg));
        (void)wire_end(reply);
    }
    atomic_fetch_add(&k->calls, 1);
    metrics_inc(M_keyd_requests_total, is_known ? verbs[kind].name : "unknown", rc == ERR_OK ? "ok" : err_row(rc)->wire);
    enum log_level level = rc != ERR_OK ? LOG_WARN : kind == KEYD_HEALTH ? LOG_DEBUG : LOG_INFO;
    if (log_enabled(level))
        log_event(level, "keyd.call", "verb", LOG_S(is_known ? verbs[kind].name : "?"), "outcome", LOG_S(err_row(rc)->wire),
                  "tenant", LOG_ID("tnt", c.tenant), "subject", LOG_ID("", c.subject), "took_us",
                  LOG_I(wire_now_us() - started_us), "why", LOG_S(rc == ERR_OK ? "" : e.msg), NULL);
}
