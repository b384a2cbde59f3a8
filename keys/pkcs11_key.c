/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_key.c - the keys of a zone in its token: made there, found by label, and refused when they were ever outside.
 *
 *   falaj-root-<zone>-v<N>   AES-256, CKA_ID the first 16 bytes of SHA-256("falaj-root" || zone)   wraps tenant keys
 *   falaj-sign-<zone>        Ed25519 pair                                                          signs audit heads
 *   falaj-import-<zone>      P-256 pair                                                            tenants seal their own keys to
 * it   falaj-ca-<zone>          P-256 pair                                                            signs certificates of
 * workers   falaj-tkek-…             AES-256, CKA_ID random                                                a sovereign tenant key
 *
 * A root must have been generated in the token (CKA_LOCAL) and never have been able to leave it (CKA_NEVER_EXTRACTABLE,
 * CKA_ALWAYS_SENSITIVE): an imported root has copies elsewhere, and destroying it would prove nothing. The signing key is tried
 * against its public half before it is used. Source: PKCS #11 v2.40, 4.4 to 4.10; curves: RFC 8410, RFC 5480. */
#include <stdio.h>
#include <string.h>
#include "core/crypto/hash.h"
#include "keys/pkcs11_int.h"

enum { ROOT_ID = 16, LIST_BATCH = 32, POINT_MAX = 80 };

#define ATTR(type, value) { type, &(value), sizeof(value) }
#define ATTR_TEXT(type, text) { type, (text), strlen(text) }

static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
static CK_KEY_TYPE key_aes = CKK_AES, key_ec = CKK_EC, key_edwards = CKK_EC_EDWARDS;
static CK_OBJECT_CLASS class_secret = CKO_SECRET_KEY, class_private = CKO_PRIVATE_KEY, class_public = CKO_PUBLIC_KEY;

enum errc p11_find(struct p11_session *s, CK_ATTRIBUTE *template, CK_ULONG n, CK_OBJECT_HANDLE *ret, CK_ULONG max,
                   CK_ULONG *ret_n,
                   struct err *e)
{
    CK_ULONG at = 0, got = 1;
    CK_RV rv = s->f->C_FindObjectsInit(s->h, template, n);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_FindObjectsInit", e);
    while (rv == CKR_OK && got > 0 && at < max) {
        got = 0;
        rv = s->f->C_FindObjects(s->h, ret + at, max - at, &got);
        if (rv == CKR_OK && got > max - at) {
            (void)s->f->C_FindObjectsFinal(s->h);
            return p11_nonsense(s, "C_FindObjects", e);
        }
        at += rv == CKR_OK ? got : 0;
    }
    (void)s->f->C_FindObjectsFinal(s->h);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_FindObjects", e);
    *ret_n = at;
    return ERR_OK;
}

enum errc p11_get(struct p11_session *s, CK_OBJECT_HANDLE key, CK_ATTRIBUTE_TYPE type, void *out, CK_ULONG cap, CK_ULONG *ret_n,
                  struct err *e)
{
    CK_ATTRIBUTE a = { type, out, cap };
    CK_RV rv = s->f->C_GetAttributeValue(s->h, key, &a, 1);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_GetAttributeValue", e);
    if (a.ulValueLen > cap)
        return p11_nonsense(s, "C_GetAttributeValue", e);
    *ret_n = a.ulValueLen;
    return ERR_OK;
}

static enum errc get_flag(struct p11_session *s, CK_OBJECT_HANDLE key, CK_ATTRIBUTE_TYPE type, bool *ret, struct err *e)
{
    CK_BBOOL v = CK_FALSE;
    CK_ULONG n = 0;
    TRY(p11_get(s, key, type, &v, sizeof v, &n, e));
    if (n != sizeof v)
        return p11_nonsense(s, "C_GetAttributeValue", e);
    *ret = v == CK_TRUE;
    return ERR_OK;
}

