/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_int.h - depthwise convolution of the vector variants over the tile operation depth_tile: a channel has its own
 * window and
 * nothing is summed over channels, so vectors lie along channels and there is no product to pack. Included once per variant
 * after
 * DEPTH_LANES (channels of a vector).
 *
 * A row of results is one task. Pixels whose window lies whole inside the image's width go in runs of DEPTH_PIXELS, which share
 * the loads of the weights; those at the edges alone, with what of the window is inside. Each element is one fused chain over
 * ascending places of the window that lie in the image. Bias and ReLU follow while the row is in L1. */
struct depthwise {
    struct window w;
    const float *x, *weight, *bias;
    float *y;
    bool has_relu;
};

/* Pixels ox … ox+n-1 of a row whose windows meet the same columns of the window, kx0 … kx1-1. */
static void depth_run(const struct depthwise *d, const float *x, const float *weight, size_t rows, size_t cols, size_t n,
                      float *y)
{
    size_t c = d->w.x.c, x_row = d->w.x.w * c, w_row = d->w.w * c, x_step = d->w.stride * c, lanes;
    for (size_t at = 0; at < c; at += lanes) {
        lanes = c - at >= DEPTH_LANES ? DEPTH_LANES : c - at >= 8 ? 8 : c - at;
        for (size_t p = 0; p < n; p += DEPTH_PIXELS)
            depth_tile(lanes, n - p < DEPTH_PIXELS ? n - p : DEPTH_PIXELS, x + p * x_step + at, x_step, rows, x_row, cols, c,
                       weight + at, w_row, y + p * c + at);
    }
}

static void depth_row(void *arg, size_t task)
{
    const struct depthwise *d = arg;
    const struct window *w = &d->w;
    size_t c = w->x.c, n = task / w->y.h, oy = task % w->y.h, ky0, ky1, kx0, kx1, run;
    size_t y0 = window_span(oy, w->stride, w->pad, w->h, w->x.h, &ky0, &ky1);
    const float *x = d->x + (n * w->x.h + y0) * w->x.w * c;
    float *y = d->y + (n * w->y.h + oy) * w->y.w * c;
    for (size_t ox = 0; ox < w->y.w; ox += run) {
        size_t x0 = window_span(ox, w->stride, w->pad, w->w, w->x.w, &kx0, &kx1);
        size_t last = (w->x.w + w->pad - w->w) / w->stride;         /* the last one whose window ends inside */
        run = kx0 == 0 && kx1 == w->w ? (last < w->y.w ? last : w->y.w - 1) - ox + 1 : 1;
        depth_run(d, x + x0 * c, d->weight + (ky0 * w->w + kx0) * c, ky1 - ky0, kx1 - kx0, run, y + ox * c);
    }
    for (size_t i = 0; i < w->y.w && d->bias; i++)
        for (size_t k = 0; k < c; k++)
            y[i * c + k] += d->bias[k];
    for (size_t i = 0; i < w->y.w * c && d->has_relu; i++)
        y[i] = y[i] > 0 ? y[i] : 0;
}

static void k_depthwise(struct backend_ctx *c, const struct op_call *o)
{
    struct op_attr a = o->attr;
    const struct tensor *weight = o->in[1];
    a.window[0] = weight->dim[0], a.window[1] = weight->dim[1];
    struct depthwise d = { window_of(&a, o->in[0], o->out[0]), o->in[0]->ptr, weight->ptr,
                           a.flags & MM_BIAS ? o->in[2]->ptr : NULL, o->out[0]->ptr, a.flags & MM_RELU };
    ASSERT(weight->rank == 3 && weight->dim[2] == d.w.x.c && d.w.y.c == d.w.x.c);
    cpu_split(c, d.w.y.n * d.w.y.h, (double)tensor_count(o->out[0]) * (double)(d.w.h * d.w.w), depth_row, &d);
}
