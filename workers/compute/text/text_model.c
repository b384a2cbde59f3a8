/* SPDX-License-Identifier: Apache-2.0 */
/* text_model.c - memory planned at load, and a step: the same operations as in training, row by row. */
#include "workers/compute/text/text_model_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };
static const size_t TABLES_ARENA = (size_t)64 << 20;
static const double EPS = 1e-5, BASE = 10000;       /* those of train/fam_gpt.c */

static size_t qkv_width(const struct text_info *i)
{
    return (i->heads + 2 * i->kv_heads) * (i->width / i->heads);
}

static size_t up_width(const struct text_info *i)
{
    return i->inner * (i->is_gated ? 2 : 1);
}

static size_t cache_numbers(const struct text_info *i)
{
    return i->layers * i->max_sequences * i->kv_heads * i->max_context * (i->width / i->heads);
}

static size_t work_numbers(const struct text_info *i)
{
    size_t row = 3 * i->width + qkv_width(i) + up_width(i) + i->inner;
    return DECODE_ROWS * row + (i->is_rotary ? i->max_context * (i->width / i->heads) : 0);
}

/* Zeroed when it is touched first: what is planned takes no page before it is used. */
static void *lines_alloc(size_t bytes)
{
    void *raw = calloc(1, bytes + LINE + sizeof(void *));
    if (!raw)
        return NULL;
    void **at = (void **)(((uintptr_t)raw + sizeof(void *) + LINE - 1) / LINE * LINE);
    at[-1] = raw;
    return at;
}

static void lines_free(void *p)
{
    if (p)
        free(((void **)p)[-1]);
}

static enum errc plan(struct text_info *i, const struct st_file *f, const struct text_options *o, struct err *e)
{
    i->weights = o->weights;
    i->max_sequences = o->max_sequences ? o->max_sequences : TEXT_SEQUENCES;
    i->max_context = o->max_context ? o->max_context : i->context;
    if (i->max_sequences > TEXT_SEQUENCES_MAX || i->max_context > i->context)
        return FAIL(e, LIMIT, "%zu sequences of %zu tokens are planned; at most %d of %zu, the model's context, can be",
                    i->max_sequences, i->max_context, TEXT_SEQUENCES_MAX, i->context);
    i->weight_bytes = text_file_bytes(i, i->weights);
    i->cache_bytes = 2 * cache_numbers(i) * sizeof(float);
    i->work_bytes = work_numbers(i) * sizeof(float);
    size_t all = i->weight_bytes + i->cache_bytes + i->work_bytes;
    i->load_bytes = text_file_load_bytes(i, i->weights, f, o->data != NULL);
    if (o->max_bytes && i->load_bytes > o->max_bytes)
        return FAIL(e, LIMIT, "the model takes %zu MiB while it loads, file and weights (%s) together; there are %zu. "
                    "It needs more memory", i->load_bytes >> 20, decode_type_names[i->weights], o->max_bytes >> 20);
    if (o->max_bytes && all > o->max_bytes)
        return FAIL(e, LIMIT,
                    "the model needs %zu MiB: %zu of weights (%s) and %zu for %zu sequences of %zu tokens; there are %zu. "
                    "Plan fewer or shorter sequences, or more memory",
                    all >> 20, i->weight_bytes >> 20, decode_type_names[i->weights], i->cache_bytes >> 20, i->max_sequences,
                    i->max_context, o->max_bytes >> 20);
    return ERR_OK;
}

/* As in train/fam_gpt.c: cosines, then sines of token·base^(-2i/d). */
static void fill_angles(struct text_model *m)
{
    size_t half = m->d / 2;
    for (size_t i = 0; i < m->info.max_context * m->d; i++) {
        double angle = (double)(i / m->d) * pow(BASE, -2.0 * (double)(i % half) / (double)m->d);
        m->angles[i] = (float)(i % m->d < half ? cos(angle) : sin(angle));
    }
}

static enum errc make_room(struct text_model *m, struct err *e)
{
    const struct text_info *i = &m->info;
    m->layers = ARENA_ARRAY(m->arena, struct text_layer, i->layers);
    m->weights = lines_alloc(i->weight_bytes);
    m->keys = lines_alloc(i->cache_bytes / 2);
    m->values = lines_alloc(i->cache_bytes / 2);
    m->work = lines_alloc(i->work_bytes);
    if (!m->weights || !m->keys || !m->values || !m->work)
        return FAIL(e, LIMIT, "no memory for %zu MiB of weights and %zu of cache", i->weight_bytes >> 20, i->cache_bytes >> 20);
    float *at = m->work;
    m->x = at;
    m->h = m->x + DECODE_ROWS * i->width;
    m->out = m->h + DECODE_ROWS * i->width;
    m->qkv = m->out + DECODE_ROWS * i->width;
    m->up = m->qkv + DECODE_ROWS * qkv_width(i);
    m->gate = m->up + DECODE_ROWS * up_width(i);
    m->angles = m->gate + DECODE_ROWS * i->inner;
    if (i->is_rotary)
        fill_angles(m);
    return ERR_OK;
}

