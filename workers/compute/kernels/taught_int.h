/* SPDX-License-Identifier: Apache-2.0 */
/* taught_int.h - the loss of a net that learns from labels and from a teacher's probabilities (Hinton, Vinyals & Dean 2015), for
 * any backend in host memory and one number type: include with REAL and FN(name) defined.
 *
 * Classes are few and a row is a task's at least, so it is written plainly: exp and log in doubles, summed in order. */

struct FN(taught_job) {
    const REAL *x, *soft;
    const int32_t *labels;
    REAL *dx;                   /* NULL: not asked for */
    double *losses;             /* by row */
    size_t cols;
    double share, heat, scale;
};

/* log Σ exp(x / heat), and its largest term before. */
static double FN(log_sum)(const REAL *x, size_t n, double heat)
{
    double top = (double)x[0], sum = 0;
    for (size_t j = 1; j < n; j++)
        top = (double)x[j] > top ? (double)x[j] : top;
    for (size_t j = 0; j < n; j++)
        sum += exp(((double)x[j] - top) / heat);
    return top / heat + log(sum);
}

static void FN(taught_cells)(const void *arg, const struct cells *at)
{
    const struct FN(taught_job) *j = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const REAL *x = j->x + i * j->cols, *soft = j->soft + i * j->cols;
        double plain = FN(log_sum)(x, j->cols, 1), warm = FN(log_sum)(x, j->cols, j->heat), from = 0;
        for (size_t k = 0; k < j->cols; k++)
            from += (double)soft[k] * (warm - (double)x[k] / j->heat);
        j->losses[i] = (1 - j->share) * (plain - (double)x[j->labels[i]]) + j->share * j->heat * j->heat * from;
        for (size_t k = 0; j->dx && k < j->cols; k++) {         /* dx may be x */
            double right = (size_t)j->labels[i] == k, own = exp((double)x[k] - plain), hot = exp((double)x[k] / j->heat - warm);
            double d = (1 - j->share) * (own - right) + j->share * j->heat * (hot - (double)soft[k]);
            j->dx[i * j->cols + k] = (REAL)(d * j->scale);
        }
    }
}

static void FN(softmax_taught)(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), soft = in_mat(o, 2);
    double *loss = vector(o->out[0], ELEM_F64, 1), weight = o->in[3] ? scalars(o->in[3])->loss_scale : 1;
    assert_same(&x, &soft);
    ASSERT(x.stride == x.cols && soft.stride == x.cols);
    struct FN(taught_job) j = { x.ptr, soft.ptr, vector(o->in[1], ELEM_I32, x.rows), o->out[1] ? o->out[1]->ptr : NULL,
                                cpu_scratch(c, (x.rows + 1) * sizeof(double)), x.cols, o->attr.alpha, o->attr.gamma,
                                weight / (double)x.rows };
    cpu_cells(c, x.rows, x.cols, true, 60, FN(taught_cells), &j);
    *loss = 0;
    for (size_t i = 0; i < x.rows; i++)
        *loss += j.losses[i];
}
