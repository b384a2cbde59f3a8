/* SPDX-License-Identifier: Apache-2.0 */
/* conv_int.h - convolution of the vector variants as an implicit product; included once per variant after gemm_int.h.
 *
 * The matrix of windows (a row per output pixel, window·channels columns) is never whole: a chunk of its rows that stays in the
 * second cache is gathered, multiplied and forgotten. The gradient of the input is the same product with the windows of dy and
 * the weights turned round; with a stride s it is s·s products, one for the pixels that lie alike to the stride, each with the
 * part of the window that reaches them: the whole window would meet zeros in (s·s - 1)/(s·s) of its places. That of the
 * weights
 * adds up chunks in ascending order. A 1 × 1 window of stride 1 is the image itself and is not gathered. Chunks are cut by
 * shape
 * alone.
 *
 * Forward, a row of the window lies dense in the image: width·channels numbers, and the next pixel's begins stride·channels
 * further. So
 * a tile of pixels of one row of results reads the image in place, one product of that depth for each row of the window;
 * only the
 * padding must be there, and images with padding are copied once with zeros around them. Rows of results that are shorter than a
 * tile are gathered. The chain of an element is the same either way. */
#include "workers/compute/kernels/conv_place_int.h"
#include "workers/compute/kernels/round_int.h"
#include "workers/compute/kernels/wino_int.h"
#include "workers/compute/kernels/wino_packed_int.h"
#include "workers/compute/kernels/wino_stride_int.h"

struct conv {
    struct window w;
    bool is_back;               /* rows are pixels of x, windows look into dy */
    struct image from, at;      /* the image that is looked into, and the one whose pixels are rows */
    const float *src;
    float *rows;
    size_t first, cols;         /* the chunk's first row; window·channels */
    size_t step, x0, y0;        /* the pixels of `at` are x0 + step·i, y0 + step·j of the image */
    size_t kx0, ky0;            /* and of the window every step-th place from here is looked at */
    float *tile, *out;          /* a chunk's results, and where they are put apart */
    tile_fn *multiply;
};

/* Where the window of a pixel of `at` looks, along one side; false: outside, or between the strides. */
static inline bool conv_look(const struct conv *v, size_t pixel, size_t k, size_t size, size_t *ret)
{
    size_t pad = v->w.pad, stride = v->w.stride;
    if (!v->is_back) {
        size_t to = pixel * stride + k;
        *ret = to - pad;
        return to >= pad && to - pad < size;
    }
    if (pixel + pad < k || (pixel + pad - k) % stride)
        return false;
    *ret = (pixel + pad - k) / stride;
    return *ret < size;
}

static void gather_row(void *arg, size_t task)
{
    const struct conv *v = arg;
    size_t pixel = v->first + task, n = pixel / v->at.w / v->at.h, c = v->from.c, sy, sx;
    size_t x = v->x0 + v->step * (pixel % v->at.w), y = v->y0 + v->step * (pixel / v->at.w % v->at.h);
    float *to = v->rows + task * v->cols;
    for (size_t ky = v->ky0; ky < v->w.h; ky += v->step) {
        bool is_inside = conv_look(v, y, ky, v->from.h, &sy);
        for (size_t kx = v->kx0; kx < v->w.w; kx += v->step, to += c)
            if (is_inside && conv_look(v, x, kx, v->from.w, &sx))
                memcpy(to, v->src + ((n * v->from.h + sy) * v->from.w + sx) * c, c * sizeof *to);
            else
                memset(to, 0, c * sizeof *to);
    }
}

static struct conv conv_new(const struct window *w, bool is_back, const float *src, unsigned flags)
{
    struct conv v = { .w = *w, .is_back = is_back, .from = is_back ? w->y : w->x, .at = is_back ? w->x : w->y, .src = src,
                      .step = 1, .multiply = tile_of(flags) };
    v.cols = w->h * w->w * v.from.c;
    return v;
}

