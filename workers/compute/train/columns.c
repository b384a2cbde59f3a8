/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - codes by frequency, moments of what is there, and a row of both. */
#include "workers/compute/train/columns.h"
#include "core/base/cleanup.h"
#include "core/data/model_words.h"
#include "workers/compute/kernels/nd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_LEAST = 2 };

struct seen {
    struct str word;
    uint32_t number;
    size_t rows;
};

static int by_rows(const void *x, const void *y)
{
    const struct seen *a = x, *b = y;
    return a->rows != b->rows ? (a->rows < b->rows ? 1 : -1) : str_cmp(a->word, b->word);
}

/* Numbers of words become codes in place. */
static void put_codes(struct data_table *t, size_t col, const float *code)
{
    for (size_t i = 0; i < t->rows; i++) {
        float *v = &t->x[i * t->cols + col];
        *v = isnan(*v) ? *v : code[(size_t)*v];
    }
}

/* The words of one column get codes; *ret: the words by code. */
static enum errc make_codes(struct arena *a, struct data_table *t, size_t category, const uint32_t *train, size_t n,
                            struct slice *ret, struct err *e)
{
    const struct words *w = &t->words[category];
    size_t col = t->cols - t->category_count + category, codes = 0;
    struct seen *seen = arena_try(a, (w->n + 1) * sizeof *seen);
    float *code = arena_try(a, (w->n + 1) * sizeof *code);
    struct str *words = arena_try(a, (COLUMN_CODES_MAX + 1) * sizeof *words);
    if (!seen || !code || !words)
        return FAIL(e, LIMIT, "the words of %zu categories do not fit in the memory of this job", t->category_count);
    for (size_t i = 0; i < w->n; i++) {
        seen[i] = (struct seen){ w->items[i], (uint32_t)i, 0 };
        code[i] = (float)NAN;
    }
    for (size_t i = 0; i < n; i++) {
        float v = t->x[train[i] * t->cols + col];
        if (!isnan(v))
            seen[(size_t)v].rows++;
    }
    qsort(seen, w->n, sizeof *seen, by_rows);
    for (; codes < w->n && codes < COLUMN_CODES_MAX && seen[codes].rows >= SEEN_LEAST; codes++) {
        code[seen[codes].number] = (float)codes;
        words[codes] = seen[codes].word;
    }
    put_codes(t, col, code);
    *ret = (struct slice){ words, codes };
    return ERR_OK;
}

/* Over the training rows that have the number. */
static enum errc standardise(struct arena *a, const struct data_table *t, const uint32_t *train, size_t n, struct columns *c,
                             struct err *e)
{
    size_t cols = c->numbers;
    c->mean = arena_try(a, (cols + 1) * sizeof *c->mean);
    c->scale = arena_try(a, (cols + 1) * sizeof *c->scale);
    float *missing = arena_try(a, (cols + 1) * sizeof *missing);
    double *sum = arena_try(a, (cols + 1) * sizeof *sum), *square = arena_try(a, (cols + 1) * sizeof *square),
           *count = arena_try(a, (cols + 1) * sizeof *count);
    if (!c->mean || !c->scale || !missing || !sum || !square || !count)
        return FAIL(e, LIMIT, "%zu columns do not fit in the memory of this job", cols);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < cols; j++) {
            double v = (double)t->x[train[i] * t->cols + j];
            sum[j] += isnan(v) ? 0 : v;
            count[j] += !isnan(v);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < cols; j++) {
            double v = (double)t->x[train[i] * t->cols + j], off = v - sum[j] / count[j];
            square[j] += isnan(v) ? 0 : off * off;
        }
    for (size_t j = 0; j < cols; j++) {
        double deviation = count[j] > 0 ? sqrt(square[j] / count[j]) : 0;
        c->mean[j] = count[j] > 0 ? (float)(sum[j] / count[j]) : 0;
        c->scale[j] = (float)deviation > 1e-30f && isfinite((float)deviation) ? (float)deviation : 1.0f;
        missing[j] = count[j] < (double)n;
        c->missing = missing[j] > 0 ? missing : c->missing;
    }
    return ERR_OK;
}

static enum errc begin(struct arena *a, const struct data_table *t, bool has_missing, struct columns *c, struct err *e)
{
    *c = (struct columns){ .numbers = t->cols - t->category_count, .categories = t->category_count,
                           .takes_missing = has_missing };
    c->words = arena_try(a, (c->categories + 1) * sizeof *c->words);
    c->code = arena_try(a, COLUMN_CODES_MAX * sizeof *c->code);
    if (!c->words || !c->code)
        return FAIL(e, LIMIT, "%zu columns of categories do not fit in the memory of this job", c->categories);
    for (size_t i = 0; i < COLUMN_CODES_MAX; i++)
        c->code[i] = (float)i;
    return ERR_OK;
}

