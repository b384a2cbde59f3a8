/* SPDX-License-Identifier: Apache-2.0 */
/* parse_int.h - the one call into jansson's parser, for core/json only. */
#pragma once
#include <jansson.h>
#include "core/base/err.h"
#include "core/base/str.h"

/* Strict: depth, UTF-8, no duplicate members, no NUL. any: scalars are documents too. The caller owns *ret. Errors: MALFORMED. */
enum errc parse_text(struct str text, int max_depth, bool any, json_t **ret, struct err *e) MUST_CHECK;
/* "string", "integer", … */
const char *parse_type_name(const json_t *j);
