/* SPDX-License-Identifier: Apache-2.0 */
/* q8_int.h - products and convolutions of whole numbers of eight bits, over the tile operation dot_cols (tile_int.h).
 *
 * Included once per variant, after QR (rows of a tile), QN (columns of a panel) and dot_cols.
 *
 * Maths: x is quantised to u = clamp(rint(x·(1/s)) + z, 0, 255), weights are i8 with a scale t for each column. An element is
 * (float)(Σ u·w - z·Σ w) · (s·t), then bias, what is added and ReLU as nodes of their own would do it. The sum is exact in 32
 * bits (Q8_DEPTH_MAX) and all else is rounded element by element, so every variant gives the same bits, in any batch and for any
 * number of threads.
 * s and z are the node's (alpha, gamma), or with alpha 0 those of each row (Q8_ITEM: of each item), of a convolution of each
 * image: s = (max - min)/255 with 0 among them, z = rint(-min/s).
 *
 * Layout: depth goes in quads of four bytes, each row of a window by itself (a slice), filled up with weights of 0. A panel is
 * [slices][quads][QN][4]; behind all panels stand the sums of the columns. x is quantised once: as rows of whole quads, or as
 * images with z around them, whose windows are then read in place; what is read past a slice meets weights of 0. */
#include "workers/compute/kernels/net_int.h"

#include <float.h>

enum { Q8_BLOCK = 96, Q8_GROUP = 128 / QN, SLOT_Q8 = 1, SLOT_Q8_ITEM = 2, Q8_SLACK = 8 };

struct q8_item {                /* rows that share a scale */
    float scale, inverse;
    int32_t zero;
};

struct q8 {
    const struct op_attr *attr;
    struct window w;            /* of a product: images of one pixel for each row, or for each item of one column of rows */
    size_t n, slices, quads, depth;     /* depth: bytes of a slice that count */
    size_t wide, image_bytes;   /* of a line and of an image, quantised, with its padding */
    size_t pixel_bytes, x_step; /* of a pixel, quantised; numbers from row to row of a product */
    const float *x;
    uint8_t *u;
    struct q8_item *items;      /* one, or one for each image */
    const int8_t *panels;
    const int32_t *sums;
    const float *scale, *bias, *add;
    float *y;
    size_t y_row, blocks;
};

#include "workers/compute/kernels/q8_pack_int.h"

/* --- quantising --- */

static void q8_span(const struct q8_item *at, const float *x, size_t n, uint8_t *u)
{
    float inverse = at->inverse, zero = (float)at->zero;
    for (size_t i = 0; i < n; i++) {
        float t = rintf(x[i] * inverse) + zero;
        t = t > 0 ? t : 0;                      /* no number: 0 */
        t = t < 255 ? t : 255;
        u[i] = (uint8_t)(int32_t)t;
    }
}

static struct q8_item q8_item(float scale, int32_t zero)
{
    return (struct q8_item){ scale, 1 / scale, zero };
}

static struct q8_item q8_range(const float *x, size_t n)
{
    enum { Q8_LANES = 32 };
    float low[Q8_LANES] = { 0 }, high[Q8_LANES] = { 0 }, min = 0, max = 0;
    size_t i = 0;
    for (; i + Q8_LANES <= n; i += Q8_LANES)
        for (size_t j = 0; j < Q8_LANES; j++) {
            low[j] = x[i + j] < low[j] ? x[i + j] : low[j];
            high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
        }
    for (; i < n; i++) {
        low[0] = x[i] < low[0] ? x[i] : low[0];
        high[0] = x[i] > high[0] ? x[i] : high[0];
    }
    for (size_t j = 0; j < Q8_LANES; j++) {
        min = low[j] < min ? low[j] : min;
        max = high[j] > max ? high[j] : max;
    }
    float scale = (max - min) / 255;
    if (!(scale >= FLT_MIN && scale <= FLT_MAX))        /* all 0, or not finite */
        return q8_item(1, 0);
    float zero = rintf(-min / scale);
    return q8_item(scale, (int32_t)(zero < 255 ? zero : 255));
}

static const struct q8_item *q8_at(const struct q8 *q, size_t image)
{
    return &q->items[q->attr->alpha > 0 ? 0 : image];
}

/* A row of a product, or an image. */
static void q8_ranges(void *arg, size_t image)
{
    const struct q8 *q = arg;
    q->items[image] = q8_range(q->x + image * q->x_step, q->w.x.h * q->w.x.w * q->w.x.c);
}

/* A line of an image with its padding, or a row of a product. */
static void q8_line(void *arg, size_t task)
{
    const struct q8 *q = arg;
    size_t high = q->w.x.h + 2 * q->w.pad, image = task / high, y = task % high, pad = q->w.pad * q->w.x.c;
    uint8_t *u = q->u + image * q->image_bytes + y * q->wide;
    const struct q8_item *at = q8_at(q, image);
    size_t numbers = q->w.x.w * q->w.x.c;
    if (y < q->w.pad || y >= q->w.pad + q->w.x.h) {
        memset(u, at->zero, q->wide);
        return;
    }
    memset(u, at->zero, pad);
    q8_span(at, q->x + image * q->x_step + (y - q->w.pad) * numbers, numbers, u + pad);
    memset(u + pad + numbers, at->zero, q->wide - pad - numbers);
}

