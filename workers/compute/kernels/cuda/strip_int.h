/* SPDX-License-Identifier: Apache-2.0 */
/* strip_int.h - products of bf16 tensors by mma.m16n8k16: 128 × 128 results of a block of four warps, 64 of the depth at a time.
 *
 * Factors come by copies of 16 bytes that are under way while the block multiplies (STAGES of them), and go from shared memory to
 * the units by ldmatrix. A factor lies by depth (its neighbours in memory are neighbours in k: rows of 64 numbers) or across
 * (neighbours in m or n: 64 rows of 128 numbers); across, ldmatrix turns it. In both, the eight pieces of 16 bytes that a
 * quarter of a warp reads lie in eight different groups of banks, because piece p of row r stands at p ^ r (of eight).
 *
 * A result is one chain over ascending k in steps of 16, the same for every m and n: a row has the same bits in any batch, unless
 * the depth is cut (cuda_product.c says when). Extents along memory are multiples of eight; others are as they come. */
#pragma once
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

enum {
    STRIP = 128, STRIP_K = 64, STRIP_STAGES = 3, STRIP_WARP = 64, STRIP_FACTOR = STRIP * STRIP_K,
    STRIP_PIECES = 8,           /* of 16 bytes that a thread copies of each factor for a stage */
    STRIP_GROUP = 8             /* rows of tiles that are walked together, so that what they share stays in the L2 cache */
};

/* What a thread copies of a factor. */
struct strip_copy {
    const uint16_t *from;       /* its first piece for the next stage */
    size_t stage;               /* from stage to stage */
    uint32_t step;              /* from piece to piece */
    uint32_t inside;            /* bit i: piece i is inside along m or n */
    uint32_t k, to;             /* place in the depth; in the room of a stage */
};

GPU_CALL struct strip_copy strip_copy_of(const uint16_t *x, size_t stride, uint32_t first, uint32_t extent, uint32_t k,
                                         bool is_across)
{
    uint32_t t = gpu_place().thread, line = is_across ? t / 16 : t / 8, piece = is_across ? t % 16 : t % 8;
    struct strip_copy c;
    c.k = k + (is_across ? line : 8 * piece);
    c.from = is_across ? x + c.k * stride + first + 8 * piece : x + (first + line) * stride + c.k;
    c.step = (uint32_t)stride * (is_across ? 8 : 16);
    c.stage = is_across ? STRIP_K * stride : STRIP_K;
    c.to = line * (is_across ? STRIP : STRIP_K) + 8 * (piece ^ line % 8);
    c.inside = 0;
    GPU_UNROLL
    for (uint32_t i = 0; i < STRIP_PIECES; i++)
        c.inside |= (uint32_t)((is_across ? first + 8 * piece : first + line + 16 * i) < extent) << i;
    return c;
}

GPU_CALL void strip_copy(struct strip_copy *c, uint16_t *room, uint32_t k_end, bool is_across)
{
    uint32_t step = c->step;
    GPU_HIDE(step);
    GPU_UNROLL
    for (uint32_t i = 0; i < STRIP_PIECES; i++)
        gpu_copy16_async(room + c->to + i * (STRIP_FACTOR / STRIP_PIECES), c->from + (size_t)i * step,
                         (c->inside >> i & 1) && c->k + (is_across ? 8 * i : 0) < k_end);
    c->from += c->stage;
    c->k += STRIP_K;
}

/* Where a lane's row of ldmatrix lies: fragments of a want the second half of m in matrices 1 and 3, those of b the second
 * half of k. */
struct strip_read {
    uint32_t at, turn;
};

GPU_CALL struct strip_read strip_read_of(uint32_t first, bool is_b, bool is_across)
{
    uint32_t lane = gpu_place().thread % GPU_WARP, low = lane / 8 % 2, high = lane / 16;
    uint32_t line = 8 * (is_b != is_across ? high : low) + lane % 8, other = is_b != is_across ? low : high;
    struct strip_read r;
    r.at = is_across ? line * STRIP + first : (first + line) * STRIP_K;
    r.turn = 8 * (other ^ lane % 8);
    return r;
}

/* 16 rows of a, or columns of b, from `i`·16 on, 16 of the depth from `k`·16 on. */
GPU_CALL void strip_load(uint32_t *v, const uint16_t *room, struct strip_read r, uint32_t i, uint32_t k, bool is_across)
{
    if (is_across)
        gpu_load_matrices_turned(v, room + r.at + k * (16 * STRIP) + (16 * i ^ r.turn));
    else
        gpu_load_matrices(v, room + r.at + i * (16 * STRIP_K) + (16 * k ^ r.turn));
}

struct strip_sums {
    float of[4][8][4];          /* by 16 rows and 8 columns of the warp: as gpu_mma */
};

struct strip_parts {
    struct gpu_mma_a a[4];
    uint32_t b[4][4];
};

