/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_conv.c - convolutions whose factors are bf16 as products of matrices: windows are gathered into memory of their own
 * (gather.cu), some images at a time, and multiplied as bf16 tensors are, by the library where a context uses it.
 *
 * A gathered matrix has nine times an image's numbers for a window of 3 × 3, in two bytes each; its way through memory costs
 * less than a product that computes a place for each number it multiplies. The gradient by the input gathers the windows that a
 * pixel lay in, so nothing is added from two sides. Sums are those of products: a row has the same bits in any batch by own
 * kernels; the gradient by the weights is cut by shape alone. */
#include "workers/compute/kernels/cuda/cuda_conv.h"

enum { ALIGN = 256, THREADS = 256, NUMBERS_MOST = INT32_MAX };
enum { WORK_LEAST = 1 << 19 };          /* multiplications; below, one launch of the simple kernel is over sooner */

struct room {                   /* one matrix behind another */
    struct buffer buf;
    size_t used;
};

static size_t padded(size_t n, size_t to)
{
    return over(n, to) * to;
}

static struct tensor narrow_in(struct room *r, size_t rows, size_t cols)
{
    struct tensor t = tensor_at(&r->buf, r->used, ELEM_BF16, 2, (size_t[]){ rows, cols });
    r->used += padded(rows * cols * sizeof(uint16_t), ALIGN);
    return t;
}

/* Images whose gathered windows fit, at least one; `pixels` of an image, `pitch` of a window, results of a pixel. 0: too little
 * work, or an image that is not counted in 32 bits. */
static size_t images_at_once(const struct backend_ctx *c, size_t n, size_t pixels, size_t pitch, size_t results)
{
    size_t each = pixels * pitch * sizeof(uint16_t), most = c->gathered_most / each ? c->gathered_most / each : 1;
    if (pixels > NUMBERS_MOST / pitch || (double)n * (double)(pixels * pitch) * (double)results < WORK_LEAST)
        return 0;
    return most < n ? most : n;
}

static void gather(struct backend_ctx *c, const float *from, const struct tensor *to, const struct images *s, size_t images,
                   bool is_back)
{
    size_t channels = is_back ? s->yc : s->xc, pixels = is_back ? s->xh * s->xw : s->yh * s->yw;
    struct gather_args a = { from, at(to), *s, (uint32_t)(images * pixels), (uint32_t)(s->h * s->w * channels),
                             (uint32_t)to->dim[1], is_back, channels % 8 == 0 };
    a.s.n = images;
    cuda_launch(c, KERNEL_gather, over(a.rows * (size_t)a.pitch / 8, THREADS), 1, 1, &a);
}

static void gather_weight(struct backend_ctx *c, const float *w, const struct tensor *to, const struct images *s, bool is_back)
{
    size_t places = s->h * s->w;
    const struct gather_weight_args a = { w, at(to), (uint32_t)s->yc, (uint32_t)places, (uint32_t)s->xc, (uint32_t)to->dim[0],
                                          (uint32_t)(is_back ? s->xc : places * s->xc), (uint32_t)to->dim[1], is_back };
    cuda_launch(c, KERNEL_gather_weight, over(to->dim[0] * to->dim[1], THREADS), 1, 1, &a);
}

/* Rows of images from `first` on, as a matrix. */
static struct tensor rows_of(const struct tensor *t, size_t first, size_t images, size_t cols)
{
    size_t each = t->dim[1] * t->dim[2] * t->dim[3];
    return tensor_at(t->buf, t->offset_bytes + first * each * sizeof(float), ELEM_F32, 2,
                     (size_t[]){ images * each / cols, cols });
}

static bool is_close(const struct tensor *t)
{
    return t->stride[3] == 1 && t->stride[2] == t->dim[3] && t->stride[1] == t->dim[2] * t->dim[3]
           && t->stride[0] == t->dim[1] * t->dim[2] * t->dim[3];
}

static bool set_up(struct backend_ctx *c, size_t bytes, struct room *r)
{
    *r = (struct room){ { .handle = cuda_gathered(c, bytes), .size_bytes = bytes }, 0 };
    return r->buf.handle;
}

