/* SPDX-License-Identifier: Apache-2.0 */
/* text_file.c - a decoder's model file: what it is, whether all of it is there, and its tensors packed.
 *
 * Names and layouts are those that train/fam_gpt.c declares: GPT-2's (weights [in, out]), or Llama's where RMS norm, rotary
 * positions and gates come together (weights [out, in]; queries, keys and values, gate and up are tensors of their own). One list
 * of parts serves the check and the packing, so what is packed was checked. */
#include "workers/compute/text/text_model_int.h"
#include "core/base/assert.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH_MAX = 16384, HEADS_MAX = 128, NAME_MAX_TEXT = 80, PARTS_MAX = 24, ROUND = 32, LINE = 64 };

/* A tensor of the file: `rows` rows of a matrix from row `at` on, or a vector (cols 0), and where it goes. */
struct part {
    char name[NAME_MAX_TEXT];
    size_t rows, cols, at;
    bool is_turned;                     /* [cols, rows] in the file */
    struct decode_weights *w;
    const float **vector;
};

struct parts {
    struct part part[PARTS_MAX];
    size_t n;
};

static struct part *add(struct parts *p, const char *in, const char *name, size_t rows, size_t cols)
{
    ASSERT(p->n < PARTS_MAX);
    struct part *t = &p->part[p->n++];
    *t = (struct part){ .rows = rows, .cols = cols };
    snprintf(t->name, sizeof t->name, "%s%s", in, name);
    return t;
}

static void add_weights(struct parts *p, const char *in, const char *name, struct decode_weights *w, size_t at, size_t rows,
                        size_t cols, bool is_turned)
{
    struct part *t = add(p, in, name, rows, cols);
    t->w = w;
    t->at = at;
    t->is_turned = is_turned;
}

static void add_vector(struct parts *p, const char *in, const char *name, const float **to, size_t n)
{
    add(p, in, name, n, 0)->vector = to;
}

static size_t inner_of(const struct text_info *i)
{
    return i->is_gated ? (8 * i->width / 3 + ROUND - 1) / ROUND * ROUND : 4 * i->width;
}

static bool is_llama(const struct text_info *i)
{
    return i->is_rms && i->is_rotary && i->is_gated;
}

static void parts_of_llama(struct parts *p, const struct text_info *i, size_t layer, struct text_layer *l)
{
    char in[NAME_MAX_TEXT / 2];
    size_t c = i->width, d = c / i->heads, q = i->heads * d, kv = i->kv_heads * d;
    snprintf(in, sizeof in, "model.layers.%zu.", layer);
    add_weights(p, in, "self_attn.q_proj.weight", &l->attn, 0, q, c, false);
    add_weights(p, in, "self_attn.k_proj.weight", &l->attn, q, kv, c, false);
    add_weights(p, in, "self_attn.v_proj.weight", &l->attn, q + kv, kv, c, false);
    add_weights(p, in, "self_attn.o_proj.weight", &l->attn_out, 0, c, q, false);
    add_weights(p, in, "mlp.gate_proj.weight", &l->up, 0, i->inner, c, false);
    add_weights(p, in, "mlp.up_proj.weight", &l->up, i->inner, i->inner, c, false);
    add_weights(p, in, "mlp.down_proj.weight", &l->down, 0, c, i->inner, false);
    add_vector(p, in, "input_layernorm.weight", &l->norm1, c);
    add_vector(p, in, "post_attention_layernorm.weight", &l->norm2, c);
}

static void parts_of_gpt2(struct parts *p, const struct text_info *i, size_t layer, struct text_layer *l)
{
    char in[NAME_MAX_TEXT / 2];
    size_t c = i->width, rows = (i->heads + 2 * i->kv_heads) * (c / i->heads), up = i->inner * (i->is_gated ? 2 : 1);
    snprintf(in, sizeof in, "transformer.h.%zu.", layer);
    add_weights(p, in, "attn.c_attn.weight", &l->attn, 0, rows, c, true);
    add_weights(p, in, "attn.c_proj.weight", &l->attn_out, 0, c, c, true);
    add_weights(p, in, "mlp.c_fc.weight", &l->up, 0, up, c, true);
    add_weights(p, in, "mlp.c_proj.weight", &l->down, 0, c, i->inner, true);
    add_vector(p, in, "ln_1.weight", &l->norm1, c);
    add_vector(p, in, "ln_2.weight", &l->norm2, c);
    if (i->is_rms)
        return;
    add_vector(p, in, "ln_1.bias", &l->shift1, c);
    add_vector(p, in, "ln_2.bias", &l->shift2, c);
    add_vector(p, in, "attn.c_attn.bias", &l->attn_bias, rows);
    add_vector(p, in, "attn.c_proj.bias", &l->attn_out_bias, c);
    add_vector(p, in, "mlp.c_fc.bias", &l->up_bias, up);
    add_vector(p, in, "mlp.c_proj.bias", &l->down_bias, c);
}

