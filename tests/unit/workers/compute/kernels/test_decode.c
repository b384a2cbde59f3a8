/* SPDX-License-Identifier: Apache-2.0 */
/* test_decode.c - products of few rows with small weights, and attention of one token: every tier at 200 random shapes against
 * fp64, a row the same in any company, on any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/decode.h"
#include "workers/compute/pool.h"
#include "workers/compute/rng.h"

enum { N_MAX = 150, K_MAX = 600, SHAPES = 200 };
static float w[N_MAX * K_MAX], x[DECODE_ROWS * K_MAX], bias[N_MAX], y[DECODE_ROWS * N_MAX], one[N_MAX];

static size_t below(uint64_t i, size_t n)
{
    return philox(3, 4, i).v[0] % n;
}

static void fill(float *p, size_t n, uint64_t stream)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (float)philox_normal(9, stream, i);
}

static struct decode_weights weights(enum decode_type type, size_t n, size_t k, bool is_turned)
{
    struct decode_weights d = { type, n, k, aligned_alloc(64, (decode_bytes(type, n, k) + 63) / 64 * 64), NULL };
    assert_non_null(d.data);
    memset(d.data, 0, decode_bytes(type, n, k));
    d.scale = type == DECODE_I8 ? calloc(n + DECODE_NR, sizeof *d.scale) : NULL;
    size_t cut = n / 3;                 /* in two parts */
    decode_pack(&d, 0, cut, w, is_turned ? 1 : k, is_turned ? n : 1);
    decode_pack(&d, cut, n - cut, w + (is_turned ? cut : cut * k), is_turned ? 1 : k, is_turned ? n : 1);
    return d;
}

static void drop(struct decode_weights *d)
{
    free(d->data);
    free(d->scale);
}

/* By the weights as they are kept, in fp64. */
static void compare(const struct backend *be, const struct decode_weights *d, size_t m, bool has_bias)
{
    static float row[K_MAX];
    for (size_t j = 0; j < d->n; j++) {
        decode_row(d, j, row);
        for (size_t i = 0; i < m; i++) {
            double sum = has_bias ? (double)bias[j] : 0, size = 1;
            for (size_t k = 0; k < d->k; k++) {
                sum += (double)x[i * K_MAX + k] * (double)row[k];
                size += fabs((double)x[i * K_MAX + k] * (double)row[k]);
            }
            if (!(fabs((double)y[i * N_MAX + j] - sum) < 1e-6 * size))
                fail_msg("%s %s %zux%zux%zu: [%zu,%zu] is %g, not %g", be->name, decode_type_names[d->type], m, d->n, d->k, i, j,
                         (double)y[i * N_MAX + j], sum);
        }
    }
}

static void products(const struct backend *be, struct pool *pool)
{
    for (uint64_t s = 0; s < SHAPES; s++) {
        size_t m = 1 + below(4 * s, s % 5 ? 9 : DECODE_ROWS), n = 1 + below(4 * s + 1, N_MAX),
               k = 1 + below(4 * s + 2, s % 9 ? 80 : K_MAX);
        enum decode_type type = (enum decode_type)(s % DECODE_TYPES);
        bool has_bias = s % 2;
        fill(w, n * k, s);
        fill(x, DECODE_ROWS * K_MAX, s + 1000);
        fill(bias, n, s + 2000);
        struct decode_weights d = weights(type, n, k, s % 7 == 3);
        struct decode_product p = { &d, x, has_bias ? bias : NULL, y, m, K_MAX, N_MAX };
        decode_run(be, pool, &p);
        compare(be, &d, m, has_bias);
        for (size_t i = 0; i < m; i++) {        /* by itself, without helpers: the same bits */
            decode_run(be, NULL, &(struct decode_product){ &d, x + i * K_MAX, has_bias ? bias : NULL, one, 1, K_MAX, N_MAX });
            assert_memory_equal(one, y + i * N_MAX, n * sizeof *one);
        }
        drop(&d);
    }
}

static void attention(const struct backend *be)
{
    for (uint64_t s = 0; s < 60; s++) {
        size_t d = 1 + below(1000 + 2 * s, 130), seen = 1 + below(1001 + 2 * s, s % 4 ? 50 : 600);
        float *keys = malloc(seen * d * sizeof *keys), *values = malloc(seen * d * sizeof *values), q[130], out[130];
        double p[600], sum = 0, top = -INFINITY;
        fill(keys, seen * d, s);
        fill(values, seen * d, s + 100);
        fill(q, d, s + 200);
        be->decode->attend(&(struct decode_attend){ q, keys, values, out, seen, d, 0.3f });
        for (size_t l = 0; l < seen; l++) {
            p[l] = 0;
            for (size_t j = 0; j < d; j++)
                p[l] += (double)q[j] * (double)keys[l * d + j] * (double)0.3f;
            top = p[l] > top ? p[l] : top;
        }
        for (size_t l = 0; l < seen; l++)
            sum += p[l] = exp(p[l] - top);
        for (size_t j = 0; j < d; j++) {
            double want = 0;
            for (size_t l = 0; l < seen; l++)
                want += p[l] / sum * (double)values[l * d + j];
            if (!(fabs((double)out[j] - want) < 2e-5))
                fail_msg("%s: %zu of %zu: %g, not %g", be->name, seen, d, (double)out[j], want);
        }
        free(keys);
        free(values);
    }
}

static void every_tier_is_right(void **st)
{
    (void)st;
    struct hw hw;
    struct pool *pool;
    struct err e = { 0 };
    size_t tiers = 0;
    hw_read(&hw);
    assert_int_equal(pool_new(3, &pool, &e), ERR_OK);
    for (const struct backend *const *be = backend_list(); *be; be++)
        if ((*be)->probe(&hw)) {
            products(*be, pool);
            attention(*be);
            tiers++;
        }
    pool_free(pool);
    assert_true(tiers >= 1);
}

/* A column of zeros, and one of numbers that are none. */
static void odd_columns(void **st)
{
    (void)st;
    float ret[2], zero[4] = { 0, 0, 3, -1 };
    memcpy(w, zero, sizeof zero);
    struct decode_weights d = weights(DECODE_I8, 2, 2, false);
    decode_row(&d, 0, ret);
    assert_true(ret[0] == 0 && ret[1] == 0);
    decode_row(&d, 1, ret);
    assert_true(fabsf(ret[0] - 3) < 1e-6f && fabsf(ret[1] + 1) < 0.02f);
    drop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_tier_is_right), cmocka_unit_test(odd_columns) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
