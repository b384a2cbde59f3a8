/* SPDX-License-Identifier: Apache-2.0 */
/* infer_read.c - a request's JSON and the binary tensors behind it, checked against the model's signature.
 *
 * Every refusal names the place and what the model takes. Names, datatypes and shapes are those of the signature exactly; rows
 * are 1 to INFER_ROWS_MAX and the same for all inputs. A tensor in binary is named by parameters.binary_data_size, and the
 * tensors lie behind the JSON in the order of the inputs, little endian, without gaps.
 * Source: KServe, Open Inference Protocol (REST), and Triton's extension "binary tensor data". */
#include "workers/lease/infer_read_int.h"
#include "core/base/cleanup.h"

#include <math.h>
#include <stdlib.h>

#define BAD(...) FAIL(e, INVALID, __VA_ARGS__)

static const char *takes(const struct infer_call *c)
{
    CLEANUP(buf_releasep) struct buf b = BUF(160);
    (void)sig_print(&b, c->sig->inputs, c->sig->input_count);
    return str_z(c->arena, buf_str(&b));
}

static bool is_type(const struct sig_tensor *t, const char *name)
{
    return str_eq_c(t->datatype, name);
}

/* Texts in order, nested lists flattened; each is its column's code, and no text, "" and null are none. */
static bool read_words(const struct infer_call *c, const struct jval *v, float *x, size_t n, size_t *at)
{
    enum jtype type = jval_type(v);
    if ((type == JT_STR || type == JT_NULL) && *at < n) {
        const struct model_words *w = &infer_model_info(c->model)->words;
        int32_t code = type == JT_STR ? words_find(&w->words[*at % w->columns], jval_str(v)) : WORD_NONE;
        x[(*at)++] = code == WORD_NONE ? (float)NAN : (float)code;
        return true;
    }
    bool ok = type == JT_ARRAY;
    for (struct jval_iter it = jval_iter(v); ok && jval_next(&it);)
        ok = read_words(c, it.value, x, n, at);
    return ok;
}

/* Numbers, and null for one that is missing. */
static bool read_or_missing(const struct jval *v, float *x, size_t n, size_t *at)
{
    enum jtype type = jval_type(v);
    if ((type == JT_INT || type == JT_REAL || type == JT_NULL) && *at < n) {
        float number = (float)jval_f64(v, (double)NAN);
        x[(*at)++] = number;
        return type == JT_NULL || isfinite(number);
    }
    bool ok = type == JT_ARRAY;
    for (struct jval_iter it = jval_iter(v); ok && jval_next(&it);)
        ok = read_or_missing(it.value, x, n, at);
    return ok;
}

static size_t wire_bytes(const struct sig_tensor *t)
{
    return is_type(t, "INT64") ? 8 : is_type(t, "BOOL") ? 1 : 4;
}

/* Booleans in order, nested lists flattened. *at: how many so far; false: something else among them, or too many. */
static bool read_bools(const struct jval *v, float *x, size_t n, size_t *at)
{
    if (jval_type(v) == JT_BOOL && *at < n) {
        x[(*at)++] = jval_bool(v, false) ? 1 : 0;
        return true;
    }
    bool ok = jval_type(v) == JT_ARRAY;
    for (struct jval_iter it = jval_iter(v); ok && jval_next(&it);)
        ok = read_bools(it.value, x, n, at);
    return ok;
}

static enum errc check_whole(const char *place, int64_t v, size_t i, size_t limit, struct err *e)
{
    if (v < INT32_MIN || v > INT32_MAX || (limit && (v < 0 || (uint64_t)v >= limit)))
        return BAD("%s: number %zu, %ld, is not among the 0 to %zu that the model takes", place, i, (long)v,
                   limit ? limit - 1 : INT32_MAX);
    return ERR_OK;
}

