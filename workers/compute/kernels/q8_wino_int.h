/* SPDX-License-Identifier: Apache-2.0 */
/* q8_wino_int.h - a convolution of bytes with windows of 3 × 3 at stride 1 by 16 multiplications for 36, exact (ADR 0164);
 * included at the end of q8_int.h by the tiers whose product of bytes is one of 16-bit pairs anyway (q8_madd_int.h).
 *
 * Winograd's F(2 × 2, 3 × 3) in whole numbers: a tile of 4 × 4 pixels, less their zero point, is turned by additions alone and
 * fits 16 bits (4 · 255); the weights are turned by 2·G, so that nothing is halved, and fit, too (9 · 128). Products of a place
 * are sums of pairs in 32 bits (512 · 1020 · 1152 < 2^31), the way back is additions that may wrap, and what comes out is four
 * times the direct sum, which fits: the same bits as the reference's, whatever the blocking.
 *
 * Layout: panels are [place][panel][in / 2][QN][2] of 16 bits. x is quantised as for the direct form, with its zero point around
 * it; where a tile reaches past the padding it reads what follows in memory, which meets no result that is kept. */
enum { QW_SIDE = 4, QW_OUT = 2, QW_PLACES = QW_SIDE * QW_SIDE, QW_LANES = 16, QW_SERVED = 8192 /* pairs of channels */,
       QW_BYTES = 384 << 10, QW_TILES = 192, QW_RUN = 8, SLOT_QW = 3, SLOT_QW_SUM = 4 };

typedef int16_t qw_vec __attribute__((vector_size(2 * QW_LANES), aligned(2), may_alias));
typedef uint8_t qw_bytes __attribute__((vector_size(QW_LANES), aligned(1), may_alias));

struct qw {
    const struct q8 *q;
    size_t th, tw;              /* tiles of an image */
    size_t first, count, chunk;
    size_t v_step, m_step;      /* from place to place, a line of the cache more than the chunk */
    int16_t *v;                 /* [place][tile][in] */
    int32_t *m;                 /* [place][tile][out] */
    const int16_t *panels;
};

static size_t q8_windows_bytes(const struct op_attr *a, size_t high, size_t wide)
{
    const size_t in = a->window[0] == 3 && a->window[1] == 3 ? a->k / 9 : 0, out = a->n;
    if (!in || a->stride != 1 || a->pad > 2 || in % QW_LANES || out % QW_LANES || in > QW_SERVED / QW_LANES
        || in * out > QW_SERVED || high + 2 * a->pad < QW_SIDE || wide + 2 * a->pad < QW_SIDE)
        return 0;
    return QW_PLACES * q8_panels(out) * QN * in * sizeof(int16_t);
}

/* --- weights --- */

static void qw_side(const int *g, size_t s, int *u, size_t t)
{
    u[0] = 2 * g[0];
    u[t] = g[0] + g[s] + g[2 * s];
    u[2 * t] = g[0] - g[s] + g[2 * s];
    u[3 * t] = 2 * g[2 * s];
}

struct qw_pack {
    const int8_t *w;            /* [out][9][in] */
    size_t in, out;
    int16_t *to;
};

static void qw_pack_one(void *arg, size_t out)
{
    const struct qw_pack *j = arg;
    const size_t step = q8_panels(j->out) * QN * j->in;
    int16_t *to = j->to + out / QN * (QN * j->in) + out % QN * 2;
    for (size_t k = 0; k < j->in; k++) {
        int g[9], t[QW_SIDE * 3], u[QW_PLACES];
        for (size_t p = 0; p < 9; p++)
            g[p] = j->w[(out * 9 + p) * j->in + k];
        for (size_t col = 0; col < 3; col++)
            qw_side(g + col, 3, t + col, 3);
        for (size_t row = 0; row < QW_SIDE; row++)
            qw_side(t + row * 3, 1, u + row * QW_SIDE, 1);
        for (size_t p = 0; p < QW_PLACES; p++)
            to[p * step + k / 2 * (QN * 2) + k % 2] = (int16_t)u[p];
    }
}

static void k_qwino_pack(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *w = o->in[0];
    ASSERT(w->type == ELEM_I8 && w->rank == 4 && w->dim[1] == 3 && w->dim[2] == 3);
    struct qw_pack j = { w->ptr, w->dim[3], w->dim[0], o->out[0]->ptr };
    size_t bytes = QW_PLACES * q8_panels(j.out) * QN * j.in * sizeof *j.to;
    ASSERT(tensor_count(o->out[0]) >= bytes && j.in % 2 == 0);
    memset(j.to, 0, bytes);
    cpu_split(c, j.out, (double)bytes * 4, qw_pack_one, &j);
}