static bool conv_is_plain(const struct conv *v)
{
    return v->w.h == 1 && v->w.w == 1 && v->w.stride == 1 && v->w.pad == 0;
}

static size_t conv_chunk(const struct conv *v)
{
    size_t rows = CONV_BYTES / sizeof(float) / v->cols / MC * MC;
    return rows < MC ? MC : rows;
}

/* The chunk's rows as a matrix. */
static const float *conv_rows(struct backend_ctx *c, struct conv *v, size_t first, size_t count)
{
    if (conv_is_plain(v))
        return v->src + first * v->cols;
    v->first = first;
    v->rows = cpu_scratch_at(c, SLOT_GATHER, conv_chunk(v) * v->cols * sizeof *v->rows);
    cpu_split(c, count, (double)count * (double)v->cols, gather_row, v);
    return v->rows;
}

/* out[pixels, n] = windows · b, b [cols, n]. */
static void conv_product(struct backend_ctx *c, struct conv *v, const struct mat *b, size_t n, float *out)
{
    size_t pixels = v->at.n * v->at.h * v->at.w, chunk = conv_chunk(v);
    float *panels = cpu_scratch(c, panels_of(n) * NR * v->cols * sizeof *panels);
    pack_panels(c, b, false, 0, panels_of(n), v->cols, panels);
    for (size_t first = 0; first < pixels; first += chunk) {
        size_t count = pixels - first < chunk ? pixels - first : chunk;
        struct gemm g = { .m = count, .n = n, .k = v->cols, .panel_k = v->cols, .a = conv_rows(c, v, first, count),
                          .a_row = v->cols,
                          .a_step = 1, .panels = panels, .c = out + first * n, .c_row = n, .tile = v->multiply };
        run_gemm(c, &g);
    }
}

static void put_row(void *arg, size_t task)
{
    const struct conv *v = arg;
    size_t pixel = v->first + task, c = v->w.x.c, n = pixel / v->at.w / v->at.h;
    size_t x = v->x0 + v->step * (pixel % v->at.w), y = v->y0 + v->step * (pixel / v->at.w % v->at.h);
    float *to = v->out + ((n * v->w.x.h + y) * v->w.x.w + x) * c;
    if (v->cols)
        memcpy(to, v->tile + task * c, c * sizeof *to);
    else
        memset(to, 0, c * sizeof *to);
}

static size_t steps_from(size_t first, size_t end, size_t step)
{
    return first < end ? (end - first + step - 1) / step : 0;
}

/* The gradient of the pixels y0 + step·j, x0 + step·i of x; weight as it lies in memory, [out, window, in]. */
static void conv_back_part(struct backend_ctx *c, struct conv *v, const float *weight, size_t y0, size_t x0)
{
    size_t s = v->w.stride, in = v->w.x.c, out = v->w.y.c, row = 0, ky0 = (y0 + v->w.pad) % s, kx0 = (x0 + v->w.pad) % s;
    v->step = s, v->y0 = y0, v->x0 = x0, v->ky0 = ky0, v->kx0 = kx0;
    v->at.h = steps_from(y0, v->w.x.h, s);
    v->at.w = steps_from(x0, v->w.x.w, s);
    v->cols = steps_from(ky0, v->w.h, s) * steps_from(kx0, v->w.w, s) * out;
    size_t pixels = v->at.n * v->at.h * v->at.w, chunk = v->cols ? conv_chunk(v) : pixels;
    float *turned = cpu_scratch_at(c, SLOT_TURNED, (v->cols + 1) * in * sizeof *turned);   /* [part of the window, out, in] */
    for (size_t ky = ky0; ky < v->w.h; ky += s)
        for (size_t kx = kx0; kx < v->w.w; kx += s)
            for (size_t k = 0; k < out; k++, row++)
                memcpy(turned + row * in, weight + (k * v->w.h * v->w.w + ky * v->w.w + kx) * in, in * sizeof *turned);
    struct mat b = mat_host(turned, ELEM_F32, v->cols, in);
    float *panels = cpu_scratch(c, panels_of(in) * NR * (v->cols + 1) * sizeof *panels);
    v->tile = v->cols ? cpu_scratch_at(c, SLOT_TILE, chunk * in * sizeof *v->tile) : NULL;
    if (v->cols)
        pack_panels(c, &b, false, 0, panels_of(in), v->cols, panels);
    for (size_t first = 0; first < pixels; first += chunk) {
        size_t count = pixels - first < chunk ? pixels - first : chunk;
        v->first = first;
        if (v->cols) {
            struct gemm g = { .m = count, .n = in, .k = v->cols, .panel_k = v->cols, .a = conv_rows(c, v, first, count),
                              .a_row = v->cols, .a_step = 1, .panels = panels, .c = v->tile, .c_row = in,
                              .tile = v->multiply };
            run_gemm(c, &g);
        }
        cpu_split(c, count, (double)count * (double)in, put_row, v);
    }
}

