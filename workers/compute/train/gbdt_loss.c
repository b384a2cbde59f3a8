/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_loss.c - gradients and figures, piece by piece; sums of pieces are added in their order. */
#include "workers/compute/train/gbdt_loss.h"
#include "workers/compute/pool.h"

#include <math.h>
#include <string.h>

enum { ROWS_PER_TASK = 4096, CLASSES_AT_ONCE = 64 };
static const double GRADIENT_BITS = 1 << 30;

/* x = k·ln 2 + r, |r| <= ln 2 / 2; Taylor to r^13 (the next term is below 2^-57). */
double gbdt_exp(double x)
{
    static const double LN2_HIGH = 0x1.62e42fefa0000p-1, LN2_LOW = 0x1.cf79abc9e3b3ap-40, MAGIC = 0x1.8p52;
    x = x < -708 ? -708 : x > 709 ? 709 : x;
    double shifted = x * 0x1.71547652b82fep0 + MAGIC, k = shifted - MAGIC;
    double r = (x - k * LN2_HIGH) - k * LN2_LOW, p = 1.0 / 6227020800.0;
    static const double inverse[] = { 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                      1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1 };
    for (size_t i = 0; i < sizeof inverse / sizeof *inverse; i++)
        p = p * r + inverse[i];
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;         /* the low bits of shifted are k */
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* x = 2^k·m, m in [√½, √2); ln m = 2·atanh((m - 1)/(m + 1)). */
double gbdt_log(double x)
{
    int k;
    double m = frexp(x, &k);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        k--;
    }
    double s = (m - 1) / (m + 1), z = s * s, p = 1.0 / 23;
    for (int i = 21; i > 0; i -= 2)
        p = p * z + 1.0 / i;
    return (double)k * 0x1.62e42fefa39efp-1 + 2 * s * p;
}

static double sigmoid(double x)
{
    return 1 / (1 + gbdt_exp(-x));
}

/* What the score s of a row ought to become: 1 or 0. */
static bool is_true(const struct gbdt_loss *l, size_t s, uint32_t row)
{
    const struct data_table *t = &l->data->table;
    if (l->data->shape.goal == NET_LABELS)
        return t->targets[row * t->target_count + s] > 0.5f;
    return l->is_softmax ? t->labels[row] == (int32_t)s : t->labels[row] == 1;
}

static double score_at(const struct gbdt_loss *l, size_t s, uint32_t row)
{
    return (double)(l->score[s * l->rows + row] + l->base[s]);
}

/* Before the first tree: the mean, or the log of how often a class comes. */
static void begin(struct gbdt_loss *l)
{
    const double n = (double)l->data->train_count, least = 1e-7;
    for (size_t s = 0; s < l->scores; s++) {
        double count = 0;
        if (l->data->shape.goal == NET_REGRESSION) {
            l->base[s] = l->data->target_mean;
            continue;
        }
        for (size_t i = 0; i < l->data->train_count; i++)
            count += is_true(l, s, l->data->train[i]);
        double p = count / n;
        p = p < least ? least : p > 1 - least ? 1 - least : p;
        l->base[s] = (float)(l->is_softmax ? gbdt_log(p) : gbdt_log(p) - gbdt_log(1 - p));
    }
}

enum errc gbdt_loss_new(struct arena *a, struct pool *pool, const struct train_data *d, struct gbdt_loss *ret, struct err *e)
{
    size_t rows = d->table.rows, tasks = rows / ROWS_PER_TASK + 1;
    struct gbdt_loss l = { .data = d, .pool = pool, .rows = rows, .unit = 1 };
    l.is_softmax = d->shape.goal == NET_CLASSES && d->shape.outputs > 2;
    l.scores = l.is_softmax || d->shape.goal == NET_LABELS ? d->shape.outputs : 1;
    l.unit = d->shape.goal == NET_REGRESSION ? (double)d->target_scale : 1;
    l.score = arena_try(a, l.scores * rows * sizeof *l.score);
    l.gradient = arena_try(a, l.scores * rows * sizeof *l.gradient);
    l.base = arena_try(a, l.scores * sizeof *l.base);
    l.scale = arena_try(a, l.scores * sizeof *l.scale);
    l.sums = arena_try(a, tasks * sizeof *l.sums);
    if (!l.score || !l.gradient || !l.base || !l.scale || !l.sums)
        return FAIL(e, LIMIT, "the scores of %zu rows and %zu answers do not fit in the memory of this job", rows, l.scores);
    memset(l.score, 0, l.scores * rows * sizeof *l.score);
    begin(&l);
    *ret = l;
    return ERR_OK;
}

/* --- gradients --- */

static double off_by(const struct gbdt_loss *l, uint32_t row)
{
    return (score_at(l, 0, row) - (double)l->data->table.targets[row]) / l->unit;
}

static size_t piece(size_t task, size_t n, size_t *ret_from)
{
    *ret_from = task * ROWS_PER_TASK;
    return n - *ret_from < ROWS_PER_TASK ? n : *ret_from + ROWS_PER_TASK;
}

static void largest_task(void *arg, size_t task)
{
    const struct gbdt_loss *l = arg;
    size_t from, end = piece(task, l->data->train_count, &from);
    double most = 0;
    for (size_t i = from; i < end; i++) {
        double off = fabs(off_by(l, l->data->train[i]));
        most = off > most ? off : most;
    }
    l->sums[task] = most;
}

static struct gbdt_gradient rounded(const struct gbdt_scale *s, double g, double h)
{
    return (struct gbdt_gradient){ (int32_t)lrint(g / s->g), (uint32_t)lrint(h / s->h) };
}

