/* SPDX-License-Identifier: Apache-2.0 */
/* cast_int.h - numbers from one float type to another, for any backend in host memory; included once per variant. */
struct cast_job {
    const void *x;
    void *y;
    enum elem from, to;
};

static void cast_cells(const void *arg, const struct cells *at)
{
    const struct cast_job *j = arg;
    const float *f = j->x;
    const double *d = j->x;
    const uint16_t *b = j->x;
    if (j->from == ELEM_F32 && j->to == ELEM_BF16)
        for (size_t i = at->c0; i < at->c1; i++)
            ((uint16_t *)j->y)[i] = bf16_of(f[i]);
    else if (j->from == ELEM_BF16 && j->to == ELEM_F32)
        for (size_t i = at->c0; i < at->c1; i++)
            ((float *)j->y)[i] = bf16_to_f32(b[i]);
    else
        for (size_t i = at->c0; i < at->c1; i++) {
            double v = j->from == ELEM_F64 ? d[i] : j->from == ELEM_F32 ? (double)f[i] : (double)bf16_to_f32(b[i]);
            if (j->to == ELEM_F64)
                ((double *)j->y)[i] = v;
            else if (j->to == ELEM_F32)
                ((float *)j->y)[i] = (float)v;
            else
                ((uint16_t *)j->y)[i] = bf16_of((float)v);
        }
}

static void k_cast(struct backend_ctx *c, const struct op_call *o)
{
    const struct cast_job j = { o->in[0]->ptr, o->out[0]->ptr, o->in[0]->type, o->out[0]->type };
    ASSERT(tensor_count(o->in[0]) == tensor_count(o->out[0]) && (j.to == ELEM_F32 || j.to == ELEM_F64 || j.to == ELEM_BF16));
    cpu_cells(c, 1, tensor_count(o->in[0]), false, 1, cast_cells, &j);
}
