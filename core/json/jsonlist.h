/* SPDX-License-Identifier: Apache-2.0 */
/* jsonlist.h - a document that is one long list under a member, read an item at a time.
 *
 * A parsed value costs up to two hundred bytes for two of text, so whole lists of others' objects are not parsed: memory is that
 * of what stands beside the list and of one item. It is as strict as jval_parse, since each part is parsed by it; what is behind
 * the first fault of an item is not looked at. Of an item that is too large a few members can still be read (jlist_narrow).
 * Calling order: jlist_open, jlist_next until *ret is NULL. The text is borrowed. Errors: MALFORMED; TOO_LARGE (an item, or
 * what stands beside the list, has more bytes or values than allowed). */
#pragma once
#include "core/json/jsonvalue.h"

struct jlist {
    struct str text;                        /* of the array with its brackets; len 0: there is none */
    size_t at, bytes_most, values_most;
    struct str item;                        /* text of the last one */
};

/* name: of the member, without escapes. *ret_rest: the document with an empty array in its place; as it is where it has no such
 * array. Both lie in a. bytes_most, values_most: of an item and of the rest. */
enum errc jlist_open(struct arena *a, struct str text, const char *name, size_t bytes_most, size_t values_most,
                     struct jlist *ret, const struct jval **ret_rest, struct err *e) MUST_CHECK;
static inline bool jlist_is_there(const struct jlist *l)
{
    return l->text.len > 0;
}
/* The next item, in a; NULL: there is no more. */
enum errc jlist_next(struct jlist *l, struct arena *a, const struct jval **ret, struct err *e) MUST_CHECK;

/* Of the last item, an object that was TOO_LARGE, those of the named members (without escapes; NULL ends them) whose text has at
 * most bytes_most bytes, as an object in a. NOT_FOUND: it is no object, or the first of the names is not in it. */
enum errc jlist_narrow(const struct jlist *l, struct arena *a, const char *const *names, size_t bytes_most,
                       const struct jval **ret, struct err *e) MUST_CHECK;

/* At least as many values as the text has: marks within strings count, too. */
size_t json_values_most(struct str text);