enum errc columns_make(struct arena *a, struct data_table *t, const uint32_t *train, size_t train_count, bool has_missing,
                       bool is_net, struct columns *ret, struct err *e)
{
    struct columns c;
    TRY(begin(a, t, has_missing, &c, e));
    for (size_t i = 0; i < c.categories; i++) {
        TRY(make_codes(a, t, i, train, train_count, &c.words[i], e));
        c.codes = c.words[i].n > c.codes ? c.words[i].n : c.codes;
    }
    if (is_net)
        TRY(standardise(a, t, train, train_count, &c, e));
    *ret = c;
    return ERR_OK;
}

/* A tensor of so many numbers, copied; *ret NULL where the file has none. */
static enum errc take_numbers(struct arena *a, const struct st_file *f, const char *name, size_t n, float **ret, struct err *e)
{
    const struct st_tensor *t;
    if (!st_find(f, str_c(name)))
        return ERR_OK;
    TRY(st_f32_shape(f, name, n, 0, &t, e));
    *ret = arena_try(a, n * sizeof **ret);
    if (!*ret)
        return FAIL(e, LIMIT, "%zu columns do not fit in the memory of this job", n);
    memcpy(*ret, t->data, n * sizeof **ret);
    return ERR_OK;
}

/* The words of the table by the codes of the model. */
static enum errc take_words(struct arena *a, struct data_table *t, const struct words *model, size_t category, struct slice *ret,
                            struct err *e)
{
    const struct words *w = &t->words[category];
    float *code = arena_try(a, (w->n + 1) * sizeof *code);
    if (!code)
        return FAIL(e, LIMIT, "the words of %zu categories do not fit in the memory of this job", t->category_count);
    for (size_t i = 0; i < w->n; i++) {
        int32_t found = words_find(model, w->items[i]);
        code[i] = found == WORD_NONE ? (float)NAN : (float)found;
    }
    put_codes(t, t->cols - t->category_count + category, code);
    *ret = (struct slice){ model->items, model->n };
    return ERR_OK;
}

enum errc columns_of_model(struct arena *a, struct data_table *t, const struct st_file *f, bool has_missing, struct columns *ret,
                           struct err *e)
{
    CLEANUP(buf_releasep) struct buf names = BUF(ST_HEADER_MAX / 2);
    struct model_words m;
    struct columns c;
    TRY(begin(a, t, has_missing, &c, e));
    TRY(model_words_read(a, f, &m, e));
    if (!st_write_strings(&names, t->names, t->cols) || !str_eq(buf_str(&names), st_meta(f, "features"))
        || m.columns != c.categories)
        return FAIL(e, UNPROCESSABLE, "start_from: the model was trained on other columns than those of this data set");
    for (size_t i = 0; i < c.categories; i++) {
        TRY(take_words(a, t, &m.words[i], i, &c.words[i], e));
        c.codes = c.words[i].n > c.codes ? c.words[i].n : c.codes;
    }
    TRY(take_numbers(a, f, "input.mean", c.numbers, &c.mean, e));
    TRY(take_numbers(a, f, "input.scale", c.numbers, &c.scale, e));
    TRY(take_numbers(a, f, "input.missing", c.numbers, &c.missing, e));
    if (c.numbers && (!c.mean || !c.scale))
        return FAIL(e, UNPROCESSABLE, "start_from: the model does not say mean and scale of its columns");
    *ret = c;
    return ERR_OK;
}

size_t columns_inputs(const struct columns *c)
{
    return c->numbers * (c->missing ? 2 : 1) + c->categories * c->codes;
}

void columns_row(const struct columns *c, const float *x, float *out)
{
    for (size_t j = 0; j < c->numbers; j++)
        out[j] = isnan(x[j]) ? 0 : (x[j] - c->mean[j]) / c->scale[j];
    out += c->numbers;
    for (size_t j = 0; c->missing && j < c->numbers; j++)
        *out++ = isnan(x[j]) ? c->missing[j] : 0;
    for (size_t k = 0; k < c->categories; k++, out += c->codes)
        for (size_t i = 0; i < c->codes; i++)
            out[i] = x[c->numbers + k] == (float)i;
}

/* --- the file and the graph --- */

enum errc columns_pairs(struct arena *a, const struct columns *c, struct st_pair ret[COLUMNS_PAIRS_MAX], size_t *ret_n,
                        struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(ST_HEADER_MAX / 2);
    size_t n = 0;
    bool ok = buf_add_char(&b, '[');
    for (size_t k = 0; ok && k < c->categories; k++)
        ok = (!k || buf_add_char(&b, ',')) && st_write_strings(&b, c->words[k].items, c->words[k].n);
    if (!ok || !buf_add_char(&b, ']'))
        return FAIL(e, LIMIT, "the words of the categories are too long for a model file");
    if (c->categories)
        ret[n++] = (struct st_pair){ STR(MODEL_WORDS), str_dup(a, buf_str(&b)) };
    if (c->takes_missing)
        ret[n++] = (struct st_pair){ STR(MODEL_MISSING), STR("true") };
    *ret_n = n;
    return ERR_OK;
}

