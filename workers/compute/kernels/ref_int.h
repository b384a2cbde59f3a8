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
            REAL sum = flags & OP_ACCUMULATE ? ROW(out, i)[j] : 0;
            for (size_t k = 0; k < depth; k++)
                sum += (flags & MM_TRANS_A ? ROW(a, k)[i] : ROW(a, i)[k]) * (flags & MM_TRANS_B ? ROW(b, j)[k] : ROW(b, k)[j]);
            if (flags & MM_BIAS)
                sum += ROW(bias, 0)[j];
            ROW(out, i)[j] = flags & MM_RELU && sum < 0 ? 0 : sum;
        }
}

static void FN(add_bias)(const struct mat *x, const struct mat *bias, const struct mat *y)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            ROW(y, i)[j] = ROW(x, i)[j] + ROW(bias, 0)[j];
}

static void FN(add)(const struct mat *x, const struct mat *y, const struct mat *z)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            ROW(z, i)[j] = ROW(x, i)[j] + ROW(y, i)[j];
}

static void FN(relu)(const struct mat *x, const struct mat *y)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            ROW(y, i)[j] = ROW(x, i)[j] > 0 ? ROW(x, i)[j] : 0;
}

static void FN(relu_bwd)(const struct mat *y, const struct mat *dy, const struct mat *dx)
{
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++)
            ROW(dx, i)[j] = ROW(y, i)[j] > 0 ? ROW(dy, i)[j] : 0;
}

/* ½x(1 + tanh u), u = √(2/π)(x + 0.044715x³); ret_slope: its derivative. */
static REAL FN(gelu_at)(REAL x, REAL *ret_slope)
{
    const double a = 0.7978845608028654, b = 0.044715;
    double v = (double)x, t = tanh(a * (v + b * v * v * v));
    *ret_slope = (REAL)(0.5 * (1 + t) + 0.5 * v * (1 - t * t) * a * (1 + 3 * b * v * v));
    return (REAL)(0.5 * v * (1 + t));
}

static void FN(gelu)(const struct mat *x, const struct mat *y)
{
    REAL slope;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            ROW(y, i)[j] = FN(gelu_at)(ROW(x, i)[j], &slope);
}

static void FN(gelu_bwd)(const struct mat *x, const struct mat *dy, const struct mat *dx)
{
    REAL slope;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            FN(gelu_at)(ROW(x, i)[j], &slope);
            ROW(dx, i)[j] = ROW(dy, i)[j] * slope;
        }
}

/* Mean of a row, and 1/√(var + eps); is_rms: from zero. */
static REAL FN(mean_row)(const REAL *x, size_t n, double eps, bool is_rms, REAL *ret_inverse)
{
    REAL mean = 0, square = 0;
    for (size_t j = 0; j < n && !is_rms; j++)
        mean += x[j] / (REAL)n;
    for (size_t j = 0; j < n; j++)
        square += (x[j] - mean) * (x[j] - mean) / (REAL)n;
    *ret_inverse = (REAL)(1 / sqrt((double)square + eps));
    return mean;
}

static void FN(layernorm)(const struct mat *x, const struct mat *scale, const struct mat *shift, double eps,
                          const struct mat *y)
{
    for (size_t i = 0; i < x->rows; i++) {
        REAL inverse, mean = FN(mean_row)(ROW(x, i), x->cols, eps, !shift, &inverse);
        for (size_t j = 0; j < x->cols; j++)
            ROW(y, i)[j] = (ROW(x, i)[j] - mean) * inverse * ROW(scale, 0)[j] + (shift ? ROW(shift, 0)[j] : 0);
    }
}

static void FN(layernorm_bwd)(const struct mat *x, const struct mat *scale, const struct mat *dy, double eps, bool is_rms,
                              const struct mat *dx)
{
    for (size_t i = 0; i < x->rows; i++) {
        REAL inverse, mean = FN(mean_row)(ROW(x, i), x->cols, eps, is_rms, &inverse), g = 0, gz = 0;
        for (size_t j = 0; j < x->cols; j++) {
            REAL gj = ROW(dy, i)[j] * ROW(scale, 0)[j];
            g += is_rms ? 0 : gj / (REAL)x->cols;
            gz += gj * (ROW(x, i)[j] - mean) * inverse / (REAL)x->cols;
        }
        for (size_t j = 0; j < x->cols; j++)
            ROW(dx, i)[j] = inverse * (ROW(dy, i)[j] * ROW(scale, 0)[j] - g - (ROW(x, i)[j] - mean) * inverse * gz);
    }
}

static void FN(norm_scale_bwd)(const struct mat *x, const struct mat *dy, double eps, const struct mat *out, unsigned flags)
{
    for (size_t j = 0; j < x->cols && !(flags & OP_ACCUMULATE); j++)
        ROW(out, 0)[j] = 0;
    for (size_t i = 0; i < x->rows; i++) {
        REAL inverse, mean = FN(mean_row)(ROW(x, i), x->cols, eps, flags & NORM_RMS, &inverse);
        for (size_t j = 0; j < x->cols; j++)
            ROW(out, 0)[j] += ROW(dy, i)[j] * (ROW(x, i)[j] - mean) * inverse;
    }
}

