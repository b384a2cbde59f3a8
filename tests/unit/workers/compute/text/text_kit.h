/* SPDX-License-Identifier: Apache-2.0 */
/* text_kit.h - decoders of random weights with their files, for the tests of text; after cmocka.h. */
#pragma once
#include "../train/run_kit.h"
#include "workers/compute/rng.h"
#include "workers/compute/text/text_engine.h"
#include "workers/compute/train/model_file.h"

enum { TK_CONTEXT = 48, TK_VOCAB = 71, TK_VOCAB_MAX = 300, TK_LLAMA = 7, TK_WORDS = 258 };

struct text_kit {
    struct arena *a;
    struct train_job spec;
    struct buf file;
    struct st_file st;
    int32_t tokens[TK_CONTEXT];
    float *logits;              /* [TK_CONTEXT][vocab] of the whole net, in fp32, by backend ref */
};

#define TK_VOCABULARY "falaj-bpe 1\n258\n97 98\n"

/* options: 1 RMS norm, 2 rotary, 4 gated. With TK_WORDS tokens it has a vocabulary, too. */
static inline void tk_make_of(struct text_kit *k, size_t vocab, unsigned options)
{
    struct err e = { 0 };
    struct backend_ctx *c;
    struct net *n;
    const struct backend *be = &backend_ref;
    memset(k, 0, sizeof *k);
    k->a = arena_new((size_t)256 << 20);
    k->spec = kit_spec();
    k->spec.family = TRAIN_GPT;
    k->spec.layers = 2;
    k->spec.width = 48;
    k->spec.heads = 4;
    k->spec.kv_heads = 2;
    k->spec.context = TK_CONTEXT;
    k->spec.classes = (int64_t)vocab;
    k->spec.rms_norm = options & 1;
    k->spec.rotary = options & 2;
    k->spec.gated = options & 4;
    struct train_data d = { .shape = { TK_CONTEXT, vocab, NET_CLASSES } };
    if (vocab == TK_WORDS)
        d.vocabulary = STR(TK_VOCABULARY);
    const struct net_spec spec = { ELEM_F32, &k->spec, d.shape, 1, .is_serving = true };
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    if (net_new(be, c, &spec, &n, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    k->logits = ARENA_ARRAY(k->a, float, TK_CONTEXT * vocab);
    float *params = ARENA_ARRAY(k->a, float, n->numbers);
    for (size_t i = 0; i < n->numbers; i++)
        params[i] = (float)(0.2 * philox_normal(1, 2, i));
    for (size_t i = 0; i < TK_CONTEXT; i++)
        k->tokens[i] = (int32_t)(philox(5, 6, i).v[0] % vocab);
    be->put(c, QUEUE_COMPUTE, run_region(n->run, REGION_PARAMS), 0, params, n->numbers * sizeof *params);
    net_put(n, k->tokens, NULL, 1);
    net_exec(n, 1, PHASE_FORWARD, false, NULL);
    run_get(n->run, n->logits, 0, 1, k->logits);
    assert_int_equal(run_sync(n->run, &e), ERR_OK);
    k->file = BUF((size_t)16 << 20);
    if (model_file_write(k->a, n, params, &d, &(struct model_about){ 0.5, 1, STR("") }, &k->file, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(st_parse(k->a, k->file.ptr, k->file.len, &k->st, &e), ERR_OK);
    net_free(n);
    be->close(c);
}

static inline void tk_make(struct text_kit *k, bool rms, bool rotary, bool gated)
{
    tk_make_of(k, TK_VOCAB, (rms ? 1u : 0) | (rotary ? 2u : 0) | (gated ? 4u : 0));
}

/* The same file with a pair of metadata more. */
static inline void tk_add_meta(struct text_kit *k, const char *key, struct str value)
{
    struct err e = { 0 };
    struct buf fresh = BUF((size_t)16 << 20);
    struct st_pair *meta = ARENA_ARRAY(k->a, struct st_pair, k->st.meta_count + 1);
    memcpy(meta, k->st.meta, k->st.meta_count * sizeof *meta);
    meta[k->st.meta_count] = (struct st_pair){ str_c(key), value };
    assert_int_equal(st_write(&fresh, k->st.tensors, k->st.tensor_count, meta, k->st.meta_count + 1, &e), ERR_OK);
    buf_release(&k->file);
    k->file = fresh;
    assert_int_equal(st_parse(k->a, k->file.ptr, k->file.len, &k->st, &e), ERR_OK);
}

static inline void tk_free(struct text_kit *k)
{
    buf_release(&k->file);
    arena_free(k->a);
}

static inline struct text_model *tk_load(const struct text_kit *k, const struct backend *be, struct pool *pool,
                                         const struct text_options *o)
{
    struct text_model *m = NULL;
    struct err e = { 0 };
    if (text_model_load(be, pool, &k->st, o, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return m;
}

/* The kit's tokens through slot `slot`, at most `most` at a time, beside `others` rows of slot 0 (slot is not 0 then). */
static inline void tk_logits(const struct text_kit *k, struct text_model *m, size_t slot, size_t most, size_t others, float *ret)
{
    static float rest[DECODE_ROWS * TK_VOCAB];
    struct err e = { 0 };
    for (size_t at = 0; at < TK_CONTEXT; at += most) {
        struct text_row rows[DECODE_ROWS];
        size_t n = 0;
        for (size_t i = 0; i < others; i++, n++)
            rows[n] = (struct text_row){ 0, i, k->tokens[(at + i) % TK_CONTEXT], i % 2 ? NULL : rest + i * TK_VOCAB };
        for (size_t i = at; i < TK_CONTEXT && i < at + most; i++, n++)
            rows[n] = (struct text_row){ slot, i, k->tokens[i], ret + i * TK_VOCAB };
        assert_int_equal(text_step(m, rows, n, &e), ERR_OK);
    }
}
