/* SPDX-License-Identifier: Apache-2.0 */
/* pii_seal.h - sealing one text under one subject's key: deterministic, so that equal texts can be found. Pure but for OpenSSL.
 *
 * mac = HMAC-SHA-256(key, "falaj-pii-mac-v1"), enc = HMAC-SHA-256(key, "falaj-pii-enc-v1"); iv = HMAC-SHA-256(mac, field || 0 || text)
 * cut to 96 bits; AES-256-GCM(enc, iv, text, associated data "falaj-pii-v1", key id, field). The idea of a synthetic iv is RFC 5297's:
 * an iv repeats only with the same text, where the repetition is wanted. */
#pragma once
#include <stdbool.h>
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/secmem.h"

enum { PII_TEXT_MAX = 100, PII_SEALED_MAX = 256 };

/* Both keys of a subject; lies in locked memory. */
struct pii_keys {
    uint8_t mac[KEY_BYTES], enc[KEY_BYTES];
};
void pii_keys_of(const struct secret32 *key, struct pii_keys *ret);
/* False: plain is longer than PII_TEXT_MAX. out has PII_SEALED_MAX bytes. */
bool pii_seal(const struct pii_keys *k, struct uuid key_id, const char *field, struct str plain, char *out, struct str *ret);
/* The key that sealed it; false: not a sealed text. */
bool pii_key_id(struct str sealed, struct uuid *ret);
/* False: not of this key or field, or changed. out has PII_TEXT_MAX bytes. */
bool pii_open(const struct pii_keys *k, struct uuid key_id, const char *field, struct str sealed, char *out, struct str *ret);
