/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_narrow.c - operations on tensors that are bf16, one by one and mixed with fp32, as graph_narrow makes them: judged
 * by the terms of selftest_net.c, against fp64 of the rounded inputs. */
#include "workers/compute/kernels/selftest_int.h"

#include <string.h>

enum { IN0 = 1, IN1 = 2, IN2 = 4, IN3 = 8, OUT = 1 << NARROW_OUT, OUT1 = OUT << 1,
       COPY = OUT << 3 };

size_t narrow_cases(const struct net_size *s, struct net_case ret[NET_CASES_MAX])
{
    const size_t row = (s->heads + 2 * s->kv_heads) * s->d;
    const struct op_attr attn = { .heads = s->heads, .kv_heads = s->kv_heads, .flags = ATTN_CAUSAL }, none = { 0 };
    const struct op_attr turn = { .heads = s->heads }, norm = { .eps = 1e-5 }, rms = { .eps = 1e-5, .flags = NORM_RMS };
    const struct op_attr forward = { .flags = MM_TRANS_B | MM_BIAS }, weights = { .flags = MM_TRANS_A | OP_ACCUMULATE };
    const struct op_attr relu = { .flags = MM_TRANS_B | MM_BIAS | MM_RELU }, tb = { .flags = MM_TRANS_B };
    const struct op_attr turned = { .flags = MM_TRANS_A }, rms_adds = { .eps = 1e-5, .flags = NORM_RMS | OP_ACCUMULATE };
    const struct op_attr adds = { .flags = OP_ACCUMULATE };
    const struct net_shape qkv = { 3, { s->n, s->t, row } }, y = { 3, { s->n, s->t, s->heads * s->d } };
    const struct net_shape sums = { 3, { s->n, s->heads, s->t } }, table = { 2, { s->t, s->d / 2 * 2 } };
    const struct net_shape r = { 2, { s->t, s->in } }, rr = { 2, { s->t, 2 * s->in } }, c = { 1, { s->in } };
    const struct net_shape w = { 2, { s->out, s->in } }, z = { 2, { s->t, s->out } }, o = { 1, { s->out } };
    const struct net_shape v = { 2, { s->in, s->out } }, q = { 3, { s->n, s->t, s->d } }, p = { 3, { s->n, s->t, s->t } };
    const struct net_case k[] = {
        { OP_MATMUL, forward, { r, w, o }, { z }, IN0 | IN1 },      { OP_MATMUL, relu, { r, w, o }, { z }, IN0 | IN1 | OUT },
        { OP_MATMUL, weights, { r, z }, { v }, IN0 | IN1 },         { OP_MATMUL, none, { z, w }, { r }, IN0 | IN1 | OUT },
        { OP_MATMUL_GELU, forward, { r, w, o }, { z, z }, IN0 | IN1 | OUT | OUT << 1 },
        { OP_MATMUL_GELU, forward, { r, w, o }, { z }, IN0 | IN1 | OUT },
        { OP_MATMUL_GELU_BWD, none, { z, w, r }, { r }, IN0 | IN1 | IN2 | OUT },
        { OP_MATMUL_SUM, turned, { r, z }, { v, c }, IN0 | IN1 },   { OP_MATMUL_SUM, weights, { r, z }, { v, c }, IN0 | IN1 },
        { OP_BMM, tb, { q, q }, { p }, IN0 | IN1 },
        { OP_ATTENTION, attn, { qkv }, { y, sums }, IN0 | OUT },
        { OP_ATTENTION_BWD, attn, { qkv, y, sums, y }, { qkv }, IN0 | IN1 | IN3 | OUT },
        { OP_ROTARY, turn, { qkv, table }, { qkv }, IN0 | OUT },
        { OP_RELU, none, { r }, { r }, IN0 | OUT },                 { OP_RELU_BWD, none, { r, r }, { r }, IN0 | IN1 | OUT },
        { OP_GELU, none, { r }, { r }, IN0 | OUT },                 { OP_GELU, none, { r }, { r }, IN0 },
        { OP_GELU_BWD, none, { r, r }, { r }, IN0 | IN1 | OUT },    { OP_GELU_BWD, none, { r, r }, { r }, IN1 | OUT },
        { OP_SWIGLU, none, { rr }, { r }, IN0 | OUT },              { OP_SWIGLU_BWD, none, { rr, r }, { rr }, IN0 | IN1 | OUT },
        { OP_ADD_BIAS, none, { r, c }, { r }, IN0 | OUT },          { OP_ADD, none, { r, r }, { r }, IN1 },
        { OP_ADD, none, { r, r }, { r }, IN0 },                     { OP_COPY, adds, { r }, { r }, IN0 },
        { OP_COLSUM, none, { r }, { c }, IN0 },                     { OP_COLSUM, adds, { r }, { c }, IN0 },
        { OP_LAYERNORM, norm, { r, c, c }, { r }, OUT },            { OP_LAYERNORM_BWD, norm, { r, c, r }, { r }, IN2 },
        { OP_RMSNORM, norm, { r, c }, { r }, OUT },                 { OP_RMSNORM_BWD, norm, { r, c, r }, { r }, IN2 },
        { OP_NORM_SCALE_BWD, rms, { r, r }, { c }, IN1 },           { OP_NORM_SCALE_BWD, norm, { r, r }, { c }, IN1 },
        { OP_ADD_NORM, norm, { r, r, c, c }, { r, r }, IN1 | OUT }, { OP_ADD_NORM, rms, { r, r, c }, { r, r }, OUT },
        { OP_NORM_ADD_BWD, norm, { r, c, r, r }, { c, c, c, r, r }, IN2 | COPY },
        { OP_NORM_ADD_BWD, rms_adds, { r, c, r }, { c, { 0 }, c, { 0 }, r }, IN2 },
        { OP_GELU_BWD_SUM, none, { r, r }, { c, r }, IN0 | IN1 | OUT1 },
        { OP_GELU_BWD_SUM, adds, { r, r }, { c, r }, IN1 },
    };
    _Static_assert(sizeof k / sizeof *k <= NET_CASES_MAX, "room");
    memcpy(ret, k, sizeof k);
    return sizeof k / sizeof *k;
}