static enum errc read_json(struct infer_call *c, const struct jval *data, const struct sig_tensor *t, const char *place,
                           size_t limit,
                           float *x, size_t n, struct err *e)
{
    size_t found = 0;
    if (is_type(t, "BOOL"))
        return read_bools(data, x, n, &found) && found == n ? ERR_OK
               : BAD("%s.data: shape says %zu of true and false, data has %zu or something else", place, n, found);
    if (is_type(t, "BYTES"))
        return read_words(c, data, x, n, &found) && found == n ? ERR_OK
               : BAD("%s.data: shape says %zu words, data has %zu or something that is no text and not null", place, n, found);
    if (is_type(t, "FP32") && infer_model_info(c->model)->words.takes_missing)
        return read_or_missing(data, x, n, &found) && found == n ? ERR_OK
               : BAD("%s.data: shape says %zu numbers (null: missing), data has %zu or something that is no number of FP32",
                     place, n, found);
    if (!infer_is_whole(t)) {
        if (jval_to_f32(data, x, n, e) != ERR_OK)
            return BAD("%s.data: shape says %zu numbers, data has %zu or something that is no number", place, n,
                       jval_count_numbers(data));
        for (size_t i = 0; i < n; i++)
            if (!isfinite(x[i]))
                return BAD("%s.data: number %zu does not fit FP32", place, i);
        return ERR_OK;
    }
    int64_t *whole = arena_try(c->arena, n * sizeof *whole);
    if (!whole)
        return FAIL(e, TOO_LARGE, "%s: too many numbers", place);
    if (jval_to_i64(data, whole, n, e) != ERR_OK)
        return BAD("%s.data: shape says %zu whole numbers, data has %zu numbers or one that is not whole", place, n,
                   jval_count_numbers(data));
    for (size_t i = 0; i < n; i++) {
        TRY(check_whole(place, whole[i], i, limit, e));
        ((int32_t *)(void *)x)[i] = (int32_t)whole[i];
    }
    return ERR_OK;
}

static enum errc read_binary(struct str bytes, const struct sig_tensor *t, const char *place, size_t limit, float *x, size_t n,
                             struct err *e)
{
    for (size_t i = 0; i < n && wire_bytes(t) != 4; i++) {
        int64_t v = (unsigned char)bytes.ptr[i];
        if (is_type(t, "BOOL")) {
            if (v > 1)
                return BAD("%s: number %zu of BOOL is %ld, not 0 or 1", place, i, (long)v);
            x[i] = (float)v;
            continue;
        }
        memcpy(&v, bytes.ptr + i * 8, 8);
        TRY(check_whole(place, v, i, limit, e));
        ((int32_t *)(void *)x)[i] = (int32_t)v;
    }
    if (wire_bytes(t) == 4)
        memcpy(x, bytes.ptr, n * 4);
    for (size_t i = 0; i < n && is_type(t, "INT32"); i++)
        TRY(check_whole(place, ((int32_t *)(void *)x)[i], i, limit, e));
    return ERR_OK;
}

/* Each word behind its length, four bytes, little endian; they are `bytes` together. */
static enum errc read_binary_words(struct infer_call *c, int64_t bytes, const char *place, float *x, size_t n, struct str *rest,
                                   struct err *e)
{
    const struct model_words *w = &infer_model_info(c->model)->words;
    size_t all = bytes >= 0 && (uint64_t)bytes <= rest->len ? (size_t)bytes : 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t len = 0;
        if (all - at >= sizeof len)
            memcpy(&len, rest->ptr + at, sizeof len);
        if (all - at < sizeof len || all - at - sizeof len < len)
            return BAD("%s: binary_data_size is %ld and %zu bytes are left; word %zu of %zu goes on behind them", place,
                       (long)bytes, rest->len, i, n);
        int32_t code = words_find(&w->words[i % w->columns], str_n(rest->ptr + at + sizeof len, len));
        x[i] = code == WORD_NONE ? (float)NAN : (float)code;
        at += sizeof len + len;
    }
    if (at != all)
        return BAD("%s: binary_data_size is %ld; its %zu words have %zu bytes", place, (long)bytes, n, at);
    *rest = str_n(rest->ptr + all, rest->len - all);
    return ERR_OK;
}

