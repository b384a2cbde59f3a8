/* SPDX-License-Identifier: Apache-2.0 */
/* test_selftest_narrow.c - that the table of bf16 tells a kernel that rounds from one that is wrong; the backend that has
 * them all is judged by it in cuda/test_cuda_ops.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "workers/compute/kernels/selftest_int.h"

static void relu(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    for (size_t i = 0; i < tensor_count(o->in[0]); i++)
        ((uint16_t *)o->out[0]->ptr)[i] = bf16_of(fmaxf(bf16_to_f32(((const uint16_t *)o->in[0]->ptr)[i]), 0));
}

static void relu_wrong(struct backend_ctx *c, const struct op_call *o)
{
    relu(c, o);
    ((uint16_t *)o->out[0]->ptr)[tensor_count(o->in[0]) - 1] = bf16_of(1);
}

static void test_right_and_wrong(void **st)
{
    (void)st;
    static kernel_table right = { [OP_RELU][ELEM_BF16] = relu }, wrong = { [OP_RELU][ELEM_BF16] = relu_wrong };
    struct backend be = backend_ref;
    struct backend_ctx *ref;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    be.name = "some";
    be.kernels = &wrong;
    assert_int_equal(narrow_selftest(&be, ref, ref, NULL, &e), ERR_OK);        /* it does not say that it can */
    be.properties |= BE_NARROW;
    assert_int_equal(narrow_selftest(&be, ref, ref, NULL, &e), ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "backend some: relu differs from the reference by"));
    be.kernels = &right;
    assert_int_equal(narrow_selftest(&be, ref, ref, NULL, &e), ERR_OK);
    backend_ref.close(ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_right_and_wrong) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
