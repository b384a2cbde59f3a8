/* SPDX-License-Identifier: Apache-2.0 */
/* import_conv.c - convolutions and pooling of images, and the batch norm behind a convolution, which its weights take in.
 *
 * ONNX has channels first, the kernels have them last. An image is turned once where it comes in; what follows is computed on the
 * turned one as long as it can be (struct named, last), and turned back for whoever needs it: what nobody needs is not written.
 * A kernel knows one stride and one padding. Other paddings and dilations are windows with zeros in them, made here:
 * with p the largest padding, p - top zeros before and p - bottom behind a side say the same. Groups are blocks of at least
 * BLOCK channels whose weights are zero between groups. */
#include "workers/compute/onnx/import_int.h"

enum { BLOCK = 16, SIDES = 2, BLOCKS_MAX = 512, WEIGHTS_MAX = 1 << 28 };

struct sides {                      /* by height and width */
    size_t kernel[SIDES], stride, before[SIDES], behind[SIDES], dilation[SIDES], pad;
};

static enum errc read_pair(struct import *x, const char *name, int64_t dflt, int64_t most, size_t ret[SIDES])
{
    const struct onnx_attr *t = onnx_attr_find(x->node, name);
    for (size_t d = 0; d < SIDES; d++) {
        int64_t v = t && t->int_count ? t->ints[d < t->int_count ? d : 0] : dflt;
        if (t && t->int_count != SIDES)
            return FAIL(x->e, BAD_DATA, "%s has %zu numbers for an image", name, t->int_count);
        if (v < 1 || v > most)
            return FAIL(x->e, BAD_DATA, "%s has %ld", name, (long)v);
        ret[d] = (size_t)v;
    }
    return ERR_OK;
}

/* Of both forms: pads, or what auto_pad says for this image. */
static enum errc read_padding(struct import *x, const struct shape *s, struct sides *w)
{
    const struct onnx_attr *pads = onnx_attr_find(x->node, "pads"), *how = onnx_attr_find(x->node, "auto_pad");
    bool is_same = how && how->has_s && (str_eq_c(how->s, "SAME_UPPER") || str_eq_c(how->s, "SAME_LOWER"));
    for (size_t d = 0; d < SIDES; d++) {
        size_t wide = (w->kernel[d] - 1) * w->dilation[d] + 1, side = s->dim[d + 2].n;
        size_t made = (side + w->stride - 1) / w->stride, need = (made - 1) * w->stride + wide;
        size_t all = is_same && need > side ? need - side : 0;
        w->before[d] = str_eq_c(how && how->has_s ? how->s : STR(""), "SAME_LOWER") ? all - all / 2 : all / 2;
        w->behind[d] = all - w->before[d];
        if (!is_same && pads && pads->int_count == 2 * SIDES) {
            int64_t a = pads->ints[d], b = pads->ints[d + SIDES];
            if (a < 0 || b < 0 || a > INT16_MAX || b > INT16_MAX)
                return UNSUPPORTED(x, "a padding of %ld and %ld", (long)a, (long)b);
            w->before[d] = (size_t)a;
            w->behind[d] = (size_t)b;
        }
        w->pad = w->pad > w->before[d] ? w->pad : w->before[d];
        w->pad = w->pad > w->behind[d] ? w->pad : w->behind[d];
    }
    return ERR_OK;
}

static enum errc read_sides(struct import *x, const struct shape *s, struct sides *w)
{
    size_t stride[SIDES];
    TRY(read_pair(x, "strides", 1, INT16_MAX, stride));
    TRY(read_pair(x, "dilations", 1, INT16_MAX, w->dilation));
    if (stride[0] != stride[1])
        return UNSUPPORTED(x, "two strides, %zu and %zu", stride[0], stride[1]);
    w->stride = stride[0];
    return read_padding(x, s, w);
}

static enum errc image_in(struct import *x, struct shape *ret)
{
    int v;
    TRY(import_value(x, 0, &v));
    *ret = *import_shape_of(x, v);
    bool is_image = ret->rank == 4 && !ret->dim[1].is_batched && !ret->dim[2].is_batched && !ret->dim[3].is_batched;
    return is_image ? ERR_OK : UNSUPPORTED(x, "its input has %u dimensions; images of a batch have 4", ret->rank);
}

enum errc import_last_of(struct import *x, struct named *n, int *ret)
{
    static const size_t order[] = { 0, 2, 3, 1 };
    int v;
    if (n->last) {
        *ret = n->last - 1;
        return ERR_OK;
    }
    TRY(import_value_of(x, n, &v));
    TRY(step_transpose(x, v, order, ret));
    if (!n->known)
        n->last = *ret + 1;
    return ERR_OK;
}

