/* SPDX-License-Identifier: Apache-2.0 */
/* sums.cu - sums over rows and over everything, the table of an embedding, the clip factor.
 *
 * Two steps: blocks add up pieces that the shape alone cuts, then one block adds the pieces in ascending order. No atomics, so
 * the bits are the same in every run. */
#include "workers/compute/kernels/cuda/args_norm.h"
#include "workers/compute/kernels/cuda/gelu_int.h"
#include "workers/compute/kernels/cuda/numbers_int.h"

/* block: 128 columns by a chunk of rows. */
GPU_KERNEL(column_part, struct column_part_args, a)
{
    struct gpu_place p = gpu_place();
    size_t j = (size_t)p.block[0] * p.threads + p.thread, from = p.block[1] * a.chunk, end = from + a.chunk;
    float sum = 0;
    if (j < a.cols) {
        for (size_t i = from; i < end && i < a.rows; i++) {
            float x = number_at(a.x, i * a.x_stride + j);
            sum += a.dy.at ? number_at(a.dy, i * a.dy_stride + j) * (x - a.moments[2 * i]) * a.moments[2 * i + 1] : x;
        }
        a.part[p.block[1] * a.cols + j] = sum;
    }
}

/* The warps' sums of 256 columns, added in their order. */
GPU_CALL void wide_put(struct eight sum, float *room, float *part, size_t first, size_t cols)
{
    struct gpu_place p = gpu_place();
    unsigned lane = p.thread % GPU_WARP, warp = p.thread / GPU_WARP;
    GPU_UNROLL
    for (int l = 0; l < 8; l++)
        room[warp * 256 + 8 * lane + (unsigned)l] = sum.v[l];
    GPU_BARRIER();
    float all = 0;
    for (unsigned w = 0; w < p.threads / GPU_WARP; w++)
        all += room[w * 256 + p.thread];
    if (first + p.thread < cols)
        part[first + p.thread] = all;
}

/* Σ x of many columns. block: 256 of them by a chunk of rows, eight columns a thread; each warp takes every eighth row. */
GPU_KERNEL(column_wide, struct column_part_args, a)
{
    GPU_SHARED(float, room, 8 * 256);
    struct gpu_place p = gpu_place();
    unsigned lane = p.thread % GPU_WARP, warp = p.thread / GPU_WARP, warps = p.threads / GPU_WARP;
    size_t first = (size_t)p.block[0] * 256, j = first + 8 * lane, from = p.block[1] * a.chunk, end = from + a.chunk;
    struct eight sum, x[4];
    end = end < a.rows ? end : a.rows;
    GPU_UNROLL
    for (int l = 0; l < 8; l++)
        sum.v[l] = 0;
    for (size_t i = from + warp; i < end && j < a.cols; i += 4 * warps) {       /* four rows are under way */
        GPU_UNROLL
        for (unsigned u = 0; u < 4; u++)
            if (i + u * warps < end)
                x[u] = eight_at(a.x, (i + u * warps) * a.x_stride + j);
        GPU_UNROLL
        for (unsigned u = 0; u < 4; u++)
            for (int l = 0; l < 8 && i + u * warps < end; l++)
                sum.v[l] += x[u].v[l];
    }
    wide_put(sum, room, a.part + p.block[1] * a.cols, first, a.cols);
}

/* The same of GELU's gradient, which is made on the way: dx = dy·GELU'(x). */
GPU_KERNEL(gelu_sums, struct gelu_sums_args, a)
{
    GPU_SHARED(float, room, 8 * 256);
    struct gpu_place p = gpu_place();
    unsigned lane = p.thread % GPU_WARP, warp = p.thread / GPU_WARP, warps = p.threads / GPU_WARP;
    size_t first = (size_t)p.block[0] * 256, j = first + 8 * lane, from = p.block[1] * a.chunk, end = from + a.chunk;
    struct eight sum, x[2], dy[2];
    end = end < a.rows ? end : a.rows;
    GPU_UNROLL
    for (int l = 0; l < 8; l++)
        sum.v[l] = 0;
    for (size_t i = from + warp; i < end && j < a.cols; i += 2 * warps) {
        GPU_UNROLL
        for (unsigned u = 0; u < 2; u++)
            if (i + u * warps < end) {
                size_t at = (i + u * warps) * a.x_stride + j, back = (i + u * warps) * a.dy_stride + j;
                x[u] = a.is_wide ? eight_at(a.x, at) : some_at(a.x, at, a.cols - j);
                dy[u] = a.is_wide ? eight_at(a.dy, back) : some_at(a.dy, back, a.cols - j);
            }
        GPU_UNROLL
        for (unsigned u = 0; u < 2; u++)
            if (i + u * warps < end) {
                GPU_UNROLL
                for (int l = 0; l < 8; l++) {
                    float slope;
                    gelu_quick(x[u].v[l], &slope);
                    dy[u].v[l] *= slope;
                    sum.v[l] += dy[u].v[l];
                }
                if (a.is_wide)
                    eight_put(a.dx, (i + u * warps) * a.dx_stride + j, dy[u]);
                else
                    some_put(a.dx, (i + u * warps) * a.dx_stride + j, a.cols - j, dy[u]);
            }
    }
    wide_put(sum, room, a.part + p.block[1] * a.cols, first, a.cols);
}

