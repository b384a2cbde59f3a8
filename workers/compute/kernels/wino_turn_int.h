/* SPDX-License-Identifier: Apache-2.0 */
/* wino_turn_int.h - what wino_int.h turns: tiles of an image, of slopes and of results, and weights, a vector of channels at a
 * time. The matrices are those of the points 0, 1, -1, 1/2, -2 and infinity, whose six rows of G have their factors apart. */
enum { WINO_SIDE = 6, WINO_OUT = 4, WINO_PLACES = WINO_SIDE * WINO_SIDE, WINO_LANES = NR / 2, WINO_CHANNELS = 2048,
       WINO_TILES = MC, WINO_LINE = 16 /* numbers of a line of the cache */,
       WINO_PAIRS = 1 << 20 };          /* of channels: turned and packed their weights take 150 MB of scratch memory */

typedef float wino_vec __attribute__((vector_size(WINO_LANES * 4), aligned(4), may_alias));
typedef int32_t wino_ints __attribute__((vector_size(WINO_LANES * 4), aligned(4), may_alias));

/* Factors of the rows of G. */
static const float wino_factor[WINO_SIDE] = { 1, 1 / 3.0f, 1 / 3.0f, -4 / 15.0f, 1 / 15.0f, 1 };
static const float wino_zeros[WINO_CHANNELS];

struct wino {
    struct image in, out;       /* tiles look into `in`; they are tiles of `out`, at 4·y, 4·x */
    size_t pad, th, tw;         /* tiles of an image */
    const float *x, *dy;
    float *y, *v, *m;           /* of a chunk: places of the tiles, and of their results */
    size_t first, count, chunk;         /* tiles */
    size_t v_step, m_step;      /* from place to place: a line more than a chunk, else all places of a tile lie in the same few
                                 * sets of the first cache */
    const float *weight;
    float *panels;              /* of the weights: [place] */
    float *turned;              /* the weights' gradient, [place][out][in]; forward the weights, [in][9][out] */
    bool is_back, is_panelled;          /* v lies in panels, as the right factor of a product */
    unsigned flags;
    tile_fn *multiply;
    const float *bias, *add;    /* what follows a result, with MM_RELU of flags; NULL: none */
};

#define WINO_INLINE static inline __attribute__((always_inline))

WINO_INLINE void wino_b(const wino_vec *x, size_t s, wino_vec *y, size_t t)
{
    const wino_vec a = x[3 * s] - x[s], b = x[4 * s] - x[2 * s];
    y[0] = (x[0] + a) + 0.5f * a + (b - x[2 * s]);
    y[t] = (x[4 * s] + x[3 * s]) + a + 0.5f * (x[2 * s] + x[3 * s]);
    y[2 * t] = b + (x[s] - x[2 * s]) + 0.5f * (x[3 * s] - x[2 * s]);
    y[3 * t] = b + 2.0f * a;
    y[4 * t] = b - 0.5f * a;
    y[5 * t] = (x[5 * s] + b) + 0.5f * b - (a + x[3 * s]);
}

WINO_INLINE void wino_at(const wino_vec *m, size_t s, wino_vec *y, size_t t)
{
    const wino_vec sum = m[s] + m[2 * s], diff = m[s] - m[2 * s];
    y[0] = (m[0] + sum) + (m[3 * s] + m[4 * s]);
    y[t] = diff + 0.5f * m[3 * s] - 2.0f * m[4 * s];
    y[2 * t] = sum + 0.25f * m[3 * s] + 4.0f * m[4 * s];
    y[3 * t] = (diff + m[5 * s]) + 0.125f * m[3 * s] - 8.0f * m[4 * s];
}

WINO_INLINE void wino_a(const wino_vec *d, size_t s, wino_vec *y, size_t t)
{
    const wino_vec even = d[0] + d[2 * s], odd = d[s] + d[3 * s];
    y[0] = d[0];
    y[t] = even + odd;
    y[2 * t] = even - odd;
    y[3 * t] = d[0] + 0.5f * d[s] + 0.25f * d[2 * s] + 0.125f * d[3 * s];
    y[4 * t] = d[0] - 2.0f * d[s] + 4.0f * d[2 * s] - 8.0f * d[3 * s];
    y[5 * t] = d[3 * s];
}

WINO_INLINE void wino_g(const wino_vec *g, size_t s, wino_vec *y, size_t t)
{
    y[0] = g[0];
    y[t] = g[0] + g[s] + g[2 * s];
    y[2 * t] = g[s] - (g[0] + g[2 * s]);
    y[3 * t] = 4.0f * g[0] + 2.0f * g[s] + g[2 * s];
    y[4 * t] = g[0] - 2.0f * g[s] + 4.0f * g[2 * s];
    y[5 * t] = g[2 * s];
}

