/* SPDX-License-Identifier: Apache-2.0 */
/* test_fold.c - what depends on constants alone is computed once, what nobody reads is not kept, and data that is read once makes
 * the same numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { ROWS = KIT_ROWS, COLS = KIT_COLS, WIDE = 700, TALL = 1003 };

static void test_constants_are_computed_once(void **st)
{
    (void)st;
    float a[4] = { 1, -2, 3, -4 }, got[4];
    struct err e;
    struct backend_ctx *c = kit_open(&backend_ref);
    struct graph *g = graph_new(ELEM_F32, 16);
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(2))), k = graph_const(g, "k", F32(DIM(2), DIM(2)), a);
    int folded = graph_op1(g, OP_RELU, graph_op2(g, OP_ADD, k, k));         /* 2 0 6 0 */
    int y = graph_op(g, OP_MATMUL, &(struct op_attr){ 0 }, GRAPH_INS(x, folded));
    int unread = graph_op1(g, OP_SOFTMAX, y);
    graph_output(g, y, "y");
    (void)unread;
    struct plan *p = kit_plan(g, &backend_ref, c, 2);
    assert_int_equal(kit_count(g, OP_ADD) + kit_count(g, OP_RELU) + kit_count(g, OP_SOFTMAX), 0);
    assert_null(p->consts[k]);
    struct run *r = kit_run(p, c);
    run_put(r, x, 0, 2, (float[]){ 1, 0, 1, 1 });
    run_exec(r, 2, PHASE_FORWARD, false);
    run_get(r, y, 0, 2, got);
    assert_int_equal(run_sync(r, &e), ERR_OK);
    assert_true(got[0] == 2 && got[1] == 0 && got[2] == 8 && got[3] == 0);
    run_free(r);
    plan_free(p);
    backend_ref.close(c);
}

/* What was taken in is gone at once, and counted. */
struct taken {
    const char *from;
    size_t bytes, total, pieces;
};

static void gone(void *ctx, const void *data, size_t n)
{
    struct taken *t = ctx;
    assert_true((const char *)data >= t->from && (const char *)data + n <= t->from + t->bytes);
    memset((void *)(uintptr_t)data, 0, n);
    t->total += n;
    t->pieces++;
}

/* Weights of an earlier start. */
struct earlier {
    void *bytes;
    size_t n, asked;
    bool is_spoiled;
};

static const void *find(void *ctx, size_t i, size_t bytes)
{
    struct earlier *was = ctx;
    was->asked++;
    return i == 0 && was->n == bytes ? was->bytes : NULL;
}

