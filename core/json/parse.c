/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - the one call into jansson's parser.
 *
 * Depth is counted before, because jansson recurses up to 2048 levels. Its error text quotes the input after " near ": that part
 * is cut off, since a body may hold secrets and messages reach logs. */
#include "core/json/parse_int.h"
#include "core/json/rawjson_int.h"

const char *parse_type_name(const json_t *j)
{
    switch (json_typeof(j)) {
    case JSON_OBJECT: return "object";
    case JSON_ARRAY: return "array";
    case JSON_STRING: return "string";
    case JSON_INTEGER: return "integer";
    case JSON_REAL: return "number";
    case JSON_TRUE:
    case JSON_FALSE: return "boolean";
    case JSON_NULL: break;
    }
    return "null";
}

enum errc parse_text(struct str text, int max_depth, bool any, json_t **ret, struct err *e)
{
    if (rawjson_depth(text, max_depth) > max_depth)
        return FAIL(e, MALFORMED, "the JSON is nested deeper than %d levels", max_depth);
    json_error_t je;
    json_t *j = json_loadb(text.ptr ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES | (any ? JSON_DECODE_ANY : 0), &je);
    if (j) {
        *ret = j;
        return ERR_OK;
    }
    char *near = strstr(je.text, " near ");
    if (near)
        *near = '\0';
    if (json_error_code(&je) == json_error_duplicate_key)
        return FAIL(e, MALFORMED, "line %d column %d: a member is given twice", je.line, je.column);
    if (json_error_code(&je) == json_error_null_character || json_error_code(&je) == json_error_null_byte_in_key)
        return FAIL(e, MALFORMED, "line %d column %d: strings must not contain NUL", je.line, je.column);
    if (json_error_code(&je) == json_error_invalid_utf8)
        return FAIL(e, MALFORMED, "line %d column %d: the text is not UTF-8", je.line, je.column);
    return FAIL(e, MALFORMED, "line %d column %d: not JSON: %s", je.line, je.column, je.text);
}
