/* SPDX-License-Identifier: Apache-2.0 */
/* p11_fake.h - a PKCS#11 module that works, until its script says otherwise: for fuzzing and for a hostile library.
 * Its objects, sessions and script are in p11_fake_store.h; here are its cryptography and its function list. */
#pragma once
#include "p11_fake_store.h"

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
