/* SPDX-License-Identifier: Apache-2.0 */
/* p11_fake.h - a PKCS#11 module that works, until its script says otherwise: for fuzzing and for a hostile library.
 *
 * One token "fake" with objects in memory, real AES-GCM, RFC 5649, Ed25519 and ECDH. Before each answer one byte of the script is
 * taken: below FAKE_HONEST (or with no script left) the answer is honest; else it chooses a lie: an error code, a length or a count
 * that is absurd, a handle that is none, bytes that are changed. Memory of the caller is never written past what it offered.
 * Single-threaded; fake_reset begins anew. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <p11-kit/pkcs11.h>
#include "core/crypto/ecdsa.h"
#include "core/crypto/kwp.h"
#include "core/crypto/p256.h"
#include "core/crypto/sign.h"

enum { FAKE_OBJECTS = 64, FAKE_ATTRS = 20, FAKE_HONEST = 236 };

struct fake_object {
    bool is_used;
    struct {
        CK_ATTRIBUTE_TYPE type;
        CK_ULONG n;
        uint8_t v[208];
    } a[FAKE_ATTRS];
    int n_attrs;
    struct secret32 secret;
};

static struct {
    const uint8_t *script;
    size_t n, at;
    struct fake_object o[FAKE_OBJECTS];
    CK_ATTRIBUTE find[8];
    uint8_t find_value[8][208];
    CK_ULONG n_find;
    CK_ULONG find_at;
    CK_MECHANISM_TYPE mech;
    CK_GCM_PARAMS gcm;
    CK_OBJECT_HANDLE key;
    bool is_logged_in;
} fake;

static inline void fake_reset(const uint8_t *script, size_t n)
{
    memset(&fake, 0, sizeof fake);
    fake.script = script;
    fake.n = n;
}

static uint8_t fake_byte(void)
{
    return fake.at < fake.n ? fake.script[fake.at++] : 0;
}

/* 0: be honest. */
static uint8_t fake_lie(void)
{
    uint8_t b = fake_byte();
    return b < FAKE_HONEST ? 0 : (uint8_t)(b - FAKE_HONEST + 1);
}

static CK_RV fake_error(void)
{
    static const CK_RV rvs[] = { CKR_GENERAL_ERROR, CKR_DEVICE_REMOVED, CKR_SESSION_HANDLE_INVALID, CKR_USER_NOT_LOGGED_IN,
                                 CKR_TOKEN_NOT_PRESENT, CKR_DEVICE_ERROR, CKR_PIN_INCORRECT, CKR_BUFFER_TOO_SMALL,
                                 CKR_CRYPTOKI_NOT_INITIALIZED, CKR_KEY_HANDLE_INVALID, CKR_FUNCTION_FAILED, 0xffffffffffffffffUL };
    return rvs[fake_byte() % (sizeof rvs / sizeof *rvs)];
}

static CK_ULONG fake_absurd(void)
{
    static const CK_ULONG n[] = { 0, 1, 31, 33, 47, 49, 64, 65, 255, 256, 257, 4096, 0x7fffffffUL, 0xffffffffUL, (CK_ULONG)-1, (CK_ULONG)-2 };
    return n[fake_byte() % (sizeof n / sizeof *n)];
}

#define FAKE_MAY_FAIL() do { if (fake_lie() == 1) return fake_error(); } while (0)

static struct fake_object *fake_at(CK_OBJECT_HANDLE h)
{
    return h >= 1 && h <= FAKE_OBJECTS && fake.o[h - 1].is_used ? &fake.o[h - 1] : NULL;
}

static void fake_attr(struct fake_object *o, CK_ATTRIBUTE_TYPE type, const void *v, CK_ULONG n)
{
    int i = 0;
    while (i < o->n_attrs && o->a[i].type != type)
        i++;
    if (i == FAKE_ATTRS || n > sizeof o->a[i].v)
        return;
    if (i == o->n_attrs)
        o->n_attrs++;
    o->a[i].type = type;
    o->a[i].n = n;
    if (n > 0)
        memcpy(o->a[i].v, v, n);
}

