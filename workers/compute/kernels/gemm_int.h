/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_int.h - the matrix product of the vector variants, over the tile operations that the including file gives.
 *
 * Included once per variant, after MR (rows of a tile), NR (columns of a panel), the tile operations of tile_int.h, and PAIRS
 * where the variant has those of pairs. A pair of bf16 has the room of a float, so a product of pairs is this one over half the
 * depth.
 *
 * Layout: B is cut into panels of NR columns, each [k][NR] contiguous over all k and padded with zeros, so the kernel's
 * loads are whole vectors in order. A is read in place by broadcasts; of a transposed A, whose steps of a row each are pages and
 * sets of the cache that lie alike, a block is copied first, in the order of its tiles.
 * Loops: a chunk of panels that stays in L2 -> tasks of MC rows by 128 columns (256 where A is copied), which threads share ->
 * KC steps of k (a panel's slice stays in L1) -> panels -> tiles of MR rows.
 * Maths: the tile is loaded back between the KC steps, which is exact, so each element is one fused chain over ascending k,
 * started from 0 or, with OP_ACCUMULATE, from the old value: blocking, batch and register width do not show in the bits. */
#include "core/base/assert.h"
#include "workers/compute/kernels/cpu_int.h"

#include <string.h>

enum { KC = 192, MC = 96, GROUP = 128 / NR, CHUNK_BYTES = 1 << 20, TASKS_LEFT = 8 };

struct gemm;
/* Rows of A by `width` columns of a panel over one step of k, to c. */
typedef void tile_fn(const struct gemm *g, size_t rows, size_t depth, const float *a, const float *panel, float *c, size_t width,
                     bool has_c);

struct gemm {
    unsigned flags;
    size_t m, n, k, panel_k;    /* panel_k: depth of a panel in memory, at least k */
    const float *a;
    size_t a_row, a_step;
    const float *panels;        /* of columns 0 … n-1 */
    const float *bias;          /* of column 0, or NULL */
    const float *add;           /* CONV_ADD: laid out as c, or NULL */
    float *c;
    size_t c_row;
    tile_fn *tile;
};

static size_t panels_of(size_t n)
{
    return (n + NR - 1) / NR;
}

/* Columns from … from+NR of B into one panel [k][NR]. */
static void pack_panel(const struct mat *b, bool is_transposed, size_t from, size_t k, float *dst)
{
    size_t n = is_transposed ? b->rows : b->cols;
    size_t width = n - from < NR ? n - from : NR;
    const float *src = b->ptr;
    if (width < NR)
        memset(dst, 0, k * NR * sizeof *dst);
    if (!is_transposed) {
        for (size_t p = 0; p < k; p++)
            memcpy(dst + p * NR, src + p * b->stride + from, width * sizeof *dst);
        return;
    }
    src += from * b->stride;
    size_t j = 0;
    for (; j + 8 <= width; j += 8) {
        size_t p = 0;
        for (; p + 8 <= k; p += 8)
            transpose8(src + j * b->stride + p, b->stride, dst + p * NR + j, NR);
        for (; p < k; p++)
            for (size_t l = 0; l < 8; l++)
                dst[p * NR + j + l] = src[(j + l) * b->stride + p];
    }
    for (; j < width; j++)
        for (size_t p = 0; p < k; p++)
            dst[p * NR + j] = src[j * b->stride + p];
}

/* Bias, what is added and ReLU on a finished tile, while it is in L1. */
static inline void finish_tile(const struct gemm *g, float *c, size_t rows, size_t col, size_t width)
{
    if (g->flags & MM_BIAS)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < width; j++)
                c[i * g->c_row + j] += g->bias[col + j];
    if (g->flags & CONV_ADD)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < width; j++)
                c[i * g->c_row + j] += g->add[(size_t)(c - g->c) + i * g->c_row + j];
    if (g->flags & MM_RELU)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < width; j++)
                c[i * g->c_row + j] = c[i * g->c_row + j] > 0 ? c[i * g->c_row + j] : 0;
}

#define ROWS(name) name
#include "workers/compute/kernels/tile_rows_int.h"
#undef ROWS
#ifdef PAIRS
#define ROWS(name) pair_##name
#include "workers/compute/kernels/tile_rows_int.h"
#undef ROWS
#define PAIR_TILE pair_one_tile
#else
#define PAIR_TILE one_tile          /* never asked for: a variant without pairs rounds (round_int.h) */
#endif

