/* SPDX-License-Identifier: Apache-2.0 */
/* emu_lt.c - descriptors as they are set, judged when a way is asked for and again when it runs; a run is flattened into one
 * struct, so that a captured one needs its descriptors no more. */
#include "tests/cuda/emu_lt.h"
#include "tests/cuda/emu_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVED = 0x6c74, ROOM = 4096, ROOM_ASKED = 256, FAILED = 13 };

struct layout {
    int type;
    uint64_t rows, cols;
    int64_t stride, step;
    int32_t batch;
};
struct product {
    int32_t turn[2];
    uint32_t end;
    const void *bias, *aux;
    int32_t bias_type, aux_type;
    int64_t aux_stride;
};
struct wish {
    uint64_t room;
    uint32_t reduction, align[4];
};

struct made {                   /* all of one run */
    struct product p;
    struct layout a, b, d;
    const char *x, *y;
    char *out;
    float beta;
    void *room;
};

struct emu_lt emu_lt = { .answers = 1, .runs_left = -1, .version = 13 };

void emu_lt_reset(void)
{
    emu_lt = (struct emu_lt){ .answers = 1, .runs_left = -1, .version = 13 };
}

static size_t bytes(int type)
{
    return type == LT_BF16 ? 2 : 4;
}

static float get(const void *at, int type, size_t i)
{
    return type == LT_BF16 ? bf16_to_f32(((const uint16_t *)at)[i]) : ((const float *)at)[i];
}

static void put(void *at, int type, size_t i, double v)
{
    if (type == LT_BF16)
        ((uint16_t *)at)[i] = bf16_of((float)v);
    else
        ((float *)at)[i] = (float)v;
}

static int property(int which, int *ret)
{
    *ret = which ? 0 : emu_lt.version;
    return 0;
}

static int open_handle(void **ret)
{
    static char handle;
    *ret = &handle;
    return emu_lt.is_missing ? 1 : 0;
}

static int close_handle(void *handle)
{
    return handle ? 0 : LT_INVALID;
}

static int product_new(void **ret, int compute, int scale)
{
    struct product *p = calloc(1, sizeof *p);
    ASSERT(p);
    p->end = LT_END_PLAIN;
    p->bias_type = p->aux_type = -1;
    *ret = p;
    return compute == LT_SUMS_F32 && scale == LT_F32 ? 0 : LT_INVALID;
}

static int product_set(void *product, int what, const void *value, size_t n)
{
    struct product *p = product;
    const struct {
        int what;
        void *at;
        size_t n;
    } known[] = { { LT_TURN_A, &p->turn[0], 4 }, { LT_TURN_B, &p->turn[1], 4 }, { LT_END, &p->end, 4 },
                  { LT_BIAS, &p->bias, sizeof(void *) }, { LT_AUX, &p->aux, sizeof(void *) },
                  { LT_AUX_STRIDE, &p->aux_stride, 8 }, { LT_BIAS_TYPE, &p->bias_type, 4 }, { LT_AUX_TYPE, &p->aux_type, 4 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].what == what && known[i].n == n) {
            memcpy(known[i].at, value, n);
            return 0;
        }
    return LT_INVALID;
}

static int release(void *p)
{
    free(p);
    return p ? 0 : LT_INVALID;
}

static int product_free(void *product) { return release(product); }
static int layout_free(void *layout) { return release(layout); }
static int wish_free(void *wish) { return release(wish); }

static int layout_new(void **ret, int type, uint64_t rows, uint64_t cols, int64_t stride)
{
    struct layout *l = calloc(1, sizeof *l);
    ASSERT(l);
    *l = (struct layout){ .type = type, .rows = rows, .cols = cols, .stride = stride, .batch = 1 };
    *ret = l;
    return 0;                           /* the library judges a stride when it is used */
}

static int layout_set(void *layout, int what, const void *value, size_t n)
{
    struct layout *l = layout;
    if (what == LT_LAYOUT_BATCH && n == 4)
        memcpy(&l->batch, value, n);
    else if (what == LT_LAYOUT_STEP && n == 8)
        memcpy(&l->step, value, n);
    else
        return LT_INVALID;
    return 0;
}

static int wish_new(void **ret)
{
    struct wish *w = calloc(1, sizeof *w);
    ASSERT(w);
    *w = (struct wish){ 0, 7, { 256, 256, 256, 256 } };
    *ret = w;
    return 0;
}