/* x · wᵀ + k by weights of several slabs, the last one in part of a panel. */
static void product(const struct backend *be, const struct read_once *data, struct earlier *was, float *w, float *k,
                    const float *x, float *ret)
{
    struct err e = { 0 };
    struct plan *p = NULL;
    struct backend_ctx *c = kit_open(be);
    struct graph *g = graph_new(ELEM_F32, 16);
    int in = graph_input(g, "x", F32(DIM_ROWS(1), DIM(WIDE))), to = graph_const(g, "w", F32(DIM(TALL), DIM(WIDE)), w);
    int plus = graph_const(g, "k", F32(DIM(TALL)), k);
    int y = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(in, to));
    int z = graph_op2(g, OP_ADD_BIAS, y, plus);
    graph_output(g, z, "z");
    const struct plan_kept kept = { find, was };
    const struct plan_options o = { .max_rows = 2, .data = data, .kept = was ? &kept : NULL };
    const void *packed = NULL;
    if (plan_new(g, be, c, &o, &p, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    struct run *r = kit_run(p, c);
    run_put(r, in, 0, 2, x);
    run_exec(r, 2, PHASE_FORWARD, false);
    run_get(r, z, 0, 2, ret);
    assert_int_equal(run_sync(r, &e), ERR_OK);
    size_t n = plan_packed(p, 0, &packed);
    assert_int_equal(plan_packed(p, 1, &packed), 0);
    if (was && was->n)
        assert_int_equal(plan_packed(p, 0, &packed) == n && packed == was->bytes, !was->is_spoiled);
    if (was && n && !was->n) {
        *was = (struct earlier){ .bytes = malloc(n), .n = n };
        memcpy(was->bytes, packed, n);
    }
    run_free(r);
    plan_free(p);
    be->close(c);
}

static void test_constants_that_are_read_once(void **st)
{
    (void)st;
    static float all[TALL * WIDE + TALL], copy[TALL * WIDE + TALL], x[2 * WIDE], want[2 * TALL], got[2 * TALL];
    struct hw hw;
    hw_read(&hw);
    kit_fill(all, ELEM_F32, TALL * WIDE + TALL);
    kit_fill(x, ELEM_F32, 2 * WIDE);
    for (const struct backend *const *be = backend_list(); *be; be++) {
        if (!(*be)->probe(&hw) || (*be)->properties & BE_DEVICE)
            continue;
        struct taken t = { (const char *)copy, sizeof copy, 0, 0 };
        memcpy(copy, all, sizeof all);
        product(*be, NULL, NULL, all, all + TALL * WIDE, x, want);
        product(*be, &(struct read_once){ gone, &t }, NULL, copy, copy + TALL * WIDE, x, got);
        assert_memory_equal(got, want, sizeof want);
        assert_int_equal(t.total, sizeof copy);
        assert_true(t.pieces > 3);
        for (size_t i = 0; i < sizeof copy / sizeof *copy; i++)
            assert_true(copy[i] == 0);
    }
}

/* What an earlier start packed is taken as it lies there, to the last number; what begins otherwise is not. */
static void test_weights_that_are_kept(void **st)
{
    (void)st;
    static float all[TALL * WIDE + TALL], copy[TALL * WIDE + TALL], x[2 * WIDE], want[2 * TALL], got[2 * TALL];
    struct hw hw;
    int with = 0;
    hw_read(&hw);
    kit_fill(all, ELEM_F32, TALL * WIDE + TALL);
    kit_fill(x, ELEM_F32, 2 * WIDE);
    for (const struct backend *const *be = backend_list(); *be; be++) {
        struct earlier was = { NULL, 0, 0, false };
        struct taken t = { (const char *)copy, sizeof copy, 0, 0 };
        if (!(*be)->probe(&hw) || (*be)->properties & BE_DEVICE)
            continue;
        memcpy(copy, all, sizeof all);
        product(*be, NULL, &was, all, all + TALL * WIDE, x, want);
        if (!was.n)                                                 /* it packs otherwise than by slabs */
            continue;
        with++;
        product(*be, &(struct read_once){ gone, &t }, &was, copy, copy + TALL * WIDE, x, got);
        assert_memory_equal(got, want, sizeof want);
        assert_int_equal(t.total, sizeof copy);
        ((float *)was.bytes)[was.n / sizeof(float) - 1] += 1;      /* far behind what is compared: it is what is read */
        product(*be, NULL, &was, all, all + TALL * WIDE, x, got);
        assert_int_equal(was.asked, 2);      /* of the first start nobody knows any more */
        ((float *)was.bytes)[3] += 1;
        was.is_spoiled = true;
        product(*be, NULL, &was, all, all + TALL * WIDE, x, got);
        assert_memory_equal(got, want, sizeof want);
        free(was.bytes);
    }
    assert_true(with > 0 || !backend_avx2.probe(&hw));
}

/* Windows of 3 x 3 by constant weights are turned where the backend has that, in fp32 and in eight bits: near the reference, and
 * with its bits. A window of 5 x 5 is not. */
enum { FORM_FP32, FORM_BYTES, FORM_LARGER, FORMS, SIDE = 8, C = 16, ALL = SIDE * SIDE * C };

static void window(const struct backend *be, int form, const float *x, const float *w, const int8_t *bytes, float *ret)
{
    static const float scale[C] = { [0 ... C - 1] = 0.01f };
    const size_t side = form == FORM_LARGER ? 5 : 3;
    const bool is_bytes = form == FORM_BYTES;
    const struct op_attr attr = { .stride = 1, .pad = side / 2, .alpha = is_bytes ? 0.01 : 0, .gamma = is_bytes ? 90 : 0 };
    struct err e;
    struct backend_ctx *c = kit_open(be);
    struct graph *g = graph_new(ELEM_F32, 16);
    struct shape shape = { is_bytes ? ELEM_I8 : ELEM_F32, 4, { DIM(C), DIM(side), DIM(side), DIM(C) } };
    int in = graph_input(g, "x", F32(DIM_ROWS(1), DIM(SIDE), DIM(SIDE), DIM(C))), s = graph_const(g, "s", F32(DIM(C)), scale);
    int weight = graph_const(g, "w", shape, is_bytes ? (const void *)bytes : w);
    int y = graph_op(g, is_bytes ? OP_QCONV2D : OP_CONV2D, &attr, (int[]){ in, weight, s }, is_bytes ? 3 : 2);
    graph_output(g, y, "y");
    struct plan *p = kit_plan(g, be, c, 2);
    assert_int_equal(kit_count(g, OP_CONV2D_WINO), form == FORM_FP32 && be->windows_bytes);
    assert_int_equal(kit_count(g, OP_QCONV2D_WINO), is_bytes && be->q8_windows_bytes);
    struct run *r = kit_run(p, c);
    run_put(r, in, 0, 2, x);
    run_exec(r, 2, PHASE_FORWARD, false);
    run_get(r, y, 0, 2, ret);
    assert_int_equal(run_sync(r, &e), ERR_OK);
    run_free(r);
    plan_free(p);
    be->close(c);
}

static void test_windows_are_turned(void **st)
{
    (void)st;
    static float w[C * 25 * C], x[2 * ALL], want[2 * ALL], got[2 * ALL];
    static int8_t bytes[C * 9 * C];
    struct hw hw;
    hw_read(&hw);
    kit_fill(w, ELEM_F32, sizeof w / sizeof *w);
    kit_fill(x, ELEM_F32, sizeof x / sizeof *x);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (int8_t)(i * 37 % 256 - 128);
    for (int form = 0; form < FORMS; form++) {
        window(&backend_ref, form, x, w, bytes, want);
        for (const struct backend *const *be = backend_list(); *be; be++) {
            if (!(*be)->probe(&hw))
                continue;
            window(*be, form, x, w, bytes, got);
            for (size_t i = 0; i < 2 * ALL; i++)
                assert_true(form == FORM_BYTES ? got[i] == want[i] : fabsf(got[i] - want[i]) <= 1e-4f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_computed_once), cmocka_unit_test(test_constants_that_are_read_once),
        cmocka_unit_test(test_weights_that_are_kept), cmocka_unit_test(test_windows_are_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