enum errc import_last(struct import *x, size_t i, int *ret)
{
    return import_last_of(x, import_in(x, i), ret);
}

enum errc import_set_last(struct import *x, int value)
{
    static const size_t order[] = { 0, 3, 1, 2 };
    int y;
    TRY(step_transpose(x, value, order, &y));
    TRY(import_set(x, 0, y));
    if (x->node->out[0].len)
        import_name(x, x->node->out[0])->last = value + 1;
    return ERR_OK;
}

/* The batch norm that alone reads this node's result: its factors and shifts by channel. NULL: there is none. */
static const struct onnx_node *norm_behind(struct import *x)
{
    const struct onnx_node *norm = NULL;
    const struct onnx_file *m = x->file;
    struct str made = x->node->out[0];
    if (x->node < m->nodes || x->node >= m->nodes + m->node_count)
        return NULL;                    /* another operator, read as a convolution (import_q8.c) */
    for (size_t i = 0; i < m->output_count; i++)
        if (str_eq(m->outputs[i].name, made))
            return NULL;
    for (const struct onnx_node *n = x->node + 1; n < m->nodes + m->node_count; n++)
        for (size_t i = 0; i < n->in_count; i++)
            if (str_eq(n->in[i], made)) {
                if (norm || i || !str_eq_c(n->op, "BatchNormalization"))
                    return NULL;
                norm = n;
            }
    return norm;
}

static enum errc norm_factors(struct import *x, size_t channels, float **ret_a, float **ret_b)
{
    const struct onnx_node *here = x->node, *norm = norm_behind(x);
    *ret_a = NULL;
    if (!norm)
        return ERR_OK;
    x->node = norm;
    enum errc rc = norm->in_count == 5 ? import_norm_factors(x, channels, ret_a, ret_b) : ERR_UNPROCESSABLE;
    x->node = here;
    if (rc != ERR_OK) {                 /* then the batch norm is judged by itself */
        *ret_a = NULL;
        err_clear(x->e);
    }
    return ERR_OK;
}

struct filters {
    const float *w;                     /* [out, in of a group, height, width], ONNX's order */
    const float *factor;                /* by output, or NULL */
    size_t out, in, groups;             /* in: of a group */
    struct sides sides;
};

/* A side of the window with dilation and with the zeros that make its paddings one. */
static size_t window_side(const struct sides *s, size_t d)
{
    return (s->kernel[d] - 1) * s->dilation[d] + 1 + 2 * s->pad - s->before[d] - s->behind[d];
}

/* Where the number k of a window of input i and output o lies among block_weights. */
static size_t place_of(const struct sides *s, size_t ins, size_t o, size_t i, size_t k)
{
    size_t y = s->pad - s->before[0] + k / s->kernel[1] * s->dilation[0];
    size_t z = s->pad - s->before[1] + k % s->kernel[1] * s->dilation[1];
    return ((o * window_side(s, 0) + y) * window_side(s, 1) + z) * ins + i;
}

/* The weights of groups g0 … g1-1 as a constant [outputs, height, width, inputs] with its zeros. */
static enum errc block_weights(struct import *x, const struct filters *f, size_t g0, size_t g1, int *ret)
{
    const struct sides *s = &f->sides;
    size_t to = f->out / f->groups, outs = (g1 - g0) * to, ins = (g1 - g0) * f->in, wide[SIDES];
    for (size_t d = 0; d < SIDES; d++)
        wide[d] = window_side(s, d);
    size_t places = wide[0] * wide[1], count = 0;
    if (__builtin_mul_overflow(outs * ins, places, &count) || count > WEIGHTS_MAX)
        return UNSUPPORTED(x, "its window with padding and dilation has more than %d numbers", WEIGHTS_MAX);
    float *p = arena_try(x->a, count * sizeof *p + 4);
    if (!p)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (size_t o = 0; o < outs; o++)
        for (size_t i = 0; i < f->in; i++)
            for (size_t k = 0; k < s->kernel[0] * s->kernel[1]; k++) {
                float v = f->w[((g0 * to + o) * f->in + i) * s->kernel[0] * s->kernel[1] + k];
                p[place_of(s, ins, o, o / to * f->in + i, k)] = f->factor ? v * f->factor[g0 * to + o] : v;
            }
    *ret = graph_const(x->g, "", (struct shape){ ELEM_F32, 4, { DIM(outs), DIM(wide[0]), DIM(wide[1]), DIM(ins) } }, p);
    return graph_check(x->g, x->e);
}

