/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11.c - the key store "pkcs11": the functions of struct key_provider over one token.
 *
 * Opening never fails for what a token or its module does: the store is then sealed with a reason, keyd stays up, and health
 * tries again by the rule of the breaker (pkcs11_session.c). */
#include <stdio.h>
#include <stdlib.h>
#include "core/crypto/rand.h"
#include "keys/pkcs11_int.h"

static void pkcs11_close(void *p)
{
    struct p11 *t = p;
    p11_disconnect(t);
    pthread_cond_destroy(&t->given_back);
    pthread_mutex_destroy(&t->manage);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* ---- health and description ---- */

static enum errc ask_state(struct p11_session *s, void *arg, struct err *e)
{
    CK_SESSION_INFO info = { 0 };
    (void)arg;
    CK_RV rv = s->f->C_GetSessionInfo(s->h, &info);
    if (rv == CKR_OK && info.state != CKS_RO_USER_FUNCTIONS && info.state != CKS_RW_USER_FUNCTIONS)
        rv = CKR_USER_NOT_LOGGED_IN;
    return rv == CKR_OK ? ERR_OK : p11_bad(s, rv, "C_GetSessionInfo", e);
}

static enum errc pkcs11_health(void *p, struct err *e)
{
    return p11_run(p, false, ask_state, NULL, e);
}

static enum errc pkcs11_open(const struct provider_config *c, void **ret, struct err *e)
{
    if (!c->path || !c->token_label || strlen(c->token_label) == 0 || strlen(c->token_label) > 32)
        return FAIL(e, INVALID, "a PKCS#11 key store needs a module and the label of a token (1 to 32 bytes)");
    struct p11 *p = calloc(1, sizeof *p);
    if (!p)
        return FAIL(e, LIMIT, "no memory for the key store");
    p->config = *c;
    p->list = c->functions;
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->manage, NULL);
    pthread_cond_init(&p->given_back, NULL);
    snprintf(p->attest.provider, sizeof p->attest.provider, "pkcs11");
    (void)pkcs11_health(p, NULL);       /* logged where it failed, told by health */
    *ret = p;
    return ERR_OK;
}

enum errc p11_read_keys(struct p11_session *s, void *arg, struct err *e)
{
    (void)e;
    *(struct p11_keys *)arg = s->keys;
    return ERR_OK;
}

static enum errc pkcs11_root_info(void *p, struct root_info *ret, struct err *e)
{
    struct p11 *t = p;
    enum errc rc = pkcs11_health(p, e);
    TRY(rc);
    pthread_mutex_lock(&t->lock);
    *ret = (struct root_info){ .current_version = t->attest.current_root, .oldest_version = t->attest.oldest_root,
                              .is_hardware = true };
    snprintf(ret->mechanism, sizeof ret->mechanism, "%s", t->attest.mechanism);
    pthread_mutex_unlock(&t->lock);
    return ERR_OK;
}

static enum errc pkcs11_attest(void *p, struct attest *ret, struct err *e)
{
    struct p11 *t = p;
    struct err why;
    (void)e;
    bool is_sealed = pkcs11_health(p, &why) != ERR_OK;
    pthread_mutex_lock(&t->lock);
    *ret = t->attest;
    pthread_mutex_unlock(&t->lock);
    ret->is_sealed = is_sealed;
    snprintf(ret->reason, sizeof ret->reason, "%.*s", ATTEST_REASON_MAX - 1, is_sealed ? why.msg : "");
    return ERR_OK;
}

/* ---- roots: wrap, unwrap, make, destroy ---- */

struct wrapping {
    const struct key_object *object;    /* NULL: the root */
    struct blob_head head;
    const struct aad *binding;
    const struct secret32 *key;
    const struct key_blob *blob;
    struct key_blob *ret_blob;
    struct secret32 *ret_key;
};

static enum errc object_find(struct p11_session *s, const struct key_object *o, CK_OBJECT_HANDLE *ret, struct err *e)
{
    CK_OBJECT_HANDLE found[2];
    CK_ULONG n = 0;
    TRY(p11_objects_with_label(s, o->label, o->id, found, &n, e));
    if (n != 1)
        return FAIL(e, NOT_FOUND, "the tenant's key is not in the token, or not any more");
    *ret = found[0];
    return ERR_OK;
}

static enum errc wrap_in(struct p11_session *s, void *arg, struct err *e)
{
    struct wrapping *w = arg;
    CK_OBJECT_HANDLE with = s->keys.roots[s->keys.n_roots - 1].key;
    if (w->object)
        TRY(object_find(s, w->object, &with, e));
    else
        w->head.version = s->keys.roots[s->keys.n_roots - 1].version;
    return p11_wrap(s, with, &w->head, w->binding, w->key, w->ret_blob, e);
}

