/* SPDX-License-Identifier: Apache-2.0 */
/* test_selftest_flash.c - that the self-test of attention over bf16 tells kernels that round from ones that are wrong, forward or
 * backward; the backend that has them is judged by it in cuda/test_cuda_attention.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "workers/compute/kernels/selftest_int.h"

static bool is_wrong_forward, is_wrong_backward;

/* The reference, with every operand in fp64 and results rounded. */
static void widened(struct backend_ctx *c, enum op op, const struct op_call *o)
{
    struct op_call call = *o;
    struct tensor t[6];
    for (int i = 0; i < 6; i++) {
        const struct tensor **at = i < 4 ? &call.in[i] : &call.out[i - 4], *x = *at;
        if (!x)
            continue;
        t[i] = tensor_at(NULL, 0, ELEM_F64, x->rank, x->dim);
        double *wide = t[i].ptr = calloc(tensor_count(x), sizeof *wide);
        for (size_t j = 0; j < tensor_count(x); j++)
            wide[j] = x->type == ELEM_F32 ? (double)((const float *)x->ptr)[j]
                                          : (double)bf16_to_f32(((const uint16_t *)x->ptr)[j]);
        *at = &t[i];
    }
    (*backend_ref.kernels)[op][ELEM_F64](c, &call);
    for (int i = 0; i < 2 && o->out[i]; i++)
        for (size_t j = 0; j < tensor_count(o->out[i]); j++) {
            float x = (float)((const double *)t[4 + i].ptr)[j];
            if (o->out[i]->type == ELEM_F32)
                ((float *)o->out[i]->ptr)[j] = x;
            else
                ((uint16_t *)o->out[i]->ptr)[j] = bf16_of(x);
        }
    for (int i = 0; i < 6; i++)
        if (i < 4 ? call.in[i] : call.out[i - 4])
            free(t[i].ptr);
}

static void forward(struct backend_ctx *c, const struct op_call *o)
{
    widened(c, OP_ATTENTION, o);
    if (is_wrong_forward)
        ((uint16_t *)o->out[0]->ptr)[0] = bf16_of(9);
}

static void backward(struct backend_ctx *c, const struct op_call *o)
{
    widened(c, OP_ATTENTION_BWD, o);
    if (is_wrong_backward)
        ((uint16_t *)o->out[0]->ptr)[3] = bf16_of(9);
}

static void test_right_and_wrong(void **st)
{
    (void)st;
    static kernel_table half = { [OP_ATTENTION][ELEM_BF16] = forward };
    static kernel_table whole = { [OP_ATTENTION][ELEM_BF16] = forward, [OP_ATTENTION_BWD][ELEM_BF16] = backward };
    struct backend be = backend_ref;
    struct backend_ctx *ref;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    be.name = "some";
    be.kernels = &half;
    is_wrong_forward = true;
    assert_int_equal(flash_selftest(&be, ref, ref, NULL, &e), ERR_OK); /* not both: nothing is asked */
    be.kernels = &whole;
    assert_int_equal(flash_selftest(&be, ref, ref, NULL, &e), ERR_INTERNAL);
    is_wrong_forward = false;
    assert_int_equal(flash_selftest(&be, ref, ref, NULL, &e), ERR_OK);
    is_wrong_backward = true;
    assert_int_equal(flash_selftest(&be, ref, ref, NULL, &e), ERR_INTERNAL);
    backend_ref.close(ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_right_and_wrong) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
