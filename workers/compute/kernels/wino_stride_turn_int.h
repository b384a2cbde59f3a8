/* SPDX-License-Identifier: Apache-2.0 */
/* wino_stride_turn_int.h - what wino_stride_int.h turns, a vector of channels at a time.
 *
 * Along one side the finer image falls into two phases, P and Q, whose pixels lie alike to the stride: forward P[o] = x[2o - 1]
 * and Q[o] = x[2o], so that y[o] = g0·P[o] + g1·Q[o] + g2·P[o + 1]; backward P[o] = x[2o + 1] and Q[o] = x[2o]. P has two taps,
 * five numbers of it make four results, and it is known at five points: 1/2, -1/2, 2, -2, infinity. Q's second tap is zero, and
 * so are its weights at infinity: it is known at four. So a place of 5 × 5 holds 1, 2 or 4 planes, 81 in all: of both phases of
 * the rows, and within them of the columns.
 *
 * The result's error, rms of 256 channels over its own: by these points 1.9e-6, by 0, ±1, 1/2 or 2 4.3e-6 and 3.4e-6; the direct
 * chain's 0.9e-6. */
enum { TWO_SIDE = 5, TWO_Q = WINO_OUT, TWO_FINE = TWO_SIDE + TWO_Q, TWO_PLACES = TWO_SIDE * TWO_SIDE,
       TWO_PLANES = TWO_FINE * TWO_FINE };

static const float two_factor[TWO_SIDE] = { -2 / 15.0f, 2 / 15.0f, 1 / 15.0f, -1 / 15.0f, 1 };

/* Where the planes of a place begin among all, how many it has, and which of them is this one. */
struct two_plane { size_t at, planes, own; };

/* Of row and column: 0 … 4 is P at that point, 5 … 8 is Q. */
WINO_INLINE struct two_plane two_plane(size_t row, size_t col)
{
    const size_t r = row % TWO_SIDE, c = col % TWO_SIDE, rows = r < TWO_Q ? 2 : 1, cols = c < TWO_Q ? 2 : 1;
    return (struct two_plane){ (r * 2 * TWO_FINE) + c * rows * 2, rows * cols, row / TWO_SIDE * cols + col / TWO_SIDE };
}

static inline struct two_plane two_place(size_t place)
{
    return two_plane(place / TWO_SIDE, place % TWO_SIDE);
}

/* Four of five points: what Q has. */
WINO_INLINE void two_b4(const wino_vec *x, size_t s, wino_vec *y, size_t t)
{
    const wino_vec a = x[3 * s] - 4.0f * x[s], b = 0.5f * x[2 * s] - 2.0f * x[0];
    const wino_vec c = x[3 * s] - 0.25f * x[s], d = 2.0f * x[2 * s] - 0.5f * x[0];
    y[0] = a + b;
    y[t] = a - b;
    y[2 * t] = c + d;
    y[3 * t] = c - d;
}

WINO_INLINE void two_b5(const wino_vec *x, size_t s, wino_vec *y, size_t t)
{
    two_b4(x, s, y, t);
    y[4 * t] = (x[4 * s] + x[0]) - 4.0f * x[2 * s] - 0.25f * x[2 * s];
}

WINO_INLINE void two_at4(const wino_vec *m, size_t s, wino_vec *y, size_t t)
{
    const wino_vec a = m[0] + m[s], b = m[0] - m[s], c = m[2 * s] + m[3 * s], d = m[2 * s] - m[3 * s];
    y[0] = a + c;
    y[t] = 0.5f * b + 2.0f * d;
    y[2 * t] = 0.25f * a + 4.0f * c;
    y[3 * t] = 0.125f * b + 8.0f * d;
}

WINO_INLINE void two_at5(const wino_vec *m, size_t s, wino_vec *y, size_t t)
{
    two_at4(m, s, y, t);
    y[3 * t] += m[4 * s];
}

