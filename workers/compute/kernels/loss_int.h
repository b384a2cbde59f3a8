/* SPDX-License-Identifier: Apache-2.0 */
/* loss_int.h - losses, sums over rows and updates of weights of the vector variants; included once per variant after ops_int.h.
 *
 * A sum over many tasks is a partial sum for each, added in the order of the tasks. */

struct loss_job {
    struct cell_args m;
    const int32_t *label;
    double scale, *part;        /* a sum for each task, added in their order */
};

static double loss_sum(struct backend_ctx *c, const struct mat *of, double cost, void (*fn)(const void *, const struct cells *),
                       struct loss_job *j)
{
    double sum = 0;
    size_t tasks = cpu_cell_tasks(of->rows, of->cols, true);
    j->part = cpu_scratch(c, tasks * sizeof *j->part);
    cpu_cells(c, of->rows, of->cols, true, cost, fn, j);
    for (size_t i = 0; i < tasks; i++)
        sum += j->part[i];
    return sum;
}

static void xent_cells(const void *arg, const struct cells *at)
{
    const struct loss_job *l = arg;
    const struct mat *logits = l->m.a, *dlogits = l->m.out;
    double loss = 0;
    for (size_t i = at->r0; i < at->r1; i++) {
        float top, *di = dlogits ? row_of(dlogits, i) : NULL;
        double picked = (double)row_of(logits, i)[l->label[i]];
        float sum = exp_row(row_of(logits, i), di, logits->cols, &top);
        loss += (double)top + log((double)sum) - picked;
        if (!di)
            continue;
        float factor = (float)(l->scale / (double)sum);
        for (size_t j = 0; j < logits->cols; j++)
            di[j] *= factor;
        di[l->label[i]] -= (float)l->scale;
    }
    l->part[at->task] = loss;
}

static void softmax_xent(struct backend_ctx *c, const struct mat *logits, const int32_t *labels, const struct mat *dlogits,
                         double scale, double *ret)
{
    struct loss_job j = { .m = { .a = logits, .out = dlogits }, .label = labels, .scale = scale };
    *ret = loss_sum(c, logits, 12, xent_cells, &j);
}

static void mse_cells(const void *arg, const struct cells *at)
{
    const struct loss_job *l = arg;
    double loss = 0;
    float factor = (float)(2 * l->scale);
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *y = row_of(l->m.a, i), *t = row_of(l->m.b, i);
        for (size_t j = 0; j < l->m.a->cols; j++) {
            float d = y[j] - t[j];
            loss += (double)d * (double)d;
            if (l->m.out)
                row_of(l->m.out, i)[j] = d * factor;
        }
    }
    l->part[at->task] = loss;
}

static void mse(struct backend_ctx *c, const struct mat *y, const struct mat *t, const struct mat *dy, double scale, double *ret)
{
    struct loss_job j = { .m = { .a = y, .b = t, .out = dy }, .scale = scale };
    *ret = loss_sum(c, y, 2, mse_cells, &j);
}

static void sigmoid_xent_cells(const void *arg, const struct cells *at)
{
    const struct loss_job *l = arg;
    double loss = 0;
    float factor = (float)l->scale;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(l->m.a, i), *t = row_of(l->m.b, i);
        for (size_t j = 0; j < l->m.a->cols; j++) {
            double v = (double)x[j];
            loss += v != v ? v : (v > 0 ? v : 0) - v * (double)t[j] + log1p(exp(-fabs(v)));
            if (l->m.out)
                row_of(l->m.out, i)[j] = (1.0f / (1.0f + exp_fast(-x[j])) - t[j]) * factor;
        }
    }
    l->part[at->task] = loss;
}

static void sigmoid_xent(struct backend_ctx *c, const struct mat *x, const struct mat *t, const struct mat *dx, double scale,
                         double *ret)
{
    struct loss_job j = { .m = { .a = x, .b = t, .out = dx }, .scale = scale };
    *ret = loss_sum(c, x, 40, sigmoid_xent_cells, &j);
}

enum { COLSUM_COLS = 256 };
struct colsum_job {
    const struct mat *x;
    float *sum;
    bool accumulate;
};

static void colsum_task(void *arg, size_t task)
{
    const struct colsum_job *w = arg;
    size_t from = task * COLSUM_COLS, left = w->x->cols - from, n = left < COLSUM_COLS ? left : COLSUM_COLS;
    float *restrict sum = w->sum + from;
    if (!w->accumulate)
        memset(sum, 0, n * sizeof *sum);
    for (size_t i = 0; i < w->x->rows; i++) {
        const float *restrict xi = row_of(w->x, i) + from;
        for (size_t j = 0; j < n; j++)
            sum[j] += xi[j];
    }
}

