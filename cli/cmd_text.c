/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_text.c - `falaj generate`: text from a deployed decoder, whole or as it is made. */
#include "cli/client.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/data/safetensors.h"
#include "core/http/sse.h"
#include "core/json/encode.h"
#include "core/wire/infer_wire.h"

enum { PROMPT_MAX = 1 << 20, BODY_MAX = 8 << 20, EVENT_MAX = 1 << 16, WAIT_MS = 600000, IDLE_MS = 120000, IDS_MAX = 16384 };

/* What flag gives as a parameter of that name, if it is given; a number is checked where the model is. */
static void add_number(struct cli *c, struct buf *b, const char *flag, const char *name)
{
    const char *value = cli_flag(c, flag);
    if (value)
        buf_printf(b, "%s\"%s\":%s", b->len > 1 ? "," : "", name, value);
}

static bool are_numbers(struct cli *c)
{
    static const char *const flags[] = { "max-tokens", "temperature", "top-k", "top-p", "seed", NULL };
    for (int i = 0; flags[i]; i++) {
        double v;
        const char *value = cli_flag(c, flags[i]);
        if (value && !str_to_f64(str_c(value), &v)) {
            cli_fail(c, CLI_USAGE, NULL, "--%s: \"%s\" is no number", flags[i], value);
            return false;
        }
    }
    return true;
}

static int read_ids(struct cli *c, struct str text, struct slice *ret)
{
    int64_t *ids = ARENA_ARRAY(c->arena, int64_t, IDS_MAX);
    struct str one;
    size_t n = 0;
    for (bool more = true; more;) {
        more = str_cut(text, ',', &one, &text);
        if (n == IDS_MAX || !str_to_i64(str_trim(one), 0, 1 << 20, &ids[n++]))
            return cli_fail(c, CLI_USAGE, "falaj generate NAME --tokens 12,7,300",
                            "--tokens are up to %d numbers with commas between", IDS_MAX);
    }
    *ret = (struct slice){ ids, n };
    return CLI_OK;
}

static int write_body(struct cli *c, struct str *ret)
{
    CLEANUP(buf_releasep) struct buf p = BUF(BODY_MAX), b = BUF(BODY_MAX);
    struct text_ask ask = { .id = STR_NULL };
    struct err e = { 0 };
    const char *tokens = cli_flag(c, "tokens"), *stop = cli_flag(c, "stop");
    if (!tokens == (c->nargs < 2))
        return cli_fail(c, CLI_USAGE, "falaj generate NAME PROMPT, or falaj generate NAME --tokens N,N,…",
                        "a prompt is PROMPT or --tokens");
    if (!are_numbers(c))
        return CLI_USAGE;
    if (c->nargs > 1) {
        ask.has_text_input = true;
        ask.text_input = str_c(c->args[1]);
        if (str_eq_c(ask.text_input, "-") && cli_read_file(c->arena, "-", PROMPT_MAX, &ask.text_input, &e) != ERR_OK)
            return cli_fail_err(c, &e, NULL);
    }
    ask.has_input_ids = tokens != NULL;
    int rc = tokens ? read_ids(c, str_c(tokens), &ask.input_ids) : CLI_OK;
    if (rc != CLI_OK)
        return rc;
    buf_add_char(&p, '{');
    add_number(c, &p, "max-tokens", "max_tokens");
    add_number(c, &p, "temperature", "temperature");
    add_number(c, &p, "top-k", "top_k");
    add_number(c, &p, "top-p", "top_p");
    add_number(c, &p, "seed", "seed");
    if (stop) {
        const struct str list[] = { str_c(stop) };
        buf_printf(&p, "%s\"stop\":", p.len > 1 ? "," : "");
        st_write_strings(&p, list, 1);
    }
    buf_add_char(&p, '}');
    ask.parameters.text = buf_str(&p);
    json_encode(&text_ask_schema, &ask, &b);
    *ret = str_dup(c->arena, buf_str(&b));
    return CLI_OK;
}

/* Text, or the numbers of a model without a vocabulary. */
static void show(struct cli *c, const struct jval *reply)
{
    struct str text = jval_str(jval_get(reply, "text_output"));
    const struct jval *ids = jval_get(reply, "output_ids");
    fprintf(c->out, "%.*s", (int)text.len, text.ptr ? text.ptr : "");
    for (size_t i = 0; i < jval_len(ids); i++)
        fprintf(c->out, "%ld ", (long)jval_i64(jval_at(ids, i), 0));
    fflush(c->out);
}

struct shown {
    struct cli *c;
    struct sse_parser *parser;
    bool has_ended;
    char error[200];
};

static bool on_event(void *ctx, const struct sse_event *ev)
{
    struct shown *s = ctx;
    const struct jval *reply;
    struct err e = { 0 };
    struct arena *a = arena_new(EVENT_MAX * 16);
    if (jval_parse(a, ev->data, 0, &reply, &e) == ERR_OK) {
        struct str error = jval_str(jval_get(reply, "error"));
        snprintf(s->error, sizeof s->error, "%.*s", (int)error.len, error.ptr ? error.ptr : "");
        s->has_ended = s->has_ended || jval_get(reply, "finish_reason");
        show(s->c, reply);
    }
    arena_free(a);
    return !ferror(s->c->out);
}

static bool on_bytes(void *ctx, const char *p, size_t n)
{
    struct shown *s = ctx;
    struct err e;
    bool stopped = false;
    return sse_parser_feed(s->parser, p, n, &stopped, &e) == ERR_OK && !stopped;
}

static bool reader_is_gone(void *ctx)
{
    return cli_reader_is_gone(ctx);
}

static int stream(struct cli *c, struct api_req *q)
{
    struct shown s = { .c = c };
    struct api_reply r;
    q->accept = "text/event-stream";
    q->on_data = on_bytes;
    q->ctx = &s;
    q->idle_timeout_ms = IDLE_MS;
    q->is_unwanted = reader_is_gone;
    q->unwanted_ctx = c;
    s.parser = sse_parser_new(EVENT_MAX, on_event, &s);
    int rc = api_do(c, q, &r);
    sse_parser_free(s.parser);
    if (rc == CLI_OK)
        fprintf(c->out, "\n");
    if (rc == CLI_OK && !s.has_ended)
        return cli_fail(c, CLI_FAILED, NULL, "the text was cut off%s%s", s.error[0] ? ": " : "", s.error);
    return rc;
}

int cmd_generate(struct cli *c)
{
    const char *path = arena_printf(c->arena, "/v2/models/%s", api_escape(c->arena, c->args[0]));
    struct api_req q = { .method = "POST", .timeout_ms = WAIT_MS, .is_once = true };
    struct api_reply r;
    int rc = write_body(c, &q.body);
    if (rc != CLI_OK)
        return rc;
    bool is_plain = c->format == OUT_TABLE || c->format == OUT_WIDE;
    q.path = arena_printf(c->arena, cli_has(c, "stream") && is_plain ? "%s/generate_stream" : "%s/generate", path);
    if (cli_has(c, "stream") && is_plain)
        return stream(c, &q);
    rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    if (!is_plain) {
        output_object(c, r.json, r.body, "model_name:MODEL");
        return CLI_OK;
    }
    show(c, r.json);
    fprintf(c->out, "\n");
    return CLI_OK;
}
