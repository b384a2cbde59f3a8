/* SPDX-License-Identifier: Apache-2.0 */
/* job_infer.c - one request of the Open Inference Protocol, version 2, in the serving child: read on the loop thread, computed by
 * the batcher, answered from there. A decoder's rows are prompts of which every score is asked, computed among the texts
 * (text_engine.h). All memory of a request is its exchange's arena. */
#include "workers/lease/infer_read_int.h"
#include "workers/lease/type_serve_int.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "core/wire/infer_wire.h"

static const size_t REPLY_MAX = (size_t)512 << 20;

struct inference {
    struct infer_request request;
    struct infer_call call;
    struct http_exchange *x;
    struct text_request *scorings;      /* of a decoder: one for each row */
    _Atomic size_t left;
    _Atomic int rc;                     /* enum errc: the first of them that was no success */
    size_t context, vocab;
};

/* Full: the caller may come again. Late: it waited for longer than it may. */
static void refuse(struct http_exchange *x, enum errc rc)
{
    if (rc == ERR_RATE)
        return serve_fail(x, 429, "the model has as many requests waiting as it may; try again");
    if (rc == ERR_DEADLINE)
        return serve_fail(x, 503, INFER_TOO_LATE);
    serve_fail(x, err_row(rc)->http, err_row(rc)->title);
}

static void print_timing(const struct infer_request *r, char *out, size_t n)
{
    int64_t queue_us = r->taken_us - r->arrived_us, compute_us = clock_mono_us(&clock_system) - r->taken_us;
    snprintf(out, n, "queue;dur=%ld.%03ld, compute;dur=%ld.%03ld, rows;dur=%zu", (long)(queue_us / 1000), (long)(queue_us % 1000),
             (long)(compute_us / 1000), (long)(compute_us % 1000), r->batch_rows);
}

static void on_done(struct infer_request *r, enum errc rc)
{
    struct inference *i = r->ctx;
    struct buf b = BUF(REPLY_MAX);
    struct err e;
    size_t json;
    char length[24], timing[96];
    struct http_header h[2];
    size_t n = 0;
    if ((rc == ERR_UNPROCESSABLE || rc == ERR_DEADLINE) && *r->why)
        return serve_fail(i->x, err_row(rc)->http, r->why);
    if (rc != ERR_OK)
        return refuse(i->x, rc);
    if (infer_answer(&i->call, &b, &json, &e) != ERR_OK) {
        buf_release(&b);
        return serve_fail(i->x, 413, e.msg);
    }
    snprintf(length, sizeof length, "%zu", json);
    if (json)
        h[n++] = (struct http_header){ STR(INFER_JSON_LENGTH), str_c(length) };
    if (r->taken_us && http_header_get(http_exchange_request(i->x), "Traceparent").ptr) {
        print_timing(r, timing, sizeof timing);
        h[n++] = (struct http_header){ STR(INFER_TIMING), str_c(timing) };
    }
    http_reply_buf(i->x, 200, json ? STR("application/octet-stream") : STR("application/json"), h, n, &b);
}

static void on_scores(struct text_request *r, size_t at, const float *logits)
{
    struct inference *i = r->ctx;
    size_t row = (size_t)(r - i->scorings) * i->context + at, best = 0;
    if (i->call.io.out[0])
        memcpy((float *)i->call.io.out[0] + row * i->vocab, logits, i->vocab * sizeof *logits);
    for (size_t k = 1; k < i->vocab; k++)
        best = logits[k] > logits[best] ? k : best;
    if (i->call.io.out[1])
        ((int32_t *)i->call.io.out[1])[row] = (int32_t)best;
}

static bool no_token(struct text_request *r, int32_t token)
{
    (void)r, (void)token;
    return false;
}

/* The last of the rows answers. */
static void on_scored(struct text_request *r, enum errc rc, enum text_end why)
{
    struct inference *i = r->ctx;
    (void)why;
    int none = ERR_OK;
    if (rc != ERR_OK)
        atomic_compare_exchange_strong(&i->rc, &none, (int)rc);
    if (atomic_fetch_sub(&i->left, 1) == 1)
        on_done(&i->request, (enum errc)atomic_load(&i->rc));
}

static bool is_left(struct text_request *r)
{
    return http_exchange_gone(((struct inference *)r->ctx)->x);
}

/* Each row is held by `left` until it has been handed over, so none answers before all have been. */
static void score(struct job_serve *s, struct inference *i)
{
    struct arena *a = i->call.arena;
    struct err e = { 0 };
    enum errc rc = ERR_OK;
    size_t n = i->call.rows, given = 0;
    i->context = (size_t)i->call.sig->inputs[0].dim[1];
    i->vocab = s->info->vocab;
    i->scorings = ARENA_ARRAY(a, struct text_request, n);
    i->left = n + 1;
    for (; given < n && rc == ERR_OK; given += rc == ERR_OK) {
        struct text_request *r = &i->scorings[given];
        *r = (struct text_request){ .in = i->request, .prompt = (const int32_t *)i->call.io.in[0] + given * i->context,
                                    .prompt_count = i->context, .on_token = no_token, .is_gone = is_left, .on_scores = on_scores,
                                    .done = on_scored, .ctx = i };
        rc = text_engine_submit(s->text, r, &e);
    }
    if (rc != ERR_OK)
        atomic_fetch_sub(&i->left, n - given);
    struct text_request none = { .ctx = i };
    on_scored(&none, rc, TEXT_LENGTH);
}

void serve_infer(struct job_serve *s, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    struct inference *i = ARENA_NEW(r->arena, struct inference);
    struct err e = { 0 };
    i->x = x;
    i->call = (struct infer_call){ .model = s->model, .sig = &infer_model_info(s->model)->sig, .arena = r->arena, .name = s->name,
                                   .version = s->version };
    enum errc rc = infer_read(&i->call, http_header_get(r, INFER_JSON_LENGTH), r->body, &e);
    if (rc != ERR_OK)
        return serve_fail(x, err_row(rc)->http, e.msg);
    i->request = (struct infer_request){ .io = i->call.io, .rows = i->call.rows, .timeout_us = i->call.timeout_us,
                                         .priority = i->call.priority, .ctx = i,
                                         .caller = str_hash(http_header_get(r, INFER_CALLER)), .done = on_done };
    if (s->text) {
        score(s, i);
        return;
    }
    rc = batcher_submit(s->batcher, &i->request, &e);
    if (rc != ERR_OK)
        refuse(x, rc);
}
