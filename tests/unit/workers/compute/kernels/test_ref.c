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

#include "workers/compute/kernels/call.h"

/* The reference's own losses against numbers worked out by hand. */
static void test_reference_by_hand(void **st)
{
    (void)st;
    struct err e;
    struct backend_ctx *c;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
    double x[4] = { 0, log(3), 5, 5 }, d[4], loss;
    int32_t label[2] = { 1, 0 };
    struct mat X = mat_host(x, ELEM_F64, 2, 2), D = mat_host(d, ELEM_F64, 2, 2), L = mat_host(label, ELEM_I32, 2, 1);
    loss = call_loss(&backend_ref, c, OP_SOFTMAX_XENT, &X, &L, &D);
    assert_true(fabs(loss - (-log(0.75) - log(0.5))) < 1e-12);
    assert_true(fabs(d[0] - 0.125) < 1e-12 && fabs(d[1] + 0.125) < 1e-12 && fabs(d[2] + 0.25) < 1e-12);
    double w[1] = { 1 }, g[1] = { 2 }, m[1] = { 0 }, v[1] = { 0 };
    struct mat W = mat_host(w, ELEM_F64, 1, 1), G = mat_host(g, ELEM_F64, 1, 1), Mm = mat_host(m, ELEM_F64, 1, 1), V = mat_host(v, ELEM_F64, 1, 1);
    const struct call_step s = { { .beta1 = 0.9, .beta2 = 0.999, .weight_decay = 0.5 },
                                 { .lr = 0.1, .correction1 = 0.1, .correction2 = 0.001, .grad_scale = 1 } };
    call_adamw(&backend_ref, c, &s, &W, &G, &Mm, &V);
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