/* y = windows · panels, with what its flags say. */
static void conv_forward(struct backend_ctx *c, const struct op_call *o, const struct window *w, const float *panels)
{
    struct conv v = conv_new(w, false, o->in[0]->ptr, o->attr.flags);
    size_t pixels = v.at.n * v.at.h * v.at.w, chunk = conv_is_plain(&v) ? pixels : conv_chunk(&v), n = w->y.c;
    struct gemm g = { .flags = o->attr.flags & (MM_BIAS | CONV_ADD | MM_RELU), .n = n, .k = v.cols, .panel_k = v.cols,
        .a_row = v.cols,
                      .a_step = 1, .panels = panels, .bias = o->in[2] ? o->in[2]->ptr : NULL,
                      .add = o->in[3] ? o->in[3]->ptr : NULL, .c = o->out[0]->ptr, .c_row = n, .tile = v.multiply };
    if (!conv_is_plain(&v) && w->y.w >= MR) {
        conv_in_place(c, w, v.src, &g);
        return;
    }
    for (size_t first = 0; first < pixels; first += chunk) {
        struct gemm part = g;
        part.m = pixels - first < chunk ? pixels - first : chunk;
        part.a = conv_rows(c, &v, first, part.m);
        part.c = g.c + first * n;
        part.add = g.add ? g.add + first * n : NULL;
        run_gemm(c, &part);
    }
}

static void k_conv2d(struct backend_ctx *c, const struct op_call *o)
{
    ROUNDED(c, o, k_conv2d);
    struct op_attr a = o->attr;
    const struct tensor *weight = o->in[1];
    ASSERT(weight->rank == 4);
    a.window[0] = weight->dim[1], a.window[1] = weight->dim[2];
    const struct window w = window_of(&a, o->in[0], o->out[0]);
    ASSERT(weight->dim[0] == w.y.c && weight->dim[3] == w.x.c);
    if (wino_is_for(&w, o->attr.flags)) {
        wino_conv(c, &w, false, o->in[0]->ptr, weight->ptr, o->out[0]->ptr);
        return;
    }
    if (two_is_for(&w, o->attr.flags)) {
        two_conv(c, &w, false, o->in[0]->ptr, weight->ptr, o->out[0]->ptr);
        return;
    }
    size_t k = w.h * w.w * w.x.c, count = panels_of(w.y.c);
    struct mat b = mat_host(weight->ptr, ELEM_F32, w.y.c, k);
    float *panels = cpu_scratch(c, count * NR * k * sizeof *panels);
    pack_panels(c, &b, true, 0, count, k, panels);
    conv_forward(c, o, &w, panels);
}

static void k_conv2d_packed(struct backend_ctx *c, const struct op_call *o)
{
    const struct window w = window_of(&o->attr, o->in[0], o->out[0]);
    ASSERT(o->attr.n == w.y.c && o->attr.k == w.h * w.w * w.x.c);
    conv_forward(c, o, &w, o->in[1]->ptr);
}

