/* SPDX-License-Identifier: Apache-2.0 */
/* call_trace.c - spans of calls. Attributes have the names of OpenTelemetry's semantic conventions where there is one, else
 * falaj.*. */
#include "api/call_trace.h"
#include "core/http/otlp.h"

int64_t call_wall_us(const struct call *c, int64_t mono)
{
    return clock_wall_us(c->work.app->clock) - (clock_mono_us(c->work.app->clock) - mono);
}

void flight_trace_begin(struct flight *f)
{
    struct call *c = &f->call;
    const struct trace given = otlp_given(c->work.app->otlp, http_header_get(c->request, "Traceparent"));
    if (!trace_is_set(&given))
        return;
    c->work.trace = trace_child(&given);
    struct trace came;
    if (trace_parse(http_header_get(c->request, "Traceparent"), &came))
        memcpy(f->trace_parent, came.span_id, sizeof f->trace_parent);
}

static struct span span_of(const struct call *c, enum span_kind kind, struct str name, int64_t from_us, int64_t to_us)
{
    return (struct span){ .at = c->work.trace, .kind = kind, .name = name, .start_us = from_us, .end_us = to_us,
                          .owner = c->work.tenant_id };
}

static const char *route_of(const struct flight *f)
{
    return f->match ? f->match->row->path : f->is_console ? "console" : "unmatched";
}

static struct str tenant_of(const struct call *c)
{
    return c->principal && !uuid_is_nil(c->work.tenant_id) ? id_text(c->work.arena, "tnt", c->work.tenant_id) : STR_NULL;
}

/* The first span of the job that the call made, in the job's own trace; each of the two names the other. */
static void tell_job(struct flight *f, struct span *call)
{
    struct call *c = &f->call;
    const struct field *id = f->match ? f->match->id : NULL;
    if (!id || f->match->id_is_in || strcmp(id->prefix, "job") || f->match->row->status != 201 || !c->out || c->replayed)
        return;
    struct uuid job = *(const struct uuid *)field_at(id, c->out);
    struct trace at = otlp_job(c->work.app->otlp, job);
    if (!trace_is_set(&at))
        return;
    struct span s = span_of(c, SPAN_PRODUCER, STR("submit job"), call->start_us, call->end_us);
    s.at = at;
    s.link = c->work.trace;
    call->link = at;
    span_text(&s, "falaj.job.id", id_text(c->work.arena, "job", job));
    span_text(&s, "falaj.tenant.id", tenant_of(c));
    span_text(&s, "falaj.request.id", c->work.request_id);
    otlp_tell(c->work.app->otlp, &s);
}

void flight_trace_end(struct flight *f, int status, const struct err *e)
{
    struct call *c = &f->call;
    struct otlp *o = c->work.app->otlp;
    if (!o)
        return;
    struct str name = str_fmt(c->work.arena, "%s %s", http_method_name(c->request->method), route_of(f));
    struct span s = span_of(c, SPAN_SERVER, name, call_wall_us(c, c->started_mono_us), clock_wall_us(c->work.app->clock));
    memcpy(s.parent, f->trace_parent, sizeof s.parent);
    if (status < 300)
        tell_job(f, &s);
    if (!otlp_wants(o, &s.at))
        return;
    s.error = status >= 500 ? str_c(e ? err_row(e->code)->wire : "") : STR_NULL;
    span_text(&s, "http.request.method", str_c(http_method_name(c->request->method)));
    span_text(&s, "http.route", str_c(route_of(f)));
    span_number(&s, "http.response.status_code", status);
    span_text(&s, "error.type", e ? str_c(err_row(e->code)->wire) : STR_NULL);
    span_text(&s, "falaj.operation", f->match ? str_c(f->match->row->op) : STR_NULL);
    span_text(&s, "falaj.request.id", c->work.request_id);
    span_text(&s, "falaj.tenant.id", tenant_of(c));
    otlp_tell(o, &s);
}
