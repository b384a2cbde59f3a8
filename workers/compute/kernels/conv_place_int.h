/* SPDX-License-Identifier: Apache-2.0 */
/* conv_place_int.h - a convolution that reads the image in place, for conv_int.h: tiles of pixels of one row of results, and
 * a product
 * for each row of the window. Images with padding are copied once with zeros around them, a chunk that stays in the second cache
 * at a time. */
enum { CONV_BYTES = 1 << 20, SLOT_GATHER = 1, SLOT_TURNED = 2, SLOT_TILE = 3 };

/* Images of a chunk, with their padding; g.c and g.add are those of all images. */
struct padded {
    struct window w;
    struct gemm g;              /* a: of the chunk's first image; panel_k: the whole depth */
    const float *x;
    float *room;                /* NULL: there is no padding, a is the image itself */
    size_t first, h, width;     /* the chunk's first image; of an image with its padding */
    size_t blocks, block_rows;  /* tasks of an image and panel group, and their rows of results */
};

static void pad_row(void *arg, size_t task)
{
    const struct padded *p = arg;
    size_t c = p->w.x.c, pad = p->w.pad, y = task % p->h, n = p->first + task / p->h;
    float *to = p->room + task * p->width * c;
    if (y < pad || y >= pad + p->w.x.h) {
        memset(to, 0, p->width * c * sizeof *to);
        return;
    }
    memset(to, 0, pad * c * sizeof *to);
    memcpy(to + pad * c, p->x + (n * p->w.x.h + y - pad) * p->w.x.w * c, p->w.x.w * c * sizeof *to);
    memset(to + (pad + p->w.x.w) * c, 0, (p->width - pad - p->w.x.w) * c * sizeof *to);
}

/* Rows oy0 … oy1 of an image by one panel over a slice of one row of the window. */
static void conv_slice(const struct padded *p, const float *image, float *y, size_t oy0, size_t oy1, size_t col, size_t ky,
                       size_t k0,
                       size_t depth)
{
    const struct gemm *g = &p->g;
    size_t c = p->w.x.c, deep = p->w.w * c, s = p->w.stride, width = g->n - col < NR ? g->n - col : NR;
    const float *panel = g->panels + col / NR * (g->panel_k * NR) + (ky * deep + k0) * NR;
    bool has_c = ky || k0, is_last = ky + 1 == p->w.h && k0 + depth == deep;
    for (size_t oy = oy0; oy < oy1; oy++)
        for (size_t ox = 0; ox < p->w.y.w; ox += MR) {
            size_t rows = p->w.y.w - ox < MR ? p->w.y.w - ox : MR;
            float *to = y + (oy * p->w.y.w + ox) * g->n + col;
            g->tile(g, rows, depth, image + ((oy * s + ky) * p->width + ox * s) * c + k0, panel, to, width, has_c);
            if (is_last)
                finish_tile(g, to, rows, col, width);
        }
}

static void conv_block(void *arg, size_t task)
{
    const struct padded *p = arg;
    const struct gemm *g = &p->g;
    size_t groups = (panels_of(g->n) + GROUP - 1) / GROUP, deep = p->w.w * p->w.x.c;
    size_t n0 = task % groups * GROUP * NR, n1 = g->n - n0 < GROUP * NR ? g->n : n0 + GROUP * NR, part = task / groups;
    size_t oy0 = part % p->blocks * p->block_rows, image = part / p->blocks;
    size_t oy1 = oy0 + p->block_rows < p->w.y.h ? oy0 + p->block_rows : p->w.y.h;
    const float *x = g->a + image * p->h * p->width * p->w.x.c;
    float *y = g->c + (p->first + image) * p->w.y.h * p->w.y.w * g->n;
    for (size_t col = n0; col < n1; col += NR)
        for (size_t ky = 0; ky < p->w.h; ky++)
            for (size_t k0 = 0; k0 < deep; k0 += KC)
                conv_slice(p, x, y, oy0, oy1, col, ky, k0, deep - k0 < KC ? deep - k0 : KC);
}

static void conv_in_place(struct backend_ctx *c, const struct window *w, const float *x, const struct gemm *g)
{
    struct padded p = { .w = *w, .g = *g, .x = x, .h = w->x.h + 2 * w->pad, .width = w->x.w + 2 * w->pad };
    size_t numbers = p.h * p.width * w->x.c, bytes = numbers * sizeof *x, chunk = bytes < CONV_BYTES ? CONV_BYTES / bytes : 1;
    size_t groups = (panels_of(g->n) + GROUP - 1) / GROUP;
    p.block_rows = (MC + w->y.w - 1) / w->y.w;
    p.blocks = (w->y.h + p.block_rows - 1) / p.block_rows;
    p.g.a_row = w->stride * w->x.c;
    p.g.a_step = 1;
    chunk = chunk < w->x.n && w->pad ? chunk : w->x.n;
    p.room = w->pad ? cpu_scratch_at(c, SLOT_GATHER, chunk * bytes) : NULL;
    for (; p.first < w->x.n; p.first += chunk) {
        size_t count = w->x.n - p.first < chunk ? w->x.n - p.first : chunk;
        p.g.a = w->pad ? p.room : x;
        if (w->pad)
            cpu_split(c, count * p.h, (double)(count * numbers), pad_row, &p);
        cpu_split(c, count * p.blocks * groups, (double)(count * w->y.h * w->y.w) * (double)(g->n * g->k), conv_block, &p);
    }
}