static CK_OBJECT_HANDLE fake_make(const CK_ATTRIBUTE *t, CK_ULONG n)
{
    static const CK_BBOOL yes = CK_TRUE;
    for (CK_ULONG h = 0; h < FAKE_OBJECTS; h++) {
        struct fake_object *o = &fake.o[h];
        if (o->is_used)
            continue;
        memset(o, 0, sizeof *o);
        o->is_used = true;
        for (CK_ULONG i = 0; i < n; i++)
            fake_attr(o, t[i].type, t[i].pValue, t[i].ulValueLen);
        fake_attr(o, CKA_LOCAL, &yes, 1);
        fake_attr(o, CKA_ALWAYS_SENSITIVE, &yes, 1);
        fake_attr(o, CKA_NEVER_EXTRACTABLE, &yes, 1);
        return h + 1;
    }
    return 0;
}

static CK_RV fake_Initialize(void *args) { (void)args; FAKE_MAY_FAIL(); return CKR_OK; }
static CK_RV fake_Finalize(void *args) { (void)args; FAKE_MAY_FAIL(); return CKR_OK; }

static CK_RV fake_GetInfo(CK_INFO *info)
{
    memset(info, fake_lie() ? 0xff : 'a', sizeof *info);
    return CKR_OK;
}

static CK_RV fake_GetSlotList(CK_BBOOL present, CK_SLOT_ID *list, CK_ULONG *n)
{
    (void)present;
    uint8_t lie = fake_lie();
    CK_ULONG room = *n;
    if (lie == 1)
        return fake_error();
    *n = lie == 2 ? fake_absurd() : lie == 3 ? 2 : 1;
    for (CK_ULONG i = 0; list && i < room && i < *n && i < 300; i++)
        list[i] = i;
    return CKR_OK;
}

static CK_RV fake_GetSlotInfo(CK_SLOT_ID slot, CK_SLOT_INFO *info) { (void)slot; memset(info, 0, sizeof *info); return CKR_OK; }

static CK_RV fake_GetTokenInfo(CK_SLOT_ID slot, CK_TOKEN_INFO *info)
{
    (void)slot;
    uint8_t lie = fake_lie();
    memset(info, lie == 2 ? 0xff : ' ', sizeof *info);
    memcpy(info->label, "fake", 4);
    info->flags = CKF_TOKEN_INITIALIZED | CKF_RNG | (lie == 3 ? CKF_USER_PIN_FINAL_TRY : 0);
    return lie == 1 ? fake_error() : CKR_OK;
}

static CK_RV fake_GetMechanismInfo(CK_SLOT_ID slot, CK_MECHANISM_TYPE m, CK_MECHANISM_INFO *info)
{
    (void)slot, (void)m;
    uint8_t lie = fake_lie();
    memset(info, lie == 2 ? 0xff : 0, sizeof *info);
    info->flags = lie == 3 ? 0 : CKF_ENCRYPT | CKF_DECRYPT | CKF_WRAP | CKF_UNWRAP;
    return lie == 1 ? fake_error() : m == 0x210b ? CKR_MECHANISM_INVALID : CKR_OK;
}

static CK_RV fake_InitToken(CK_SLOT_ID s, CK_BYTE *pin, CK_ULONG n, CK_BYTE *label) { (void)s, (void)pin, (void)n, (void)label; FAKE_MAY_FAIL(); return CKR_OK; }
static CK_RV fake_InitPIN(CK_SESSION_HANDLE s, CK_BYTE *pin, CK_ULONG n) { (void)s, (void)pin, (void)n; FAKE_MAY_FAIL(); return CKR_OK; }

