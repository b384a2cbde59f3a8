/* SPDX-License-Identifier: Apache-2.0 */
/* generate.c - text from a served model: Triton's generate extension beside inference.c's routes.
 *
 * An answer is one body, or a stream of events that goes on as the model makes it: no handler thread is held, a reader who falls
 * behind by MODEL_STREAM_BUFFER is cut off, and one who leaves ends the model's work. What is counted of a stream is what passed:
 * its events, when the first came and how far apart the others. The worker checks the request.
 * Source: Triton Inference Server, protocol/extension_generate. */
#include "api/model_call.h"
#include "api/api.h"
#include "core/table/metrics.h"
#include "core/base/cleanup.h"
#include "core/wire/infer_wire.h"
#include "serving/infer_stats.h"
#include "serving/serving.h"

#include <string.h>

/* What passed of a text; in the request's arena. */
struct seen {
    struct infer_text text;
    int64_t last_us;                    /* clock_mono_us; 0: nothing yet */
    int64_t events;                     /* in a stream; the last one is no token's */
    bool is_half;                       /* the piece before ended in the first of two newlines */
};

static int64_t count_events(struct seen *s, const char *p, size_t n)
{
    int64_t events = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_end = p[i] == '\n' && s->is_half;
        events += is_end;
        s->is_half = p[i] == '\n' && !is_end;
    }
    return events;
}

static void on_piece(struct call *c, const char *p, size_t n)
{
    struct seen *s = ((struct model_call *)c->own)->own;
    int64_t now_us = clock_mono_us(&clock_system), events = count_events(s, p, n);
    if (!events)
        return;
    if (!s->last_us) {
        s->text.first_us = now_us - c->started_mono_us;
        metrics_observe(M_text_first_token_seconds, (double)s->text.first_us / 1e6);
    } else {
        s->text.gaps[infer_class((now_us - s->last_us) / events)] += (uint32_t)events;
        for (int64_t i = 0; i < events; i++)
            metrics_observe(M_text_token_gap_seconds, (double)(now_us - s->last_us) / (double)events / 1e6);
    }
    s->last_us = now_us;
    s->events += events;
}

/* "tokens microseconds" of an answer that is no stream. */
static void count_answer(struct call *c)
{
    struct model_call *q = c->own;
    const struct http_result *r = &q->result;
    struct str made, first;
    int64_t tokens, first_us;
    if (!str_cut(http_result_header(r, TEXT_COUNTS), ' ', &made, &first) || !str_to_i64(made, 0, INT32_MAX, &tokens)
        || !str_to_i64(first, 0, INT64_MAX, &first_us))
        return;
    struct infer_text *text = ARENA_NEW(c->work.arena, struct infer_text);
    text->tokens = tokens;
    text->first_us = first_us;
    q->text = text;
    metrics_add(M_text_tokens_total, (double)tokens);
    if (tokens)
        metrics_observe(M_text_first_token_seconds, (double)first_us / 1e6);
}

static enum errc generate(struct call *c, struct err *e)
{
    const struct model_call how = { .method = "POST", .path = "/generate", .body = c->body, .timeout_ms = SERVING_TEXT_MS };
    bool waits;
    enum errc rc = model_call_ask(c, &how, &waits, e);
    if (waits)
        return ERR_OK;
    const struct model_call *q = c->own;
    if (rc == ERR_OK)
        rc = model_call_judge(&q->result, e);
    if (rc == ERR_OK && q->result.status == 200)
        count_answer(c);
    model_call_account(c, rc);
    if (rc != ERR_OK)
        return rc;
    model_call_pass_on(c, &q->result);
    return ERR_OK;
}

static enum errc generate_stream(struct call *c, struct err *e)
{
    struct model_call how = { .method = "POST", .path = "/generate_stream", .body = c->body, .timeout_ms = SERVING_TEXT_MS,
                              .is_stream = true, .on_piece = on_piece };
    bool waits;
    if (!c->own)
        how.own = ARENA_NEW(c->work.arena, struct seen);
    enum errc rc = model_call_ask(c, &how, &waits, e);
    if (waits)
        return ERR_OK;
    struct model_call *q = c->own;
    struct seen *s = q->own;
    if (rc == ERR_OK && !q->has_begun)
        rc = model_call_judge(&q->result, e);
    s->text.tokens = s->events > 0 ? s->events - 1 : 0;
    q->text = &s->text;
    model_call_account(c, rc);
    if (!q->has_begun) {
        if (rc == ERR_OK)
            model_call_pass_on(c, &q->result);
        return rc;
    }
    metrics_add(M_text_tokens_total, (double)s->text.tokens);
    struct http_exchange *x = c->exchange;
    principal_unref(TAKE(c->principal));
    if (rc == ERR_OK)
        http_stream_end(x);             /* c is gone from here on */
    else
        http_stream_abort(x);
    return ERR_OK;
}

#define TEXT_ROW                                                                                                                 \
    .method = HTTP_POST, .lane = LANE_CALLS, .perm = PERM_INFER, .body = &text_ask_schema, .status = 200,                        \
    .content_type = "application/json", .out = &text_reply_schema, .flags = R_UPLOAD | R_OIP, .rate = RL_NONE,                   \
    .audit = AUDIT_INFERENCE
static const struct route rows[] = {
    { TEXT_ROW, .path = "/v2/models/{name}/generate", .op = "oip_generate", .raw = generate, .in = &infer_ref_schema,
      .doc = "Text from a decoder. Audited as inference is" },
    { TEXT_ROW, .path = "/v2/models/{name}/versions/{version}/generate", .op = "oip_generate_version", .raw = generate,
      .in = &infer_version_ref_schema,
      .doc = "Text from a decoder, if the deployment serves that version" },
    { TEXT_ROW, .path = "/v2/models/{name}/generate_stream", .op = "oip_generate_stream", .raw = generate_stream,
      .in = &infer_ref_schema, .also = "text/event-stream",
      .doc = "Text from a decoder as it is made: server-sent events, each with the next piece, the last with finish_reason" },
    { TEXT_ROW, .path = "/v2/models/{name}/versions/{version}/generate_stream", .op = "oip_generate_stream_version",
      .raw = generate_stream, .in = &infer_version_ref_schema, .also = "text/event-stream",
      .doc = "The same, if the deployment serves that version" },
};
extern const struct route_table generate_routes;
ROUTE_TABLE(generate_routes, rows);
