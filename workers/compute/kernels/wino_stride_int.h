/* SPDX-License-Identifier: Apache-2.0 */
/* wino_stride_int.h - a convolution with windows of 3 × 3 at stride 2 by 9/16 of its multiplications; included by conv_int.h
 * after wino_int.h.
 *
 * At stride 2 the window meets four images, of the pixels that lie alike to the stride, by 2 × 2, 2 × 1, 1 × 2 and 1 × 1
 * of its taps. Each goes by F(4 × 4, 2 × 2), with zeros for the taps that it lacks, and as all four meet in the same
 * places of 5 × 5, their sum is the depth of one product for each place: 81 multiplications for a channel and a tile of 4
 * × 4 results where the direct form has 144, and only 25 numbers to be turned back. The gradient of the input has the four
 * images as columns in place of depth. Bits, order and what an infinity does: as in wino_int.h. */
#include "workers/compute/kernels/wino_stride_turn_int.h"

/* One place of a chunk: tiles × planes·in × out. */
static void two_multiply(void *arg, size_t place)
{
    const struct wino *j = arg;
    const struct two_plane p = two_place(place);
    const size_t k = p.planes * j->in.c, n = j->out.c;
    struct gemm g = { .m = j->count, .n = n, .k = k, .panel_k = k, .a = j->v + p.at * j->chunk * j->in.c, .a_row = k,
                      .a_step = 1, .panels = j->panels + p.at * j->in.c * n, .c = j->m + place * j->chunk * n, .c_row = n,
                      .tile = j->multiply };
    wino_run(&g);
}

/* The same of the gradient of the input: tiles × in × planes·out. */
static void two_multiply_fine(void *arg, size_t place)
{
    const struct wino *j = arg;
    const struct two_plane p = two_place(place);
    const size_t k = j->in.c, n = p.planes * j->out.c;
    struct gemm g = { .m = j->count, .n = n, .k = k, .panel_k = k, .a = j->v + place * j->chunk * k, .a_row = k, .a_step = 1,
                      .panels = j->panels + p.at * j->out.c * k, .c = j->m + p.at * j->chunk * j->out.c, .c_row = n,
                      .tile = j->multiply };
    wino_run(&g);
}

/* And of the weights' gradient: out × tiles × planes·in, added to the chunks before. */
static void two_multiply_back(void *arg, size_t place)
{
    const struct wino *j = arg;
    const struct two_plane p = two_place(place);
    const size_t n = p.planes * j->in.c, m = j->out.c;
    struct gemm g = { .flags = j->first ? OP_ACCUMULATE : 0, .m = m, .n = n, .k = j->count, .panel_k = j->chunk,
                      .a = j->m + place * j->chunk * m, .a_row = 1, .a_step = m,
                      .panels = j->v + p.at * j->chunk * j->in.c, .c = j->turned + p.at * m * j->in.c, .c_row = n,
                      .tile = j->multiply };
    wino_run(&g);
}

/* Is it of the kind that gains: whole panels of channels on both sides, since columns are those of several phases; turned weights
 * take 170 MB at most. */
static bool two_is_for(const struct window *w, unsigned flags)
{
    return w->h == 3 && w->w == 3 && w->stride == 2 && w->pad == 1 && w->x.c % NR == 0 && w->y.c % NR == 0
           && w->x.c * w->y.c <= WINO_PAIRS / 2 && wino_has_room(w, flags);
}

static struct wino two_new(struct backend_ctx *c, const struct image *in, const struct image *out, const struct image *tiles)
{
    struct wino j = { .in = *in, .out = *out, .multiply = tile_of(0), .chunk = WINO_TILES };
    const bool is_fine = tiles == in;           /* tiles are of the coarser image */
    j.th = (tiles->h + WINO_OUT - 1) / WINO_OUT;
    j.tw = (tiles->w + WINO_OUT - 1) / WINO_OUT;
    j.v = cpu_scratch_at(c, SLOT_GATHER, (is_fine ? TWO_PLACES : TWO_PLANES) * j.chunk * in->c * sizeof *j.v);
    j.m = cpu_scratch_at(c, SLOT_TILE, (is_fine ? TWO_PLANES : TWO_PLACES) * j.chunk * out->c * sizeof *j.m);
    return j;
}

/* Forward, or with is_back the gradient of the input of x = dy. */
static void two_conv(struct backend_ctx *c, const struct window *w, bool is_back, const float *x, const float *weight, float *y)
{
    struct wino j = is_back ? two_new(c, &w->y, &w->x, &w->y) : two_new(c, &w->x, &w->y, &w->y);
    const size_t tiles = w->y.n * j.th * j.tw, all = w->x.c * w->y.c * TWO_PLANES;
    j.is_back = is_back, j.x = x, j.weight = weight, j.y = y;
    j.panels = cpu_scratch(c, all * sizeof *j.panels);
    wino_prepare(c, &j, all, two_weights);
    for (; j.first < tiles; j.first += j.chunk) {
        j.count = tiles - j.first < j.chunk ? tiles - j.first : j.chunk;
        const double planes = (double)(j.count * TWO_PLANES);
        cpu_split(c, j.count, planes * (double)w->x.c * 8, is_back ? two_look : two_look_fine, &j);
        cpu_split(c, TWO_PLACES, planes * (double)(w->x.c * w->y.c), is_back ? two_multiply_fine : two_multiply, &j);
        cpu_split(c, j.count, planes * (double)w->x.c * 8, is_back ? two_give_fine : two_give, &j);
    }
}

static void two_back_w(struct backend_ctx *c, const struct window *w, unsigned flags, const float *x, const float *dy, float *dw)
{
    struct wino j = two_new(c, &w->x, &w->y, &w->y);
    const size_t tiles = w->y.n * j.th * j.tw, all = w->x.c * w->y.c * TWO_PLANES;
    j.x = x, j.dy = dy, j.y = dw, j.flags = flags, j.is_panelled = true;
    j.turned = cpu_scratch_at(c, SLOT_TURNED, all * sizeof *j.turned);
    for (; j.first < tiles; j.first += j.chunk) {
        j.count = tiles - j.first < j.chunk ? tiles - j.first : j.chunk;
        const double planes = (double)(j.count * TWO_PLANES);
        cpu_split(c, j.count, planes * (double)w->x.c * 8, two_look_fine, &j);
        cpu_split(c, j.count, planes * (double)w->y.c * 4, two_slope, &j);
        cpu_split(c, TWO_PLACES, planes * (double)(w->x.c * w->y.c), two_multiply_back, &j);
    }
    cpu_split(c, w->y.c, (double)all * 4, two_weights_back, &j);
}
