/* SPDX-License-Identifier: Apache-2.0 */
/* test_fam_gpt.c - a decoder of bytes learns this repository's own documents, says what comes after a prompt, and finds its file
 * again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>

#include "../../../../lib/share.h"
#include "core/data/tokens.h"
#include "run_kit.h"
#include "workers/compute/train/data_tokens.h"

enum { TEXT_MAX = 1 << 20, CONTEXT = 64 };
static const char *const documents[] = {
    "docs/ARCHITECTURE.md", "docs/STYLE.md",         "tests/README.md",        "README.md",  "docs/audit-format.md",
        "docs/performance/job-path.md", "docs/performance/inference.md", "docs/performance/training-cpu.md",
    "docs/gen/config.md",   "docs/gen/permissions.md", "docs/howto/sign-in.md", "CHANGELOG.md",
};

static struct train_job small(void)
{
    struct train_job s = kit_spec();
    s.family = TRAIN_GPT;
    s.layers = 2;
    s.width = 64;
    s.heads = 4;
    s.context = CONTEXT;
    s.batch_size = 16;
    s.learning_rate = 4e-3;
    s.warmup_steps = 20;
    s.clip_norm = 1;
    s.holdout = 0.03;
    s.classes = 256;
    s.epochs = 1000;
    return s;
}

/* The documents as a shard of bytes. */
static struct str corpus(struct arena *a, struct str *ret_text)
{
    char *p = arena_alloc(a, TOKENS_HEADER + 2 * TEXT_MAX), *text = arena_alloc(a, TEXT_MAX);
    size_t n = 0;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct str t = kit_file(a, documents[i]);
        assert_true(n + t.len < TEXT_MAX);
        memcpy(text + n, t.ptr, t.len);
        n += t.len;
    }
    for (size_t i = 0; i < n; i++) {
        p[TOKENS_HEADER + 2 * i] = text[i];
        p[TOKENS_HEADER + 2 * i + 1] = 0;
    }
    const struct token_shard s = { (unsigned char *)p + TOKENS_HEADER, 2, 256, n, sizeof documents / sizeof *documents,
                                   { NULL, 0 } };
    token_shard_header(&s, (unsigned char *)p);
    *ret_text = str_n(text, n);
    return str_n(p, TOKENS_HEADER + 2 * n);
}