static void colsum(struct backend_ctx *c, const struct mat *x, const struct mat *out, bool accumulate)
{
    struct colsum_job w = { x, row_of(out, 0), accumulate };
    cpu_split(c, (x->cols + COLSUM_COLS - 1) / COLSUM_COLS, (double)x->rows * (double)x->cols, colsum_task, &w);
}

static void argmax(struct backend_ctx *c, const struct mat *x, int32_t *out)
{
    (void)c;
    for (size_t i = 0; i < x->rows; i++) {
        const float *xi = row_of(x, i);
        float top = max_row(xi, x->cols);
        size_t best = 0;
        while (best + 1 < x->cols && xi[best] != top)
            best++;
        out[i] = (int32_t)best;
    }
}

static void sumsq_cells(const void *arg, const struct cells *at)
{
    const struct loss_job *l = arg;
    double lane[LANES] = { 0 }, sum = 0;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(l->m.a, i);
        size_t j = at->c0;
        for (; j + LANES <= at->c1; j += LANES)
            for (size_t k = 0; k < LANES; k++)
                lane[k] += (double)x[j + k] * (double)x[j + k];
        for (size_t k = 0; j < at->c1; j++, k++)
            lane[k] += (double)x[j] * (double)x[j];
    }
    for (size_t k = 0; k < LANES; k++)
        sum += lane[k];
    l->part[at->task] = sum;
}

static double sumsq(struct backend_ctx *c, const struct mat *x)
{
    struct loss_job j = { .m = { .a = x } };
    size_t tasks = cpu_cell_tasks(x->rows, x->cols, false);
    double sum = 0;
    j.part = cpu_scratch(c, tasks * sizeof *j.part);
    cpu_cells(c, x->rows, x->cols, false, 2, sumsq_cells, &j);
    for (size_t i = 0; i < tasks; i++)
        sum += j.part[i];
    return sum;
}

struct update_job {
    const struct op_attr *attr;
    const struct step_scalars *at;
    const struct mat *w, *g, *m, *v;
};

static void adamw_cells(const void *arg, const struct cells *cells)
{
    const struct update_job *u = arg;
    const struct op_attr *s = u->attr;
    const float b1 = (float)s->beta1, b2 = (float)s->beta2, c1 = 1 - b1, c2 = 1 - b2, eps = (float)s->eps;
    const float keep = (float)(1 - u->at->lr * s->weight_decay), rate = (float)(u->at->lr / u->at->correction1);
    const float inv2 = (float)(1 / u->at->correction2), scale = (float)u->at->grad_scale;
    for (size_t i = cells->r0; i < cells->r1; i++) {
        float *restrict wi = row_of(u->w, i), *restrict mi = row_of(u->m, i), *restrict vi = row_of(u->v, i);
        const float *restrict gi = row_of(u->g, i);
        for (size_t j = cells->c0; j < cells->c1; j++) {
            float gj = scale * gi[j];
            float mj = b1 * mi[j] + c1 * gj;
            float vj = b2 * vi[j] + c2 * gj * gj;
            mi[j] = mj;
            vi[j] = vj;
            wi[j] = keep * wi[j] - rate * mj / (sqrtf(vj * inv2) + eps);
        }
    }
}

static void adamw(struct backend_ctx *c, const struct op_attr *attr, const struct step_scalars *at, const struct mat *w,
                  const struct mat *g, const struct mat *m, const struct mat *v)
{
    if (isfinite(at->grad_scale))
        cpu_cells(c, w->rows, w->cols, false, 12, adamw_cells, &(struct update_job){ attr, at, w, g, m, v });
}

static void sgd_cells(const void *arg, const struct cells *cells)
{
    const struct update_job *u = arg;
    const float lr = (float)u->at->lr, momentum = (float)u->attr->momentum, decay = (float)u->attr->weight_decay;
    const float scale = (float)u->at->grad_scale;
    for (size_t i = cells->r0; i < cells->r1; i++) {
        float *restrict wi = row_of(u->w, i), *restrict vi = row_of(u->v, i);
        const float *restrict gi = row_of(u->g, i);
        for (size_t j = cells->c0; j < cells->c1; j++) {
            float vj = momentum * vi[j] + scale * gi[j] + decay * wi[j];
            vi[j] = vj;
            wi[j] -= lr * vj;
        }
    }
}

static void sgd(struct backend_ctx *c, const struct op_attr *attr, const struct step_scalars *at, const struct mat *w,
                const struct mat *g, const struct mat *v)
{
    if (isfinite(at->grad_scale))
        cpu_cells(c, w->rows, w->cols, false, 6, sgd_cells, &(struct update_job){ attr, at, w, g, NULL, v });
}
