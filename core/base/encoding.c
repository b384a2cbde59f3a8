/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.c - bytes as text of str.h: hexadecimal, and base64 (RFC 4648) in both alphabets. */
#include "core/base/str.h"

size_t hex_encode(const void *p, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *u = p;
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[u[i] >> 4];
        out[2 * i + 1] = digits[u[i] & 15];
    }
    out[2 * n] = '\0';
    return 2 * n;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hex_decode(struct str s, void *out, size_t n)
{
    if (s.len != 2 * n)
        return false;
    unsigned char *u = out;
    for (size_t i = 0; i < n; i++) {
        int h = hex_digit(s.ptr[2 * i]), l = hex_digit(s.ptr[2 * i + 1]);
        if (h < 0 || l < 0)
            return false;
        u[i] = (unsigned char)(h << 4 | l);
    }
    return true;
}

size_t base64_encode(const void *p, size_t n, char *out, bool url)
{
    const char *abc = url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                          : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *u = p;
    char *o = out;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t v = (uint32_t)u[i] << 16 | (left > 1 ? (uint32_t)u[i + 1] << 8 : 0) | (left > 2 ? u[i + 2] : 0);
        *o++ = abc[v >> 18];
        *o++ = abc[v >> 12 & 63];
        if (left > 1)
            *o++ = abc[v >> 6 & 63];
        else if (!url)
            *o++ = '=';
        if (left > 2)
            *o++ = abc[v & 63];
        else if (!url)
            *o++ = '=';
    }
    *o = '\0';
    return (size_t)(o - out);
}

static int base64_digit(char c, bool url)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == (url ? '-' : '+') ? 62 : c == (url ? '_' : '/') ? 63 : -1;
}

bool base64_decode(struct str s, void *out, size_t cap, size_t *ret_len, bool url)
{
    if (!url) {
        if (s.len % 4)
            return false;
        for (int i = 0; i < 2 && s.len && s.ptr[s.len - 1] == '='; i++)
            s.len--;
    }
    if (s.len % 4 == 1)
        return false;
    unsigned char *o = out;
    size_t n = 0;
    uint32_t v = 0;
    for (size_t i = 0; i < s.len; i++) {
        int d = base64_digit(s.ptr[i], url);
        if (d < 0)
            return false;
        v = v << 6 | (uint32_t)d;
        if (i % 4 == 0)
            continue;
        if (n >= cap)
            return false;
        o[n++] = (unsigned char)(v >> (6 - 2 * (i % 4)));
    }
    /* The unused low bits of the last digit must be zero, so that one value has one spelling. */
    if ((s.len % 4 == 2 && (v & 15)) || (s.len % 4 == 3 && (v & 3)))
        return false;
    *ret_len = n;
    return true;
}