/* --- the product --- */

#include "workers/compute/kernels/q8_finish_int.h"

static inline __attribute__((always_inline)) void q8_cols(size_t halves, size_t rows, const uint8_t *const *u, const struct q8 *q,
                                                          const int8_t *panel, int32_t *sum)
{
    switch (rows) {     /* a constant per case, so each becomes its own unrolled loop */
    case 1: dot_cols(halves, 1, u, q->slices, q->quads, q->wide, panel, sum); break;
    case 2: dot_cols(halves, 2, u, q->slices, q->quads, q->wide, panel, sum); break;
    case 3: dot_cols(halves, 3, u, q->slices, q->quads, q->wide, panel, sum); break;
#if QR > 4
    case 4: dot_cols(halves, 4, u, q->slices, q->quads, q->wide, panel, sum); break;
    case 5: dot_cols(halves, 5, u, q->slices, q->quads, q->wide, panel, sum); break;
    case 6: dot_cols(halves, 6, u, q->slices, q->quads, q->wide, panel, sum); break;
    case 7: dot_cols(halves, 7, u, q->slices, q->quads, q->wide, panel, sum); break;
#endif
    default: dot_cols(halves, QR, u, q->slices, q->quads, q->wide, panel, sum); break;
    }
}

/* Small networks have many products of half a panel: the other half would be as many steps for nothing. */
static void q8_tile(size_t width, size_t rows, const uint8_t *const *u, const struct q8 *q, const int8_t *panel, int32_t *sum)
{
    if (width <= QN / 2)
        q8_cols(1, rows, u, q, panel, sum);
    else
        q8_cols(2, rows, u, q, panel, sum);
}

/* Rows of results from `row` on, at most QR, and where they begin in the quantised images. */
static void q8_rows(const struct q8 *q, size_t row, size_t rows, const uint8_t **u, const struct q8_item **items)
{
    const struct window *w = &q->w;
    size_t x = row % w->y.w, y = row / w->y.w % w->y.h, image = row / w->y.w / w->y.h;
    for (size_t i = 0; i < rows; i++) {
        items[i] = q8_at(q, image);
        u[i] = q->u + image * q->image_bytes + y * w->stride * q->wide + x * w->stride * q->pixel_bytes;
        if (++x < w->y.w)
            continue;
        x = 0;
        if (++y < w->y.h)
            continue;
        y = 0;
        image++;
    }
}

static void q8_block(void *arg, size_t task)
{
    const struct q8 *q = arg;
    _Alignas(64) int32_t sum[QR * QN];
    const uint8_t *u[QR];
    const struct q8_item *items[QR];
    size_t all = q->w.y.n * q->w.y.h * q->w.y.w, panels = q8_panels(q->n), bytes = q8_panel_bytes(q->slices, q->depth);
    size_t r0 = task % q->blocks * Q8_BLOCK, r1 = all - r0 < Q8_BLOCK ? all : r0 + Q8_BLOCK;
    size_t p0 = task / q->blocks * Q8_GROUP, p1 = panels - p0 < Q8_GROUP ? panels : p0 + Q8_GROUP;
    for (size_t p = p0; p < p1; p++)
        for (size_t r = r0; r < r1; r += QR) {
            size_t rows = r1 - r < QR ? r1 - r : QR, width = q->n - p * QN < QN ? q->n - p * QN : QN;
            q8_rows(q, r, rows, u, items);
            q8_tile(width, rows, u, q, q->panels + p * bytes, sum);
            for (size_t i = 0; i < rows; i++)
                q8_finish(q, items[i], sum + i * QN, p * QN, width, r + i);
        }
}

/* x as bytes, and what follows a sum. in: x, packed weights, scales, bias, what is added. slack: bytes that may be read behind
 * the last image. */
static void q8_quantise(struct backend_ctx *c, const struct op_call *o, struct q8 *q, size_t slack)
{
    bool is_static = o->attr.alpha > 0;
    size_t images = q->w.x.n, lines = images * (q->w.x.h + 2 * q->w.pad);
    q->attr = &o->attr;
    q->scale = vector(o->in[2], ELEM_F32, q->n);
    q->bias = o->attr.flags & MM_BIAS ? vector(o->in[3], ELEM_F32, q->n) : NULL;
    q->add = o->attr.flags & CONV_ADD ? o->in[4]->ptr : NULL;
    q->items = cpu_scratch_at(c, SLOT_Q8_ITEM, (is_static ? 1 : images) * sizeof *q->items);
    q->u = cpu_scratch_at(c, SLOT_Q8, images * q->image_bytes + slack);
    memset(q->u + images * q->image_bytes, 0, slack);
    if (is_static)
        q->items[0] = q8_item((float)o->attr.alpha, (int32_t)o->attr.gamma);
    else
        cpu_split(c, images, (double)(images * q->image_bytes), q8_ranges, q);
    cpu_split(c, lines, (double)(images * q->image_bytes), q8_line, q);
}

