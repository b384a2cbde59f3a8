/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_q8.c - products of whole numbers of a variant against the reference, bit by bit: their sums are exact, and what
 * follows is rounded element by element. Awkward sizes, static and dynamic scales; the table of the unit test asks for more. */
#include "workers/compute/kernels/selftest_int.h"
#include "workers/compute/kernels/call.h"

#include <string.h>

enum { ROOM = 2560 };

struct q8_bench {
    uint64_t random;
    float x[ROOM], scale[ROOM], bias[ROOM], add[ROOM], got[ROOM], want[ROOM];
    int8_t w[ROOM];
};

static uint64_t draw(struct q8_bench *b)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return b->random >> 33;
}

static void fill(struct q8_bench *b)
{
    for (size_t i = 0; i < ROOM; i++) {
        b->x[i] = (float)draw(b) / (float)(1u << 30) - 1;
        b->scale[i] = (float)(draw(b) % 1000 + 1) / 50000;
        b->bias[i] = (float)draw(b) / (float)(1u << 30) - 1;
        b->add[i] = (float)draw(b) / (float)(1u << 30) - 1;
        b->w[i] = (int8_t)(draw(b) % 8 ? (int)(draw(b) % 256) - 128 : draw(b) % 2 ? 127 : -128);    /* many at the ends */
    }
}

/* A window of 3 × 3 by its weights as a plan packs them, where the variant has that. */
static enum errc by_windows(const struct backend *be, struct backend_ctx *ctx, const struct op_call *call, struct err *e)
{
    const struct tensor *w = call->in[1];
    struct op_call at = *call, pack = { .in = { w } };
    if (!be->q8_windows_bytes || w->rank != 4)
        return ERR_OK;
    at.attr.n = w->dim[0];
    at.attr.window[0] = w->dim[1], at.attr.window[1] = w->dim[2];
    at.attr.k = w->dim[1] * w->dim[2] * w->dim[3];
    const size_t bytes = be->q8_windows_bytes(&at.attr, call->in[0]->dim[1], call->in[0]->dim[2]);
    if (!bytes)
        return ERR_OK;
    struct buffer *room = be->alloc(ctx, bytes);
    if (!room)
        return FAIL(e, LIMIT, "no memory for the self-test of backend %s", be->name);
    struct tensor packed = tensor_at(room, 0, ELEM_U8, 1, &bytes);
    pack.attr = at.attr;
    pack.out[0] = &packed;
    at.in[1] = &packed;
    call_kernel(be, ctx, OP_QWINO_PACK, &pack);
    call_kernel(be, ctx, OP_QCONV2D_WINO, &at);
    be->free(ctx, room);
    return ERR_OK;
}

static enum errc compare(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, const struct net_case *k,
                         struct q8_bench *b, struct err *e)
{
    struct tensor t[6];
    struct op_call call = { .attr = k->attr };
    void *const in[] = { b->x, b->w, b->scale, b->bias };
    fill(b);
    for (int i = 0; i < 4; i++) {
        t[i] = tensor_at(NULL, 0, i == 1 ? ELEM_I8 : ELEM_F32, k->in[i].rank, k->in[i].dim);
        t[i].ptr = in[i];
        call.in[i] = &t[i];
        ASSERT(tensor_count(&t[i]) <= ROOM);
    }
    t[4] = t[5] = tensor_at(NULL, 0, ELEM_F32, k->out[0].rank, k->out[0].dim);
    t[4].ptr = b->add;
    call.in[4] = k->attr.flags & CONV_ADD ? &t[4] : NULL;
    call.out[0] = &t[5];
    size_t bytes = tensor_count(&t[5]) * sizeof(float);
    ASSERT(bytes <= sizeof b->got);
    t[5].ptr = b->got;
    memset(b->got, 0xff, sizeof b->got);
    call_kernel(be, ctx, k->op, &call);
    t[5].ptr = b->want;
    (*backend_ref.kernels)[k->op][ELEM_F32](ref, &call);
    if (memcmp(b->got, b->want, bytes))
        return FAIL(e, INTERNAL, "backend %s: %s has other bits than the reference", be->name, op_name(k->op));
    t[5].ptr = b->got;
    TRY(by_windows(be, ctx, &call, e));
    return memcmp(b->got, b->want, bytes) ? FAIL(e, INTERNAL, "backend %s: %s has other bits than the reference", be->name,
                                                 op_name(OP_QCONV2D_WINO)) : ERR_OK;
}

enum errc q8_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                      struct err *e)
{
    static const struct op_attr fixed = { .alpha = 0.011, .gamma = 93, .flags = MM_BIAS | MM_RELU }, own = { .flags = MM_BIAS };
    struct op_attr image = { .alpha = 0.008, .gamma = 128, .flags = MM_BIAS | CONV_ADD | MM_RELU, .stride = 2, .pad = 1 };
    struct op_attr small = { .flags = MM_BIAS, .stride = 1 }, square = image;
    square.stride = 1;
    const struct net_case all[] = {
        { OP_QMATMUL, fixed, { { 2, { 9, 37 } }, { 2, { 35, 37 } }, { 1, { 35 } }, { 1, { 35 } } }, { { 2, { 9, 35 } } } },
        { OP_QMATMUL, own, { { 2, { 3, 64 } }, { 2, { 17, 64 } }, { 1, { 17 } }, { 1, { 17 } } }, { { 2, { 3, 17 } } } },
        { OP_QMATMUL, own, { { 2, { 1, 1 } }, { 2, { 1, 1 } }, { 1, { 1 } }, { 1, { 1 } } }, { { 2, { 1, 1 } } } },
        { OP_QCONV2D, image, { { 4, { 2, 5, 6, 7 } }, { 4, { 11, 3, 3, 7 } }, { 1, { 11 } }, { 1, { 11 } } },
          { { 4, { 2, 3, 3, 11 } } } },
        { OP_QCONV2D, small, { { 4, { 2, 4, 3, 5 } }, { 4, { 33, 1, 1, 5 } }, { 1, { 33 } }, { 1, { 33 } } },
          { { 4, { 2, 4, 3, 33 } } } },
        { OP_QCONV2D, square, { { 4, { 2, 5, 6, 16 } }, { 4, { 16, 3, 3, 16 } }, { 1, { 16 } }, { 1, { 16 } } },
          { { 4, { 2, 5, 6, 16 } } } },
    };
    struct buffer *room = backend_ref.alloc(ref, sizeof(struct q8_bench));
    if (!room)
        return FAIL(e, LIMIT, "no memory for the self-test of backend %s", be->name);
    struct q8_bench *b = room->ptr;
    b->random = 7;
    enum errc rc = ERR_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == ERR_OK; i++)
        if (backend_can(be, all[i].op, ELEM_F32) && selftest_case(f) && compare(be, ctx, ref, &all[i], b, e) != ERR_OK)
            rc = selftest_fault(f, e);
    backend_ref.free(ref, room);
    return rc;
}