/* Over numbers, or with OP_BF16 over pairs of them. */
static tile_fn *tile_of(unsigned flags)
{
    return flags & OP_BF16 ? PAIR_TILE : one_tile;
}

/* Rows i0 … i1 by one panel over one step of k; `a` is row i0 at k0, and the next tile's is a_tile further. */
static void panel_tiles(const struct gemm *g, size_t i0, size_t i1, size_t col, size_t k0, size_t depth, const float *a,
                        size_t a_tile)
{
    const float *panel = g->panels + col / NR * (g->panel_k * NR) + k0 * NR;
    size_t width = g->n - col < NR ? g->n - col : NR;
    bool has_c = k0 > 0 || (g->flags & OP_ACCUMULATE), is_last = k0 + depth == g->k;
    for (size_t i = i0; i < i1; i += MR, a += a_tile) {
        size_t rows = i1 - i < MR ? i1 - i : MR;
        float *c = g->c + i * g->c_row + col;
        g->tile(g, rows, depth, a, panel, c, width, has_c);
        if (is_last)
            finish_tile(g, c, rows, col, width);
    }
}

static void panel_step(const struct gemm *g, size_t i0, size_t i1, size_t col, size_t k0, size_t depth)
{
    panel_tiles(g, i0, i1, col, k0, depth, g->a + i0 * g->a_row + k0 * g->a_step, MR * g->a_row);
}

/* One row: weights are read once, so the walk over them is all there is; four panels at a time are four streams. */
static void one_row(void *arg, size_t task)
{
    const struct gemm *g = arg;
    _Alignas(64) float y[4 * NR];
    size_t col = task * 4 * NR, left = panels_of(g->n - col), panels = left < 4 ? left : 4;
    size_t width = g->n - col < panels * NR ? g->n - col : panels * NR;
    row_times_panels(g->k, g->a, g->panels + col / NR * (g->panel_k * NR), g->panel_k * NR, panels, y);
    memcpy(g->c + col, y, width * sizeof *y);
    finish_tile(g, g->c + col, 1, col, width);
}

/* A transposed A whose rows are longer than a tile is high. */
static bool has_far_steps(const struct gemm *g)
{
    return g->a_row == 1 && g->a_step > MR;
}

/* Panels of a task. A copy of A's block serves twice as many, where enough tasks are left. */
static size_t group_of(const struct gemm *g)
{
    return has_far_steps(g) && (g->m + MC - 1) / MC * (panels_of(g->n) / (2 * GROUP)) >= TASKS_LEFT ? 2 * GROUP : GROUP;
}

static size_t groups_of(const struct gemm *g)
{
    return (panels_of(g->n) + group_of(g) - 1) / group_of(g);
}

/* Rows i0 … i1 of a transposed A over one step of k: [tile][k][MR]. */
static void copy_tiles(const struct gemm *g, size_t i0, size_t i1, size_t k0, size_t depth, float *to)
{
    for (size_t k = 0; k < depth; k++, to += MR) {
        const float *from = g->a + i0 + (k0 + k) * g->a_step;
        size_t i = 0;
        for (; i + MR <= i1 - i0; i += MR)
            memcpy(to + i * depth, from + i, MR * sizeof *to);
        if (i < i1 - i0)
            memcpy(to + i * depth, from + i, (i1 - i0 - i) * sizeof *to);
    }
}

/* MC rows by a group of panels over all of k. */
static void one_block(void *arg, size_t task)
{
    const struct gemm *g = arg;
    _Alignas(64) float room[MC * KC];
    size_t groups = groups_of(g), wide = group_of(g) * NR;
    size_t i0 = task / groups * MC, i1 = g->m - i0 < MC ? g->m : i0 + MC;
    size_t n0 = task % groups * wide, n1 = g->n - n0 < wide ? g->n : n0 + wide;
    bool is_copied = has_far_steps(g) && n1 - n0 > NR;
    struct gemm copied = *g;
    copied.a_step = MR;
    for (size_t k0 = 0; k0 < g->k; k0 += KC) {
        size_t depth = g->k - k0 < KC ? g->k - k0 : KC;
        if (is_copied)
            copy_tiles(g, i0, i1, k0, depth, room);
        for (size_t col = n0; col < n1; col += NR)
            if (is_copied)
                panel_tiles(&copied, i0, i1, col, k0, depth, room, MR * depth);
            else
                panel_step(g, i0, i1, col, k0, depth);
    }
}

