/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_norm.c - a norm's backward form over what it is added to, as a plan lays it: of rows that a warp holds, and of longer
 * ones. Every operation by itself is in test_cuda_ops.c. */
#include "emu_kit.h"

#include <math.h>
#include <stdlib.h>

#include "workers/compute/kernels/call.h"

enum { ROWS = 70, X, SCALE, DY, MORE, INS };

static double random_of(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / (double)(1ll << 52) - 1;
}

static void over_what_is_added(size_t cols, bool is_narrow)
{
    struct backend_ctx *c = kit_emu(), *ref;
    const size_t count[INS] = { [X] = ROWS * cols, [SCALE] = cols, [DY] = ROWS * cols, [MORE] = ROWS * cols };
    float *f[INS] = { 0 }, sum[2] = { 0 };
    double *d[INS] = { 0 }, *dx = calloc(ROWS * cols, sizeof *dx), *shift = calloc(cols, sizeof *shift), off = 0, norm = 0;
    struct buffer *b[INS], *out = backend_cuda_emu.alloc(c, cols * sizeof(float));
    struct tensor t[INS], w[INS];
    static uint16_t half[ROWS * 1028];
    uint64_t state = cols;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (int i = X; i < INS; i++) {
        f[i] = malloc(count[i] * sizeof **f);
        d[i] = malloc(count[i] * sizeof **d);
        for (size_t k = 0; k < count[i]; k++)
            d[i][k] = (double)(f[i][k] = bf16_to_f32(bf16_of((float)random_of(&state))));
        enum elem type = i == DY && is_narrow ? ELEM_BF16 : ELEM_F32;
        for (size_t k = 0; k < count[i] && type == ELEM_BF16; k++)
            half[k] = bf16_of(f[i][k]);
        b[i] = backend_cuda_emu.alloc(c, count[i] * elem_bytes(type));
        const void *from = type == ELEM_F32 ? (const void *)f[i] : half;
        backend_cuda_emu.put(c, QUEUE_COMPUTE, b[i], 0, from, count[i] * elem_bytes(type));
        t[i] = tensor_at(b[i], 0, type, i == SCALE ? 1 : 2, i == SCALE ? &cols : (size_t[]){ ROWS, cols });
        w[i] = tensor_at(NULL, 0, ELEM_F64, t[i].rank, t[i].dim);
        w[i].ptr = d[i];
    }
    struct tensor s = tensor_at(out, 0, ELEM_F32, 1, &cols), ws = tensor_at(NULL, 0, ELEM_F64, 1, &cols), wx = w[X];
    ws.ptr = shift, wx.ptr = dx;
    const struct op_attr attr = { .eps = 1e-5 };
    const struct op_call got = { attr, { &t[X], &t[SCALE], &t[DY], &t[MORE] }, { [1] = &s, [4] = &t[MORE] } };
    const struct op_call want = { attr, { &w[X], &w[SCALE], &w[DY], &w[MORE] }, { [1] = &ws, [4] = &wx } };
    (*backend_cuda_emu.kernels)[OP_NORM_ADD_BWD][ELEM_F32](c, &got);
    (*backend_ref.kernels)[OP_NORM_ADD_BWD][ELEM_F64](ref, &want);
    backend_cuda_emu.get(c, QUEUE_COMPUTE, b[MORE], 0, f[MORE], count[MORE] * sizeof **f);
    backend_cuda_emu.get(c, QUEUE_COMPUTE, out, 0, sum, sizeof sum);
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_OK);
    for (size_t k = 0; k < count[MORE]; k++) {
        off += pow((double)f[MORE][k] - dx[k], 2);
        norm += dx[k] * dx[k];
    }
    assert_true(off < 1e-10 * norm);
    assert_true(fabs((double)sum[1] - shift[1]) < 1e-4);
    for (int i = X; i < INS; i++) {
        backend_cuda_emu.free(c, b[i]);
        free(f[i]), free(d[i]);
    }
    backend_cuda_emu.free(c, out);
    free(dx), free(shift);
    backend_ref.close(ref);
    kit_close(c);
}

static void test_over_what_is_added(void **st)
{
    (void)st;
    over_what_is_added(132, false);
    over_what_is_added(768, true);
    over_what_is_added(1024, false);
    over_what_is_added(1028, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_over_what_is_added) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