static void q8_run(struct backend_ctx *c, const struct op_call *o, struct q8 *q, const void *packed)
{
    size_t panels = q8_panels(q->n), rows = q->w.y.n * q->w.y.h * q->w.y.w;
    q->quads = (q->depth + 3) / 4;
    q->panels = packed;
    q->sums = (const int32_t *)(const void *)(q->panels + panels * q8_panel_bytes(q->slices, q->depth));
    q8_quantise(c, o, q, Q8_SLACK);
    q->blocks = (rows + Q8_BLOCK - 1) / Q8_BLOCK;
    cpu_split(c, q->blocks * ((panels + Q8_GROUP - 1) / Q8_GROUP),
              (double)rows * (double)q->n * (double)(q->slices * q->depth) / 4, q8_block, q);
}

/* A product is a convolution by one place of images of one pixel, or where rows share a range of one column of pixels, whose
 * channels are filled up to whole quads. */
static void q8_matmul(struct backend_ctx *c, const struct op_call *o, size_t n, const void *packed)
{
    struct mat x = in_mat(o, 0), y = mat_of(o->out[0]);
    size_t wide = (x.cols + 3) / 4 * 4, items = o->attr.flags & Q8_ITEM ? o->in[0]->dim[0] : x.rows, high = x.rows / items;
    ASSERT(x.type == ELEM_F32 && y.cols == n && y.rows == x.rows && x.cols <= Q8_DEPTH_MAX);
    ASSERT(high == 1 || x.stride == x.cols);
    struct q8 q = { .w = { { items, high, 1, x.cols }, { items, high, 1, n }, 1, 1, 1, 0 }, .n = n, .slices = 1,
                    .depth = x.cols, .wide = wide, .image_bytes = wide * high, .pixel_bytes = wide, .x_step = x.stride * high,
                    .x = x.ptr, .y = y.ptr, .y_row = y.stride };
    q8_run(c, o, &q, packed);
}

static void k_qmatmul_packed(struct backend_ctx *c, const struct op_call *o)
{
    q8_matmul(c, o, o->attr.n, o->in[1]->ptr);
}

static void k_qmatmul(struct backend_ctx *c, const struct op_call *o)
{
    size_t n = o->in[1]->dim[0], k = o->in[1]->dim[1];
    void *packed = cpu_scratch(c, q8_pack_bytes(n, 1, k));
    q8_pack(c, o->in[1], n, 1, k, packed);
    q8_matmul(c, o, n, packed);
}

static struct q8 q8_conv_of(const struct op_call *o, const struct window *w)
{
    size_t wide = (w->x.w + 2 * w->pad) * w->x.c;
    ASSERT(w->h * w->w * w->x.c <= Q8_DEPTH_MAX);
    return (struct q8){ .w = *w, .n = w->y.c, .slices = w->h, .depth = w->w * w->x.c, .wide = wide,
                        .image_bytes = wide * (w->x.h + 2 * w->pad), .pixel_bytes = w->x.c,
                        .x_step = w->x.h * w->x.w * w->x.c, .x = o->in[0]->ptr, .y = o->out[0]->ptr, .y_row = w->y.c };
}

static void q8_conv(struct backend_ctx *c, const struct op_call *o, const struct window *w, const void *packed)
{
    struct q8 q = q8_conv_of(o, w);
    q8_run(c, o, &q, packed);
}

static void k_qconv2d_packed(struct backend_ctx *c, const struct op_call *o)
{
    const struct window w = window_of(&o->attr, o->in[0], o->out[0]);
    ASSERT(o->attr.n == w.y.c && o->attr.k == w.h * w.w * w.x.c);
    q8_conv(c, o, &w, o->in[1]->ptr);
}

static void k_qconv2d(struct backend_ctx *c, const struct op_call *o)
{
    struct op_attr a = o->attr;
    const struct tensor *weight = o->in[1];
    ASSERT(weight->rank == 4);
    a.window[0] = weight->dim[1], a.window[1] = weight->dim[2];
    const struct window w = window_of(&a, o->in[0], o->out[0]);
    ASSERT(weight->dim[0] == w.y.c && weight->dim[3] == w.x.c);
    void *packed = cpu_scratch(c, q8_pack_bytes(w.y.c, w.h, w.w * w.x.c));
    q8_pack(c, weight, w.y.c, w.h, w.w * w.x.c, packed);
    q8_conv(c, o, &w, packed);
}

#define KERNELS_Q8                                                                                                        \
    [OP_QPACK][ELEM_I8] = k_qpack, [OP_QMATMUL][ELEM_F32] = k_qmatmul, [OP_QMATMUL_PACKED][ELEM_F32] = k_qmatmul_packed,   \
    [OP_QCONV2D][ELEM_F32] = k_qconv2d, [OP_QCONV2D_PACKED][ELEM_F32] = k_qconv2d_packed

#ifdef PAIR_COLS                /* the tier has pair_cols (tile_int.h) */
#include "workers/compute/kernels/q8_wino_int.h"
#endif
