/* SPDX-License-Identifier: Apache-2.0 */
/* model_words.h - the dictionary of a model that takes words, out of its file: which code each word of each column has.
 *
 * __metadata__ "words": a JSON list of lists, [["blue","red"],["north"]]: a list for each column of the input "categories"
 * (BYTES [-1,columns]), each word at the place of its code, which is below COLUMN_CODES_MAX. What is not in the list has no
 * code: such a word, and an empty one, is NaN to the model. "missing_values" is "true" where numbers may be missing, too.
 * Memory: the arena. Errors: BAD_DATA (no such JSON, a word twice or none), LIMIT. */
#pragma once
#include "core/data/safetensors.h"
#include "core/data/words.h"

enum { COLUMN_CODES_MAX = 254 };
#define MODEL_WORDS "words"
#define MODEL_MISSING "missing_values"
#define MODEL_CATEGORIES "categories"

struct model_words {
    size_t columns;                 /* 0: the model takes no words */
    struct words *words;            /* by column; the number of a word is its code */
    bool takes_missing;
};

enum errc model_words_read(struct arena *a, const struct st_file *f, struct model_words *ret, struct err *e) MUST_CHECK;
