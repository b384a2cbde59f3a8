/* SPDX-License-Identifier: Apache-2.0 */
/* sse.c - text/event-stream, parsed byte by byte: lines end in CR, LF or CR LF, a blank line ends an event. */
#include "core/http/sse.h"

#include <stdlib.h>
#include "core/base/assert.h"

enum { ID_MAX = 1024, TYPE_MAX = 256 };

struct sse_parser {
    bool (*on_event)(void *ctx, const struct sse_event *ev);
    void *ctx;
    size_t event_max;
    struct buf line, data, type, id;
    bool has_data, after_cr, at_start;
    int retry_ms;
};

struct sse_parser *sse_parser_new(size_t event_max, bool (*on_event)(void *ctx, const struct sse_event *ev), void *ctx)
{
    struct sse_parser *p = calloc(1, sizeof *p);
    ASSERT(p);
    p->on_event = on_event;
    p->ctx = ctx;
    p->event_max = event_max;
    p->line = BUF(event_max + 64);
    p->data = BUF(event_max + 1);
    p->type = BUF(TYPE_MAX);
    p->id = BUF(ID_MAX);
    p->at_start = true;
    p->retry_ms = -1;
    return p;
}

void sse_parser_free(struct sse_parser *p)
{
    if (!p)
        return;
    buf_release(&p->line);
    buf_release(&p->data);
    buf_release(&p->type);
    buf_release(&p->id);
    free(p);
}

struct str sse_parser_last_id(const struct sse_parser *p)
{
    return buf_str(&p->id);
}

int sse_parser_retry_ms(const struct sse_parser *p)
{
    return p->retry_ms;
}

static bool dispatch(struct sse_parser *p)
{
    bool go_on = true;
    if (p->has_data) {
        struct str data = buf_str(&p->data);
        data.len--;     /* the last line's '\n' */
        struct sse_event ev = { p->type.len ? buf_str(&p->type) : STR("message"), data, buf_str(&p->id) };
        go_on = p->on_event(p->ctx, &ev);
    }
    p->has_data = false;
    buf_clear(&p->data);
    buf_clear(&p->type);
    return go_on;
}

static enum errc take_field(struct sse_parser *p, struct str name, struct str value, struct err *e)
{
    if (str_eq_c(name, "data")) {
        p->has_data = true;
        if (!buf_add_str(&p->data, value) || !buf_add_char(&p->data, '\n') || p->data.len > p->event_max + 1)
            return FAIL(e, LIMIT, "An event is larger than %zu bytes", p->event_max);
    } else if (str_eq_c(name, "event")) {
        buf_clear(&p->type);
        if (!buf_add_str(&p->type, value))
            return FAIL(e, LIMIT, "An event's type is too long");
    } else if (str_eq_c(name, "id")) {
        if (value.len && memchr(value.ptr, 0, value.len))
            return ERR_OK;
        buf_clear(&p->id);
        if (!buf_add_str(&p->id, value))
            return FAIL(e, LIMIT, "An event's id is too long");
    } else if (str_eq_c(name, "retry")) {
        int64_t ms;
        if (value.len && value.ptr[0] >= '0' && value.ptr[0] <= '9' && str_to_i64(value, 0, 24 * 3600 * 1000, &ms))
            p->retry_ms = (int)ms;
    }
    return ERR_OK;
}

static enum errc take_line(struct sse_parser *p, bool *go_on, struct err *e)
{
    struct str line = buf_str(&p->line);
    if (p->at_start && line.len >= 3 && memcmp(line.ptr, "\xef\xbb\xbf", 3) == 0)
        line = str_n(line.ptr + 3, line.len - 3);
    p->at_start = false;
    enum errc rc = ERR_OK;
    if (line.len == 0) {
        *go_on = dispatch(p);
    } else if (line.ptr[0] != ':') {
        struct str name = line, value;
        if (!str_cut(line, ':', &name, &value))
            value = str_n("", 0);
        if (value.len && value.ptr[0] == ' ')
            value = str_n(value.ptr + 1, value.len - 1);
        rc = take_field(p, name, value, e);
    }
    buf_clear(&p->line);
    return rc;
}

enum errc sse_parser_feed(struct sse_parser *p, const char *bytes, size_t n, bool *stopped, struct err *e)
{
    bool go_on = true;
    if (stopped)
        *stopped = false;
    for (size_t i = 0; i < n && go_on;) {
        if (p->after_cr && bytes[i] == '\n') {
            p->after_cr = false;
            i++;
            continue;
        }
        p->after_cr = false;
        size_t start = i;
        while (i < n && bytes[i] != '\n' && bytes[i] != '\r')
            i++;
        if (!buf_add(&p->line, bytes + start, i - start))
            return FAIL(e, LIMIT, "An event is larger than %zu bytes", p->event_max);
        if (i == n)
            break;
        p->after_cr = bytes[i++] == '\r';
        TRY(take_line(p, &go_on, e));
    }
    if (stopped)
        *stopped = !go_on;
    return ERR_OK;
}

static bool one_line(struct str s)
{
    return !s.len || (!memchr(s.ptr, '\n', s.len) && !memchr(s.ptr, '\r', s.len) && !memchr(s.ptr, 0, s.len));
}

bool sse_write_event(struct buf *b, struct str type, struct str id, struct str data)
{
    if (!one_line(type) || !one_line(id))
        return false;
    if (id.ptr) {
        buf_add_c(b, "id: ");
        buf_add_str(b, id);
        buf_add_char(b, '\n');
    }
    if (type.ptr) {
        buf_add_c(b, "event: ");
        buf_add_str(b, type);
        buf_add_char(b, '\n');
    }
    size_t at = 0;
    do {
        size_t end = at;
        while (end < data.len && data.ptr[end] != '\n' && data.ptr[end] != '\r')
            end++;
        buf_add_c(b, "data: ");
        if (end > at)
            buf_add(b, data.ptr + at, end - at);
        buf_add_char(b, '\n');
        bool is_crlf = end + 1 < data.len && data.ptr[end] == '\r' && data.ptr[end + 1] == '\n';
        at = end + (is_crlf ? 2 : 1);
    } while (at <= data.len);
    buf_add_char(b, '\n');
    return !b->overflow;
}

bool sse_write_comment(struct buf *b, const char *text)
{
    if (!one_line(str_c(text)))
        return false;
    buf_add_char(b, ':');
    buf_add_c(b, text);
    buf_add_c(b, "\n\n");
    return !b->overflow;
}

bool sse_write_retry(struct buf *b, int ms)
{
    return buf_printf(b, "retry: %d\n\n", ms);
}