WINO_INLINE void wino_gt(const wino_vec *u, size_t s, wino_vec *y, size_t t)
{
    const wino_vec diff = u[s] - u[2 * s];
    y[0] = (u[0] + diff) + 4.0f * u[3 * s] + u[4 * s];
    y[t] = (u[s] + u[2 * s]) + 2.0f * u[3 * s] - 2.0f * u[4 * s];
    y[2 * t] = (diff + u[5 * s]) + u[3 * s] + 4.0f * u[4 * s];
}

/* The pixel of an image, or zeros outside; *ret_step: 1, or 0 for zeros. */
static inline const float *wino_pixel(const struct image *i, const float *x, size_t n, size_t row, size_t col, bool is_inside)
{
    return is_inside ? x + ((n * i->h + row) * i->w + col) * i->c : wino_zeros;
}

static inline void wino_place(const struct wino *j, size_t task, size_t *n, size_t *y, size_t *x)
{
    const uint32_t tile = (uint32_t)(j->first + task), row = tile / (uint32_t)j->tw;   /* 64 bits wide they took a twelfth */
    *n = row / (uint32_t)j->th;
    *y = (row - *n * j->th) * WINO_OUT;
    *x = (tile - row * j->tw) * WINO_OUT;
}

/* B d Bᵀ of one tile, all channels. */
static void wino_look(void *arg, size_t task)
{
    const struct wino *j = arg;
    const float *from[WINO_PLACES];
    size_t n, y, x, c = j->in.c;
    wino_place(j, task, &n, &y, &x);
    for (size_t p = 0; p < WINO_PLACES; p++) {
        size_t row = y + p / WINO_SIDE - j->pad, col = x + p % WINO_SIDE - j->pad;       /* below zero: beyond every size */
        from[p] = wino_pixel(&j->in, j->x, n, row, col, row < j->in.h && col < j->in.w);
    }
    for (size_t at = 0; at < c; at += WINO_LANES) {
        wino_vec d[WINO_PLACES], t[WINO_PLACES], v[WINO_SIDE];
        for (size_t p = 0; p < WINO_PLACES; p++)
            d[p] = *(const wino_vec *)(from[p] + at);
        for (size_t col = 0; col < WINO_SIDE; col++)
            wino_b(d + col, WINO_SIDE, t + col, WINO_SIDE);
        float *to = j->is_panelled ? j->v + at / NR * (j->chunk * NR) + task * NR + at % NR : j->v + task * c + at;
        const size_t step = j->is_panelled ? panels_of(c) * j->chunk * NR : j->v_step;
        for (size_t row = 0; row < WINO_SIDE; row++) {
            wino_b(t + row * WINO_SIDE, 1, v, 1);
            for (size_t col = 0; col < WINO_SIDE; col++, to += step)
                *(wino_vec *)to = v[col];
        }
    }
}

/* What follows a result, in the order of a product's: number `at` of y, of that channel. */
WINO_INLINE wino_vec wino_end(const struct wino *j, wino_vec v, size_t at, size_t channel)
{
    if (j->bias)
        v += *(const wino_vec *)(j->bias + channel);
    if (j->add)
        v += *(const wino_vec *)(j->add + at);
    return j->flags & MM_RELU ? (wino_vec)((wino_ints)v & (v > 0)) : v;
}

/* Aᵀ M A of one tile, all channels, as far as it is inside. */
static void wino_give(void *arg, size_t task)
{
    const struct wino *j = arg;
    size_t n, y, x, k = j->out.c;
    wino_place(j, task, &n, &y, &x);
    const size_t rows = j->out.h - y < WINO_OUT ? j->out.h - y : WINO_OUT;
    const size_t cols = j->out.w - x < WINO_OUT ? j->out.w - x : WINO_OUT;
    for (size_t at = 0; at < k; at += WINO_LANES) {
        wino_vec m[WINO_PLACES], t[WINO_OUT * WINO_SIDE], o[WINO_OUT];
        for (size_t p = 0; p < WINO_PLACES; p++)
            m[p] = *(const wino_vec *)(j->m + p * j->m_step + task * k + at);
        for (size_t col = 0; col < WINO_SIDE; col++)
            wino_at(m + col, WINO_SIDE, t + col, WINO_SIDE);
        for (size_t row = 0; row < rows; row++) {
            size_t to = ((n * j->out.h + y + row) * j->out.w + x) * k + at;
            wino_at(t + row * WINO_SIDE, 1, o, 1);
            for (size_t col = 0; col < cols; col++, to += k)
                *(wino_vec *)(j->y + to) = wino_end(j, o[col], to, at);
        }
    }
}

