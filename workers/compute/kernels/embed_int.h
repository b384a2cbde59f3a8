/* SPDX-License-Identifier: Apache-2.0 */
/* embed_int.h - rows of a table by token and their gradient, for any backend in host memory and any float type; included
 * once per variant.
 *
 * The gradient goes through the tokens in ascending order for each piece of columns, so a token that comes often adds up in
 * one order whatever the number of threads, and needs no sorting and no locks. That a token is in the table was checked when
 * data was read. */
enum { EMBED_COLS = 64 };

struct embed_job {
    const struct mat *table, *rows;     /* rows: [tokens, cols] */
    const int32_t *token;
    bool accumulate;
};

static void embed_cells(const void *arg, const struct cells *at)
{
    const struct embed_job *w = arg;
    size_t width = elem_bytes(w->table->type);
    for (size_t i = at->r0; i < at->r1; i++) {
        ASSERT((size_t)w->token[i] < w->table->rows);
        memcpy((char *)w->rows->ptr + i * w->rows->stride * width,
               (const char *)w->table->ptr + (size_t)w->token[i] * w->table->stride * width, w->table->cols * width);
    }
}

static void embed_bwd_task(void *arg, size_t task)
{
    const struct embed_job *w = arg;
    size_t from = task * EMBED_COLS, left = w->table->cols - from, n = left < EMBED_COLS ? left : EMBED_COLS;
    size_t width = elem_bytes(w->table->type), row = w->table->stride * width;
    char *table = (char *)w->table->ptr + from * width;
    for (size_t i = 0; i < w->table->rows && !w->accumulate; i++)
        memset(table + i * row, 0, n * width);
    for (size_t i = 0; i < w->rows->rows; i++) {
        void *to = table + (size_t)w->token[i] * row;
        const void *src = (const char *)w->rows->ptr + (i * w->rows->stride + from) * width;
        ASSERT((size_t)w->token[i] < w->table->rows);
        for (size_t j = 0; j < n; j++)
            if (w->table->type == ELEM_F64)
                ((double *)to)[j] += ((const double *)src)[j];
            else
                ((float *)to)[j] += ((const float *)src)[j];
    }
}

static void k_embed(struct backend_ctx *c, const struct op_call *o)
{
    struct mat table = in_mat(o, 0), out = mat_of(o->out[0]);
    ASSERT(table.cols == out.cols && table.type == out.type);
    const struct embed_job w = { .table = &table, .rows = &out, .token = vector(o->in[1], ELEM_I32, out.rows) };
    cpu_cells(c, out.rows, out.cols, true, 1, embed_cells, &w);
}

static void k_embed_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat dy = in_mat(o, 1), out = mat_of(o->out[0]);
    ASSERT(dy.cols == out.cols && dy.type == out.type);
    struct embed_job w = { .table = &out, .rows = &dy, .token = vector(o->in[0], ELEM_I32, dy.rows),
                           .accumulate = o->attr.flags & OP_ACCUMULATE };
    size_t tasks = (out.cols + EMBED_COLS - 1) / EMBED_COLS;
    cpu_split(c, tasks, (double)(dy.rows + out.rows) * (double)out.cols, embed_bwd_task, &w);
}
