/* SPDX-License-Identifier: Apache-2.0 */
/* attention.cu - attention in its simple form: exact, deterministic, no square of the tokens in memory.
 *
 * Forward: a block for each query and head walks over the keys, 128 at a time, one key a thread, with a running largest score
 * (Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018). Backward: the scores are made again from the kept
 * log of each row's sum; one kernel for the queries, one for keys and values, so nobody adds to what another writes. The order
 * of every sum is that of keys, or of queries, whatever the batch. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

enum { KEYS = 128 };

/* One chain in the order of the numbers, loaded one by one or four at a time. */
GPU_CALL float dot(const struct heads *s, const float *a, const float *b)
{
    float sum = 0;
    for (size_t l = 0; l < s->d && s->is_wide; l += 4) {
        struct gpu_four x = gpu_load4(a + l), y = gpu_load4(b + l);
        for (int k = 0; k < 4; k++)
            sum = gpu_fma(x.v[k], y.v[k], sum);
    }
    for (size_t l = 0; l < s->d && !s->is_wide; l++)
        sum = gpu_fma(a[l], b[l], sum);
    return sum;
}

struct part {                   /* one head of one item: where queries, keys and values begin */
    size_t q, k, v;
};
GPU_CALL struct part part_of(const struct heads *s, size_t n, size_t h)
{
    size_t item = n * s->t * s->row, group = h / (s->heads / s->kv);
    struct part p = { item + h * s->d, item + (s->heads + group) * s->d, item + (s->heads + s->kv + group) * s->d };
    return p;
}

/* block: query, head, item. */
GPU_KERNEL(attention, struct attention_args, a)
{
    GPU_SHARED(float, weight, KEYS);
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    size_t i = p.block[0], h = p.block[1], n = p.block[2], seen = a.s.is_causal ? i + 1 : a.s.t;
    struct part at = part_of(&a.s, n, h);
    const float *q = a.qkv + at.q + i * a.s.row;
    float *y = a.y + ((n * a.s.t + i) * a.s.heads + h) * a.s.d, top = -__builtin_inff(), sum = 0;
    for (size_t from = 0; from < seen; from += KEYS) {
        size_t j = from + p.thread, count = seen - from < KEYS ? seen - from : KEYS;
        float score = j < seen ? dot(&a.s, q, a.qkv + at.k + j * a.s.row) * a.s.scale : -__builtin_inff();
        float higher = gpu_block_fold(score, room, true);
        higher = higher > top ? higher : top;
        float keep = from ? gpu_exp(top - higher) : 0;
        top = higher;
        weight[p.thread] = j < seen ? gpu_exp(score - top) : 0;
        sum = sum * keep + gpu_block_fold(weight[p.thread], room, false);       /* its barriers show the weights to all */
        for (size_t l = p.thread; l < a.s.d; l += p.threads) {
            float out = from ? y[l] * keep : 0;
            for (size_t k = 0; k < count; k++)
                out = gpu_fma(weight[k], a.qkv[at.v + (from + k) * a.s.row + l], out);
            y[l] = out;
        }
        GPU_BARRIER();
    }
    for (size_t l = p.thread; l < a.s.d; l += p.threads)
        y[l] /= sum;
    if (a.sums && p.thread == 0)
        a.sums[(n * a.s.heads + h) * a.s.t + i] = (float)((double)top + gpu_log((double)sum));
}

/* A thread for each token and head. */
GPU_KERNEL(attention_mean, struct attention_mean_args, a)
{
    size_t at = gpu_index();
    if (at < a.s.n * a.s.heads * a.s.t) {
        size_t i = at % a.s.t, h = at / a.s.t % a.s.heads, n = at / a.s.t / a.s.heads;
        size_t row = ((n * a.s.t + i) * a.s.heads + h) * a.s.d;
        a.ret[at] = dot(&a.s, a.dy + row, a.y + row);
    }
}

