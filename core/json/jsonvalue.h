/* SPDX-License-Identifier: Apache-2.0 */
/* jsonvalue.h - reading and building free-form JSON documents (workers, cli, inference) without including jansson.
 *
 * A struct jval * is borrowed from its document, which lives until the arena does. Readers accept NULL, so that chains need one
 * check: jval_str(jval_get(jval_at(v, 0), "name")). Parsing is as strict as json_decode: UTF-8, no duplicate members, bounded
 * depth. Errors: MALFORMED (parse), INVALID (jval_need_*, with field set to the member's name). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct jval;

enum jtype { JT_NONE, JT_NULL, JT_BOOL, JT_INT, JT_REAL, JT_STR, JT_ARRAY, JT_OBJECT };

/* max_depth 0: JSON_DEPTH_MAX */
enum errc jval_parse(struct arena *a, struct str text, int max_depth, const struct jval **ret, struct err *e) MUST_CHECK;

enum jtype jval_type(const struct jval *v);                             /* JT_NONE for NULL */
const struct jval *jval_get(const struct jval *obj, const char *name);  /* NULL: absent or not an object */
const struct jval *jval_at(const struct jval *array, size_t i);
size_t jval_len(const struct jval *v);                                  /* items or members; 0 for all else */

struct str jval_str(const struct jval *v);                              /* STR_NULL unless a string; NUL-terminated */
int64_t jval_i64(const struct jval *v, int64_t otherwise);              /* integers, and reals that are whole */
double jval_f64(const struct jval *v, double otherwise);
bool jval_bool(const struct jval *v, bool otherwise);

/* The member, of that type, or INVALID with field "/name". */
enum errc jval_need_str(const struct jval *obj, const char *name, struct str *ret, struct err *e) MUST_CHECK;
enum errc jval_need_i64(const struct jval *obj, const char *name, int64_t min, int64_t max, int64_t *ret, struct err *e) MUST_CHECK;
enum errc jval_need_f64(const struct jval *obj, const char *name, double *ret, struct err *e) MUST_CHECK;

/* for (struct jval_iter it = jval_iter(obj); jval_next(&it);) … it.name, it.value; works for objects and arrays (name NULL) */
struct jval_iter {
    const struct jval *of, *value;
    const char *name;
    void *pos;
    size_t i;
};
struct jval_iter jval_iter(const struct jval *v);
bool jval_next(struct jval_iter *it);

/* Numbers of an array, nested arrays flattened in order, into out[0..n). Fails as INVALID unless there are exactly n numbers. */
enum errc jval_to_f32(const struct jval *v, float *out, size_t n, struct err *e) MUST_CHECK;
enum errc jval_to_i64(const struct jval *v, int64_t *out, size_t n, struct err *e) MUST_CHECK;
size_t jval_count_numbers(const struct jval *v);                        /* leaves of nested arrays */

/* Compact text; sorted: members by name (canonical, for hashes). */
bool jval_encode(const struct jval *v, bool sorted, struct buf *out);