/* A channel for each group: the weights as [height, width, channels], in the window that block_weights makes. */
static enum errc convolve_each(struct import *x, const struct filters *f, int v, int *ret)
{
    const struct sides *s = &f->sides;
    const struct op_attr attr = { .stride = s->stride, .pad = s->pad };
    size_t wide[SIDES], taps = s->kernel[0] * s->kernel[1], count;
    for (size_t d = 0; d < SIDES; d++)
        wide[d] = window_side(s, d);
    if (__builtin_mul_overflow(f->out * wide[0], wide[1], &count) || count > WEIGHTS_MAX)
        return UNSUPPORTED(x, "its window with padding and dilation has more than %d numbers", WEIGHTS_MAX);
    float *p = arena_try(x->a, count * sizeof *p + 4);
    if (!p)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (size_t c = 0; c < f->out; c++)
        for (size_t k = 0; k < taps; k++) {
            size_t y = s->pad - s->before[0] + k / s->kernel[1] * s->dilation[0];
            size_t z = s->pad - s->before[1] + k % s->kernel[1] * s->dilation[1];
            p[(y * wide[1] + z) * f->out + c] = f->w[c * taps + k] * (f->factor ? f->factor[c] : 1);
        }
    int w = graph_const(x->g, "", (struct shape){ ELEM_F32, 3, { DIM(wide[0]), DIM(wide[1]), DIM(f->out) } }, p);
    return step_op(x, OP_DEPTHWISE, &attr, (int[]){ v, w }, 2, ret);
}

/* A convolution of what was quantised, by weights that were; *done false: it is none of these. */
static enum errc convolve_q8(struct import *x, const struct filters *f, int *ret, bool *done)
{
    const struct sides *s = &f->sides;
    const struct quant *q = import_in(x, 0)->quant;
    const struct weights8 *w = import_in(x, 1)->weights;
    size_t high = window_side(s, 0), wide = window_side(s, 1), taps = s->kernel[0] * s->kernel[1], depth, count;
    int v;
    *done = false;
    if (!q || q->is_whole || !w || f->groups != 1 || f->factor || (w->scales > 1 && w->axis != 0)
        || __builtin_mul_overflow(high * wide, f->in, &depth) || depth > Q8_DEPTH_MAX
        || __builtin_mul_overflow(depth, f->out, &count) || count > WEIGHTS_MAX)
        return ERR_OK;
    int8_t *p = arena_try(x->a, count + 1);
    float *scale = arena_try(x->a, (f->out + 1) * sizeof *scale);
    if (!p || !scale)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (size_t o = 0; o < f->out; o++) {
        scale[o] = w->scale[w->scales == 1 ? 0 : o];
        for (size_t i = 0; i < f->in; i++)
            for (size_t k = 0; k < taps; k++)
                p[place_of(s, f->in, o, i, k)] = w->w[(o * f->in + i) * taps + k];
    }
    const struct op_attr attr = { .stride = s->stride, .pad = s->pad, .alpha = q->scale, .gamma = q->zero };
    int weights = graph_const(x->g, "", (struct shape){ ELEM_I8, 4, { DIM(f->out), DIM(high), DIM(wide), DIM(f->in) } }, p);
    int by = graph_const(x->g, "", (struct shape){ ELEM_F32, 1, { DIM(f->out) } }, scale);
    TRY(import_last_of(x, q->from, &v));
    *done = true;
    return step_op(x, OP_QCONV2D, &attr, (int[]){ v, weights, by }, 3, ret);
}

static enum errc convolve(struct import *x, const struct filters *f, int v, int *ret)
{
    if (f->in == 1 && f->groups == f->out && f->groups > 1)
        return convolve_each(x, f, v, ret);
    size_t step = (BLOCK + f->in - 1) / f->in, n = 0;
    int parts[BLOCKS_MAX];
    step = step < f->groups ? step : f->groups;
    if ((f->groups + step - 1) / step > BLOCKS_MAX)
        return UNSUPPORTED(x, "%zu groups are too many", f->groups);
    for (size_t g = 0; g < f->groups; g += step) {
        size_t end = g + step < f->groups ? g + step : f->groups;
        struct op_attr cut = { .step = { 1, 1, 1, 1 } }, attr = { .stride = f->sides.stride, .pad = f->sides.pad };
        int part = v, weights;
        cut.at[3] = g * f->in;
        cut.len[3] = (end - g) * f->in;
        if (step < f->groups)
            TRY(step_op(x, OP_SLICE, &cut, &v, 1, &part));
        TRY(block_weights(x, f, g, end, &weights));
        TRY(step_op(x, OP_CONV2D, &attr, (int[]){ part, weights }, 2, &parts[n++]));
    }
    while (n > 1) {                     /* as many at a time as an operation takes */
        size_t made = 0;
        for (size_t i = 0; i < n; i += OP_INPUTS_MAX) {
            size_t k = n - i < OP_INPUTS_MAX ? n - i : OP_INPUTS_MAX;
            int y = parts[i];
            if (k > 1)
                TRY(step_op(x, OP_CONCAT, &(struct op_attr){ .axes = 3 }, parts + i, k, &y));
            parts[made++] = y;
        }
        n = made;
    }
    *ret = parts[0];
    return ERR_OK;
}

