/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - a histogram between the ends, and the three rules. */
#include "workers/compute/optimise/range.h"

#include <float.h>
#include <math.h>

enum { STEPS = 255, TRIES = 128, TRIES_FROM = 16 };

void range_see(struct range *r, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        r->min = x[i] < r->min ? x[i] : r->min;
        r->max = x[i] > r->max ? x[i] : r->max;
    }
}

static size_t bin_of(const struct range *r, double v)
{
    double at = (v - (double)r->min) / ((double)r->max - (double)r->min) * RANGE_BINS;
    return at <= 0 ? 0 : at >= RANGE_BINS - 1 ? RANGE_BINS - 1 : (size_t)at;
}

void range_count(struct range *r, const float *x, size_t n)
{
    for (size_t i = 0; i < n && r->max > r->min; i++)
        if (isfinite(x[i]))
            r->bins[bin_of(r, (double)x[i])]++;
}

static double edge(const struct range *r, size_t bin)
{
    return (double)r->min + ((double)r->max - (double)r->min) * (double)bin / RANGE_BINS;
}

static uint64_t sum(const struct range *r, size_t from, size_t to)
{
    uint64_t n = 0;
    for (size_t i = from; i < to; i++)
        n += r->bins[i];
    return n;
}

static void pick_percentile(const struct range *r, double percentile, size_t *ret_from, size_t *ret_to)
{
    double most = (double)sum(r, 0, RANGE_BINS) * (100 - percentile) / 200, left = 0, right = 0;
    size_t from = 0, to = RANGE_BINS;
    while (from < to && left + (double)r->bins[from] <= most)
        left += (double)r->bins[from++];
    while (to > from && right + (double)r->bins[to - 1] <= most)
        right += (double)r->bins[--to];
    *ret_from = from;
    *ret_to = to;
}

/* How badly 255 steps over the bins from … to-1 tell all numbers, those beyond being cut to the ends. */
static double divergence(const struct range *r, size_t from, size_t to)
{
    double all = (double)sum(r, 0, RANGE_BINS), lost = 0;
    double low = (double)sum(r, 0, from), high = (double)sum(r, to, RANGE_BINS);
    for (size_t s = 0; s < STEPS; s++) {
        size_t a = from + (to - from) * s / STEPS, b = from + (to - from) * (s + 1) / STEPS, used = 0;
        double mass = 0;
        for (size_t i = a; i < b; i++) {
            mass += (double)r->bins[i];
            used += r->bins[i] > 0;
        }
        for (size_t i = a; i < b; i++) {
            double p = (double)r->bins[i] + (i == from ? low : 0) + (i + 1 == to ? high : 0);
            double q = r->bins[i] && used ? mass / (double)used : 0;
            lost += p > 0 ? p / all * log(p / (q > 0 ? q : 1e-3)) : 0;
        }
    }
    return lost;
}

static void pick_entropy(const struct range *r, size_t *ret_from, size_t *ret_to)
{
    double top = fmax((double)r->max, -(double)r->min), best = INFINITY;
    for (int k = TRIES_FROM; k <= TRIES; k++) {
        double t = top * k / TRIES;
        size_t from = -t > (double)r->min ? bin_of(r, -t) : 0, to = t < (double)r->max ? bin_of(r, t) + 1 : RANGE_BINS;
        double lost = divergence(r, from, to);
        if (to - from < STEPS || !(lost < best))
            continue;
        best = lost;
        *ret_from = from;
        *ret_to = to;
    }
}

void range_pick(const struct range *r, enum range_rule rule, double percentile, float *ret_min, float *ret_max)
{
    size_t from = 0, to = RANGE_BINS;
    *ret_min = r->min;
    *ret_max = r->max;
    if (rule == RANGE_MINMAX || !(r->max > r->min) || !sum(r, 0, RANGE_BINS))
        return;
    if (rule == RANGE_PERCENTILE)
        pick_percentile(r, percentile, &from, &to);
    else
        pick_entropy(r, &from, &to);
    *ret_min = (float)fmin(edge(r, from), 0);
    *ret_max = (float)fmax(edge(r, to), 0);
}

void range_steps(float min, float max, double *ret_scale, double *ret_zero)
{
    float scale = (fmaxf(max, 0) - fminf(min, 0)) / STEPS;
    if (!(scale >= FLT_MIN))
        scale = 1;
    *ret_scale = (double)scale;
    *ret_zero = fmin(rint((double)(-fminf(min, 0) / scale)), STEPS);
}
