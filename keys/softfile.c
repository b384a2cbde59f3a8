/* SPDX-License-Identifier: Apache-2.0 */
/* softfile.c - the development key store: the zone's root keys, signing key and import key in one 0600 file.
 *
 * Keys live in the locked heap. Not for production: whoever reads the disk has the keys, and a destroyed root may survive in the
 * blocks of the disk. It has no objects of single tenants, for the same reason. */
#include <stdio.h>
#include <stdlib.h>
#include "core/base/cleanup.h"
#include "core/crypto/ecdsa.h"
#include "core/crypto/kwp.h"
#include "core/crypto/rand.h"
#include "keys/softfile_int.h"

static enum errc keys_make(struct softfile *s, struct err *e)
{
    TRY(rand_key(s->keys->seed.b, KEY_BYTES, e));
    TRY(p256_keygen(&s->keys->import_scalar, s->import_point, e));
    TRY(rand_key(s->keys->roots[0].b, KEY_BYTES, e));
    s->versions[0] = 1;
    s->n_roots = 1;
    return ERR_OK;
}

static enum errc root_add(struct softfile *s, struct err *e)
{
    uint32_t n = s->n_roots;
    if (n == SOFTFILE_ROOTS_MAX)
        return FAIL(e, LIMIT, "the key file %s has all %d root versions it can hold", s->config.path, SOFTFILE_ROOTS_MAX);
    TRY(rand_key(s->keys->roots[n].b, KEY_BYTES, e));
    s->versions[n] = s->versions[n - 1] + 1;
    s->n_roots = n + 1;
    enum errc rc = softfile_write(s, false, e);
    if (rc != ERR_OK)
        s->n_roots = n;
    return rc;
}

static enum errc load(struct softfile *s, struct err *e)
{
    enum errc rc = softfile_read(s, e);
    if (rc == ERR_NOT_FOUND && s->config.is_init) {
        TRY(keys_make(s, e));
        rc = softfile_write(s, true, e);
        if (rc == ERR_EXISTS)           /* another process was faster: its keys count */
            rc = softfile_read(s, e);
    }
    TRY(rc);
    TRY(ed25519_public(&s->keys->seed, s->public_key, e));
    TRY(p256_public(&s->keys->import_scalar, s->import_point, e));
    return s->config.is_rotate ? root_add(s, e) : ERR_OK;
}

