/* SPDX-License-Identifier: Apache-2.0 */
/* import_dynamic.c - DynamicQuantizeLinear and what follows it. A product of what it made waits for the multiplication by both
 * scales, and then is QMATMUL with a range for each item of the batch (docs/adr/0105): the file has one for all numbers of a
 * call, and a call of one item is the only one whose answer does not depend on what it was batched with. */
#include "workers/compute/onnx/import_q8_int.h"

#include <float.h>

static enum errc keep_dynamic(struct import *x, size_t out, struct dynamic d)
{
    struct dynamic *to = arena_try(x->a, sizeof *to);
    if (!to)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    *to = d;
    if (out < x->node->out_count && x->node->out[out].len)
        import_name(x, x->node->out[out])->dynamic = to;
    return ERR_OK;
}

/* The zero point of what DynamicQuantizeLinear made, and constants that lie around theirs: waits for its scales. */
enum errc q8_wait_for_scales(struct import *x)
{
    static float one = 1;
    const struct dynamic *a = import_in(x, 0)->dynamic, *z = import_has(x, 2) ? import_in(x, 2)->dynamic : NULL;
    struct known *b = import_in(x, 1)->known;
    struct scales s = { .scale = &one, .count = 1, .zeros = 1 };
    struct named room = { 0 };
    int64_t *whole;
    if (!a || a->what != DYNAMIC_WHOLE || !z || z->what != DYNAMIC_ZERO || z->from != a->from || !b || b->rank != 2
        || !b->is_whole || (import_has(x, 3) && !import_in(x, 3)->known))
        return ERR_OK;
    if (import_has(x, 3)) {
        TRY(known_whole(x, import_in(x, 3)->known, &s.zero));
        s.zeros = import_in(x, 3)->known->count;
    }
    if (s.zeros != 1 && s.zeros != (size_t)b->dim[1])
        return ERR_OK;
    TRY(known_whole(x, b, &whole));
    TRY(q8_keep_weights(x, &room, b, whole, &s, 1));
    return room.weights ? keep_dynamic(x, 0, (struct dynamic){ DYNAMIC_PRODUCT, a->from, room.weights, NULL, 0 }) : ERR_OK;
}

/* v / scale + zero, rounded and cut to 0 … 255. */
static enum errc byte_values(struct import *x, int v, int scale, int zero, int *ret)
{
    const struct op_attr cut = { .fn = UNARY_CLIP, .gamma = 255 };
    TRY(step_binary(x, BINARY_DIV, v, scale, &v));
    TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_ROUND }, &v, 1, &v));
    if (zero != VALUE_NONE)
        TRY(step_binary(x, BINARY_ADD, v, zero, &v));
    return step_op(x, OP_UNARY, &cut, &v, 1, ret);
}

HANDLER(dynamic_quantise)
{
    (void)arg_;
    struct named *in = import_in(x, 0);
    int v, low, high, scale, zero, y, nought, tiny, all;
    struct op_attr attr = { .fn = REDUCE_MIN };
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    bool has_rows = s.dim[0].is_batched;
    for (unsigned d = has_rows ? 1 : 0; d < s.rank; d++)
        attr.axes |= (size_t)1 << d;
    if (!attr.axes)
        return UNSUPPORTED(x, "single numbers of a batch");
    TRY(step_fill(x, 1, 0, &nought));
    TRY(step_fill(x, 1, FLT_MIN, &tiny));
    TRY(step_fill(x, 1, 255, &all));
    TRY(step_op(x, OP_REDUCE, &attr, &v, 1, &low));
    attr.fn = REDUCE_MAX;
    TRY(step_op(x, OP_REDUCE, &attr, &v, 1, &high));
    TRY(step_binary(x, BINARY_MIN, low, nought, &low));
    TRY(step_binary(x, BINARY_MAX, high, nought, &high));
    TRY(step_binary(x, BINARY_SUB, high, low, &scale));
    TRY(step_binary(x, BINARY_DIV, scale, all, &scale));
    TRY(step_binary(x, BINARY_MAX, scale, tiny, &scale));
    TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_NEG }, &low, 1, &low));
    TRY(byte_values(x, low, scale, VALUE_NONE, &zero));
    TRY(byte_values(x, v, scale, zero, &y));
    TRY(import_set(x, 0, y));
    if (!has_rows)
        TRY(step_reshape(x, scale, 0, NULL, &scale));
    if (!has_rows)
        TRY(step_reshape(x, zero, 0, NULL, &zero));
    TRY(import_set(x, 1, scale));
    TRY(import_set(x, 2, zero));
    TRY(keep_dynamic(x, 0, (struct dynamic){ DYNAMIC_WHOLE, in, NULL, NULL, 0 }));
    TRY(keep_dynamic(x, 1, (struct dynamic){ DYNAMIC_SCALE, in, NULL, NULL, 0 }));
    return keep_dynamic(x, 2, (struct dynamic){ DYNAMIC_ZERO, in, NULL, NULL, 0 });
}