static enum errc unwrap_in(struct p11_session *s, void *arg, struct err *e)
{
    struct wrapping *w = arg;
    struct blob_head seen;
    CK_OBJECT_HANDLE with = CK_INVALID_HANDLE;
    TRY(blob_parse(w->blob->b, w->blob->n, &seen, e));
    if (w->object) {
        TRY(object_find(s, w->object, &with, e));
    } else {
        w->head.version = seen.version;
        for (uint32_t i = 0; i < s->keys.n_roots; i++)
            if (s->keys.roots[i].version == seen.version)
                with = s->keys.roots[i].key;
    }
    if (with == CK_INVALID_HANDLE)
        return FAIL(e, DAMAGED, "the wrapped key does not open at this place");
    return p11_unwrap(s, with, &w->head, w->binding, w->blob, w->ret_key, e);
}

static enum errc pkcs11_wrap(void *p, struct blob_head head, const struct aad *binding, const struct secret32 *key,
                             struct key_blob *ret, struct err *e)
{
    struct wrapping w = { .head = head, .binding = binding, .key = key, .ret_blob = ret };
    return p11_run(p, false, wrap_in, &w, e);
}

static enum errc pkcs11_unwrap(void *p, struct blob_head head, const struct aad *binding, const struct key_blob *blob,
                               struct secret32 *ret, struct err *e)
{
    struct wrapping w = { .head = head, .binding = binding, .blob = blob, .ret_key = ret };
    return p11_run(p, false, unwrap_in, &w, e);
}

struct root_change {
    const struct p11 *p;
    uint32_t version;
    bool was_there;
};

static enum errc root_new_in(struct p11_session *s, void *arg, struct err *e)
{
    struct root_change *r = arg;
    CK_OBJECT_HANDLE key;
    if (s->keys.n_roots >= P11_ROOTS_MAX - 1)
        return FAIL(e, LIMIT, "the token has all %d root versions that are read; destroy old ones first", P11_ROOTS_MAX - 1);
    r->version = s->keys.roots[s->keys.n_roots - 1].version + 1;
    return p11_root_make(s, r->p->config.zone, r->version, &key, e);
}

static enum errc pkcs11_root_new(void *p, uint32_t *ret_version, struct err *e)
{
    struct p11 *t = p;
    struct root_change r = { .p = t };
    pthread_mutex_lock(&t->manage);
    enum errc rc = p11_reload_keys(t, e);       /* another process may have made one */
    if (rc == ERR_OK)
        rc = p11_run(t, true, root_new_in, &r, e);
    if (rc == ERR_OK)
        rc = p11_reload_keys(t, e);
    pthread_mutex_unlock(&t->manage);
    TRY(rc);
    *ret_version = r.version;
    return ERR_OK;
}

enum errc p11_destroy(struct p11_session *s, CK_OBJECT_HANDLE key, struct err *e)
{
    CK_RV rv = s->f->C_DestroyObject(s->h, key);
    return rv == CKR_OK ? ERR_OK : p11_bad(s, rv, "C_DestroyObject", e);
}

static enum errc root_destroy_in(struct p11_session *s, void *arg, struct err *e)
{
    struct root_change *r = arg;
    const struct p11_root *current = &s->keys.roots[s->keys.n_roots - 1];
    if (r->version == current->version)
        return FAIL(e, CONFLICT, "root version %u is in use; make a newer one and rewrap first", r->version);
    if (r->version == 0 || r->version > current->version)
        return FAIL(e, NOT_FOUND, "there has been no root version %u", r->version);
    for (uint32_t i = 0; i < s->keys.n_roots; i++) {
        if (s->keys.roots[i].version != r->version)
            continue;
        TRY(p11_destroy(s, s->keys.roots[i].key, e));
        r->was_there = true;
    }
    return ERR_OK;
}

static enum errc pkcs11_root_destroy(void *p, uint32_t version, bool *ret_was_there, struct err *e)
{
    struct p11 *t = p;
    struct root_change r = { .p = t, .version = version };
    pthread_mutex_lock(&t->manage);
    enum errc rc = p11_reload_keys(t, e);
    if (rc == ERR_OK)
        rc = p11_run(t, true, root_destroy_in, &r, e);
    if (rc == ERR_OK)
        rc = p11_reload_keys(t, e);
    pthread_mutex_unlock(&t->manage);
    TRY(rc);
    *ret_was_there = r.was_there;
    return ERR_OK;
}

/* ---- signatures and randomness ---- */

struct message {
    const void *bytes;
    size_t n;
    uint8_t *sig;
};