static void softfile_close(void *p)
{
    struct softfile *s = p;
    if (!s)
        return;
    secret_free(s->keys, sizeof *s->keys);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

static enum errc softfile_open(const struct provider_config *c, void **ret, struct err *e)
{
    if (!c->path)
        return FAIL(e, INVALID, "the soft key store needs a file");
    struct softfile *s = calloc(1, sizeof *s);
    if (!s)
        return FAIL(e, LIMIT, "no memory for the soft key store");
    s->config = *c;
    pthread_rwlock_init(&s->lock, NULL);
    s->keys = secret_alloc(sizeof *s->keys);
    enum errc rc = s->keys ? load(s, e) : FAIL(e, LIMIT, "no locked memory for the root keys");
    if (rc != ERR_OK) {
        softfile_close(s);
        return rc;
    }
    *ret = s;
    return ERR_OK;
}

static enum errc softfile_health(void *p, struct err *e)
{
    (void)p, (void)e;
    return ERR_OK;
}

static const char *mechanism(const struct softfile *s)
{
    return s->config.mechanism == WRAP_KWP ? "kwp+hmac" : "aes-256-gcm";
}

static enum errc softfile_root_info(void *p, struct root_info *ret, struct err *e)
{
    struct softfile *s = p;
    (void)e;
    pthread_rwlock_rdlock(&s->lock);
    *ret = (struct root_info){ .current_version = s->versions[s->n_roots - 1], .oldest_version = s->versions[0] };
    pthread_rwlock_unlock(&s->lock);
    snprintf(ret->mechanism, sizeof ret->mechanism, "%s", mechanism(s));
    return ERR_OK;
}

static enum errc wrap_kwp(const struct secret32 *root, const struct blob_head *head, const struct aad *binding,
                          const struct secret32 *key, struct key_blob *ret, struct err *e)
{
    uint8_t wrapped[KWP_KEY];
    size_t n = 0;
    TRY(kwp_wrap(root->b, KEY_BYTES, key->b, KEY_BYTES, wrapped, sizeof wrapped, &n, e));
    return kwp_blob_make(head, binding, key, wrapped, ret, e);
}

static enum errc softfile_wrap(void *p, struct blob_head head, const struct aad *binding, const struct secret32 *key,
                               struct key_blob *ret, struct err *e)
{
    struct softfile *s = p;
    size_t n = 0;
    enum errc rc;
    pthread_rwlock_rdlock(&s->lock);
    const struct secret32 *root = &s->keys->roots[s->n_roots - 1];
    head.version = s->versions[s->n_roots - 1];
    if (s->config.mechanism == WRAP_KWP) {
        rc = wrap_kwp(root, &head, binding, key, ret, e);
    } else {
        rc = blob_seal(root, &head, binding, key->b, KEY_BYTES, ret->b, sizeof ret->b, &n, e);
        ret->n = (uint16_t)n;
    }
    pthread_rwlock_unlock(&s->lock);
    return rc;
}

static enum errc unwrap_by(const struct secret32 *root, const struct blob_head *head, const struct aad *binding,
                           const struct key_blob *blob, struct secret32 *ret, struct err *e)
{
    size_t n = 0;
    if (head->alg == BLOB_AES256_GCM && blob->n == BLOB_OVERHEAD + KEY_BYTES)
        return blob_open(root, head, binding, blob->b, blob->n, ret->b, KEY_BYTES, &n, e);
    TRY(kwp_blob_parse(head, blob, e));
    enum errc rc = kwp_unwrap(root->b, KEY_BYTES, blob->b + BLOB_HEAD, KWP_KEY, ret->b, KEY_BYTES, &n, e);
    if (rc == ERR_OK)
        rc = n == KEY_BYTES ? kwp_blob_check(binding, blob, ret, e) : FAIL(e, DAMAGED, "the wrapped key has the wrong size");
    if (rc != ERR_OK)
        secret32_wipe(ret);
    return rc;
}

static const struct secret32 *root_of(const struct softfile *s, uint32_t version)
{
    for (uint32_t i = 0; i < s->n_roots; i++)
        if (s->versions[i] == version)
            return &s->keys->roots[i];
    return NULL;
}

static enum errc softfile_unwrap(void *p, struct blob_head head, const struct aad *binding, const struct key_blob *blob,
                                 struct secret32 *ret, struct err *e)
{
    struct softfile *s = p;
    struct blob_head seen;
    TRY(blob_parse(blob->b, blob->n, &seen, e));
    head.version = seen.version;
    head.alg = seen.alg;
    pthread_rwlock_rdlock(&s->lock);
    const struct secret32 *root = root_of(s, seen.version);
    enum errc rc = root ? unwrap_by(root, &head, binding, blob, ret, e)
                        : FAIL(e, DAMAGED, "the wrapped tenant key does not open at this place");
    pthread_rwlock_unlock(&s->lock);
    return rc;
}

static enum errc softfile_sign(void *p, const void *bytes, size_t n, uint8_t ret_sig[ED25519_SIG], struct err *e)
{
    const struct softfile *s = p;
    return ed25519_sign(&s->keys->seed, bytes, n, ret_sig, e);
}

static enum errc softfile_public_key(void *p, uint8_t ret_public[ED25519_PUBLIC], struct err *e)
{
    const struct softfile *s = p;
    (void)e;
    memcpy(ret_public, s->public_key, ED25519_PUBLIC);
    return ERR_OK;
}

/* The authority's key follows from the signing seed, under a label of its own: the file keeps its form. */
static enum errc ca_key(const struct softfile *s, struct secret32 **ret, struct err *e)
{
    struct secret32 *key = secret32_new();
    if (!key)
        return FAIL(e, UNAVAILABLE, "the locked memory of the key service is used up");
    enum errc rc = ecdsa_derive(&s->keys->seed, "falaj zone authority p-256 v1", key, e);
    if (rc != ERR_OK) {
        secret32_free(key);
        return rc;
    }
    *ret = key;
    return ERR_OK;
}

static enum errc softfile_ca_sign(void *p, const uint8_t digest[32], uint8_t ret_sig[64], struct err *e)
{
    CLEANUP(secret32_freep) struct secret32 *key = NULL;
    TRY(ca_key(p, &key, e));
    return ecdsa_sign(key, digest, ret_sig, e);
}

static enum errc softfile_ca_public(void *p, uint8_t ret_point[65], struct err *e)
{
    CLEANUP(secret32_freep) struct secret32 *key = NULL;
    TRY(ca_key(p, &key, e));
    return ecdsa_public(key, ret_point, e);
}

static enum errc softfile_random(void *p, void *out, size_t n, struct err *e)
{
    (void)p;
    return rand_key(out, n, e);
}

static enum errc softfile_root_new(void *p, uint32_t *ret_version, struct err *e)
{
    struct softfile *s = p;
    pthread_rwlock_wrlock(&s->lock);
    enum errc rc = root_add(s, e);
    if (rc == ERR_OK)
        *ret_version = s->versions[s->n_roots - 1];
    pthread_rwlock_unlock(&s->lock);
    return rc;
}

/* Without the lock. The file is written before the key in memory is gone: what cannot be written is not destroyed. */
static enum errc root_remove(struct softfile *s, uint32_t at, struct err *e)
{
    struct secret32 gone = s->keys->roots[at];
    uint32_t version = s->versions[at], after = s->n_roots - at - 1;
    memmove(&s->keys->roots[at], &s->keys->roots[at + 1], after * sizeof *s->keys->roots);
    memmove(&s->versions[at], &s->versions[at + 1], after * sizeof *s->versions);
    s->n_roots--;
    enum errc rc = softfile_write(s, false, e);
    if (rc != ERR_OK) {
        memmove(&s->keys->roots[at + 1], &s->keys->roots[at], after * sizeof *s->keys->roots);
        memmove(&s->versions[at + 1], &s->versions[at], after * sizeof *s->versions);
        s->keys->roots[at] = gone;
        s->versions[at] = version;
        s->n_roots++;
    } else {
        secret32_wipe(&s->keys->roots[s->n_roots]);
    }
    secret32_wipe(&gone);
    return rc;
}

static enum errc softfile_root_destroy(void *p, uint32_t version, bool *ret_was_there, struct err *e)
{
    struct softfile *s = p;
    enum errc rc = ERR_OK;
    uint32_t at = 0;
    pthread_rwlock_wrlock(&s->lock);
    uint32_t current = s->versions[s->n_roots - 1];
    while (at < s->n_roots && s->versions[at] != version)
        at++;
    if (version == current)
        rc = FAIL(e, CONFLICT, "root version %u is in use; make a newer one and rewrap first", version);
    else if (version == 0 || version > current)
        rc = FAIL(e, NOT_FOUND, "there has been no root version %u", version);
    bool is_there = rc == ERR_OK && at < s->n_roots;
    if (is_there)
        rc = root_remove(s, at, e);
    if (rc == ERR_OK)
        *ret_was_there = is_there;
    pthread_rwlock_unlock(&s->lock);
    return rc;
}

static enum errc softfile_import_public(void *p, uint8_t ret_point[P256_POINT], struct err *e)
{
    const struct softfile *s = p;
    (void)e;
    memcpy(ret_point, s->import_point, P256_POINT);
    return ERR_OK;
}

static enum errc softfile_import_open(void *p, const uint8_t ephemeral[P256_POINT], const uint8_t sealed[IMPORT_SEALED],
                                      const struct aad *aad, struct secret32 *ret, struct err *e)
{
    const struct softfile *s = p;
    struct secret32 z = { 0 };
    enum errc rc = p256_ecdh(&s->keys->import_scalar, ephemeral, &z, e);
    if (rc == ERR_OK)
        rc = import_open(&z, ephemeral, s->import_point, aad, sealed, ret, e);
    secret32_wipe(&z);
    return rc;
}

static enum errc softfile_attest(void *p, struct attest *ret, struct err *e)
{
    struct softfile *s = p;
    (void)e;
    memset(ret, 0, sizeof *ret);
    pthread_rwlock_rdlock(&s->lock);
    ret->current_root = s->versions[s->n_roots - 1];
    ret->oldest_root = s->versions[0];
    ret->n_roots = s->n_roots;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        ret->roots[i] = (struct attest_root){ .version = s->versions[i], .is_extractable = true, .is_local = true };
        snprintf(ret->roots[i].label, sizeof ret->roots[i].label, "%.*s v%u", STR_ARG(s->config.zone), s->versions[i]);
    }
    pthread_rwlock_unlock(&s->lock);
    ret->has_signing_key = ret->has_import_key = true;
    ed25519_key_id(s->public_key, ret->signing_key_id);
    memcpy(ret->import_point, s->import_point, P256_POINT);
    snprintf(ret->provider, sizeof ret->provider, "softfile");
    snprintf(ret->mechanism, sizeof ret->mechanism, "%s", mechanism(s));
    return ERR_OK;
}

const struct key_provider provider_softfile = {
    .name = "softfile",
    .is_for_production = false,
    .open = softfile_open,
    .close = softfile_close,
    .health = softfile_health,
    .root_info = softfile_root_info,
    .wrap = softfile_wrap,
    .unwrap = softfile_unwrap,
    .sign = softfile_sign,
    .public_key = softfile_public_key,
    .random = softfile_random,
    .root_new = softfile_root_new,
    .root_destroy = softfile_root_destroy,
    .import_public = softfile_import_public,
    .import_open = softfile_import_open,
    .attest = softfile_attest,
    .ca_sign = softfile_ca_sign,
    .ca_public = softfile_ca_public,
};