/* block: 32 columns. */
GPU_KERNEL(column_end, struct column_end_args, a)
{
    GPU_SHARED(float, room, 256);
    numbers_end(a.part, a.cols, a.parts, a.cols, a.out, a.accumulate, room);
}

/* A dense piece that begins at 16 bytes is taken four numbers at a time. */
GPU_KERNEL(square, struct square_args, a)
{
    GPU_SHARED(double, room, 256);
    struct gpu_place p = gpu_place();
    size_t from = p.block[0] * a.chunk, end = from + a.chunk, count = a.rows * a.cols;
    double sum = 0;
    end = end < count ? end : count;
    for (size_t i = from + 4 * p.thread; i < end && a.is_wide; i += 4 * p.threads) {
        struct gpu_four x;
        if (i + 4 <= end) {
            x = gpu_load4(a.x + i);
        } else {
            for (unsigned l = 0; l < 4; l++)
                x.v[l] = i + l < end ? a.x[i + l] : 0;
        }
        for (int l = 0; l < 4; l++)
            sum += (double)x.v[l] * (double)x.v[l];
    }
    for (size_t i = from + p.thread; i < end && !a.is_wide; i += p.threads) {
        double x = (double)a.x[i / a.cols * a.stride + i % a.cols];
        sum += x * x;
    }
    sum = gpu_block_total(sum, room);
    if (p.thread == 0)
        a.part[p.block[0]] = sum;
}

GPU_KERNEL(total, struct total_args, a)
{
    GPU_SHARED(double, room, 256);
    struct gpu_place p = gpu_place();
    double sum = 0;
    for (size_t i = p.thread; i < a.n; i += p.threads)
        sum += a.part[i];
    sum = gpu_block_total(sum, room);
    if (p.thread == 0)
        *a.out = sum + (a.accumulate ? *a.out : 0);
}

/* A norm that is no number leaves the scale no number, which an update leaves out. */
GPU_KERNEL(clip, struct clip_args, a)
{
    if (gpu_index() == 0) {
        double norm = __builtin_sqrt(*a.sum);
        if (!gpu_is_finite(norm))
            a.step->grad_scale = (double)__builtin_nanf("");
        else
            a.step->grad_scale = a.step->clip_norm > 0 && norm > a.step->clip_norm ? a.step->clip_norm / norm : 1;
    }
}

GPU_KERNEL(embed, struct embed_args, a)
{
    struct gpu_place p = gpu_place();
    const float *row = a.table + (size_t)a.token[p.block[0]] * a.table_stride;
    float *out = a.out + p.block[0] * a.out_stride;
    for (size_t j = 4 * p.thread; j < a.cols && a.is_wide; j += 4 * p.threads)
        gpu_store4(out + j, gpu_load4(row + j));
    for (size_t j = p.thread; j < a.cols && !a.is_wide; j += p.threads)
        out[j] = row[j];
}

enum { EMBED_CHUNK = 4096, EMBED_WARPS = 8, EMBED_MINE = EMBED_CHUNK / EMBED_WARPS, EMBED_BATCH = 8 };

/* Tokens of a chunk that name one of the block's rows: each warp looks through an eighth of them, in their order. In `found`: the
 * token's place in the chunk, and from bit 16 on the row. */
GPU_CALL void embed_find(const struct embed_back_args *a, size_t from, uint32_t *found, uint32_t *found_count)
{
    struct gpu_place p = gpu_place();
    unsigned lane = p.thread % GPU_WARP, warp = p.thread / GPU_WARP, count = 0;
    int32_t first = (int32_t)(p.block[0] * EMBED_ROWS), token[EMBED_MINE / GPU_WARP];
    GPU_UNROLL
    for (unsigned u = 0; u < EMBED_MINE / GPU_WARP; u++) {      /* all under way; past the end: the last again */
        size_t place = from + warp * EMBED_MINE + u * GPU_WARP + lane;
        token[u] = a->token[place < a->tokens ? place : a->tokens - 1];
    }
    GPU_UNROLL
    for (unsigned u = 0; u < EMBED_MINE / GPU_WARP; u++) {
        unsigned place = warp * EMBED_MINE + u * GPU_WARP + lane;
        uint32_t row = from + place < a->tokens ? (uint32_t)(token[u] - first) : EMBED_ROWS;
        uint32_t mine = gpu_ballot(row < EMBED_ROWS);
        if (row < EMBED_ROWS)
            found[warp * EMBED_MINE + count + gpu_count_ones(mine & ((1u << lane) - 1))] = row << 16 | place;
        count += gpu_count_ones(mine);
    }
    if (lane == 0)
        found_count[warp] = count;
}

