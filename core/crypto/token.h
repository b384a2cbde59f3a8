/* SPDX-License-Identifier: Apache-2.0 */
/* token.h - API tokens: "flj_<kind>_<30 base62>_<6 base62>", 178 random bits and a checksum.
 *
 * The prefix lets scanners find leaked tokens, the CRC-32 of everything before the last underscore lets them (and the API) drop
 * look-alikes without a database call. The database keeps token_hash only. kind is 1..12 of [a-z0-9].
 * Source: the design GitHub published for its tokens in 2021. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"

enum { TOKEN_KIND_MAX = 12, TOKEN_TEXT = 4 + TOKEN_KIND_MAX + 1 + 30 + 1 + 6 + 1 };

MUST_CHECK enum errc token_make(const char *kind, char ret[TOKEN_TEXT], struct err *e);
/* Shape and checksum only. kind: may be NULL. */
bool token_check(struct str token, struct str *ret_kind);
void token_hash(struct str token, uint8_t ret[32]);
