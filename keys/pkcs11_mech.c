/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_mech.c - what a token does with its keys: AES-GCM, RFC 5649, Ed25519, ECDSA, Diffie-Hellman.
 *
 * AES-GCM by C_Encrypt is preferred, because it binds the associated data itself; C_WrapKey with AES-GCM is known to few tokens.
 * The IV is ours, but some tokens choose their own and write it back, so it is read back. RFC 5649 is 0x210B in PKCS #11 v3.0 and
 * 0x210A in older libraries, which is tried second. Nothing is believed from a list of mechanisms: each is tried, associated data
 * and refusal included. CK_GCM_PARAMS is the layout of v2.40 with ulIvBits (48 bytes).
 * A token says of a wrong tag whatever it likes (CKR_GENERAL_ERROR, even), which a token that has broken says as well. So a
 * failed unwrap is DAMAGED only after the token has wrapped and unwrapped something else with the same key. */
#include <string.h>
#include "core/base/cleanup.h"
#include "core/crypto/ecdsa.h"
#include "core/crypto/kwp.h"
#include "core/crypto/rand.h"
#include "keys/pkcs11_int.h"

#define CKM_KWP_V3 0x210bUL

enum { SEALED_KEY = KEY_BYTES + GCM_TAG, ROOM = 256 };

const char *p11_mech_name(enum p11_mech m)
{
    return m == P11_GCM ? "aes-256-gcm" : m == P11_KWP ? "kwp+hmac" : "none";
}

static enum errc gcm_encrypt(struct p11_session *s, CK_OBJECT_HANDLE with, uint8_t iv[GCM_NONCE], const struct aad *aad,
                             const struct secret32 *key, uint8_t ret[SEALED_KEY], struct err *e)
{
    uint8_t out[ROOM];
    CK_ULONG n = sizeof out;
    CK_GCM_PARAMS p = { .pIv = iv, .ulIvLen = GCM_NONCE, .ulIvBits = GCM_NONCE * 8, .pAAD = (uint8_t *)aad->b, .ulAADLen = aad->n,
                        .ulTagBits = GCM_TAG * 8 };
    CK_MECHANISM m = { CKM_AES_GCM, &p, sizeof p };
    CK_RV rv = s->f->C_EncryptInit(s->h, &m, with);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_EncryptInit", e);
    rv = s->f->C_Encrypt(s->h, (CK_BYTE_PTR)key->b, KEY_BYTES, out, &n);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_Encrypt", e);
    if (n != SEALED_KEY || p.pIv != iv || p.ulIvLen != GCM_NONCE)
        return p11_nonsense(s, "C_Encrypt", e);
    memcpy(ret, out, SEALED_KEY);
    return ERR_OK;
}

/* *ret_rv: what the token said, without judging it. */
static bool gcm_decrypt(struct p11_session *s, CK_OBJECT_HANDLE with, const uint8_t *iv, const struct aad *aad, const uint8_t *ct,
                        struct secret32 *ret, CK_RV *ret_rv)
{
    uint8_t out[ROOM];
    CK_ULONG n = sizeof out;
    CK_GCM_PARAMS p = { .pIv = (uint8_t *)iv, .ulIvLen = GCM_NONCE, .ulIvBits = GCM_NONCE * 8, .pAAD = (uint8_t *)aad->b,
                        .ulAADLen = aad->n, .ulTagBits = GCM_TAG * 8 };
    CK_MECHANISM m = { CKM_AES_GCM, &p, sizeof p };
    *ret_rv = s->f->C_DecryptInit(s->h, &m, with);
    if (*ret_rv == CKR_OK)
        *ret_rv = s->f->C_Decrypt(s->h, (CK_BYTE_PTR)ct, SEALED_KEY, out, &n);
    bool ok = *ret_rv == CKR_OK && n == KEY_BYTES;
    if (ok)
        memcpy(ret->b, out, KEY_BYTES);
    secret_wipe(out, sizeof out);
    return ok;
}