static enum errc get_label(struct p11_session *s, CK_OBJECT_HANDLE key, char ret[P11_LABEL_MAX], struct err *e)
{
    CK_ULONG n = 0;
    TRY(p11_get(s, key, CKA_LABEL, ret, P11_LABEL_MAX - 1, &n, e));
    ret[n] = '\0';
    return ERR_OK;
}

static void root_id(struct str zone, uint8_t ret[ROOT_ID])
{
    uint8_t digest[SHA256_BYTES], text[10 + 64];
    size_t n = zone.len < 64 ? zone.len : 64;
    memcpy(text, "falaj-root", 10);
    memcpy(text + 10, zone.ptr, n);
    sha256(text, 10 + n, digest);
    memcpy(ret, digest, ROOT_ID);
}

/* The rights are all four, because which mechanism wraps is a setting that may change while the key stays. */
enum errc p11_aes_new(struct p11_session *s, const char *label, const void *id, CK_ULONG id_len, CK_OBJECT_HANDLE *ret,
                      struct err *e)
{
    CK_ULONG bytes = KEY_BYTES;
    CK_MECHANISM m = { CKM_AES_KEY_GEN, NULL, 0 };
    CK_ATTRIBUTE template[] = {
        ATTR(CKA_CLASS, class_secret), ATTR(CKA_KEY_TYPE, key_aes), ATTR(CKA_VALUE_LEN, bytes), ATTR(CKA_TOKEN, yes),
        ATTR(CKA_PRIVATE, yes),        ATTR(CKA_SENSITIVE, yes),    ATTR(CKA_EXTRACTABLE, no),  ATTR(CKA_ENCRYPT, yes),
        ATTR(CKA_DECRYPT, yes),        ATTR(CKA_WRAP, yes),         ATTR(CKA_UNWRAP, yes),
            ATTR_TEXT(CKA_LABEL, (char *)label),
        { CKA_ID, (void *)id, id_len },
    };
    CK_OBJECT_HANDLE key = CK_INVALID_HANDLE;
    CK_RV rv = s->f->C_GenerateKey(s->h, &m, template, sizeof template / sizeof *template, &key);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_GenerateKey", e);
    if (key == CK_INVALID_HANDLE)
        return p11_nonsense(s, "C_GenerateKey", e);
    *ret = key;
    return ERR_OK;
}

enum errc p11_root_make(struct p11_session *s, struct str zone, uint32_t version, CK_OBJECT_HANDLE *ret, struct err *e)
{
    char label[P11_LABEL_MAX];
    uint8_t id[ROOT_ID];
    snprintf(label, sizeof label, "falaj-root-%.*s-v%u", STR_ARG(zone), version);
    root_id(zone, id);
    return p11_aes_new(s, label, id, sizeof id, ret, e);
}

enum errc p11_objects_with_label(struct p11_session *s, const char *label, const uint8_t *id, CK_OBJECT_HANDLE ret[2],
                                 CK_ULONG *ret_n, struct err *e)
{
    CK_ATTRIBUTE template[] = { ATTR(CKA_CLASS, class_secret), ATTR(CKA_TOKEN, yes), ATTR_TEXT(CKA_LABEL, (char *)label),
                                { CKA_ID, (void *)id, OBJECT_ID } };
    return p11_find(s, template, id ? 4 : 3, ret, 2, ret_n, e);
}

/* ---- a pair of keys ---- */