/* --- tiles --- */

/* A tile of the chunk; the next one is a step, not three divisions. */
struct qw_at {
    size_t n, y, x;
};

static struct qw_at qw_begin(const struct qw *j, size_t task)
{
    const size_t tile = j->first + task * QW_RUN, row = tile / j->tw;
    return (struct qw_at){ row / j->th, row % j->th * QW_OUT, tile % j->tw * QW_OUT };
}

static inline void qw_next(const struct qw *j, struct qw_at *at)
{
    at->x += QW_OUT;
    if (at->x < j->tw * QW_OUT)
        return;
    at->x = 0;
    at->y += QW_OUT;
    if (at->y < j->th * QW_OUT)
        return;
    at->y = 0;
    at->n++;
}

static size_t qw_end(const struct qw *j, size_t task)
{
    return (task + 1) * QW_RUN < j->count ? (task + 1) * QW_RUN : j->count;
}

static inline __attribute__((always_inline)) void qw_turn(const qw_vec *d, size_t s, qw_vec *t)
{
    t[0] = d[0] - d[2 * s];
    t[1] = d[s] + d[2 * s];
    t[2] = d[2 * s] - d[s];
    t[3] = d[s] - d[3 * s];
}

static inline void qw_look_one(const struct qw *j, const uint8_t *u, size_t wide, size_t c, qw_vec zero, int16_t *v)
{
    const size_t step = j->v_step;
    for (size_t at = 0; at < c; at += QW_LANES) {
        qw_vec d[QW_PLACES], t[QW_PLACES], o[QW_SIDE];
#pragma GCC unroll 16
        for (size_t p = 0; p < QW_PLACES; p++)
            d[p] = __builtin_convertvector(*(const qw_bytes *)(u + p / QW_SIDE * wide + p % QW_SIDE * c + at), qw_vec) - zero;
#pragma GCC unroll 4
        for (size_t col = 0; col < QW_SIDE; col++)
            qw_turn(d + col, QW_SIDE, t + col * QW_SIDE);       /* t: [column][row] */
        int16_t *to = v + at;
#pragma GCC unroll 4
        for (size_t row = 0; row < QW_SIDE; row++) {
            qw_turn(t + row, QW_SIDE, o);
#pragma GCC unroll 4
            for (size_t col = 0; col < QW_SIDE; col++, to += step)
                *(qw_vec *)to = o[col];
        }
    }
}

static void qw_look(void *arg, size_t task)
{
    const struct qw *j = arg;
    const struct q8 *q = j->q;
    const size_t c = q->w.x.c;
    struct qw_at at = qw_begin(j, task);
    for (size_t i = task * QW_RUN, end = qw_end(j, task); i < end; i++, qw_next(j, &at))
        qw_look_one(j, q->u + at.n * q->image_bytes + at.y * q->wide + at.x * c, q->wide, c,
                    (qw_vec){ 0 } + (int16_t)q8_at(q, at.n)->zero, j->v + i * c);
}

static inline __attribute__((always_inline)) void qw_pairs(size_t halves, size_t rows, const int16_t *v, size_t v_row,
                                                           size_t pairs, const int16_t *panel, int32_t *m, size_t m_row)
{
    switch (rows) {     /* a constant per case, so each becomes its own unrolled loop */
    case 1: pair_cols(halves, 1, v, v_row, pairs, panel, m, m_row); break;
    case 2: pair_cols(halves, 2, v, v_row, pairs, panel, m, m_row); break;
    case 3: pair_cols(halves, 3, v, v_row, pairs, panel, m, m_row); break;
#if QR > 4
    case 4: pair_cols(halves, 4, v, v_row, pairs, panel, m, m_row); break;
    case 5: pair_cols(halves, 5, v, v_row, pairs, panel, m, m_row); break;
    case 6: pair_cols(halves, 6, v, v_row, pairs, panel, m, m_row); break;
    case 7: pair_cols(halves, 7, v, v_row, pairs, panel, m, m_row); break;
#endif
    default: pair_cols(halves, QR, v, v_row, pairs, panel, m, m_row); break;
    }
}

static void qw_multiply(void *arg, size_t place)
{
    const struct qw *j = arg;
    const size_t in = j->q->w.x.c, out = j->q->n, panels = q8_panels(out);
    for (size_t p = 0; p < panels; p++)
        for (size_t i = 0; i < j->count; i += QR) {
            const int16_t *v = j->v + place * j->v_step + i * in, *panel = j->panels + (place * panels + p) * QN * in;
            int32_t *m = j->m + place * j->m_step + i * out + p * QN;
            size_t rows = j->count - i < QR ? j->count - i : QR;
            if (out - p * QN < QN)
                qw_pairs(1, rows, v, in, in / 2, panel, m, out);
            else
                qw_pairs(2, rows, v, in, in / 2, panel, m, out);
        }
}

