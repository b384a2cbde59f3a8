/* SPDX-License-Identifier: Apache-2.0 */
/* test_nd.c - operations of any rank on random shapes: every backend against fp64, one thread and four with the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "each_kit.h"
#include "workers/compute/kernels/nd.h"

enum { MOST = 1 << 17, SHAPES = 60, THREADS = 4 };
static float in[3][MOST], out[MOST], many[MOST];
static double in64[3][MOST], out64[MOST];

struct use {
    enum op op;
    struct op_attr attr;
    size_t ins;
    struct { unsigned rank; size_t dim[TENSOR_DIMS_MAX]; } shape[4];    /* inputs, then the output */
};

static size_t count_of(const struct use *u, size_t i)
{
    size_t n = 1;
    for (unsigned d = 0; d < u->shape[i].rank; d++)
        n *= u->shape[i].dim[d];
    return n;
}

static void run(const struct backend *be, struct backend_ctx *c, const struct use *u, enum elem type, void *const x[3], void *y)
{
    struct buffer b[4];
    struct tensor t[4];
    struct op_call call = { .attr = u->attr };
    for (size_t i = 0; i <= u->ins; i++) {
        size_t at = i < u->ins ? i : 3;
        b[i] = (struct buffer){ .ptr = i < u->ins ? x[i] : y };
        t[i] = tensor_at(&b[i], 0, type, u->shape[at].rank, u->shape[at].dim);
        *(i < u->ins ? &call.in[i] : &call.out[0]) = &t[i];
    }
    (*be->kernels)[u->op][type](c, &call);
}

/* A shape of rank 1 to 4, now and then long enough for the pool. */
static void some_shape(struct use *u)
{
    u->shape[3].rank = 1 + (unsigned)below(4);
    for (unsigned d = 0; d < u->shape[3].rank; d++)
        u->shape[3].dim[d] = below(4) == 0 ? 1 : 1 + below(d + 1 == u->shape[3].rank ? 37 : 5);
    u->shape[0] = u->shape[1] = u->shape[2] = u->shape[3];
}

static struct use some_use(void)
{
    static const enum op ops[] = { OP_UNARY, OP_BINARY, OP_SELECT, OP_TRANSPOSE, OP_SLICE, OP_CONCAT, OP_REDUCE, OP_BMM };
    struct use u = { .op = ops[below(8)], .ins = 1, .attr = { .alpha = 0.3, .gamma = 0.8 } };
    some_shape(&u);
    unsigned r = u.shape[3].rank;
    switch (u.op) {
    case OP_UNARY: u.attr.fn = (unsigned)below(UNARY_COUNT); break;
    case OP_BINARY: case OP_SELECT:
        u.ins = u.op == OP_SELECT ? 3 : 2;
        u.attr.fn = (unsigned)below(BINARY_COUNT);
        for (size_t i = 0; i < u.ins; i++)
            for (unsigned d = 0; d < r; d++)
                u.shape[i].dim[d] = below(3) == 0 ? 1 : u.shape[3].dim[d];
        u.shape[0] = u.shape[3];
        break;
    case OP_TRANSPOSE:
        for (unsigned d = 0; d < r; d++)
            u.attr.at[d] = (d + 1) % r;
        for (unsigned d = 0; d < r; d++)
            u.shape[3].dim[d] = u.shape[0].dim[(d + 1) % r];
        break;
    case OP_SLICE:
        for (unsigned d = 0; d < r; d++) {
            u.attr.step[d] = 1 + below(2);
            u.attr.at[d] = below(2);
            u.shape[0].dim[d] = u.attr.at[d] + u.shape[3].dim[d] * u.attr.step[d];
        }
        break;
    case OP_CONCAT:
        u.ins = 2;
        u.attr.axes = below(r);
        u.shape[3].dim[u.attr.axes] = u.shape[0].dim[u.attr.axes] + u.shape[1].dim[u.attr.axes];
        break;
    case OP_REDUCE:
        u.attr.fn = (unsigned)below(REDUCE_COUNT);
        u.attr.axes = 1 + below((1u << r) - 1);
        for (unsigned d = 0; d < r; d++)
            if (u.attr.axes >> d & 1)
                u.shape[3].dim[d] = 1;
        break;
    default:
        u.ins = 2;
        u.attr.flags = below(2) ? MM_TRANS_B : 0;
        size_t b = 1 + below(3), m = 1 + below(20), k = 1 + below(20), n = 1 + below(20);
        for (size_t i = 0; i < 4; i++)
            u.shape[i].rank = 3, u.shape[i].dim[0] = b;
        u.shape[0].dim[1] = u.shape[3].dim[1] = m;
        u.shape[0].dim[2] = k;
        u.shape[1].dim[1] = u.attr.flags ? n : k;
        u.shape[1].dim[2] = u.attr.flags ? k : n;
        u.shape[3].dim[2] = n;
    }
    return u;
}

