/* SPDX-License-Identifier: Apache-2.0 */
/* batch_table.c - a block is gathered into the inputs, cut into as many requests as keep every core at work, and written when all
 * of them are done. */
#include "workers/lease/batch_table.h"
#include "workers/lease/batch_compute.h"

#include <math.h>
#include <stdio.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/data/npy.h"
#include "core/json/jsonvalue.h"

static bool is_words(const struct sig_tensor *t)
{
    return str_eq_c(t->datatype, "BYTES");
}

static const struct model_sig *sig_of(const struct batch_table *b)
{
    return &infer_model_info(b->model)->sig;
}

/* Models that were trained on an array know their columns by number only. */
static bool is_number(struct str s)
{
    int64_t n;
    return str_to_i64(s, 0, TABLE_COLUMNS_MAX, &n);
}

enum errc batch_table_names(struct arena *a, const struct infer_model *m, struct slice *ret, struct err *e)
{
    const struct jval *doc;
    const char *json = infer_model_info(m)->features_json;
    *ret = (struct slice){ 0 };
    if (!*json)
        return ERR_OK;
    TRY(jval_parse(a, str_c(json), 0, &doc, e));
    size_t n = jval_len(doc);
    if (jval_type(doc) != JT_ARRAY || !n || n > TABLE_COLUMNS_MAX || is_number(jval_str(jval_at(doc, 0))))
        return ERR_OK;
    struct str *names = ARENA_ARRAY(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        names[i] = jval_str(jval_at(doc, i));
    *ret = (struct slice){ names, n };
    return ERR_OK;
}

static enum errc check_names(const struct batch_table *b, struct err *e)
{
    struct slice names;
    TRY(batch_table_names(b->arena, b->model, &names, e));
    const struct str *want = names.items, *has = b->table->names;
    if (names.n != b->table->cols || is_number(has[0]))
        return ERR_OK;
    for (size_t i = 0; i < names.n; i++)
        if (!str_eq(want[i], has[i]))
            return FAIL(e, UNPROCESSABLE, "column %zu of the data set is \"%.*s\" where the model was trained with \"%.*s\"",
                        i + 1, STR_ARG(has[i]), STR_ARG(want[i]));
    return ERR_OK;
}

static enum errc check_columns(const struct batch_table *b, struct err *e)
{
    const struct model_sig *sig = sig_of(b);
    const struct data_table *t = b->table;
    size_t numbers = 0, words = 0;
    CLEANUP(buf_releasep) struct buf text = BUF(1000);
    for (size_t i = 0; i < sig->input_count; i++)
        *(is_words(&sig->inputs[i]) ? &words : &numbers) += sig_count(&sig->inputs[i], 1);
    if (numbers == t->cols - t->category_count && words == t->category_count)
        return check_names(b, e);
    (void)sig_print(&text, sig->inputs, sig->input_count);
    return FAIL(e, UNPROCESSABLE, "the data set has %zu columns of numbers and %zu of words; the model takes %zu and %zu: %.*s",
                t->cols - t->category_count, t->category_count, numbers, words, STR_ARG(buf_str(&text)));
}

static enum errc choose_outputs(struct batch_table *b, struct slice keep, struct err *e)
{
    const struct model_sig *sig = sig_of(b);
    const struct str *names = keep.items;
    CLEANUP(buf_releasep) struct buf text = BUF(1000);
    for (size_t i = 0; i < sig->output_count; i++)
        b->keep[i] = !keep.n;
    for (size_t i = 0; i < keep.n; i++) {
        int at = sig_find(sig->outputs, sig->output_count, names[i]);
        if (at < 0) {
            (void)sig_print(&text, sig->outputs, sig->output_count);
            return FAIL(e, UNPROCESSABLE, "keep: there is no output \"%.*s\"; the model gives %.*s", STR_ARG(names[i]),
                        STR_ARG(buf_str(&text)));
        }
        b->keep[at] = true;
    }
    for (size_t i = 0; i < sig->output_count; i++) {
        const struct sig_tensor *t = &sig->outputs[i];
        if (b->keep[i] && infer_model_info(b->model)->has_rows && !sig_has_rows(t))
            return FAIL(e, UNPROCESSABLE, "the output \"%.*s\" is not by row; keep must name others", STR_ARG(t->name));
        b->columns += b->keep[i] ? sig_count(t, 1) : 0;
        b->is_double = b->is_double || (b->keep[i] && infer_is_whole(t));
        if (str_eq_c(t->name, "label") && infer_is_whole(t) && sig_count(t, 1) == 1)
            b->label = (int)i;
    }
    b->has_labels = b->has_labels && b->label >= 0;
    return ERR_OK;
}

/* The numbers of words are the table's; the model has its own. */
static enum errc map_words(struct batch_table *b, struct err *e)
{
    const struct data_table *t = b->table;
    const struct model_words *w = &infer_model_info(b->model)->words;
    for (size_t c = 0; c < t->category_count; c++) {
        b->codes[c] = arena_try(b->arena, (t->words[c].n + 1) * sizeof(float));
        if (!b->codes[c])
            return FAIL(e, LIMIT, "no memory for the words of the data set");
        for (size_t i = 0; i < t->words[c].n; i++) {
            int32_t code = words_find(&w->words[c], t->words[c].items[i]);
            b->codes[c][i] = code == WORD_NONE ? (float)NAN : (float)code;
        }
    }
    return ERR_OK;
}

static bool needs(const struct batch_table *b, size_t output)
{
    return b->keep[output] || (b->has_labels && (int)output == b->label);
}

static enum errc make_room(struct batch_table *b, int threads, struct err *e)
{
    const struct model_sig *sig = sig_of(b);
    size_t numbers = 0, most = infer_model_info(b->model)->max_rows;
    for (size_t i = 0; i < sig->input_count; i++)
        numbers += sig_count(&sig->inputs[i], 1);
    for (size_t i = 0; i < sig->output_count; i++)
        numbers += needs(b, i) ? sig_count(&sig->outputs[i], 1) : 0;
    size_t block = numbers < BATCH_NUMBERS ? BATCH_NUMBERS / numbers : 1, share;
    b->block = block < BATCH_ROWS ? block : BATCH_ROWS;
    share = (b->block + (size_t)threads - 1) / (size_t)threads;
    b->slice = share < most ? share : most;
    for (size_t i = 0; i < sig->input_count; i++)
        if (!(b->in[i] = arena_try(b->arena, b->block * sig_count(&sig->inputs[i], 1) * sizeof(float))))
            return FAIL(e, LIMIT, "no memory for %zu rows of the model's inputs", b->block);
    for (size_t i = 0; i < sig->output_count; i++)
        if (needs(b, i) && !(b->out[i] = arena_try(b->arena, b->block * sig_count(&sig->outputs[i], 1) * sizeof(float))))
            return FAIL(e, LIMIT, "no memory for %zu rows of the model's outputs", b->block);
    b->requests = arena_try(b->arena, b->block * sizeof *b->requests);
    return b->requests ? ERR_OK : FAIL(e, LIMIT, "no memory for %zu requests", b->block);
}

enum errc batch_table_new(struct arena *a, const struct infer_model *m, const struct data_table *t, struct slice keep, int result,
                          int threads, bool has_labels, int64_t call_us, struct batch_table **ret, struct err *e)
{
    struct batch_table *b = ARENA_NEW(a, struct batch_table);
    const struct batcher_options o = { .threads = threads < 1 ? 1 : threads, .engine_us = call_us };
    *b = (struct batch_table){ .model = m, .table = t, .result = result, .has_labels = has_labels, .arena = a, .label = -1,
                                .call_us = call_us };
    TRY(check_columns(b, e));
    TRY(choose_outputs(b, keep, e));
    TRY(map_words(b, e));
    TRY(make_room(b, o.threads, e));
    TRY(batcher_new(m, &o, &b->batcher, e));
    *ret = b;
    return ERR_OK;
}

void batch_table_free(struct batch_table *b)
{
    if (b && b->batcher)
        batcher_free(b->batcher);
}

/* What a call would be refused for, with its row and column. */
static enum errc check_cell(const struct batch_table *b, size_t i, float x, size_t row, size_t column, struct err *e)
{
    const struct sig_tensor *t = &sig_of(b)->inputs[i];
    size_t limit = infer_index_limit(b->model, i);
    double v = (double)x, top = limit ? (double)limit - 1 : (double)INT32_MAX, least = limit ? 0 : (double)INT32_MIN;
    const struct str name = b->table->names[column];
    if (isnan(x) && !infer_model_info(b->model)->words.takes_missing)
        return FAIL(e, UNPROCESSABLE, "row %zu, column \"%.*s\" is empty, and the model takes no missing values", row + 1,
                    STR_ARG(name));
    if (infer_is_whole(t) && !(v == floor(v) && v >= least && v <= top))
        return FAIL(e, UNPROCESSABLE, "row %zu, column \"%.*s\": %g is no whole number of %.0f to %.0f, which \"%.*s\" takes",
                    row + 1, STR_ARG(name), v, least, top, STR_ARG(t->name));
    if (str_eq_c(t->datatype, "BOOL") && v != 0 && v != 1)
        return FAIL(e, UNPROCESSABLE, "row %zu, column \"%.*s\": %g is neither 0 nor 1, which \"%.*s\" takes", row + 1,
                    STR_ARG(name), v, STR_ARG(t->name));
    return ERR_OK;
}

/* Columns of the table's row r into row `at` of an input. */
static enum errc put_numbers(struct batch_table *b, size_t i, size_t at, size_t r, size_t column, struct err *e)
{
    const struct sig_tensor *t = &sig_of(b)->inputs[i];
    size_t n = sig_count(t, 1);
    const float *x = b->table->x + r * b->table->cols + column;
    float *to = (float *)b->in[i] + at * n;
    for (size_t k = 0; k < n; k++)
        TRY(check_cell(b, i, x[k], r, column + k, e));
    if (!infer_is_whole(t))
        memcpy(to, x, n * sizeof *to);
    for (size_t k = 0; infer_is_whole(t) && k < n; k++)
        ((int32_t *)b->in[i])[at * n + k] = (int32_t)x[k];
    return ERR_OK;
}

static void put_words(struct batch_table *b, size_t i, size_t at, size_t r, size_t column)
{
    const struct data_table *t = b->table;
    size_t n = sig_count(&sig_of(b)->inputs[i], 1), first = t->cols - t->category_count;
    const float *x = t->x + r * t->cols + column;
    float *to = (float *)b->in[i] + at * n;
    for (size_t k = 0; k < n; k++)
        to[k] = isnan(x[k]) ? x[k] : b->codes[column - first + k][(size_t)x[k]];
}

static enum errc put_row(struct batch_table *b, size_t at, size_t r, struct err *e)
{
    size_t number = 0, word = b->table->cols - b->table->category_count;
    for (size_t i = 0; i < sig_of(b)->input_count; i++) {
        const struct sig_tensor *t = &sig_of(b)->inputs[i];
        if (is_words(t)) {
            put_words(b, i, at, r, word);
            word += sig_count(t, 1);
            continue;
        }
        TRY(put_numbers(b, i, at, r, number, e));
        number += sig_count(t, 1);
    }
    return ERR_OK;
}

static enum errc gather(struct batch_table *b, size_t rows, struct err *e)
{
    for (size_t r = 0; r < rows; r++)
        TRY(put_row(b, r, b->done + r, e));
    return ERR_OK;
}

static double number_of(const struct batch_table *b, size_t output, size_t at)
{
    const void *p = b->out[output];
    return infer_is_whole(&sig_of(b)->outputs[output]) ? (double)((const int32_t *)p)[at] : (double)((const float *)p)[at];
}

static void add_number(const struct batch_table *b, size_t output, size_t at, const char *before, struct buf *out)
{
    double v = number_of(b, output, at);
    float single = (float)v;
    if (b->result == BATCH_NPY)
        (void)(b->is_double ? buf_add(out, &v, sizeof v) : buf_add(out, &single, sizeof single));
    else if (infer_is_whole(&sig_of(b)->outputs[output]))
        buf_printf(out, "%s%.0f", before, v);
    else if (isfinite(v))
        buf_printf(out, "%s%.9g", before, v);
    else
        buf_add_c(out, before);
}

static void write_row(const struct batch_table *b, size_t r, struct buf *out)
{
    const char *before = "";
    for (size_t i = 0; i < sig_of(b)->output_count; i++) {
        size_t n = b->keep[i] ? sig_count(&sig_of(b)->outputs[i], 1) : 0;
        for (size_t k = 0; k < n; k++, before = ",")
            add_number(b, i, r * n + k, before, out);
    }
    if (b->result == BATCH_CSV)
        buf_add_char(out, '\n');
}

/* A name of a column; quoted, as RFC 4180 has it, where it must be. */
static void add_name(struct buf *out, struct str name, const char *suffix)
{
    static const char special[] = { ',', '"', '\r', '\n' };
    bool quote = false;
    for (size_t i = 0; i < name.len; i++)
        quote = quote || memchr(special, name.ptr[i], sizeof special) != NULL;
    if (quote)
        buf_add_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        buf_add_char(out, name.ptr[i]);
        if (name.ptr[i] == '"')
            buf_add_char(out, '"');
    }
    buf_add_c(out, suffix);
    if (quote)
        buf_add_char(out, '"');
}

