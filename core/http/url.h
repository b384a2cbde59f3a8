/* SPDX-License-Identifier: Apache-2.0 */
/* url.h - strict percent-decoding, query iteration and path segments.
 *
 * Strict: a '%' without two hex digits, an encoded NUL or control byte, or bytes that are not UTF-8 after decoding are refused.
 * Memory: decoded text lives in the arena; text without escapes is returned as a view of the input.
 * Errors: MALFORMED. Source: RFC 3986 §2.1, §3.3; application/x-www-form-urlencoded for '+' in queries. */
#pragma once
#include <stdbool.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* plus_is_space: queries yes, paths no. */
enum errc url_decode(struct arena *a, struct str s, bool plus_is_space, struct str *ret, struct err *e) MUST_CHECK;
/* One path segment: as url_decode, and refuses an encoded '/' or '\' and the segments "." and "..". */
enum errc url_segment_decode(struct arena *a, struct str segment, struct str *ret, struct err *e) MUST_CHECK;

/* for (struct str rest = r->query; url_query_next(a, &rest, &k, &v, &rc, e);) …; then TRY(rc).
 * Empty pairs ("a=1&&b") are skipped; a pair without '=' has an empty value. false: the end, or *rc tells what was wrong. */
bool url_query_next(struct arena *a, struct str *rest, struct str *key, struct str *value, enum errc *rc, struct err *e);
/* The first value of a key; *ret is STR_NULL when absent. */
enum errc url_query_get(struct arena *a, struct str query, const char *key, struct str *ret, struct err *e) MUST_CHECK;
/* Cut the next segment off *path ("/a/b" -> "a", then "b"); false at the end. "/a/" yields "a" then "". Not decoded. */
bool url_path_next(struct str *path, struct str *segment);
/* Append s with everything but unreserved characters percent-encoded. */
bool url_encode(struct buf *b, struct str s);
