/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_net.c - attention, convolution, pooling and norms of a variant against the fp64 reference, on the terms of
 * selftest.c: inputs are
 * random, outputs poisoned first. What a backward form takes from its forward form is made by the reference for both. */
#include "workers/compute/kernels/selftest_int.h"
#include "core/base/str.h"
#include "workers/compute/kernels/call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDING = 4e-3;            /* to bf16: half of 2^-8 at most, and as much for what rounds inside */

static size_t count(const struct net_shape *s)
{
    size_t n = s->rank > 0;
    for (unsigned i = 0; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

static size_t side(size_t size, const struct net_size *s)
{
    return (size + 2 * s->pad - s->window) / s->stride + 1;
}

size_t net_cases(const struct net_size *s, struct net_case ret[NET_CASES_MAX])
{
    size_t row = (s->heads + 2 * s->kv_heads) * s->d, out = side(s->side, s), wide = side(s->side + 1, s), gates = 2 * s->in;
    struct op_attr attn = { .heads = s->heads, .kv_heads = s->kv_heads,
                            .flags = ATTN_CAUSAL }, all = attn, turn = { .heads = s->heads };
    struct op_attr win = { .window = { s->window, s->window }, .stride = s->stride, .pad = s->pad, .image = { s->side,
                                                                                                              s->side + 1 } };
    struct op_attr group = { .n = s->groups, .eps = 1e-5 }, more = win, rms = { .eps = 1e-5, .flags = NORM_RMS }, back = turn;
    struct net_shape qkv = { 3, { s->n, s->t, row } }, y = { 3, { s->n, s->t, s->heads * s->d } }, sums = { 3, { s->n, s->heads,
                                                                                                                 s->t } };
    struct net_shape x = { 4, { s->n, s->side, s->side + 1, s->in } }, w = { 4, { s->out, s->window, s->window, s->in } };
    struct net_shape z = { 4, { s->n, out, wide, s->out } }, p = { 4, { s->n, out, wide, s->in } }, c = { 1, { s->in } };
    struct net_shape table = { 2, { s->t, s->d / 2 * 2 } }, r = { 2, { s->t, s->in } }, rr = { 2, { s->t, gates } };
    struct net_shape each = { 3, { s->window, s->window, s->in } }, o = { 1, { s->out } };
    struct op_attr whole = win, lone = win, half = win, add = win;
    whole.flags = MM_BIAS | CONV_ADD | MM_RELU;
    lone.flags = MM_BIAS | MM_RELU;
    all.flags = 0;
    more.flags = OP_ACCUMULATE;
    half.flags = OP_BF16;
    add.flags = OP_BF16 | OP_ACCUMULATE;
    back.flags = ROTARY_BACK;
    const struct net_case k[] = {
        { OP_ATTENTION, attn, { qkv }, { y, sums } },       { OP_ATTENTION, all, { qkv }, { y, sums } },
        { OP_ATTENTION_BWD, attn, { qkv, y, sums, y }, { qkv } }, { OP_ATTENTION_BWD, all, { qkv, y, sums, y }, { qkv } },
        { OP_ROTARY, turn, { qkv, table }, { qkv } },       { OP_ROTARY, back, { qkv, table }, { qkv } },
        { OP_SWIGLU, { 0 }, { rr }, { r } },                { OP_SWIGLU_BWD, { 0 }, { rr, r }, { rr } },
        { OP_RMSNORM, rms, { r, c }, { r } },               { OP_RMSNORM_BWD, rms, { r, c, r }, { r } },
        { OP_NORM_SCALE_BWD, rms, { r, r }, { c } },        { OP_CONV2D, win, { x, w }, { z } },
        { OP_CONV2D_BWD_X, win, { w, z }, { x } },          { OP_CONV2D_BWD_W, win, { x, z }, { w } },
        { OP_CONV2D_BWD_W, more, { x, z }, { w } },         { OP_GROUPNORM, group, { x, c, c }, { x } },
        { OP_GROUPNORM_BWD, group, { x, c, x }, { x } },    { OP_GROUPNORM_SCALE_BWD, group, { x, x }, { c } },
        { OP_MAXPOOL, win, { x }, { p } },                  { OP_MAXPOOL_BWD, win, { x, p }, { x } },
        { OP_AVGPOOL, win, { x }, { p } },                  { OP_AVGPOOL_BWD, win, { p }, { x } },
        { OP_CONV2D, whole, { x, w, o, z }, { z } },        { OP_DEPTHWISE, win, { x, each }, { p } },
        { OP_DEPTHWISE, lone, { x, each, c }, { p } },      { OP_CONV2D, half, { x, w }, { z } },
        { OP_CONV2D_BWD_X, half, { w, z }, { x } },         { OP_CONV2D_BWD_W, half, { x, z }, { w } },
        { OP_CONV2D_BWD_W, add, { x, z }, { w } },
    };
    _Static_assert(sizeof k / sizeof *k <= NET_CASES_MAX, "room");
    memcpy(ret, k, sizeof k);
    return sizeof k / sizeof *k;
}

struct pair {                   /* the same tensor in both types */
    struct tensor f, d;
};

/* Both hold what the narrower one can. */
static void set_pair(const struct pair *p, size_t i, float v)
{
    if (p->f.type == ELEM_BF16)
        ((uint16_t *)p->f.ptr)[i] = bf16_of(v);
    else
        ((float *)p->f.ptr)[i] = v;
    ((double *)p->d.ptr)[i] = (double)(p->f.type == ELEM_BF16 ? bf16_to_f32(bf16_of(v)) : v);
}

static bool make_pair(const struct net_shape *s, bool is_narrow, uint64_t *random, struct pair *ret)
{
    size_t n = count(s);
    float *f = aligned_alloc(64, (n * sizeof *f + 127) / 64 * 64);
    double *d = aligned_alloc(64, (n * sizeof *d + 127) / 64 * 64);
    ret->f = tensor_at(NULL, 0, is_narrow ? ELEM_BF16 : ELEM_F32, s->rank, s->dim);
    ret->d = tensor_at(NULL, 0, ELEM_F64, s->rank, s->dim);
    ret->f.ptr = f;
    ret->d.ptr = d;
    for (size_t i = 0; f && d && i < n; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        set_pair(ret, i, (float)((double)(int64_t)(*random >> 11) / (double)(1ll << 52) - 1));
    }
    return f && d;
}

/* What the forward form gave, into inputs 1 and 2 of both. */
static void make_forward(const struct net_case *k, struct backend_ctx *ref, struct pair in[4])
{
    const struct op_call call = { k->attr, { &in[0].d }, { &in[1].d, &in[2].d } };
    (*backend_ref.kernels)[OP_ATTENTION][ELEM_F64](ref, &call);
    for (int i = 1; i < 3; i++)
        for (size_t j = 0; j < tensor_count(&in[i].d); j++)
            set_pair(&in[i], j, (float)((const double *)in[i].d.ptr)[j]);
}

static enum errc compare(const struct backend *be, const struct net_case *k, const struct pair *out, double tolerance,
                         struct err *e)
{
    double diff = 0, norm = 0;
    bool is_narrow = out->f.type == ELEM_BF16;
    tolerance = is_narrow ? ROUNDING : tolerance;
    for (size_t i = 0; i < tensor_count(&out->f); i++) {
        float got = is_narrow ? bf16_to_f32(((const uint16_t *)out->f.ptr)[i]) : ((const float *)out->f.ptr)[i];
        double want = ((const double *)out->d.ptr)[i], off = (double)got - want;
        diff += off * off;
        norm += want * want;
    }
    if (sqrt(diff) <= tolerance * sqrt(norm) + 1e-30)
        return ERR_OK;
    return FAIL(e, INTERNAL, "backend %s: %s differs from the reference by %.3g of its norm", be->name, op_name(k->op),
                sqrt(diff / norm));
}

/* A window of 3 × 3 by the weights of `f` as a plan packs them (ADR 0164). A shape that the variant has no such weights for would
 * leave the outputs poisoned and look like a wrong result: it is told apart. */
static enum errc call_turned(const struct backend *be, struct backend_ctx *ctx, const struct op_call *f, struct err *e)
{
    const size_t bytes = be->windows_bytes(&f->attr, f->in[0]->dim[1], f->in[0]->dim[2]);
    if (!bytes)
        return FAIL(e, INTERNAL, "backend %s: no weights of %s for %zu x %zu, a shape of its self-test", be->name,
                    op_name(OP_CONV2D_WINO), f->in[0]->dim[1], f->in[0]->dim[2]);
    struct buffer *room = be->alloc(ctx, bytes);
    if (!room)
        return FAIL(e, LIMIT, "no memory for the self-test of backend %s", be->name);
    struct tensor packed = tensor_at(room, 0, ELEM_U8, 1, &bytes);
    const struct op_call pack = { f->attr, { f->in[1] }, { &packed } };
    struct op_call call = *f;
    call.in[1] = &packed;
    call_kernel(be, ctx, OP_WINO_PACK, &pack);
    call_kernel(be, ctx, OP_CONV2D_WINO, &call);
    be->free(ctx, room);
    return ERR_OK;
}

enum errc net_check(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, const struct net_case *k,
                    uint64_t seed,
                    double tolerance, uint64_t *ret_hash, struct err *e)
{
    struct pair in[4] = { 0 }, out[OP_OUTPUTS_MAX] = { 0 };
    struct op_call f = { .attr = k->attr }, d = f;
    bool ok = true;
    for (int i = 0; i < 4 + OP_OUTPUTS_MAX; i++) {
        struct pair *p = i < 4 ? &in[i] : &out[i - 4];
        const struct net_shape *s = i < 4 ? &k->in[i] : &k->out[i - 4];
        if (!s->rank)
            continue;
        ok = make_pair(s, k->narrow >> i & 1, &seed, p) && ok;
        *(i < 4 ? &f.in[i] : &f.out[i - 4]) = &p->f;
        *(i < 4 ? &d.in[i] : &d.out[i - 4]) = &p->d;
        for (size_t j = 0; ok && i >= 4 && !(k->attr.flags & OP_ACCUMULATE) && j < count(s); j++)
            set_pair(p, j, NAN);
    }
    enum errc rc = ok ? ERR_OK : FAIL(e, LIMIT, "no memory for the self-test of backend %s", be->name);
    if (ok) {
        if (k->op == OP_ATTENTION_BWD)
            make_forward(k, ref, in);
        if (k->op == OP_CONV2D_WINO)
            rc = call_turned(be, ctx, &f, e);
        else
            call_kernel(be, ctx, k->op, &f);
        (*backend_ref.kernels)[k->op == OP_CONV2D_WINO ? OP_CONV2D : k->op][ELEM_F64](ref, &d);
        if (ret_hash)
            *ret_hash = str_hash(str_n(out[0].f.ptr, count(&k->out[0]) * elem_bytes(out[0].f.type)));
    }
    for (int i = 0; i < OP_OUTPUTS_MAX && rc == ERR_OK; i++)
        rc = !k->out[i].rank ? ERR_OK : compare(be, k, &out[i], tolerance, e);
    for (int i = 0; i < 4 + OP_OUTPUTS_MAX; i++) {
        free(i < 4 ? in[i].f.ptr : out[i - 4].f.ptr);
        free(i < 4 ? in[i].d.ptr : out[i - 4].d.ptr);
    }
    return rc;
}

static enum errc check_all(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref,
                           size_t (*cases)(const struct net_size *s, struct net_case *ret), struct selftest_faults *f,
                           struct err *e)
{
    static const struct net_size sizes[] = {
        { .n = 2, .t = 5, .heads = 2, .kv_heads = 1, .d = 3, .side = 4, .window = 3, .stride = 2, .pad = 1, .in = 6, .out = 5,
          .groups = 2 },
        { .n = 1, .t = 50, .heads = 1, .kv_heads = 1, .d = 17, .side = 5, .window = 1, .stride = 1, .pad = 0, .in = 17, .out = 3,
          .groups = 1 },
    };
    struct net_case k[NET_CASES_MAX];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0, n = cases(&sizes[i], k); j < n; j++)
            if (net_case_runs(be, &k[j]) && selftest_case(f)
                && net_check(be, ctx, ref, &k[j], i * 100 + j + 1, 1e-5, NULL, e) != ERR_OK)
                TRY(selftest_fault(f, e));
    return ERR_OK;
}

enum errc net_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                       struct err *e)
{
    const struct op_attr attr = { .stride = 1, .pad = 1, .window = { 3, 3 }, .n = 16, .k = 9 * 16,
                                  .flags = MM_BIAS | CONV_ADD | MM_RELU };
    const struct net_shape x = { 4, { 1, 6, 8, 16 } };         /* tiles cut at the lower edge */
    const struct net_case k = { OP_CONV2D_WINO, attr, { x, { 4, { 16, 3, 3, 16 } }, { 1, { 16 } }, x }, { x } };
    if (net_case_runs(be, &k) && selftest_case(f) && net_check(be, ctx, ref, &k, 7, 1e-5, NULL, e) != ERR_OK)
        TRY(selftest_fault(f, e));
    return check_all(be, ctx, ref, net_cases, f, e);
}

enum errc narrow_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                          struct err *e)
{
    return be->properties & BE_NARROW ? check_all(be, ctx, ref, narrow_cases, f, e) : ERR_OK;
}
