/* SPDX-License-Identifier: Apache-2.0 */
/* text_read.c - a call for text: its JSON, its prompt as tokens, its parameters.
 *
 * A parameter that is not known is refused by name: a misspelt limit must not be no limit. */
#include "workers/lease/text_read_int.h"
#include "core/base/cleanup.h"
#include "core/wire/infer_wire.h"

#include <math.h>
#include <string.h>

#define BAD(...) FAIL(e, INVALID, __VA_ARGS__)

enum { ID_MAX = 255 };
static const double TEMPERATURE_MAX = 100;

struct reader {
    struct arena *arena;
    const struct text_info *info;
    struct text_call *call;
};

static enum errc read_ids(struct reader *r, const struct jval *list, const char *place, size_t most, const int32_t **ret,
                          size_t *ret_count, struct err *e)
{
    size_t n = jval_len(list);
    if (jval_type(list) != JT_ARRAY || n > most)
        return BAD("%s: a list of at most %zu tokens is expected", place, most);
    int32_t *ids = ARENA_ARRAY(r->arena, int32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        int64_t v = jval_type(jval_at(list, i)) == JT_INT ? jval_i64(jval_at(list, i), -1) : -1;
        if (v < 0 || (uint64_t)v >= r->info->vocab)
            return BAD("%s: item %zu is no token: a whole number below %zu", place, i, r->info->vocab);
        ids[i] = (int32_t)v;
    }
    *ret = ids;
    *ret_count = n;
    return ERR_OK;
}

static enum errc encode(struct reader *r, struct str text, struct err *e)
{
    const struct text_info *i = r->info;
    struct text_request *q = &r->call->request;
    CLEANUP(buf_releasep) struct buf b = BUF(2 * i->max_context);
    if (!bpe_encode(i->vocabulary, text, &b))
        return BAD("text_input: it has more than the %zu tokens that the model has room for", i->max_context);
    int32_t *ids = ARENA_ARRAY(r->arena, int32_t, b.len / 2 + 1);
    for (size_t k = 0; k < b.len; k += 2)
        ids[q->prompt_count++] = (unsigned char)b.ptr[k] | (unsigned char)b.ptr[k + 1] << 8;
    if (!q->prompt_count)                       /* nothing said: as after the end of a document */
        ids[q->prompt_count++] = (int32_t)bpe_end(i->vocabulary);
    q->prompt = ids;
    return ERR_OK;
}

static enum errc read_prompt(struct reader *r, const struct jval *doc, struct err *e)
{
    const struct jval *text = jval_get(doc, "text_input"), *ids = jval_get(doc, "input_ids");
    struct text_request *q = &r->call->request;
    if (!text == !ids)
        return BAD("text_input or input_ids is expected, one of the two");
    if (text && !r->info->vocabulary)
        return BAD("text_input: the model came without its vocabulary; it takes input_ids, tokens below %zu", r->info->vocab);
    if (text && jval_type(text) != JT_STR)
        return BAD("text_input: a text is expected");
    if (text)
        return encode(r, jval_str(text), e);
    TRY(read_ids(r, ids, "input_ids", r->info->max_context, &q->prompt, &q->prompt_count, e));
    return q->prompt_count ? ERR_OK : BAD("input_ids: at least one token is expected");
}

static enum errc read_stop(struct reader *r, const struct jval *v, struct err *e)
{
    struct text_call *c = r->call;
    bool is_one = jval_type(v) == JT_STR;
    size_t n = is_one ? 1 : jval_len(v);
    if ((!is_one && jval_type(v) != JT_ARRAY) || n > TEXT_STOPS_MAX)
        return BAD("parameters.stop: a text or a list of at most %d is expected", TEXT_STOPS_MAX);
    if (!r->info->vocabulary)
        return BAD("parameters.stop: the model came without its vocabulary; it takes stop_tokens");
    for (size_t i = 0; i < n; i++) {
        struct str s = jval_str(is_one ? v : jval_at(v, i));
        if (s.len < 1 || s.len > TEXT_STOP_BYTES_MAX)
            return BAD("parameters.stop: each is a text of 1 to %d bytes", TEXT_STOP_BYTES_MAX);
        c->stops[c->stop_count++] = s;
    }
    return ERR_OK;
}

static enum errc read_real(const struct jval *v, const char *name, double min, double max, bool is_open, double *ret,
                           struct err *e)
{
    enum jtype type = jval_type(v);
    double n = jval_f64(v, -1);
    if ((type != JT_INT && type != JT_REAL) || !(is_open ? n > min : n >= min) || !(n <= max))
        return BAD("parameters.%s: a number %s %g up to %g is expected", name, is_open ? "above" : "from", min, max);
    *ret = n;
    return ERR_OK;
}

