/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.h - for formats of our own whose JSON has its members in one order: what must stand next is taken, or it is refused.
 *
 * Over core/base/json_scan.h; nothing is read past the end. Errors: false, with `at` where it went wrong. */
#pragma once
#include "core/base/json_scan.h"

/* "key": */
bool json_read_key(struct json_scan *s, const char *key);
/* A string, in the arena; of at most `most` bytes, UTF-8. */
bool json_read_text(struct json_scan *s, struct arena *a, size_t most, struct str *ret);
bool json_read_i64(struct json_scan *s, int64_t *ret);
bool json_read_f64(struct json_scan *s, double *ret);
/* A list of whole numbers, at most `most`. */
bool json_read_i64s(struct json_scan *s, int64_t *ret, size_t most, size_t *ret_n);
/* Between members of a list that was opened: true before each one. `first` starts true. */
bool json_read_more(struct json_scan *s, char close, bool *first);
