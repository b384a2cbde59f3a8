/* SPDX-License-Identifier: Apache-2.0 */
/* wino_int.h - a convolution with windows of 3 × 3 at stride 1 by a quarter of its multiplications; included by conv_int.h.
 *
 * Winograd's minimal filtering F(4 × 4, 3 × 3) (Lavin, Gray 2016): 16 results of a tile are made of 36 products in place of 144.
 * A tile of 6 × 6 numbers and the weights are turned into 36 places (B d Bᵀ, G g Gᵀ), the channels of each place are one product
 * of matrices, tiles × in × out, and its result is turned back (Aᵀ M A). The gradient of the input is the same over dy with the
 * window turned round, that of the weights the chain rule through the same matrices: Gᵀ [ (A dy Aᵀ)ᵀ · (B x Bᵀ) ] G.
 *
 * Points: 0, 1, -1, 1/2, -2 and infinity. Their spread makes the result's error 2.4 times that of the direct chain (rms of 256
 * channels 2.0e-6 against 8.5e-7, measured); the usual 0, ±1, ±2 would make it 4 times. But for the factors of G, which are
 * multiplied last of all, every constant is a power of two: a product with it is exact, so that it does not show in the bits
 * whether a compiler fuses it with the sum behind it.
 *
 * A tile looks into its own image alone, so an image has the same bits in any batch; the gradient of the weights adds up chunks
 * of tiles that the shape alone cuts, in ascending order. An infinity or NaN spreads over its tile, to neighbours that the direct
 * chain would have left alone: a training skips such a step. Served models take this way, too (wino_packed_int.h). */
#include "workers/compute/kernels/wino_turn_int.h"

static void wino_run(struct gemm *g)
{
    const size_t blocks = (g->m + MC - 1) / MC * groups_of(g);
    for (size_t b = 0; b < blocks; b++)
        one_block(g, b);
}

/* One place of a chunk: tiles × in × out. */
static void wino_multiply(void *arg, size_t place)
{
    const struct wino *j = arg;
    const size_t k = j->in.c, n = j->out.c;
    struct gemm g = { .m = j->count, .n = n, .k = k, .panel_k = k, .a = j->v + place * j->v_step, .a_row = k, .a_step = 1,
                      .panels = j->panels + place * panels_of(n) * NR * k, .c = j->m + place * j->m_step, .c_row = n,
                      .tile = j->multiply };
    wino_run(&g);
}

/* The same of the weights' gradient: out × tiles × in, added to the chunks before. */
static void wino_multiply_back(void *arg, size_t place)
{
    const struct wino *j = arg;
    const size_t n = j->in.c, m = j->out.c;
    struct gemm g = { .flags = j->first ? OP_ACCUMULATE : 0, .m = m, .n = n, .k = j->count, .panel_k = j->chunk,
                      .a = j->m + place * j->m_step, .a_row = 1, .a_step = m,
                      .panels = j->v + place * panels_of(n) * j->chunk * NR, .c = j->turned + place * m * n, .c_row = n,
                      .tile = j->multiply };
    wino_run(&g);
}

/* No end of the product, whole vectors of channels and at least two, turned weights that have room, and tiles that are not mostly
 * outside. */
static bool wino_has_room(const struct window *w, unsigned flags)
{
    const size_t inside = w->y.h * w->y.w, tiles = (w->y.h + WINO_OUT - 1) / WINO_OUT * ((w->y.w + WINO_OUT - 1) / WINO_OUT);
    return !(flags & ~(unsigned)OP_ACCUMULATE) && w->x.c % WINO_LANES == 0 && w->y.c % WINO_LANES == 0
           && w->x.c >= 2 * WINO_LANES && w->y.c >= 2 * WINO_LANES && w->x.c <= WINO_CHANNELS && w->y.c <= WINO_CHANNELS
           && w->x.c * w->y.c <= WINO_PAIRS && tiles * WINO_OUT * WINO_OUT * 2 <= inside * 3;
}

static bool wino_is_for(const struct window *w, unsigned flags)
{
    return w->h == 3 && w->w == 3 && w->stride == 1 && w->pad <= 2 && wino_has_room(w, flags);
}

