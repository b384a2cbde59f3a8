/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.h - strict JSON (RFC 8259) taken apart by hand where jansson must not be: before a signature is checked, in sandboxed
 * children, in the verifier that links nothing.
 *
 * A scanner moves over text in memory, allocates nothing and never reads past `end`. It refuses what parsers differ on: control
 * bytes in strings, \u0000, lone surrogates, leading zeros, numbers that are none. It does not check UTF-8 of the text
 * (str_is_utf8) and knows nothing of names that come twice: that is the caller's, who knows the grammar.
 * Errors: every function returns false and leaves `at` where it went wrong and `why` saying what. */
#pragma once
#include <stdint.h>
#include "core/base/str.h"

struct json_scan {
    const char *at, *end;
    const char *why;            /* after a refusal */
};

void json_scan_space(struct json_scan *s);
bool json_scan_take(struct json_scan *s, char c);               /* c behind any space; false moves nothing but the space */
bool json_scan_word(struct json_scan *s, const char *word);     /* true, false, null */
/* A string with its quotes, decoded into out, which has room for what is written between them; out NULL only measures. */
bool json_scan_string(struct json_scan *s, char *out, size_t *ret_n);
bool json_scan_number(struct json_scan *s);                     /* any finite number; moves over it */
bool json_scan_u64(struct json_scan *s, uint64_t *ret);         /* a non-negative integer of digits alone */
bool json_scan_value(struct json_scan *s, int depth);           /* any value of at most so many levels; moves over it */
