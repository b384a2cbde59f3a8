/* SPDX-License-Identifier: Apache-2.0 */
/* attest.h - what a key store says of itself, for evidence reports: the store, the token, the mechanisms, the keys and their flags.
 *
 * Plain data, filled by a provider and carried by KEYD_ATTEST. Nothing in it is secret. Texts come from a module that nobody here
 * vouches for: they hold printable ASCII only, everything else is '?'. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/crypto/p256.h"
#include "core/crypto/sign.h"

enum { ATTEST_ROOTS_MAX = 32, ATTEST_TENANTS_MAX = 8, ATTEST_REASON_MAX = 160, ATTEST_LABEL_MAX = 100 };

struct attest_root {
    uint32_t version;
    bool is_sensitive, is_always_sensitive, is_extractable, is_never_extractable, is_local;
    char label[ATTEST_LABEL_MAX];
};

/* A tenant whose root is in a token of its own. */
struct attest_tenant {
    struct uuid tenant;
    bool is_sealed;
    char token_label[33];
};

struct attest {
    bool is_sealed, is_hardware, has_signing_key, has_import_key, has_objects;
    uint32_t current_root, oldest_root;
    uint32_t n_roots;                   /* all of them; `roots` holds the newest ATTEST_ROOTS_MAX */
    uint32_t n_tenants;
    char provider[16];
    char mechanism[16];                 /* of new wraps */
    char module[64];                    /* file name of the module, without its folder */
    char library[72];                   /* description, version and manufacturer of the library */
    char token_label[33], token_manufacturer[33], token_model[17], token_serial[17], firmware[12], hardware[12];
    char reason[ATTEST_REASON_MAX];     /* why it is sealed; empty when it is not */
    uint8_t signing_key_id[KEY_ID_BYTES];
    uint8_t import_point[P256_POINT];
    struct attest_root roots[ATTEST_ROOTS_MAX];
    struct attest_tenant tenants[ATTEST_TENANTS_MAX];
};
