/* SPDX-License-Identifier: Apache-2.0 */
/* tool_text.c - a decoder by itself: one text, or as many tokens as come in a while beside what memory can read in that time. */
#include "workers/tool/tool_text.h"
#include "core/base/clock.h"
#include "core/json/encode.h"
#include "workers/compute/pool.h"
#include "workers/compute/text/sample.h"
#include "workers/compute/text/text_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PROMPT = 16, READ_PIECES = 64 };
static const size_t READ_BYTES = (size_t)256 << 20;

struct text_line {
    struct str src, model, prec, tier;
    int64_t batch, threads, weight_bytes, cache_bytes, rss_kb, load_kb;
    double us, us_min, cpu_us, tokens_s, prompt_tokens_s, load_ms, read_gb_s, limit_gb_s;
};
SCHEMA_OF(text_line, "What a bench of text measured", FIELD(text_line, src, 0, .doc = "Who"),
          FIELD(text_line, model, 0, .doc = "Its file"), FIELD(text_line, prec, 0, .doc = "Type of the weights in memory"),
          FIELD(text_line, tier, 0, .doc = "Backend"), FIELD(text_line, batch, 0, .doc = "Texts at once"),
          FIELD(text_line, threads, 0, .doc = "Of a step"), FIELD(text_line, us, 0, .doc = "Median of a step"),
          FIELD(text_line, us_min, 0, .doc = "Best step"),
          FIELD(text_line, cpu_us, 0, .doc = "Processor time of a step, of all threads"),
          FIELD(text_line, tokens_s, 0, .doc = "Tokens per second, by the median step"),
          FIELD(text_line, prompt_tokens_s, 0, .doc = "Tokens of prompts per second"),
          FIELD(text_line, load_ms, 0, .doc = "From file to model"), FIELD(text_line, weight_bytes, 0, .doc = "In memory"),
          FIELD(text_line, cache_bytes, 0, .doc = "Planned for keys and values"),
          FIELD(text_line, load_kb, 0, .doc = "Most memory of the process until the model was there"),
          FIELD(text_line, rss_kb, 0, .doc = "Most memory of the process"),
          FIELD(text_line, read_gb_s, 0, .doc = "Weights read per second, by the median step"),
          FIELD(text_line, limit_gb_s, 0, .doc = "What the same threads read of memory when they do nothing else"));

static double now_us(void)
{
    return (double)clock_mono_us(&clock_system);
}

static double cpu_us(long *ret_kb)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    *ret_kb = u.ru_maxrss;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

bool tool_is_text(struct arena *a, const char *path, struct tool_map *ret_file, struct st_file *ret)
{
    struct err e;
    *ret_file = (struct tool_map){ NULL, 0 };
    return !str_ends(str_c(path), ".onnx") && tool_map(path, ret_file, &e) == ERR_OK
           && st_parse(a, ret_file->ptr, ret_file->len, ret, &e) == ERR_OK && text_model_is(ret);
}

static enum errc type_of(const char *name, enum decode_type *ret, struct err *e)
{
    for (int i = 0; decode_type_names[i]; i++)
        if (!strcmp(name, decode_type_names[i])) {
            *ret = (enum decode_type)i;
            return ERR_OK;
        }
    return FAIL(e, INVALID, "--type %.40s: fp32, bf16 and int8 are known for text", name);
}

/* --- one text --- */

struct prompt {
    int32_t *token;
    size_t count;
};

static enum errc read_numbers(const char *text, const struct text_info *i, struct prompt *ret, struct err *e)
{
    struct str rest = str_c(text), one;
    int64_t n;
    for (bool more = true; more;) {
        more = str_cut(rest, ',', &one, &rest);
        if (!str_to_i64(one, 0, (int64_t)i->vocab - 1, &n) || ret->count == i->max_context)
            return FAIL(e, INVALID,
                        "--prompt: the model has no vocabulary and takes up to %zu token numbers below %zu, with commas between",
                        i->max_context, i->vocab);
        ret->token[ret->count++] = (int32_t)n;
    }
    return ERR_OK;
}

static enum errc read_prompt(const char *text, const struct text_info *i, struct prompt *ret, struct err *e)
{
    if (!i->vocabulary)
        return read_numbers(text, i, ret, e);
    CLEANUP(buf_releasep) struct buf b = BUF(2 * i->max_context);
    if (!bpe_encode(i->vocabulary, str_c(text), &b))
        return FAIL(e, INVALID, "--prompt: it has more than the %zu tokens that the model has room for", i->max_context);
    for (size_t k = 0; k < b.len; k += 2)
        ret->token[ret->count++] = (unsigned char)b.ptr[k] | (unsigned char)b.ptr[k + 1] << 8;
    if (!ret->count)
        ret->token[ret->count++] = (int32_t)bpe_end(i->vocabulary);
    return ERR_OK;
}

