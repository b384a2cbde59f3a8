/* SPDX-License-Identifier: Apache-2.0 */
/* decode_int.h - struct decode of a backend in host memory; included once per variant, after its tile (decode_tile_int.h or
 * decode_plain_int.h) and DECODE_MR, the rows that a tile takes at most.
 *
 * Rows beyond a tile's go through a panel in pieces of k that stay in the first-level cache; their sums wait in memory between
 * pieces, which changes no bit. */
enum { DECODE_DEPTH = 256 };

static void decode_store(const struct decode_product *p, size_t panel, const float *sum)
{
    const struct decode_weights *w = p->w;
    size_t from = panel * DECODE_NR, n = w->n - from < DECODE_NR ? w->n - from : DECODE_NR;
    for (size_t i = 0; i < p->m; i++) {
        float *y = p->y + i * p->y_row + from;
        for (size_t j = 0; j < n; j++) {
            float v = sum[i * DECODE_NR + j];
            v = w->scale ? v * w->scale[from + j] : v;
            y[j] = p->bias ? v + p->bias[from + j] : v;
        }
    }
}

static void decode_panel(const struct decode_product *p, size_t panel)
{
    static const size_t width[DECODE_TYPES] = { 4, 2, 1 };
    float sum[DECODE_ROWS * DECODE_NR];
    size_t k = p->w->k, step = p->m <= DECODE_MR ? k : DECODE_DEPTH, row = DECODE_NR * width[p->w->type];
    const char *w = (const char *)p->w->data + panel * k * row;
    for (size_t k0 = 0; k0 < k; k0 += step)
        for (size_t i = 0; i < p->m; i += DECODE_MR)
            decode_tile(p->w->type, p->m - i < DECODE_MR ? p->m - i : DECODE_MR, k - k0 < step ? k - k0 : step,
                        p->x + i * p->x_row + k0, p->x_row, w + k0 * row, sum + i * DECODE_NR, k0 == 0);
    decode_store(p, panel, sum);
}

static void decode_attend_one(const struct decode_attend *a)
{
    float score[DECODE_SEEN_MAX];
    ASSERT(a->seen >= 1 && a->seen <= DECODE_SEEN_MAX);
    for (size_t l = 0; l < a->seen; l++)
        score[l] = decode_dot(a->q, a->keys + l * a->d, a->d) * a->scale;
    float inverse = 1.0f / decode_exp(score, a->seen);
    memset(a->out, 0, a->d * sizeof *a->out);
    for (size_t l = 0; l < a->seen; l++) {
        const float *v = a->values + l * a->d;
        float p = score[l] * inverse;
        for (size_t j = 0; j < a->d; j++)
            a->out[j] += p * v[j];
    }
}

static const struct decode decode_here = { decode_panel, decode_attend_one };
