/* SPDX-License-Identifier: Apache-2.0 */
/* wino_packed_int.h - Winograd's way for the weights of a served model (ADR 0164), turned once when they are packed; included by
 * conv_int.h after wino_int.h.
 *
 * Layout: the panels of wino_int.h, [place][panel][in][NR]: four times the numbers of the window, so only small layers have it
 * (WINO_SERVED). A chunk is as many tiles as leave their places and those of their results in the second cache beside the
 * weights. Bias, what is added and ReLU follow as the results are turned back. */
enum { WINO_SERVED = 8192 /* pairs of channels: 1.2 MB turned */, WINO_BYTES = 384 << 10, WINO_LEAST = 16 };

/* Bytes of such weights for images of that size; 0: the window is computed directly. By shape alone. */
static size_t windows_bytes(const struct op_attr *a, size_t high, size_t wide)
{
    const size_t in = a->window[0] == 3 && a->window[1] == 3 ? a->k / 9 : 0, out = a->n;
    if (!in || a->stride != 1 || a->pad > 2 || in % WINO_LANES || out % WINO_LANES || in < WINO_LEAST || out < WINO_LEAST
        || in > WINO_SERVED / WINO_LEAST || in * out > WINO_SERVED)
        return 0;
    const size_t h = high + 2 * a->pad - 2, w = wide + 2 * a->pad - 2;
    const size_t tiles = (h + WINO_OUT - 1) / WINO_OUT * ((w + WINO_OUT - 1) / WINO_OUT);
    return tiles * WINO_OUT * WINO_OUT * 2 <= h * w * 3 ? WINO_PLACES * panels_of(out) * NR * in * sizeof(float) : 0;
}

static void k_wino_pack(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *weight = o->in[0];
    ASSERT(weight->rank == 4 && weight->dim[1] == 3 && weight->dim[2] == 3);
    struct wino j = { .in = { .c = weight->dim[3] }, .out = { .c = weight->dim[0] }, .weight = weight->ptr,
                      .panels = o->out[0]->ptr };
    const size_t bytes = WINO_PLACES * panels_of(j.out.c) * NR * j.in.c * sizeof(float);
    ASSERT(tensor_count(o->out[0]) >= bytes);
    if (j.out.c % NR)           /* the half of a panel that no output has: a file of packed weights is written whole */
        memset(j.panels, 0, bytes);
    wino_prepare(c, &j, j.in.c * j.out.c * WINO_PLACES, wino_weights);
}

static void k_conv2d_wino(struct backend_ctx *c, const struct op_call *o)
{
    const struct window w = window_of(&o->attr, o->in[0], o->out[0]);
    ASSERT(w.h == 3 && w.w == 3 && w.stride == 1 && o->attr.n == w.y.c && o->attr.k == 9 * w.x.c);
    size_t chunk = WINO_BYTES / (WINO_PLACES * (w.x.c + w.y.c) * sizeof(float)) / MR * MR;
    chunk = chunk < MR ? MR : chunk < WINO_TILES ? chunk : WINO_TILES;
    struct wino j = wino_new(c, &w.x, &w.y, w.pad, o->attr.flags, chunk);
    j.x = o->in[0]->ptr, j.y = o->out[0]->ptr, j.panels = (float *)(uintptr_t)o->in[1]->ptr;
    j.bias = o->attr.flags & MM_BIAS ? o->in[2]->ptr : NULL;
    j.add = o->attr.flags & CONV_ADD ? o->in[3]->ptr : NULL;
    wino_chunks(c, &j);
}

#define KERNELS_WINO [OP_WINO_PACK][ELEM_F32] = k_wino_pack, [OP_CONV2D_WINO][ELEM_F32] = k_conv2d_wino