/* The tokens of row `row`, in their order, to sorted[at …]; sorted NULL: only counted. The whole warp comes here. */
GPU_CALL unsigned embed_gather(const uint32_t *found, const uint32_t *found_count, unsigned row, uint16_t *sorted, unsigned at)
{
    unsigned lane = gpu_place().thread % GPU_WARP, count = 0;
    for (unsigned w = 0; w < EMBED_WARPS; w++)
        for (unsigned i = 0; i < found_count[w]; i += GPU_WARP) {
            uint32_t v = i + lane < found_count[w] ? found[w * EMBED_MINE + i + lane] : UINT32_MAX;
            uint32_t mine = gpu_ballot(v >> 16 == row);
            if (sorted && v >> 16 == row)
                sorted[at + count + gpu_count_ones(mine & ((1u << lane) - 1))] = (uint16_t)v;
            count += gpu_count_ones(mine);
        }
    return count;
}

/* One row: what it holds, or 0, and the rows of dy of its tokens behind each other; EMBED_BATCH of them are under way. */
GPU_CALL void embed_add(const struct embed_back_args *a, float *row, const float *dy, const uint16_t *token, unsigned count,
                        bool is_first)
{
    struct gpu_place p = gpu_place();
    for (size_t j = 4 * p.thread; j < a->cols && a->is_wide; j += 4 * p.threads) {
        struct gpu_four sum, x[EMBED_BATCH];
        for (int l = 0; l < 4; l++)
            sum.v[l] = 0;
        if (!is_first)
            sum = gpu_load4(row + j);
        for (unsigned k = 0; k < count; k += EMBED_BATCH) {
            GPU_UNROLL
            for (unsigned u = 0; u < EMBED_BATCH; u++)
                if (k + u < count)
                    x[u] = gpu_load4(dy + token[k + u] * a->dy_stride + j);
            GPU_UNROLL
            for (unsigned u = 0; u < EMBED_BATCH; u++)
                for (int l = 0; l < 4 && k + u < count; l++)
                    sum.v[l] += x[u].v[l];
        }
        gpu_store4(row + j, sum);
    }
    for (size_t j = p.thread; j < a->cols && !a->is_wide; j += p.threads) {
        float sum = is_first ? 0 : row[j];
        for (unsigned k = 0; k < count; k++)
            sum += dy[token[k] * a->dy_stride + j];
        row[j] = sum;
    }
}

/* A block for EMBED_ROWS rows of the table. Of each chunk of the tokens it finds those that are its own, sorts them by row (a
 * counting sort that keeps their order) and adds row by row: a token that comes often is read by the whole block. */
GPU_KERNEL(embed_back, struct embed_back_args, a)
{
    GPU_SHARED(uint32_t, found, EMBED_CHUNK);
    GPU_SHARED(uint16_t, sorted, EMBED_CHUNK);
    GPU_SHARED(uint32_t, found_count, EMBED_WARPS);
    GPU_SHARED(uint32_t, row_count, EMBED_ROWS);
    struct gpu_place p = gpu_place();
    unsigned lane = p.thread % GPU_WARP, warp = p.thread / GPU_WARP;
    for (size_t from = 0; from < a.tokens; from += EMBED_CHUNK) {
        embed_find(&a, from, found, found_count);
        GPU_BARRIER();
        for (unsigned r = warp; r < EMBED_ROWS; r += EMBED_WARPS) {
            unsigned count = embed_gather(found, found_count, r, NULL, 0);
            if (lane == 0)
                row_count[r] = count;
        }
        GPU_BARRIER();
        for (unsigned r = warp; r < EMBED_ROWS; r += EMBED_WARPS) {
            unsigned at = 0;
            for (unsigned k = 0; k < r; k++)
                at += row_count[k];
            embed_gather(found, found_count, r, sorted, at);
        }
        GPU_BARRIER();
        for (unsigned r = 0, at = 0; r < EMBED_ROWS; at += row_count[r], r++) {
            size_t row = (size_t)p.block[0] * EMBED_ROWS + r;
            bool is_first = !a.accumulate && from == 0;
            if (row < a.rows && (row_count[r] || is_first))
                embed_add(&a, a.table + row * a.table_stride, a.dy + from * a.dy_stride, sorted + at, row_count[r], is_first);
        }
        GPU_BARRIER();
    }
}
