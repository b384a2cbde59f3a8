/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_gelu.c - x·½(1 + erf(x/√2)) in the orders that exporters write becomes one node with the same numbers; what only
 * looks like it stays as it is. */
#include "q8_kit.h"

struct form {
    const char *in, *first, *second;        /* of erf, of the product inside, of the product outside */
    float half, root;
    bool is_division;
    int binaries;
    const char *also;                       /* an output beside it */
};

static void take(const struct form *f)
{
    static const float x[] = { -3, -1, -0.25f, 0, 0.5f, 2, 4, 0.01f };
    struct buf g = BUF(KIT_BYTES), twice = BUF(KIT_BYTES);
    float got[KIT_OUT];
    kit_input(&g, "x", KIT_DIMS(-1, 4));
    one_f32(&g, "half", f->half), one_f32(&g, "one", 1), one_f32(&g, "root", f->root);
    kit_node(&g, f->is_division ? "Div" : "Mul", f->in, "d", NULL);
    kit_node(&g, "Erf", "d", "f", NULL);
    kit_node(&g, "Add", "f,one", "e", NULL);
    kit_node(&g, "Mul", f->first, "p", NULL);
    kit_node(&g, "Mul", f->second, "y", NULL);
    kit_output(&g, "y");
    if (f->also)
        kit_output(&g, f->also);
    buf_add(&twice, g.ptr, g.len);
    assert_int_equal(count_op(&twice, "binary"), f->binaries);
    if (f->binaries) {                      /* other numbers, which tests of each operator know */
        buf_release(&g);
        return;
    }
    assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, 2, got), 8);
    for (int i = 0; i < 8; i++) {
        double v = (double)x[i], in = f->is_division ? v / (double)f->root : v * (double)f->root;
        double want = v * (double)f->half * (1 + erf(in));
        if (!(fabs((double)got[i] - want) <= 1e-5 * (1 + fabs(want))))
            fail_msg("number %d is %g, not %g", i, (double)got[i], want);
    }
}

static void test_orders(void **st)
{
    (void)st;
    static const struct form forms[] = {
        { "x,root", "x,e", "p,half", 0.5f, 1.41421356f, true, 0, NULL },
        { "x,root", "e,x", "half,p", 0.5f, 1.4142f, true, 0, NULL },
        { "root,x", "x,half", "p,e", 0.5f, 0.70710678f, false, 0, NULL },
        { "x,root", "half,e", "x,p", 0.5f, 0.70710678f, false, 0, NULL },
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        take(&forms[i]);
}

static void test_others(void **st)
{
    (void)st;
    static const struct form forms[] = {
        { "x,root", "x,e", "p,half", 0.4f, 1.41421356f, true, 4, NULL },
        { "x,root", "x,e", "p,half", 0.5f, 1.5f, true, 4, NULL },
        { "x,root", "half,e", "p,p", 0.5f, 1.41421356f, true, 4, NULL },        /* no x among its factors */
        { "root,x", "x,e", "p,half", 0.5f, 1.41421356f, true, 4, NULL },
        { "x,root", "x,e", "p,half", 0.5f, 1.41421356f, true, 4, "e" },         /* what lies between is read by another */
        { "x,root", "x,e", "p,half", 0.5f, 1.41421356f, true, 4, "p" },
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        take(&forms[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_orders), cmocka_unit_test(test_others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