WINO_INLINE void two_a(const wino_vec *d, size_t s, wino_vec *y, size_t t)
{
    const wino_vec a = d[0] + 0.25f * d[2 * s], b = 0.5f * d[s] + 0.125f * d[3 * s];
    const wino_vec c = d[0] + 4.0f * d[2 * s], e = 2.0f * d[s] + 8.0f * d[3 * s];
    y[0] = a + b;
    y[t] = a - b;
    y[2 * t] = c + e;
    y[3 * t] = c - e;
    y[4 * t] = d[3 * s];
}

/* Three taps -> nine weights. */
WINO_INLINE void two_g(const wino_vec *g, size_t s, wino_vec *y, size_t t)
{
    y[0] = 2.0f * g[0] + g[2 * s];
    y[t] = 2.0f * g[0] - g[2 * s];
    y[2 * t] = g[0] + 2.0f * g[2 * s];
    y[3 * t] = g[0] - 2.0f * g[2 * s];
    y[4 * t] = g[2 * s];
    y[5 * t] = y[6 * t] = 2.0f * g[s];
    y[7 * t] = y[8 * t] = g[s];
}

WINO_INLINE void two_gt(const wino_vec *u, size_t s, wino_vec *y, size_t t)
{
    y[0] = 2.0f * (u[0] + u[s]) + (u[2 * s] + u[3 * s]);
    y[t] = 2.0f * (u[5 * s] + u[6 * s]) + (u[7 * s] + u[8 * s]);
    y[2 * t] = (u[0] - u[s]) + 2.0f * (u[2 * s] - u[3 * s]) + u[4 * s];
}

/* Both phases of one tile of the finer image: 9 × 9 pixels from 2·y - 1, 2·x - 1. */
static void two_look_fine(void *arg, size_t task)
{
    const struct wino *j = arg;
    const float *from[TWO_PLANES];
    float *to[TWO_PLANES];
    size_t n, y, x, c = j->in.c, step = j->is_panelled ? j->chunk : 1;
    wino_place(j, task, &n, &y, &x);
    for (size_t p = 0; p < TWO_PLANES; p++) {
        const size_t row = 2 * y + p / TWO_FINE - 1, col = 2 * x + p % TWO_FINE - 1;     /* below zero: beyond every size */
        const struct two_plane at = two_plane(p / TWO_FINE, p % TWO_FINE);
        from[p] = wino_pixel(&j->in, j->x, n, row, col, row < j->in.h && col < j->in.w);
        to[p] = j->v + (at.at * j->chunk) * c
                + (j->is_panelled ? at.own * c * j->chunk + task * NR : (task * at.planes + at.own) * c);
    }
    for (size_t at = 0; at < c; at += WINO_LANES) {
        const size_t further = at / NR * NR * step + at % NR;
        wino_vec t[TWO_PLANES], d[TWO_FINE], v[TWO_FINE];
        for (size_t col = 0; col < TWO_FINE; col++) {
            for (size_t row = 0; row < TWO_FINE; row++)
                d[row] = *(const wino_vec *)(from[row * TWO_FINE + col] + at);
            two_b5(d, 2, t + col, TWO_FINE);
            two_b4(d + 1, 2, t + TWO_SIDE * TWO_FINE + col, TWO_FINE);
        }
        for (size_t row = 0; row < TWO_FINE; row++) {
            two_b5(t + row * TWO_FINE, 2, v, 1);
            two_b4(t + row * TWO_FINE + 1, 2, v + TWO_SIDE, 1);
            for (size_t col = 0; col < TWO_FINE; col++)
                *(wino_vec *)(to[row * TWO_FINE + col] + further) = v[col];
        }
    }
}

