/* SPDX-License-Identifier: Apache-2.0 */
/* job_infer.c - one request of the Open Inference Protocol, version 2, JSON form, in the serving child.
 *
 * One input "input" of any datatype that is a number, with shape [rows, features], data flat or nested, computed with as FP32;
 * outputs "probabilities" FP32
 * [rows, classes] and "label" INT64 [rows], or those of them that "outputs" names. All memory of a request is its exchange's arena.
 * Source: KServe, Open Inference Protocol, "required" REST API. */
#include "workers/lease/type_serve_int.h"

#include <math.h>
#include <stdio.h>
#include "core/base/cleanup.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "core/wire/infer_wire.h"

enum { ROWS_MAX = 16384, PROBABILITIES = 1, LABEL = 2 };
static const size_t REPLY_MAX = (size_t)256 << 20;

struct inference {
    struct infer_request request;
    struct job_serve *serve;
    struct http_exchange *x;
    struct str id;
    unsigned outputs;
};

static enum errc read_outputs(const struct jval *list, unsigned *ret, struct err *e)
{
    unsigned wanted = 0;
    for (struct jval_iter it = jval_iter(list); jval_next(&it);) {
        struct str name = jval_str(jval_get(it.value, "name"));
        if (str_eq_c(name, "probabilities"))
            wanted |= PROBABILITIES;
        else if (str_eq_c(name, "label"))
            wanted |= LABEL;
        else
            return FAIL(e, INVALID, "outputs: there are \"probabilities\" and \"label\", not \"%.*s\"", STR_ARG(name));
    }
    *ret = wanted ? wanted : PROBABILITIES | LABEL;
    return ERR_OK;
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

static enum errc read_whole(const struct jval *data, struct arena *a, struct str type, const struct infer_datatype *t, float *x,
    size_t n,
                            struct err *e)
{
    int64_t *whole = arena_try(a, n * sizeof *whole);
    if (!whole)
        return FAIL(e, TOO_LARGE, "inputs[0]: too many numbers");
    if (jval_to_i64(data, whole, n, e) != ERR_OK)
        return FAIL(e, INVALID,
            "inputs[0].data: shape says %zu whole numbers of %.*s, data has %zu numbers or one that is not whole", n,
                    STR_ARG(type), jval_count_numbers(data));
    for (size_t i = 0; i < n; i++) {
        if (whole[i] < t->min || whole[i] > t->max)
            return FAIL(e, INVALID, "inputs[0].data: number %zu, %ld, is no %.*s", i, (long)whole[i], STR_ARG(type));
        x[i] = (float)whole[i];
    }
    return ERR_OK;
}

static enum errc read_reals(const struct jval *data, struct str type, const struct infer_datatype *t, float *x, size_t n,
    struct err *e)
{
    if (jval_to_f32(data, x, n, e) != ERR_OK)
        return FAIL(e, INVALID, "inputs[0].data: shape says %zu numbers, data has %zu or something that is no number", n,
                    jval_count_numbers(data));
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]) || fabs((double)x[i]) > t->real_max)
            return FAIL(e, INVALID, "inputs[0].data: number %zu does not fit %s", i, str_eq_c(type, "FP16") ? "FP16" : "FP32");
    return ERR_OK;
}

static enum errc read_input(const struct jval *in, struct arena *a, size_t features, struct infer_request *r, struct err *e)
{
    struct str type = jval_str(jval_get(in, "datatype")), name = jval_str(jval_get(in, "name"));
    const struct jval *shape = jval_get(in, "shape"), *data = jval_get(in, "data");
    if (!str_eq_c(name, "input"))
        return FAIL(e, INVALID, "inputs[0]: the name is \"input\", not \"%.*s\"", STR_ARG(name));
    const struct infer_datatype *t = infer_datatype_find(type);
    if (!t)
        return FAIL(e, INVALID,
            "inputs[0].datatype: this model takes FP16, FP32, FP64, INT8 to INT64, UINT8 to UINT64 and BOOL, not \"%.*s\"",
                    STR_ARG(type));
    int64_t rows = jval_i64(jval_at(shape, 0), -1), cols = jval_i64(jval_at(shape, 1), -1);
    if (jval_type(shape) != JT_ARRAY || jval_len(shape) != 2)
        return FAIL(e, INVALID, "inputs[0].shape: [rows, %zu]", features);
    if (cols != (int64_t)features)
        return FAIL(e, INVALID, "inputs[0].shape: this model takes %zu features, not %ld", features, (long)cols);
    if (rows < 1 || rows > ROWS_MAX)
        return FAIL(e, INVALID, "inputs[0].shape: 1 to %d rows, not %ld", ROWS_MAX, (long)rows);
    size_t n = (size_t)rows * features;
    float *x = arena_try(a, n * sizeof *x);
    if (!x)
        return FAIL(e, TOO_LARGE, "inputs[0]: too many numbers");
    size_t bools = 0;
    if (t->is_bool && (!read_bools(data, x, n, &bools) || bools != n))
        return FAIL(e, INVALID, "inputs[0].data: shape says %zu of true and false, data has %zu or something else", n, bools);
    if (!t->is_bool)
        TRY(t->is_real ? read_reals(data, type, t, x, n, e) : read_whole(data, a, type, t, x, n, e));
    r->x = x;
    r->rows = (size_t)rows;
    return ERR_OK;
}

