/* SPDX-License-Identifier: Apache-2.0 */
/* test_call.c - one operation on host memory, as it is and by way of a backend's own memory: the same results in the same
 * places, and what lies between rows is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "workers/compute/kernels/call.h"

enum { ROWS = 3, COLS = 4, WIDE = 6 };

static void run(const struct backend *be, float *out, float w[2])
{
    struct backend_ctx *c;
    struct err e;
    float x[ROWS * WIDE], bias[COLS] = { 1, 2, 3, 4 }, g[2] = { 1, -1 }, v[2] = { 0 };
    const struct call_step step = { { .momentum = 0.5 }, { .lr = 0.5, .grad_scale = 1 } };
    for (int i = 0; i < ROWS * WIDE; i++)
        x[i] = (float)i, out[i] = -1;
    struct mat X = { ELEM_F32, ROWS, COLS, WIDE, NULL, 0, x }, B = mat_host(bias, ELEM_F32, 1, COLS);
    struct mat Y = { ELEM_F32, ROWS, COLS, WIDE, NULL, 0, out };
    struct mat W = mat_host(w, ELEM_F32, 1, 2), G = mat_host(g, ELEM_F32, 1, 2), V = mat_host(v, ELEM_F32, 1, 2);
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    call_binary(be, c, OP_ADD_BIAS, &X, &B, &Y);
    call_sgd(be, c, &step, &W, &G, &V);             /* changes its inputs */
    be->close(c);
}

static void test_same_by_both_ways(void **st)
{
    (void)st;
    struct backend far = backend_ref;
    float near_out[ROWS * WIDE], far_out[ROWS * WIDE], near_w[2] = { 4, 4 }, far_w[2] = { 4, 4 };
    far.properties &= ~(unsigned)BE_HOST_MEMORY;
    run(&backend_ref, near_out, near_w);
    run(&far, far_out, far_w);
    assert_memory_equal(near_out, far_out, sizeof near_out);
    assert_memory_equal(near_w, far_w, sizeof near_w);
    assert_true(far_out[0] == 1 && far_out[COLS] == -1 && far_out[WIDE + 3] == WIDE + 3 + 4);
    assert_true(far_w[0] == 3.5f && far_w[1] == 4.5f);
}

static struct buffer *no_memory(struct backend_ctx *c, size_t size_bytes)
{
    (void)c, (void)size_bytes;
    return NULL;
}

/* What could not be asked for leaves the results as they were. */
static void test_no_memory(void **st)
{
    (void)st;
    struct backend far = backend_ref;
    float out[ROWS * WIDE], w[2] = { 4, 4 };
    far.properties &= ~(unsigned)BE_HOST_MEMORY;
    far.alloc = no_memory;
    run(&far, out, w);
    assert_true(out[0] == -1 && out[WIDE + 3] == -1 && w[0] == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_by_both_ways), cmocka_unit_test(test_no_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