static enum errc read_whole(const struct jval *v, const char *name, int64_t min, int64_t max, int64_t *ret, struct err *e)
{
    int64_t n = jval_type(v) == JT_INT ? jval_i64(v, -1) : -1;
    if (n < min || n > max)
        return BAD("parameters.%s: a whole number of %ld to %ld is expected", name, (long)min, (long)max);
    *ret = n;
    return ERR_OK;
}

/* The end of a document is always one. */
static enum errc read_stop_tokens(struct reader *r, const struct jval *list, struct err *e)
{
    struct text_request *q = &r->call->request;
    const int32_t *given = NULL;
    size_t n = 0;
    if (list)
        TRY(read_ids(r, list, "parameters.stop_tokens", TEXT_STOP_TOKENS_MAX, &given, &n, e));
    int32_t *all = ARENA_ARRAY(r->arena, int32_t, n + 1);
    if (n)
        memcpy(all, given, n * sizeof *all);
    if (r->info->vocabulary)
        all[n++] = (int32_t)bpe_end(r->info->vocabulary);
    q->stops = all;
    q->stop_count = n;
    return ERR_OK;
}

static enum errc check_names(const struct jval *p, struct err *e)
{
    static const char *const known[] = { "max_tokens", "temperature", "top_k", "top_p", "seed", "stop", "stop_tokens", "timeout",
                                         "priority", "stream", NULL };
    for (struct jval_iter it = jval_iter(p); jval_next(&it);) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], it.name))
            i++;
        if (!known[i])
            return BAD(
                "parameters: \"%.40s\" is not known; max_tokens, temperature, top_k, top_p, seed, stop, stop_tokens, timeout, "
                "priority and stream are",
                it.name);
    }
    return ERR_OK;
}

static enum errc read_parameters(struct reader *r, const struct jval *p, uint64_t random, struct err *e)
{
    struct text_request *q = &r->call->request;
    size_t left = r->info->max_context > q->prompt_count ? r->info->max_context - q->prompt_count : 0;
    int64_t max_tokens = left && left < TEXT_TOKENS_USUAL ? (int64_t)left : TEXT_TOKENS_USUAL;
    int64_t seed = (int64_t)(random >> 11);         /* a number that JSON's readers keep whole */
    q->how = (struct sample_how){ .top_p = 1 };
    if (p && jval_type(p) != JT_OBJECT)
        return BAD("parameters: an object is expected");
    TRY(check_names(p, e));
    if (jval_get(p, "max_tokens"))
        TRY(read_whole(jval_get(p, "max_tokens"), "max_tokens", 1, INT32_MAX, &max_tokens, e));
    if (jval_get(p, "temperature"))
        TRY(read_real(jval_get(p, "temperature"), "temperature", 0, TEMPERATURE_MAX, false, &q->how.temperature, e));
    if (jval_get(p, "top_k"))
        TRY(read_whole(jval_get(p, "top_k"), "top_k", 0, INT32_MAX, &q->how.top_k, e));
    if (jval_get(p, "top_p"))
        TRY(read_real(jval_get(p, "top_p"), "top_p", 0, 1, true, &q->how.top_p, e));
    if (jval_get(p, "seed"))
        TRY(read_whole(jval_get(p, "seed"), "seed", 0, INT64_MAX, &seed, e));
    if (jval_get(p, "timeout"))
        TRY(read_whole(jval_get(p, "timeout"), "timeout", 0, INT64_MAX, &q->in.timeout_us, e));
    if (jval_get(p, "priority"))
        TRY(read_whole(jval_get(p, "priority"), "priority", 0, QUEUE_PRIORITY_MAX, &q->in.priority, e));
    if (jval_get(p, "stop"))
        TRY(read_stop(r, jval_get(p, "stop"), e));
    TRY(read_stop_tokens(r, jval_get(p, "stop_tokens"), e));
    q->max_tokens = (size_t)max_tokens;
    q->how.seed = r->call->seed = (uint64_t)seed;
    return ERR_OK;
}

enum errc text_read(struct arena *a, const struct text_info *info, struct str body, uint64_t random, struct text_call *ret,
                    struct err *e)
{
    const struct jval *doc;
    struct reader r = { a, info, ret };
    *ret = (struct text_call){ .stop_count = 0 };
    TRY(jval_parse(a, body, 0, &doc, e));
    if (jval_type(doc) != JT_OBJECT)
        return BAD("an object with text_input is expected");
    if (jval_get(doc, "id") && (jval_type(jval_get(doc, "id")) != JT_STR || jval_str(jval_get(doc, "id")).len > ID_MAX))
        return BAD("id: a text of at most %d bytes is expected", ID_MAX);      /* each event of a stream has it */
    ret->id = jval_str(jval_get(doc, "id"));
    TRY(read_prompt(&r, doc, e));
    return read_parameters(&r, jval_get(doc, "parameters"), random, e);
}