GPU_CALL void strip_take(struct strip_parts *p, const uint16_t *room, struct strip_read a, struct strip_read b, uint32_t k,
                         bool a_across, bool b_across)
{
    GPU_UNROLL
    for (uint32_t i = 0; i < 4; i++)
        strip_load(p->a[i].v, room, a, i, k, a_across);
    GPU_UNROLL
    for (uint32_t i = 0; i < 4; i++)
        strip_load(p->b[i], room + STRIP_FACTOR, b, i, k, b_across);
}

GPU_CALL void strip_multiply(struct strip_sums *s, const struct strip_parts *p)
{
    GPU_UNROLL
    for (int i = 0; i < 4; i++) {
        GPU_UNROLL
        for (int j = 0; j < 8; j++)
            gpu_mma(s->of[i][j], p->a[i], p->b[j / 2][2 * (j % 2)], p->b[j / 2][2 * (j % 2) + 1]);
    }
}

struct strip_place {
    uint32_t row, col;          /* first of the tile */
};

/* Tiles are numbered down STRIP_GROUP rows of them, then to the right, then on below. */
GPU_CALL struct strip_place strip_place_of(uint32_t tile, uint32_t m, uint32_t n)
{
    uint32_t rows = (m + STRIP - 1) / STRIP, cols = (n + STRIP - 1) / STRIP, group = tile / (STRIP_GROUP * cols);
    uint32_t left = rows - group * STRIP_GROUP, high = left < STRIP_GROUP ? left : STRIP_GROUP;
    uint32_t in = tile - group * STRIP_GROUP * cols;
    struct strip_place p;
    p.row = STRIP * (group * STRIP_GROUP + in % high);
    p.col = STRIP * (in / high);
    return p;
}

/* Σ over k from `from` to `end`. */
GPU_CALL void strip_run(struct strip_sums *s, struct strip_place p, const struct product_strip_args *a, uint32_t from,
                        uint32_t end, bool a_across, bool b_across)
{
    GPU_DYNAMIC(uint16_t, room);
    uint32_t warp = gpu_place().thread / GPU_WARP, batch = gpu_place().block[2], stages = (end - from + STRIP_K - 1) / STRIP_K;
    struct strip_copy of_a = strip_copy_of(a->a + batch * a->a_batch, a->a_stride, p.row, a->m, from, a_across);
    struct strip_copy of_b = strip_copy_of(a->b + batch * a->b_batch, a->b_stride, p.col, a->n, from, b_across);
    struct strip_read at_a = strip_read_of(warp % 2 * STRIP_WARP, false, a_across);
    struct strip_read at_b = strip_read_of(warp / 2 * STRIP_WARP, true, b_across);
    GPU_UNROLL
    for (int i = 0; i < 4 * 8 * 4; i++)
        s->of[i / 32][i / 4 % 8][i % 4] = 0;
    GPU_UNROLL
    for (uint32_t i = 0; i < STRIP_STAGES - 1; i++) {
        if (i < stages) {
            strip_copy(&of_a, room + i * 2 * STRIP_FACTOR, end, a_across);
            strip_copy(&of_b, room + i * 2 * STRIP_FACTOR + STRIP_FACTOR, end, b_across);
        }
        gpu_copy_commit();
    }
    uint32_t now = 0, next = STRIP_STAGES - 1;          /* in the ring */
    for (uint32_t i = 0; i < stages; i++) {
        struct strip_parts part[2];
        const uint16_t *stage = room + now * 2 * STRIP_FACTOR;
        gpu_copy_wait(STRIP_STAGES - 2);
        GPU_BARRIER();                                  /* the stage is there, and nobody reads the one before it any more */
        strip_take(&part[0], stage, at_a, at_b, 0, a_across, b_across);
        if (i + STRIP_STAGES - 1 < stages) {
            strip_copy(&of_a, room + next * 2 * STRIP_FACTOR, end, a_across);
            strip_copy(&of_b, room + next * 2 * STRIP_FACTOR + STRIP_FACTOR, end, b_across);
        }
        gpu_copy_commit();
        GPU_UNROLL
        for (uint32_t k = 0; k < STRIP_K / 16; k++) {
            if (k + 1 < STRIP_K / 16)
                strip_take(&part[(k + 1) % 2], stage, at_a, at_b, k + 1, a_across, b_across);
            strip_multiply(s, &part[k % 2]);
        }
        now = now + 1 == STRIP_STAGES ? 0 : now + 1;
        next = next + 1 == STRIP_STAGES ? 0 : next + 1;
    }
}

/* Statements for each pair of results of the thread: v[0] and v[1] are those of `row` and of `col`, and the next. What they
 * compute of row is not computed earlier: nothing is held in registers beside the sums. */
