/* SPDX-License-Identifier: Apache-2.0 */
/* attention_int.h - attention of the vector variants over the tile operations; included once per variant after gemm_int.h and
 * ops_int.h.
 *
 * A task is one head of one item, forward, or one head of keys and values of one item, backward, so what is added up is added by
 * one
 * thread in one order. It goes through blocks of QUERIES queries: scores of a block by all the keys it may see, softmax, product
 * with
 * the values. Memory is a block of scores and the packed keys and values of one task, never t·t; the backward form makes the
 * scores
 * again from what the forward form kept of each row (Dao et al. 2022 for the idea; blocks here hold whole rows, which a
 * processor's second-level cache has room for up to some thousand tokens). Tasks run in waves, each task with its slice of
 * scratch. */
enum { QUERIES = 48, WAVE = 32 };

/* A product on this thread alone. */
static void gemm_here(const struct gemm *g)
{
    for (size_t k0 = 0; k0 < g->k; k0 += KC)
        for (size_t col = 0; col < g->n; col += NR)
            panel_step(g, 0, g->m, col, k0, g->k - k0 < KC ? g->k - k0 : KC);
}

static size_t panel_floats(size_t n, size_t k)
{
    return panels_of(n) * NR * k;
}

static float *pack_here(const float *b, size_t rows, size_t cols, size_t stride, bool is_transposed, float *to)
{
    const struct mat m = { ELEM_F32, rows, cols, stride, NULL, 0, (void *)(uintptr_t)b };
    size_t n = is_transposed ? rows : cols, k = is_transposed ? cols : rows;
    for (size_t p = 0; p < panels_of(n); p++)
        pack_panel(&m, is_transposed, p * NR, k, to + p * k * NR);
    return to;
}

struct attn_job {
    struct attention s;
    const float *qkv, *y, *dy, *old_sums;
    float *out, *sums, *scratch;
    size_t slice, first;        /* numbers per task; the first task of the wave */
};

static void run_waves(struct backend_ctx *c, struct attn_job *j, size_t tasks, double work, void (*fn)(void *, size_t))
{
    j->slice = (j->slice + 15) / 16 * 16;
    j->scratch = cpu_scratch(c, (tasks < WAVE ? tasks : WAVE) * j->slice * sizeof(float));
    for (j->first = 0; j->first < tasks; j->first += WAVE) {
        size_t count = tasks - j->first < WAVE ? tasks - j->first : WAVE;
        cpu_split(c, count, work / (double)tasks * (double)count, fn, j);
    }
}

/* Scores of rows i0 … i0+rows-1 by keys 0 … limit-1 into p, [rows, step]. */
static void scores(const struct attention *s, const float *q, const float *keys, size_t rows, size_t limit, float *p, size_t step)
{
    const struct gemm g = { .m = rows, .n = limit, .k = s->d, .panel_k = s->d, .a = q, .a_row = s->row, .a_step = 1,
                            .panels = keys,
                            .c = p, .c_row = step, .tile = one_tile };
    gemm_here(&g);
}

static void attention_task(void *arg, size_t task)
{
    const struct attn_job *j = arg;
    const struct attention *s = &j->s;
    size_t n = (j->first + task) / s->heads, h = (j->first + task) % s->heads, group = h / (s->heads / s->kv_heads), t = s->t,
        d = s->d;
    size_t step = panels_of(t) * NR;
    const float *item = j->qkv + n * t * s->row, *k = item + (s->heads + group) * d, *v = k + s->kv_heads * d;
    float *keys = j->scratch + task * j->slice, *values = keys + panel_floats(t, d), *p = values + panel_floats(d, t);
    pack_here(k, t, d, s->row, true, keys);
    pack_here(v, t, d, s->row, false, values);
    for (size_t i0 = 0; i0 < t; i0 += QUERIES) {
        size_t rows = t - i0 < QUERIES ? t - i0 : QUERIES, limit = s->is_causal ? i0 + rows : t;
        scores(s, item + i0 * s->row + h * d, keys, rows, limit, p, step);
        for (size_t i = 0; i < rows; i++) {
            size_t seen = s->is_causal ? i0 + i + 1 : t;
            float top, *pi = p + i * step, scale = (float)s->scale;
            for (size_t l = 0; l < seen; l++)
                pi[l] *= scale;
            float sum = exp_row(pi, pi, seen, &top), inverse = 1.0f / sum;
            for (size_t l = 0; l < seen; l++)
                pi[l] *= inverse;
            memset(pi + seen, 0, (limit - seen) * sizeof *pi);
            if (j->sums)
                j->sums[(n * s->heads + h) * t + i0 + i] = top + logf(sum);
        }
        const struct gemm g = { .m = rows, .n = d, .k = limit, .panel_k = t, .a = p, .a_row = step, .a_step = 1, .panels = values,
                                .c = j->out + (n * t + i0) * s->heads * d + h * d, .c_row = s->heads * d, .tile = one_tile };
        gemm_here(&g);
    }
}

static void k_attention(struct backend_ctx *c, const struct op_call *o)
{
    struct attn_job j = { .s = attention_of(&o->attr, o->in[0]), .qkv = o->in[0]->ptr, .out = o->out[0]->ptr,
                          .sums = o->out[1] ? o->out[1]->ptr : NULL };
    const struct attention *s = &j.s;
    j.slice = panel_floats(s->t, s->d) + panel_floats(s->d, s->t) + QUERIES * panels_of(s->t) * NR;
    run_waves(c, &j, s->n * s->heads, 2.0 * (double)(s->n * s->heads) * (double)(s->t * s->t) * (double)s->d, attention_task);
}

/* Places of one backward task in its slice. */
struct attn_room {
    float *keys, *values, *keys_flat, *queries, *dys, *p, *ds;
    size_t step;
};

