/* SPDX-License-Identifier: Apache-2.0 */
/* job_text.c - one call for text in the serving child: read on the loop thread, made by the engine's thread, which also writes
 * it.
 *
 * A stream begins with its first piece, so what is refused before is an answer with a status. Each token is an event, and the
 * last event has why it ended. A reader that falls behind loses its stream and its slot, nobody else anything. */
#include "workers/lease/text_read_int.h"
#include "workers/lease/type_serve_int.h"

#include <stdio.h>
#include "core/base/cleanup.h"
#include "core/crypto/rand.h"
#include "core/http/sse.h"
#include "core/json/encode.h"
#include "core/wire/infer_wire.h"
#include "core/wire/type_serve.h"

enum { TEXT_MAX = 8 << 20, REPLY_MAX = 32 << 20, SHOWN_OF_BYTE = 3, ESCAPED_OF_BYTE = 6 };     /* U+FFFD; \u0001 */
_Static_assert(SERVE_CONTEXT_MAX * BPE_WORD_MAX * SHOWN_OF_BYTE <= TEXT_MAX, "a text of any tokens is whole");
_Static_assert(SERVE_CONTEXT_MAX * BPE_WORD_MAX * ESCAPED_OF_BYTE <= REPLY_MAX / 2, "and its answer, too");
static const size_t STREAM_BUFFER = (size_t)256 << 10;

struct making {
    struct text_call call;
    struct job_serve *serve;
    struct http_exchange *x;
    bool is_stream, has_begun, is_lost;         /* is_lost: nobody can read what follows */
    struct text_out out;                        /* this and below: of models with a vocabulary */
    struct buf text, piece;                     /* text: all of an answer that is no stream */
    int64_t *ids;                               /* of models without one */
};

static void reply_text(const struct making *m, struct str text, const int64_t *ids, size_t count, const char *reason,
                       struct buf *to)
{
    char version[24];
    const struct text_request *r = &m->call.request;
    snprintf(version, sizeof version, "%ld", (long)m->serve->version);
    struct text_reply reply = { .model_name = m->serve->name, .model_version = str_c(version), .id = m->call.id };
    reply.has_text_output = m->serve->info->vocabulary != NULL;
    reply.text_output = text.ptr ? text : STR("");
    reply.has_output_ids = !reply.has_text_output;
    reply.output_ids = (struct slice){ (void *)(uintptr_t)ids, count };
    if (reason) {
        reply.finish_reason = str_c(reason);
        reply.has_prompt_tokens = reply.has_generated_tokens = true;
        reply.prompt_tokens = (int64_t)r->prompt_count;
        reply.generated_tokens = (int64_t)r->made;
        reply.has_seed = r->how.temperature > 0;
        reply.seed = (int64_t)m->call.seed;
    }
    json_encode(&text_reply_schema, &reply, to);
}

/* One event; the stream begins with the first. */
static void write_event(struct making *m, struct str json)
{
    CLEANUP(buf_releasep) struct buf b = BUF(STREAM_BUFFER);
    if (!m->has_begun) {
        const struct http_header h[] = { { STR("Cache-Control"), STR("no-store") } };
        m->has_begun = true;
        m->is_lost = http_stream_begin(m->x, 200, STR("text/event-stream"), h, 1, STREAM_BUFFER) != ERR_OK;
    }
    if (!m->is_lost)
        m->is_lost = !sse_write_event(&b, STR_NULL, STR_NULL, json) || !http_stream_write(m->x, b.ptr, b.len);
}

static void write_piece(struct making *m, struct str text, const int64_t *ids, size_t count, const char *reason)
{
    CLEANUP(buf_releasep) struct buf json = BUF(STREAM_BUFFER);
    reply_text(m, text, ids, count, reason, &json);
    write_event(m, buf_str(&json));
}

static void write_error(struct making *m, const char *why)
{
    CLEANUP(buf_releasep) struct buf json = BUF(4096);
    json_encode(&infer_error_schema, &(struct infer_error){ str_c(why) }, &json);
    write_event(m, buf_str(&json));
}