/* The key becomes an object of the session for as long as the wrapping takes. */
static enum errc kwp_wrap_in(struct p11_session *s, CK_OBJECT_HANDLE with, const struct secret32 *key, uint8_t ret[KWP_KEY],
                             struct err *e)
{
    CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_AES;
    CK_ATTRIBUTE template[] = { { CKA_CLASS, &class, sizeof class },      { CKA_KEY_TYPE, &type, sizeof type },
                                { CKA_TOKEN, &no, sizeof no },            { CKA_SENSITIVE, &no, sizeof no },
                                { CKA_EXTRACTABLE, &yes, sizeof yes },    { CKA_VALUE, (void *)key->b, KEY_BYTES } };
    CK_MECHANISM m = { s->kwp, NULL, 0 };
    CK_OBJECT_HANDLE target = CK_INVALID_HANDLE;
    uint8_t out[ROOM];
    CK_ULONG n = sizeof out;
    CK_RV rv = s->f->C_CreateObject(s->h, template, sizeof template / sizeof *template, &target);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_CreateObject", e);
    rv = s->f->C_WrapKey(s->h, &m, with, target, out, &n);
    (void)s->f->C_DestroyObject(s->h, target);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_WrapKey", e);
    if (n != KWP_KEY)
        return p11_nonsense(s, "C_WrapKey", e);
    memcpy(ret, out, KWP_KEY);
    return ERR_OK;
}

/* An object of the session that may be read: its 32 bytes, and then it is gone. */
static bool take_value(struct p11_session *s, CK_OBJECT_HANDLE from, struct secret32 *ret, CK_RV *ret_rv)
{
    uint8_t out[ROOM];
    CK_ATTRIBUTE a = { CKA_VALUE, out, sizeof out };
    *ret_rv = s->f->C_GetAttributeValue(s->h, from, &a, 1);
    (void)s->f->C_DestroyObject(s->h, from);
    bool ok = *ret_rv == CKR_OK && a.ulValueLen == KEY_BYTES;
    if (ok)
        memcpy(ret->b, out, KEY_BYTES);
    secret_wipe(out, sizeof out);
    return ok;
}

static bool kwp_unwrap_in(struct p11_session *s, CK_OBJECT_HANDLE with, const uint8_t *wrapped, struct secret32 *ret,
                          CK_RV *ret_rv)
{
    CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_AES;
    CK_ATTRIBUTE template[] = { { CKA_CLASS, &class, sizeof class }, { CKA_KEY_TYPE, &type, sizeof type },
                                { CKA_TOKEN, &no, sizeof no },       { CKA_SENSITIVE, &no, sizeof no },
                                { CKA_EXTRACTABLE, &yes, sizeof yes } };
    CK_MECHANISM m = { s->kwp, NULL, 0 };
    CK_OBJECT_HANDLE made = CK_INVALID_HANDLE;
    *ret_rv = s->f->C_UnwrapKey(s->h, &m, with, (CK_BYTE_PTR)wrapped, KWP_KEY, template, sizeof template / sizeof *template,
                                &made);
    return *ret_rv == CKR_OK && take_value(s, made, ret, ret_rv);
}

/* ---- trying ---- */

static bool gcm_works(struct p11_session *s, CK_OBJECT_HANDLE key)
{
    struct secret32 in, out = { { 0 } };
    uint8_t iv[GCM_NONCE], ct[SEALED_KEY];
    struct aad aad, other;
    CK_RV rv;
    aad_init(&aad, "falaj-trial");
    aad_init(&other, "falaj-trial-of-something-else");
    bool ok = rand_bytes(in.b, sizeof in.b, NULL) == ERR_OK && rand_bytes(iv, sizeof iv, NULL) == ERR_OK
              && gcm_encrypt(s, key, iv, &aad, &in, ct, NULL) == ERR_OK && gcm_decrypt(s, key, iv, &aad, ct, &out, &rv)
              && memcmp(in.b, out.b, KEY_BYTES) == 0;
    return ok && !gcm_decrypt(s, key, iv, &other, ct, &out, &rv);
}

static bool kwp_works(struct p11_session *s, CK_OBJECT_HANDLE key)
{
    struct secret32 in, out = { { 0 } };
    uint8_t wrapped[KWP_KEY];
    CK_RV rv;
    bool ok = rand_bytes(in.b, sizeof in.b, NULL) == ERR_OK && kwp_wrap_in(s, key, &in, wrapped, NULL) == ERR_OK
              && kwp_unwrap_in(s, key, wrapped, &out, &rv) && memcmp(in.b, out.b, KEY_BYTES) == 0;
    wrapped[5] ^= 1;
    return ok && !kwp_unwrap_in(s, key, wrapped, &out, &rv);
}

static bool is_listed(struct p11_session *s, CK_MECHANISM_TYPE m, CK_FLAGS needed)
{
    CK_MECHANISM_INFO info;
    memset(&info, 0, sizeof info);
    return s->f->C_GetMechanismInfo(s->slot, m, &info) == CKR_OK && (info.flags & needed) == needed;
}

