/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_int.h - depthwise convolution of the vector variants over the tile operation depth_tile: a channel has its own
 * window and nothing is summed over channels, so vectors lie along channels and there is no product to pack. Included once per
 * variant after DEPTH_LANES (channels of a vector).
 *
 * A row of results is one task. Pixels whose window lies whole inside the image's width go in runs of DEPTH_PIXELS, which share
 * the loads of the weights; those at the edges alone, with what of the window is inside. Where a vector holds the channels of
 * several pixels and the stride is 1, they are taken as one, by weights that are repeated: numbers of a row lie one behind
 * another, and so do what their windows meet. Each element is one fused chain over ascending places of the window that lie in
 * the image; bias and ReLU follow in the register. */
enum { SLOT_DEPTH = 1 };

struct depthwise {
    struct window w;
    const float *x, *weight, *bias;
    float *y;
    bool has_relu;
    float *wide;                /* NULL, or weights [place][DEPTH_LANES], and the bias behind them, repeated to a vector */
};

/* Pixels ox … ox+n-1 of a row whose windows meet the same columns of the window, kx0 … kx1-1, and its rows from ky0 on. */
static void depth_run(const struct depthwise *d, const float *x, size_t ky0, size_t kx0, size_t rows, size_t cols, size_t n,
                      float *y)
{
    size_t c = d->w.x.c, places = d->w.h * d->w.w, at = ky0 * d->w.w + kx0, lanes;
    struct depth_walk s = { d->w.stride * c, d->w.x.w * c, c, d->w.w * c, c, c, d->has_relu };
    if (d->wide && n >= DEPTH_LANES / c) {
        const size_t whole = n / (DEPTH_LANES / c);
        const struct depth_walk v = { DEPTH_LANES, s.x_row, c, d->w.w * DEPTH_LANES, DEPTH_LANES, DEPTH_LANES, d->has_relu };
        const float *weight = d->wide + at * DEPTH_LANES, *bias = d->bias ? d->wide + places * DEPTH_LANES : NULL;
        for (size_t p = 0; p < whole; p += DEPTH_PIXELS)
            depth_tile(DEPTH_LANES, whole - p < DEPTH_PIXELS ? whole - p : DEPTH_PIXELS, &v, rows, cols, x + p * DEPTH_LANES,
                       weight, bias, y + p * DEPTH_LANES);
        x += whole * DEPTH_LANES, y += whole * DEPTH_LANES;
        n -= whole * (DEPTH_LANES / c);
    }
    for (size_t k = 0; k < c; k += lanes) {
        lanes = c - k >= DEPTH_LANES ? DEPTH_LANES : c - k >= 8 ? 8 : c - k;
        for (size_t p = 0; p < n; p += DEPTH_PIXELS)
            depth_tile(lanes, n - p < DEPTH_PIXELS ? n - p : DEPTH_PIXELS, &s, rows, cols, x + p * s.x_step + k,
                       d->weight + at * c + k, d->bias ? d->bias + k : NULL, y + p * c + k);
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
        depth_run(d, x + x0 * c, ky0, kx0, ky1 - ky0, kx1 - kx0, run, y + ox * c);
    }
}

/* Weights and bias repeated to whole vectors, where pixels share one. */
static void depth_widen(struct backend_ctx *b, struct depthwise *d)
{
    size_t c = d->w.x.c, places = d->w.h * d->w.w;
    if (c >= DEPTH_LANES || DEPTH_LANES % c || d->w.stride != 1)
        return;
    d->wide = cpu_scratch_at(b, SLOT_DEPTH, (places + 1) * DEPTH_LANES * sizeof *d->wide);
    for (size_t p = 0; p < places; p++)
        for (size_t j = 0; j < DEPTH_LANES; j++)
            d->wide[p * DEPTH_LANES + j] = d->weight[p * c + j % c];
    for (size_t j = 0; j < DEPTH_LANES && d->bias; j++)
        d->wide[places * DEPTH_LANES + j] = d->bias[j % c];
}

static void k_depthwise(struct backend_ctx *c, const struct op_call *o)
{
    struct op_attr a = o->attr;
    const struct tensor *weight = o->in[1];
    a.window[0] = weight->dim[0], a.window[1] = weight->dim[1];
    struct depthwise d = { window_of(&a, o->in[0], o->out[0]), o->in[0]->ptr, weight->ptr,
                           a.flags & MM_BIAS ? o->in[2]->ptr : NULL, o->out[0]->ptr, a.flags & MM_RELU, NULL };
    ASSERT(weight->rank == 3 && weight->dim[2] == d.w.x.c && d.w.y.c == d.w.x.c);
    depth_widen(c, &d);
    cpu_split(c, d.w.y.n * d.w.y.h, (double)tensor_count(o->out[0]) * (double)(d.w.h * d.w.w), depth_row, &d);
}