static struct attn_room attn_room(const struct attention *s, float *at, size_t *ret_floats)
{
    struct attn_room r = { .keys = at, .step = panels_of(s->t) * NR };
    r.values = r.keys + panel_floats(s->t, s->d);
    r.keys_flat = r.values + panel_floats(s->t, s->d);
    r.queries = r.keys_flat + panel_floats(s->d, s->t);
    r.dys = r.queries + panel_floats(s->d, QUERIES);
    r.p = r.dys + panel_floats(s->d, QUERIES);
    r.ds = r.p + QUERIES * r.step;
    *ret_floats = (size_t)(r.ds + QUERIES * r.step - at);
    return r;
}

/* p and ds of one block: p = exp(q·k·scale - sums), ds = p·(dy·v - Σ dy·y)·scale; zero past what a query sees. */
static void attn_slopes(const struct attn_job *j, const struct attn_room *r, size_t n, size_t h, size_t i0, size_t rows,
                        size_t limit)
{
    const struct attention *s = &j->s;
    float scale = (float)s->scale;
    for (size_t i = 0; i < rows; i++) {
        size_t seen = s->is_causal ? i0 + i + 1 : s->t, at = (n * s->t + i0 + i) * s->heads * s->d + h * s->d;
        float *p = r->p + i * r->step, *ds = r->ds + i * r->step, kept = j->old_sums[(n * s->heads + h) * s->t + i0 + i];
        float mean = dot_row(j->dy + at, j->y + at, s->d);
        for (size_t l = 0; l < seen; l++)
            p[l] = exp_fast(p[l] * scale - kept);
        for (size_t l = 0; l < seen; l++)
            ds[l] = p[l] * (ds[l] - mean) * scale;
        memset(p + seen, 0, (limit - seen) * sizeof *p);
        memset(ds + seen, 0, (limit - seen) * sizeof *ds);
    }
}

static void attention_bwd_block(const struct attn_job *j, const struct attn_room *r, size_t n, size_t h, size_t i0)
{
    const struct attention *s = &j->s;
    size_t t = s->t, d = s->d, group = h / (s->heads / s->kv_heads), width = s->heads * d;
    size_t rows = t - i0 < QUERIES ? t - i0 : QUERIES, limit = s->is_causal ? i0 + rows : t;
    const float *q = j->qkv + (n * t + i0) * s->row + h * d, *dy = j->dy + (n * t + i0) * width + h * d;
    float *dq = j->out + (n * t + i0) * s->row + h * d, *dk = j->out + n * t * s->row + (s->heads + group) * d,
        *dv = dk + s->kv_heads * d;
    scores(s, q, r->keys, rows, limit, r->p, r->step);
    struct gemm g = { .m = rows, .n = limit, .k = d, .panel_k = d, .a = dy, .a_row = width, .a_step = 1, .panels = r->values,
                      .c = r->ds,
                      .c_row = r->step, .tile = one_tile };
    gemm_here(&g);
    attn_slopes(j, r, n, h, i0, rows, limit);
    g = (struct gemm){ .m = rows, .n = d, .k = limit, .panel_k = t, .a = r->ds, .a_row = r->step, .a_step = 1,
                       .panels = r->keys_flat,
                       .c = dq, .c_row = s->row, .tile = one_tile };
    gemm_here(&g);
    pack_here(q, rows, d, s->row, false, r->queries);
    pack_here(dy, rows, d, width, false, r->dys);
    g = (struct gemm){ .flags = OP_ACCUMULATE, .m = limit, .n = d, .k = rows, .panel_k = rows, .a = r->ds, .a_row = 1,
                       .a_step = r->step,
                       .panels = r->queries, .c = dk, .c_row = s->row, .tile = one_tile };
    gemm_here(&g);
    g.a = r->p;
    g.panels = r->dys;
    g.c = dv;
    gemm_here(&g);
}

static void attention_bwd_task(void *arg, size_t task)
{
    const struct attn_job *j = arg;
    const struct attention *s = &j->s;
    size_t n = (j->first + task) / s->kv_heads, group = (j->first + task) % s->kv_heads, t = s->t, d = s->d, floats;
    size_t heads = s->heads / s->kv_heads;
    const float *k = j->qkv + n * t * s->row + (s->heads + group) * d, *v = k + s->kv_heads * d;
    float *dk = j->out + (k - j->qkv), *dv = j->out + (v - j->qkv);
    struct attn_room r = attn_room(s, j->scratch + task * j->slice, &floats);
    pack_here(k, t, d, s->row, true, r.keys);
    pack_here(v, t, d, s->row, true, r.values);
    pack_here(k, t, d, s->row, false, r.keys_flat);
    for (size_t i = 0; i < t; i++) {
        memset(dk + i * s->row, 0, d * sizeof *dk);
        memset(dv + i * s->row, 0, d * sizeof *dv);
    }
    for (size_t h = group * heads; h < (group + 1) * heads; h++)
        for (size_t i0 = 0; i0 < t; i0 += QUERIES)
            attention_bwd_block(j, &r, n, h, i0);
}

static void k_attention_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct attn_job j = { .s = attention_of(&o->attr, o->in[0]), .qkv = o->in[0]->ptr, .y = o->in[1]->ptr,
                          .old_sums = o->in[2]->ptr,
                          .dy = o->in[3]->ptr, .out = o->out[0]->ptr };
    const struct attention *s = &j.s;
    attn_room(s, NULL, &j.slice);
    run_waves(c, &j, s->n * s->kv_heads, 5.0 * (double)(s->n * s->heads) * (double)(s->t * s->t) * (double)s->d,
              attention_bwd_task);
}