static void on_done(struct infer_request *r, enum errc rc)
{
    struct inference *i = r->ctx;
    if (rc != ERR_OK)
        return serve_fail(i->x, err_row(rc)->http, err_row(rc)->title);
    int64_t rows = (int64_t)r->rows, classes = (int64_t)infer_model_info(i->serve->model)->classes, shape[] = { rows, classes };
    CLEANUP(buf_releasep) struct buf probabilities = BUF(REPLY_MAX);
    CLEANUP(buf_releasep) struct buf labels = BUF(REPLY_MAX);
    struct buf b = BUF(REPLY_MAX);
    struct infer_tensor out[2];
    char version[24];
    size_t n = 0;
    if (i->outputs & PROBABILITIES) {
        json_add_f32s(&probabilities, r->probabilities, r->rows * (size_t)classes);
        out[n++] = (struct infer_tensor){ STR("probabilities"), STR("FP32"), { shape, 2 }, { buf_str(&probabilities) } };
    }
    if (i->outputs & LABEL) {
        json_add_i32s(&labels, r->labels, r->rows);
        out[n++] = (struct infer_tensor){ STR("label"), STR("INT64"), { shape, 1 }, { buf_str(&labels) } };
    }
    snprintf(version, sizeof version, "%ld", (long)i->serve->version);
    json_encode(&infer_reply_schema, &(struct infer_reply){ i->serve->name, str_c(version), i->id, { out, n } }, &b);
    if (b.overflow || probabilities.overflow || labels.overflow) {
        buf_release(&b);
        return serve_fail(i->x, 413, "the answer is too large");
    }
    http_reply_buf(i->x, 200, STR("application/json"), NULL, 0, &b);
}

static enum errc read_request(struct inference *i, struct arena *a, struct str body, struct err *e)
{
    const struct jval *doc;
    TRY(jval_parse(a, body, 0, &doc, e));
    const struct jval *inputs = jval_get(doc, "inputs");
    i->id = jval_str(jval_get(doc, "id"));
    if (jval_len(inputs) != 1)
        return FAIL(e, INVALID, "inputs: one input, \"input\"");
    const struct infer_info *info = infer_model_info(i->serve->model);
    TRY(read_outputs(jval_get(doc, "outputs"), &i->outputs, e));
    TRY(read_input(jval_at(inputs, 0), a, info->inputs, &i->request, e));
    size_t rows = i->request.rows;
    i->request.probabilities = arena_try(a, rows * info->classes * sizeof(float));
    i->request.labels = arena_try(a, rows * sizeof(int32_t));
    if (!i->request.probabilities || !i->request.labels)
        return FAIL(e, TOO_LARGE, "too many rows");
    return ERR_OK;
}

void serve_infer(struct job_serve *s, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    struct inference *i = ARENA_NEW(r->arena, struct inference);
    struct err e = { 0 };
    i->serve = s;
    i->x = x;
    enum errc rc = read_request(i, r->arena, r->body, &e);
    if (rc != ERR_OK)
        return serve_fail(x, err_row(rc)->http, e.msg);
    i->request.ctx = i;
    i->request.done = on_done;
    rc = batcher_submit(s->batcher, &i->request, &e);
    if (rc != ERR_OK)
        serve_fail(x, rc == ERR_RATE ? 503 : err_row(rc)->http, e.msg);
}
