/* SPDX-License-Identifier: Apache-2.0 */
/* lt_call.c - operations as products of cuBLASLt: which may be, and how their tensors are told.
 *
 * Not those with MM_RELU: what the library's maximum makes of a NaN is not said, and a loss that is none must show. Not OP_BF16
 * of fp32 tensors, which its kernels do not round. A bias is fp32 here; where the result is bf16 the library may want it in bf16,
 * and gets it from scratch memory then. */
#include "workers/compute/kernels/cuda/cuda_ops_int.h"
#include "workers/compute/kernels/cuda/lt_int.h"

enum { ALIGN_MOST = 256, AUX_ALIGN = 16, AUX_STRIDE = 8 };

static uint64_t align_of(gpu_ptr p)
{
    uint64_t a = p & (~p + 1);
    return a && a < ALIGN_MOST ? a : ALIGN_MOST;
}

static uint64_t lt_type(enum elem t)
{
    return t == ELEM_BF16 ? LT_BF16 : LT_F32;
}

static gpu_ptr place_of(const struct mat *m)
{
    return (gpu_ptr)(uintptr_t)f32(m);
}

static uint64_t stride_of(const struct mat *m)
{
    return m->rows > 1 ? m->stride : m->cols;
}

static void add_bias(struct lt_product *p, gpu_ptr bias, enum elem type, uint64_t end)
{
    p->bias = bias;
    p->kind.of[KIND_END] = end;
    p->kind.of[KIND_ALIGN] |= align_of(bias) << 48;
    p->kind.of[KIND_TYPES] |= lt_type(type) << 16;
}

/* false: none of its kinds. */
static bool product_of(const struct op_call *o, const struct mat *a, const struct mat *b, const struct mat *out,
                       struct lt_product *ret)
{
    unsigned flags = o->attr.flags;
    bool ta = flags & MM_TRANS_A, tb = flags & MM_TRANS_B, adds = flags & OP_ACCUMULATE;
    bool is_right = (a->type == ELEM_BF16 || a->type == ELEM_F32) && b->type == a->type
                    && (out->type == ELEM_F32 || (out->type == ELEM_BF16 && a->type == ELEM_BF16 && !adds));
    size_t k = ta ? a->rows : a->cols;
    if (!is_right || (flags & (MM_RELU | OP_BF16)) || !out->rows || !out->cols || !k || out->rows > INT32_MAX
        || out->cols > INT32_MAX || k > INT32_MAX)
        return false;
    ASSERT((ta ? a->cols : a->rows) == out->rows && (tb ? b->rows : b->cols) == out->cols && (tb ? b->cols : b->rows) == k);
    *ret = (struct lt_product){ .a = place_of(a), .b = place_of(b), .out = place_of(out),
                                .out_bytes = ((out->rows - 1) * out->stride + out->cols) * elem_bytes(out->type) };
    uint64_t *of = ret->kind.of;
    of[KIND_M] = out->rows, of[KIND_N] = out->cols, of[KIND_K] = k;
    of[KIND_STRIDE_A] = stride_of(a), of[KIND_STRIDE_B] = stride_of(b), of[KIND_STRIDE_OUT] = stride_of(out);
    of[KIND_BATCH] = 1;
    of[KIND_TYPES] = lt_type(a->type) | lt_type(out->type) << 8;
    of[KIND_END] = LT_END_PLAIN;
    of[KIND_FLAGS] = (ta ? LT_TURNS_A : 0u) | (tb ? LT_TURNS_B : 0u) | (adds ? LT_ADDS : 0u);
    of[KIND_ALIGN] = align_of(ret->a) | align_of(ret->b) << 16 | align_of(ret->out) << 32;
    return true;
}

/* How a product with a bias is done: alone, or as a joined operation. */
struct doing {
    const struct op_call *o;
    lt_apart *apart;                    /* NULL: alone */
};

static bool do_it(struct backend_ctx *c, const struct lt_product *p, const struct doing *d)
{
    return d->apart ? lt_do_or(c, p, d->o, d->apart) : lt_do(c, p);
}

/* With a bias as it is, and else with one in bf16. false: by neither. */
static bool with_bias(struct backend_ctx *c, const struct lt_product *plain, uint64_t end, bool is_narrow, const struct doing *d)
{
    struct lt_product p = *plain;
    const struct tensor *bias = d->o->in[2];
    p.is_try = d->apart || is_narrow;
    add_bias(&p, (gpu_ptr)(uintptr_t)at(bias), ELEM_F32, end);
    if (do_it(c, &p, d))
        return true;
    size_t n = tensor_count(bias);
    void *room = is_narrow ? cuda_scratch(c, n * sizeof(uint16_t)) : NULL;
    if (!room)
        return false;
    p = *plain;
    p.is_try = d->apart != NULL;
    add_bias(&p, (gpu_ptr)(uintptr_t)room, ELEM_BF16, end);
    if (lt_is_refused(c, &p.kind))
        return false;
    cuda_launch(c, KERNEL_cast, over(n, 256), 1, 1, &(struct cast_args){ numbers_at(bias), { room, true }, n, false });
    return do_it(c, &p, d);
}

