/* SPDX-License-Identifier: Apache-2.0 */
/* encode.h - a C struct to JSON text by its schema, straight into a buffer.
 *
 * Prints the F_OUT fields in table order, without white space. Absent values (schema.h) are left out, or null with F_NULLOUT.
 * Doubles are printed with 15, 16 or 17 digits, as few as read back the same, NaN and infinities as null; times as RFC 3339 UTC with
 * milliseconds; ids with their prefix; bytes as base64; struct json unchanged. Passing the buffer's maximum sets its
 * `overflow`, to be checked once at the end. Strings must be UTF-8, as everything that was decoded is. */
#pragma once
#include "core/table/schema.h"

void json_encode(const struct schema *s, const void *obj, struct buf *out);
void json_encode_list(const struct schema *s, const void *items, size_t n, struct buf *out);   /* [ … ] */
/* The value of one field, without its name; "null" when absent. */
void json_encode_field(const struct field *f, const void *obj, struct buf *out);
void json_add_f64(struct buf *out, double v);
void json_add_f32s(struct buf *out, const float *v, size_t n);      /* [ … ], with 9 digits, which read back the same */
void json_add_i32s(struct buf *out, const int32_t *v, size_t n);
void json_add_time(struct buf *out, int64_t us);               /* with quotes */
