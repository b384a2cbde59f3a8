/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_object.c - keys of single tenants in a token, made and destroyed, and own keys that a tenant brings, sealed to the
 * token. */
#include "core/crypto/rand.h"
#include "keys/pkcs11_int.h"

struct import {
    const uint8_t *ephemeral, *sealed;
    const struct aad *aad;
    struct secret32 *ret;
};

static enum errc import_in(struct p11_session *s, void *arg, struct err *e)
{
    struct import *m = arg;
    struct secret32 z = { { 0 } };
    if (!s->keys.import)
        return FAIL(e, UNPROCESSABLE, "this key store has no import key");
    enum errc rc = p11_ecdh(s, m->ephemeral, &z, e);
    if (rc == ERR_OK)
        rc = import_open(&z, m->ephemeral, s->keys.import_point, m->aad, m->sealed, m->ret, e);
    secret32_wipe(&z);
    return rc;
}

enum errc p11_import_public(void *p, uint8_t ret_point[P256_POINT], struct err *e)
{
    struct p11_keys keys;
    TRY(p11_run(p, false, p11_read_keys, &keys, e));
    if (!keys.import)
        return FAIL(e, UNPROCESSABLE, "this key store has no import key");
    memcpy(ret_point, keys.import_point, P256_POINT);
    return ERR_OK;
}

enum errc p11_import_open(void *p, const uint8_t ephemeral[P256_POINT], const uint8_t sealed[IMPORT_SEALED],
                                    const struct aad *aad, struct secret32 *ret, struct err *e)
{
    struct import m = { ephemeral, sealed, aad, ret };
    return p11_run(p, false, import_in, &m, e);
}

static enum errc object_new_in(struct p11_session *s, void *arg, struct err *e)
{
    struct key_object *o = arg;
    CK_OBJECT_HANDLE found[2];
    CK_ULONG n = 0, id_len = 0;
    TRY(p11_objects_with_label(s, o->label, NULL, found, &n, e));
    if (n > 1)
        return FAIL(e, SEALED, "two keys in the token have the label of one");
    if (n == 0) {
        TRY(rand_bytes(o->id, OBJECT_ID, e));
        return p11_aes_new(s, o->label, o->id, OBJECT_ID, found, e);
    }
    TRY(p11_get(s, found[0], CKA_ID, o->id, OBJECT_ID, &id_len, e));
    return id_len == OBJECT_ID ? ERR_OK : FAIL(e, SEALED, "the tenant's key in the token was not made by this service");
}

enum errc p11_object_new(void *p, struct key_object *o, struct err *e)
{
    struct p11 *t = p;
    pthread_mutex_lock(&t->manage);
    enum errc rc = p11_run(t, true, object_new_in, o, e);
    pthread_mutex_unlock(&t->manage);
    return rc;
}

struct object_end {
    const char *label;
    bool was_there;
};

static enum errc object_destroy_in(struct p11_session *s, void *arg, struct err *e)
{
    struct object_end *end = arg;
    CK_OBJECT_HANDLE found[2];
    CK_ULONG n = 1;
    for (int round = 0; n > 0 && round < 8; round++) {
        TRY(p11_objects_with_label(s, end->label, NULL, found, &n, e));
        for (CK_ULONG i = 0; i < n; i++)
            TRY(p11_destroy(s, found[i], e));
        end->was_there = end->was_there || n > 0;
    }
    return n == 0 ? ERR_OK : p11_nonsense(s, "C_DestroyObject", e);
}

enum errc p11_object_destroy(void *p, const char *label, bool *ret_was_there, struct err *e)
{
    struct p11 *t = p;
    struct object_end end = { .label = label };
    pthread_mutex_lock(&t->manage);
    enum errc rc = p11_run(t, true, object_destroy_in, &end, e);
    pthread_mutex_unlock(&t->manage);
    TRY(rc);
    *ret_was_there = end.was_there;
    return ERR_OK;
}