/* block: query, head, item; one key a thread. */
GPU_KERNEL(attention_back_q, struct attention_back_q_args, a)
{
    GPU_SHARED(float, slope, KEYS);
    struct gpu_place p = gpu_place();
    size_t i = p.block[0], h = p.block[1], n = p.block[2], seen = a.s.is_causal ? i + 1 : a.s.t;
    struct part at = part_of(&a.s, n, h);
    const float *q = a.qkv + at.q + i * a.s.row, *dy = a.dy + ((n * a.s.t + i) * a.s.heads + h) * a.s.d;
    float *dq = a.dqkv + at.q + i * a.s.row;
    size_t row = (n * a.s.heads + h) * a.s.t + i;
    for (size_t from = 0; from < seen; from += KEYS) {
        size_t j = from + p.thread, count = seen - from < KEYS ? seen - from : KEYS;
        float ds = 0;
        if (j < seen) {
            float w = gpu_exp(dot(&a.s, q, a.qkv + at.k + j * a.s.row) * a.s.scale - a.sums[row]);
            ds = w * (dot(&a.s, dy, a.qkv + at.v + j * a.s.row) - a.mean[row]) * a.s.scale;
        }
        slope[p.thread] = ds;
        GPU_BARRIER();
        for (size_t l = p.thread; l < a.s.d; l += p.threads) {
            float sum = from ? dq[l] : 0;
            for (size_t k = 0; k < count; k++)
                sum = gpu_fma(slope[k], a.qkv[at.k + (from + k) * a.s.row + l], sum);
            dq[l] = sum;
        }
        GPU_BARRIER();
    }
}

/* block: key, head of keys, item; one query a thread, over all heads that share the key. */
GPU_KERNEL(attention_back_kv, struct attention_back_kv_args, a)
{
    GPU_SHARED(float, slope, KEYS);
    GPU_SHARED(float, weight, KEYS);
    struct gpu_place p = gpu_place();
    size_t j = p.block[0], group = p.block[1], n = p.block[2], share = a.s.heads / a.s.kv, first = a.s.is_causal ? j : 0;
    struct part at = part_of(&a.s, n, group * share);
    const float *key = a.qkv + at.k + j * a.s.row, *value = a.qkv + at.v + j * a.s.row;
    float *dk = a.dqkv + at.k + j * a.s.row, *dv = a.dqkv + at.v + j * a.s.row;
    bool is_first = true;
    for (size_t h = group * share; h < (group + 1) * share; h++)
        for (size_t from = first; from < a.s.t; from += KEYS, is_first = false) {
            size_t i = from + p.thread, count = a.s.t - from < KEYS ? a.s.t - from : KEYS, q = part_of(&a.s, n, h).q;
            float w = 0, ds = 0;
            if (i < a.s.t) {
                size_t row = (n * a.s.heads + h) * a.s.t + i;
                w = gpu_exp(dot(&a.s, a.qkv + q + i * a.s.row, key) * a.s.scale - a.sums[row]);
                ds = w * (dot(&a.s, a.dy + ((n * a.s.t + i) * a.s.heads + h) * a.s.d, value) - a.mean[row]) * a.s.scale;
            }
            slope[p.thread] = ds;
            weight[p.thread] = w;
            GPU_BARRIER();
            for (size_t l = p.thread; l < a.s.d; l += p.threads) {
                float k_sum = is_first ? 0 : dk[l], v_sum = is_first ? 0 : dv[l];
                for (size_t k = 0; k < count; k++) {
                    k_sum = gpu_fma(slope[k], a.qkv[q + (from + k) * a.s.row + l], k_sum);
                    v_sum = gpu_fma(weight[k], a.dy[((n * a.s.t + from + k) * a.s.heads + h) * a.s.d + l], v_sum);
                }
                dk[l] = k_sum;
                dv[l] = v_sum;
            }
            GPU_BARRIER();
        }
}
