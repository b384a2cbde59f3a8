/* SPDX-License-Identifier: Apache-2.0 */
/* test_lt_product.c - the choice of a way: once for each kind, the fastest where it is timed, none while launches are captured;
 * and what is refused or fails is the own kernels' from then on. */
#include "lt_kit.h"

enum { M = 24, N = 16, K = 40 };

struct fixture {
    struct backend_ctx *c;
    struct tensor a, b, out;
};

static void begin(struct fixture *f, bool is_timed)
{
    f->c = kit_lt(is_timed);
    f->a = kit_matrix(f->c, ELEM_F32, M, K, 0, 0, 1);
    f->b = kit_matrix(f->c, ELEM_F32, N, K, 0, 0, 2);
    f->out = kit_matrix(f->c, ELEM_F32, M, N, 0, 0, 3);
}

static void end(struct fixture *f)
{
    kit_drop(f->c, &f->a), kit_drop(f->c, &f->b), kit_drop(f->c, &f->out);
    kit_close(f->c);
}

static void multiply(struct fixture *f, unsigned flags)
{
    const struct op_call o = { .attr.flags = MM_TRANS_B | flags, .in = { &f->a, &f->b }, .out = { &f->out } };
    cuda_matmul(f->c, &o);
}

static double first(struct fixture *f)
{
    size_t n;
    double *of = kit_numbers(f->c, &f->out, &n), v = of[0];
    free(of);
    kit_quiet();
    return v;
}

static void test_once(void **st)
{
    (void)st;
    struct fixture f;
    emu_lt_reset();
    emu_lt.answers = 3;
    emu_lt.fastest = 2;
    begin(&f, true);
    multiply(&f, 0);
    assert_int_equal(emu_lt.asks, 1);
    assert_int_equal(f.c->lt->of[0].way.of[1], 2);
    assert_int_equal(emu_lt.runs, 3 * 10 + 1);          /* each once to be there, nine times by the clock; then the product */
    double v = first(&f);
    multiply(&f, 0);
    assert_int_equal(emu_lt.runs, 3 * 10 + 2);
    assert_true(first(&f) == v);
    f.out.offset_bytes = 4;                             /* another alignment is another kind */
    f.out.dim[0]--, f.a.dim[0]--;
    multiply(&f, 0);
    assert_int_equal(emu_lt.asks, 2);
    end(&f);
}

/* Of many ways the fastest is found far behind, though only a few are looked at twice. */
static void test_many(void **st)
{
    (void)st;
    struct fixture f;
    emu_lt_reset();
    emu_lt.answers = 20;
    emu_lt.fastest = 17;
    begin(&f, true);
    multiply(&f, 0);
    assert_int_equal(f.c->lt->of[0].way.of[1], 17);
    assert_int_equal(emu_lt.runs, 20 * 2 + 3 * 8 + 1);
    end(&f);
}

static void test_first_where_nothing_is_timed(void **st)
{
    (void)st;
    struct fixture f;
    emu_lt_reset();
    emu_lt.answers = 3;
    emu_lt.fastest = 2;
    begin(&f, false);
    multiply(&f, 0);
    assert_int_equal(emu_lt.runs, 1);
    assert_int_equal(f.c->lt->of[0].way.of[1], 0);
    end(&f);
}

/* What is tried must not be added to what was there. */
static void test_sums_are_not_tried_on(void **st)
{
    (void)st;
    struct fixture f;
    emu_lt_reset();
    emu_lt.answers = 2;
    begin(&f, true);
    double before = first(&f);
    multiply(&f, 0);
    double product = first(&f);
    multiply(&f, OP_ACCUMULATE);
    multiply(&f, OP_ACCUMULATE);
    assert_true(fabs(first(&f) - 3 * product) < 1e-4 * fabs(product) + 1e-4);
    assert_true(before != product);
    end(&f);
    begin(&f, true);                                    /* no memory to try in: the first way, and the right sum */
    emu_set_memory(emu_memory_used());
    emu_lt.fastest = 1;
    multiply(&f, OP_ACCUMULATE);
    emu_set_memory(0);
    assert_int_equal(f.c->lt->of[0].way.of[1], 0);
    assert_true(fabs(first(&f) - before - product) < 1e-4 * fabs(product) + 1e-4);
    end(&f);
}

static void test_captured(void **st)
{
    (void)st;
    struct fixture f;
    emu_lt_reset();
    begin(&f, true);
    const struct capturing *to = backend_cuda_emu.capturing;
    multiply(&f, 0);
    double want = first(&f);
    int asks = emu_lt.asks;
    assert_true(to->begin(f.c));
    multiply(&f, 0);
    multiply(&f, OP_ACCUMULATE);                        /* a kind that is new: own kernels, nothing is asked for */
    struct captured *g = to->end(f.c);
    assert_non_null(g);
    assert_int_equal(emu_lt.asks, asks);
    for (int i = 0; i < 2; i++) {
        assert_true(to->replay(f.c, g));
        assert_true(fabs(first(&f) - 2 * want) < 1e-4 * fabs(want) + 1e-4);
    }
    to->free(f.c, g);
    end(&f);
}

static void test_refused(void **st)
{
    (void)st;
    struct fixture f;
    emu_lt_reset();
    emu_lt.refused_end = LT_END_PLAIN;
    begin(&f, true);
    multiply(&f, 0);
    double own = first(&f);
    assert_int_equal(emu_lt.runs, 0);
    assert_string_equal(backend_cuda_emu.library->news(f.c), "cuBLASLt refuses a product of 24 x 16 over 40 (end 1, status 15): "
                        "own kernels make it, and any other that it refuses");
    assert_null(backend_cuda_emu.library->news(f.c));
    multiply(&f, 0);
    multiply(&f, OP_ACCUMULATE);
    assert_int_equal(emu_lt.asks, 2);
    assert_true(fabs(first(&f) - 2 * own) < 1e-4 * fabs(own) + 1e-4);
    assert_null(backend_cuda_emu.library->news(f.c));   /* once */
    end(&f);
}

static void test_fails(void **st)
{
    (void)st;
    struct fixture f;
    emu_lt_reset();
    begin(&f, true);
    multiply(&f, 0);
    double want = first(&f);
    emu_lt.runs_left = 0;
    multiply(&f, 0);
    assert_true(fabs(first(&f) - want) < 1e-4 * fabs(want));
    assert_string_equal(backend_cuda_emu.library->news(f.c), "cuBLASLt fails at a product of 24 x 16 over 40 (end 1, status 13): "
                        "own kernels make it, and any other that it refuses");
    int runs = emu_lt.runs;
    multiply(&f, 0);
    assert_int_equal(emu_lt.runs, runs);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_once), cmocka_unit_test(test_many),
                                        cmocka_unit_test(test_first_where_nothing_is_timed),
                                        cmocka_unit_test(test_sums_are_not_tried_on), cmocka_unit_test(test_captured),
                                        cmocka_unit_test(test_refused), cmocka_unit_test(test_fails) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