static CK_RV fake_OpenSession(CK_SLOT_ID slot, CK_FLAGS flags, void *app, CK_NOTIFY notify, CK_SESSION_HANDLE *s)
{
    (void)slot, (void)flags, (void)app, (void)notify;
    FAKE_MAY_FAIL();
    *s = fake_byte();
    return CKR_OK;
}

static CK_RV fake_CloseSession(CK_SESSION_HANDLE s) { (void)s; FAKE_MAY_FAIL(); return CKR_OK; }

static CK_RV fake_GetSessionInfo(CK_SESSION_HANDLE s, CK_SESSION_INFO *info)
{
    (void)s;
    uint8_t lie = fake_lie();
    info->state = lie == 2 ? fake_absurd() : CKS_RO_USER_FUNCTIONS;
    return lie == 1 ? fake_error() : CKR_OK;
}

static CK_RV fake_Login(CK_SESSION_HANDLE s, CK_USER_TYPE u, CK_BYTE *pin, CK_ULONG n) { (void)s, (void)u, (void)pin, (void)n; FAKE_MAY_FAIL(); return CKR_OK; }
static CK_RV fake_Logout(CK_SESSION_HANDLE s) { (void)s; FAKE_MAY_FAIL(); return CKR_OK; }

static CK_RV fake_CreateObject(CK_SESSION_HANDLE s, CK_ATTRIBUTE *t, CK_ULONG n, CK_OBJECT_HANDLE *h)
{
    (void)s;
    FAKE_MAY_FAIL();
    *h = fake_make(t, n);
    struct fake_object *o = fake_at(*h);
    for (CK_ULONG i = 0; o && i < n; i++)
        if (t[i].type == CKA_VALUE && t[i].ulValueLen == KEY_BYTES)
            memcpy(o->secret.b, t[i].pValue, KEY_BYTES);
    return o ? CKR_OK : CKR_DEVICE_MEMORY;
}

static CK_RV fake_DestroyObject(CK_SESSION_HANDLE s, CK_OBJECT_HANDLE h)
{
    (void)s;
    FAKE_MAY_FAIL();
    struct fake_object *o = fake_at(h);
    if (o)
        o->is_used = false;
    return o ? CKR_OK : CKR_OBJECT_HANDLE_INVALID;
}

static CK_RV fake_GetAttributeValue(CK_SESSION_HANDLE s, CK_OBJECT_HANDLE h, CK_ATTRIBUTE *t, CK_ULONG n)
{
    (void)s, (void)n;
    uint8_t lie = fake_lie();
    struct fake_object *o = fake_at(h);
    CK_ULONG room = t->ulValueLen;
    if (lie == 1 || !o)
        return lie == 1 ? fake_error() : CKR_OBJECT_HANDLE_INVALID;
    if (lie == 2) {
        t->ulValueLen = fake_absurd();
        return CKR_OK;
    }
    for (int i = 0; i < o->n_attrs; i++) {
        if (o->a[i].type != t->type)
            continue;
        t->ulValueLen = o->a[i].n;
        if (o->a[i].n > room)
            return CKR_BUFFER_TOO_SMALL;
        if (o->a[i].n > 0)
            memcpy(t->pValue, o->a[i].v, o->a[i].n);
        if (lie >= 3 && o->a[i].n > 0)
            ((uint8_t *)t->pValue)[fake_byte() % o->a[i].n] ^= fake_byte();
        return CKR_OK;
    }
    return CKR_ATTRIBUTE_TYPE_INVALID;
}

static CK_RV fake_FindObjectsInit(CK_SESSION_HANDLE s, CK_ATTRIBUTE *t, CK_ULONG n)
{
    (void)s;
    FAKE_MAY_FAIL();
    fake.n_find = n < 8 ? n : 8;
    fake.find_at = 0;
    for (CK_ULONG i = 0; i < fake.n_find; i++) {
        fake.find[i] = t[i];
        if (t[i].ulValueLen > sizeof fake.find_value[i])
            return CKR_ARGUMENTS_BAD;
        if (t[i].ulValueLen > 0)
            memcpy(fake.find_value[i], t[i].pValue, t[i].ulValueLen);
    }
    return CKR_OK;
}

