/* SPDX-License-Identifier: Apache-2.0 */
/* p11_fake_store.h - the objects and sessions of the PKCS#11 module of p11_fake.h, and the script that tells when it lies.
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