static int wish_set(void *wish, int what, const void *value, size_t n)
{
    struct wish *w = wish;
    if (what == LT_WISH_ROOM && n == 8)
        memcpy(&w->room, value, n);
    else if (what == LT_WISH_REDUCTION && n == 4)
        memcpy(&w->reduction, value, n);
    else if (what >= LT_WISH_ALIGN_A && what <= LT_WISH_ALIGN_D && n == 4)
        memcpy(&w->align[what - LT_WISH_ALIGN_A], value, n);
    else
        return LT_INVALID;
    return 0;
}

static bool is_aligned(const void *p, size_t to)
{
    return p && (uintptr_t)p % to == 0;
}

/* Each end with what its documentation asks for. */
static int judge_end(const struct product *p, const struct layout *d)
{
    bool has_bias = p->end & (LT_END_BIAS | 16 | LT_END_BGRADA | LT_END_BGRADB), has_aux = p->end & 128;
    int32_t bias_type = p->bias_type < 0 ? d->type : p->bias_type;
    bool is_wide = emu_lt.takes_wide_bias && bias_type == LT_F32 && !(p->end & 16);
    switch (p->end) {
    case LT_END_PLAIN: case LT_END_BIAS: case LT_END_GELU_BIAS:
    case LT_END_GELU_AUX_BIAS: case LT_END_DGELU: case LT_END_DGELU_BGRAD:
    case LT_END_BGRADA: case LT_END_BGRADB: break;
    default: return LT_NOT_SUPPORTED;
    }
    if (emu_lt.refused_end == p->end || (has_aux && (d->batch > 1 || d->type != LT_BF16)))
        return LT_NOT_SUPPORTED;
    if (has_bias && (!is_aligned(p->bias, bytes(bias_type)) || d->batch > 1))
        return LT_INVALID;
    if (has_bias && bias_type != d->type && !is_wide)
        return LT_NOT_SUPPORTED;
    if (has_aux && (p->aux_stride % 8 || p->aux_stride < (int64_t)d->rows || !is_aligned(p->aux, 16)
                    || (p->aux_type >= 0 && p->aux_type != d->type)))
        return LT_INVALID;
    return 0;
}

static int judge(const struct product *p, const struct layout *a, const struct layout *b, const struct layout *d)
{
    uint64_t m = p->turn[0] ? a->cols : a->rows, k = p->turn[0] ? a->rows : a->cols;
    uint64_t n = p->turn[1] ? b->rows : b->cols, depth = p->turn[1] ? b->cols : b->rows;
    bool is_known = (a->type == LT_BF16 || a->type == LT_F32) && a->type == b->type
                    && (d->type == LT_F32 || (d->type == LT_BF16 && a->type == LT_BF16));
    if (!is_known)
        return LT_NOT_SUPPORTED;
    const struct layout *const all[] = { a, b, d };
    for (int i = 0; i < 3; i++)
        if (!all[i]->rows || !all[i]->cols || all[i]->stride < (int64_t)all[i]->rows || all[i]->batch != d->batch)
            return LT_INVALID;
    if (m != d->rows || n != d->cols || k != depth)
        return LT_INVALID;
    return judge_end(p, d);
}

/* What a way is good for. */
static uint64_t mark(const struct product *p, const struct layout *a, const struct layout *b, const struct layout *d)
{
    return (uint64_t)p->end << 48 ^ (uint64_t)(p->turn[0] * 2 + p->turn[1]) << 40 ^ d->rows << 24 ^ d->cols << 8 ^ a->rows * 31
           ^ b->rows * 7 ^ (uint64_t)(a->type + 2 * d->type);
}

static int ask(void *handle, void *product, void *a, void *b, void *c, void *d, void *wish, int most, struct lt_answer *ret,
               int *ret_count)
{
    const struct wish *w = wish;
    int status = !handle || c != d || most < 1 ? LT_INVALID : judge(product, a, b, d);
    const struct layout *const all[] = { a, b, d, d };
    emu_lt.asks++;
    *ret_count = 0;
    for (int i = 0; i < 4 && !status; i++)
        if (w->align[i] < bytes(all[i]->type))
            status = LT_NOT_SUPPORTED;
    if (status || w->reduction != LT_REDUCTION_FIXED)
        return status ? status : LT_NOT_SUPPORTED;
    for (int i = 0; i < emu_lt.answers && i < most; i++) {
        ret[i] = (struct lt_answer){ .way = { { SERVED, (uint64_t)i, mark(product, a, b, d) } },
                                     .room_bytes = w->room < ROOM_ASKED ? 0 : ROOM_ASKED };
        ++*ret_count;
    }
    return 0;
}

