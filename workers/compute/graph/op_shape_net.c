/* SPDX-License-Identifier: Apache-2.0 */
/* op_shape_net.c - shapes of attention, convolution, pooling and what goes with them. Sizes come from specs and model files:
 * each rule
 * refuses what the kernel would assert, by name. */
#include "workers/compute/graph/op_rules_int.h"

enum { HEADS_MAX = 65536 };

enum errc shape_like_first(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    (void)e;
    *out = *in_shape(g, n, 0);
    return ERR_OK;
}

enum errc shape_rotary(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *table = in_shape(g, n, 1);
    *out = *in_shape(g, n, 0);
    if (out->rank != 3 || out->dim[1].is_batched)
        return shape_refuse(g, n, 0, "expected [items, tokens, columns]", e);
    if (table->type != out->type || table->rank != 2 || table->dim[0].is_batched || table->dim[1].is_batched
        || table->dim[0].n < out->dim[1].n || table->dim[1].n % 2)
        return shape_refuse(g, n, 1, "expected cosines and sines, a row for each token and an even number of columns", e);
    if (n->attr.heads > HEADS_MAX || n->attr.heads * table->dim[1].n > out->dim[2].n)
        return shape_refuse(g, n, 0, "it has fewer columns than the heads that turn", e);
    return ERR_OK;
}

static enum errc check_attention(const struct graph *g, const struct node *n, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    size_t heads = n->attr.heads, kv = n->attr.kv_heads;
    if (!heads || !kv || heads > HEADS_MAX || heads % kv)
        return FAIL(e, UNPROCESSABLE, "%zu heads cannot share %zu heads of keys and values", heads, kv);
    if (x->rank != 3 || x->dim[1].is_batched || x->dim[2].is_batched || x->dim[2].n % (heads + 2 * kv))
        return shape_refuse(g, n, 0, "expected [items, tokens, (heads + 2 x heads of keys and values) x size of a head]", e);
    return ERR_OK;
}

enum errc shape_attention(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    TRY(check_attention(g, n, e));
    size_t d = x->dim[2].n / (n->attr.heads + 2 * n->attr.kv_heads);
    out[0] = (struct shape){ x->type, 3, { x->dim[0], x->dim[1], DIM(n->attr.heads * d) } };
    out[1] = (struct shape){ x->type, 3, { x->dim[0], DIM(n->attr.heads), x->dim[1] } };
    return ERR_OK;
}

enum errc shape_attention_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    struct shape want[2];
    TRY(shape_attention(g, n, want, e));
    if (!is_same_shape(in_shape(g, n, 1), &want[0]) || !is_same_shape(in_shape(g, n, 3), &want[0]))
        return shape_refuse(g, n, 3, "expected the shape of the result", e);
    *out = *in_shape(g, n, 0);
    return is_same_shape(in_shape(g, n, 2), &want[1]) ? ERR_OK : shape_refuse(g, n, 2, "expected [items, heads, tokens]", e);
}

enum errc shape_swiglu(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    *out = *in_shape(g, n, 0);
    struct dim *last = &out->dim[out->rank - 1];
    if (last->is_batched || last->n % 2)
        return shape_refuse(g, n, 0, "expected an even number of columns, gates first", e);
    last->n /= 2;
    return ERR_OK;
}

enum errc shape_swiglu_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    struct shape want;
    TRY(shape_swiglu(g, n, &want, e));
    *out = *in_shape(g, n, 0);
    return is_same_shape(in_shape(g, n, 1), &want) ? ERR_OK : shape_refuse(g, n, 1, "expected the shape of the result", e);
}

/* What a window makes of a side of `size`; 0: it does not fit. */
static size_t side(const struct op_attr *a, size_t size, size_t window)
{
    if (!a->stride || !window || a->pad >= window || size + 2 * a->pad < window)
        return 0;
    return (size + 2 * a->pad - window) / a->stride + 1;
}

enum errc shape_walk(const struct graph *g, const struct node *n, const struct shape *x, size_t h, size_t w, struct dim channels,
                     struct shape *out, struct err *e)
{
    if (x->rank != 4 || x->dim[1].is_batched || x->dim[2].is_batched || x->dim[3].is_batched)
        return shape_refuse(g, n, 0, "expected images [items, height, width, channels]", e);
    size_t high = side(&n->attr, x->dim[1].n, h), wide = side(&n->attr, x->dim[2].n, w);
    *out = (struct shape){ x->type, 4, { x->dim[0], DIM(high), DIM(wide), channels } };
    if (!out->dim[1].n || !out->dim[2].n)
        return shape_refuse(g, n, 0, "the window with its padding and stride does not fit into it", e);
    return ERR_OK;
}

/* What joins a convolution is asked for by its flags and has the shape of a channel, or of the result. */
enum errc shape_epilogue(const struct graph *g, const struct node *n, int bias, const struct shape *out, struct err *e)
{
    int add = bias + 1;
    bool has_bias = n->in[bias] != VALUE_NONE, has_add = n->in[add] != VALUE_NONE;
    if (has_bias != !!(n->attr.flags & MM_BIAS) || (has_bias && !is_vector_of(in_shape(g, n, bias), out->type, last_of(out))))
        return shape_refuse(g, n, bias, "expected a bias with a number for each channel, if the flag asks for one", e);
    if (has_add != !!(n->attr.flags & CONV_ADD) || (has_add && !is_same_shape(in_shape(g, n, add), out)))
        return shape_refuse(g, n, add, "expected the shape of the result, if the flag asks for it", e);
    return ERR_OK;
}