/* The product with the range that dynamic_quantise takes: of an item, or of all there is where nothing is batched. */
static enum errc product_by_items(struct import *x, int v, const struct weights8 *w, const struct dynamic *scale, int *ret)
{
    static const float one = 1;
    const float *by = scale->factor ? scale->factor : &one;
    size_t scales = scale->factor ? scale->factors : 1;
    const struct shape in = *import_shape_of(x, v);
    struct op_attr attr = { .flags = in.rank > 2 ? Q8_ITEM : 0 };
    if (in.dim[0].is_batched || shape_count(&in, 1) == in.dim[in.rank - 1].n)
        return q8_product_of(x, v, &attr, w, false, by, scales, ret);
    struct shape all = { in.type, 3, { DIM(1), DIM(shape_count(&in, 1) / in.dim[in.rank - 1].n), in.dim[in.rank - 1] } };
    struct shape out = in;
    attr.flags = Q8_ITEM;
    out.dim[out.rank - 1] = DIM((size_t)w->dim[1]);
    v = graph_reshape(x->g, v, all);
    TRY(q8_product_of(x, v, &attr, w, false, by, scales, &v));
    *ret = graph_reshape(x->g, v, out);
    return graph_check(x->g, x->e);
}

void import_pass_dynamic(struct import *x, const struct named *in)
{
    if (in->dynamic && in->dynamic->what == DYNAMIC_PRODUCT && x->node->out[0].len)
        import_name(x, x->node->out[0])->dynamic = in->dynamic;
}

enum errc import_dynamic_mul(struct import *x, bool *done)
{
    const struct named *p = import_in(x, 0), *q = import_in(x, 1);
    if (q->dynamic && (!p->dynamic || q->dynamic->what == DYNAMIC_PRODUCT)) {
        const struct named *other = p;
        p = q;
        q = other;
    }
    const struct dynamic *d = p->dynamic, *s = q->dynamic;
    float *factor;
    int v, y;
    *done = false;
    if (!d)
        return ERR_OK;
    if (d->what == DYNAMIC_SCALE && q->known && !d->factor) {       /* both scales: multiplied as ever, and remembered */
        TRY(known_real(x, q->known, &factor));
        TRY(import_value(x, 0, &v));
        TRY(import_value(x, 1, &y));
        TRY(step_binary(x, BINARY_MUL, v, y, &y));
        TRY(import_set(x, 0, y));
        *done = true;
        return keep_dynamic(x, 0, (struct dynamic){ DYNAMIC_SCALE, d->from, NULL, factor, q->known->count });
    }
    if (d->what != DYNAMIC_PRODUCT || !s || s->what != DYNAMIC_SCALE || s->from != d->from
        || (s->factors > 1 && s->factors != (size_t)d->w->dim[1]))
        return ERR_OK;
    TRY(import_value_of(x, d->from, &v));
    if (!q8_is_deep_as(x, v, d->w->dim[0]))
        return ERR_OK;
    TRY(product_by_items(x, v, d->w, s, &y));
    *done = true;
    return import_set(x, 0, y);
}