static enum errc fill(struct text_model *m, const struct st_file *f, const struct text_options *o, struct err *e)
{
    if (!m->be->decode)
        return FAIL(e, UNPROCESSABLE, "backend %s makes no text", m->be->name);
    TRY(text_file_about(m->arena, f, &m->info, e));
    m->d = m->info.width / m->info.heads;
    TRY(plan(&m->info, f, o, e));
    TRY(make_room(m, e));
    text_file_take(m, f, o->data);
    return m->be->open(m->be, m->pool, &m->ctx, e);
}

static struct text_model *model_new(const struct backend *be, struct pool *pool)
{
    struct text_model *m = calloc(1, sizeof *m);
    ASSERT(m);
    m->be = be;
    m->pool = pool;
    m->arena = arena_new(TABLES_ARENA);
    return m;
}

enum errc text_model_load(const struct backend *be, struct pool *pool, const struct st_file *f, const struct text_options *o,
                          struct text_model **ret, struct err *e)
{
    struct text_model *m = model_new(be, pool);
    enum errc rc = fill(m, f, o, e);
    if (rc != ERR_OK) {
        text_model_free(m);
        return rc;
    }
    *ret = m;
    return ERR_OK;
}

void text_model_settle(const struct text_model *m, const _Atomic bool *stop)
{
    pages_large(m->weights, m->info.weight_bytes, stop);
}

void text_model_free(struct text_model *m)
{
    if (!m)
        return;
    if (m->ctx)
        m->be->close(m->ctx);
    lines_free(m->weights);
    lines_free(m->keys);
    lines_free(m->values);
    lines_free(m->work);
    arena_free(m->arena);
    free(m);
}

const struct text_info *text_model_info(const struct text_model *m)
{
    return &m->info;
}

struct pool *text_model_pool(const struct text_model *m)
{
    return m->pool;
}

static struct mat rows_at(float *p, size_t rows, size_t cols)
{
    return mat_host(p, ELEM_F32, rows, cols);
}

static void norm(struct text_model *m, const float *x, size_t n, const float *scale, const float *shift, float *y)
{
    size_t c = m->info.width;
    const struct op_attr attr = { .eps = EPS };
    struct mat in = rows_at((float *)(uintptr_t)x, n, c), out = rows_at(y, n, c);
    struct mat by = rows_at((float *)(uintptr_t)scale, 1, c), plus = rows_at((float *)(uintptr_t)shift, 1, c);
    if (shift)
        call_op(m->be, m->ctx, OP_LAYERNORM, &attr, CALL_INS(&in, &by, &plus), CALL_INS(&out));
    else
        call_op(m->be, m->ctx, OP_RMSNORM, &attr, CALL_INS(&in, &by), CALL_INS(&out));
}

static void product(struct text_model *m, const float *x, size_t n, const struct decode_weights *w, const float *bias, float *y)
{
    decode_run(m->be, m->pool, &(struct decode_product){ w, x, bias, y, n, w->k, w->n });
}

static void add_rows(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] += y[i];
}

/* The pair (i, i + d/2) of each head turned by its place's angles, as OP_ROTARY does. */
static void turn(const struct text_model *m, float *x, size_t heads, size_t at)
{
    size_t half = m->d / 2;
    const float *cosine = m->angles + at * m->d, *sine = cosine + half;
    for (size_t h = 0; h < heads; h++, x += m->d)
        for (size_t i = 0; i < half; i++) {
            float a = x[i], b = x[half + i];
            x[i] = a * cosine[i] - b * sine[i];
            x[half + i] = b * cosine[i] + a * sine[i];
        }
}

static size_t cache_at(const struct text_model *m, size_t layer, size_t slot, size_t group)
{
    const struct text_info *i = &m->info;
    return ((layer * i->max_sequences + slot) * i->kv_heads + group) * i->max_context * m->d;
}

struct attend_job {
    const struct text_model *m;
    const struct text_row *rows;
    size_t layer;
};