#define STRIP_EACH(s, p, ...)                                                                                       \
    {                                                                                                               \
        uint32_t strip_row = (p).row;                                                                               \
        GPU_UNROLL                                                                                                  \
        for (uint32_t strip_i = 0; strip_i < 64; strip_i++) {                                                       \
            if (strip_i % 4 == 0)                                                                                   \
                GPU_HIDE(strip_row);                                                                                \
            uint32_t row = strip_row + 16 * (strip_i / 16) + strip_i / 8 % 2 * 8, col = (p).col + 8 * (strip_i % 8); \
            float *v = (s)->of[strip_i / 16][strip_i % 8] + strip_i / 8 % 2 * 2;                                    \
            __VA_ARGS__;                                                                                            \
        }                                                                                                           \
    }

/* What is accumulated, bias and relu, in this order. p: of the thread's first result. */
GPU_CALL void strip_finish(const struct product_strip_args *a, struct strip_sums *s, struct strip_place p, size_t first)
{
    const float *out = (const float *)a->out + first;
    if (a->accumulate)
        STRIP_EACH(s, p, {
            if (row < a->m && col < a->n)
                v[0] += out[row * a->out_stride + col];
            if (row < a->m && col + 1 < a->n)
                v[1] += out[row * a->out_stride + col + 1];
        })
    GPU_UNROLL
    for (uint32_t j = 0; j < 8 && a->bias; j++) {
        GPU_HIDE(p.col);
        uint32_t col = p.col + 8 * j;
        float x = col < a->n ? a->bias[col] : 0, y = col + 1 < a->n ? a->bias[col + 1] : 0;
        GPU_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            s->of[i][j][0] += x, s->of[i][j][1] += y;
            s->of[i][j][2] += x, s->of[i][j][3] += y;
        }
    }
    GPU_UNROLL
    for (uint32_t i = 0; i < 128 && a->relu; i++) {
        float *v = &s->of[i / 32][i / 4 % 8][i % 4];
        *v = *v < 0 ? 0 : *v;
    }
}

/* Four lanes with a column of four pairs each: afterwards each has a row. */
GPU_CALL void strip_turn(uint32_t *q)
{
    uint32_t lane = gpu_place().thread % 4;
    bool is_odd = lane % 2, is_late = lane / 2;
    GPU_UNROLL
    for (int i = 0; i < 4; i += 2) {
        uint32_t x = q[i], y = q[i + 1], got = gpu_swap(is_odd ? x : y, 1);
        q[i] = is_odd ? got : x;
        q[i + 1] = is_odd ? y : got;
    }
    GPU_UNROLL
    for (int i = 0; i < 2; i++) {
        uint32_t x = q[i], y = q[i + 2], got = gpu_swap(is_late ? x : y, 2);
        q[i] = is_late ? got : x;
        q[i + 2] = is_late ? y : got;
    }
}

/* In bf16: of the four quarters of 16 rows and 16 columns, each of four lanes gets a row, 16 bytes. */
GPU_CALL void strip_put_narrow(const struct product_strip_args *a, struct strip_sums *s, struct strip_place p, size_t first)
{
    uint32_t place = gpu_place().thread % 4, row = p.row + 8 * (place / 2), col = p.col - 2 * place + 8 * (place % 2);
    GPU_UNROLL
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t q[4];
        GPU_HIDE(row);
        GPU_UNROLL
        for (uint32_t e = 0; e < 4; e++) {
            const float *v = s->of[i / 4][i % 4 * 2 + e % 2] + e / 2 * 2;
            q[e] = gpu_pack(v[0], v[1]);
        }
        strip_turn(q);
        struct gpu_quad v = { { q[0], q[1], q[2], q[3] } };
        if (row + i / 4 * 16 < a->m && col + i % 4 * 16 < a->n)
            gpu_store_quad((uint16_t *)a->out + first + (row + i / 4 * 16) * a->out_stride + col + i % 4 * 16, v);
    }
}

GPU_CALL void strip_put(const struct product_strip_args *a, struct strip_sums *s, struct strip_place tile, size_t first)
{
    uint32_t lane = gpu_place().thread % GPU_WARP, warp = gpu_place().thread / GPU_WARP;
    struct strip_place p;
    p.row = tile.row + warp % 2 * STRIP_WARP + lane / 4;
    p.col = tile.col + warp / 2 * STRIP_WARP + 2 * (lane % 4);
    strip_finish(a, s, p, first);
    if (a->is_wide && a->is_narrow) {
        strip_put_narrow(a, s, p, first);
    } else if (a->is_wide) {                    /* pairs: four lanes fill 32 bytes */
        STRIP_EACH(s, p, if (row < a->m && col < a->n) {
            struct gpu_two two = { { v[0], v[1] } };
            gpu_store2((float *)a->out + first + row * a->out_stride + col, two);
        })
    } else {
        STRIP_EACH(s, p, for (uint32_t e = 0; e < 2; e++) {
            if (row < a->m && col + e < a->n && a->is_narrow)
                ((uint16_t *)a->out)[first + row * a->out_stride + col + e] = gpu_bf16(v[e]);
            else if (row < a->m && col + e < a->n)
                ((float *)a->out)[first + row * a->out_stride + col + e] = v[e];
        })
    }
}