static enum errc read_shape(struct infer_call *c, const struct jval *shape, const struct sig_tensor *t, const char *place,
                            struct err *e)
{
    size_t rank = jval_len(shape);
    bool fits = jval_type(shape) == JT_ARRAY && rank == t->rank;
    for (uint32_t d = 0; fits && d < t->rank; d++) {
        int64_t n = jval_i64(jval_at(shape, d), -1);
        fits = t->dim[d] < 0 ? n >= 1 && n <= INFER_ROWS_MAX && (!c->rows || c->rows == (size_t)n) : n == t->dim[d];
        if (fits && t->dim[d] < 0)
            c->rows = (size_t)n;
    }
    if (fits)
        return ERR_OK;
    CLEANUP(buf_releasep) struct buf got = BUF(128);
    for (size_t d = 0; d < rank && d < 8; d++)
        buf_printf(&got, d ? ",%ld" : "%ld", (long)jval_i64(jval_at(shape, d), -1));
    return BAD("%s.shape: [%s] does not fit; the model takes %s, with 1 to %d rows for -1, the same for all inputs", place,
               got.ptr ? got.ptr : "", takes(c), INFER_ROWS_MAX);
}

/* *rest: the binary tensors that are not taken yet. */
static enum errc read_input(struct infer_call *c, const struct jval *in, size_t nth, struct str *rest, struct err *e)
{
    struct str type = jval_str(jval_get(in, "datatype")), name = jval_str(jval_get(in, "name"));
    const struct jval *binary = jval_get(jval_get(in, "parameters"), "binary_data_size");
    const char *place = arena_printf(c->arena, "inputs[%zu]", nth);
    int at = sig_find(c->sig->inputs, c->sig->input_count, name);
    if (at < 0 || c->io.in[at])
        return BAD("%s: there is no input \"%.*s\", or it is given twice; the model takes %s", place,
                   (int)(name.len < 40 ? name.len : 40),
                   name.ptr ? name.ptr : "", takes(c));
    const struct sig_tensor *t = &c->sig->inputs[at];
    if (!str_eq(type, t->datatype))
        return BAD("%s.datatype: \"%.*s\" is %.*s, not \"%.*s\"; the model takes %s", place,
                   (int)(name.len < 40 ? name.len : 40), name.ptr,
                   STR_ARG(t->datatype), (int)(type.len < 16 ? type.len : 16), type.ptr ? type.ptr : "", takes(c));
    TRY(read_shape(c, jval_get(in, "shape"), t, place, e));
    size_t n = sig_count(t, c->rows ? c->rows : 1);
    float *x = n <= INFER_NUMBERS_MAX ? arena_try(c->arena, n * sizeof *x) : NULL;
    if (!x)
        return FAIL(e, TOO_LARGE, "%s: %zu numbers are too many", place, n);
    size_t limit = infer_index_limit(c->model, (size_t)at), bytes = n * wire_bytes(t);
    c->io.in[at] = x;
    if (jval_type(binary) == JT_NONE)
        return read_json(c, jval_get(in, "data"), t, place, limit, x, n, e);
    if (is_type(t, "BYTES"))
        return read_binary_words(c, jval_i64(binary, -1), place, x, n, rest, e);
    if (jval_i64(binary, -1) != (int64_t)bytes || rest->len < bytes || jval_type(jval_get(in, "data")) != JT_NONE)
        return BAD("%s: binary_data_size is %ld and %zu bytes are left; its shape needs %zu, and no data", place,
                   (long)jval_i64(binary, -1),
                   rest->len, bytes);
    TRY(read_binary(str_n(rest->ptr, bytes), t, place, limit, x, n, e));
    *rest = str_n(rest->ptr + bytes, rest->len - bytes);
    return ERR_OK;
}