static struct wino wino_new(struct backend_ctx *c, const struct image *in, const struct image *out, size_t pad, unsigned flags,
                            size_t chunk)
{
    struct wino j = { .in = *in, .out = *out, .pad = pad, .flags = flags, .multiply = tile_of(0), .chunk = chunk };
    j.th = (out->h + WINO_OUT - 1) / WINO_OUT;
    j.tw = (out->w + WINO_OUT - 1) / WINO_OUT;
    j.v_step = chunk * in->c + WINO_LINE;
    j.m_step = chunk * out->c + WINO_LINE;
    j.v = cpu_scratch_at(c, SLOT_GATHER, WINO_PLACES * (chunk * panels_of(in->c) * NR + WINO_LINE) * sizeof *j.v);
    j.m = cpu_scratch_at(c, SLOT_TILE, WINO_PLACES * j.m_step * sizeof *j.m);
    return j;
}

/* Weights into panels. Their vectors go along the columns of the product: as they lie in memory for the gradient of the input. */
static void wino_prepare(struct backend_ctx *c, struct wino *j, size_t all, void (*turn)(void *arg, size_t k))
{
    if (!j->is_back) {
        j->turned = cpu_scratch_at(c, SLOT_TURNED, 9 * j->in.c * j->out.c * sizeof *j->turned);
        cpu_split(c, j->out.c / 8, (double)all, wino_transpose, j);
    }
    cpu_split(c, j->in.c, (double)all * 4, turn, j);
}

static void wino_chunks(struct backend_ctx *c, struct wino *j)
{
    const size_t tiles = j->out.n * j->th * j->tw;
    for (; j->first < tiles; j->first += j->chunk) {
        j->count = tiles - j->first < j->chunk ? tiles - j->first : j->chunk;
        const double cells = (double)(j->count * WINO_PLACES);
        cpu_split(c, j->count, cells * (double)j->in.c * 8, wino_look, j);
        cpu_split(c, WINO_PLACES, cells * (double)(j->in.c * j->out.c), wino_multiply, j);
        cpu_split(c, j->count, cells * (double)j->out.c * 8, wino_give, j);
    }
}

/* `out` of `in`: forward, or with is_back the gradient of the input, where `in` is dy's image. */
static void wino_conv(struct backend_ctx *c, const struct window *w, bool is_back, const float *x, const float *weight, float *y)
{
    struct wino j = wino_new(c, is_back ? &w->y : &w->x, is_back ? &w->x : &w->y, is_back ? 2 - w->pad : w->pad, 0,
                             WINO_TILES);
    const size_t all = j.in.c * j.out.c * WINO_PLACES;
    j.is_back = is_back, j.x = x, j.weight = weight, j.y = y;
    j.panels = cpu_scratch(c, WINO_PLACES * panels_of(j.out.c) * NR * j.in.c * sizeof *j.panels);
    wino_prepare(c, &j, all, wino_weights);
    wino_chunks(c, &j);
}

static void wino_back_w(struct backend_ctx *c, const struct window *w, unsigned flags, const float *x, const float *dy, float *dw)
{
    struct wino j = wino_new(c, &w->x, &w->y, w->pad, flags, WINO_TILES);
    const size_t tiles = j.out.n * j.th * j.tw;
    j.x = x, j.dy = dy, j.y = dw, j.is_panelled = true;
    j.turned = cpu_scratch_at(c, SLOT_TURNED, WINO_PLACES * j.in.c * j.out.c * sizeof *j.turned);
    if (j.in.c % NR)                    /* the last panel's other half stays zero */
        memset(j.v, 0, WINO_PLACES * j.chunk * panels_of(j.in.c) * NR * sizeof *j.v);
    for (; j.first < tiles; j.first += j.chunk) {
        j.count = tiles - j.first < j.chunk ? tiles - j.first : j.chunk;
        const double cells = (double)(j.count * WINO_PLACES);
        cpu_split(c, j.count, cells * (double)j.in.c * 8, wino_look, &j);
        cpu_split(c, j.count, cells * (double)j.out.c * 8, wino_slope, &j);
        cpu_split(c, WINO_PLACES, cells * (double)(j.in.c * j.out.c), wino_multiply_back, &j);
    }
    cpu_split(c, j.out.c, (double)(j.in.c * j.out.c * WINO_PLACES) * 4, wino_weights_back, &j);
}
