/* SPDX-License-Identifier: Apache-2.0 */
/* groupnorm_int.h - group normalisation and the gate of the vector variants; included once per variant after ops_int.h and
 * norm_int.h.
 *
 * An image is one task. Sums run along channels, which are dense: a row of pixels in fp32, rows added in fp64, then channels
 * folded into
 * their groups in ascending order. */
struct gnorm_job {
    struct image m;
    size_t groups;
    const float *x, *dy, *scale, *shift;
    float *out;
    double eps, *scratch;       /* four doubles and three floats per channel for each image; rounded up */
};

enum { GNORM_DOUBLES = 6 };

/* to[c] = Σ pixels a[c], or a[c]·(x[c] - mean[c]); lane: room for c floats. */
static void channel_sums(const struct image *m, const float *a, const float *x, const float *mean, float *lane, double *to)
{
    for (size_t k = 0; k < m->c; k++)
        to[k] = 0;
    for (size_t y = 0; y < m->h; y++) {
        memset(lane, 0, m->c * sizeof *lane);
        for (size_t p = y * m->w * m->c; p < (y + 1) * m->w * m->c; p += m->c)
            for (size_t k = 0; k < m->c; k++)
                lane[k] += x ? a[p + k] * (x[p + k] - mean[k]) : a[p + k];
        for (size_t k = 0; k < m->c; k++)
            to[k] += (double)lane[k];
    }
}

/* Every channel gets the sum of its group, each taken times weight (NULL: 1), over count. */
static void fold_groups(const struct gnorm_job *j, const double *from, const float *weight, double *to)
{
    size_t width = j->m.c / j->groups;
    double count = (double)(j->m.h * j->m.w * width);
    for (size_t g = 0; g < j->groups; g++) {
        double sum = 0;
        for (size_t k = g * width; k < (g + 1) * width; k++)
            sum += from[k] * (weight ? (double)weight[k] : 1.0);
        for (size_t k = g * width; k < (g + 1) * width; k++)
            to[k] = sum / count;
    }
}

struct gnorm_room {
    double *sum, *other;
    float *lane, *mean, *inverse;
};

/* Mean and 1/√(var + eps) of each channel's group in image n. */
static struct gnorm_room gnorm_moments(const struct gnorm_job *j, size_t n)
{
    size_t c = j->m.c;
    double *at = j->scratch + n * c * GNORM_DOUBLES;
    struct gnorm_room r = { at, at + c, (float *)(at + 2 * c), (float *)(at + 2 * c) + c, (float *)(at + 2 * c) + 2 * c };
    const float *x = j->x + n * j->m.h * j->m.w * c;
    channel_sums(&j->m, x, NULL, NULL, r.lane, r.sum);
    fold_groups(j, r.sum, NULL, r.sum);
    for (size_t k = 0; k < c; k++)
        r.mean[k] = (float)r.sum[k];
    for (size_t k = 0; k < c; k++)
        r.other[k] = 0;
    for (size_t y = 0; y < j->m.h; y++) {
        memset(r.lane, 0, c * sizeof *r.lane);
        for (size_t p = y * j->m.w * c; p < (y + 1) * j->m.w * c; p += c)
            for (size_t k = 0; k < c; k++)
                r.lane[k] += (x[p + k] - r.mean[k]) * (x[p + k] - r.mean[k]);
        for (size_t k = 0; k < c; k++)
            r.other[k] += (double)r.lane[k];
    }
    fold_groups(j, r.other, NULL, r.other);
    for (size_t k = 0; k < c; k++)
        r.inverse[k] = (float)(1 / sqrt(r.other[k] + j->eps));
    return r;
}

static void gnorm_task(void *arg, size_t n)
{
    const struct gnorm_job *j = arg;
    size_t c = j->m.c, size = j->m.h * j->m.w * c;
    struct gnorm_room r = gnorm_moments(j, n);
    const float *x = j->x + n * size;
    float *y = j->out + n * size, *factor = r.lane;
    for (size_t k = 0; k < c; k++)
        factor[k] = r.inverse[k] * j->scale[k];
    for (size_t p = 0; p < size; p += c)
        for (size_t k = 0; k < c; k++)
            y[p + k] = (x[p + k] - r.mean[k]) * factor[k] + j->shift[k];
}

/* dx = inverse·(g - mean(g) - z·mean(g·z)) with g = dy·scale, z = (x - mean)·inverse, as dy·a - (x - mean)·b - d by channel.
 * */
