/* SPDX-License-Identifier: Apache-2.0 */
/* key_text.h - a file of public keys as people hand it on: what falaj-verify and falaj take for --key. */
#pragma once
#include <stddef.h>
#include "audit/head.h"

/* One public key in PEM, or a key to a line, 32 bytes as base64 (as GET /v1/audit/keys gives it) or hex; empty lines and
 * those that begin with # are none. At most max keys go to `key`. INVALID: a line that is no key, none at all, or too many. */
enum errc key_text_parse(struct str text, uint8_t (*key)[AUDIT_PUB], size_t max, size_t *ret_n, struct err *e) MUST_CHECK;
