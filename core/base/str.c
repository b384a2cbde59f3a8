/* SPDX-License-Identifier: Apache-2.0 */
/* str.c - text views, buffers and numbers. Growth doubles, so n appends cost O(n) copies. */
#include "core/base/str.h"
#include "core/base/assert.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || !memcmp(a.ptr, b.ptr, a.len));
}

bool str_eq_c(struct str a, const char *b)
{
    return str_eq(a, str_c(b));
}

bool str_starts(struct str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.len >= n && !memcmp(s.ptr, prefix, n);
}

bool str_ends(struct str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.len >= n && !memcmp(s.ptr + s.len - n, suffix, n);
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

ptrdiff_t str_find(struct str s, char c)
{
    const char *p = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return p ? p - s.ptr : -1;
}

struct str str_trim(struct str s)
{
    while (s.len && (*s.ptr == ' ' || *s.ptr == '\t'))
        s.ptr++, s.len--;
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

bool str_cut(struct str s, char sep, struct str *head, struct str *rest)
{
    ptrdiff_t at = str_find(s, sep);
    if (at < 0) {
        *head = s;
        *rest = STR_NULL;
        return false;
    }
    *head = str_n(s.ptr, (size_t)at);
    *rest = str_n(s.ptr + at + 1, s.len - (size_t)at - 1);
    return true;
}

struct str str_dup(struct arena *a, struct str s)
{
    return s.ptr ? (struct str){ arena_strndup(a, s.ptr, s.len), s.len } : s;
}

const char *str_z(struct arena *a, struct str s)
{
    return arena_strndup(a, s.ptr, s.len);
}

struct str str_fmt(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    ASSERT(n >= 0);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct str){ p, (size_t)n };
}

char *str_dup_heap(struct str s)
{
    char *p = malloc(s.len + 1);
    ASSERT(p);
    if (s.len)
        memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return p;
}

/* RFC 3629: shortest form only, no surrogates, at most U+10FFFF. */
bool str_is_utf8(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr, *end = p + s.len;
    while (p < end) {
        if (*p < 0x80) {
            p++;
            continue;
        }
        int n = *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : 1;
        if (*p < 0xC2 || *p > 0xF4 || end - p <= n)
            return false;
        uint32_t c = *p & (0x3F >> n);
        for (int i = 1; i <= n; i++) {
            if ((p[i] & 0xC0) != 0x80)
                return false;
            c = c << 6 | (p[i] & 0x3F);
        }
        if ((n == 2 && c < 0x800) || (n == 3 && (c < 0x10000 || c > 0x10FFFF)) || (c >= 0xD800 && c <= 0xDFFF))
            return false;
        p += n + 1;
    }
    return true;
}

uint64_t str_hash(struct str s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.ptr[i]) * 1099511628211u;
    return h;
}

bool str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret)
{
    bool neg = s.len && *s.ptr == '-';
    size_t i = neg;
    if (i == s.len || s.len > 20)
        return false;
    int64_t v = 0;
    for (; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        int d = s.ptr[i] - '0';
        if (__builtin_mul_overflow(v, (int64_t)10, &v) || __builtin_add_overflow(v, neg ? -(int64_t)d : (int64_t)d, &v))
            return false;
    }
    if (v < min || v > max)
        return false;
    *ret = v;
    return true;
}

bool str_to_f64(struct str s, double *ret)
{
    char z[64];
    if (s.len == 0 || s.len >= sizeof z || *s.ptr == '+')
        return false;
    memcpy(z, s.ptr, s.len);
    z[s.len] = '\0';
    /* strtod also takes spaces, hexadecimal, infinities and NaN. */
    if (strspn(z, "0123456789+-.eE") != s.len)
        return false;
    char *end;
    errno = 0;
    double v = strtod(z, &end);
    if (end != z + s.len || !isfinite(v) || (errno == ERANGE && v != 0 && fabs(v) >= 1))
        return false;
    *ret = v;
    return true;
}

bool str_to_bool(struct str s, bool *ret)
{
    static const char *const yes[] = { "true", "1", "yes", "on" }, *const no[] = { "false", "0", "no", "off" };
    for (int i = 0; i < 4; i++) {
        if (str_eq_c(s, yes[i]))
            return *ret = true, true;
        if (str_eq_c(s, no[i]))
            return *ret = false, true;
    }
    return false;
}

void buf_release(struct buf *b)
{
    free(b->ptr);
    *b = BUF(b->max);
}

void buf_releasep(struct buf *b)
{
    buf_release(b);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflow = false;
    if (b->ptr)
        b->ptr[0] = '\0';
}

bool buf_reserve(struct buf *b, size_t more)
{
    if (b->overflow || more > b->max - b->len) {
        b->overflow = true;
        return false;
    }
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap * 2 : 256;
    while (cap < need)
        cap *= 2;
    char *p = realloc(b->ptr, cap);
    ASSERT(p);
    b->ptr = p;
    b->cap = cap;
    return true;
}

bool buf_add(struct buf *b, const void *p, size_t n)
{
    if (!buf_reserve(b, n))
        return false;
    if (n)
        memcpy(b->ptr + b->len, p, n);
    b->len += n;
    b->ptr[b->len] = '\0';
    return true;
}

bool buf_add_c(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

bool buf_add_str(struct buf *b, struct str s)
{
    return buf_add(b, s.ptr, s.len);
}

bool buf_add_char(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

bool buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    bool ok = n >= 0 && buf_reserve(b, (size_t)n);
    if (ok) {
        vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
    return ok;
}

bool buf_add_i64(struct buf *b, int64_t v)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    return buf_add(b, p, (size_t)(digits + sizeof digits - p));
}

bool buf_add_json(struct buf *b, struct str s)
{
    buf_add_char(b, '"');
    size_t from = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(b, s.ptr + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\')
            buf_add(b, (char[]){ '\\', (char)c }, 2);
        else if (c == '\n')
            buf_add_c(b, "\\n");
        else if (c == '\t')
            buf_add_c(b, "\\t");
        else
            buf_printf(b, "\\u%04x", c);
    }
    buf_add(b, s.ptr + from, s.len - from);
    return buf_add_char(b, '"');
}

bool buf_add_hex(struct buf *b, const void *p, size_t n)
{
    if (n > b->max / 2 || !buf_reserve(b, 2 * n)) {
        b->overflow = true;
        return false;
    }
    b->len += hex_encode(p, n, b->ptr + b->len);
    return true;
}
