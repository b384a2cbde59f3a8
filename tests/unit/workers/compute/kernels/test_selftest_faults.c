/* SPDX-License-Identifier: Apache-2.0 */
/* test_selftest_faults.c - a self-test that is told to go on tells every difference, and leaves out what it is told to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "workers/compute/kernels/selftest_faults.h"

struct seen {
    struct selftest_faults f;           /* first */
    int colsum, gelu, others;
};

static void keep(struct selftest_faults *f, const char *why)
{
    struct seen *s = (struct seen *)f;
    if (strstr(why, "colsum"))
        s->colsum++;
    else if (strstr(why, " gelu differs"))
        s->gelu++;
    else
        s->others++;
}

static void off(struct backend_ctx *c, enum op op, const struct op_call *o)
{
    (*backend_ref.kernels)[op][ELEM_F32](c, o);
    ((float *)o->out[0]->ptr)[0] += 0.01f;
}

static void wrong_colsum(struct backend_ctx *c, const struct op_call *o)
{
    off(c, OP_COLSUM, o);
}

static void wrong_gelu(struct backend_ctx *c, const struct op_call *o)
{
    off(c, OP_GELU, o);
}

static void test_goes_on(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct seen all = { .f = { .on_fault = keep } }, after = all;
    static kernel_fn kernels[OP_COUNT][ELEM_COUNT];
    struct backend broken = backend_ref;
    memcpy(kernels, *backend_ref.kernels, sizeof kernels);
    kernels[OP_COLSUM][ELEM_F32] = wrong_colsum;
    kernels[OP_GELU][ELEM_F32] = wrong_gelu;
    broken.kernels = (kernel_table *)&kernels;
    assert_int_equal(backend_selftest_all(&broken, &all.f, &e), ERR_OK);
    assert_true(all.colsum == 2 && all.gelu == 2 && !all.others);       /* two sizes of each */
    after.f.first = all.f.cases;
    assert_int_equal(backend_selftest_all(&broken, &after.f, &e), ERR_OK);
    assert_true(after.f.cases == all.f.cases && !after.colsum && !after.gelu && !after.others);
    assert_int_equal(backend_selftest_all(&broken, NULL, &e), ERR_INTERNAL);        /* as ever: the first one ends it */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_goes_on) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
