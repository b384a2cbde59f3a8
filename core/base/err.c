/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - the one error type. Table rows come from err.def; nothing here allocates. */
#include "core/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct err_row rows[ERR_COUNT] = {
#define ERR(name, wire, http, retry, title) [ERR_##name] = { #name, wire, http, RETRY_##retry, title },
#include "core/base/err.def"
#undef ERR
};

const struct err_row *err_row(enum errc code)
{
    return &rows[(unsigned)code < ERR_COUNT ? code : ERR_INTERNAL];
}

enum errc err_by_wire(const char *s)
{
    for (int i = 0; i < ERR_COUNT; i++)
        if (!strcmp(rows[i].wire, s))
            return (enum errc)i;
    return ERR_COUNT;
}

/* Text that did not fit ends before the character that was cut: it goes into JSON, which is refused as a whole for half a character. */
static void end_whole(char *text, size_t cap, int wanted)
{
    if (wanted < 0 || (size_t)wanted < cap)
        return;
    size_t n = strlen(text), last = n;
    while (last > 0 && n - last < 4 && ((unsigned char)text[last - 1] & 0xC0) == 0x80)
        last--;
    unsigned char lead = last > 0 ? (unsigned char)text[last - 1] : 0;
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length > 1 && n - (last - 1) < length)
        text[last - 1] = '\0';
}

enum errc err_set(struct err *e, enum errc code, const char *file, int line, const char *fmt, ...)
{
    if (!e)
        return code;
    e->code = code;
    e->file = file;
    e->line = line;
    e->detail[0] = e->field[0] = '\0';
    va_list ap;
    va_start(ap, fmt);
    end_whole(e->msg, sizeof e->msg, vsnprintf(e->msg, sizeof e->msg, fmt, ap));
    va_end(ap);
    return code;
}

__attribute__((format(printf, 3, 0))) static void append(char *dst, size_t cap, const char *fmt, va_list ap)
{
    size_t n = strlen(dst);
    if (n && n + 3 < cap) {
        memcpy(dst + n, "; ", 3);
        n += 2;
    }
    if (n + 1 < cap)
        end_whole(dst + n, cap - n, vsnprintf(dst + n, cap - n, fmt, ap));
}

enum errc err_note(struct err *e, const char *fmt, ...)
{
    if (!e)
        return ERR_INTERNAL;
    va_list ap;
    va_start(ap, fmt);
    append(e->detail, sizeof e->detail, fmt, ap);
    va_end(ap);
    return e->code;
}

enum errc err_field(struct err *e, const char *fmt, ...)
{
    if (!e)
        return ERR_INTERNAL;
    va_list ap;
    va_start(ap, fmt);
    end_whole(e->field, sizeof e->field, vsnprintf(e->field, sizeof e->field, fmt, ap));
    va_end(ap);
    return e->code;
}

enum errc err_errno(struct err *e, int errnum)
{
    char text[96];
    return err_note(e, "errno %d: %s", errnum, strerror_r(errnum, text, sizeof text));
}

void err_clear(struct err *e)
{
    if (e)
        *e = (struct err){ 0 };
}
