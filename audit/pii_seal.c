/* SPDX-License-Identifier: Apache-2.0 */
/* pii_seal.c - sealing one text under one subject's key. */
#include "audit/pii_seal.h"
#include "audit/scan_int.h"
#include "core/crypto/hash.h"
#include "core/crypto/seal.h"

static const char label[] = "sealed:1:";
enum { BOX_MAX = GCM_NONCE + PII_TEXT_MAX + GCM_TAG, FIELD_MAX = 32 };

void pii_keys_of(const struct secret32 *key, struct pii_keys *ret)
{
    hmac_sha256(key->b, KEY_BYTES, "falaj-pii-mac-v1", 16, ret->mac);
    hmac_sha256(key->b, KEY_BYTES, "falaj-pii-enc-v1", 16, ret->enc);
}

static void associate(struct aad *a, struct uuid key_id, const char *field)
{
    aad_init(a, "falaj-pii-v1");
    aad_uuid(a, key_id);
    aad_str(a, str_c(field));
}

static void synthetic_iv(const struct pii_keys *k, const char *field, struct str plain, uint8_t iv[GCM_NONCE])
{
    uint8_t text[FIELD_MAX + 1 + PII_TEXT_MAX], mac[SHA256_BYTES];
    size_t n = strlen(field);
    memcpy(text, field, n + 1);
    memcpy(text + n + 1, plain.ptr, plain.len);
    hmac_sha256(k->mac, sizeof k->mac, text, n + 1 + plain.len, mac);
    memcpy(iv, mac, GCM_NONCE);
}

bool pii_seal(const struct pii_keys *k, struct uuid key_id, const char *field, struct str plain, char *out, struct str *ret)
{
    uint8_t box[BOX_MAX];
    struct aad a;
    if (plain.len > PII_TEXT_MAX || strlen(field) > FIELD_MAX)
        return false;
    associate(&a, key_id, field);
    synthetic_iv(k, field, plain, box);
    if (!gcm_seal(k->enc, KEY_BYTES, box, a.b, a.n, plain.ptr, plain.len, box + GCM_NONCE))
        return false;
    char *p = out;
    memcpy(p, label, sizeof label - 1);
    p += sizeof label - 1;
    uuid_text(key_id, p);
    p += UUID_TEXT - 1;
    *p++ = ':';
    p += base64_encode(box, GCM_NONCE + plain.len + GCM_TAG, p, true);
    *ret = str_n(out, (size_t)(p - out));
    return true;
}

bool pii_key_id(struct str sealed, struct uuid *ret)
{
    struct str s = sealed;
    return s.ptr && scan_lit(&s, label) && scan_uuid(&s, ret) && scan_lit(&s, ":");
}

bool pii_open(const struct pii_keys *k, struct uuid key_id, const char *field, struct str sealed, char *out, struct str *ret)
{
    uint8_t box[BOX_MAX + 4];
    struct aad a;
    struct uuid of;
    size_t n, head = sizeof label - 1 + UUID_TEXT;
    if (!pii_key_id(sealed, &of) || !uuid_eq(of, key_id) || sealed.len < head)
        return false;
    if (!base64_decode(str_n(sealed.ptr + head, sealed.len - head), box, BOX_MAX, &n, true) || n < GCM_NONCE + GCM_TAG)
        return false;
    associate(&a, key_id, field);
    if (!gcm_open(k->enc, KEY_BYTES, box, a.b, a.n, box + GCM_NONCE, n - GCM_NONCE, (uint8_t *)out))
        return false;
    *ret = str_n(out, n - GCM_NONCE - GCM_TAG);
    return true;
}