static void parts_of_layer(struct parts *p, const struct text_info *i, size_t layer, struct text_layer *l)
{
    p->n = 0;
    if (is_llama(i))
        parts_of_llama(p, i, layer, l);
    else
        parts_of_gpt2(p, i, layer, l);
}

static void parts_of_ends(struct parts *p, const struct text_info *i, struct text_model *m)
{
    bool llama = is_llama(i);
    p->n = 0;
    add_weights(p, llama ? "model." : "transformer.", llama ? "embed_tokens.weight" : "wte.weight", &m->table, 0, i->vocab,
                i->width, false);
    add_vector(p, llama ? "model." : "transformer.", llama ? "norm.weight" : "ln_f.weight", &m->last, i->width);
    if (!i->is_rms)
        add_vector(p, "transformer.", "ln_f.bias", &m->last_shift, i->width);
    if (!i->is_rotary)
        add_weights(p, "transformer.", "wpe.weight", NULL, 0, i->context, i->width, false);
}

static enum errc check(const struct st_file *f, const struct parts *p, struct err *e)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct part *t = &p->part[i];
        const struct st_tensor *found = st_find(f, str_c(t->name));
        size_t a = t->is_turned ? t->cols : t->rows, b = t->is_turned ? t->rows : t->cols;
        bool fits = found && found->dtype == ST_F32 && found->rank == (t->cols ? 2 : 1) && found->shape[0] == a
                    && (!t->cols || found->shape[1] == b);
        if (!fits)
            return FAIL(e, BAD_DATA, "the model file has no tensor %s of F32 in the shape %zu by %zu", t->name, a,
                        t->cols ? b : 1);
    }
    return ERR_OK;
}

static enum errc number(const struct st_file *f, const char *key, int64_t min, int64_t max, size_t *ret, struct err *e)
{
    int64_t n;
    struct str text = st_meta(f, key);
    if (!text.ptr || !str_to_i64(text, min, max, &n))
        return FAIL(e, BAD_DATA, "the model file's %s is no number of %ld to %ld", key, (long)min, (long)max);
    *ret = (size_t)n;
    return ERR_OK;
}

static bool has_option(const struct st_file *f, const char *word)
{
    struct str all = st_meta(f, "options");
    return all.len && memmem(all.ptr, all.len, word, strlen(word));
}

static enum errc read_vocabulary(struct arena *a, const struct st_file *f, struct text_info *i, struct err *e)
{
    struct str text = st_meta(f, TEXT_TOKENIZER);
    if (!text.len)
        return ERR_OK;
    struct bpe *v = ARENA_NEW(a, struct bpe);
    TRY(bpe_read(a, text, v, e));
    if (v->tokens != i->vocab)
        return FAIL(e, BAD_DATA, "the model knows %zu tokens, its vocabulary has %u", i->vocab, v->tokens);
    i->vocabulary = v;
    return ERR_OK;
}

bool text_model_is(const struct st_file *f)
{
    return str_eq_c(st_meta(f, "family"), "gpt");
}

enum errc text_file_about(struct arena *a, const struct st_file *f, struct text_info *ret, struct err *e)
{
    struct text_info i = { 0 };
    struct text_model none = { 0 };
    struct text_layer layer;
    struct parts p = { .n = 0 };
    TRY(number(f, "classes", 2, TEXT_VOCAB_MAX, &i.vocab, e));
    TRY(number(f, "context", 2, DECODE_SEEN_MAX, &i.context, e));
    TRY(number(f, "layers", 1, TEXT_LAYERS_MAX, &i.layers, e));
    TRY(number(f, "width", 8, WIDTH_MAX, &i.width, e));
    TRY(number(f, "heads", 1, HEADS_MAX, &i.heads, e));
    TRY(number(f, "kv_heads", 1, HEADS_MAX, &i.kv_heads, e));
    i.is_rms = has_option(f, "rms_norm");
    i.is_rotary = has_option(f, "rotary");
    i.is_gated = has_option(f, "gated");
    if (i.width % i.heads || i.heads % i.kv_heads || (i.is_rotary && i.width / i.heads % 2))
        return FAIL(e, BAD_DATA, "a width of %zu does not divide into %zu heads, or these into groups of %zu", i.width, i.heads,
                    i.kv_heads);
    i.inner = inner_of(&i);
    parts_of_ends(&p, &i, &none);
    TRY(check(f, &p, e));
    for (size_t l = 0; l < i.layers; l++) {
        parts_of_layer(&p, &i, l, &layer);
        TRY(check(f, &p, e));
    }
    TRY(read_vocabulary(a, f, &i, e));
    *ret = i;
    return ERR_OK;
}

