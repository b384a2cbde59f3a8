/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref.c - the reference against numbers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/backend.h"

/* The reference's own losses against numbers worked out by hand. */
static void test_reference_by_hand(void **st)
{
    (void)st;
    struct err e;
    struct backend_ctx *c;
    assert_int_equal(backend_ref.open(&backend_ref, &c, &e), ERR_OK);
    double x[4] = { 0, log(3), 5, 5 }, d[4], loss;
    int32_t label[2] = { 1, 0 };
    struct mat X = mat_host(x, MAT_F64, 2, 2), D = mat_host(d, MAT_F64, 2, 2), L = mat_host(label, MAT_I32, 2, 1);
    backend_ref.softmax_xent(c, &X, &L, &D, 1, &loss);
    assert_true(fabs(loss - (-log(0.75) - log(0.5))) < 1e-12);
    assert_true(fabs(d[0] - 0.25) < 1e-12 && fabs(d[1] + 0.25) < 1e-12 && fabs(d[2] + 0.5) < 1e-12);
    double w[1] = { 1 }, g[1] = { 2 }, m[1] = { 0 }, v[1] = { 0 };
    struct mat W = mat_host(w, MAT_F64, 1, 1), G = mat_host(g, MAT_F64, 1, 1), Mm = mat_host(m, MAT_F64, 1, 1), V = mat_host(v, MAT_F64, 1, 1);
    const struct adamw_step s = { 0.1, 0.9, 0.999, 0, 0.5, 0.1, 0.001 };
    backend_ref.adamw(c, &s, &W, &G, &Mm, &V);
    assert_true(fabs(w[0] - (1 - 0.05 - 0.1)) < 1e-12);     /* step 1 of Adam moves by lr, after the decay */
    backend_ref.close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