static enum errc pair_make(struct p11_session *s, const char *label, CK_MECHANISM_TYPE mechanism, CK_KEY_TYPE *type,
                           const void *curve, CK_ULONG curve_len, CK_ATTRIBUTE_TYPE use, struct err *e)
{
    CK_MECHANISM m = { mechanism, NULL, 0 };
    CK_ATTRIBUTE public[] = { ATTR(CKA_CLASS, class_public), { CKA_KEY_TYPE, type, sizeof *type }, ATTR(CKA_TOKEN, yes),
                              ATTR_TEXT(CKA_LABEL, (char *)label), { CKA_EC_PARAMS, (void *)curve, curve_len } };
    CK_ATTRIBUTE private[] = { ATTR(CKA_CLASS, class_private), { CKA_KEY_TYPE, type, sizeof *type }, ATTR(CKA_TOKEN, yes),
                               ATTR(CKA_PRIVATE, yes), ATTR(CKA_SENSITIVE, yes), ATTR(CKA_EXTRACTABLE, no),
                                   { use, &yes, sizeof yes },
                               ATTR_TEXT(CKA_LABEL, (char *)label) };
    CK_OBJECT_HANDLE pub = 0, priv = 0;
    CK_RV rv = s->f->C_GenerateKeyPair(s->h, &m, public, sizeof public / sizeof *public, private,
                                       sizeof private / sizeof *private, &pub, &priv);
    return rv == CKR_OK ? ERR_OK : p11_bad(s, rv, "C_GenerateKeyPair", e);
}

/* *ret 0: there is none. The point as the token has it: a DER OCTET STRING, or raw, or (v3.0 Edwards curves) a BIT STRING. */
static enum errc pair_find(struct p11_session *s, const char *label, CK_KEY_TYPE *type, CK_ULONG point_len, CK_OBJECT_HANDLE *ret,
                           uint8_t *ret_point, struct err *e)
{
    CK_ATTRIBUTE template[] = { ATTR(CKA_CLASS, class_private), ATTR(CKA_TOKEN, yes), { CKA_KEY_TYPE, type, sizeof *type },
                                ATTR_TEXT(CKA_LABEL, (char *)label) };
    CK_OBJECT_HANDLE priv[2], pub[2];
    CK_ULONG n = 0, n_pub = 0, len = 0;
    uint8_t point[POINT_MAX];
    *ret = CK_INVALID_HANDLE;
    TRY(p11_find(s, template, 4, priv, 2, &n, e));
    if (n == 0)
        return ERR_OK;
    template[0].pValue = &class_public;
    TRY(p11_find(s, template, 4, pub, 2, &n_pub, e));
    if (n != 1 || n_pub != 1)
        return FAIL(e, SEALED, "the token has %lu private and %lu public keys of one label; there must be one of each", n, n_pub);
    TRY(p11_get(s, pub[0], CKA_EC_POINT, point, sizeof point, &len, e));
    CK_ULONG head = len - point_len;
    if (len < point_len || head > 3 || head == 1)
        return p11_nonsense(s, "C_GetAttributeValue of a public key", e);
    memcpy(ret_point, point + head, point_len);
    *ret = priv[0];
    return ERR_OK;
}

/* Libraries differ in how they want the curve named: by its object identifier, or by its printed name. */
static enum errc sign_make(struct p11_session *s, const char *label, struct err *e)
{
    static const uint8_t oid[] = { 0x06, 0x03, 0x2b, 0x65, 0x70 };
    static const uint8_t name[] = { 0x13, 0x0c, 'e', 'd', 'w', 'a', 'r', 'd', 's', '2', '5', '5', '1', '9' };
    bool was_trouble = s->is_trouble;
    if (pair_make(s, label, CKM_EC_EDWARDS_KEY_PAIR_GEN, &key_edwards, oid, sizeof oid, CKA_SIGN, e) == ERR_OK)
        return ERR_OK;
    s->is_trouble = was_trouble;
    return pair_make(s, label, CKM_EC_EDWARDS_KEY_PAIR_GEN, &key_edwards, name, sizeof name, CKA_SIGN, e);
}