/* One tile of the coarser image: 5 × 5 pixels from y, x. */
static void two_look(void *arg, size_t task)
{
    const struct wino *j = arg;
    const float *from[TWO_PLACES];
    size_t n, y, x, c = j->in.c;
    wino_place(j, task, &n, &y, &x);
    for (size_t p = 0; p < TWO_PLACES; p++) {
        const size_t row = y + p / TWO_SIDE, col = x + p % TWO_SIDE;
        from[p] = wino_pixel(&j->in, j->x, n, row, col, row < j->in.h && col < j->in.w);
    }
    for (size_t at = 0; at < c; at += WINO_LANES) {
        wino_vec d[TWO_PLACES], t[TWO_PLACES], v[TWO_SIDE];
        for (size_t p = 0; p < TWO_PLACES; p++)
            d[p] = *(const wino_vec *)(from[p] + at);
        for (size_t col = 0; col < TWO_SIDE; col++)
            two_b5(d + col, TWO_SIDE, t + col, TWO_SIDE);
        float *to = j->v + task * c + at;
        for (size_t row = 0; row < TWO_SIDE; row++) {
            two_b5(t + row * TWO_SIDE, 1, v, 1);
            for (size_t col = 0; col < TWO_SIDE; col++, to += j->chunk * c)
                *(wino_vec *)to = v[col];
        }
    }
}

/* Results of one tile of the coarser image, as far as it is inside. */
static void two_give(void *arg, size_t task)
{
    const struct wino *j = arg;
    size_t n, y, x, k = j->out.c;
    wino_place(j, task, &n, &y, &x);
    const size_t rows = j->out.h - y < WINO_OUT ? j->out.h - y : WINO_OUT;
    const size_t cols = j->out.w - x < WINO_OUT ? j->out.w - x : WINO_OUT;
    for (size_t at = 0; at < k; at += WINO_LANES) {
        wino_vec m[TWO_PLACES], t[WINO_OUT * TWO_SIDE], o[WINO_OUT];
        for (size_t p = 0; p < TWO_PLACES; p++)
            m[p] = *(const wino_vec *)(j->m + (p * j->chunk + task) * k + at);
        for (size_t col = 0; col < TWO_SIDE; col++)
            two_at5(m + col, TWO_SIDE, t + col, TWO_SIDE);
        for (size_t row = 0; row < rows; row++) {
            float *to = j->y + ((n * j->out.h + y + row) * j->out.w + x) * k + at;
            two_at5(t + row * TWO_SIDE, 1, o, 1);
            for (size_t col = 0; col < cols; col++)
                *(wino_vec *)(to + col * k) = o[col];
        }
    }
}

/* The gradient of one tile of the finer image, 8 × 8 pixels from 2·y, 2·x: Q and P in turns. */
static void two_give_fine(void *arg, size_t task)
{
    enum { FINE_OUT = 2 * WINO_OUT };
    const struct wino *j = arg;
    const float *from[TWO_PLANES];
    size_t n, y, x, k = j->out.c;
    wino_place(j, task, &n, &y, &x);
    const size_t rows = j->out.h - 2 * y < FINE_OUT ? j->out.h - 2 * y : FINE_OUT;
    const size_t cols = j->out.w - 2 * x < FINE_OUT ? j->out.w - 2 * x : FINE_OUT;
    for (size_t p = 0; p < TWO_PLANES; p++) {
        const struct two_plane at = two_plane(p / TWO_FINE, p % TWO_FINE);
        from[p] = j->m + (at.at * j->chunk + task * at.planes + at.own) * k;
    }
    for (size_t at = 0; at < k; at += WINO_LANES) {
        wino_vec m[TWO_FINE], t[FINE_OUT * TWO_FINE], o[FINE_OUT];
        for (size_t col = 0; col < TWO_FINE; col++) {
            for (size_t row = 0; row < TWO_FINE; row++)
                m[row] = *(const wino_vec *)(from[row * TWO_FINE + col] + at);
            two_at5(m, 1, t + TWO_FINE + col, 2 * TWO_FINE);
            two_at4(m + TWO_SIDE, 1, t + col, 2 * TWO_FINE);
        }
        for (size_t row = 0; row < rows; row++) {
            float *to = j->y + ((n * j->out.h + 2 * y + row) * j->out.w + 2 * x) * k + at;
            two_at5(t + row * TWO_FINE, 1, o + 1, 2);
            two_at4(t + row * TWO_FINE + TWO_SIDE, 1, o, 2);
            for (size_t col = 0; col < cols; col++)
                *(wino_vec *)(to + col * k) = o[col];
        }
    }
}

