/* SPDX-License-Identifier: Apache-2.0 */
/* test_text_model.c - text by steps over a cache says what the whole net says, with the same bits however the tokens come and
 * whoever else is in the step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "text_kit.h"
#include "workers/compute/pool.h"

enum { MANY = 6000 };
static float got[TK_CONTEXT * TK_VOCAB], again[TK_CONTEXT * TK_VOCAB];

/* The norm of the difference over the norm. */
static double far(const float *x, const float *y, size_t n)
{
    double d = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        d += (double)(x[i] - y[i]) * (double)(x[i] - y[i]);
        all += (double)y[i] * (double)y[i];
    }
    return sqrt(d / all);
}

static void as_the_net(bool rms, bool rotary, bool gated)
{
    static const double most[DECODE_TYPES] = { 1e-5, 1e-2, 4e-2 };
    struct text_kit k;
    struct hw hw;
    struct pool *pool;
    struct err e = { 0 };
    hw_read(&hw);
    tk_make(&k, rms, rotary, gated);
    assert_int_equal(pool_new(3, &pool, &e), ERR_OK);
    for (const struct backend *const *be = backend_list(); *be; be++)
        for (int type = 0; type < DECODE_TYPES && (*be)->probe(&hw); type++) {
            struct text_model *m =
                tk_load(&k, *be, type == 1 ? pool : NULL, &(struct text_options){ (enum decode_type)type, 3, 0, 0 });
            tk_logits(&k, m, 0, TK_CONTEXT, 0, got);
            double d = far(got, k.logits, TK_CONTEXT * TK_VOCAB);
            if (!(d < most[type]))
                fail_msg("%s %s: %g from the net", (*be)->name, decode_type_names[type], d);
            static const struct { size_t slot, most, others; } ways[] = { { 0, 1, 0 }, { 2, 7, 0 }, { 1, 13, 3 }, { 2, 1, 31 } };
            for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
                memset(again, 0, sizeof again);
                tk_logits(&k, m, ways[i].slot, ways[i].most, ways[i].others, again);
                if (memcmp(got, again, sizeof got))
                    fail_msg("%s %s: other bits in way %zu", (*be)->name, decode_type_names[type], i);
            }
            text_model_free(m);
        }
    pool_free(pool);
    tk_free(&k);
}

static void the_net_and_the_steps_agree(void **st)
{
    (void)st;
    as_the_net(false, false, false);
    as_the_net(true, true, true);
}

static void mixed_options_too(void **st)
{
    (void)st;
    as_the_net(false, true, false);
    as_the_net(true, false, true);
}

/* What is not asked for costs nothing and changes nothing; a slot used before tells nothing to the next text. */
static void a_slot_forgets(void **st)
{
    (void)st;
    struct text_kit k;
    struct err e = { 0 };
    tk_make(&k, false, false, false);
    struct text_model *m = tk_load(&k, &backend_ref, NULL, &(struct text_options){ DECODE_BF16, 1, 0, 0 });
    struct text_row r = { 0, 0, k.tokens[0], got };
    assert_int_equal(text_step(m, &r, 1, &e), ERR_OK);
    struct text_row other[] = { { 0, 0, 3, NULL }, { 0, 1, 4, NULL }, { 0, 2, 5, NULL } };
    assert_int_equal(text_step(m, other, 3, &e), ERR_OK);
    r.logits = again;
    assert_int_equal(text_step(m, &r, 1, &e), ERR_OK);
    assert_memory_equal(got, again, TK_VOCAB * sizeof *got);
    text_model_free(m);
    tk_free(&k);
}