bool cuda_lt_matmul(struct backend_ctx *c, const struct op_call *o)
{
    struct lt_product plain;
    if (!c->lt)
        return false;
    const struct mat a = mat_of(o->in[0]), b = mat_of(o->in[1]), out = mat_of(o->out[0]);
    if (!product_of(o, &a, &b, &out, &plain))
        return false;
    return o->in[2] ? with_bias(c, &plain, LT_END_BIAS, out.type == ELEM_BF16, &(struct doing){ o, NULL }) : lt_do(c, &plain);
}

/* What the library calls auxiliary: GELU's argument, of the result's shape. false: it does not lie as it must. */
static bool add_aux(struct lt_product *p, const struct tensor *t)
{
    const struct mat x = mat_of(t);
    p->aux = place_of(&x);
    p->kind.of[KIND_STRIDE_AUX] = stride_of(&x);
    return p->aux % AUX_ALIGN == 0 && stride_of(&x) % AUX_STRIDE == 0;
}

/* Both ends take the result in bf16 alone here, and are only tried: the product and the cells do the same. */
static bool plain_of(struct backend_ctx *c, const struct op_call *o, struct lt_product *ret)
{
    if (!c->lt)
        return false;
    const struct mat a = mat_of(o->in[0]), b = mat_of(o->in[1]), out = mat_of(o->out[0]);
    return out.type == ELEM_BF16 && product_of(o, &a, &b, &out, ret);
}

bool cuda_lt_gelu(struct backend_ctx *c, const struct op_call *o, lt_apart *apart)
{
    struct lt_product p;
    if (!plain_of(c, o, &p) || (o->out[1] && !add_aux(&p, o->out[1])))
        return false;
    return with_bias(c, &p, o->out[1] ? LT_END_GELU_AUX_BIAS : LT_END_GELU_BIAS, true, &(struct doing){ o, apart });
}

bool cuda_lt_gelu_bwd(struct backend_ctx *c, const struct op_call *o, lt_apart *apart)
{
    struct lt_product p;
    if (!plain_of(c, o, &p) || !add_aux(&p, o->in[2]))
        return false;
    p.kind.of[KIND_END] = LT_END_DGELU;
    p.is_try = true;
    return lt_do_or(c, &p, o, apart);
}

/* Their second factor is our first one: the sum over the depth is one for each of their columns. It is set, not added to. */
bool cuda_lt_sum(struct backend_ctx *c, const struct op_call *o, lt_apart *apart)
{
    struct lt_product p;
    if (!c->lt || (o->attr.flags & OP_ACCUMULATE))
        return false;
    const struct mat a = mat_of(o->in[0]), b = mat_of(o->in[1]), out = mat_of(o->out[0]);
    if (out.type != ELEM_F32 || o->out[1]->type != ELEM_F32 || !product_of(o, &a, &b, &out, &p))
        return false;
    p.is_try = true;
    add_bias(&p, (gpu_ptr)(uintptr_t)at(o->out[1]), ELEM_F32, LT_END_BGRADB);
    return lt_do_or(c, &p, o, apart);
}

bool cuda_lt_bmm(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *t[] = { o->in[0], o->in[1], o->out[0] };
    struct mat m[3];
    struct op_call plain = *o;
    struct lt_product p;
    unsigned r = t[2]->rank;
    if (!c->lt)
        return false;
    for (int i = 0; i < 3; i++)
        m[i] = (struct mat){ t[i]->type, t[i]->dim[r - 2], t[i]->dim[r - 1], t[i]->stride[r - 2], t[i]->buf, t[i]->offset_bytes,
                             NULL };
    plain.attr.flags &= MM_TRANS_B;
    if (!product_of(&plain, &m[0], &m[1], &m[2], &p))
        return false;
    for (unsigned d = 0; d + 2 < r; d++)
        p.kind.of[KIND_BATCH] *= t[2]->dim[d];
    for (int i = 0; i < 3; i++)
        p.kind.of[KIND_STEP_A + i] = t[i]->dim[r - 2] * t[i]->dim[r - 1];
    return p.kind.of[KIND_BATCH] && p.kind.of[KIND_BATCH] <= INT32_MAX && lt_do(c, &p);
}
