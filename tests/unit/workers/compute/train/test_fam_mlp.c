/* SPDX-License-Identifier: Apache-2.0 */
/* test_fam_mlp.c - gradients by central differences in fp64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/train/fam_mlp.h"
#include "workers/compute/train/rng.h"

/* G1: every parameter's gradient against (loss(p+h) - loss(p-h)) / 2h in fp64. */
static void test_gradients(void **st)
{
    (void)st;
    struct err e;
    struct backend_ctx *c;
    enum { ROWS = 6, IN = 5, OUT = 3 };
    const size_t width[] = { IN, 7, 4, OUT };
    float x[ROWS * IN];
    int32_t labels[ROWS];
    struct mlp *m;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
    assert_int_equal(mlp_new(&backend_ref, c, ELEM_F64, width, 3, ROWS, 1 << 24, &m, &e), ERR_OK);
    mlp_init(m, 11);
    double *p = m->params->ptr, *g = m->grads->ptr, loss, up, down, worst = 0;
    for (size_t i = 0; i < ROWS * IN; i++)
        x[i] = (float)philox_normal(5, 0, i);
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % OUT;
    for (size_t i = 0; i < m->bias_count; i++)
        p[m->weight_count + i] = 0.1 * philox_normal(6, 0, i);
    mlp_put_batch(m, x, labels, ROWS);
    mlp_forward(m, ROWS);
    mlp_loss(m, ROWS, true, &loss);
    mlp_backward(m, ROWS);
    for (size_t i = 0; i < m->weight_count + m->bias_count; i++) {
        double keep = p[i], h = 1e-5 * (fabs(keep) + 0.1);
        p[i] = keep + h;
        mlp_forward(m, ROWS);
        mlp_loss(m, ROWS, false, &up);
        p[i] = keep - h;
        mlp_forward(m, ROWS);
        mlp_loss(m, ROWS, false, &down);
        p[i] = keep;
        double want = (up - down) / (2 * h) / ROWS;
        double off = fabs(want - g[i]) / (fabs(want) + fabs(g[i]) + 1e-3);
        worst = off > worst ? off : worst;
    }
    if (worst > 1e-6)
        fail_msg("worst relative error %g", worst);
    mlp_free(m);
    backend_ref.close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