enum errc p11_mech_probe(struct p11_session *s, enum wrap_choice choice, CK_OBJECT_HANDLE key, struct err *e)
{
    static const CK_MECHANISM_TYPE names[] = { CKM_KWP_V3, CKM_AES_KEY_WRAP_PAD };
    struct p11_session trial = *s;              /* what fails here is an answer, not a trouble */
    s->has_gcm = is_listed(s, CKM_AES_GCM, CKF_ENCRYPT | CKF_DECRYPT) && gcm_works(&trial, key);
    s->kwp = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && s->kwp == 0; i++) {
        trial.kwp = names[i];
        if (is_listed(s, names[i], CKF_WRAP | CKF_UNWRAP) && kwp_works(&trial, key))
            s->kwp = names[i];
    }
    s->mech = s->has_gcm && choice != WRAP_KWP ? P11_GCM : s->kwp && choice != WRAP_GCM ? P11_KWP : P11_NONE;
    if (s->mech != P11_NONE)
        return ERR_OK;
    s->is_trouble = true;
    return FAIL(e, SEALED, choice == WRAP_AUTO ? "the token can wrap neither by AES-GCM nor by RFC 5649"
                                               : "the token cannot wrap by the mechanism that is configured");
}

/* ---- wrapping ---- */

enum errc p11_wrap(struct p11_session *s, CK_OBJECT_HANDLE with, const struct blob_head *head, const struct aad *binding,
                   const struct secret32 *key, struct key_blob *ret, struct err *e)
{
    struct blob_head h = *head;
    struct aad all = *binding;
    uint8_t wrapped[KWP_KEY];
    if (s->mech == P11_KWP) {
        TRY(kwp_wrap_in(s, with, key, wrapped, e));
        return kwp_blob_make(head, binding, key, wrapped, ret, e);
    }
    struct key_blob blob = { .n = BLOB_OVERHEAD + KEY_BYTES };
    h.alg = BLOB_AES256_GCM;
    blob_head_write(&h, blob.b);
    aad_bytes(&all, blob.b, BLOB_HEAD);
    if (all.overflow)
        return FAIL(e, INVALID, "the associated data is too long");
    TRY(rand_bytes(blob.b + BLOB_HEAD, GCM_NONCE, e));
    TRY(gcm_encrypt(s, with, blob.b + BLOB_HEAD, &all, key, blob.b + BLOB_HEAD + GCM_NONCE, e));
    *ret = blob;
    return ERR_OK;
}

static enum errc refused(struct p11_session *s, CK_OBJECT_HANDLE with, bool is_gcm, CK_RV rv, struct err *e)
{
    if (p11_rv_is_lost(rv) || !(is_gcm ? gcm_works(s, with) : kwp_works(s, with)))
        return p11_bad(s, rv, "unwrapping", e);
    s->is_lost = s->is_trouble = false;
    return FAIL(e, DAMAGED, "the wrapped key does not open at this place");
}

static enum errc unwrap_gcm(struct p11_session *s, CK_OBJECT_HANDLE with, const struct blob_head *head, const struct aad *binding,
                            const struct key_blob *blob, struct secret32 *ret, struct err *e)
{
    struct blob_head seen;
    struct aad all = *binding;
    CK_RV rv;
    TRY(blob_parse(blob->b, blob->n, &seen, e));
    aad_bytes(&all, blob->b, BLOB_HEAD);
    if (blob->n != BLOB_OVERHEAD + KEY_BYTES || seen.zone != head->zone || !uuid_eq(seen.tenant, head->tenant)
        || seen.version != head->version || all.overflow)
        return FAIL(e, DAMAGED, "the wrapped key does not open at this place");
    if (!s->has_gcm)
        return FAIL(e, SEALED, "the key was wrapped by AES-GCM, which this token does not do");
    if (!gcm_decrypt(s, with, blob->b + BLOB_HEAD, &all, blob->b + BLOB_HEAD + GCM_NONCE, ret, &rv))
        return refused(s, with, true, rv, e);
    return ERR_OK;
}

