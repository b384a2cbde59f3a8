/* SPDX-License-Identifier: Apache-2.0 */
/* test_text_file.c - a decoder's file is read strictly: what is missing or does not fit is named, and nothing is made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "text_kit.h"
#include "workers/compute/text/text_model_int.h"

static struct str *meta(struct text_kit *k, const char *key)
{
    for (size_t i = 0; i < k->st.meta_count; i++)
        if (str_eq_c(k->st.meta[i].key, key))
            return &k->st.meta[i].value;
    fail_msg("no %s", key);
    return NULL;
}

static void expect(struct text_kit *k, enum errc rc, const char *why)
{
    struct text_info i;
    struct err e = { 0 };
    assert_int_equal(text_file_about(k->a, &k->st, &i, &e), rc);
    if (why && !strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}

static void faults_are_named(void **st)
{
    (void)st;
    static const struct { const char *key, *value, *why; } rows[] = {
        { "classes", "1", "classes" },         { "classes", "72", "transformer.wte.weight" },
        { "context", "99999", "context" },     { "context", "47", "transformer.wpe.weight" },
        { "layers", "x", "layers" },           { "layers", "3", "transformer.h.2.attn.c_attn.weight" },
        { "width", "4", "width" },             { "heads", "7", "heads" },
        { "kv_heads", "3", "groups of 3" },    { "kv_heads", "4", "c_attn.weight" },
        { "options", "gated", "c_fc.weight" }, { "options", "rms_norm rotary gated", "model.embed_tokens.weight" },
    };
    struct text_kit k;
    tk_make(&k, false, false, false);
    assert_true(text_model_is(&k.st));
    expect(&k, ERR_OK, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str *at = meta(&k, rows[i].key), before = *at;
        *at = str_c(rows[i].value);
        expect(&k, ERR_BAD_DATA, rows[i].why);
        *at = before;
    }
    for (size_t i = 0; i < k.st.tensor_count; i++) {
        struct st_tensor *t = &k.st.tensors[i];
        enum st_dtype before = t->dtype;
        t->dtype = ST_I32;
        expect(&k, ERR_BAD_DATA, str_z(k.a, t->name));
        t->dtype = before;
    }
    *meta(&k, "family") = STR("cnn");
    assert_false(text_model_is(&k.st));
    tk_free(&k);
}

static void a_vocabulary_must_fit(void **st)
{
    (void)st;
    struct text_kit k;
    struct err e = { 0 };
    struct text_info i;
    tk_make(&k, true, true, true);
    tk_add_meta(&k, TEXT_TOKENIZER, STR("falaj-bpe 1\n257\n"));
    expect(&k, ERR_BAD_DATA, "the model knows 71 tokens, its vocabulary has 257");
    *meta(&k, TEXT_TOKENIZER) = STR("falaj-bpe 1\n2\n");
    expect(&k, ERR_BAD_DATA, "line 2");
    tk_free(&k);
    tk_make_of(&k, TK_WORDS, 0);
    assert_int_equal(text_file_about(k.a, &k.st, &i, &e), ERR_OK);
    assert_int_equal(i.vocabulary->tokens, TK_WORDS);
    tk_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(faults_are_named), cmocka_unit_test(a_vocabulary_must_fit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