static void random_shapes(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *threads,
                          struct backend_ctx *ref)
{
    for (int s = 0; s < SHAPES * 4; s++) {
        struct use u = some_use();
        size_t n = count_of(&u, 3);
        bool compares = u.op == OP_SELECT || (u.op == OP_BINARY && u.attr.fn >= BINARY_LESS);
        for (size_t i = 0; i < u.ins; i++)
            for (size_t j = 0; j < count_of(&u, i); j++) {
                float v = (float)below(1 << 20) / (1 << 19) - 1;
                unsigned fn = u.attr.fn;
                bool is_log = fn == UNARY_LOG || fn == UNARY_SQRT || fn == UNARY_RECIPROCAL;
                bool is_power = u.op == OP_BINARY && (fn == BINARY_POW || fn == BINARY_DIV);
                bool is_positive = u.op == OP_UNARY ? is_log : is_power;
                v = compares && below(2) ? 0 : is_positive ? fabsf(v) + 0.5f : u.op == OP_UNARY ? v * 4 : v;
                in[i][j] = v;
                in64[i][j] = (double)v;
            }
        run(be, alone, &u, ELEM_F32, (void *const[]){ in[0], in[1], in[2] }, out);
        run(be, threads, &u, ELEM_F32, (void *const[]){ in[0], in[1], in[2] }, many);
        run(&backend_ref, ref, &u, ELEM_F64, (void *const[]){ in64[0], in64[1], in64[2] }, out64);
        assert_memory_equal(out, many, n * sizeof *out);
        for (size_t j = 0; j < n; j++)
            if (!(fabs((double)out[j] - out64[j]) <= 5e-6 * (1 + fabs(out64[j]))))
                fail_msg("%s %s fn %u number %zu: %g, not %g", be->name, op_name(u.op), u.attr.fn, j, (double)out[j],
                         out64[j]);
    }
}

static void test_random_shapes(void **st)
{
    (void)st;
    kit_each(THREADS, random_shapes);
}

/* Images by channels to images by pixels and back, by their places alone: what compares backends runs the same text twice. */
static void turned_images(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *threads,
                          struct backend_ctx *ref)
{
    static const struct { size_t n, c, h, w; } sizes[] = {
        { 2, 3, 96, 96 }, { 1, 1, 5, 7 }, { 3, 17, 4, 9 }, { 1, 300, 6, 5 }, { 2, 2, 1, 1 }, { 1, 5000, 3, 2 },
    };
    (void)ref;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int back = 0; back < 2; back++) {
            size_t n = sizes[i].n, c = sizes[i].c, h = sizes[i].h, w = sizes[i].w, count = n * c * h * w;
            struct use u = { .op = OP_TRANSPOSE, .ins = 1 };
            memcpy(u.attr.at, back ? (size_t[]){ 0, 3, 1, 2 } : (size_t[]){ 0, 2, 3, 1 }, 4 * sizeof(size_t));
            u.shape[0].rank = u.shape[3].rank = 4;
            memcpy(u.shape[back ? 3 : 0].dim, (size_t[]){ n, c, h, w }, 4 * sizeof(size_t));
            memcpy(u.shape[back ? 0 : 3].dim, (size_t[]){ n, h, w, c }, 4 * sizeof(size_t));
            for (size_t k = 0; k < count; k++)
                in[0][k] = (float)k;
            run(be, alone, &u, ELEM_F32, (void *const[]){ in[0], NULL, NULL }, out);
            run(be, threads, &u, ELEM_F32, (void *const[]){ in[0], NULL, NULL }, many);
            assert_memory_equal(out, many, count * sizeof *out);
            for (size_t k = 0; k < count; k++) {
                size_t image = k / (c * h * w), channel = k / (h * w) % c, pixel = k % (h * w);
                size_t by_pixel = (image * h * w + pixel) * c + channel;
                assert_true(out[back ? k : by_pixel] == in[0][back ? by_pixel : k]);
            }
        }
}

static void test_turned_images(void **st)
{
    (void)st;
    kit_each(THREADS, turned_images);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_shapes), cmocka_unit_test(test_turned_images) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