/* One row's keys and values into the cache. */
static void keep(const struct text_model *m, size_t layer, const struct text_row *r, float *qkv)
{
    const struct text_info *i = &m->info;
    if (i->is_rotary)
        turn(m, qkv, i->heads + i->kv_heads, r->at);
    for (size_t g = 0; g < i->kv_heads; g++) {
        size_t to = cache_at(m, layer, r->slot, g) + r->at * m->d;
        memcpy(m->keys + to, qkv + (i->heads + g) * m->d, m->d * sizeof(float));
        memcpy(m->values + to, qkv + (i->heads + i->kv_heads + g) * m->d, m->d * sizeof(float));
    }
}

/* One head of one row. */
static void attend_task(void *arg, size_t task)
{
    const struct attend_job *j = arg;
    const struct text_model *m = j->m;
    const struct text_info *i = &m->info;
    size_t row = task / i->heads, h = task % i->heads;
    size_t from = cache_at(m, j->layer, j->rows[row].slot, h / (i->heads / i->kv_heads));
    const struct decode_attend a = { .q = m->qkv + row * qkv_width(i) + h * m->d, .keys = m->keys + from,
                                     .values = m->values + from, .out = m->out + row * i->width + h * m->d,
                                     .seen = j->rows[row].at + 1, .d = m->d, .scale = (float)(1 / sqrt((double)m->d)) };
    m->be->decode->attend(&a);
}

static void attend(struct text_model *m, size_t layer, const struct text_row *rows, size_t n)
{
    struct attend_job j = { m, rows, layer };
    size_t seen = 0;
    for (size_t i = 0; i < n; i++) {
        keep(m, layer, &rows[i], m->qkv + i * qkv_width(&m->info));
        seen += rows[i].at + 1;
    }
    pool_run(seen * m->info.width > 65536 ? m->pool : NULL, n * m->info.heads, attend_task, &j);
}

static void perceptron(struct text_model *m, const struct text_layer *l, size_t n)
{
    const struct text_info *i = &m->info;
    product(m, m->h, n, &l->up, l->up_bias, m->up);
    struct mat in = rows_at(m->up, n, up_width(i)), out = rows_at(m->gate, n, i->inner);
    call_unary(m->be, m->ctx, i->is_gated ? OP_SWIGLU : OP_GELU, &in, &out);
    product(m, m->gate, n, &l->down, l->down_bias, m->out);
}

static void embed(struct text_model *m, const struct text_row *rows, size_t n)
{
    size_t c = m->info.width;
    for (size_t i = 0; i < n; i++) {
        decode_row(&m->table, (size_t)rows[i].token, m->x + i * c);
        if (m->places)
            add_rows(m->x + i * c, m->places + rows[i].at * c, c);
    }
}

/* The rows that are asked move together, so that the head's weights are read once for all of them. */
static void answer(struct text_model *m, const struct text_row *rows, size_t n)
{
    size_t c = m->info.width, wanted = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i].logits)
            memmove(m->x + wanted++ * c, m->x + i * c, c * sizeof(float));
    if (!wanted)
        return;
    norm(m, m->x, wanted, m->last, m->last_shift, m->h);
    for (size_t i = 0, at = 0; i < n; i++) {
        if (!rows[i].logits)
            continue;
        size_t together = 1;            /* whose answers lie behind each other */
        for (size_t k = i; k + 1 < n && rows[k + 1].logits == rows[k].logits + m->info.vocab; k++)
            together++;
        product(m, m->h + at * c, together, &m->table, NULL, rows[i].logits);
        at += together;
        i += together - 1;
    }
}

enum errc text_step(struct text_model *m, const struct text_row *rows, size_t n, struct err *e)
{
    const struct text_info *i = &m->info;
    ASSERT(n >= 1 && n <= DECODE_ROWS);
    for (size_t r = 0; r < n; r++)
        ASSERT(rows[r].slot < i->max_sequences && rows[r].at < i->max_context && (size_t)rows[r].token < i->vocab);
    embed(m, rows, n);
    for (size_t l = 0; l < i->layers; l++) {
        const struct text_layer *y = &m->layers[l];
        norm(m, m->x, n, y->norm1, y->shift1, m->h);
        product(m, m->h, n, &y->attn, y->attn_bias, m->qkv);
        attend(m, l, rows, n);
        product(m, m->out, n, &y->attn_out, y->attn_out_bias, m->h);
        add_rows(m->x, m->h, n * i->width);
        norm(m, m->x, n, y->norm2, y->shift2, m->h);
        perceptron(m, y, n);
        add_rows(m->x, m->out, n * i->width);
    }
    answer(m, rows, n);
    return m->be->sync(m->ctx, e);
}