static void run_gemm(struct backend_ctx *ctx, struct gemm *g)
{
    double work = (double)g->m * (double)g->n * (double)g->k;
    size_t panels = panels_of(g->n);
    if (g->m == 1 && g->a_step == 1 && !(g->flags & OP_ACCUMULATE) && g->tile == one_tile)
        cpu_split(ctx, (panels + 3) / 4, work, one_row, g);
    else
        cpu_split(ctx, (g->m + MC - 1) / MC * groups_of(g), work, one_block, g);
}

/* A product without depth: what is left is the epilogue. */
static void empty_product(struct gemm *g)
{
    for (size_t i = 0; i < g->m; i++) {
        if (!(g->flags & OP_ACCUMULATE))
            memset(g->c + i * g->c_row, 0, g->n * sizeof *g->c);
        finish_tile(g, g->c + i * g->c_row, 1, 0, g->n);
    }
}

#include "workers/compute/kernels/gemm_pack_int.h"
#include "workers/compute/kernels/gemm_turned_int.h"

static void matmul(struct backend_ctx *ctx, unsigned flags, const struct mat *a, const struct mat *b, const struct mat *bias,
                   const struct mat *out)
{
    bool ta = flags & MM_TRANS_A, tb = flags & MM_TRANS_B;
    size_t k = ta ? a->rows : a->cols;
    ASSERT(out->type == ELEM_F32 && a->type == ELEM_F32 && b->type == ELEM_F32 && !bias == !(flags & MM_BIAS));
    ASSERT((ta ? a->cols : a->rows) == out->rows && (tb ? b->rows : b->cols) == out->cols && (tb ? b->cols : b->rows) == k);
    struct gemm g = { .flags = flags, .m = out->rows, .n = out->cols, .k = k, .panel_k = k, .a = a->ptr,
                      .a_row = ta ? 1 : a->stride, .a_step = ta ? a->stride : 1, .bias = bias ? bias->ptr : NULL, .c = out->ptr,
                      .c_row = out->stride, .tile = tile_of(flags) };
    if (k == 0) {
        empty_product(&g);
        return;
    }
    if (is_better_turned(&g)) {
        matmul_turned(ctx, &g, a, b);
        return;
    }
    size_t all = panels_of(g.n), chunk = CHUNK_BYTES / (k * NR * sizeof(float));
    chunk = chunk < GROUP ? GROUP : chunk / GROUP * GROUP;
    chunk = chunk < all ? chunk : all;
    float *panels = cpu_scratch(ctx, chunk * k * NR * sizeof *panels);
    g.panels = panels;
    for (size_t first = 0; first < all; first += chunk) {
        size_t count = all - first < chunk ? all - first : chunk, col = first * NR;
        pack_panels(ctx, b, tb, col, count, k, panels);
        struct gemm part = g;
        part.n = g.n - col < count * NR ? g.n - col : count * NR;
        part.c = g.c + col;
        part.bias = g.bias ? g.bias + col : NULL;
        run_gemm(ctx, &part);
    }
}

static size_t pack_bytes(size_t n, size_t k)
{
    return panels_of(n) * NR * k * sizeof(float);
}

static void pack(struct backend_ctx *ctx, const struct mat *w, const struct mat *ret)
{
    ASSERT(w->type == ELEM_F32 && ret->cols >= pack_bytes(w->rows, w->cols));
    pack_panels(ctx, w, true, 0, panels_of(w->rows), w->cols, ret->ptr);
}

static void matmul_packed(struct backend_ctx *ctx, unsigned flags, const struct mat *x, const struct mat *w, size_t n, size_t k,
                          const struct mat *bias, const struct mat *out)
{
    ASSERT(x->cols == k && out->cols == n && out->rows == x->rows && k > 0 && x->type == ELEM_F32 && !bias == !(flags & MM_BIAS));
    struct gemm g = { .flags = flags & (MM_BIAS | MM_RELU), .m = x->rows, .n = n, .k = k, .panel_k = k, .a = x->ptr,
                      .a_row = x->stride, .a_step = 1, .panels = w->ptr, .bias = bias ? bias->ptr : NULL, .c = out->ptr,
                      .c_row = out->stride, .tile = one_tile };
    run_gemm(ctx, &g);
}
