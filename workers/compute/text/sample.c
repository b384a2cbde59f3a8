/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - candidates, cut by top_k and top_p, and the draw among them. */
#include "workers/compute/text/sample.h"
#include "workers/compute/rng.h"

#include <stdbool.h>
#include <stdlib.h>

enum { STREAM = 0x7e47 };       /* of draws, apart from those of training */

static int32_t likeliest(const float *logits, size_t vocab)
{
    size_t best = 0;
    for (size_t i = 1; i < vocab; i++)
        if (logits[i] > logits[best] || logits[best] != logits[best])
            best = i;
    return (int32_t)best;
}

static int by_logit(const void *a, const void *b)
{
    const struct sample_one *x = a, *y = b;
    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

static void swap(struct sample_one *a, struct sample_one *b)
{
    struct sample_one t = *a;
    *a = *b;
    *b = t;
}

/* The k first of n by by_logit, in no order (Hoare 1961). */
static void select_first(struct sample_one *c, size_t n, size_t k)
{
    while (n > 1 && k > 0 && k < n) {
        struct sample_one pivot = c[(n - 1) / 2];     /* never the last one: each turn gets shorter */
        size_t i = 0, j = n - 1;
        for (;; i++, j--) {
            while (by_logit(&c[i], &pivot) < 0)
                i++;
            while (by_logit(&c[j], &pivot) > 0)
                j--;
            if (i >= j)
                break;
            swap(&c[i], &c[j]);
        }
        size_t left = j + 1;
        if (k >= left) {
            c += left;
            n -= left;
            k -= left;
        } else {
            n = left;
        }
    }
}

/* Tokens whose logit is a number, at least `least`; returns how many. */
static size_t collect(const float *logits, size_t vocab, double least, struct sample_one *c)
{
    size_t n = 0;
    for (size_t i = 0; i < vocab; i++)
        if ((double)logits[i] >= least)
            c[n++] = (struct sample_one){ logits[i], (int32_t)i };
    return n;
}

static double mass_of(const struct sample_one *c, size_t n, float top, double temperature)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += exp((double)(c[i].logit - top) / temperature);
    return sum;
}

/* How many of the sorted candidates have `share` of the mass together. */
static size_t nucleus(const struct sample_one *c, size_t n, double temperature, double share)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += exp((double)(c[i].logit - c[0].logit) / temperature);
        if (sum >= share)
            return i + 1;
    }
    return n;
}

int32_t sample_token(const float *logits, size_t vocab, const struct sample_how *how, uint64_t place, struct sample_room *room)
{
    struct sample_one *c = room->list;
    int32_t best = likeliest(logits, vocab);
    double t = how->temperature, top = (double)logits[best];
    if (!(t > 0) || !isfinite(top))
        return best;
    size_t n = collect(logits, vocab, -INFINITY, c);
    bool has_k = how->top_k > 0 && (size_t)how->top_k < n, has_p = how->top_p < 1;
    if (has_k) {
        select_first(c, n, (size_t)how->top_k);
        n = (size_t)how->top_k;
    }
    double mass = mass_of(c, n, logits[best], t);
    if (has_p) {
        /* What is less likely than (1 - top_p)/n has less than 1 - top_p together: it is no part of the nucleus. */
        double least = top + t * log((1 - how->top_p) / (double)n * mass);
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if ((double)c[i].logit >= least || c[i].token == best)
                c[kept++] = c[i];
        n = kept;
    }
    if (has_k || has_p)
        qsort(c, n, sizeof *c, by_logit);
    if (has_p) {
        n = nucleus(c, n, t, how->top_p * mass);
        mass = mass_of(c, n, logits[best], t);
    }
    struct philox r = philox(how->seed, STREAM, place);
    double at = (double)((uint64_t)r.v[0] << 21 ^ r.v[1] >> 11) * 0x1p-53 * mass, sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += exp((double)(c[i].logit - logits[best]) / t);
        if (at < sum)
            return c[i].token;
    }
    return best;
}
