/* SPDX-License-Identifier: Apache-2.0 */
/* fused_int.h - operations that devices make in one pass over memory, in their plain form: what each is made of, one behind the
 * other. Included once, after adapt_int.h; the reference judges others by it. */

static void k_add_norm(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), y = in_mat(o, 1), scale = in_mat(o, 2), out = mat_of(o->out[0]), sum = mat_of(o->out[1]);
    struct mat shift = o->in[3] ? in_mat(o, 3) : scale;
    assert_same(&x, &y);
    assert_same(&x, &sum);
    assert_same(&x, &out);
    ASSERT(!o->in[3] == !!(o->attr.flags & NORM_RMS));
    add(c, &x, &y, &sum);
    layernorm(c, &sum, &scale, o->in[3] ? &shift : NULL, o->attr.eps, &out);
}

/* dx may lie over what is added: it is made elsewhere first. */
static void k_norm_add_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), scale = in_mat(o, 1), dy = in_mat(o, 2), dx = mat_of(o->out[4]), out;
    bool is_rms = o->attr.flags & NORM_RMS, accumulate = o->attr.flags & OP_ACCUMULATE;
    struct mat made = mat_host(cpu_scratch(c, x.rows * x.cols * elem_bytes(x.type)), x.type, x.rows, x.cols);
    assert_same(&x, &dy);
    assert_same(&x, &dx);
    if (o->out[0]) {
        out = mat_of(o->out[0]);
        norm_scale_bwd(c, &x, &dy, o->attr.eps, &out, o->attr.flags);
    }
    if (o->out[1]) {
        out = mat_of(o->out[1]);
        colsum(c, &dy, &out, accumulate);
    }
    layernorm_bwd(c, &x, &scale, &dy, o->attr.eps, is_rms, &made);
    struct mat more = o->in[3] ? in_mat(o, 3) : made;
    if (o->in[3])
        add(c, &made, &more, &dx);
    else
        for (size_t i = 0; i < x.rows; i++)
            memcpy((char *)dx.ptr + i * dx.stride * elem_bytes(x.type), (char *)made.ptr + i * x.cols * elem_bytes(x.type),
                   x.cols * elem_bytes(x.type));
    if (o->out[2]) {
        out = mat_of(o->out[2]);
        colsum(c, &dx, &out, accumulate);
    }
    if (o->out[3])
        k_cast(c, &(struct op_call){ .attr.n = o->out[3]->type, .in = { o->out[4] }, .out = { o->out[3] } });
}

static void k_gelu_bwd_sum(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), dy = in_mat(o, 1), sum = mat_of(o->out[0]), dx = mat_of(o->out[1]);
    assert_same(&x, &dy);
    assert_same(&x, &dx);
    gelu_bwd(c, &x, &dy, &dx);
    colsum(c, &dx, &sum, o->attr.flags & OP_ACCUMULATE);
}

#define KERNELS_OF_FUSED(type)                                                                                              \
    [OP_ADD_NORM][type] = k_add_norm, [OP_NORM_ADD_BWD][type] = k_norm_add_bwd, [OP_GELU_BWD_SUM][type] = k_gelu_bwd_sum