static void gnorm_bwd_task(void *arg, size_t n)
{
    const struct gnorm_job *j = arg;
    size_t c = j->m.c, size = j->m.h * j->m.w * c;
    struct gnorm_room r = gnorm_moments(j, n);
    const float *x = j->x + n * size, *dy = j->dy + n * size;
    float *dx = j->out + n * size, *a = r.lane, *b = (float *)r.other, *d = (float *)r.sum;
    channel_sums(&j->m, dy, NULL, NULL, r.lane, r.sum);
    fold_groups(j, r.sum, j->scale, r.sum);
    channel_sums(&j->m, dy, x, r.mean, r.lane, r.other);
    fold_groups(j, r.other, j->scale, r.other);
    for (size_t k = 0; k < c; k++) {        /* floats over the doubles that are read here for the last time, in ascending order */
        float mean_g = (float)r.sum[k], mean_gz = (float)(r.other[k] * (double)r.inverse[k]);
        a[k] = r.inverse[k] * j->scale[k];
        b[k] = r.inverse[k] * r.inverse[k] * mean_gz;
        d[k] = r.inverse[k] * mean_g;
    }
    for (size_t p = 0; p < size; p += c)
        for (size_t k = 0; k < c; k++)
            dx[p + k] = dy[p + k] * a[k] - (x[p + k] - r.mean[k]) * b[k] - d[k];
}

static void gnorm_scale_task(void *arg, size_t n)
{
    const struct gnorm_job *j = arg;
    size_t size = j->m.h * j->m.w * j->m.c;
    struct gnorm_room r = gnorm_moments(j, n);
    channel_sums(&j->m, j->dy + n * size, j->x + n * size, r.mean, r.lane, r.sum);
    for (size_t k = 0; k < j->m.c; k++)
        r.sum[k] *= (double)r.inverse[k];
}

static struct gnorm_job gnorm_job(struct backend_ctx *c, const struct op_call *o)
{
    struct gnorm_job j = { .m = image_of(o->in[0]), .groups = o->attr.n, .x = o->in[0]->ptr, .out = o->out[0]->ptr,
                           .eps = o->attr.eps };
    ASSERT(j.groups >= 1 && j.m.c % j.groups == 0);
    j.scratch = cpu_scratch(c, j.m.n * j.m.c * GNORM_DOUBLES * sizeof *j.scratch);
    return j;
}

static void k_groupnorm(struct backend_ctx *c, const struct op_call *o)
{
    struct gnorm_job j = gnorm_job(c, o);
    j.scale = vector(o->in[1], ELEM_F32, j.m.c);
    j.shift = vector(o->in[2], ELEM_F32, j.m.c);
    cpu_split(c, j.m.n, (double)tensor_count(o->in[0]) * 4, gnorm_task, &j);
}

static void k_groupnorm_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct gnorm_job j = gnorm_job(c, o);
    j.scale = vector(o->in[1], ELEM_F32, j.m.c);
    j.dy = o->in[2]->ptr;
    cpu_split(c, j.m.n, (double)tensor_count(o->in[0]) * 8, gnorm_bwd_task, &j);
}

static void k_groupnorm_scale_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct gnorm_job j = gnorm_job(c, o);
    float *out = vector(o->out[0], ELEM_F32, j.m.c);
    j.dy = o->in[1]->ptr;
    cpu_split(c, j.m.n, (double)tensor_count(o->in[0]) * 6, gnorm_scale_task, &j);
    for (size_t k = 0; k < j.m.c; k++) {
        double sum = o->attr.flags & OP_ACCUMULATE ? (double)out[k] : 0;
        for (size_t n = 0; n < j.m.n; n++)
            sum += j.scratch[n * j.m.c * GNORM_DOUBLES + k];
        out[k] = (float)sum;
    }
}

struct gate_job {
    struct mat x, dy, out;
    size_t n;
};

static void swiglu_cells(const void *arg, const struct cells *at)
{
    const struct gate_job *j = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *a = row_of(&j->x, i), *b = a + j->n;
        float *y = row_of(&j->out, i);
        for (size_t k = 0; k < j->n; k++)
            y[k] = a[k] / (1.0f + exp_fast(-a[k])) * b[k];
    }
}

static void k_swiglu(struct backend_ctx *c, const struct op_call *o)
{
    const struct gate_job j = { .x = in_mat(o, 0), .out = mat_of(o->out[0]), .n = o->out[0]->dim[o->out[0]->rank - 1] };
    ASSERT(j.x.cols == 2 * j.n && j.x.rows == j.out.rows);
    cpu_cells(c, j.x.rows, j.n, true, 16, swiglu_cells, &j);
}

static void swiglu_bwd_cells(const void *arg, const struct cells *at)
{
    const struct gate_job *j = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *a = row_of(&j->x, i), *b = a + j->n, *dy = row_of(&j->dy, i);
        float *da = row_of(&j->out, i), *db = da + j->n;
        for (size_t k = 0; k < j->n; k++) {
            float sigma = 1.0f / (1.0f + exp_fast(-a[k])), gate = a[k] * sigma, slope = sigma * (1.0f + a[k] * (1.0f - sigma));
            da[k] = dy[k] * b[k] * slope;
            db[k] = dy[k] * gate;
        }
    }
}

static void k_swiglu_bwd(struct backend_ctx *c, const struct op_call *o)
{
    const struct gate_job j = { in_mat(o, 0), in_mat(o, 1), mat_of(o->out[0]), o->in[1]->dim[o->in[1]->rank - 1] };
    ASSERT(j.x.cols == 2 * j.n && j.out.cols == j.x.cols && j.x.rows == j.dy.rows && j.out.rows == j.x.rows);
    cpu_cells(c, j.x.rows, j.n, true, 20, swiglu_bwd_cells, &j);
}