static void k_conv2d_bwd_x(struct backend_ctx *c, const struct op_call *o)
{
    ROUNDED(c, o, k_conv2d_bwd_x);
    struct op_attr a = o->attr;
    const struct tensor *weight = o->in[0];
    const float *from = weight->ptr;
    ASSERT(weight->rank == 4);
    a.window[0] = weight->dim[1], a.window[1] = weight->dim[2];
    const struct window w = window_of(&a, o->out[0], o->in[1]);
    ASSERT(weight->dim[0] == w.y.c && weight->dim[3] == w.x.c);
    if (wino_is_for(&w, o->attr.flags)) {
        wino_conv(c, &w, true, o->in[1]->ptr, from, o->out[0]->ptr);
        return;
    }
    if (two_is_for(&w, o->attr.flags)) {
        two_conv(c, &w, true, o->in[1]->ptr, from, o->out[0]->ptr);
        return;
    }
    struct conv v = conv_new(&w, true, o->in[1]->ptr, o->attr.flags);
    size_t places = w.h * w.w, in = w.x.c, out = w.y.c;
    v.out = o->out[0]->ptr;
    for (size_t part = 0; w.stride > 1 && part < w.stride * w.stride; part++)
        conv_back_part(c, &v, from, part / w.stride, part % w.stride);
    if (w.stride > 1)
        return;
    float *turned = cpu_scratch_at(c, SLOT_TURNED, v.cols * in * sizeof *turned);      /* [window, out, in] */
    for (size_t p = 0; p < places; p++)
        for (size_t k = 0; k < out; k++)
            memcpy(turned + (p * out + k) * in, from + (k * places + p) * in, in * sizeof *turned);
    struct mat b = mat_host(turned, ELEM_F32, v.cols, in);
    conv_product(c, &v, &b, in, o->out[0]->ptr);
}

static void k_conv2d_bwd_w(struct backend_ctx *c, const struct op_call *o)
{
    ROUNDED(c, o, k_conv2d_bwd_w);
    const struct window w = window_of(&o->attr, o->in[0], o->in[1]);
    if (wino_is_for(&w, o->attr.flags)) {
        wino_back_w(c, &w, o->attr.flags, o->in[0]->ptr, o->in[1]->ptr, o->out[0]->ptr);
        return;
    }
    if (two_is_for(&w, o->attr.flags)) {
        two_back_w(c, &w, o->attr.flags, o->in[0]->ptr, o->in[1]->ptr, o->out[0]->ptr);
        return;
    }
    struct conv v = conv_new(&w, false, o->in[0]->ptr, o->attr.flags);
    size_t pixels = v.at.n * v.at.h * v.at.w, chunk = conv_chunk(&v), out = w.y.c;
    const float *dy = o->in[1]->ptr;
    ASSERT(tensor_count(o->out[0]) == out * v.cols);
    float *panels = cpu_scratch(c, panels_of(v.cols) * NR * chunk * sizeof *panels);
    for (size_t first = 0; first < pixels; first += chunk) {
        size_t count = pixels - first < chunk ? pixels - first : chunk;
        struct mat b = mat_host((void *)(uintptr_t)conv_rows(c, &v, first, count), ELEM_F32, count, v.cols);
        pack_panels(c, &b, false, 0, panels_of(v.cols), count, panels);
        struct gemm g = { .flags = first ? OP_ACCUMULATE : o->attr.flags & OP_ACCUMULATE, .m = out, .n = v.cols, .k = count,
                          .panel_k = count,
                          .a = dy + first * out, .a_row = 1, .a_step = out, .panels = panels, .c = o->out[0]->ptr,
                          .c_row = v.cols, .tile = v.multiply };
        run_gemm(c, &g);
    }
}