static enum errc add_bias(struct import *x, const struct filters *f, const float *shift, int *v)
{
    float *bias = NULL, *p = arena_try(x->a, (f->out + 1) * sizeof *p);
    if (!p)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    if (import_has(x, 2)) {
        struct known *k = import_in(x, 2)->known;
        if (!k || k->count != f->out)
            return UNSUPPORTED(x, "input 2 is no constant with a number for each channel");
        TRY(known_real(x, k, &bias));
    }
    if (!bias && !shift)
        return ERR_OK;
    for (size_t i = 0; i < f->out; i++)
        p[i] = (bias ? bias[i] * (f->factor ? f->factor[i] : 1) : 0) + (shift ? shift[i] : 0);
    int b = graph_const(x->g, "", (struct shape){ ELEM_F32, 1, { DIM(f->out) } }, p);
    return step_op(x, OP_ADD_BIAS, &(struct op_attr){ 0 }, (int[]){ *v, b }, 2, v);
}

HANDLER(conv)
{
    (void)arg_;
    struct shape s;
    struct filters f = { .groups = (size_t)import_attr(x, "group", 1) };
    struct known *k = import_in(x, 1)->known;
    float *w, *factor, *shift = NULL;
    bool done;
    int v;
    TRY(image_in(x, &s));
    if (!k || k->rank != 4 || !k->count)
        return UNSUPPORTED(x, "input 1 is no constant with weights of images");
    f.out = (size_t)k->dim[0];
    f.in = (size_t)k->dim[1];
    f.sides.kernel[0] = (size_t)k->dim[2];
    f.sides.kernel[1] = (size_t)k->dim[3];
    if (f.groups < 1 || f.groups > f.out || f.out % f.groups || f.in * f.groups != s.dim[1].n)
        return FAIL(x->e, BAD_DATA, "%zu groups of %zu channels do not fit an image with %zu channels, nor %zu outputs", f.groups,
                    f.in, s.dim[1].n, f.out);
    TRY(read_sides(x, &s, &f.sides));
    TRY(known_real(x, k, &w));
    f.w = w;
    TRY(norm_factors(x, f.out, &factor, &shift));
    f.factor = factor;
    TRY(convolve_q8(x, &f, &v, &done));
    if (!done)
        TRY(import_last(x, 0, &v));
    if (!done)
        TRY(convolve(x, &f, v, &v));
    TRY(add_bias(x, &f, factor ? shift : NULL, &v));
    TRY(import_set_last(x, v));
    if (factor)
        import_name(x, x->node->out[0])->is_normed = true;
    return ERR_OK;
}

HANDLER(pool)
{
    struct shape s;
    struct sides w = { .stride = 1 };
    int v;
    TRY(image_in(x, &s));
    TRY(read_pair(x, "kernel_shape", 0, INT16_MAX, w.kernel));
    TRY(read_sides(x, &s, &w));
    bool is_even = true, has_pad = w.pad > 0;
    for (size_t d = 0; d < SIDES; d++) {
        size_t all = s.dim[d + 2].n + w.before[d] + w.behind[d];
        is_even = is_even && w.before[d] == w.pad && w.behind[d] == w.pad;
        if (w.dilation[d] != 1 || (import_attr(x, "ceil_mode", 0) && all >= w.kernel[d] && (all - w.kernel[d]) % w.stride))
            return UNSUPPORTED(x, "dilations, or windows that begin inside and end outside of the image (ceil_mode)");
    }
    if (!is_even)
        return UNSUPPORTED(x, "a padding that is not the same on all four sides");
    if (arg_ == OP_AVGPOOL && has_pad && import_attr(x, "count_include_pad", 0))
        return UNSUPPORTED(x, "means that count the padding");
    if (x->node->out_count > 1 && x->node->out[1].len)
        return UNSUPPORTED(x, "places as a second output");
    const struct op_attr attr = { .window = { w.kernel[0], w.kernel[1] }, .stride = w.stride, .pad = w.pad };
    TRY(import_last(x, 0, &v));
    TRY(step_op(x, (enum op)arg_, &attr, &v, 1, &v));
    return import_set_last(x, v);
}