static int check(void *handle, void *product, void *a, void *b, void *c, void *d, const struct lt_way *way, struct lt_answer *ret)
{
    int status = !handle || c != d ? LT_INVALID : judge(product, a, b, d);
    emu_lt.checks++;
    ret->room_bytes = ROOM_ASKED;
    return status ? status : way->of[0] == SERVED && way->of[2] == mark(product, a, b, d) ? 0 : LT_INVALID;
}

static size_t span(const struct layout *l)
{
    size_t last = (size_t)l->stride * (l->cols - 1) + l->rows;
    return (last + (size_t)(l->batch - 1) * (size_t)l->step) * bytes(l->type);
}

static int touch(int queue, const void *at, size_t n, bool reads, bool writes)
{
    const struct gpu_use use = { (gpu_ptr)(uintptr_t)at, n, reads, writes, true };
    return n ? emu_touch("cuBLASLt", queue, &use) : 0;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    double t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

static double factor(const void *at, const struct layout *l, bool is_turned, uint64_t row, uint64_t col)
{
    return get(at, l->type, is_turned ? row * (uint64_t)l->stride + col : col * (uint64_t)l->stride + row);
}

/* One number: the sum, then what the end makes of it. */
static double finish(const struct made *m, uint64_t i, uint64_t j, double v)
{
    const struct product *p = &m->p;
    void *aux = (void *)(uintptr_t)p->aux;
    size_t at = (size_t)j * (size_t)p->aux_stride + i;
    int bias_type = p->bias_type < 0 ? m->d.type : p->bias_type;
    if (p->end & LT_END_BIAS)
        v += get(p->bias, bias_type, i);
    if (p->end == LT_END_GELU_AUX_BIAS)
        put(aux, m->d.type, at, v);
    if ((p->end & ~128u) == LT_END_GELU_BIAS)
        v = gelu(v);
    return (p->end & ~16u) == LT_END_DGELU ? v * gelu_slope(get(aux, m->d.type, at)) : v;
}

/* Sums of a factor over the depth, or of what DGELU made, for each row of the result. */
static void sum_up(const struct made *m, const double *sums)
{
    int type = m->p.bias_type < 0 ? m->d.type : m->p.bias_type;
    void *bias = (void *)(uintptr_t)m->p.bias;
    uint64_t depth = m->p.turn[0] ? m->a.rows : m->a.cols, rows = m->p.end == LT_END_BGRADB ? m->d.cols : m->d.rows;
    for (uint64_t i = 0; i < rows && (m->p.end & (16 | LT_END_BGRADA | LT_END_BGRADB)); i++) {
        double v = sums[i];
        for (uint64_t k = 0; k < depth && m->p.end == LT_END_BGRADA; k++)
            v += factor(m->x, &m->a, m->p.turn[0], i, k);
        for (uint64_t k = 0; k < depth && m->p.end == LT_END_BGRADB; k++)
            v += factor(m->y, &m->b, m->p.turn[1], k, i);
        put(bias, type, i, v);
    }
}

static void multiply(const struct made *m, int batch, double *sums)
{
    const char *x = m->x + (size_t)batch * (size_t)m->a.step * bytes(m->a.type);
    const char *y = m->y + (size_t)batch * (size_t)m->b.step * bytes(m->b.type);
    char *out = m->out + (size_t)batch * (size_t)m->d.step * bytes(m->d.type);
    uint64_t depth = m->p.turn[0] ? m->a.rows : m->a.cols;
    for (uint64_t j = 0; j < m->d.cols; j++)
        for (uint64_t i = 0; i < m->d.rows; i++) {
            double v = 0;
            size_t at = (size_t)j * (size_t)m->d.stride + i;
            for (uint64_t k = 0; k < depth; k++)
                v += factor(x, &m->a, m->p.turn[0], i, k) * factor(y, &m->b, m->p.turn[1], k, j);
            v = finish(m, i, j, v + (m->beta != 0 ? (double)m->beta * get(out, m->d.type, at) : 0));
            put(out, m->d.type, at, v);
            if (m->p.end & 16)
                sums[i] += get(out, m->d.type, at);
        }
}

static int do_it(int queue, const void *arguments)
{
    const struct made *m = arguments;
    const struct product *p = &m->p;
    bool sums_up = p->end & (16 | LT_END_BGRADA | LT_END_BGRADB), makes_aux = p->end == LT_END_GELU_AUX_BIAS;
    size_t bias_count = p->end == LT_END_BGRADB ? m->d.cols : m->d.rows;
    size_t aux_bytes = p->end & 128 ? ((size_t)p->aux_stride * (m->d.cols - 1) + m->d.rows) * bytes(m->d.type) : 0;
    size_t bias_bytes = p->end & (LT_END_BIAS | 16 | LT_END_BGRADA | LT_END_BGRADB)
                        ? bias_count * bytes(p->bias_type < 0 ? m->d.type : p->bias_type) : 0;
    int code = touch(queue, m->x, span(&m->a), true, false);
    code = code ? code : touch(queue, m->y, span(&m->b), true, false);
    code = code ? code : touch(queue, m->out, span(&m->d), m->beta != 0, true);
    code = code ? code : touch(queue, p->bias, bias_bytes, !sums_up, sums_up);
    code = code ? code : touch(queue, p->aux, aux_bytes, !makes_aux, makes_aux);
    code = code ? code : touch(queue, m->room, ROOM_ASKED, false, true);
    if (code)
        return code;
    double *sums = calloc(m->d.rows + m->d.cols, sizeof *sums);
    ASSERT(sums);
    memset(m->room, 0x5a, ROOM_ASKED);
    for (int b = 0; b < m->d.batch; b++)
        multiply(m, b, sums);
    sum_up(m, sums);
    free(sums);
    return 0;
}

static int run(void *handle, void *product, const float *alpha, const void *a, void *a_layout, const void *b, void *b_layout,
               const float *beta, const void *c, void *c_layout, void *d, void *d_layout, const struct lt_way *way, void *room,
               size_t room_bytes, void *stream)
{
    struct lt_answer answer;
    struct made m = { *(const struct product *)product, *(const struct layout *)a_layout, *(const struct layout *)b_layout,
                      *(const struct layout *)d_layout, a, b, d, *beta, room };
    emu_lt.runs++;
    if (!emu_lt.runs_left)
        return FAILED;
    emu_lt.runs_left -= emu_lt.runs_left > 0;
    emu_lt.checks--;                    /* this one is its own */
    int status = check(handle, product, a_layout, b_layout, c_layout, d_layout, way, &answer);
    if (status || *alpha != 1 || c != d || room_bytes < answer.room_bytes || !is_aligned(room, 16)
        || !is_aligned(a, bytes(m.a.type)) || !is_aligned(b, bytes(m.b.type)) || !is_aligned(d, bytes(m.d.type)))
        return status ? status : LT_INVALID;
    float ms = (way->of[1] == (uint64_t)emu_lt.fastest ? 1 : 2) * (m.p.end == emu_lt.slow_end ? 10 : 1);
    return emu_call(stream, do_it, &m, sizeof m, ms) ? FAILED : 0;
}

const struct lt_api *emu_lt_api(void)
{
    static const struct lt_api api = {
        .property = property, .open = open_handle, .close = close_handle, .product_new = product_new, .product_set = product_set,
        .product_free = product_free, .layout_new = layout_new, .layout_set = layout_set, .layout_free = layout_free,
        .wish_new = wish_new, .wish_set = wish_set, .wish_free = wish_free, .ask = ask, .check = check, .run = run,
        .room_bytes = ROOM,
    };
    return &api;
}

static bool use(struct backend_ctx *c, const char *setting, bool is_timed, char *ret, size_t size)
{
    struct err e;
    ret[0] = 0;
    if (!setting || !*setting || !strcmp(setting, "off"))
        return false;
    bool is_there = cuda_lt_open(c, emu_lt_api(), is_timed, &e) == ERR_OK;
    snprintf(ret, size, "%s%s", is_there ? "products by cuBLASLt " : e.msg, is_there ? c->lt->name : ": products by own kernels");
    return is_there;
}

const struct product_library emu_library = { use, cuda_lt_news, cuda_lt_keep, cuda_lt_bind };
