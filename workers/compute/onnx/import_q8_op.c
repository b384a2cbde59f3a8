/* SPDX-License-Identifier: Apache-2.0 */
/* import_q8_op.c - operators on whole numbers of eight bits, read as others: QLinearConv and QLinearMatMul as their operands
 * dequantised, the operator, its result quantised; MatMulInteger and ConvInteger as the operator on what is left without the zero
 * points. */
#include "workers/compute/onnx/import_q8_int.h"

/* A handler as if the node had these inputs and this output; its attributes stay. */
static enum errc as(struct import *x, import_fn run, unsigned arg, struct str *in, size_t n, struct str *out)
{
    const struct onnx_node *here = x->node;
    struct onnx_node node = *here;
    node.in = in;
    node.in_count = n;
    node.out = out;
    node.out_count = 1;
    x->node = &node;
    enum errc rc = run(x, arg);
    x->node = here;
    return rc;
}

/* A name that no file has: of part i of this node. */
static struct str part(struct import *x, size_t i)
{
    return str_fmt(x->a, "\x01%zu.%zu", (size_t)(x->node - x->file->nodes), i);
}

static struct str input(const struct import *x, size_t i)
{
    return import_has(x, i) ? x->node->in[i] : STR("");
}

HANDLER(qlinear_matmul)
{
    (void)arg_;
    struct str t[3] = { part(x, 0), part(x, 1), part(x, 2) };
    int64_t columns = import_in(x, 3)->known ? (int64_t)import_in(x, 3)->known->rank : 2;
    TRY(as(x, import_dequantise, 0, (struct str[]){ input(x, 0), input(x, 1), input(x, 2) }, 3, &t[0]));
    TRY(as(x, import_dequantise, (unsigned)columns, (struct str[]){ input(x, 3), input(x, 4), input(x, 5) }, 3, &t[1]));
    TRY(as(x, import_matmul, 0, t, 2, &t[2]));
    return as(x, import_quantise, 0, (struct str[]){ t[2], input(x, 6), input(x, 7) }, 3, &x->node->out[0]);
}

/* Whole numbers that count scale of input times scale of weights. */
static enum errc bias_of(struct import *x, struct str name)
{
    struct known *b = import_in(x, 8)->known, *xs = import_in(x, 1)->known, *ws = import_in(x, 4)->known, *to;
    float *left, *right;
    int64_t *whole;
    if (!b || !xs || !ws || xs->count != 1 || b->rank != 1 || (ws->count != 1 && ws->count != b->count))
        return UNSUPPORTED(x, "a bias or a scale that is computed, or has other counts than channels");
    TRY(known_real(x, xs, &left));
    TRY(known_real(x, ws, &right));
    TRY(known_whole(x, b, &whole));
    TRY(known_new(x, false, 1, b->dim, &to));
    for (size_t i = 0; i < b->count; i++)
        to->real[i] = (float)((double)whole[i] * (double)left[0] * (double)right[ws->count == 1 ? 0 : i]);
    struct named *n = import_name(x, name);
    n->is_set = true;
    n->known = to;
    return ERR_OK;
}

HANDLER(qlinear_conv)
{
    (void)arg_;
    struct str t[4] = { part(x, 0), part(x, 1), part(x, 2), part(x, 3) };
    TRY(as(x, import_dequantise, 0, (struct str[]){ input(x, 0), input(x, 1), input(x, 2) }, 3, &t[0]));
    TRY(as(x, import_dequantise, 1, (struct str[]){ input(x, 3), input(x, 4), input(x, 5) }, 3, &t[1]));
    if (import_has(x, 8))
        TRY(bias_of(x, t[2]));
    TRY(as(x, import_conv, 0, t, import_has(x, 8) ? 3 : 2, &t[3]));
    return as(x, import_quantise, 0, (struct str[]){ t[3], input(x, 6), input(x, 7) }, 3, &x->node->out[0]);
}

/* Input i less its zero point, input z, in f32: exact. */
static enum errc less_zero(struct import *x, size_t i, size_t z, unsigned axis, struct str *out)
{
    struct known *one;
    int v, zero;
    struct str scale = part(x, 8);
    struct named *n = import_name(x, scale);
    if (!import_has(x, z)) {
        *out = input(x, i);
        return ERR_OK;
    }
    if (import_in(x, z)->known) {
        TRY(known_new(x, false, 0, NULL, &one));
        one->real[0] = 1;
        n->is_set = true;
        n->known = one;
        return as(x, import_dequantise, axis, (struct str[]){ input(x, i), scale, input(x, z) }, 3, out);
    }
    TRY(import_value(x, i, &v));
    TRY(import_value(x, z, &zero));
    TRY(step_binary(x, BINARY_SUB, v, zero, &v));
    n = import_name(x, *out);
    n->is_set = true;
    n->value = v;
    return ERR_OK;
}

HANDLER(matmul_integer)
{
    (void)arg_;
    struct str t[2] = { part(x, 0), part(x, 1) };
    int64_t columns = import_in(x, 1)->known ? (int64_t)import_in(x, 1)->known->rank : 2;
    TRY(less_zero(x, 0, 2, 1, &t[0]));
    TRY(less_zero(x, 1, 3, (unsigned)columns, &t[1]));
    TRY(as(x, import_matmul, 0, t, 2, &x->node->out[0]));
    return q8_wait_for_scales(x);
}

HANDLER(conv_integer)
{
    (void)arg_;
    struct str t[2] = { part(x, 0), part(x, 1) };
    TRY(less_zero(x, 0, 2, 0, &t[0]));
    TRY(less_zero(x, 1, 3, 1, &t[1]));
    return as(x, import_conv, 0, t, 2, &x->node->out[0]);
}
