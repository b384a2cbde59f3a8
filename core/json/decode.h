/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h - JSON text to a C struct by its schema, strictly.
 *
 * Refused: duplicate and unknown members (UNKNOWN_FIELD), missing F_REQ members (MISSING_FIELD), wrong types, ranges, enum
 * values and checks (INVALID), text that is not JSON, not UTF-8 or deeper than JSON_DEPTH_MAX (MALFORMED). err.field is the JSON
 * pointer, list indexes included; the message names what was expected and what was got, never a secret's value.
 * null is the same as an absent member. F_PATH and F_QUERY fields are not touched (field_from_text and schema_from_query fill
 * those), F_NOIN fields are unknown members. Absent fields get their .dflt, or stay as they are.
 * The caller caps the size of the text. Empty text counts as {}. Memory: values live in the arena; *ret is written only on
 * success. */
#pragma once
#include "core/table/schema.h"

enum { JSON_DEPTH_MAX = 32 };

enum errc json_decode(const struct schema *s, struct str text, struct arena *a, void *ret, struct err *e) MUST_CHECK;
/* What another program of ours answered, by the schema it was printed with: members that this build does not know are passed over, because
 * the answering side is upgraded first. All else is as strict as above; F_REQ marks what an answer must have. */
enum errc json_decode_reply(const struct schema *s, struct str text, struct arena *a, void *ret, struct err *e) MUST_CHECK;
