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
#include "workers/compute/rng.h"

/* G1: every parameter's gradient against (loss(p+h) - loss(p-h)) / 2h in fp64. */
static void test_gradients(void **st)
{
    (void)st;
    struct err e;
    struct backend_ctx *c;
    enum { ROWS = 6, IN = 5, OUT = 3 };
    const size_t width[] = { IN, 7, 4, OUT };
    double x[ROWS * IN];
    int32_t labels[ROWS];
    const struct mlp_spec spec = { ELEM_F64, width, 3, ROWS, 1 << 24, NULL };
    const struct step_scalars at = { .loss_scale = 1, .grad_scale = 1 };
    struct mlp *m;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
    assert_int_equal(mlp_new(&backend_ref, c, &spec, &m, &e), ERR_OK);
    mlp_init(m, 11);
    double *p = run_region(m->run, REGION_PARAMS)->ptr, *g = run_region(m->run, REGION_GRADS)->ptr, loss, up, down, worst = 0;
    for (size_t i = 0; i < ROWS * IN; i++)
        x[i] = philox_normal(5, 0, i);
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % OUT;
    for (size_t i = 0; i < m->bias_count; i++)
        p[m->weight_count + i] = 0.1 * philox_normal(6, 0, i);
    run_put(m->run, m->x, 0, ROWS, x);
    run_put(m->run, m->labels, 0, ROWS, labels);
    mlp_exec(m, ROWS, PHASE_FORWARD | PHASE_BACKWARD, &at);
    assert_int_equal(mlp_loss(m, &loss, &e), ERR_OK);
    for (size_t i = 0; i < m->weight_count + m->bias_count; i++) {
        double keep = p[i], h = 1e-5 * (fabs(keep) + 0.1);
        p[i] = keep + h;
        mlp_exec(m, ROWS, PHASE_FORWARD, &at);
        assert_int_equal(mlp_loss(m, &up, &e), ERR_OK);
        p[i] = keep - h;
        mlp_exec(m, ROWS, PHASE_FORWARD, &at);
        assert_int_equal(mlp_loss(m, &down, &e), ERR_OK);
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
