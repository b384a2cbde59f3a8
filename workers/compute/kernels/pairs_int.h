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

/* Windows of pairs of pixels, gathered straight into panels: column k of the window is the pair of it at both pixels. */
struct pair_windows {
    const struct conv *v;
    const uint16_t *x, *zeros;          /* the image in bf16, `step` numbers a pixel; a pixel that is not there */
    size_t step, first, count, pairs;   /* the chunk's first pixel, its pixels and pairs of them */
    uint32_t *panels;
};

/* Where place (ky, kx) of pixel number `at` of the chunk looks. */
static inline const uint16_t *pair_look(const struct pair_windows *j, size_t at, size_t ky, size_t kx)
{
    const struct conv *v = j->v;
    size_t pixel = j->first + at, n = pixel / v->at.w / v->at.h, sy, sx;
    if (at >= j->count || !conv_look(v, pixel / v->at.w % v->at.h, ky, v->from.h, &sy)
        || !conv_look(v, pixel % v->at.w, kx, v->from.w, &sx))
        return j->zeros;
    return j->x + ((n * v->from.h + sy) * v->from.w + sx) * j->step;
}

static void pair_window(void *arg, size_t p)
{
    const struct pair_windows *j = arg;
    size_t c = j->v->from.c, col = 0, end = panels_of(j->v->cols) * NR;
    for (size_t ky = 0; ky < j->v->w.h; ky++)
        for (size_t kx = 0; kx < j->v->w.w; kx++) {
            const uint16_t *low = pair_look(j, 2 * p, ky, kx), *high = pair_look(j, 2 * p + 1, ky, kx);
            for (size_t k = 0, run; k < c; k += run, col += run) {
                uint32_t *to = j->panels + col / NR * (j->pairs * NR) + p * NR + col % NR;
                run = NR - col % NR < c - k ? NR - col % NR : c - k;
                for (size_t i = 0; i < run; i++)
                    to[i] = low[k + i] | (uint32_t)high[k + i] << 16;
            }
        }
    for (; col < end; col++)
        j->panels[col / NR * (j->pairs * NR) + p * NR + col % NR] = 0;
}

/* A chunk of pixels at a time, as k_conv2d_bwd_w; a pair is two pixels. */
static void pair_conv2d_bwd_w(struct backend_ctx *c, const struct op_call *o)
{
    if (!(o->attr.flags & OP_BF16)) {
        k_conv2d_bwd_w(c, o);
        return;
    }
    const struct window w = window_of(&o->attr, o->in[0], o->in[1]);
    struct conv v = conv_new(&w, false, o->in[0]->ptr, o->attr.flags);
    size_t pixels = v.at.n * v.at.h * v.at.w, chunk = conv_chunk(&v), out = w.y.c, step = 2 * pairs_of(w.x.c);
    const struct tensor x = in_pairs(c, SLOT_FACTOR + 1, o->in[0], false);
    uint16_t *zeros = cpu_scratch_at(c, SLOT_TILE, step * sizeof *zeros);
    memset(zeros, 0, step * sizeof *zeros);
    ASSERT(tensor_count(o->out[0]) == out * v.cols && chunk % 2 == 0);
    uint32_t *panels = cpu_scratch(c, panels_of(v.cols) * NR * (chunk / 2) * sizeof *panels);
    for (size_t first = 0; first < pixels; first += chunk) {
        size_t count = pixels - first < chunk ? pixels - first : chunk, dims[] = { count, out }, pairs = pairs_of(count);
        struct tensor dy = tensor_at(NULL, 0, ELEM_F32, 2, dims);
        struct pair_windows j = { &v, x.ptr, zeros, step, first, count, pairs, panels };
        dy.ptr = (float *)o->in[1]->ptr + first * out;
        cpu_split(c, pairs, (double)count * (double)v.cols, pair_window, &j);
        const struct tensor a = in_pairs(c, SLOT_FACTOR, &dy, true);
        struct gemm g = { .flags = first ? OP_ACCUMULATE : o->attr.flags & OP_ACCUMULATE, .m = out, .n = v.cols, .k = pairs,
                          .panel_k = pairs, .a = a.ptr, .a_row = 1, .a_step = out, .panels = (const float *)(void *)panels,
                          .c = o->out[0]->ptr, .c_row = v.cols, .tile = v.multiply };
        run_gemm(c, &g);
    }
}

#define PAIR_KERNEL(name) pair_##name
