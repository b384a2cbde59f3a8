/* SPDX-License-Identifier: Apache-2.0 */
/* model_trace.c - see model_trace.h. The child's clock is another machine's, so only its durations are believed. */
#include "api/model_trace.h"
#include "api/call_trace.h"
#include "core/http/otlp.h"
#include "core/wire/infer_wire.h"

const char *model_trace_ask(struct call *c, struct model_call *q)
{
    char text[TRACE_TEXT];
    if (!otlp_wants(c->work.app->otlp, &c->work.trace))
        return NULL;
    q->trace = trace_child(&c->work.trace);
    q->asked_mono_us = clock_mono_us(c->work.app->clock);
    trace_print(&q->trace, text);
    return arena_printf(c->work.arena, "Traceparent: %s", text);
}

void model_trace_answered(struct call *c, struct model_call *q)
{
    if (trace_is_set(&q->trace))
        q->answered_mono_us = clock_mono_us(c->work.app->clock);
}

/* Digits with a point of decimals, as the child prints them. */
static int64_t read_ms(struct str s)
{
    size_t n = 0;
    double ms;
    while (n < s.len && ((s.ptr[n] >= '0' && s.ptr[n] <= '9') || s.ptr[n] == '.'))
        n++;
    return str_to_f64(str_n(s.ptr, n), &ms) && ms < 1e9 ? (int64_t)(ms * 1000 + 0.5) : -1;
}

int64_t server_timing_us(struct str header, const char *metric)
{
    struct str rest = header, one;
    for (bool more = header.len > 0; more;) {
        more = str_cut(rest, ',', &one, &rest);
        one = str_trim(one);
        size_t n = strlen(metric);
        if (str_starts(one, metric) && str_starts(str_n(one.ptr + n, one.len - n), ";dur="))
            return read_ms(str_n(one.ptr + n + 5, one.len - n - 5));
    }
    return -1;
}

/* The way there and the way back are taken to be as long as each other: the child's clock is another machine's. */
static void tell_within(const struct call *c, const struct model_call *q, const struct span *ask)
{
    struct str timing = http_result_header(&q->result, INFER_TIMING);
    int64_t queue_us = server_timing_us(timing, "queue"), compute_us = server_timing_us(timing, "compute");
    int64_t way_us = ask->end_us - ask->start_us - queue_us - compute_us;
    if (q->rc != ERR_OK || queue_us < 0 || compute_us < 0)
        return;
    int64_t begin_us = ask->start_us + (way_us > 0 ? way_us / 2 : 0);
    struct span s = { .at = trace_child(&q->trace), .kind = SPAN_INTERNAL, .name = STR("model queue"), .start_us = begin_us,
                      .end_us = begin_us + queue_us, .owner = ask->owner };
    memcpy(s.parent, q->trace.span_id, sizeof s.parent);
    otlp_tell(c->work.app->otlp, &s);
    s = (struct span){ .at = trace_child(&q->trace), .kind = SPAN_INTERNAL, .name = STR("model compute"),
                       .start_us = begin_us + queue_us, .end_us = begin_us + queue_us + compute_us, .owner = ask->owner };
    memcpy(s.parent, q->trace.span_id, sizeof s.parent);
    int64_t rows = server_timing_us(timing, "rows");            /* no time, but the same form */
    if (rows >= 0)
        span_number(&s, "falaj.batch.rows", rows / 1000);
    otlp_tell(c->work.app->otlp, &s);
}

void model_trace_end(struct call *c, int status)
{
    struct flight *f = flight_of(&c->work);
    const struct model_call *q = c->own;
    if (trace_is_set(&q->trace) && q->answered_mono_us) {
        struct span s = { .at = q->trace, .kind = SPAN_CLIENT, .name = STR("ask model"),
                          .start_us = call_wall_us(c, q->asked_mono_us), .end_us = call_wall_us(c, q->answered_mono_us),
                          .owner = c->work.tenant_id };
        memcpy(s.parent, c->work.trace.span_id, sizeof s.parent);
        s.error = q->rc == ERR_OK ? STR_NULL : str_c(err_row(q->rc)->wire);
        if (!uuid_is_nil(q->t.deployment_id))
            span_text(&s, "falaj.deployment.id", id_text(c->work.arena, "dpl", q->t.deployment_id));
        span_text(&s, "falaj.zone", q->t.zone);
        span_number(&s, "falaj.model.version", q->t.model_version);
        span_number(&s, "falaj.tries", q->tries);
        tell_within(c, q, &s);
        otlp_tell(c->work.app->otlp, &s);
    }
    if (status)
        flight_trace_end(f, status, NULL);
}
