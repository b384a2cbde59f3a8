/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_json.c - spans in the JSON mapping of OTLP. */
#include "core/http/otlp_json.h"
#include "core/base/json_scan.h"

static void add_hex(struct buf *out, const char *key, const uint8_t *p, size_t n)
{
    buf_printf(out, "\"%s\":\"", key);
    buf_add_hex(out, p, n);
    buf_add_char(out, '"');
}

static void add_text_attr(struct buf *out, const char *key, struct str text)
{
    buf_printf(out, "{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
    buf_add_json(out, text);
    buf_add_c(out, "}}");
}

static void add_attrs(struct buf *out, const struct span *s)
{
    bool first = true;
    buf_add_c(out, ",\"attributes\":[");
    for (int i = 0; i < s->nattrs; i++) {
        const struct span_attr *a = &s->attrs[i];
        if (a->text.ptr && !str_is_utf8(a->text))
            continue;
        buf_add_c(out, first ? "" : ",");
        first = false;
        if (a->text.ptr)
            add_text_attr(out, a->key, a->text);
        else
            buf_printf(out, "{\"key\":\"%s\",\"value\":{\"intValue\":\"%ld\"}}", a->key, (long)a->number);
    }
    buf_add_char(out, ']');
}

void otlp_json_span(struct buf *out, const struct span *s)
{
    static const uint8_t none[sizeof s->parent];
    int64_t end_us = s->end_us > s->start_us ? s->end_us : s->start_us;
    buf_add_char(out, '{');
    add_hex(out, "traceId", s->at.trace_id, sizeof s->at.trace_id);
    buf_add_char(out, ',');
    add_hex(out, "spanId", s->at.span_id, sizeof s->at.span_id);
    if (memcmp(s->parent, none, sizeof none) != 0) {
        buf_add_char(out, ',');
        add_hex(out, "parentSpanId", s->parent, sizeof s->parent);
    }
    buf_add_c(out, ",\"name\":");
    buf_add_json(out, str_is_utf8(s->name) ? s->name : STR("?"));
    buf_printf(out, ",\"kind\":%d,\"startTimeUnixNano\":\"%ld000\",\"endTimeUnixNano\":\"%ld000\"", s->kind, (long)s->start_us,
               (long)end_us);
    add_attrs(out, s);
    if (trace_is_set(&s->link)) {
        buf_add_c(out, ",\"links\":[{");
        add_hex(out, "traceId", s->link.trace_id, sizeof s->link.trace_id);
        buf_add_char(out, ',');
        add_hex(out, "spanId", s->link.span_id, sizeof s->link.span_id);
        buf_add_c(out, "}]");
    }
    if (s->error.ptr) {
        buf_add_c(out, ",\"status\":{\"code\":2,\"message\":");
        buf_add_json(out, str_is_utf8(s->error) ? s->error : STR("?"));
        buf_add_char(out, '}');
    }
    buf_add_char(out, '}');
}

static void begin(struct buf *out, const char *resource, const char *scope, const char *list, const struct otlp_source *by)
{
    char id[UUID_TEXT];
    uuid_text(by->instance, id);
    buf_printf(out, "{\"%s\":[{\"resource\":{\"attributes\":[", resource);
    add_text_attr(out, "service.namespace", STR("falaj"));
    buf_add_char(out, ',');
    add_text_attr(out, "service.name", str_c(by->service));
    buf_add_char(out, ',');
    add_text_attr(out, "service.version", str_c(by->version));
    buf_add_char(out, ',');
    add_text_attr(out, "service.instance.id", str_c(id));
    buf_printf(out, "]},\"%s\":[{\"scope\":{\"name\":\"falaj\",\"version\":", scope);
    buf_add_json(out, str_c(by->version));
    buf_printf(out, "},\"%s\":[", list);
}

void otlp_json_spans_begin(struct buf *out, const struct otlp_source *by)
{
    begin(out, "resourceSpans", "scopeSpans", "spans", by);
}

void otlp_json_metrics_begin(struct buf *out, const struct otlp_source *by)
{
    begin(out, "resourceMetrics", "scopeMetrics", "metrics", by);
}

void otlp_json_end(struct buf *out)
{
    buf_add_c(out, "]}]}]}");
}

/* {"partialSuccess":{"rejectedSpans":"3",…}}; proto3's JSON lets the number be written as one or as a string. */
int64_t otlp_json_rejected(struct str body)
{
    static const char key[] = "\"rejectedSpans\"";
    const char *at = body.len ? memmem(body.ptr, body.len, key, sizeof key - 1) : NULL;
    uint64_t n = 0;
    if (!at)
        return 0;
    struct json_scan s = { .at = at + sizeof key - 1, .end = body.ptr + body.len };
    bool ok = json_scan_take(&s, ':');
    json_scan_space(&s);
    if (ok && s.at < s.end && *s.at == '"')
        s.at++;
    return ok && json_scan_u64(&s, &n) && n < INT64_MAX ? (int64_t)n : 0;
}