static enum errc sign_in(struct p11_session *s, void *arg, struct err *e)
{
    struct message *m = arg;
    if (!s->keys.sign)
        return FAIL(e, UNPROCESSABLE, "this key store has no signing key");
    return p11_sign(s, m->bytes, m->n, m->sig, e);
}

static enum errc pkcs11_sign(void *p, const void *bytes, size_t n, uint8_t ret_sig[ED25519_SIG], struct err *e)
{
    struct message m = { bytes, n, ret_sig };
    return p11_run(p, false, sign_in, &m, e);
}

static enum errc pkcs11_public_key(void *p, uint8_t ret_public[ED25519_PUBLIC], struct err *e)
{
    struct p11_keys keys;
    TRY(p11_run(p, false, p11_read_keys, &keys, e));
    if (!keys.sign)
        return FAIL(e, UNPROCESSABLE, "this key store has no signing key");
    memcpy(ret_public, keys.public_key, ED25519_PUBLIC);
    return ERR_OK;
}

static enum errc ca_sign_in(struct p11_session *s, void *arg, struct err *e)
{
    struct message *m = arg;
    if (!s->keys.ca)
        return FAIL(e, UNPROCESSABLE, "this key store has no authority for certificates");
    return p11_ecdsa(s, m->bytes, m->sig, e);
}

static enum errc pkcs11_ca_sign(void *p, const uint8_t digest[32], uint8_t ret_sig[64], struct err *e)
{
    struct message m = { digest, 32, ret_sig };
    return p11_run(p, false, ca_sign_in, &m, e);
}

static enum errc pkcs11_ca_public(void *p, uint8_t ret_point[65], struct err *e)
{
    struct p11_keys keys;
    TRY(p11_run(p, false, p11_read_keys, &keys, e));
    if (!keys.ca)
        return FAIL(e, UNPROCESSABLE, "this key store has no authority for certificates");
    memcpy(ret_point, keys.ca_point, P256_POINT);
    return ERR_OK;
}

struct wanted {
    uint8_t *out;
    size_t n;
};

/* The token's bytes on top of our own: as good as the better of the two. */
static enum errc random_in(struct p11_session *s, void *arg, struct err *e)
{
    struct wanted *w = arg;
    uint8_t theirs[64];
    TRY(rand_key(w->out, w->n, e));
    for (size_t at = 0; at < w->n && s->has_random;) {
        size_t n = w->n - at < sizeof theirs ? w->n - at : sizeof theirs;
        CK_RV rv = s->f->C_GenerateRandom(s->h, theirs, n);
        if (rv != CKR_OK) {
            secret_wipe(theirs, sizeof theirs);
            return p11_bad(s, rv, "C_GenerateRandom", e);
        }
        for (size_t i = 0; i < n; i++)
            w->out[at + i] ^= theirs[i];
        at += n;
    }
    secret_wipe(theirs, sizeof theirs);
    return ERR_OK;
}

static enum errc pkcs11_random(void *p, void *out, size_t n, struct err *e)
{
    struct wanted w = { out, n };
    return p11_run(p, false, random_in, &w, e);
}

/* ---- keys of single tenants ---- */

static enum errc pkcs11_object_wrap(void *p, const struct key_object *o, struct blob_head head, const struct aad *binding,
                                    const struct secret32 *key, struct key_blob *ret, struct err *e)
{
    struct wrapping w = { .object = o, .head = head, .binding = binding, .key = key, .ret_blob = ret };
    return p11_run(p, false, wrap_in, &w, e);
}

static enum errc pkcs11_object_unwrap(void *p, const struct key_object *o, struct blob_head head, const struct aad *binding,
                                      const struct key_blob *blob, struct secret32 *ret, struct err *e)
{
    struct wrapping w = { .object = o, .head = head, .binding = binding, .blob = blob, .ret_key = ret };
    return p11_run(p, false, unwrap_in, &w, e);
}

const struct key_provider provider_pkcs11 = {
    .name = "pkcs11",
    .is_for_production = true,
    .open = pkcs11_open,
    .close = pkcs11_close,
    .health = pkcs11_health,
    .root_info = pkcs11_root_info,
    .wrap = pkcs11_wrap,
    .unwrap = pkcs11_unwrap,
    .sign = pkcs11_sign,
    .public_key = pkcs11_public_key,
    .random = pkcs11_random,
    .root_new = pkcs11_root_new,
    .root_destroy = pkcs11_root_destroy,
    .import_public = p11_import_public,
    .import_open = p11_import_open,
    .attest = pkcs11_attest,
    .object_new = p11_object_new,
    .object_destroy = p11_object_destroy,
    .object_wrap = pkcs11_object_wrap,
    .object_unwrap = pkcs11_object_unwrap,
    .ca_sign = pkcs11_ca_sign,
    .ca_public = pkcs11_ca_public,
};
