/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_product.c - products of bf16 tensors by the project's own tiles, where the shape allows it (strip_int.h).
 *
 * The depth is cut where both factors lie across it, as those of a weight's gradient do: there it is the batch itself, and a
 * small matrix over many rows would give most of a card nothing to do. Into how many parts says the shape alone, for any card.
 * A row of any other product has the same bits in any batch. */
#include "workers/compute/kernels/cuda/cuda_ops_int.h"

enum { SIDE = 128, DEPTH = 64, SLOTS = 264, PARTS_MAX = 16, PART_LEAST = 8 * DEPTH };    /* slots: two tiles on each of 132 */
enum { STRIDE_END = 1 << 27 };      /* 16 of them are counted in 32 bits */

static bool is_eight(size_t n) { return n % 8 == 0; }
static bool is_at_16(const void *p) { return (uintptr_t)p % 16 == 0; }

/* Parts that the depth is cut into: those that keep SLOTS busiest; a part more must be worth its way through memory. */
static size_t parts_of(size_t m, size_t n, size_t k)
{
    size_t tiles = over(m, SIDE) * over(n, SIDE), best = 1;
    double least = (double)over(tiles, SLOTS);
    for (size_t p = 2; p <= PARTS_MAX && p * PART_LEAST <= k; p++) {
        double turns = (double)over(tiles * p, SLOTS) / (double)p + 0.01 * (double)p;
        if (turns < least) {
            least = turns;
            best = p;
        }
    }
    return best;
}

/* Each part goes to a matrix of its own, then they are added. */
static void cut(struct backend_ctx *c, enum kernel k, const struct product_strip_args *p, size_t tiles, size_t parts)
{
    struct product_strip_args a = *p;
    a.k_each = (uint32_t)(over(over(p->k, DEPTH), parts) * DEPTH);
    parts = over(p->k, a.k_each);
    float *part = cuda_scratch(c, parts * p->m * p->n * sizeof *part);
    a.out = part;
    a.bias = NULL;
    a.out_stride = p->n;
    a.out_batch = (size_t)p->m * p->n;
    a.is_narrow = a.accumulate = a.relu = false;
    a.is_wide = true;                   /* n is a multiple of eight: b lies across */
    const struct strip_end_args end = { part, p->bias, p->out, p->m, p->n, parts, p->out_stride, p->is_narrow, p->accumulate,
                                        p->relu };
    cuda_launch(c, k, tiles, parts, 1, &a);
    cuda_launch(c, KERNEL_strip_end, over(a.out_batch, 1024), 1, 1, &end);
}

bool cuda_strip(struct backend_ctx *c, const struct product_args *p, bool is_narrow)
{
    static const enum kernel of[2][2] = { { KERNEL_strip_rows_cols, KERNEL_strip_rows_rows },
                                          { KERNEL_strip_cols_cols, KERNEL_strip_cols_rows } };
    bool a_across = p->a_col != 1, b_across = p->b_row != 1;
    struct product_strip_args a = { (const uint16_t *)(const void *)p->a, (const uint16_t *)(const void *)p->b, p->bias, p->out,
                                    a_across ? p->a_col : p->a_row, b_across ? p->b_row : p->b_col, p->out_stride, p->a_batch,
                                    p->b_batch, p->out_batch, (uint32_t)p->m, (uint32_t)p->n, (uint32_t)p->k, (uint32_t)p->k,
                                    is_narrow, false, p->accumulate, p->relu };
    size_t lines_a = a_across ? p->m : p->k, lines_b = b_across ? p->n : p->k;
    if (!p->m || !p->n || !p->k || p->m > INT32_MAX || p->n > INT32_MAX || p->k > INT32_MAX
        || !cuda_fits(c, of[a_across][b_across]) || a.a_stride >= STRIDE_END || a.b_stride >= STRIDE_END)
        return false;
    if (!is_eight(lines_a) || !is_eight(lines_b) || !is_eight(a.a_stride) || !is_eight(a.b_stride) || !is_at_16(a.a)
        || !is_at_16(a.b) || !is_eight(a.a_batch) || !is_eight(a.b_batch))
        return false;
    size_t tiles = over(p->m, SIDE) * over(p->n, SIDE);
    size_t parts = a_across && b_across && p->batch == 1 ? parts_of(p->m, p->n, p->k) : 1;
    a.is_wide = is_at_16(a.out) && is_eight(a.n) && is_eight(a.out_stride) && is_eight(a.out_batch);
    if (parts > 1) {
        cut(c, of[a_across][b_across], &a, tiles, parts);
        return true;
    }
    cuda_launch(c, of[a_across][b_across], tiles, 1, p->batch, &a);
    return true;
}