static enum errc sign_load(struct p11_session *s, const struct provider_config *c, struct attest *a, struct err *e)
{
    static const char trial[] = "falaj: does the signing key fit its public half?";
    char label[P11_LABEL_MAX];
    uint8_t sig[ED25519_SIG];
    snprintf(label, sizeof label, "falaj-sign-%.*s", STR_ARG(c->zone));
    TRY(pair_find(s, label, &key_edwards, ED25519_PUBLIC, &s->keys.sign, s->keys.public_key, e));
    if (!s->keys.sign && c->is_init) {
        TRY(sign_make(s, label, e));
        TRY(pair_find(s, label, &key_edwards, ED25519_PUBLIC, &s->keys.sign, s->keys.public_key, e));
    }
    if (!s->keys.sign)
        return FAIL(e, SEALED, "the token has no signing key of this zone");
    TRY(p11_sign(s, trial, sizeof trial, sig, e));
    a->has_signing_key = true;
    ed25519_key_id(s->keys.public_key, a->signing_key_id);
    return ERR_OK;
}

/* A P-256 pair for one use, or none: not every token can make one, and all else works without. */
static enum errc p256_load(struct p11_session *s, const struct provider_config *c, const char *name, CK_ATTRIBUTE_TYPE use,
                           CK_OBJECT_HANDLE *ret, uint8_t ret_point[P256_POINT], struct err *e)
{
    static const uint8_t oid[] = { 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07 };
    char label[P11_LABEL_MAX];
    struct err ignored;
    snprintf(label, sizeof label, "falaj-%s-%.*s", name, STR_ARG(c->zone));
    TRY(pair_find(s, label, &key_ec, P256_POINT, ret, ret_point, e));
    if (!*ret && c->is_init) {
        bool was_trouble = s->is_trouble;
        if (pair_make(s, label, CKM_EC_KEY_PAIR_GEN, &key_ec, oid, sizeof oid, use, &ignored) != ERR_OK)
            s->is_trouble = was_trouble;
        TRY(pair_find(s, label, &key_ec, P256_POINT, ret, ret_point, e));
    }
    if (*ret && p256_check(ret_point, &ignored) != ERR_OK)
        return p11_nonsense(s, "C_GetAttributeValue of a public key", e);
    return ERR_OK;
}

/* ---- roots ---- */

static enum errc root_check(struct p11_session *s, CK_OBJECT_HANDLE key, const struct attest_root *r, struct err *e)
{
    CK_ULONG bytes = 0, n = 0;
    TRY(p11_get(s, key, CKA_VALUE_LEN, &bytes, sizeof bytes, &n, e));
    if (n != sizeof bytes || bytes != KEY_BYTES)
        return FAIL(e, SEALED, "root version %u in the token is not an AES-256 key", r->version);
    if (!r->is_sensitive || r->is_extractable)
        return FAIL(e, SEALED, "root version %u can leave the token; it is refused", r->version);
    if (!r->is_never_extractable || !r->is_always_sensitive || !r->is_local)
        return FAIL(e, SEALED, "root version %u was not made in the token, or could leave it once; it is refused", r->version);
    return ERR_OK;
}

static enum errc root_read(struct p11_session *s, struct str prefix, CK_OBJECT_HANDLE key, struct attest_root *r, struct err *e)
{
    char label[P11_LABEL_MAX];
    int64_t version = 0;
    memset(r, 0, sizeof *r);
    TRY(get_label(s, key, label, e));
    struct str l = str_c(label);
    if (l.len <= prefix.len || l.len >= sizeof r->label || memcmp(l.ptr, prefix.ptr, prefix.len) != 0
        || !str_to_i64(str_n(l.ptr + prefix.len, l.len - prefix.len), 1, UINT32_MAX - 1, &version))
        return FAIL(e, SEALED, "a root key in the token has a label that is not one");
    snprintf(r->label, sizeof r->label, "%.*s", STR_ARG(l));
    r->version = (uint32_t)version;
    TRY(get_flag(s, key, CKA_SENSITIVE, &r->is_sensitive, e));
    TRY(get_flag(s, key, CKA_ALWAYS_SENSITIVE, &r->is_always_sensitive, e));
    TRY(get_flag(s, key, CKA_EXTRACTABLE, &r->is_extractable, e));
    TRY(get_flag(s, key, CKA_NEVER_EXTRACTABLE, &r->is_never_extractable, e));
    TRY(get_flag(s, key, CKA_LOCAL, &r->is_local, e));
    return root_check(s, key, r, e);
}

