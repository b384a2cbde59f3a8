/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_flash.c - attention over bf16 of a variant against the fp64 reference, on the terms of selftest.c: random inputs,
 * outputs poisoned first. The reference gets the same rounded inputs, so what is measured is what the variant adds: weights and
 * results rounded to bf16. */
#include "workers/compute/kernels/selftest_int.h"
#include "core/base/str.h"
#include "workers/compute/kernels/call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QKV, Y, SUMS, DY, DX, TENSORS };

struct bench {
    struct tensor half[TENSORS], wide[TENSORS];         /* bf16 (sums: f32) and f64 */
};

/* Random where it is an input, else NaN. */
static bool fill(struct bench *b, int i, bool is_input, unsigned rank, const size_t *dim, uint64_t *random)
{
    enum elem type = i == SUMS ? ELEM_F32 : ELEM_BF16;
    struct tensor *h = &b->half[i], *w = &b->wide[i];
    *h = tensor_at(NULL, 0, type, rank, dim);
    *w = tensor_at(NULL, 0, ELEM_F64, rank, dim);
    size_t n = tensor_count(h);
    h->ptr = aligned_alloc(64, (n * elem_bytes(type) + 127) / 64 * 64);
    w->ptr = aligned_alloc(64, (n * sizeof(double) + 127) / 64 * 64);
    if (!h->ptr || !w->ptr)
        return false;
    memset(h->ptr, 0xff, n * elem_bytes(type));
    memset(w->ptr, 0xff, n * sizeof(double));
    for (size_t j = 0; j < n && is_input; j++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        float x = 2 * (float)((double)(int64_t)(*random >> 11) / (double)(1ll << 52) - 1);
        ((uint16_t *)h->ptr)[j] = bf16_of(x);
        ((double *)w->ptr)[j] = (double)bf16_to_f32(bf16_of(x));
    }
    return true;
}

static double off(const struct bench *b, int i)
{
    double diff = 0, norm = 0;
    const double *want = b->wide[i].ptr;
    for (size_t j = 0; j < tensor_count(&b->wide[i]); j++) {
        const void *at = b->half[i].ptr;
        double got = (double)(i == SUMS ? ((const float *)at)[j] : bf16_to_f32(((const uint16_t *)at)[j]));
        diff += (got - want[j]) * (got - want[j]);
        norm += want[j] * want[j];
    }
    return sqrt(diff / (norm + 1e-300));
}

static void run(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, const struct op_attr *attr,
                struct bench *b, struct flash_result *ret)
{
    struct tensor *h = b->half, *w = b->wide;
    call_kernel(be, ctx, OP_ATTENTION, &(struct op_call){ *attr, { &h[QKV] }, { &h[Y], &h[SUMS] } });
    call_kernel(&backend_ref, ref, OP_ATTENTION, &(struct op_call){ *attr, { &w[QKV] }, { &w[Y], &w[SUMS] } });
    ret->y = off(b, Y);
    ret->sums = off(b, SUMS);
    ret->hash = str_hash(str_n(h[Y].ptr, tensor_count(&h[Y]) * 2));
    for (size_t j = 0; j < tensor_count(&h[Y]); j++) {          /* the backward form of both begins with the same */
        uint16_t y = bf16_of((float)((double *)w[Y].ptr)[j]);
        ((uint16_t *)h[Y].ptr)[j] = y;
        ((double *)w[Y].ptr)[j] = (double)bf16_to_f32(y);
    }
    for (size_t j = 0; j < tensor_count(&h[SUMS]); j++)
        ((float *)h[SUMS].ptr)[j] = (float)((double *)w[SUMS].ptr)[j];
    call_kernel(be, ctx, OP_ATTENTION_BWD, &(struct op_call){ *attr, { &h[QKV], &h[Y], &h[SUMS], &h[DY] }, { &h[DX] } });
    call_kernel(&backend_ref, ref, OP_ATTENTION_BWD,
                &(struct op_call){ *attr, { &w[QKV], &w[Y], &w[SUMS], &w[DY] }, { &w[DX] } });
    ret->dx = off(b, DX);
    ret->hash ^= str_hash(str_n(h[DX].ptr, tensor_count(&h[DX]) * 2)) * 3;
}

enum errc flash_check(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, const struct flash_case *k,
                      uint64_t seed, struct flash_result *ret, struct err *e)
{
    struct bench b = { 0 };
    const struct op_attr attr = { .heads = k->heads, .kv_heads = k->kv_heads, .flags = k->is_causal ? ATTN_CAUSAL : 0 };
    const size_t row[] = { k->n, k->t, (k->heads + 2 * k->kv_heads) * k->d }, y[] = { k->n, k->t, k->heads * k->d };
    const size_t sums[] = { k->n, k->heads, k->t };
    enum errc rc = ERR_OK;
    if (!fill(&b, QKV, true, 3, row, &seed) || !fill(&b, Y, false, 3, y, &seed) || !fill(&b, SUMS, false, 3, sums, &seed)
        || !fill(&b, DY, true, 3, y, &seed) || !fill(&b, DX, false, 3, row, &seed))
        rc = FAIL(e, LIMIT, "no memory for the self-test of backend %s", be->name);
    if (rc == ERR_OK) {
        run(be, ctx, ref, &attr, &b, ret);
        if (!(ret->y <= 1e-2 && ret->sums <= 1e-4 && ret->dx <= 1e-2))         /* NaN fails, too */
            rc = FAIL(e, INTERNAL, "backend %s: attention in bf16 (%zu tokens, %zu heads of %zu) differs from the reference by "
                      "%.3g, sums %.3g, backward %.3g of its norm", be->name, k->t, k->heads, k->d, ret->y, ret->sums, ret->dx);
    }
    for (int i = 0; i < TENSORS; i++)
        free(b.half[i].ptr), free(b.wide[i].ptr);
    return rc;
}

enum errc flash_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                         struct err *e)
{
    static const struct flash_case all[] = { { 1, 70, 2, 1, 64, true }, { 1, 9, 1, 1, 128, false }, { 2, 5, 1, 1, 6, true } };
    struct flash_result r;
    if (!backend_can(be, OP_ATTENTION, ELEM_BF16) || !backend_can(be, OP_ATTENTION_BWD, ELEM_BF16))
        return ERR_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (selftest_case(f) && flash_check(be, ctx, ref, &all[i], i + 1, &r, e) != ERR_OK)
            TRY(selftest_fault(f, e));
    return ERR_OK;
}