bool cuda_gathered_conv(struct backend_ctx *c, const struct op_call *o, const struct images *s)
{
    const struct tensor *x = o->in[0], *y = o->out[0];
    size_t depth = s->h * s->w * s->xc, pitch = padded(depth, 8), pixels = s->yh * s->yw;
    size_t n = images_at_once(c, s->n, pixels, pitch, s->yc);
    struct room r;
    if (!n || (o->attr.flags & (MM_BIAS | CONV_ADD | MM_RELU)) || !is_close(x) || !is_close(y)
        || !set_up(c, padded(s->yc * pitch * 2, ALIGN) + n * pixels * pitch * 2, &r))
        return false;
    struct tensor w = narrow_in(&r, s->yc, pitch), rows = narrow_in(&r, n * pixels, pitch);
    gather_weight(c, at(o->in[1]), &w, s, false);
    for (size_t first = 0; first < s->n; first += n) {
        size_t count = s->n - first < n ? s->n - first : n;
        struct tensor out = rows_of(y, first, count, s->yc);
        const struct op_call product = { { .flags = MM_TRANS_B }, { &rows, &w }, { &out } };
        rows.dim[0] = count * pixels;
        gather(c, (const float *)at(x) + first * s->xh * s->xw * s->xc, &rows, s, count, false);
        cuda_product_narrow(c, &product);
    }
    return true;
}

bool cuda_gathered_back_x(struct backend_ctx *c, const struct op_call *o, const struct images *s)
{
    const struct tensor *dy = o->in[1], *dx = o->out[0];
    size_t depth = s->h * s->w * s->yc, pitch = padded(depth, 8), wide = padded(s->xc, 8), pixels = s->xh * s->xw;
    size_t n = images_at_once(c, s->n, pixels, pitch, s->xc);
    struct room r;
    if (!n || !is_close(dy) || !is_close(dx) || !set_up(c, padded(depth * wide * 2, ALIGN) + n * pixels * pitch * 2, &r))
        return false;
    struct tensor w = narrow_in(&r, depth, wide), rows = narrow_in(&r, n * pixels, pitch);
    gather_weight(c, at(o->in[0]), &w, s, true);
    w.dim[1] = s->xc;
    for (size_t first = 0; first < s->n; first += n) {
        size_t count = s->n - first < n ? s->n - first : n;
        struct tensor out = rows_of(dx, first, count, s->xc), a;
        const struct op_call product = { { 0 }, { &a, &w }, { &out } };
        rows.dim[0] = count * pixels;
        a = rows;
        a.dim[1] = depth;
        gather(c, (const float *)at(dy) + first * s->yh * s->yw * s->yc, &rows, s, count, true);
        cuda_product_narrow(c, &product);
    }
    return true;
}

bool cuda_gathered_back_w(struct backend_ctx *c, const struct op_call *o, const struct images *s)
{
    const struct tensor *x = o->in[0], *dy = o->in[1];
    size_t depth = s->h * s->w * s->xc, pitch = padded(depth, 8), pixels = s->yh * s->yw, wide = padded(s->yc, 8);
    size_t n = images_at_once(c, s->n, pixels, pitch > wide ? pitch : wide, s->yc);
    struct room r;
    if (!n || !is_close(x) || !is_close(dy)
        || !set_up(c, padded(n * pixels * s->yc * 2, ALIGN) + n * pixels * pitch * 2, &r))
        return false;
    struct tensor d = narrow_in(&r, n * pixels, s->yc), rows = narrow_in(&r, n * pixels, pitch);
    struct tensor dw = tensor_at(o->out[0]->buf, o->out[0]->offset_bytes, ELEM_F32, 2, (size_t[]){ s->yc, depth });
    for (size_t first = 0; first < s->n; first += n) {
        size_t count = s->n - first < n ? s->n - first : n, numbers = count * pixels * s->yc;
        struct tensor from = rows_of(dy, first, count, s->yc), b;
        bool is_wide = ((uintptr_t)at(&from) | (uintptr_t)at(&d)) % 16 == 0;
        const struct cast_args cast = { numbers_at(&from), { at(&d), true }, numbers, is_wide };
        const struct op_call product = { { .flags = MM_TRANS_A | (first ? OP_ACCUMULATE : o->attr.flags & OP_ACCUMULATE) },
                                         { &d, &b }, { &dw } };
        d.dim[0] = rows.dim[0] = count * pixels;
        b = rows;
        b.dim[1] = depth;
        cuda_launch(c, KERNEL_cast, over(numbers, is_wide ? 8 * THREADS : THREADS), 1, 1, &cast);
        gather(c, (const float *)at(x) + first * s->xh * s->xw * s->xc, &rows, s, count, false);
        cuda_product_narrow(c, &product);
    }
    return true;
}