/* Insert by version: the keys rising, the attest falling and cut off at its end. */
static enum errc root_put(struct p11_keys *k, CK_OBJECT_HANDLE key, const struct attest_root *r, struct attest *a, struct err *e)
{
    uint32_t at = k->n_roots;
    while (at > 0 && k->roots[at - 1].version > r->version)
        at--;
    if (at > 0 && k->roots[at - 1].version == r->version)
        return FAIL(e, SEALED, "two keys in the token are root version %u", r->version);
    memmove(&k->roots[at + 1], &k->roots[at], (k->n_roots - at) * sizeof *k->roots);
    k->roots[at] = (struct p11_root){ r->version, key };
    uint32_t row = k->n_roots - at, kept = k->n_roots < ATTEST_ROOTS_MAX ? k->n_roots : ATTEST_ROOTS_MAX - 1;
    k->n_roots++;
    if (row < ATTEST_ROOTS_MAX) {
        memmove(&a->roots[row + 1], &a->roots[row], (kept - row) * sizeof *a->roots);
        a->roots[row] = *r;
    }
    return ERR_OK;
}

static enum errc roots_read(struct p11_session *s, struct str zone, struct attest *a, struct err *e)
{
    CK_OBJECT_HANDLE found[P11_ROOTS_MAX];
    CK_ULONG n = 0;
    uint8_t id[ROOT_ID];
    char prefix[P11_LABEL_MAX];
    struct attest_root r;
    root_id(zone, id);
    CK_ATTRIBUTE template[] = { ATTR(CKA_CLASS, class_secret), ATTR(CKA_TOKEN, yes), ATTR(CKA_KEY_TYPE, key_aes),
                               ATTR(CKA_ID, id) };
    snprintf(prefix, sizeof prefix, "falaj-root-%.*s-v", STR_ARG(zone));
    s->keys.n_roots = 0;
    memset(a->roots, 0, sizeof a->roots);
    TRY(p11_find(s, template, 4, found, P11_ROOTS_MAX, &n, e));
    if (n == P11_ROOTS_MAX)
        return FAIL(e, SEALED, "the token has more root versions than the %d that are read", P11_ROOTS_MAX - 1);
    for (CK_ULONG i = 0; i < n; i++) {
        TRY(root_read(s, str_c(prefix), found[i], &r, e));
        TRY(root_put(&s->keys, found[i], &r, a, e));
    }
    a->n_roots = s->keys.n_roots;
    a->oldest_root = n ? s->keys.roots[0].version : 0;
    a->current_root = n ? s->keys.roots[n - 1].version : 0;
    return ERR_OK;
}

enum errc p11_keys_load(struct p11_session *s, const struct provider_config *c, struct attest *a, struct err *e)
{
    CK_OBJECT_HANDLE made;
    TRY(roots_read(s, c->zone, a, e));
    bool is_first = s->keys.n_roots == 0 && c->is_init;
    if (is_first || (s->keys.n_roots > 0 && c->is_rotate)) {
        TRY(p11_root_make(s, c->zone, a->current_root + 1, &made, e));
        TRY(roots_read(s, c->zone, a, e));
    }
    if (s->keys.n_roots == 0)
        return FAIL(e, SEALED, "the token has no root key of this zone");
    if (c->is_root_only)
        return ERR_OK;
    TRY(sign_load(s, c, a, e));
    TRY(p256_load(s, c, "ca", CKA_SIGN, &s->keys.ca, s->keys.ca_point, e));
    TRY(p256_load(s, c, "import", CKA_DERIVE, &s->keys.import, s->keys.import_point, e));
    a->has_import_key = s->keys.import != CK_INVALID_HANDLE;
    memcpy(a->import_point, s->keys.import_point, P256_POINT);
    return ERR_OK;
}
