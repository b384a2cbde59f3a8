/* SPDX-License-Identifier: Apache-2.0 */
/* rawjson_int.h - finding the text of a value inside JSON text that the parser has accepted, for core/json only.
 *
 * jansson keeps no positions, and printing its tree again would change numbers; this lets struct json keep the caller's bytes.
 * rawjson_depth, rawjson_member and rawjson_value take unchecked text too: what they find may be no JSON, but is in the text. */
#pragma once
#include "core/base/str.h"

/* Deepest nesting of brackets, those inside strings not counted; stops counting at limit + 1. */
int rawjson_depth(struct str text, int limit);
/* Text of a member. False: not there, or a name with escapes was met (compare such names by the tree). */
bool rawjson_member(struct str object, struct str name, struct str *ret);
/* Just behind the value that begins at i; takes unchecked text and stays within it. */
size_t rawjson_value(struct str text, size_t i);
/* Where the last item that was asked for begins; begin with { 0 }. Asked for in order, all items of an array cost one pass over it. */
struct rawjson_cursor {
    size_t index, offset;               /* offset 0: before the first */
};
bool rawjson_item(struct str array, struct rawjson_cursor *c, size_t i, struct str *ret);