static enum errc print_token(const struct text_info *i, int32_t token, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1024);
    if (!i->vocabulary)
        buf_printf(&b, ",%d", (int)token);
    else
        TRY(bpe_decode(i->vocabulary, (uint32_t)token, &b, e));
    fwrite(b.ptr ? b.ptr : "", 1, b.len, stdout);
    fflush(stdout);
    return ERR_OK;
}

static enum errc go_on(struct text_model *m, const struct tool_args *t, struct prompt *p, float *logits, struct sample_one *list,
                       struct err *e)
{
    const struct text_info *i = text_model_info(m);
    const struct sample_how how = { t->temperature, 0, 1, (uint64_t)t->seed };
    struct sample_room room = { list };
    for (size_t at = 0; at < p->count;) {
        struct text_row rows[DECODE_ROWS];
        size_t n = 0;
        for (; n < DECODE_ROWS && at + n < p->count; n++)
            rows[n] = (struct text_row){ 0, at + n, p->token[at + n], at + n + 1 == p->count ? logits : NULL };
        TRY(text_step(m, rows, n, e));
        at += n;
    }
    for (int64_t k = 0; k < t->max_tokens && p->count < i->max_context; k++) {
        int32_t token = sample_token(logits, i->vocab, &how, p->count, &room);
        if (i->vocabulary && (uint32_t)token == bpe_end(i->vocabulary))
            break;
        TRY(print_token(i, token, e));
        TRY(text_step(m, &(struct text_row){ 0, p->count, token, logits }, 1, e));
        p->token[p->count++] = token;
    }
    printf("\n");
    return ERR_OK;
}

static enum errc say(struct arena *a, struct text_model *m, const struct tool_args *t, struct err *e)
{
    const struct text_info *i = text_model_info(m);
    struct prompt p = { arena_try(a, (i->max_context + 1) * sizeof *p.token), 0 };
    float *logits = arena_try(a, i->vocab * sizeof *logits);
    struct sample_one *list = arena_try(a, i->vocab * sizeof *list);
    enum errc rc = p.token && logits && list ? read_prompt(t->prompt, i, &p, e) : FAIL(e, LIMIT, "no memory for a text");
    if (rc == ERR_OK)
        printf("%s", t->prompt);
    if (rc == ERR_OK)
        rc = go_on(m, t, &p, logits, list, e);
    return rc;
}

enum errc tool_text_infer(struct arena *a, const struct tool_args *t, const struct st_file *f, struct err *e)
{
    CLEANUP(pool_freep) struct pool *pool = NULL;
    const struct backend *be;
    struct text_model *m = NULL;
    enum decode_type type;
    TRY(type_of(t->type, &type, e));
    TRY(tool_backend(t, &be, &pool, e));
    TRY(text_model_load(be, pool, f, &(struct text_options){ type, 1, 0, 0, &tool_once }, &m, e));
    enum errc rc = say(a, m, t, e);
    text_model_free(m);
    return rc;
}

/* --- tokens per second --- */

struct reading {
    const uint64_t *at;
    size_t piece;                       /* numbers */
    uint64_t sum[READ_PIECES];
};

static void read_piece(void *arg, size_t task)
{
    struct reading *r = arg;
    const uint64_t *p = r->at + task * r->piece;
    uint64_t s[8] = { 0 };
    for (size_t i = 0; i + 8 <= r->piece; i += 8)
        for (size_t k = 0; k < 8; k++)
            s[k] ^= p[i + k];
    for (size_t k = 0; k < 8; k++)
        r->sum[task] ^= s[k];
}

