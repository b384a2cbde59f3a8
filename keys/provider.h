/* SPDX-License-Identifier: Apache-2.0 */
/* provider.h - where a zone's root key lives: one struct of functions per kind of key store.
 *
 * The root never leaves the provider: it wraps and unwraps tenant keys and signs audit heads. Calling order: open -> (any) ->
 * close. All functions but open and close are called from several threads at once. `binding` is the associated data; a mechanism
 * without associated data binds it otherwise (core/crypto/kwp.h). Blobs start with the header of core/crypto/seal.h, whose version
 * is the root version. Any provider opens the blobs of both mechanisms; which one it makes is its own affair.
 *
 * A store that has lost its device, refuses its PIN, or answers nonsense still opens: every function then answers SEALED with the
 * reason as the message, until health has brought it back. Only a wrong configuration makes open fail.
 *
 * Roots have versions from 1 up. New wraps use the highest. root_new adds one; root_destroy ends one for good, and with it every
 * blob and every copy of a blob under it. Rewrap first (KEYD_TKEK_REWRAP).
 *
 * Objects (providers whose object_new is NULL have none) are keys of single tenants inside the store, which never leave it: they
 * wrap data keys there. An object is found by its label and a random id together, so a reference made for one does not fit another.
 * New provider: one file, one row in provider_by_name. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"
#include "core/crypto/key_import.h"
#include "core/crypto/seal.h"
#include "core/crypto/sign.h"
#include "keys/attest.h"

struct root_info {
    uint32_t current_version;       /* new wraps use this */
    uint32_t oldest_version;        /* still unwraps; versions between may have been destroyed */
    bool is_hardware;               /* non-extractable in a token */
    char mechanism[16];             /* "aes-256-gcm", "kwp+hmac" */
};

enum wrap_choice { WRAP_AUTO, WRAP_GCM, WRAP_KWP };

struct provider_config {
    struct str zone;
    const char *path;               /* softfile: the file; pkcs11: the module */
    bool is_init;                   /* make the keys if there are none */
    bool is_rotate;                 /* make a new root version, which becomes the current one */
    bool is_root_only;              /* a tenant's own root: neither signing nor import key */
    enum wrap_choice mechanism;     /* AUTO: the best that the store can do */
    const char *token_label;        /* pkcs11 */
    const char *pin_file;           /* pkcs11; NULL: the systemd credential falaj-pin */
    void *functions;                /* pkcs11, tests: a CK_FUNCTION_LIST instead of the module at path */
};

enum { OBJECT_ID = 32, OBJECT_LABEL_MAX = 200 };

struct key_object {
    char label[OBJECT_LABEL_MAX];
    uint8_t id[OBJECT_ID];
};

struct key_provider {
    const char *name;
    bool is_for_production;
    enum errc (*open)(const struct provider_config *c, void **ret, struct err *e);
    void (*close)(void *p);
    enum errc (*health)(void *p, struct err *e);                        /* OK or SEALED; may reconnect */
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

    enum errc (*root_new)(void *p, uint32_t *ret_version, struct err *e);
    /* CONFLICT: the current version. NOT_FOUND: above it. *ret_was_there is false for one that is gone already. */
    enum errc (*root_destroy)(void *p, uint32_t version, bool *ret_was_there, struct err *e);
    enum errc (*import_public)(void *p, uint8_t ret_point[P256_POINT], struct err *e);
    enum errc (*import_open)(void *p, const uint8_t ephemeral[P256_POINT], const uint8_t sealed[IMPORT_SEALED], const struct aad *aad,
                             struct secret32 *ret, struct err *e);
    enum errc (*attest)(void *p, struct attest *ret, struct err *e);    /* works sealed as well, with what is known then */

    /* The label given; makes the object, or finds the one that has the label, and fills the id. */
    enum errc (*object_new)(void *p, struct key_object *o, struct err *e);
    enum errc (*object_destroy)(void *p, const char *label, bool *ret_was_there, struct err *e);
    /* As wrap and unwrap, but head.version is the caller's. NOT_FOUND: there is no such object any more. */
    enum errc (*object_wrap)(void *p, const struct key_object *o, struct blob_head head, const struct aad *binding,
                             const struct secret32 *key, struct key_blob *ret, struct err *e);
    enum errc (*object_unwrap)(void *p, const struct key_object *o, struct blob_head head, const struct aad *binding,
                               const struct key_blob *blob, struct secret32 *ret, struct err *e);
    /* The zone's authority for worker certificates: ECDSA P-256 in the layouts of core/crypto/ecdsa.h. NULL: the store has none. */
    enum errc (*ca_sign)(void *p, const uint8_t digest[32], uint8_t ret_sig[64], struct err *e);
    enum errc (*ca_public)(void *p, uint8_t ret_point[65], struct err *e);
};

extern const struct key_provider provider_softfile;
extern const struct key_provider provider_pkcs11;
const struct key_provider *provider_by_name(const char *name);          /* NULL: not known */