/* Half a panel of a tile's results, rows × cols of them. */
static inline void qw_give_one(const struct qw *j, const struct q8_item *item, const int32_t *from, size_t rows, size_t cols,
                               size_t col0, size_t to)
{
    const struct q8 *q = j->q;
    const size_t step = j->m_step, k = q->n, line = q->w.y.w * k;
    q8_bits m[QW_PLACES], t[QW_OUT][QW_SIDE];
#pragma GCC unroll 16
    for (size_t p = 0; p < QW_PLACES; p++)
        m[p] = *(const q8_bits *)(from + p * step);
#pragma GCC unroll 4
    for (size_t col = 0; col < QW_SIDE; col++) {
        t[0][col] = m[col] + m[4 + col] + m[8 + col];
        t[1][col] = m[4 + col] - m[8 + col] - m[12 + col];
    }
#pragma GCC unroll 2
    for (size_t row = 0; row < QW_OUT; row++) {
        const q8_bits four[QW_OUT] = { t[row][0] + t[row][1] + t[row][2], t[row][1] - t[row][2] - t[row][3] };
        size_t at = to + row * line;
        if (row >= rows)
            break;
        q8_end(q, item, (q8_ints)four[0] >> 2, col0, q->y + at, q->add ? q->add + at : NULL);
        if (cols > 1)
            q8_end(q, item, (q8_ints)four[1] >> 2, col0, q->y + at + k, q->add ? q->add + at + k : NULL);
    }
}

static void qw_give(void *arg, size_t task)
{
    const struct qw *j = arg;
    const struct q8 *q = j->q;
    const struct image *y = &q->w.y;
    struct qw_at at = qw_begin(j, task);
    for (size_t i = task * QW_RUN, end = qw_end(j, task); i < end; i++, qw_next(j, &at))
        for (size_t col = 0; col < q->n; col += QN / 2)
            qw_give_one(j, q8_at(q, at.n), j->m + i * q->n + col, y->h - at.y, y->w - at.x, col,
                        ((at.n * y->h + at.y) * y->w + at.x) * q->n + col);
}

static void k_qconv2d_wino(struct backend_ctx *c, const struct op_call *o)
{
    const struct window w = window_of(&o->attr, o->in[0], o->out[0]);
    ASSERT(w.h == 3 && w.w == 3 && w.stride == 1 && o->attr.n == w.y.c && o->attr.k == 9 * w.x.c);
    struct q8 q = q8_conv_of(o, &w);
    q8_quantise(c, o, &q, q.wide + q.pixel_bytes + QW_LANES);
    struct qw j = { .q = &q, .th = (w.y.h + 1) / QW_OUT, .tw = (w.y.w + 1) / QW_OUT, .panels = o->in[1]->ptr };
    const size_t tiles = w.y.n * j.th * j.tw, each = QW_PLACES * (w.x.c * sizeof *j.v + w.y.c * sizeof *j.m);
    j.chunk = QW_BYTES / each / QR * QR;
    j.chunk = j.chunk < QR ? QR : j.chunk < QW_TILES ? j.chunk : QW_TILES;
    j.v_step = j.chunk * w.x.c + 32;
    j.m_step = j.chunk * w.y.c + 16;
    j.v = cpu_scratch_at(c, SLOT_QW, QW_PLACES * j.v_step * sizeof *j.v);
    j.m = cpu_scratch_at(c, SLOT_QW_SUM, QW_PLACES * j.m_step * sizeof *j.m);
    for (; j.first < tiles; j.first += j.chunk) {
        j.count = tiles - j.first < j.chunk ? tiles - j.first : j.chunk;
        const double cells = (double)(j.count * QW_PLACES);
        const size_t runs = (j.count + QW_RUN - 1) / QW_RUN;
        cpu_split(c, runs, cells * (double)w.x.c * 4, qw_look, &j);
        cpu_split(c, QW_PLACES, cells * (double)(w.x.c * w.y.c), qw_multiply, &j);
        cpu_split(c, runs, cells * (double)w.y.c * 4, qw_give, &j);
    }
}

#define KERNELS_QW [OP_QWINO_PACK][ELEM_I8] = k_qwino_pack, [OP_QCONV2D_WINO][ELEM_F32] = k_qconv2d_wino
