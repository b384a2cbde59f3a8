/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c - the header is a Python dictionary of exactly three members, which writers put in any order. */
#include "core/data/npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct cursor {
    const char *at, *end;
};

static void space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
}

static bool take(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    space(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n))
        return false;
    c->at += n;
    return true;
}

static bool read_descr(struct cursor *c, struct npy *a)
{
    static const char known[] = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ";
    char quote[2] = { 0 };
    space(c);
    if (c->end - c->at < 5 || (*c->at != '\'' && *c->at != '"'))
        return false;
    quote[0] = *c->at++;
    char order = *c->at++;
    a->kind = *c->at++;
    a->width = (unsigned)(*c->at - '0');
    char word[4] = { a->kind, *c->at++, ' ', 0 };
    return (order == '<' || order == '|') && (order == '<' || a->width == 1) && strstr(known, word) && take(c, quote);
}

static bool read_shape(struct cursor *c, struct npy *a)
{
    if (!take(c, "("))
        return false;
    while (!take(c, ")")) {
        uint64_t v = 0;
        const char *from = c->at;
        if (a->rank == NPY_DIMS_MAX)
            return false;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
            if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*c->at - '0'), &v))
                return false;
        if (c->at == from)
            return false;
        a->dim[a->rank++] = v;
        if (!take(c, ",") && !take(c, ")"))
            return false;
        else if (c->at[-1] == ')')
            return true;
    }
    return true;
}

static enum errc read_header(struct cursor *c, struct npy *a, struct err *e)
{
    bool has_descr = false, has_order = false, has_shape = false, ok = take(c, "{");
    while (ok && !take(c, "}")) {
        if (take(c, "'descr':"))
            ok = !has_descr && (has_descr = read_descr(c, a));
        else if (take(c, "'fortran_order':"))
            ok = !has_order && (has_order = take(c, "False"));
        else if (take(c, "'shape':"))
            ok = !has_shape && (has_shape = read_shape(c, a));
        else
            ok = false;
        ok = ok && (take(c, ",") || (c->at < c->end && *c->at == '}'));
    }
    space(c);
    if (ok && has_descr && has_order && has_shape && c->at == c->end)
        return ERR_OK;
    return FAIL(e, UNPROCESSABLE, "the .npy file has a header that is not supported: little-endian numbers in C order are");
}

size_t npy_head_bytes(struct str start)
{
    const unsigned char *p = (const unsigned char *)start.ptr;
    if (start.len < NPY_HEAD_MIN)
        return NPY_HEAD_MIN;
    size_t size = p[8] | (size_t)p[9] << 8;
    return p[6] == 1 ? 10 + size : 12 + (size | (size_t)p[10] << 16 | (size_t)p[11] << 24);
}

enum errc npy_head(struct str start, uint64_t file_size, struct npy *ret, struct err *e)
{
    const unsigned char *p = (const unsigned char *)start.ptr;
    struct npy a = { .count = 1 };
    if (start.len < NPY_HEAD_MIN || memcmp(p, "\x93NUMPY", 6) || p[6] < 1 || p[6] > 3)
        return FAIL(e, BAD_DATA, "byte 0: this is no .npy file");
    size_t at = p[6] == 1 ? 10 : 12, end = npy_head_bytes(start);
    if (end > start.len || end > file_size)
        return FAIL(e, BAD_DATA, "the .npy file is cut off inside its header");
    struct cursor c = { start.ptr + at, start.ptr + end };
    TRY(read_header(&c, &a, e));
    for (uint32_t d = 0; d < a.rank; d++)
        if (__builtin_mul_overflow(a.count, (size_t)a.dim[d], &a.count) || a.count > file_size)
            return FAIL(e, BAD_DATA, "the .npy file has a shape of more numbers than bytes");
    if (a.count * a.width != file_size - end)
        return FAIL(e, BAD_DATA, "the .npy file needs %zu bytes of numbers and has %llu", a.count * a.width,
                    (unsigned long long)(file_size - end));
    *ret = a;
    return ERR_OK;
}

enum errc npy_parse(struct str bytes, struct npy *ret, struct err *e)
{
    TRY(npy_head(bytes, bytes.len, ret, e));
    ret->data = (const unsigned char *)bytes.ptr + npy_head_bytes(bytes);
    return ERR_OK;
}

static uint64_t bits_of(const struct npy *a, size_t i)
{
    uint64_t v = 0;
    memcpy(&v, a->data + i * a->width, a->width);       /* little endian, as this machine is */
    return v;
}

int64_t npy_whole(const struct npy *a, size_t i)
{
    uint64_t v = bits_of(a, i);
    unsigned shift = 64 - 8 * a->width;
    return a->kind == 'i' ? (int64_t)(v << shift) >> shift : (int64_t)v;
}

double npy_real(const struct npy *a, size_t i)
{
    union { uint64_t u; double d; } wide = { bits_of(a, i) };
    union { uint32_t u; float f; } narrow = { (uint32_t)wide.u };
    if (a->kind != 'f')
        return (double)npy_whole(a, i);
    if (a->width == 8)
        return wide.d;
    if (a->width == 4)
        return (double)narrow.f;
    int exponent = wide.u >> 10 & 31, mantissa = wide.u & 1023;
    double v = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY) : ldexp(exponent ? 1024 + mantissa : mantissa,
                                                                                    (exponent ? exponent : 1) - 25);
    return wide.u >> 15 & 1 ? -v : v;
}

bool npy_write(struct buf *out, char kind, unsigned width, uint32_t rank, const uint64_t *dim, const void *p, size_t bytes)
{
    char text[256];
    size_t n = (size_t)snprintf(text, sizeof text, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (",
                                width > 1 ? '<' : '|', kind, width);
    for (uint32_t d = 0; d < rank && d < NPY_DIMS_MAX; d++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%llu,%s", (unsigned long long)dim[d], d + 1 < rank ? " " : "");
    n += (size_t)snprintf(text + n, sizeof text - n, "), }");
    size_t size = (10 + n + 1 + 63) / 64 * 64 - 10;     /* data begins at a multiple of 64 */
    const char head[10] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(size & 255), (char)(size >> 8) };
    bool ok = buf_add(out, head, sizeof head) && buf_add(out, text, n);
    for (size_t i = n; i + 1 < size; i++)
        ok = ok && buf_add_char(out, ' ');
    return ok && buf_add_char(out, '\n') && (bytes == 0 || buf_add(out, p, bytes));
}
