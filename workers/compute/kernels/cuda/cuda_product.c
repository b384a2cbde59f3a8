/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_product.c - which of the project's own tiles makes a product: strips of bf16 tensors (strip_int.h), wide tiles of fp32
 * (product_wide.cu), where the shape allows it. Wide tiles have the bits of the simple kernel.
 *
 * The depth is cut where both factors lie across it, as those of a weight's gradient do: there it is the batch itself, and a
 * small matrix over many rows would give most of a card nothing to do. Into how many parts says the shape alone, for any card.
 * A row of any other product has the same bits in any batch. */
#include "workers/compute/kernels/cuda/cuda_hopper.h"
#include "workers/compute/kernels/cuda/cuda_ops_int.h"

enum { SIDE = 128, DEPTH = 64, PARTS_MAX = 16, PART_LEAST = 8 * DEPTH };
enum { WIDE_LEAST = 100 };          /* tiles below which four times as many small ones keep a card busier */
enum { STRIDE_END = 1 << 27 };      /* 16 of them are counted in 32 bits */

static bool is_eight(size_t n) { return n % 8 == 0; }

/* Parts that the depth is cut into: those that keep 132 processors busiest, two tiles of strips or one of wgmma on each; a part
 * more must be worth its way through memory. */
static size_t parts_of(size_t m, size_t n, size_t k, bool is_hopper)
{
    size_t tiles = is_hopper ? over(m, HOPPER_ROWS) * over(n, HOPPER_COLS) : over(m, SIDE) * over(n, SIDE), best = 1;
    size_t places = is_hopper ? 132 : 264;
    double least = (double)over(tiles, places);
    for (size_t p = 2; p <= PARTS_MAX && p * PART_LEAST <= k; p++) {
        double turns = (double)over(tiles * p, places) / (double)p + 0.01 * (double)p;
        if (turns < least) {
            least = turns;
            best = p;
        }
    }
    return best;
}

void cuda_strip_launch(struct backend_ctx *c, bool a_across, bool b_across, const struct product_strip_args *p, size_t parts,
                       size_t batch)
{
    static const enum kernel of[2][2] = { { KERNEL_strip_rows_cols, KERNEL_strip_rows_rows },
                                          { KERNEL_strip_cols_cols, KERNEL_strip_cols_rows } };
    cuda_launch(c, of[a_across][b_across], over(p->m, SIDE) * over(p->n, SIDE), parts, batch, p);
}

/* Each part goes to a matrix of its own, then they are added. */
static void cut(struct backend_ctx *c, const struct product_strip_args *p, size_t parts, bool is_hopper)
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
    if (!is_hopper || !cuda_hopper_product(c, true, true, &a, parts))
        cuda_strip_launch(c, true, true, &a, parts, 1);
    cuda_launch(c, KERNEL_strip_end, over(a.out_batch, 1024), 1, 1, &end);
}

/* Extents along memory, strides and addresses that a copy of 16 bytes can walk; a card with the shared memory. */
static bool is_walkable(const struct backend_ctx *c, const struct product_args *p, const struct product_strip_args *a,
                        bool a_across, bool b_across)
{
    size_t along_a = a_across ? p->m : p->k, along_b = b_across ? p->n : p->k;
    return p->m && p->n && p->k && p->m <= INT32_MAX && p->n <= INT32_MAX && p->k <= INT32_MAX && a->a_stride < STRIDE_END
           && a->b_stride < STRIDE_END && cuda_fits(c, KERNEL_strip_rows_cols) && is_eight(along_a) && is_eight(along_b)
           && is_eight(a->a_stride) && is_eight(a->b_stride) && is_at_16(a->a) && is_at_16(a->b) && is_eight(a->a_batch)
           && is_eight(a->b_batch);
}

bool cuda_strip(struct backend_ctx *c, const struct product_args *p, bool is_narrow)
{
    bool a_across = p->a_col != 1, b_across = p->b_row != 1;
    struct product_strip_args a = { (const uint16_t *)(const void *)p->a, (const uint16_t *)(const void *)p->b, p->bias, p->out,
                                    a_across ? p->a_col : p->a_row, b_across ? p->b_row : p->b_col, p->out_stride, p->a_batch,
                                    p->b_batch, p->out_batch, (uint32_t)p->m, (uint32_t)p->n, (uint32_t)p->k, (uint32_t)p->k,
                                    is_narrow, false, p->accumulate, p->relu };
    if (!is_walkable(c, p, &a, a_across, b_across))
        return false;
    a.is_wide = is_at_16(a.out) && is_eight(a.n) && is_eight(a.out_stride) && is_eight(a.out_batch);
    bool is_hopper = c->hopper && a.is_wide && p->batch == 1 && p->n >= SIDE;       /* by n alone, so that rows keep their bits */
    size_t parts = a_across && b_across && p->batch == 1 ? parts_of(p->m, p->n, p->k, is_hopper) : 1;
    if (parts > 1)
        cut(c, &a, parts, is_hopper);
    else if (!is_hopper || !cuda_hopper_product(c, a_across, b_across, &a, 1))
        cuda_strip_launch(c, a_across, b_across, &a, 1, p->batch);
    return true;
}

static bool is_four(size_t n) { return n % 4 == 0; }

bool cuda_wide(struct backend_ctx *c, const struct product_args *p)
{
    bool a_across = p->a_col != 1, b_across = p->b_row != 1;
    size_t tiles = over(p->m, SIDE) * over(p->n, SIDE) * p->batch;
    if (tiles < WIDE_LEAST || p->m > INT32_MAX || p->n > INT32_MAX || !is_at_16(p->a) || !is_at_16(p->b)
        || !is_four(a_across ? p->a_col : p->a_row) || !is_four(b_across ? p->b_row : p->b_col) || !is_four(p->a_batch)
        || !is_four(p->b_batch) || !is_four(a_across ? p->m : p->k) || !is_four(b_across ? p->n : p->k))
        return false;
    cuda_launch(c, KERNEL_product_wide, over(p->m, SIDE), over(p->n, SIDE), p->batch, p);
    return true;
}