/* Hands out pieces of m->weights; with at NULL it only counts. */
struct room {
    char *at;
    size_t used;
    const struct read_once *data;
    size_t largest;                     /* bytes of a tensor that is packed whole before any of it is done with */
};

static void *piece(struct room *r, size_t bytes)
{
    size_t from = r->used;
    r->used += (bytes + LINE - 1) / LINE * LINE;
    return r->at ? r->at + from : NULL;
}

static void place_weights(struct room *r, struct decode_weights *w, enum decode_type type, size_t n, size_t k)
{
    size_t padded = (n + DECODE_NR - 1) / DECODE_NR * DECODE_NR;
    *w = (struct decode_weights){ type, n, k, piece(r, decode_bytes(type, n, k)), NULL };
    w->scale = type == DECODE_I8 ? piece(r, padded * sizeof(float)) : NULL;
}

static void place_layer(struct room *r, const struct text_info *i, enum decode_type type, struct text_layer *l)
{
    size_t c = i->width, rows = (i->heads + 2 * i->kv_heads) * (c / i->heads);
    place_weights(r, &l->attn, type, rows, c);
    place_weights(r, &l->attn_out, type, c, c);
    place_weights(r, &l->up, type, i->inner * (i->is_gated ? 2 : 1), c);
    place_weights(r, &l->down, type, c, i->inner);
}

static void done(const struct room *r, const void *data, size_t n)
{
    if (r->data)
        r->data->done(r->data->ctx, data, n);
}

/* Rows that lie behind each other are done with slab by slab; a turned matrix is read across, so all of it at its end. */
static void pack(struct room *r, const struct part *t, const unsigned char *data)
{
    const size_t row = t->cols * sizeof(float), slab = t->is_turned || row > PAGES_SLAB ? t->rows : PAGES_SLAB / row;
    for (size_t at = 0, n; at < t->rows; at += n) {
        n = t->rows - at < slab ? t->rows - at : slab;
        const unsigned char *from = data + (t->is_turned ? 0 : at * row);
        decode_pack(t->w, t->at + at, n, from, t->is_turned ? 1 : t->cols, t->is_turned ? t->rows : 1);
        done(r, from, n * row);
    }
}

static void take(struct room *r, const struct st_file *f, const struct parts *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct part *t = &p->part[i];
        const struct st_tensor *found = r->at ? st_find(f, str_c(t->name)) : NULL;
        const size_t bytes = t->rows * (t->cols ? t->cols : 1) * sizeof(float);
        r->largest = t->w && t->is_turned && bytes > r->largest ? bytes : r->largest;
        if (t->w && found)
            pack(r, t, found->data);
        if (!t->vector)
            continue;
        float *v = piece(r, bytes);
        if (v) {
            memcpy(v, found->data, bytes);
            done(r, found->data, bytes);
        }
        *t->vector = v;
    }
}

static void lay(struct room *r, const struct text_info *i, enum decode_type type, const struct st_file *f, struct text_model *m)
{
    struct parts p = { .n = 0 };
    struct text_layer none = { 0 };
    place_weights(r, &m->table, type, i->vocab, i->width);
    float *places = i->is_rotary ? NULL : piece(r, i->context * i->width * sizeof *places);
    if (places) {
        const unsigned char *from = st_find(f, STR("transformer.wpe.weight"))->data;
        memcpy(places, from, i->context * i->width * sizeof *places);
        done(r, from, i->context * i->width * sizeof *places);
    }
    m->places = places;
    parts_of_ends(&p, i, m);
    take(r, f, &p);
    for (size_t l = 0; l < i->layers; l++) {
        struct text_layer *to = m->layers ? &m->layers[l] : &none;
        place_layer(r, i, type, to);
        parts_of_layer(&p, i, l, to);
        take(r, f, &p);
    }
}

size_t text_file_bytes(const struct text_info *info, enum decode_type type)
{
    struct text_model none = { 0 };
    struct room r = { .used = 0 };
    lay(&r, info, type, NULL, &none);
    return r.used;
}

size_t text_file_load_bytes(const struct text_info *info, enum decode_type type, const struct st_file *f, bool is_once)
{
    struct text_model none = { 0 };
    struct room r = { .largest = PAGES_SLAB };
    size_t file = 0;
    lay(&r, info, type, NULL, &none);
    for (size_t i = 0; i < f->tensor_count; i++)
        file += f->tensors[i].size_bytes;
    const size_t once = (file > r.used ? file : r.used) + r.largest;
    return is_once && once < file + r.used ? once : file + r.used;
}

void text_file_take(struct text_model *m, const struct st_file *f, const struct read_once *data)
{
    struct room r = { .at = m->weights, .data = data };
    lay(&r, &m->info, m->info.weights, f, m);
    ASSERT(r.used == m->info.weight_bytes);
}