static bool fake_matches(const struct fake_object *o)
{
    for (CK_ULONG i = 0; i < fake.n_find; i++) {
        bool has = false;
        for (int k = 0; k < o->n_attrs; k++)
            has = has || (o->a[k].type == fake.find[i].type && o->a[k].n == fake.find[i].ulValueLen
                          && memcmp(o->a[k].v, fake.find_value[i], o->a[k].n) == 0);
        if (!has)
            return false;
    }
    return true;
}

static CK_RV fake_FindObjects(CK_SESSION_HANDLE s, CK_OBJECT_HANDLE *out, CK_ULONG max, CK_ULONG *n)
{
    (void)s;
    uint8_t lie = fake_lie();
    if (lie == 1)
        return fake_error();
    *n = 0;
    for (; fake.find_at < FAKE_OBJECTS && *n < max; fake.find_at++)
        if (fake.o[fake.find_at].is_used && fake_matches(&fake.o[fake.find_at]))
            out[(*n)++] = lie == 3 ? fake_byte() : fake.find_at + 1;
    if (lie == 2)
        *n = fake_absurd();
    if (lie == 4 && max > 0) {
        out[0] = fake_byte();
        *n = 1;
    }
    return CKR_OK;
}

static CK_RV fake_FindObjectsFinal(CK_SESSION_HANDLE s) { (void)s; FAKE_MAY_FAIL(); return CKR_OK; }

static CK_RV fake_Init(CK_SESSION_HANDLE s, CK_MECHANISM *m, CK_OBJECT_HANDLE key)
{
    (void)s;
    FAKE_MAY_FAIL();
    fake.mech = m->mechanism;
    fake.key = key;
    if (m->mechanism == CKM_AES_GCM)
        fake.gcm = *(CK_GCM_PARAMS *)m->pParameter;
    return fake_at(key) ? CKR_OK : CKR_KEY_HANDLE_INVALID;
}

/* The honest bytes, or a lie about them; out has *n bytes of room. */
static CK_RV fake_give(const uint8_t *b, CK_ULONG len, uint8_t *out, CK_ULONG *n)
{
    uint8_t lie = fake_lie();
    CK_ULONG room = *n;
    if (lie == 1)
        return fake_error();
    if (len > room)
        return CKR_BUFFER_TOO_SMALL;
    memcpy(out, b, len);
    *n = lie == 2 ? fake_absurd() : len;
    if (lie >= 3 && len > 0)
        out[fake_byte() % len] ^= fake_byte();
    return CKR_OK;
}

static CK_RV fake_Encrypt(CK_SESSION_HANDLE s, CK_BYTE *in, CK_ULONG in_n, CK_BYTE *out, CK_ULONG *n)
{
    (void)s;
    uint8_t ct[128];
    struct fake_object *o = fake_at(fake.key);
    if (!o || in_n > sizeof ct - GCM_TAG)
        return CKR_DATA_LEN_RANGE;
    if (fake_lie() == 5)
        fake.gcm.pIv[0] ^= 1;
    gcm_seal(o->secret.b, KEY_BYTES, fake.gcm.pIv, fake.gcm.pAAD, fake.gcm.ulAADLen, in, in_n, ct);
    return fake_give(ct, in_n + GCM_TAG, out, n);
}

static CK_RV fake_Decrypt(CK_SESSION_HANDLE s, CK_BYTE *in, CK_ULONG in_n, CK_BYTE *out, CK_ULONG *n)
{
    (void)s;
    uint8_t plain[128];
    struct fake_object *o = fake_at(fake.key);
    if (!o || in_n > sizeof plain || in_n < GCM_TAG)
        return CKR_ENCRYPTED_DATA_LEN_RANGE;
    if (!gcm_open(o->secret.b, KEY_BYTES, fake.gcm.pIv, fake.gcm.pAAD, fake.gcm.ulAADLen, in, in_n, plain))
        return CKR_ENCRYPTED_DATA_INVALID;
    return fake_give(plain, in_n - GCM_TAG, out, n);
}