static bool on_token(struct text_request *r, int32_t token)
{
    struct making *m = r->ctx;
    const struct bpe *v = m->serve->info->vocabulary;
    struct err e;
    if (!v) {
        m->ids[r->made - 1] = token;
        if (m->is_stream)
            write_piece(m, STR_NULL, &m->ids[r->made - 1], 1, NULL);
        return true;
    }
    CLEANUP(buf_releasep) struct buf bytes = BUF(BPE_WORD_MAX);
    struct buf *to = m->is_stream ? &m->piece : &m->text;
    if (bpe_decode(v, (uint32_t)token, &bytes, &e) != ERR_OK)       /* cannot be: the engine's tokens are the vocabulary's */
        return false;
    bool goes_on = text_out_add(&m->out, buf_str(&bytes), to);
    if (m->is_stream) {
        write_piece(m, buf_str(&m->piece), NULL, 0, NULL);
        buf_clear(&m->piece);
    }
    return goes_on;
}

static bool is_gone(struct text_request *r)
{
    struct making *m = r->ctx;
    return m->is_lost || (m->has_begun ? http_stream_gone(m->x) : http_exchange_gone(m->x));
}

static void refuse(struct http_exchange *x, enum errc rc)
{
    if (rc == ERR_RATE)
        return serve_fail(x, 429, "the model has as many texts waiting as it may; try again");
    if (rc == ERR_DEADLINE)
        return serve_fail(x, 503, INFER_TOO_LATE);
    serve_fail(x, err_row(rc)->http, err_row(rc)->title);
}

static void release(struct making *m)
{
    text_out_release(&m->out);
    buf_release(&m->text);
    buf_release(&m->piece);
}

/* The last of m: it lies in the exchange's arena. */
static void answer(struct making *m, const char *reason)
{
    const struct text_request *r = &m->call.request;
    struct buf b = BUF(REPLY_MAX);
    char counts[64];
    reply_text(m, buf_str(&m->text), m->ids, m->serve->info->vocabulary ? 0 : r->made, reason, &b);
    snprintf(counts, sizeof counts, "%zu %ld", r->made, (long)r->first_us);
    const struct http_header h[] = { { STR(TEXT_COUNTS), str_c(counts) } };
    struct http_exchange *x = m->x;
    release(m);
    http_reply_buf(x, 200, STR("application/json"), h, 1, &b);
}

static void on_done(struct text_request *r, enum errc rc, enum text_end why)
{
    struct making *m = r->ctx;
    const char *reason = why == TEXT_STOP ? "stop" : "length";
    text_out_end(&m->out, m->is_stream ? &m->piece : &m->text);
    if (rc == ERR_OK && m->is_stream)
        write_piece(m, buf_str(&m->piece), NULL, 0, reason);
    else if (rc != ERR_OK && m->has_begun)
        write_error(m, "the model has ended");
    if (rc == ERR_OK && !m->is_stream)
        return answer(m, reason);
    bool has_begun = m->has_begun;
    struct http_exchange *x = m->x;
    release(m);
    if (has_begun)
        http_stream_end(x);
    else if (rc != ERR_OK)
        refuse(x, rc);
}

void serve_text(struct job_serve *s, struct http_exchange *x, bool is_stream)
{
    const struct http_request *r = http_exchange_request(x);
    struct making *m = ARENA_NEW(r->arena, struct making);
    struct err e = { 0 };
    uint64_t random;
    if (!s->text)
        return serve_fail(x, 400, "the model makes no text; call it by infer");
    enum errc rc = rand_bytes(&random, sizeof random, &e);
    if (rc == ERR_OK)
        rc = text_read(r->arena, s->info, r->body, random, &m->call, &e);
    if (rc != ERR_OK)
        return serve_fail(x, err_row(rc)->http, e.msg);
    struct text_request *q = &m->call.request;
    m->serve = s;
    m->x = x;
    m->is_stream = is_stream;
    m->text = m->piece = BUF(TEXT_MAX);
    text_out_init(&m->out, m->call.stops, m->call.stop_count);
    size_t most = q->max_tokens < s->info->max_context ? q->max_tokens : s->info->max_context;
    m->ids = s->info->vocabulary ? NULL : ARENA_ARRAY(r->arena, int64_t, most);
    q->in.caller = str_hash(http_header_get(r, INFER_CALLER));
    q->on_token = on_token;
    q->is_gone = is_gone;
    q->done = on_done;
    q->ctx = m;
    rc = text_engine_submit(s->text, q, &e);
    if (rc == ERR_OK)
        return;
    release(m);
    if (rc == ERR_RATE || rc == ERR_INVALID)
        serve_fail(x, err_row(rc)->http, e.msg);
    else
        refuse(x, rc);
}
