/* SPDX-License-Identifier: Apache-2.0 */
/* ref_net_int.h - the reference forms of attention, convolution, group normalisation and the gate for one number type: include
 * with REAL and
 * FN(name) defined. No include guard on purpose: ref.c includes it twice. Each output number is written as its formula says. */

static REAL FN(dot)(const REAL *a, const REAL *b, size_t n)
{
    REAL sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One head of one item: where its queries, keys and values begin in qkv (or their gradients), and its row of results. */
struct FN(head) {
    const REAL *q, *k, *v;
    size_t row;
};

static struct FN(head) FN(head_of)(const struct attention *s, const REAL *qkv, size_t n, size_t h)
{
    const REAL *item = qkv + n * s->t * s->row;
    size_t group = h / (s->heads / s->kv_heads);
    return (struct FN(head)){ item + h * s->d, item + (s->heads + group) * s->d, item + (s->heads + s->kv_heads + group) * s->d,
                              s->row };
}

static void FN(attention)(struct backend_ctx *c, const struct op_call *o)
{
    const struct attention s = attention_of(&o->attr, o->in[0]);
    REAL *p = cpu_scratch(c, s.t * sizeof *p), *y = o->out[0]->ptr, *sums = o->out[1] ? o->out[1]->ptr : NULL;
    for (size_t at = 0; at < s.n * s.heads * s.t; at++) {
        size_t n = at / (s.heads * s.t), h = at / s.t % s.heads, i = at % s.t, seen = s.is_causal ? i + 1 : s.t;
        struct FN(head) head = FN(head_of)(&s, o->in[0]->ptr, n, h);
        for (size_t j = 0; j < seen; j++)
            p[j] = FN(dot)(head.q + i * s.row, head.k + j * s.row, s.d) * (REAL)s.scale;
        REAL sum = (REAL)FN(softmax_row)(p, p, seen), *out = y + ((n * s.t + i) * s.heads + h) * s.d;
        if (sums)
            sums[at] = sum;
        memset(out, 0, s.d * sizeof *out);
        for (size_t j = 0; j < seen; j++)
            for (size_t l = 0; l < s.d; l++)
                out[l] += p[j] * head.v[j * s.row + l];
    }
}

static void FN(attention_bwd)(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    const struct attention s = attention_of(&o->attr, o->in[0]);
    const REAL *y = o->in[1]->ptr, *sums = o->in[2]->ptr, *dy = o->in[3]->ptr;
    REAL *dqkv = o->out[0]->ptr;
    memset(dqkv, 0, s.n * s.t * s.row * sizeof *dqkv);
    for (size_t at = 0; at < s.n * s.heads * s.t; at++) {
        size_t n = at / (s.heads * s.t), h = at / s.t % s.heads, i = at % s.t, seen = s.is_causal ? i + 1 : s.t;
        size_t out = ((n * s.t + i) * s.heads + h) * s.d;
        struct FN(head) head = FN(head_of)(&s, o->in[0]->ptr, n, h), d = FN(head_of)(&s, dqkv, n, h);
        REAL mean = FN(dot)(dy + out, y + out, s.d);
        for (size_t j = 0; j < seen; j++) {
            const REAL *q = head.q + i * s.row, *k = head.k + j * s.row, *v = head.v + j * s.row;
            REAL p = (REAL)exp((double)(FN(dot)(q, k, s.d) * (REAL)s.scale - sums[at]));
            REAL ds = p * (FN(dot)(dy + out, v, s.d) - mean) * (REAL)s.scale;
            REAL *dq = dqkv + (d.q - dqkv) + i * s.row, *dk = dqkv + (d.k - dqkv) + j * s.row,
                *dv = dqkv + (d.v - dqkv) + j * s.row;
            for (size_t l = 0; l < s.d; l++) {
                dq[l] += ds * k[l];
                dk[l] += ds * q[l];
                dv[l] += p * dy[out + l];
            }
        }
    }
}

/* σ(a)·a·b and, for the backward form, the slope of silu. */
static REAL FN(silu)(REAL a, REAL *ret_slope)
{
    REAL sigma = (REAL)(1 / (1 + exp(-(double)a)));
    *ret_slope = sigma * (1 + a * (1 - sigma));
    return a * sigma;
}

static void FN(swiglu)(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    struct mat x = in_mat(o, 0), y = mat_of(o->out[0]);
    REAL slope;
    ASSERT(x.cols == 2 * y.cols && x.rows == y.rows);
    for (size_t i = 0; i < y.rows; i++)
        for (size_t j = 0; j < y.cols; j++) {
            const REAL *xi = (const REAL *)x.ptr + i * x.stride;
            ((REAL *)y.ptr)[i * y.stride + j] = FN(silu)(xi[j], &slope) * xi[y.cols + j];
        }
}

static void FN(swiglu_bwd)(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    struct mat x = in_mat(o, 0), dy = in_mat(o, 1), dx = mat_of(o->out[0]);
    ASSERT(x.cols == 2 * dy.cols && x.rows == dy.rows && dx.cols == x.cols && dx.rows == x.rows);
    for (size_t i = 0; i < dy.rows; i++)
        for (size_t j = 0; j < dy.cols; j++) {
            const REAL *xi = (const REAL *)x.ptr + i * x.stride;
            REAL d = ((const REAL *)dy.ptr)[i * dy.stride + j], slope, gate = FN(silu)(xi[j],
                 &slope),
                 *out = (REAL *)dx.ptr + i * dx.stride;
            out[j] = d * xi[dy.cols + j] * slope;
            out[dy.cols + j] = d * gate;
        }
}

/* What joins number `at`, of channel k. */
static void FN(conv_end)(const struct op_call *o, size_t at, size_t k, REAL *y)
{
    if (o->attr.flags & MM_BIAS)
        y[at] += ((const REAL *)o->in[2]->ptr)[k];
    if (o->attr.flags & CONV_ADD)
        y[at] += ((const REAL *)o->in[3]->ptr)[at];
    if (o->attr.flags & MM_RELU)
        y[at] = y[at] > 0 ? y[at] : 0;
}

static void FN(conv2d)(struct backend_ctx *c, const struct op_call *o)
{
    ROUNDED(c, o, FN(conv2d));
    struct op_attr a = o->attr;
    a.window[0] = o->in[1]->dim[1], a.window[1] = o->in[1]->dim[2];
    const struct window w = window_of(&a, o->in[0], o->out[0]);
    const REAL *x = o->in[0]->ptr, *weight = o->in[1]->ptr;
    REAL *y = o->out[0]->ptr;
    ASSERT(o->in[1]->rank == 4 && o->in[1]->dim[0] == w.y.c && o->in[1]->dim[3] == w.x.c);
    for (size_t at = 0; at < w.y.n * w.y.h * w.y.w * w.y.c; at++) {
        size_t k = at % w.y.c, ox = at / w.y.c % w.y.w, oy = at / w.y.c / w.y.w % w.y.h, n = at / w.y.c / w.y.w / w.y.h, ky0,
            ky1, kx0, kx1;
        size_t y0 = window_span(oy, w.stride, w.pad, w.h, w.x.h, &ky0, &ky1), x0 = window_span(ox, w.stride, w.pad, w.w, w.x.w,
                 &kx0, &kx1);
        y[at] = 0;
        for (size_t ky = ky0; ky < ky1; ky++)
            for (size_t kx = kx0; kx < kx1; kx++)
                y[at] += FN(dot)(x + ((n * w.x.h + y0 + ky - ky0) * w.x.w + x0 + kx - kx0) * w.x.c,
                                 weight + ((k * w.h + ky) * w.w + kx) * w.x.c, w.x.c);
        FN(conv_end)(o, at, k, y);
    }
}

static void FN(depthwise)(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    struct op_attr a = o->attr;
    a.window[0] = o->in[1]->dim[0], a.window[1] = o->in[1]->dim[1];
    const struct window w = window_of(&a, o->in[0], o->out[0]);
    const REAL *x = o->in[0]->ptr, *weight = o->in[1]->ptr;
    REAL *y = o->out[0]->ptr;
    ASSERT(o->in[1]->rank == 3 && o->in[1]->dim[2] == w.x.c && w.y.c == w.x.c);
    for (size_t at = 0; at < w.y.n * w.y.h * w.y.w * w.y.c; at++) {
        size_t k = at % w.y.c, ox = at / w.y.c % w.y.w, oy = at / w.y.c / w.y.w % w.y.h, n = at / w.y.c / w.y.w / w.y.h;
        size_t ky0, ky1, kx0, kx1, y0 = window_span(oy, w.stride, w.pad, w.h, w.x.h, &ky0, &ky1);
        size_t x0 = window_span(ox, w.stride, w.pad, w.w, w.x.w, &kx0, &kx1);
        y[at] = 0;
        for (size_t ky = ky0; ky < ky1; ky++)
            for (size_t kx = kx0; kx < kx1; kx++)
                y[at] += x[((n * w.x.h + y0 + ky - ky0) * w.x.w + x0 + kx - kx0) * w.x.c + k]
                         * weight[(ky * w.w + kx) * w.x.c + k];
        FN(conv_end)(o, at, k, y);
    }
}

/* Both backward forms walk over what the forward form multiplies: dx[…] += dy·w, or dw[…] += dy·x. */
static void FN(conv_back)(const struct window *w, const REAL *dy, const REAL *x, const REAL *weight, REAL *dx, REAL *dw)
{
    for (size_t at = 0; at < w->y.n * w->y.h * w->y.w * w->y.c; at++) {
        size_t k = at % w->y.c, ox = at / w->y.c % w->y.w, oy = at / w->y.c / w->y.w % w->y.h, n = at / w->y.c / w->y.w / w->y.h;
        size_t ky0, ky1, kx0, kx1, y0 = window_span(oy, w->stride, w->pad, w->h, w->x.h, &ky0, &ky1);
        size_t x0 = window_span(ox, w->stride, w->pad, w->w, w->x.w, &kx0, &kx1);
        for (size_t ky = ky0; ky < ky1; ky++)
            for (size_t kx = kx0; kx < kx1; kx++) {
                size_t in = ((n * w->x.h + y0 + ky - ky0) * w->x.w + x0 + kx - kx0) * w->x.c,
                    of = ((k * w->h + ky) * w->w + kx) * w->x.c;
                for (size_t i = 0; i < w->x.c; i++)
                    if (dx)
                        dx[in + i] += dy[at] * weight[of + i];
                    else
                        dw[of + i] += dy[at] * x[in + i];
            }
    }
}

static void FN(conv2d_bwd_x)(struct backend_ctx *c, const struct op_call *o)
{
    ROUNDED(c, o, FN(conv2d_bwd_x));
    struct op_attr a = o->attr;
    a.window[0] = o->in[0]->dim[1], a.window[1] = o->in[0]->dim[2];
    const struct window w = window_of(&a, o->out[0], o->in[1]);
    memset(o->out[0]->ptr, 0, tensor_count(o->out[0]) * sizeof(REAL));
    FN(conv_back)(&w, o->in[1]->ptr, NULL, o->in[0]->ptr, o->out[0]->ptr, NULL);
}

static void FN(conv2d_bwd_w)(struct backend_ctx *c, const struct op_call *o)
{
    ROUNDED(c, o, FN(conv2d_bwd_w));
    const struct window w = window_of(&o->attr, o->in[0], o->in[1]);
    if (!(o->attr.flags & OP_ACCUMULATE))
        memset(o->out[0]->ptr, 0, tensor_count(o->out[0]) * sizeof(REAL));
    FN(conv_back)(&w, o->in[1]->ptr, o->in[0]->ptr, NULL, NULL, o->out[0]->ptr);
}

/* Mean and 1/√(var + eps) of a group of one image; first: its first channel. */
static REAL FN(group_mean)(const REAL *x, const struct image *m, size_t first, size_t width, double eps, REAL *ret_inverse)
{
    size_t pixels = m->h * m->w;
    double sum = 0, square = 0, count = (double)(pixels * width);
    for (size_t i = 0; i < pixels * width; i++)
        sum += (double)x[i / width * m->c + first + i % width];
    for (size_t i = 0; i < pixels * width; i++) {
        double off = (double)x[i / width * m->c + first + i % width] - sum / count;
        square += off * off;
    }
    *ret_inverse = (REAL)(1 / sqrt(square / count + eps));
    return (REAL)(sum / count);
}

static void FN(groupnorm)(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    const struct image m = image_of(o->in[0]);
    size_t width = m.c / o->attr.n, size = m.h * m.w * m.c;
    const REAL *scale = o->in[1]->ptr, *shift = o->in[2]->ptr;
    for (size_t at = 0; at < m.n * o->attr.n; at++) {
        size_t first = at % o->attr.n * width, item = at / o->attr.n * size;
        const REAL *x = (const REAL *)o->in[0]->ptr + item;
        REAL *y = (REAL *)o->out[0]->ptr + item, inverse, mean = FN(group_mean)(x, &m, first, width, o->attr.eps, &inverse);
        for (size_t i = 0; i < m.h * m.w * width; i++) {
            size_t k = first + i % width, p = i / width * m.c + k;
            y[p] = (x[p] - mean) * inverse * scale[k] + shift[k];
        }
    }
}

static void FN(groupnorm_bwd)(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    const struct image m = image_of(o->in[0]);
    size_t width = m.c / o->attr.n, size = m.h * m.w * m.c, count = m.h * m.w * width;
    const REAL *scale = o->in[1]->ptr;
    for (size_t at = 0; at < m.n * o->attr.n; at++) {
        size_t first = at % o->attr.n * width, item = at / o->attr.n * size;
        const REAL *x = (const REAL *)o->in[0]->ptr + item, *dy = (const REAL *)o->in[2]->ptr + item;
        REAL *dx = (REAL *)o->out[0]->ptr + item, inverse, mean = FN(group_mean)(x, &m, first, width, o->attr.eps,
                 &inverse), g = 0, gz = 0;
        for (size_t i = 0; i < count; i++) {
            size_t k = first + i % width, p = i / width * m.c + k;
            g += dy[p] * scale[k] / (REAL)count;
            gz += dy[p] * scale[k] * (x[p] - mean) * inverse / (REAL)count;
        }
        for (size_t i = 0; i < count; i++) {
            size_t k = first + i % width, p = i / width * m.c + k;
            dx[p] = inverse * (dy[p] * scale[k] - g - (x[p] - mean) * inverse * gz);
        }
    }
}

static void FN(groupnorm_scale_bwd)(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    const struct image m = image_of(o->in[0]);
    size_t width = m.c / o->attr.n, size = m.h * m.w * m.c;
    REAL *out = o->out[0]->ptr;
    for (size_t k = 0; k < m.c && !(o->attr.flags & OP_ACCUMULATE); k++)
        out[k] = 0;
    for (size_t at = 0; at < m.n * o->attr.n; at++) {
        size_t first = at % o->attr.n * width, item = at / o->attr.n * size;
        const REAL *x = (const REAL *)o->in[0]->ptr + item, *dy = (const REAL *)o->in[1]->ptr + item;
        REAL inverse, mean = FN(group_mean)(x, &m, first, width, o->attr.eps, &inverse);
        for (size_t i = 0; i < m.h * m.w * width; i++) {
            size_t k = first + i % width, p = i / width * m.c + k;
            out[k] += dy[p] * (x[p] - mean) * inverse;
        }
    }
}