/* A dy Aᵀ of one tile, with the factors of G. */
static void wino_slope(void *arg, size_t task)
{
    const struct wino *j = arg;
    const float *from[WINO_OUT * WINO_OUT];
    size_t n, y, x, k = j->out.c;
    wino_place(j, task, &n, &y, &x);
    for (size_t p = 0; p < WINO_OUT * WINO_OUT; p++) {
        size_t row = y + p / WINO_OUT, col = x + p % WINO_OUT;
        from[p] = wino_pixel(&j->out, j->dy, n, row, col, row < j->out.h && col < j->out.w);
    }
    for (size_t at = 0; at < k; at += WINO_LANES) {
        wino_vec d[WINO_OUT * WINO_OUT], t[WINO_SIDE * WINO_OUT], m[WINO_SIDE];
        for (size_t p = 0; p < WINO_OUT * WINO_OUT; p++)
            d[p] = *(const wino_vec *)(from[p] + at);
        for (size_t col = 0; col < WINO_OUT; col++)
            wino_a(d + col, WINO_OUT, t + col, WINO_OUT);
        float *to = j->m + task * k + at;
        for (size_t row = 0; row < WINO_SIDE; row++) {
            wino_a(t + row * WINO_OUT, 1, m, 1);
            for (size_t col = 0; col < WINO_SIDE; col++, to += j->m_step)
                *(wino_vec *)to = m[col] * (wino_factor[row] * wino_factor[col]);
        }
    }
}

/* Weights [out][9][in] -> [in][9][out], eight outputs. */
static void wino_transpose(void *arg, size_t task)
{
    const struct wino *j = arg;
    const size_t in = j->in.c, out = j->out.c;
    for (size_t p = 0; p < 9; p++)
        for (size_t at = 0; at < in; at += 8)
            transpose8(j->weight + (task * 8 * 9 + p) * in + at, 9 * in, j->turned + (at * 9 + p) * out + task * 8, 9 * out);
}

/* G g Gᵀ of one channel of the depth, straight into the panels of every place; `from` is [depth][9][columns]. The window is
 * turned round for the gradient of the input. */
static void wino_weights(void *arg, size_t k)
{
    const struct wino *j = arg;
    const float *from = j->is_back ? j->weight : j->turned;
    const size_t n = j->out.c, depth = j->in.c, step = panels_of(n) * NR * depth;
    for (size_t at = 0; at < n; at += WINO_LANES) {
        wino_vec g[9], t[WINO_SIDE * 3], u[WINO_SIDE];
        for (size_t p = 0; p < 9; p++)
            g[j->is_back ? 8 - p : p] = *(const wino_vec *)(from + (k * 9 + p) * n + at);
        for (size_t col = 0; col < 3; col++)
            wino_g(g + col, 3, t + col, 3);
        float *to = j->panels + at / NR * (depth * NR) + k * NR + at % NR;
        for (size_t row = 0; row < WINO_SIDE; row++) {
            wino_g(t + row * 3, 1, u, 1);
            for (size_t col = 0; col < WINO_SIDE; col++, to += step)
                *(wino_vec *)to = u[col] * (wino_factor[row] * wino_factor[col]);
        }
    }
}

/* One output's gradient of its weights. */
static void wino_weights_back(void *arg, size_t out)
{
    const struct wino *j = arg;
    const size_t in = j->in.c, outs = j->out.c;
    for (size_t at = 0; at < in; at += WINO_LANES) {
        wino_vec u[WINO_PLACES], t[3 * WINO_SIDE], w[3];
        for (size_t p = 0; p < WINO_PLACES; p++)
            u[p] = *(const wino_vec *)(j->turned + (p * outs + out) * in + at);
        for (size_t col = 0; col < WINO_SIDE; col++)
            wino_gt(u + col, WINO_SIDE, t + col, WINO_SIDE);
        for (size_t row = 0; row < 3; row++) {
            float *to = j->y + (out * 9 + row * 3) * in + at;
            wino_gt(t + row * WINO_SIDE, 1, w, 1);
            for (size_t col = 0; col < 3; col++, to += in)
                if (j->flags & OP_ACCUMULATE)
                    *(wino_vec *)to += w[col];
                else
                    *(wino_vec *)to = w[col];
        }
    }
}
