/* SPDX-License-Identifier: Apache-2.0 */
/* q8_pack_int.h - weights of bytes in panels, as q8_int.h reads them: [slices][quads][QN][4], filled up with 0, and behind all
 * panels the sums of the columns. For q8_int.h, with QN defined. */
static size_t q8_panels(size_t n)
{
    return (n + QN - 1) / QN;
}

static size_t q8_panel_bytes(size_t slices, size_t depth)
{
    return slices * ((depth + 3) / 4) * QN * 4;
}

static size_t q8_pack_bytes(size_t n, size_t slices, size_t depth)
{
    return q8_panels(n) * (q8_panel_bytes(slices, depth) + QN * sizeof(int32_t));
}

struct q8_pack_job {
    const int8_t *w;
    size_t n, slices, depth, w_row;
    int8_t *to;
    int32_t *sums;
};

static void q8_pack_one(void *arg, size_t task)
{
    const struct q8_pack_job *j = arg;
    size_t quads = (j->depth + 3) / 4, bytes = q8_panel_bytes(j->slices, j->depth);
    int8_t *to = j->to + task * bytes;
    memset(to, 0, bytes);
    for (size_t i = 0; i < QN; i++) {
        int32_t sum = 0;
        const int8_t *from = j->w + (task * QN + i) * j->w_row;
        for (size_t s = 0; s < j->slices && task * QN + i < j->n; s++)
            for (size_t d = 0; d < j->depth; d++, sum += *from++)
                to[((s * quads + d / 4) * QN + i) * 4 + d % 4] = *from;
        j->sums[task * QN + i] = sum;
    }
}

static void q8_pack(struct backend_ctx *c, const struct tensor *w, size_t n, size_t slices, size_t depth, void *to)
{
    ASSERT(w->type == ELEM_I8 && tensor_count(w) == n * slices * depth);
    size_t all = q8_panels(n), bytes = q8_panel_bytes(slices, depth);
    struct q8_pack_job j = { w->ptr, n, slices, depth, slices * depth, to, (int32_t *)(void *)((char *)to + all * bytes) };
    cpu_split(c, all, (double)(all * bytes), q8_pack_one, &j);
}

static void k_qpack(struct backend_ctx *c, const struct op_call *o)
{
    size_t slices = o->attr.window[0] ? o->attr.window[0] : 1;
    ASSERT(tensor_count(o->out[0]) >= q8_pack_bytes(o->attr.n, slices, o->attr.k / slices));
    q8_pack(c, o->in[0], o->attr.n, slices, o->attr.k / slices, o->out[0]->ptr);
}
