/* SPDX-License-Identifier: Apache-2.0 */
/* pairs_int.h - products with OP_BF16 of a variant with pair_micro (tile_int.h); included once after adapt_int.h.
 *
 * Factors are rounded and laid in pairs along the depth of the product, each pair in the room of a float; what follows is the
 * product, or convolution, over numbers, told to multiply pairs: blocking, windows, epilogues and threads are one code. Depth is
 * channels forward, channels of the result for the gradient of the input, pixels for that of the weights; an odd one ends with a
 * pair that is half zero. */
struct pair_job {
    const float *x;
    size_t stride, rows, cols;          /* of x; a row of pairs has as many as it needs */
    float *to;
};

static size_t pairs_of(size_t n)
{
    return (n + 1) / 2;
}

/* [rows, cols] -> [rows, pairs]: rounded numbers in their order. */
static void pair_along_rows(const void *arg, const struct cells *at)
{
    const struct pair_job *j = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = j->x + i * j->stride;
        uint16_t *to = (uint16_t *)(void *)(j->to + i * pairs_of(j->cols));
        for (size_t k = 0; k < j->cols; k++)
            to[k] = bf16_of(x[k]);
        if (j->cols % 2)
            to[j->cols] = 0;
    }
}

/* [rows, cols] -> [pairs, cols]: each with the one below it. */
static void pair_rows(const void *arg, const struct cells *at)
{
    const struct pair_job *j = arg;
    for (size_t p = at->r0; p < at->r1; p++) {
        const float *x = j->x + 2 * p * j->stride, *y = x + j->stride;
        uint32_t *to = (uint32_t *)(void *)(j->to + p * j->cols);
        bool is_alone = 2 * p + 1 == j->rows;
        for (size_t k = at->c0; !is_alone && k < at->c1; k++)
            to[k] = bf16_of(x[k]) | (uint32_t)bf16_of(y[k]) << 16;
        for (size_t k = at->c0; is_alone && k < at->c1; k++)
            to[k] = bf16_of(x[k]);
    }
}

/* x in pairs in a scratch of its own; with its dimensions, of which the first or the last is the one of pairs. */
static struct tensor in_pairs(struct backend_ctx *c, int slot, const struct tensor *x, bool is_first)
{
    struct mat m = mat_of(x);
    struct tensor t = *x;
    if (is_first)                       /* what is behind the first dimension is one row */
        m.cols = x->dim[0] ? m.rows * m.cols / x->dim[0] : 0, m.rows = x->dim[0];
    if (is_first && x->rank > 2)
        m.stride = m.cols;
    struct pair_job j = { m.ptr, m.stride, m.rows, m.cols, NULL };
    size_t *dim = &t.dim[is_first ? 0 : t.rank - 1];
    *dim = pairs_of(*dim);
    t = tensor_at(NULL, 0, ELEM_F32, t.rank, t.dim);
    t.ptr = j.to = cpu_scratch_at(c, slot, tensor_count(&t) * sizeof(float));
    if (is_first)
        cpu_cells(c, pairs_of(m.rows), m.cols, false, 3, pair_rows, &j);
    else
        cpu_cells(c, m.rows, m.cols, true, 2, pair_along_rows, &j);
    return t;
}

/* Both factors in pairs, then the product of pairs. */
static void pair_then(struct backend_ctx *c, const struct op_call *o, kernel_fn kernel, bool is_first_a, bool is_first_b)
{
    struct op_call call = *o;
    struct tensor a = in_pairs(c, SLOT_FACTOR, o->in[0], is_first_a), b = in_pairs(c, SLOT_FACTOR + 1, o->in[1], is_first_b);
    call.in[0] = &a;
    call.in[1] = &b;
    kernel(c, &call);
}

static void pair_matmul(struct backend_ctx *c, const struct op_call *o)
{
    if (!(o->attr.flags & OP_BF16))
        k_matmul(c, o);
    else
        pair_then(c, o, k_matmul, o->attr.flags & MM_TRANS_A, !(o->attr.flags & MM_TRANS_B));
}

static void pair_conv2d(struct backend_ctx *c, const struct op_call *o)
{
    if (!(o->attr.flags & OP_BF16))
        k_conv2d(c, o);
    else
        pair_then(c, o, k_conv2d, false, false);
}

static void pair_conv2d_bwd_x(struct backend_ctx *c, const struct op_call *o)
{
    if (!(o->attr.flags & OP_BF16))
        k_conv2d_bwd_x(c, o);
    else
        pair_then(c, o, k_conv2d_bwd_x, true, false);
}

/* The windows of a chunk of pixels are gathered as numbers and paired: a pair is two pixels. */
static void pair_conv2d_bwd_w(struct backend_ctx *c, const struct op_call *o)
{
    if (!(o->attr.flags & OP_BF16)) {
        k_conv2d_bwd_w(c, o);
        return;
    }
    const struct window w = window_of(&o->attr, o->in[0], o->in[1]);
    struct conv v = conv_new(&w, false, o->in[0]->ptr, o->attr.flags);
    size_t pixels = v.at.n * v.at.h * v.at.w, chunk = conv_chunk(&v), out = w.y.c;
    const float *dy = o->in[1]->ptr;
    ASSERT(tensor_count(o->out[0]) == out * v.cols && chunk % 2 == 0);
    for (size_t first = 0; first < pixels; first += chunk) {
        size_t count = pixels - first < chunk ? pixels - first : chunk, dims[] = { count, v.cols }, dy_dims[] = { count, out };
        struct tensor rows = tensor_at(NULL, 0, ELEM_F32, 2, dims), back = tensor_at(NULL, 0, ELEM_F32, 2, dy_dims);
        rows.ptr = (void *)(uintptr_t)conv_rows(c, &v, first, count);
        back.ptr = (void *)(uintptr_t)(dy + first * out);
        struct tensor a = in_pairs(c, SLOT_FACTOR, &back, true), b = in_pairs(c, SLOT_FACTOR + 1, &rows, true);
        struct mat am = mat_of(&a), bm = mat_of(&b), to = mat_host(o->out[0]->ptr, ELEM_F32, out, v.cols);
        unsigned add = first ? (unsigned)OP_ACCUMULATE : o->attr.flags & OP_ACCUMULATE;
        matmul(c, MM_TRANS_A | OP_BF16 | add, &am, &bm, NULL, &to);
    }
}

#define PAIR_KERNEL(name) pair_##name
