/* SPDX-License-Identifier: Apache-2.0 */
/* ref_int.h - the reference operations for one number type: include with REAL (float or double) and FN(name) defined.
 *
 * No include guard on purpose: ref.c includes it twice. Written to be read; every variant is judged by the double form. */

#define ROW(m, i) ((REAL *)(m)->ptr + (i) * (m)->stride)

static void FN(matmul)(unsigned flags, const struct mat *a, const struct mat *b, const struct mat *bias, const struct mat *out)
{
    size_t depth = flags & MM_TRANS_A ? a->rows : a->cols;
    for (size_t i = 0; i < out->rows; i++)
        for (size_t j = 0; j < out->cols; j++) {
            REAL sum = flags & MM_ACCUMULATE ? ROW(out, i)[j] : 0;
            for (size_t k = 0; k < depth; k++)
                sum += (flags & MM_TRANS_A ? ROW(a, k)[i] : ROW(a, i)[k]) * (flags & MM_TRANS_B ? ROW(b, j)[k] : ROW(b, k)[j]);
            if (flags & MM_BIAS)
                sum += ROW(bias, 0)[j];
            ROW(out, i)[j] = flags & MM_RELU && sum < 0 ? 0 : sum;
        }
}

static void FN(relu_bwd)(const struct mat *y, const struct mat *dy)
{
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++)
            if (!(ROW(y, i)[j] > 0))
                ROW(dy, i)[j] = 0;
}

/* y = softmax(x) for one row; returns log Σ exp(x), the normaliser. The maximum is taken off first, so exp cannot overflow. */
static double FN(softmax_row)(const REAL *x, REAL *y, size_t n)
{
    REAL top = x[0];
    for (size_t j = 1; j < n; j++)
        top = x[j] > top ? x[j] : top;
    REAL sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += y[j] = (REAL)exp((double)(x[j] - top));
    for (size_t j = 0; j < n; j++)
        y[j] /= sum;
    return (double)top + log((double)sum);
}

static void FN(softmax_xent)(const struct mat *logits, const int32_t *labels, const struct mat *dlogits, double scale, double *loss_sum,
                             REAL *row)
{
    double loss = 0;
    for (size_t i = 0; i < logits->rows; i++) {
        double picked = (double)ROW(logits, i)[labels[i]];
        loss += FN(softmax_row)(ROW(logits, i), row, logits->cols) - picked;
        for (size_t j = 0; dlogits && j < logits->cols; j++)
            ROW(dlogits, i)[j] = (row[j] - ((size_t)labels[i] == j)) * (REAL)scale;
    }
    *loss_sum = loss;
}

static void FN(mse)(const struct mat *y, const struct mat *t, const struct mat *dy, double scale, double *loss_sum)
{
    double loss = 0;
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++) {
            REAL d = ROW(y, i)[j] - ROW(t, i)[j];
            loss += (double)d * (double)d;
            if (dy)
                ROW(dy, i)[j] = 2 * d * (REAL)scale;
        }
    *loss_sum = loss;
}

static void FN(colsum)(const struct mat *x, const struct mat *out, bool accumulate)
{
    for (size_t j = 0; j < x->cols; j++) {
        REAL sum = accumulate ? ROW(out, 0)[j] : 0;
        for (size_t i = 0; i < x->rows; i++)
            sum += ROW(x, i)[j];
        ROW(out, 0)[j] = sum;
    }
}

static void FN(argmax)(const struct mat *x, const struct mat *out)
{
    for (size_t i = 0; i < x->rows; i++) {
        size_t best = 0;
        for (size_t j = 1; j < x->cols; j++)
            if (ROW(x, i)[j] > ROW(x, i)[best])
                best = j;
        ((int32_t *)out->ptr)[i * out->stride] = (int32_t)best;
    }
}

static double FN(sumsq)(const struct mat *x)
{
    double sum = 0;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            sum += (double)ROW(x, i)[j] * (double)ROW(x, i)[j];
    return sum;
}

static void FN(adamw)(const struct adamw_step *s, const struct mat *w, const struct mat *g, const struct mat *m, const struct mat *v)
{
    const REAL b1 = (REAL)s->beta1, b2 = (REAL)s->beta2, eps = (REAL)s->eps, keep = (REAL)(1 - s->lr * s->weight_decay);
    const REAL rate = (REAL)(s->lr / s->correction1), inv2 = (REAL)(1 / s->correction2);
    for (size_t i = 0; i < w->rows; i++)
        for (size_t j = 0; j < w->cols; j++) {
            REAL gj = ROW(g, i)[j];
            REAL mj = ROW(m, i)[j] = b1 * ROW(m, i)[j] + (1 - b1) * gj;
            REAL vj = ROW(v, i)[j] = b2 * ROW(v, i)[j] + (1 - b2) * gj * gj;
            ROW(w, i)[j] = keep * ROW(w, i)[j] - rate * mj / ((REAL)sqrt((double)(vj * inv2)) + eps);
        }
}

static void FN(sgd)(const struct sgd_step *s, const struct mat *w, const struct mat *g, const struct mat *velocity)
{
    const REAL lr = (REAL)s->lr, momentum = (REAL)s->momentum, decay = (REAL)s->weight_decay;
    for (size_t i = 0; i < w->rows; i++)
        for (size_t j = 0; j < w->cols; j++) {
            REAL vj = ROW(velocity, i)[j] = momentum * ROW(velocity, i)[j] + ROW(g, i)[j] + decay * ROW(w, i)[j];
            ROW(w, i)[j] -= lr * vj;
        }
}

#undef ROW
