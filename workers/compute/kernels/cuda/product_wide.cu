/* SPDX-License-Identifier: Apache-2.0 */
/* product_wide.cu - products in fp32 over a tile of 128 × 128, 8 × 8 results of a thread, for shapes that fill a card with such
 * tiles: the bits of product.cu, because a result is the same chain over ascending k.
 *
 * What the next step of the depth needs is loaded into registers while this one is multiplied, and goes to the other of two
 * rooms of shared memory: one barrier a step. A thread's results are four 4 × 4, 64 apart, so that the 16-byte loads of a
 * warp meet no bank twice. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

enum { WIDE = 128, WIDE_K = 16, WIDE_PITCH = 132, WIDE_ROOM = WIDE_K * WIDE_PITCH };

/* Eight numbers of a factor, by two loads of four along its memory. */
struct wide_eight {
    struct gpu_four of[2];
};

/* x(i, k) lies at i·step + k (by depth) or at i + k·step (across); `first` of i, `depth` and extent bound both. */
GPU_CALL struct wide_eight wide_load(const float *x, size_t step, size_t first, size_t extent, size_t from, size_t depth,
                                     bool is_across)
{
    unsigned t = gpu_place().thread;
    struct wide_eight r;
    GPU_UNROLL
    for (unsigned e = 0; e < 2; e++) {
        size_t i = first + (is_across ? t % 32 * 4 : t / 4 + 64 * e), k = from + (is_across ? t / 32 + 8 * e : t % 4 * 4);
        struct gpu_four none = { { 0, 0, 0, 0 } };
        r.of[e] = i < extent && k < depth ? gpu_load4(x + (is_across ? i + k * step : i * step + k)) : none;
    }
    return r;
}

GPU_CALL void wide_put(float *room, const struct wide_eight *v, bool is_across)
{
    unsigned t = gpu_place().thread;
    GPU_UNROLL
    for (unsigned e = 0; e < 2; e++) {
        if (is_across) {
            gpu_store4(room + (t / 32 + 8 * e) * WIDE_PITCH + t % 32 * 4, v->of[e]);
            continue;
        }
        GPU_UNROLL
        for (unsigned i = 0; i < 4; i++)
            room[(t % 4 * 4 + i) * WIDE_PITCH + t / 4 + 64 * e] = v->of[e].v[i];
    }
}

/* A grid of ⌈m/128⌉ × ⌈n/128⌉ × batch. What is accumulated stands at the head of the chain. */
GPU_KERNEL(product_wide, struct product_args, a)
{
    GPU_SHARED(float, at_a, 2 * WIDE_ROOM);
    GPU_SHARED(float, at_b, 2 * WIDE_ROOM);
    struct gpu_place p = gpu_place();
    size_t batch = p.block[2];
    uint32_t row = p.block[0] * WIDE, col = p.block[1] * WIDE;
    bool a_across = a.a_col != 1, b_across = a.b_row != 1;
    const float *x = a.a + batch * a.a_batch, *w = a.b + batch * a.b_batch;
    float *out = a.out + batch * a.out_batch, sum[8][8];
    unsigned r = p.thread / 16 * 4, c = p.thread % 16 * 4;
    GPU_UNROLL
    for (unsigned e = 0; e < 64; e++)
        sum[e / 8][e % 8] = 0;
    GPU_UNROLL
    for (unsigned u = 0; u < 8 && a.accumulate; u++) {
        uint32_t i = row + r + u % 4 + u / 4 * 64;
        GPU_HIDE(i);
        GPU_UNROLL
        for (unsigned v = 0; v < 8; v++) {
            uint32_t j = col + c + v % 4 + v / 4 * 64;
            if (i < a.m && j < a.n)
                sum[u][v] = out[i * a.out_stride + j];
        }
    }
    size_t a_step = a_across ? a.a_col : a.a_row, b_step = b_across ? a.b_row : a.b_col;
    struct wide_eight next_a = wide_load(x, a_step, row, a.m, 0, a.k, a_across);
    struct wide_eight next_b = wide_load(w, b_step, col, a.n, 0, a.k, b_across);
    unsigned now = 0;
    for (size_t from = 0; from < a.k; from += WIDE_K, now ^= 1) {
        const float *of_a = at_a + now * WIDE_ROOM + r, *of_b = at_b + now * WIDE_ROOM + c;
        wide_put(at_a + now * WIDE_ROOM, &next_a, a_across);
        wide_put(at_b + now * WIDE_ROOM, &next_b, b_across);
        GPU_BARRIER();                          /* this room is full, and nobody reads the other one any more */
        next_a = wide_load(x, a_step, row, a.m, from + WIDE_K, a.k, a_across);
        next_b = wide_load(w, b_step, col, a.n, from + WIDE_K, a.k, b_across);
        GPU_UNROLL
        for (unsigned k = 0; k < WIDE_K; k++) {
            struct gpu_four fa[2], fb[2];
            GPU_UNROLL
            for (unsigned e = 0; e < 2; e++) {
                fa[e] = gpu_load4(of_a + k * WIDE_PITCH + 64 * e);
                fb[e] = gpu_load4(of_b + k * WIDE_PITCH + 64 * e);
            }
            GPU_UNROLL
            for (unsigned e = 0; e < 64; e++)
                sum[e / 8][e % 8] = gpu_fma(fa[e / 32].v[e / 8 % 4], fb[e / 4 % 2].v[e % 4], sum[e / 8][e % 8]);
        }
    }
    GPU_UNROLL
    for (unsigned u = 0; u < 8; u++) {
        uint32_t i = row + r + u % 4 + u / 4 * 64;
        GPU_HIDE(i);
        GPU_UNROLL
        for (unsigned v = 0; v < 8; v++) {
            uint32_t j = col + c + v % 4 + v / 4 * 64;
            float s = sum[u][v] + (a.bias && j < a.n ? a.bias[j] : 0);
            if (i < a.m && j < a.n)
                out[i * a.out_stride + j] = a.relu && s < 0 ? 0 : s;
        }
    }
}