/* A dy Aᵀ of one tile, with the factors of G. */
static void two_slope(void *arg, size_t task)
{
    const struct wino *j = arg;
    const float *from[WINO_OUT * WINO_OUT];
    size_t n, y, x, k = j->out.c;
    wino_place(j, task, &n, &y, &x);
    for (size_t p = 0; p < WINO_OUT * WINO_OUT; p++) {
        const size_t row = y + p / WINO_OUT, col = x + p % WINO_OUT;
        from[p] = wino_pixel(&j->out, j->dy, n, row, col, row < j->out.h && col < j->out.w);
    }
    for (size_t at = 0; at < k; at += WINO_LANES) {
        wino_vec d[WINO_OUT * WINO_OUT], t[TWO_SIDE * WINO_OUT], m[TWO_SIDE];
        for (size_t p = 0; p < WINO_OUT * WINO_OUT; p++)
            d[p] = *(const wino_vec *)(from[p] + at);
        for (size_t col = 0; col < WINO_OUT; col++)
            two_a(d + col, WINO_OUT, t + col, WINO_OUT);
        float *to = j->m + task * k + at;
        for (size_t row = 0; row < TWO_SIDE; row++) {
            two_a(t + row * WINO_OUT, 1, m, 1);
            for (size_t col = 0; col < TWO_SIDE; col++, to += j->chunk * k)
                *(wino_vec *)to = m[col] * (two_factor[row] * two_factor[col]);
        }
    }
}

/* G g Gᵀ of one channel of the depth, as wino_weights: forward a plane is a part of its place's depth, for the gradient of the
 * input one of its columns. */
static void two_weights(void *arg, size_t k)
{
    const struct wino *j = arg;
    const float *from = j->is_back ? j->weight : j->turned;
    const size_t n = j->out.c, depth = j->in.c;
    for (size_t at = 0; at < n; at += WINO_LANES) {
        wino_vec g[9], t[TWO_FINE * 3], u[TWO_FINE];
        for (size_t p = 0; p < 9; p++)
            g[j->is_back ? 8 - p : p] = *(const wino_vec *)(from + (k * 9 + p) * n + at);
        for (size_t col = 0; col < 3; col++)
            two_g(g + col, 3, t + col, 3);
        for (size_t row = 0; row < TWO_FINE; row++) {
            two_g(t + row * 3, 1, u, 1);
            for (size_t col = 0; col < TWO_FINE; col++) {
                const struct two_plane p = two_plane(row, col);
                float *to = j->panels + p.at * depth * n + at % NR
                            + (j->is_back ? (p.own * n + at) / NR * NR * depth + k * NR
                                          : at / NR * NR * p.planes * depth + (p.own * depth + k) * NR);
                *(wino_vec *)to = u[col] * (two_factor[row % TWO_SIDE] * two_factor[col % TWO_SIDE]);
            }
        }
    }
}

/* One output's gradient of its weights, of [place][out][planes][in]. */
static void two_weights_back(void *arg, size_t out)
{
    const struct wino *j = arg;
    const size_t in = j->in.c, outs = j->out.c;
    for (size_t at = 0; at < in; at += WINO_LANES) {
        wino_vec u[TWO_FINE], t[3 * TWO_FINE], w[3];
        for (size_t col = 0; col < TWO_FINE; col++) {
            for (size_t row = 0; row < TWO_FINE; row++) {
                const struct two_plane p = two_plane(row, col);
                u[row] = *(const wino_vec *)(j->turned + (p.at * outs + out * p.planes + p.own) * in + at);
            }
            two_gt(u, 1, t + col, TWO_FINE);
        }
        for (size_t row = 0; row < 3; row++) {
            float *to = j->y + (out * 9 + row * 3) * in + at;
            two_gt(t + row * TWO_FINE, 1, w, 1);
            for (size_t col = 0; col < 3; col++, to += in)
                if (j->flags & OP_ACCUMULATE)
                    *(wino_vec *)to += w[col];
                else
                    *(wino_vec *)to = w[col];
        }
    }
}