/* The likeliest next byte, again and again, over the last CONTEXT bytes. */
static void go_on(struct arena *a, const struct train_job *s, const struct train_result *r, char *text, size_t len, size_t more)
{
    const struct backend *be = kit_backend();
    struct backend_ctx *c;
    struct net *n;
    struct st_file f;
    struct err e = { 0 };
    const struct net_spec spec = { ELEM_F32, s, { CONTEXT, 256, NET_CLASSES }, 1, .is_serving = true };
    static float logits[CONTEXT * 256];
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    if (net_new(be, c, &spec, &n, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(st_parse(a, r->model.ptr, r->model.len, &f, &e), ERR_OK);
    float *params = arena_alloc(a, n->numbers * sizeof *params);
    assert_int_equal(model_file_read(&f, n, "", params, &e), ERR_OK);
    be->put(c, QUEUE_COMPUTE, run_region(n->run, REGION_PARAMS), 0, params, n->numbers * sizeof *params);
    for (size_t end = len + more; len < end; len++) {
        int32_t x[CONTEXT] = { 0 };
        size_t from = len < CONTEXT ? 0 : len - CONTEXT, best = 0;
        for (size_t i = from; i < len; i++)
            x[i - from] = (unsigned char)text[i];
        net_put(n, x, NULL, 1);
        net_exec(n, 1, PHASE_FORWARD, false, NULL);
        run_get(n->run, n->logits, 0, 1, logits);
        assert_int_equal(run_sync(n->run, &e), ERR_OK);
        const float *last = logits + (len - from - 1) * 256;
        for (size_t i = 1; i < 256; i++)
            best = last[i] > last[best] ? i : best;
        text[len] = (char)best;
    }
    net_free(n);
    be->close(c);
}

/* Share of the words after the prompt that stand in the text. */
static double known_words(struct str text, const char *p, size_t n)
{
    size_t words = 0, known = 0;
    for (size_t i = 0, from; i < n;) {
        while (i < n && !isalpha((unsigned char)p[i]))
            i++;
        for (from = i; i < n && isalpha((unsigned char)p[i]);)
            i++;
        if (i == from || i == n)
            continue;
        words++;
        known += memmem(text.ptr, text.len, p + from, i - from) != NULL;
    }
    return words > 5 ? (double)known / (double)words : 0;
}

static void learn(struct train_job s, const char *name, double most)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(512 << 20);
    struct train_data d;
    struct train_result r;
    struct str text;
    struct err e = { 0 };
    char out[320] = "A worker ";
    if (train_data_tokens(a, corpus(a, &text), &s, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    kit_train(a, &s, &d, &r);
    assert_true((int64_t)r.model.len <= train_job_model_bytes(&s, 0));
    go_on(a, &s, &r, out, strlen("A worker "), 200);
    print_message("%s: loss %.3f, goes on: %.209s\n", name, r.holdout_loss, out);
    assert_true(r.holdout_loss < most);
    assert_true(s.max_steps < 1000 || known_words(text, out + 9, 200) > 0.6);
    train_result_release(&r);
}

static void test_gpt2(void **st)
{
    (void)st;
    struct train_job s = small();
    s.max_steps = share_of("steps of GPT-2's layout", 30, 1500);
    learn(s, "gpt-2", s.max_steps > 30 ? 2.2 : 3.7);
}

static void test_llama(void **st)
{
    (void)st;
    struct train_job s = small();
    s.rms_norm = s.rotary = s.gated = true;
    s.kv_heads = 2;
    s.dropout = 0.05;
    s.max_steps = share_of("steps of Llama's layout", 20, 1000);
    learn(s, "llama", s.max_steps > 20 ? 2.4 : 4.0);
}

static char said[512];
static void hear(void *ctx, const char *line)
{
    (void)ctx;
    if (strstr(line, "planned"))
        snprintf(said, sizeof said, "%s", line);
    kit_log(NULL, line);
}

/* With room for so many bytes; the model, in the arena, or what was refused. */
static struct str model_in(struct arena *a, const struct train_job *s, size_t bytes, enum errc want, struct err *e)
{
    static const struct train_observer o = { .on_log = hear };
    struct train_data d;
    struct train_result r = { 0 };
    struct str text, model = STR_NULL;
    assert_int_equal(train_data_tokens(a, corpus(a, &text), s, &d, e), ERR_OK);
    const struct train_task task = { .spec = s, .data = &d, .backend = kit_backend(), .clock = &clock_system,
                                     .dataset_digest = STR("sha256:kit"), .memory_max_bytes = bytes };
    said[0] = 0;
    if (train_run(a, &task, &o, &r, e) != want)
        fail_msg("%s", e->msg);
    if (want == ERR_OK)
        model = str_dup(a, buf_str(&r.model));
    train_result_release(&r);
    return model;
}

/* Where memory is short auto makes results again, and the model is that of off with more memory; on does so in any case. */
static void test_recompute(void **st)
{
    enum { LITTLE = 18 << 20, LEAST = 2 << 20 };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = small();
    struct err e = { 0 };
    (void)st;
    s.layers = 6;
    s.max_steps = 2;
    s.holdout = 0.001;
    s.recompute = TRAIN_RECOMPUTE_OFF;
    struct str off = model_in(a, &s, 0, ERR_OK, &e);
    assert_null(strstr(said, "(recomputing)"));
    (void)model_in(a, &s, LITTLE, ERR_LIMIT, &e);
    assert_non_null(strstr(e.msg, "batch_size 4 fits, and accumulate 4"));       /* of 8, two sums of gradients are too much */
    struct train_job told = s;
    told.batch_size = 4;
    told.accumulate = 4;
    (void)model_in(a, &told, LITTLE, ERR_OK, &e);
    s.recompute = TRAIN_RECOMPUTE_AUTO;
    struct str more = model_in(a, &s, 0, ERR_OK, &e);
    assert_null(strstr(said, "(recomputing)"));
    struct str less = model_in(a, &s, LITTLE, ERR_OK, &e);
    assert_non_null(strstr(said, "(recomputing)"));
    (void)model_in(a, &s, LEAST, ERR_LIMIT, &e);
    assert_non_null(strstr(e.msg, "with one row, too"));
    s.recompute = TRAIN_RECOMPUTE_ON;
    struct str on = model_in(a, &s, 0, ERR_OK, &e);
    assert_non_null(strstr(said, "(recomputing)"));
    assert_true(str_eq(off, more) && str_eq(off, less) && str_eq(off, on));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_gpt2), cmocka_unit_test(test_llama),
                                        cmocka_unit_test(test_recompute) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
