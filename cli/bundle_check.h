/* SPDX-License-Identifier: Apache-2.0 */
/* bundle_check.h - an audit bundle in a file, checked offline with audit/verify.h: for `falaj audit verify` and `falaj demo`. */
#pragma once
#include "audit/verify.h"
#include "cli/command.h"

enum { BUNDLE_KEYS_MAX = 16 };

struct bundle_keys {
    uint8_t key[BUNDLE_KEYS_MAX][AUDIT_PUB];
    size_t count;
};

/* Every line of text that is a key (base64 or hex of 32 bytes), or one PEM public key. INVALID when there is none. */
enum errc bundle_keys_parse(struct str text, struct bundle_keys *ret, struct err *e) MUST_CHECK;
/* opts NULL: nothing but the keys. INVALID when the file cannot be opened; what is wrong inside the bundle stands in *ret. */
enum errc bundle_check(const char *path, const struct bundle_keys *keys, const struct verify_opts *opts,
        struct verify_result *ret, struct err *e) MUST_CHECK;