static void FN(standardise)(const struct mat *x, const struct mat *mean, const struct mat *scale, const struct mat *y)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            ROW(y, i)[j] = (ROW(x, i)[j] - ROW(mean, 0)[j]) / ROW(scale, 0)[j];
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

static void FN(softmax)(const struct mat *x, const struct mat *y)
{
    for (size_t i = 0; i < x->rows; i++)
        FN(softmax_row)(ROW(x, i), ROW(y, i), x->cols);
}

static void FN(softmax_bwd)(const struct mat *y, const struct mat *dy, const struct mat *dx)
{
    for (size_t i = 0; i < y->rows; i++) {
        REAL sum = 0;
        for (size_t j = 0; j < y->cols; j++)
            sum += ROW(y, i)[j] * ROW(dy, i)[j];
        for (size_t j = 0; j < y->cols; j++)
            ROW(dx, i)[j] = ROW(y, i)[j] * (ROW(dy, i)[j] - sum);
    }
}

static double FN(softmax_xent)(const struct mat *logits, const int32_t *labels, const struct mat *dlogits, double scale, REAL *row)
{
    double loss = 0;
    for (size_t i = 0; i < logits->rows; i++) {
        double picked = (double)ROW(logits, i)[labels[i]];
        loss += FN(softmax_row)(ROW(logits, i), row, logits->cols) - picked;
        for (size_t j = 0; dlogits && j < logits->cols; j++)
            ROW(dlogits, i)[j] = (row[j] - ((size_t)labels[i] == j)) * (REAL)scale;
    }
    return loss;
}

static double FN(mse)(const struct mat *y, const struct mat *t, const struct mat *dy, double scale)
{
    double loss = 0;
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++) {
            REAL d = ROW(y, i)[j] - ROW(t, i)[j];
            loss += (double)d * (double)d;
            if (dy)
                ROW(dy, i)[j] = 2 * d * (REAL)scale;
        }
    return loss;
}

/* -t·log σ(x) - (1-t)·log(1-σ(x)) = max(x, 0) - x·t + log(1 + exp(-|x|)). */
static double FN(sigmoid_xent)(const struct mat *x, const struct mat *t, const struct mat *dx, double scale)
{
    double loss = 0;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            double v = (double)ROW(x, i)[j], want = (double)ROW(t, i)[j];
            loss += (v > 0 ? v : 0) - v * want + log1p(exp(-fabs(v)));
            if (v != v)
                loss = v;
            if (dx)
                ROW(dx, i)[j] = (REAL)((1 / (1 + exp(-v)) - want) * scale);
        }
    return loss;
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

static void FN(argmax)(const struct mat *x, int32_t *out)
{
    for (size_t i = 0; i < x->rows; i++) {
        size_t best = 0;
        for (size_t j = 1; j < x->cols; j++)
            if (ROW(x, i)[j] > ROW(x, i)[best])
                best = j;
        out[i] = (int32_t)best;
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

static void FN(adamw)(const struct op_attr *s, const struct step_scalars *at, const struct mat *w, const struct mat *g,
                      const struct mat *m, const struct mat *v)
{
    if (!isfinite(at->grad_scale))
        return;
    const REAL b1 = (REAL)s->beta1, b2 = (REAL)s->beta2, eps = (REAL)s->eps, keep = (REAL)(1 - at->lr * s->weight_decay);
    const REAL rate = (REAL)(at->lr / at->correction1), inv2 = (REAL)(1 / at->correction2), scale = (REAL)at->grad_scale;
    for (size_t i = 0; i < w->rows; i++)
        for (size_t j = 0; j < w->cols; j++) {
            REAL gj = scale * ROW(g, i)[j];
            REAL mj = ROW(m, i)[j] = b1 * ROW(m, i)[j] + (1 - b1) * gj;
            REAL vj = ROW(v, i)[j] = b2 * ROW(v, i)[j] + (1 - b2) * gj * gj;
            ROW(w, i)[j] = keep * ROW(w, i)[j] - rate * mj / ((REAL)sqrt((double)(vj * inv2)) + eps);
        }
}

static void FN(sgd)(const struct op_attr *s, const struct step_scalars *at, const struct mat *w, const struct mat *g, const struct mat *v)
{
    if (!isfinite(at->grad_scale))
        return;
    const REAL lr = (REAL)at->lr, momentum = (REAL)s->momentum, decay = (REAL)s->weight_decay, scale = (REAL)at->grad_scale;
    for (size_t i = 0; i < w->rows; i++)
        for (size_t j = 0; j < w->cols; j++) {
            REAL vj = ROW(v, i)[j] = momentum * ROW(v, i)[j] + scale * ROW(g, i)[j] + decay * ROW(w, i)[j];
            ROW(w, i)[j] -= lr * vj;
        }
}

#undef ROW
