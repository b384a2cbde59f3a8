/* SPDX-License-Identifier: Apache-2.0 */
/* provider.h - where a zone's root key lives: one struct of functions per kind of key store.
 *
 * The root never leaves the provider: it wraps and unwraps tenant keys and signs audit heads. Calling order: open -> (any) ->
 * close. All functions but open and close are called from several threads at once. A provider that has lost its device answers
 * SEALED until health brings it back. `binding` is the associated data; a mechanism without associated data must bind it otherwise
 * (HMAC beside the blob). Blobs start with the header of core/crypto/seal.h, whose version is the root version.
 * New provider: one file, one row in provider_by_name. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"
#include "core/crypto/seal.h"
#include "core/crypto/sign.h"

struct root_info {
    uint32_t current_version;       /* new wraps use this */
    uint32_t oldest_version;        /* still unwraps */
    bool is_hardware;               /* non-extractable in a token */
    char mechanism[16];             /* "aes-256-gcm", "kwp+hmac" */
};

struct provider_config {
    struct str zone;
    const char *path;               /* softfile: the file; pkcs11: the module */
    bool is_init;                   /* make the root if there is none */
    bool is_rotate;                 /* make a new root version, which becomes the current one */
    const char *token_label;        /* pkcs11 */
    const char *pin_file;           /* pkcs11 */
};

struct key_provider {
    const char *name;
    bool is_for_production;
    enum errc (*open)(const struct provider_config *c, void **ret, struct err *e);
    void (*close)(void *p);
    enum errc (*health)(void *p, struct err *e);                        /* OK or SEALED/UNAVAILABLE; may reconnect */
    enum errc (*root_info)(void *p, struct root_info *ret, struct err *e);
    /* head.version is set by the provider to the current root version. */
    enum errc (*wrap)(void *p, struct blob_head head, const struct aad *binding, const struct secret32 *key,
                      struct key_blob *ret, struct err *e);
    /* head.version is taken from the blob; every other member must equal the blob's. */
    enum errc (*unwrap)(void *p, struct blob_head head, const struct aad *binding, const struct key_blob *blob,
                        struct secret32 *ret, struct err *e);
    enum errc (*sign)(void *p, const void *bytes, size_t n, uint8_t ret_sig[ED25519_SIG], struct err *e);
    enum errc (*public_key)(void *p, uint8_t ret_public[ED25519_PUBLIC], struct err *e);
    enum errc (*random)(void *p, void *out, size_t n, struct err *e);   /* key material for TKEKs and DEKs */
};

extern const struct key_provider provider_softfile;
const struct key_provider *provider_by_name(const char *name);          /* NULL: not known */
