/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_turned_int.h - x·wᵀ of few rows, as (w·xᵀ)ᵀ: it is x that becomes panels, and w, by far the larger one, is read in place.
 * An element stays the same chain of sums. A part of gemm_int.h, which includes it where what it calls is known. */
struct turned {
    const struct gemm *of;
    float *y;                   /* yᵀ, dense */
};

/* Eight rows of y from yᵀ, and what follows a product. */
static void turn_back(void *arg, size_t task)
{
    const struct turned *t = arg;
    const struct gemm *g = t->of;
    size_t i0 = task * 8, rows = g->m - i0 < 8 ? g->m - i0 : 8, whole = rows == 8 ? g->n / 8 * 8 : 0;
    float *c = g->c + i0 * g->c_row;
    for (size_t j = 0; j < whole; j += 8)
        transpose8(t->y + j * g->m + i0, g->m, c + j, g->c_row);
    for (size_t j = whole; j < g->n; j++)
        for (size_t i = 0; i < rows; i++)
            c[i * g->c_row + j] = t->y[j * g->m + i0 + i];
    finish_tile(g, c, rows, 0, g->n);
}

/* Where x fits the panels of a chunk with little of them empty, and turning it and y back is less than turning w. */
static bool is_better_turned(const struct gemm *g)
{
    size_t room = panels_of(g->m) * NR;
    return (g->flags & (MM_TRANS_A | MM_TRANS_B | OP_ACCUMULATE | OP_BF16)) == MM_TRANS_B && room <= g->m + g->m / 4
           && room * g->k * sizeof(float) <= CHUNK_BYTES && g->m * g->k + 2 * g->m * g->n < g->n * g->k;
}

static void matmul_turned(struct backend_ctx *ctx, const struct gemm *g, const struct mat *x, const struct mat *w)
{
    size_t count = panels_of(g->m);
    float *panels = cpu_scratch(ctx, count * NR * g->k * sizeof *panels);
    struct turned t = { g, cpu_scratch_at(ctx, SLOT_PRODUCT, g->n * g->m * sizeof *t.y) };
    struct gemm other = { .m = g->n, .n = g->m, .k = g->k, .panel_k = g->k, .a = w->ptr, .a_row = w->stride, .a_step = 1,
                          .panels = panels, .c = t.y, .c_row = g->m, .tile = g->tile };
    pack_panels(ctx, x, true, 0, count, g->k, panels);
    run_gemm(ctx, &other);
    cpu_split(ctx, (g->m + 7) / 8, (double)g->m * (double)g->n * 4, turn_back, &t);
}