static void number_task(void *arg, size_t task)
{
    const struct gbdt_loss *l = arg;
    size_t from, end = piece(task, l->data->train_count, &from);
    for (size_t i = from; i < end; i++) {
        uint32_t row = l->data->train[i];
        l->gradient[row] = rounded(&l->scale[0], off_by(l, row), 1);
    }
}

/* p - y and p(1 - p): of independent scores by the logistic function, of classes by softmax. */
static void class_task(void *arg, size_t task)
{
    const struct gbdt_loss *l = arg;
    size_t from, end = piece(task, l->data->train_count, &from);
    for (size_t i = from; i < end; i++) {
        uint32_t row = l->data->train[i];
        double top = -INFINITY, sum = 0, kept[CLASSES_AT_ONCE];
        for (size_t s = 0; s < l->scores && l->is_softmax; s++)
            top = score_at(l, s, row) > top ? score_at(l, s, row) : top;
        for (size_t s = 0; s < l->scores && l->is_softmax; s++) {
            double p = gbdt_exp(score_at(l, s, row) - top);
            sum += p;
            if (s < CLASSES_AT_ONCE)
                kept[s] = p;
        }
        for (size_t s = 0; s < l->scores; s++) {
            double p = l->is_softmax ? (s < CLASSES_AT_ONCE ? kept[s] : gbdt_exp(score_at(l, s, row) - top)) / sum
                                     : sigmoid(score_at(l, s, row));
            l->gradient[s * l->rows + row] = rounded(&l->scale[s], p - is_true(l, s, row), p * (1 - p));
        }
    }
}

void gbdt_gradients(struct gbdt_loss *l)
{
    size_t tasks = (l->data->train_count + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    struct gbdt_scale scale = { .g = 1 / GRADIENT_BITS, .h = 1 };
    unsigned bits = gbdt_hessian_bits(l->data->train_count, &scale.count_shift);
    bool is_number = l->data->shape.goal == NET_REGRESSION;
    if (is_number) {            /* the largest becomes 2^29 … 2^30; a power of two loses nothing */
        double most = 0;
        int exponent;
        pool_run(l->pool, tasks, largest_task, l);
        for (size_t i = 0; i < tasks; i++)
            most = l->sums[i] > most ? l->sums[i] : most;
        (void)frexp(most, &exponent);
        scale.g = most > 0 && isfinite(most) ? ldexp(1 / GRADIENT_BITS, exponent) : scale.g;
    } else {
        scale.h = 0.25 / (double)(((uint32_t)1 << bits) - 1);
    }
    for (size_t s = 0; s < l->scores; s++)
        l->scale[s] = scale;
    pool_run(l->pool, tasks, is_number ? number_task : class_task, l);
}

/* --- figures --- */

struct judging {
    const struct gbdt_loss *l;
    const uint32_t *rows;
    size_t n;
    double (*parts)[4];         /* by task: loss, right, Σy, Σy² */
};

static void judge_classes(const struct gbdt_loss *l, uint32_t row, double part[4])
{
    double top = -INFINITY, sum = 0, own = 0;
    size_t best = 0, label = (size_t)l->data->table.labels[row];
    for (size_t s = 0; s < l->scores; s++) {
        double v = score_at(l, s, row);
        own = s == label ? v : own;
        if (v > top) {
            top = v;
            best = s;
        }
    }
    for (size_t s = 0; s < l->scores; s++)
        sum += gbdt_exp(score_at(l, s, row) - top);
    part[0] += gbdt_log(sum) + top - own;
    part[1] += best == label;
}

static void judge_odds(const struct gbdt_loss *l, uint32_t row, double part[4])
{
    for (size_t s = 0; s < l->scores; s++) {
        double v = score_at(l, s, row);
        bool is = is_true(l, s, row);
        part[0] += (v > 0 ? v : 0) - (is ? v : 0) + gbdt_log(1 + gbdt_exp(-fabs(v)));
        part[1] += (v > 0) == is;
    }
}

static void judge_number(const struct gbdt_loss *l, uint32_t row, double part[4])
{
    double off = off_by(l, row), y = ((double)l->data->table.targets[row] - (double)l->base[0]) / l->unit;
    part[0] += off * off;
    part[2] += y;
    part[3] += y * y;
}

static void judge_task(void *arg, size_t task)
{
    const struct judging *j = arg;
    size_t from, end = piece(task, j->n, &from);
    bool is_number = j->l->data->shape.goal == NET_REGRESSION;
    memset(j->parts[task], 0, sizeof j->parts[task]);
    for (size_t i = from; i < end; i++)
        (is_number ? judge_number : j->l->is_softmax ? judge_classes : judge_odds)(j->l, j->rows[i], j->parts[task]);
}

struct gbdt_judged gbdt_judge(const struct gbdt_loss *l, const uint32_t *rows, size_t n)
{
    enum { TASKS_AT_ONCE = 64 };
    double all[4] = { 0 }, parts[TASKS_AT_ONCE][4], items = (double)n * (double)(l->is_softmax ? 1 : l->scores);
    for (size_t at = 0; at < n; at += TASKS_AT_ONCE * ROWS_PER_TASK) {
        size_t left = n - at, most = TASKS_AT_ONCE * ROWS_PER_TASK, now = left < most ? left : most;
        struct judging j = { l, rows + at, now, parts };
        size_t tasks = (now + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
        pool_run(l->pool, tasks, judge_task, &j);
        for (size_t i = 0; i < tasks; i++)
            for (int k = 0; k < 4; k++)
                all[k] += parts[i][k];
    }
    double variance = all[3] - all[2] * all[2] / items;
    if (l->data->shape.goal != NET_REGRESSION)
        return (struct gbdt_judged){ all[0] / (double)n, all[1] / items };
    return (struct gbdt_judged){ all[0] / (double)n, variance > 0 ? 1 - all[0] / variance : all[0] > 0 ? 0 : 1 };
}
