/* SPDX-License-Identifier: Apache-2.0 */
/* model_words.c - lists of words, read strictly: a model file may come from anywhere. */
#include "core/data/model_words.h"
#include "core/data/data_table.h"
#include "core/data/json_read.h"

static enum errc read_column(struct json_scan *s, struct arena *a, struct words *ret, size_t column, struct err *e)
{
    bool first = true;
    struct err why = { 0 };
    while (json_read_more(s, ']', &first)) {
        struct str word;
        size_t before = ret->n;
        int32_t code;
        if (!json_read_text(s, a, WORD_BYTES_MAX, &word))
            return FAIL(e, BAD_DATA, "the model's words of column %zu are no list of texts of at most %d bytes", column,
                        WORD_BYTES_MAX);
        if (words_add(a, ret, word, COLUMN_CODES_MAX, &code, &why) != ERR_OK)
            return why.code == ERR_LIMIT ? FAIL(e, LIMIT, "column %zu of the model has more than %d words", column,
                                                COLUMN_CODES_MAX)
                                         : FAIL(e, BAD_DATA, "the model's words of column %zu: %s", column, why.msg);
        if (ret->n == before)
            return FAIL(e, BAD_DATA, "the model's words of column %zu have one twice", column);
    }
    return s->why ? FAIL(e, BAD_DATA, "the model's words of column %zu cannot be read: %s", column, s->why) : ERR_OK;
}

enum errc model_words_read(struct arena *a, const struct st_file *f, struct model_words *ret, struct err *e)
{
    struct str text = st_meta(f, MODEL_WORDS);
    struct model_words m = { .takes_missing = str_eq_c(st_meta(f, MODEL_MISSING), "true") };
    bool first = true;
    *ret = m;
    if (!text.ptr)
        return ERR_OK;
    struct json_scan s = { text.ptr, text.ptr + text.len, NULL };
    m.words = arena_try(a, TABLE_CATEGORIES_MAX * sizeof *m.words);
    if (!m.words)
        return FAIL(e, LIMIT, "no memory for the model's words");
    if (!json_scan_take(&s, '['))
        return FAIL(e, BAD_DATA, "the model's words are no list of lists");
    while (json_read_more(&s, ']', &first)) {
        if (m.columns == TABLE_CATEGORIES_MAX || !json_scan_take(&s, '['))
            return FAIL(e, BAD_DATA, "the model's words are no list of at most %d lists", TABLE_CATEGORIES_MAX);
        TRY(read_column(&s, a, &m.words[m.columns], m.columns, e));
        m.columns++;
    }
    if (s.why || s.at != s.end || !m.columns)
        return FAIL(e, BAD_DATA, "the model's words go on behind their end, or are none");
    *ret = m;
    return ERR_OK;
}