static void memory_is_planned(void **st)
{
    (void)st;
    struct text_kit k;
    struct text_model *m = NULL;
    struct err e = { 0 };
    tk_make(&k, false, false, false);
    m = tk_load(&k, &backend_ref, NULL, &(struct text_options){ DECODE_F32, 5, 40, 0 });
    const struct text_info *i = text_model_info(m);
    assert_true(i->max_sequences == 5 && i->max_context == 40 && i->context == TK_CONTEXT && !i->vocabulary);
    assert_int_equal(i->cache_bytes, 2 * 2 * 5 * 2 * 40 * 12 * 4);     /* both, layers, slots, heads, tokens, numbers, bytes */
    size_t all = i->weight_bytes + i->cache_bytes + i->work_bytes;
    text_model_free(m);
    m = tk_load(&k, &backend_ref, NULL, &(struct text_options){ DECODE_F32, 5, 40, all });
    text_model_free(m);
    assert_int_equal(text_model_load(&backend_ref, NULL, &k.st, &(struct text_options){ DECODE_F32, 5, 40, all - 1 }, &m, &e),
                     ERR_LIMIT);
    assert_non_null(strstr(e.msg, "for 5 sequences of 40 tokens"));
    assert_int_equal(
        text_model_load(&backend_ref, NULL, &k.st, &(struct text_options){ DECODE_F32, 1, TK_CONTEXT + 1, 0 }, &m, &e),
        ERR_LIMIT);
    assert_int_equal(text_model_load(&backend_ref, NULL, &k.st, &(struct text_options){ DECODE_F32, 33, 0, 0 }, &m, &e),
                     ERR_LIMIT);
    assert_int_equal(text_model_load(&backend_cuda, NULL, &k.st, &(struct text_options){ DECODE_F32, 1, 0, 0 }, &m, &e),
                     ERR_UNPROCESSABLE);
    tk_free(&k);
}

/* What was packed is gone at once. */
static void gone(void *ctx, const void *data, size_t n)
{
    memset((void *)(uintptr_t)data, 0, n);
    *(size_t *)ctx += n;
}

/* A vocabulary of several slabs; both layouts, all types: the same numbers out of a file that is read once. */
static void a_file_that_is_read_once(void **st)
{
    (void)st;
    static float want[MANY], once[MANY];
    for (unsigned options = 0; options <= TK_LLAMA; options += TK_LLAMA)
        for (int type = 0; type < DECODE_TYPES; type++) {
            struct text_kit k;
            struct err e = { 0 };
            size_t taken = 0, all = 0;
            tk_make_of(&k, MANY, options);
            struct text_options o = { (enum decode_type)type, 1, 0, 0, NULL };
            struct text_row r = { 0, 0, MANY - 5, want };
            struct text_model *m = tk_load(&k, &backend_ref, NULL, &o);
            assert_int_equal(text_step(m, &r, 1, &e), ERR_OK);
            const size_t both = text_model_info(m)->load_bytes;
            text_model_free(m);
            for (size_t i = 0; i < k.st.tensor_count; i++)
                all += k.st.tensors[i].size_bytes;
            o.data = &(struct read_once){ gone, &taken };
            r.logits = once;
            m = tk_load(&k, &backend_ref, NULL, &o);
            assert_int_equal(text_step(m, &r, 1, &e), ERR_OK);
            assert_memory_equal(once, want, sizeof want);
            assert_int_equal(all - taken, options ? TK_CONTEXT * 12 * sizeof(float) : 0);  /* angles, which are computed */
            const struct text_info *i = text_model_info(m);
            assert_true(type == DECODE_F32 ? i->load_bytes < both : i->load_bytes <= both);
            assert_true(i->load_bytes >= all);
            /* What it takes while it loads is planned, too, where the cache is small. */
            o.max_bytes = i->load_bytes - 1;
            o.max_context = 2;
            text_model_free(m);
            assert_int_equal(text_model_load(&backend_ref, NULL, &k.st, &o, &m, &e), ERR_LIMIT);
            assert_non_null(strstr(e.msg, "while it loads"));
            tk_free(&k);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_net_and_the_steps_agree), cmocka_unit_test(mixed_options_too),
                                        cmocka_unit_test(a_slot_forgets), cmocka_unit_test(memory_is_planned),
                                        cmocka_unit_test(a_file_that_is_read_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
