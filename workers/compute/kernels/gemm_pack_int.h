/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_pack_int.h - the part of gemm_int.h that turns a right factor into panels. */
struct pack_job {
    const struct mat *b;
    bool is_transposed;
    size_t first_col, k;
    float *panels;
};

static void pack_one(void *arg, size_t task)
{
    const struct pack_job *j = arg;
    pack_panel(j->b, j->is_transposed, j->first_col + task * NR, j->k, j->panels + task * j->k * NR);
}

/* Whole panels of a B that is not transposed, a group at a time: rows are read in pieces of GROUP · NR numbers. */
static void pack_group(void *arg, size_t task)
{
    const struct pack_job *j = arg;
    const float *from = (const float *)j->b->ptr + j->first_col + task * GROUP * NR;
    float *to = j->panels + task * GROUP * j->k * NR;
    for (size_t p = 0; p < j->k; p++, from += j->b->stride, to += NR)
        for (size_t i = 0; i < GROUP; i++)
            memcpy(to + i * j->k * NR, from + i * NR, NR * sizeof *to);
}

static void pack_panels(struct backend_ctx *ctx, const struct mat *b, bool is_transposed, size_t first_col, size_t count,
                        size_t k, float *panels)
{
    struct pack_job j = { b, is_transposed, first_col, k, panels };
    size_t whole = is_transposed || first_col >= b->cols ? 0 : (b->cols - first_col) / NR;
    size_t groups = (whole < count ? whole : count) / GROUP, done = groups * GROUP;
    cpu_split(ctx, groups, (double)(done * k * NR) * 4, pack_group, &j);
    j.first_col += done * NR;
    j.panels += done * k * NR;
    count -= done;
    cpu_split(ctx, count, (double)(count * k * NR) * 4, pack_one, &j);
}