size_t columns_tensors(const struct columns *c, struct st_tensor ret[COLUMNS_TENSORS_MAX])
{
    const struct { const char *name; const float *at; size_t count; } all[COLUMNS_TENSORS_MAX] = {
        { "input.mean", c->mean, c->numbers }, { "input.scale", c->scale, c->numbers },
        { "input.missing", c->missing, c->numbers }, { "input.codes", c->code, c->codes },
    };
    size_t n = 0;
    for (size_t i = 0; i < COLUMNS_TENSORS_MAX; i++)
        if (all[i].at && all[i].count)
            ret[n++] = (struct st_tensor){ .name = str_c(all[i].name), .dtype = ST_F32, .rank = 1, .shape = { all[i].count },
                                           .data = (const void *)all[i].at, .size_bytes = all[i].count * sizeof(float) };
    return n;
}

void columns_sig(const struct columns *c, struct model_sig *sig)
{
    sig->input_count = 0;
    if (c->numbers)
        sig->inputs[sig->input_count++] = (struct sig_tensor){ STR("input"), STR("FP32"), 2, { -1, (int64_t)c->numbers } };
    if (c->categories)
        sig->inputs[sig->input_count++] = (struct sig_tensor){ STR(MODEL_CATEGORIES), STR("BYTES"), 2,
                                                               { -1, (int64_t)c->categories } };
}

static int input_of(struct graph *g, const char *name, size_t width)
{
    return width ? graph_input(g, name, (struct shape){ ELEM_F32, 2, { DIM_ROWS(1), DIM(width) } }) : VALUE_NONE;
}

static int constant_of(struct graph *g, const char *name, const float *at, size_t n)
{
    return graph_const(g, name, (struct shape){ ELEM_F32, 1, { DIM(n) } }, at);
}

static int binary(struct graph *g, enum binary_fn fn, int x, int y)
{
    return graph_op(g, OP_BINARY, &(struct op_attr){ .fn = fn }, GRAPH_INS(x, y));
}

/* Those that are there, side by side. */
static int beside(struct graph *g, const int *part, size_t parts)
{
    int in[OP_INPUTS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < parts; i++)
        if (part[i] != VALUE_NONE)
            in[n++] = part[i];
    return n == 1 ? in[0] : graph_op(g, OP_CONCAT, &(struct op_attr){ .axes = 1 }, in, n);
}

int columns_inputs_of(struct graph *g, const struct columns *c)
{
    const int part[] = { input_of(g, "input", c->numbers), input_of(g, MODEL_CATEGORIES, c->categories) };
    return beside(g, part, sizeof part / sizeof *part);
}

/* NaN equals nothing, not even itself: by that what is missing is told apart, and a word without a code becomes zeros. */
static int numbers_served(struct graph *g, const struct columns *c, int x, int *ret_missing)
{
    int mean = constant_of(g, "input.mean", c->mean, c->numbers), scale = constant_of(g, "input.scale", c->scale, c->numbers);
    int y = graph_op(g, OP_STANDARDISE, &(struct op_attr){ 0 }, GRAPH_INS(x, mean, scale));
    if (!c->takes_missing)
        return y;
    int is_there = binary(g, BINARY_EQUAL, x, x), none = binary(g, BINARY_SUB, is_there, is_there);
    if (c->missing) {
        int is_missing = graph_op(g, OP_UNARY, &(struct op_attr){ .fn = UNARY_NOT }, &is_there, 1);
        *ret_missing = binary(g, BINARY_MUL, is_missing, constant_of(g, "input.missing", c->missing, c->numbers));
    }
    return graph_op(g, OP_SELECT, &(struct op_attr){ 0 }, GRAPH_INS(is_there, y, none));
}

int columns_served(struct graph *g, const struct columns *c)
{
    int part[3] = { input_of(g, "input", c->numbers), VALUE_NONE, VALUE_NONE };
    int x = input_of(g, MODEL_CATEGORIES, c->categories);
    if (c->numbers && c->mean)
        part[0] = numbers_served(g, c, part[0], &part[1]);
    if (c->categories && c->codes) {
        x = graph_reshape(g, x, (struct shape){ ELEM_F32, 3, { DIM_ROWS(1), DIM(c->categories), DIM(1) } });
        x = binary(g, BINARY_EQUAL, x, constant_of(g, "input.codes", c->code, c->codes));
        part[2] = graph_reshape(g, x, (struct shape){ ELEM_F32, 2, { DIM_ROWS(1), DIM(c->categories * c->codes) } });
    }
    return beside(g, part, sizeof part / sizeof *part);
}
