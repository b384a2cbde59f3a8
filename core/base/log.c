/* log.c - formats a line into a stack buffer of 4 KiB (longer lines are cut and marked) and writes it at once. */
#include "core/base/log.h"
#include "core/base/clock.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 };

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

bool log_enabled(enum log_level level)
{
    return (int)level >= logger.level;
}

void log_context(const char *request_id, const char *tenant)
{
    context.request_id = request_id;
    context.tenant = tenant;
}

struct line {
    char b[LINE_MAX_BYTES];
    size_t n;
};

static void put(struct line *l, const char *p, size_t n)
{
    size_t room = sizeof l->b - 8 - l->n;    /* room for the closing brace and newline */
    if (n > room)
        n = room;
    memcpy(l->b + l->n, p, n);
    l->n += n;
}

static void put_c(struct line *l, const char *s)
{
    put(l, s, strlen(s));
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

static void put_quoted(struct line *l, struct str s)
{
    put_c(l, "\"");
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        char esc[8];
        if (c == '"' || c == '\\')
            put(l, (char[]){ '\\', (char)c }, 2);
        else if (c < 0x20 || c == 0x7F)
            put(l, esc, (size_t)snprintf(esc, sizeof esc, "\\u%04x", c));
        else
            put(l, (char *)&c, 1);
    }
    put_c(l, "\"");
}

static void put_field(struct line *l, const char *name, const struct log_value *v)
{
    char num[64];
    bool json = logger.format == LOGJSON;
    put_c(l, json ? (l->n > 1 ? ",\"" : "\"") : (l->n ? " " : ""));
    put_c(l, name);
    put_c(l, json ? "\":" : "=");
    switch (v->kind) {
    case LV_STR:
        if (json || !is_bare(v->s))
            put_quoted(l, v->s);
        else
            put(l, v->s.ptr, v->s.len);
        break;
    case LV_INT:
        put(l, num, (size_t)snprintf(num, sizeof num, "%lld", (long long)v->i));
        break;
    case LV_F64:
        put(l, num, (size_t)snprintf(num, sizeof num, "%.6g", v->f));
        break;
    case LV_ID: {
        char hex[UUID_HEX];
        hex_encode(v->u.b, 16, hex);
        int n = snprintf(num, sizeof num, "%.20s_%s", v->s.ptr ? v->s.ptr : "id", hex);
        if (json)
            put_c(l, "\"");
        put(l, num, (size_t)n);
        if (json)
            put_c(l, "\"");
        break;
    }
    }
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
    if (logger.format == LOGJSON)
        put_c(l, "{");
    put_s(l, "ts", t);
    put_s(l, "level", level_names[level]);
    put_s(l, "program", logger.program);
    put_s(l, "event", event);
    put_s(l, "request_id", context.request_id);
    put_s(l, "tenant", context.tenant);
}

static void end(struct line *l)
{
    if (logger.format == LOGJSON)
        l->b[l->n++] = '}';
    l->b[l->n++] = '\n';
    /* A full disk must not stop the service: what cannot be written is lost. */
    ssize_t ignored = write(logger.fd, l->b, l->n);
    (void)ignored;
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