/* The best of some goes through more than any cache holds, in GB per second. */
static double read_limit(struct arena *a, struct pool *pool)
{
    struct reading r = { arena_try(a, READ_BYTES), READ_BYTES / READ_PIECES / 8, { 0 } };
    double best = 0;
    if (!r.at)
        return 0;
    memset((void *)(uintptr_t)r.at, 1, READ_BYTES);
    for (int i = 0; i < 5; i++) {
        double from = now_us();
        pool_run(pool, READ_PIECES, read_piece, &r);
        double rate = (double)READ_BYTES / (now_us() - from) / 1e3;
        best = rate > best ? rate : best;
    }
    return best;
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static int32_t best_of(const float *logits, size_t n)
{
    struct sample_room none = { NULL };
    return sample_token(logits, n, &(struct sample_how){ 0, 0, 1, 0 }, 0, &none);
}

struct run_of_text {
    struct text_model *m;
    size_t batch;
    float *logits;
    int32_t token[TEXT_SEQUENCES_MAX];
};

/* One token for each text, at place `at`. */
static enum errc step_all(struct run_of_text *r, size_t at, struct err *e)
{
    struct text_row rows[TEXT_SEQUENCES_MAX];
    size_t vocab = text_model_info(r->m)->vocab;
    for (size_t i = 0; i < r->batch; i++)
        rows[i] = (struct text_row){ i, at, r->token[i], r->logits + i * vocab };
    TRY(text_step(r->m, rows, r->batch, e));
    for (size_t i = 0; i < r->batch; i++)
        r->token[i] = best_of(r->logits + i * vocab, vocab);
    return ERR_OK;
}

/* Prompts of PROMPT tokens all at once; *ret_us: how long they took. */
static enum errc begin_all(struct run_of_text *r, double *ret_us, struct err *e)
{
    double from = now_us();
    for (size_t i = 0; i < r->batch; i++) {
        struct text_row rows[PROMPT];
        for (size_t k = 0; k < PROMPT; k++)
            rows[k] = (struct text_row){ i, k, (int32_t)((i * 31 + k * 7) % text_model_info(r->m)->vocab), NULL };
        TRY(text_step(r->m, rows, PROMPT, e));
        r->token[i] = (int32_t)(i % text_model_info(r->m)->vocab);
    }
    *ret_us = now_us() - from;
    return ERR_OK;
}

static enum errc measure(struct arena *a, const struct tool_args *t, struct run_of_text *r, struct text_line *line, struct err *e)
{
    const struct text_info *i = text_model_info(r->m);
    size_t most = i->max_context > PROMPT ? i->max_context - PROMPT : 0, n = 0;
    double *us = ARENA_ARRAY(a, double, most + 1), prompts;
    long kb;
    if (most < 4)
        return FAIL(e, UNPROCESSABLE, "a context of %zu tokens is too short to be measured", i->max_context);
    TRY(begin_all(r, &prompts, e));
    TRY(begin_all(r, &prompts, e));     /* the first one brings its pages */
    TRY(step_all(r, PROMPT, e));
    double cpu = cpu_us(&kb), until = now_us() + t->seconds * 1e6;
    for (; n + 1 < most && (n < 3 || now_us() < until); n++) {
        double from = now_us();
        TRY(step_all(r, PROMPT + 1 + n, e));
        us[n] = now_us() - from;
    }
    line->cpu_us = (cpu_us(&kb) - cpu) / (double)n;
    qsort(us, n, sizeof *us, compare);
    line->us = us[n / 2];
    line->us_min = us[0];
    line->tokens_s = (double)r->batch * 1e6 / us[n / 2];
    line->prompt_tokens_s = (double)(r->batch * PROMPT) * 1e6 / prompts;
    line->rss_kb = kb;
    line->read_gb_s = (double)i->weight_bytes / us[n / 2] / 1e3;
    return ERR_OK;
}

static enum errc bench(struct arena *a, const struct tool_args *t, struct text_model *m, struct pool *pool,
                       struct text_line *line, struct err *e)
{
    const struct text_info *i = text_model_info(m);
    struct run_of_text r = { .m = m, .batch = (size_t)t->batch };
    r.logits = arena_try(a, r.batch * i->vocab * sizeof *r.logits);
    line->weight_bytes = (int64_t)i->weight_bytes;
    line->cache_bytes = (int64_t)i->cache_bytes;
    enum errc rc = r.logits ? measure(a, t, &r, line, e) : FAIL(e, LIMIT, "no memory for the answers");
    line->limit_gb_s = read_limit(a, pool);
    return rc;
}

enum errc tool_text_bench(struct arena *a, const struct tool_args *t, const struct st_file *f, double load_from_us, struct err *e)
{
    CLEANUP(pool_freep) struct pool *pool = NULL;
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    const struct backend *be;
    struct text_model *m = NULL;
    enum decode_type type;
    const char *slash = strrchr(t->model, '/');
    TRY(type_of(t->type, &type, e));
    TRY(tool_backend(t, &be, &pool, e));
    TRY(text_model_load(be, pool, f, &(struct text_options){ type, (size_t)t->batch, 0, 0, &tool_once }, &m, e));
    struct text_line line = { STR("falaj"), str_c(slash ? slash + 1 : t->model), str_c(t->type), str_c(be->name), t->batch,
                              t->threads, .load_ms = (now_us() - load_from_us) / 1e3, .load_kb = tool_peak_kb() };
    text_model_settle(m, NULL);
    enum errc rc = bench(a, t, m, pool, &line, e);
    text_model_free(m);
    TRY(rc);
    json_encode(&text_line_schema, &line, &b);
    printf("%s\n", b.ptr);
    return ERR_OK;
}
