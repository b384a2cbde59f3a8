/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_json_int.h - the strict, small JSON reader of the JWT door: one object, its members as raw spans.
 *
 * It reads before any signature is checked, so it is bounded (64 members, depth 16) and refuses what parsers differ on:
 * duplicate names at the top, control bytes in strings, trailing bytes, lone surrogates, leading zeros. Source: RFC 8259. */
#pragma once
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/str.h"

enum { JWS_JSON_MEMBERS = 64, JWS_JSON_DEPTH = 16 };

struct jws_member {
    struct str name;            /* decoded */
    struct str raw;             /* the value as it stands in the text */
};

struct jws_object {
    struct jws_member m[JWS_JSON_MEMBERS];
    size_t n;
};

bool jws_json_object(struct arena *a, struct str text, struct jws_object *ret);
/* The raw value, or absent. */
struct str jws_json_get(const struct jws_object *o, const char *name);
bool jws_json_string(struct arena *a, struct str raw, struct str *ret);
bool jws_json_seconds(struct str raw, int64_t *ret);            /* a NumericDate between 0 and the year 9999 */
bool jws_json_strings(struct arena *a, struct str raw, struct str *ret, size_t max, size_t *ret_n);
