/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - formats a line into a stack buffer of 4 KiB (longer lines are cut and marked) and writes it at once, or puts it
 * behind the thread's held ones. */
#include "core/base/log.h"
#include "core/base/clock.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, RESERVE = 24 };

static struct {
    const char *program;
    _Atomic int level;
    enum log_format format;
    int fd;
} logger = { "falaj", LOG_INFO, LOGFMT, STDERR_FILENO };

static _Thread_local struct {
    const char *request_id, *tenant;
} context;

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_setup(const char *program, enum log_level level, enum log_format format, int fd)
{
    logger.program = program;
    logger.level = (int)level;
    logger.format = format;
    logger.fd = fd;
}

void log_level_set(enum log_level level)
{
    logger.level = (int)level;
}

bool log_enabled(enum log_level level)
{
    return (int)level >= logger.level;
}

void log_context(const char *request_id, const char *tenant)
{
    context.request_id = request_id;
    context.tenant = tenant;
}

static _Thread_local struct {
    bool is_on;
    size_t n;
    char b[LINE_MAX_BYTES];
} held;

struct line {
    char b[LINE_MAX_BYTES];
    size_t n;
    bool is_cut;            /* something did not fit: nothing more is added */
};

/* All of it or nothing. RESERVE bytes stay free for a closing quote, the mark of a cut, brace and newline. */
static bool put(struct line *l, const char *p, size_t n)
{
    if (l->is_cut || n > sizeof l->b - RESERVE - l->n) {
        l->is_cut = true;
        return false;
    }
    memcpy(l->b + l->n, p, n);
    l->n += n;
    return true;
}

static bool put_c(struct line *l, const char *s)
{
    return put(l, s, strlen(s));
}

static bool is_bare(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7F)
            return false;
    }
    return s.len > 0;
}

/* A string that does not fit is cut between two characters, and its quote is closed all the same. */
static void put_quoted(struct line *l, struct str s)
{
    if (!put_c(l, "\""))
        return;
    size_t start = l->n;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        char esc[8];
        bool fits;
        if (c == '"' || c == '\\')
            fits = put(l, (char[]){ '\\', (char)c }, 2);
        else if (c < 0x20 || c == 0x7F)
            fits = put(l, esc, (size_t)snprintf(esc, sizeof esc, "\\u%04x", c));
        else
            fits = put(l, (char *)&c, 1);
        if (fits)
            continue;
        bool inside = (c & 0xC0) == 0x80;
        while (inside && l->n > start)
            inside = ((unsigned char)l->b[--l->n] & 0xC0) == 0x80;
        break;
    }
    l->b[l->n++] = '"';
}

static void put_number(struct line *l, const struct log_value *v)
{
    char num[64], hex[UUID_HEX];
    bool json = logger.format == LOGJSON;
    int n;
    if (v->kind == LV_INT) {
        n = snprintf(num, sizeof num, "%lld", (long long)v->i);
    } else if (v->kind == LV_F64) {
        n = json && !isfinite(v->f) ? snprintf(num, sizeof num, "null") : snprintf(num, sizeof num, "%.6g", v->f);
    } else {
        const char *quote = json ? "\"" : "";
        hex_encode(v->u.b, 16, hex);
        n = snprintf(num, sizeof num, "%s%.20s_%s%s", quote, v->s.ptr ? v->s.ptr : "id", hex, quote);
    }
    put(l, num, (size_t)n);
}

/* Only a string's content may be cut: a field whose name, number or id does not fit is left out. */
static void put_field(struct line *l, const char *name, const struct log_value *v)
{
    bool json = logger.format == LOGJSON;
    size_t from = l->n;
    put_c(l, json ? (l->n > 1 ? ",\"" : "\"") : (l->n ? " " : ""));
    put_c(l, name);
    put_c(l, json ? "\":" : "=");
    size_t value_at = l->n;
    if (l->is_cut) {
        l->n = from;
        return;
    }
    if (v->kind != LV_STR)
        put_number(l, v);
    else if (json || !is_bare(v->s) || v->s.len > sizeof l->b - RESERVE - l->n)
        put_quoted(l, v->s);
    else
        put(l, v->s.ptr, v->s.len);
    if (l->n == value_at)
        l->n = from;
}

static void put_s(struct line *l, const char *name, const char *value)
{
    if (value)
        put_field(l, name, &LOG_S(value));
}

static void begin(struct line *l, enum log_level level, const char *event)
{
    char t[TIME_TEXT];
    time_text(clock_wall_us(&clock_system), t);
    l->n = 0;
    l->is_cut = false;
    if (logger.format == LOGJSON)
        put_c(l, "{");
    put_s(l, "ts", t);
    put_s(l, "level", level_names[level]);
    put_s(l, "program", logger.program);
    put_s(l, "event", event);
    put_s(l, "request_id", context.request_id);
    put_s(l, "tenant", context.tenant);
}

/* A full disk must not stop the service: what cannot be written is lost. */
static void put_out(const char *p, size_t n)
{
    ssize_t ignored = write(logger.fd, p, n);
    (void)ignored;
}

static void flush_held(void)
{
    if (held.n)
        put_out(held.b, held.n);
    held.n = 0;
}

void log_hold(void)
{
    held.is_on = true;
}

void log_release(void)
{
    flush_held();
    held.is_on = false;
}

static void end(struct line *l)
{
    bool json = logger.format == LOGJSON;
    if (l->is_cut) {
        const char *mark = json ? ",\"cut\":true" : " cut=true";
        memcpy(l->b + l->n, mark, strlen(mark));
        l->n += strlen(mark);
    }
    if (json)
        l->b[l->n++] = '}';
    l->b[l->n++] = '\n';
    if (!held.is_on) {
        put_out(l->b, l->n);
        return;
    }
    if (l->n > sizeof held.b - held.n)
        flush_held();
    memcpy(held.b + held.n, l->b, l->n);
    held.n += l->n;
}

void log_event(enum log_level level, const char *event, ...)
{
    if (!log_enabled(level))
        return;
    struct line l;
    begin(&l, level, event);
    va_list ap;
    va_start(ap, event);
    for (const char *name; (name = va_arg(ap, const char *));) {
        struct log_value v = va_arg(ap, struct log_value);
        put_field(&l, name, &v);
    }
    va_end(ap);
    end(&l);
}

void log_err(enum log_level level, const char *event, const struct err *e)
{
    if (!log_enabled(level))
        return;
    struct line l;
    begin(&l, level, event);
    put_s(&l, "code", err_row(e->code)->wire);
    put_s(&l, "msg", e->msg);
    put_s(&l, "detail", e->detail[0] ? e->detail : NULL);
    put_s(&l, "field", e->field[0] ? e->field : NULL);
    if (e->file) {
        put_s(&l, "file", e->file);
        put_field(&l, "line", &LOG_I(e->line));
    }
    end(&l);
}