static CK_RV fake_Sign(CK_SESSION_HANDLE s, CK_BYTE *in, CK_ULONG in_n, CK_BYTE *out, CK_ULONG *n)
{
    (void)s;
    uint8_t sig[64] = { 0 };
    struct fake_object *o = fake_at(fake.key);
    if (!o)
        return CKR_KEY_HANDLE_INVALID;
    if (fake.mech == CKM_ECDSA && in_n == 32)
        (void)!ecdsa_sign(&o->secret, in, sig, NULL);
    else
        (void)!ed25519_sign(&o->secret, in, in_n, sig, NULL);
    return fake_give(sig, sizeof sig, out, n);
}

static void fake_secret(struct fake_object *o)
{
    static uint8_t counter;
    memset(o->secret.b, ++counter, KEY_BYTES);
    o->secret.b[0] = 1;
}

static CK_RV fake_GenerateKey(CK_SESSION_HANDLE s, CK_MECHANISM *m, CK_ATTRIBUTE *t, CK_ULONG n, CK_OBJECT_HANDLE *h)
{
    (void)s, (void)m;
    uint8_t lie = fake_lie();
    if (lie == 1)
        return fake_error();
    *h = lie == 2 ? 0 : fake_make(t, n);
    if (fake_at(*h))
        fake_secret(fake_at(*h));
    return CKR_OK;
}

static CK_RV fake_GenerateKeyPair(CK_SESSION_HANDLE s, CK_MECHANISM *m, CK_ATTRIBUTE *pub, CK_ULONG n_pub, CK_ATTRIBUTE *priv,
                                  CK_ULONG n_priv, CK_OBJECT_HANDLE *h_pub, CK_OBJECT_HANDLE *h_priv)
{
    (void)s;
    FAKE_MAY_FAIL();
    *h_priv = fake_make(priv, n_priv);
    *h_pub = fake_make(pub, n_pub);
    struct fake_object *a = fake_at(*h_priv), *b = fake_at(*h_pub);
    uint8_t point[2 + P256_POINT] = { 4, P256_POINT };
    if (!a || !b)
        return CKR_DEVICE_MEMORY;
    fake_secret(a);
    if (m->mechanism == CKM_EC_KEY_PAIR_GEN) {
        (void)!p256_public(&a->secret, point + 2, NULL);
        fake_attr(b, CKA_EC_POINT, point, sizeof point);
    } else {
        point[1] = ED25519_PUBLIC;
        (void)!ed25519_public(&a->secret, point + 2, NULL);
        fake_attr(b, CKA_EC_POINT, point, 2 + ED25519_PUBLIC);
    }
    return CKR_OK;
}

static CK_RV fake_WrapKey(CK_SESSION_HANDLE s, CK_MECHANISM *m, CK_OBJECT_HANDLE with, CK_OBJECT_HANDLE key, CK_BYTE *out, CK_ULONG *n)
{
    (void)s, (void)m;
    uint8_t wrapped[KWP_KEY];
    size_t len = 0;
    struct fake_object *w = fake_at(with), *o = fake_at(key);
    if (!w || !o || kwp_wrap(w->secret.b, KEY_BYTES, o->secret.b, KEY_BYTES, wrapped, sizeof wrapped, &len, NULL) != ERR_OK)
        return CKR_KEY_HANDLE_INVALID;
    return fake_give(wrapped, len, out, n);
}