static enum errc unwrap_kwp(struct p11_session *s, CK_OBJECT_HANDLE with, const struct blob_head *head, const struct aad *binding,
                            const struct key_blob *blob, struct secret32 *ret, struct err *e)
{
    CK_RV rv;
    TRY(kwp_blob_parse(head, blob, e));
    if (!s->kwp)
        return FAIL(e, SEALED, "the key was wrapped by RFC 5649, which this token does not do");
    if (!kwp_unwrap_in(s, with, blob->b + BLOB_HEAD, ret, &rv))
        return refused(s, with, false, rv, e);
    enum errc rc = kwp_blob_check(binding, blob, ret, e);
    if (rc != ERR_OK)
        secret32_wipe(ret);
    return rc;
}

enum errc p11_unwrap(struct p11_session *s, CK_OBJECT_HANDLE with, const struct blob_head *head, const struct aad *binding,
                     const struct key_blob *blob, struct secret32 *ret, struct err *e)
{
    struct blob_head seen;
    TRY(blob_parse(blob->b, blob->n, &seen, e));
    return seen.alg == BLOB_AES256_GCM ? unwrap_gcm(s, with, head, binding, blob, ret, e)
                                       : unwrap_kwp(s, with, head, binding, blob, ret, e);
}

/* out has ROOM bytes; *ret_n of them are the signature. */
static enum errc sign_with(struct p11_session *s, CK_MECHANISM_TYPE mechanism, CK_OBJECT_HANDLE key, const void *bytes, size_t n,
                           uint8_t out[ROOM], CK_ULONG *ret_n, struct err *e)
{
    CK_MECHANISM m = { mechanism, NULL, 0 };
    CK_RV rv = s->f->C_SignInit(s->h, &m, key);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_SignInit", e);
    *ret_n = ROOM;
    rv = s->f->C_Sign(s->h, n ? (CK_BYTE_PTR)bytes : (CK_BYTE_PTR) "", n, out, ret_n);
    return rv == CKR_OK ? ERR_OK : p11_bad(s, rv, "C_Sign", e);
}

/* Both are checked with the public half: a signature that a token got wrong must not go out into the world. */
enum errc p11_sign(struct p11_session *s, const void *bytes, size_t n, uint8_t ret[ED25519_SIG], struct err *e)
{
    uint8_t out[ROOM];
    CK_ULONG len = 0;
    TRY(sign_with(s, CKM_EDDSA, s->keys.sign, bytes, n, out, &len, e));
    if (len != ED25519_SIG || !ed25519_verify(s->keys.public_key, bytes, n, out))
        return p11_nonsense(s, "C_Sign", e);
    memcpy(ret, out, ED25519_SIG);
    return ERR_OK;
}

enum errc p11_ecdsa(struct p11_session *s, const uint8_t digest[32], uint8_t ret[64], struct err *e)
{
    uint8_t out[ROOM];
    CK_ULONG len = 0;
    TRY(sign_with(s, CKM_ECDSA, s->keys.ca, digest, SHA256_BYTES, out, &len, e));
    if (len != ECDSA_SIG_BYTES || !ecdsa_verify(s->keys.ca_point, digest, out))
        return p11_nonsense(s, "C_Sign", e);
    memcpy(ret, out, ECDSA_SIG_BYTES);
    return ERR_OK;
}

enum errc p11_ecdh(struct p11_session *s, const uint8_t peer[P256_POINT], struct secret32 *ret, struct err *e)
{
    CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_GENERIC_SECRET;
    CK_ULONG bytes = KEY_BYTES;
    CK_ATTRIBUTE template[] = { { CKA_CLASS, &class, sizeof class },   { CKA_KEY_TYPE, &type, sizeof type },
                                { CKA_TOKEN, &no, sizeof no },         { CKA_SENSITIVE, &no, sizeof no },
                                { CKA_EXTRACTABLE, &yes, sizeof yes }, { CKA_VALUE_LEN, &bytes, sizeof bytes } };
    CK_ECDH1_DERIVE_PARAMS p = { .kdf = CKD_NULL, .pPublicData = (CK_BYTE_PTR)peer, .ulPublicDataLen = P256_POINT };
    CK_MECHANISM m = { CKM_ECDH1_DERIVE, &p, sizeof p };
    CK_OBJECT_HANDLE made = CK_INVALID_HANDLE;
    TRY(p256_check(peer, e));
    CK_RV rv = s->f->C_DeriveKey(s->h, &m, s->keys.import, template, sizeof template / sizeof *template, &made);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_DeriveKey", e);
    if (!take_value(s, made, ret, &rv))
        return rv == CKR_OK ? p11_nonsense(s, "C_DeriveKey", e) : p11_bad(s, rv, "C_GetAttributeValue", e);
    return ERR_OK;
}