enum errc shape_conv2d(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0), *w = in_shape(g, n, 1);
    if (w->type != x->type || w->rank != 4 || x->rank != 4 || !is_same_dim(w->dim[3], x->dim[3]))
        return shape_refuse(g, n, 1, "expected weights [out, height, width, in] with the channels of input 0", e);
    TRY(shape_walk(g, n, x, w->dim[1].n, w->dim[2].n, w->dim[0], out, e));
    return shape_epilogue(g, n, 2, out, e);
}

enum errc shape_conv2d_packed(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    if (x->rank != 4 || n->attr.k != n->attr.window[0] * n->attr.window[1] * x->dim[3].n)
        return shape_refuse(g, n, 0, "its channels are not those of the packed weights", e);
    TRY(shape_walk(g, n, x, n->attr.window[0], n->attr.window[1], DIM(n->attr.n), out, e));
    return shape_epilogue(g, n, 2, out, e);
}

enum errc shape_depthwise(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0), *w = in_shape(g, n, 1);
    if (w->type != x->type || w->rank != 3 || x->rank != 4 || !is_same_dim(w->dim[2], x->dim[3]))
        return shape_refuse(g, n, 1, "expected weights [height, width, channels] with the channels of input 0", e);
    TRY(shape_walk(g, n, x, w->dim[0].n, w->dim[1].n, x->dim[3], out, e));
    return shape_epilogue(g, n, 2, out, e);
}

/* The input's image is told in the attributes; that it would give dy is checked. */
static enum errc like_image(const struct node *n, const struct shape *d, size_t h, size_t w, struct dim channels,
                            struct shape *out, struct err *e)
{
    *out = (struct shape){ d->type, 4, { d->dim[0], DIM(n->attr.image[0]), DIM(n->attr.image[1]), channels } };
    if (d->rank != 4 || side(&n->attr, n->attr.image[0], h) != d->dim[1].n || side(&n->attr, n->attr.image[1], w) != d->dim[2].n)
        return FAIL(e, UNPROCESSABLE, "%s: an image of %zu x %zu does not give this gradient", op_name(n->op), n->attr.image[0],
                    n->attr.image[1]);
    return ERR_OK;
}

enum errc shape_conv2d_bwd_x(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *w = in_shape(g, n, 0), *d = in_shape(g, n, 1);
    if (w->rank != 4 || d->rank != 4 || !is_same_dim(w->dim[0], d->dim[3]) || w->type != d->type)
        return shape_refuse(g, n, 1, "expected a gradient with the channels that the weights make", e);
    return like_image(n, d, w->dim[1].n, w->dim[2].n, w->dim[3], out, e);
}

enum errc shape_conv2d_bwd_w(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0), *d = in_shape(g, n, 1);
    struct shape y;
    TRY(shape_walk(g, n, x, n->attr.window[0], n->attr.window[1], last_of(d), &y, e));
    *out = (struct shape){ x->type, 4, { last_of(d), DIM(n->attr.window[0]), DIM(n->attr.window[1]), x->dim[3] } };
    return is_same_shape(d, &y) ? ERR_OK : shape_refuse(g, n, 1, "expected the shape of the result", e);
}

static enum errc check_groups(const struct graph *g, const struct node *n, int scale, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    if (x->rank != 4 || x->dim[3].is_batched || !n->attr.n || x->dim[3].n % n->attr.n)
        return shape_refuse(g, n, 0, "expected images whose channels the groups share evenly", e);
    if (!is_vector_of(in_shape(g, n, scale), x->type, x->dim[3]))
        return shape_refuse(g, n, scale, "expected a vector with a number for each channel", e);
    return ERR_OK;
}

enum errc shape_groupnorm(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    TRY(check_groups(g, n, 1, e));
    *out = *in_shape(g, n, 0);
    return check_groups(g, n, 2, e);
}

enum errc shape_groupnorm_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    TRY(check_groups(g, n, 1, e));
    *out = *in_shape(g, n, 0);
    return is_same_shape(in_shape(g, n, 2), out) ? ERR_OK : shape_refuse(g, n, 2, "expected the shape and type of input 0", e);
}

enum errc shape_pool(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    return shape_walk(g, n, x, n->attr.window[0], n->attr.window[1], last_of(x), out, e);
}

enum errc shape_avgpool_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *d = in_shape(g, n, 0);
    return like_image(n, d, n->attr.window[0], n->attr.window[1], last_of(d), out, e);
}

enum errc shape_cast(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    *out = *in_shape(g, n, 0);
    if (n->attr.n != ELEM_F32 && n->attr.n != ELEM_F64 && n->attr.n != ELEM_BF16)
        return shape_refuse(g, n, 0, "a cast makes f32, f64 or bf16", e);
    out->type = (enum elem)n->attr.n;
    return ERR_OK;
}