void batch_table_head(const struct batch_table *b, struct buf *out)
{
    const char *before = "";
    const uint64_t dim[] = { b->table->rows, b->columns };
    if (b->result == BATCH_NPY) {
        (void)npy_write(out, 'f', b->is_double ? 8 : 4, 2, dim, NULL, 0);
        return;
    }
    for (size_t i = 0; i < sig_of(b)->output_count; i++) {
        const struct sig_tensor *t = &sig_of(b)->outputs[i];
        size_t n = b->keep[i] ? sig_count(t, 1) : 0;
        for (size_t k = 0; k < n; k++, before = ",") {
            char suffix[24] = "";
            if (n > 1)
                snprintf(suffix, sizeof suffix, "_%zu", k);
            buf_add_c(out, before);
            add_name(out, t->name, suffix);
        }
    }
    buf_add_char(out, '\n');
}

enum errc batch_table_rows(struct batch_table *b, struct buf *out, struct err *e)
{
    size_t left = b->table->rows - b->done, rows = left < b->block ? left : b->block;
    TRY(gather(b, rows, e));
    TRY(batch_compute(b, rows, e));
    for (size_t r = 0; r < rows; r++) {
        write_row(b, r, out);
        b->right += b->has_labels && (int32_t)number_of(b, (size_t)b->label, r) == b->table->labels[b->done + r];
    }
    b->done += rows;
    return out->overflow ? FAIL(e, TOO_LARGE, "a block of the result is too large") : ERR_OK;
}