static enum errc read_outputs(struct infer_call *c, const struct jval *doc, struct err *e)
{
    const struct jval *list = jval_get(doc, "outputs");
    bool all = jval_bool(jval_get(jval_get(doc, "parameters"), "binary_data_output"), false);
    for (size_t i = 0; i < c->sig->output_count; i++) {
        c->is_wanted[i] = !jval_len(list);
        c->is_binary[i] = all;
    }
    for (struct jval_iter it = jval_iter(list); jval_next(&it);) {
        struct str name = jval_str(jval_get(it.value, "name"));
        int at = sig_find(c->sig->outputs, c->sig->output_count, name);
        if (at < 0) {
            CLEANUP(buf_releasep) struct buf b = BUF(150);
            (void)sig_print(&b, c->sig->outputs, c->sig->output_count);
            return BAD("outputs: there is no \"%.*s\"; the model gives %s", (int)(name.len < 40 ? name.len : 40),
                       name.ptr ? name.ptr : "",
                       b.ptr ? b.ptr : "");
        }
        c->is_wanted[at] = true;
        c->is_binary[at] = jval_bool(jval_get(jval_get(it.value, "parameters"), "binary_data"), all);
    }
    return ERR_OK;
}

static enum errc make_room(struct infer_call *c, struct err *e)
{
    c->rows = c->rows ? c->rows : 1;
    for (size_t i = 0; i < c->sig->output_count; i++) {
        size_t n = sig_count(&c->sig->outputs[i], c->rows);
        if (!c->is_wanted[i])
            continue;
        c->io.out[i] = n <= INFER_NUMBERS_MAX ? arena_try(c->arena, n * sizeof(float)) : NULL;
        if (!c->io.out[i])
            return FAIL(e, TOO_LARGE, "too many rows: their answer does not fit");
    }
    return ERR_OK;
}

static enum errc read_limits(struct infer_call *c, const struct jval *parameters, struct err *e)
{
    const struct jval *timeout = jval_get(parameters, "timeout"), *priority = jval_get(parameters, "priority");
    c->timeout_us = timeout ? jval_i64(timeout, -1) : 0;
    c->priority = priority ? jval_i64(priority, -1) : 0;
    if (c->timeout_us < 0)
        return BAD("parameters.timeout: a whole number of microseconds is expected, 0: no limit of its own");
    if (c->priority < 0 || c->priority > QUEUE_PRIORITY_MAX)
        return BAD("parameters.priority: a whole number of 1 (first) to %d is expected, 0: %d, the usual one",
                   QUEUE_PRIORITY_MAX, QUEUE_PRIORITY_USUAL);
    return ERR_OK;
}

enum errc infer_read(struct infer_call *c, struct str header_length, struct str body, struct err *e)
{
    const struct jval *doc;
    struct str json = body, rest = STR("");
    int64_t length;
    size_t nth = 0;
    if (header_length.ptr) {
        if (!str_to_i64(header_length, 0, (int64_t)body.len, &length))
            return BAD("Inference-Header-Content-Length is no number of bytes within the body's %zu", body.len);
        json = str_n(body.ptr, (size_t)length);
        rest = length ? str_n(body.ptr + length, body.len - (size_t)length) : body;
    }
    TRY(jval_parse(c->arena, json, 0, &doc, e));
    const struct jval *inputs = jval_get(doc, "inputs");
    c->id = jval_str(jval_get(doc, "id"));
    if (jval_type(inputs) != JT_ARRAY || jval_len(inputs) != c->sig->input_count)
        return BAD("inputs: %zu are given; the model takes %s", jval_len(inputs), takes(c));
    TRY(read_limits(c, jval_get(doc, "parameters"), e));
    TRY(read_outputs(c, doc, e));
    for (struct jval_iter it = jval_iter(inputs); jval_next(&it);)
        TRY(read_input(c, it.value, nth++, &rest, e));
    if (rest.len)
        return BAD("%zu bytes behind the JSON belong to no input", rest.len);
    return make_room(c, e);
}