static CK_RV fake_put_secret(const struct secret32 *k, CK_ATTRIBUTE *t, CK_ULONG n, CK_OBJECT_HANDLE *h)
{
    uint8_t lie = fake_lie();
    *h = fake_make(t, n);
    struct fake_object *o = fake_at(*h);
    if (!o)
        return CKR_DEVICE_MEMORY;
    o->secret = *k;
    fake_attr(o, CKA_VALUE, k->b, KEY_BYTES);
    if (lie == 2)
        *h = fake_byte();
    return lie == 1 ? fake_error() : CKR_OK;
}

static CK_RV fake_UnwrapKey(CK_SESSION_HANDLE s, CK_MECHANISM *m, CK_OBJECT_HANDLE with, CK_BYTE *in, CK_ULONG in_n, CK_ATTRIBUTE *t,
                            CK_ULONG n, CK_OBJECT_HANDLE *h)
{
    (void)s, (void)m;
    struct secret32 k = { { 0 } };
    size_t len = 0;
    struct fake_object *w = fake_at(with);
    if (!w || kwp_unwrap(w->secret.b, KEY_BYTES, in, in_n, k.b, KEY_BYTES, &len, NULL) != ERR_OK)
        return CKR_GENERAL_ERROR;
    return fake_put_secret(&k, t, n, h);
}

static CK_RV fake_DeriveKey(CK_SESSION_HANDLE s, CK_MECHANISM *m, CK_OBJECT_HANDLE with, CK_ATTRIBUTE *t, CK_ULONG n, CK_OBJECT_HANDLE *h)
{
    (void)s;
    struct secret32 z = { { 0 } };
    const CK_ECDH1_DERIVE_PARAMS *p = m->pParameter;
    struct fake_object *o = fake_at(with);
    if (!o || p->ulPublicDataLen != P256_POINT || p256_ecdh(&o->secret, p->pPublicData, &z, NULL) != ERR_OK)
        return CKR_DATA_INVALID;
    return fake_put_secret(&z, t, n, h);
}

static CK_RV fake_GenerateRandom(CK_SESSION_HANDLE s, CK_BYTE *out, CK_ULONG n) { (void)s; FAKE_MAY_FAIL(); memset(out, 7, n); return CKR_OK; }

static CK_FUNCTION_LIST fake_list = {
    .version = { 2, 40 },
    .C_Initialize = fake_Initialize,
    .C_Finalize = fake_Finalize,
    .C_GetInfo = fake_GetInfo,
    .C_GetSlotList = fake_GetSlotList,
    .C_GetSlotInfo = fake_GetSlotInfo,
    .C_GetTokenInfo = fake_GetTokenInfo,
    .C_GetMechanismInfo = fake_GetMechanismInfo,
    .C_InitToken = fake_InitToken,
    .C_InitPIN = fake_InitPIN,
    .C_OpenSession = fake_OpenSession,
    .C_CloseSession = fake_CloseSession,
    .C_GetSessionInfo = fake_GetSessionInfo,
    .C_Login = fake_Login,
    .C_Logout = fake_Logout,
    .C_CreateObject = fake_CreateObject,
    .C_DestroyObject = fake_DestroyObject,
    .C_GetAttributeValue = fake_GetAttributeValue,
    .C_FindObjectsInit = fake_FindObjectsInit,
    .C_FindObjects = fake_FindObjects,
    .C_FindObjectsFinal = fake_FindObjectsFinal,
    .C_EncryptInit = fake_Init,
    .C_Encrypt = fake_Encrypt,
    .C_DecryptInit = fake_Init,
    .C_Decrypt = fake_Decrypt,
    .C_SignInit = fake_Init,
    .C_Sign = fake_Sign,
    .C_GenerateKey = fake_GenerateKey,
    .C_GenerateKeyPair = fake_GenerateKeyPair,
    .C_WrapKey = fake_WrapKey,
    .C_UnwrapKey = fake_UnwrapKey,
    .C_DeriveKey = fake_DeriveKey,
    .C_GenerateRandom = fake_GenerateRandom,
};
