/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - strict reading and writing of the parts of our own canonical JSON. */
#include "audit/scan_int.h"
#include "audit/head.h"
#include "core/base/json_scan.h"

static void skip(struct str *s, size_t n)
{
    s->ptr += n;
    s->len -= n;
}

bool scan_u64(struct str *s, uint64_t *ret)
{
    struct json_scan in = { s->ptr, s->ptr + s->len, NULL };
    uint64_t v;
    if (!json_scan_u64(&in, &v) || v >> SCAN_NUMBER_BITS)
        return false;
    skip(s, (size_t)(in.at - s->ptr));
    *ret = v;
    return true;
}

bool scan_i64(struct str *s, int64_t *ret)
{
    bool is_negative = s->len && s->ptr[0] == '-';
    struct json_scan in = { s->ptr + is_negative, s->ptr + s->len, NULL };
    uint64_t v, max = is_negative ? 1ULL << 63 : INT64_MAX;
    if (!json_scan_u64(&in, &v) || v > max || (is_negative && v == 0))
        return false;
    skip(s, (size_t)(in.at - s->ptr));
    *ret = (int64_t)(is_negative ? 0 - v : v);
    return true;
}

bool scan_i53(struct str *s, int64_t *ret)
{
    struct str at = *s;
    int64_t v;
    if (!scan_i64(&at, &v) || (v < 0 ? 0 - (uint64_t)v : (uint64_t)v) >> SCAN_NUMBER_BITS)
        return false;
    *s = at;
    *ret = v;
    return true;
}

/* The value of a lower-case digit, else 0x80, so that the or of all tells whether one was none. */
static const uint8_t digits_of[256] = {
#define NONE_8 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
#define NONE_32 NONE_8, NONE_8, NONE_8, NONE_8
    NONE_32, NONE_8, NONE_8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, NONE_32,
    0x80, 10, 11, 12, 13, 14, 15, 0x80, NONE_8, NONE_8, NONE_8, NONE_32, NONE_32, NONE_32, NONE_32,
#undef NONE_8
#undef NONE_32
};

/* Eight digits at once: four bytes at out, and the top bit of each byte that is no digit. A sum of two bytes below 0x80 has its
 * top bit where it passes a bound; a letter's value is its low half and nine. */
static uint64_t hex_eight(const unsigned char *p, uint8_t *out)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t x, low, y;
    memcpy(&x, p, sizeof x);
    low = x & ~tops;
    uint64_t is_digit = (low + ones * (0x80 - '0')) & ~(low + ones * (0x7f - '9'));
    uint64_t is_letter = (low + ones * (0x80 - 'a')) & ~(low + ones * (0x7f - 'f'));
    y = (x & ones * 0x0f) + (x >> 6 & ones) * 9;
    y = (y << 4 | y >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    y = (y | y >> 8) & UINT64_C(0x0000ffff0000ffff);
    uint32_t four = (uint32_t)(y | y >> 16);
    memcpy(out, &four, sizeof four);
    return (x | ~(is_digit | is_letter)) & tops;
}

bool scan_hex(struct str *s, uint8_t *out, size_t n)
{
    const unsigned char *p = (const unsigned char *)s->ptr;
    uint64_t bad = 0;
    size_t i = 0;
    if (s->len < 2 * n)
        return false;
    for (; i + 4 <= n; i += 4)
        bad |= hex_eight(p + 2 * i, out + i);
    for (; i < n; i++) {
        unsigned hi = digits_of[p[2 * i]], lo = digits_of[p[2 * i + 1]];
        bad |= hi | lo;
        out[i] = (uint8_t)(hi << 4 | lo);
    }
    skip(s, 2 * n);
    return bad < 0x80;
}

bool scan_hash(struct str *s, struct merkle_hash *ret)
{
    return scan_lit(s, "\"") && scan_hex(s, ret->b, MERKLE_HASH) && scan_lit(s, "\"");
}

bool scan_hashes(struct str *s, struct merkle_hash *out, size_t cap, size_t *ret_n)
{
    size_t n = 0;
    if (!scan_lit(s, "["))
        return false;
    while (!scan_lit(s, "]")) {
        if (n == cap || (n && !scan_lit(s, ",")) || !scan_hash(s, &out[n]))
            return false;
        n++;
    }
    *ret_n = n;
    return true;
}

bool scan_uuid(struct str *s, struct uuid *ret)
{
    static const int groups[] = { 4, 2, 2, 2, 6 };
    uint8_t *p = ret->b;
    for (int g = 0; g < 5; g++) {
        if ((g && !scan_lit(s, "-")) || !scan_hex(s, p, (size_t)groups[g]))
            return false;
        p += groups[g];
    }
    return true;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' || c == '-';
}

bool scan_is_word(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_word_char(s.ptr[i]))
            return false;
    return true;
}

bool scan_word(struct str *s, char *out, size_t cap)
{
    size_t n = 0;
    if (!scan_lit(s, "\""))
        return false;
    while (n < s->len && is_word_char(s->ptr[n]))
        n++;
    if (n >= cap)
        return false;
    memcpy(out, s->ptr, n);
    out[n] = 0;
    skip(s, n);
    return scan_lit(s, "\"");
}

bool scan_base64(struct str *s, void *out, size_t cap, size_t *ret_n)
{
    if (!scan_lit(s, "\""))
        return false;
    const char *end = s->len ? memchr(s->ptr, '"', s->len) : NULL;
    if (!end || !base64_decode(str_n(s->ptr, (size_t)(end - s->ptr)), out, cap, ret_n, false))
        return false;
    skip(s, (size_t)(end - s->ptr) + 1);
    return true;
}

void scan_put_hash(struct buf *b, const struct merkle_hash *h)
{
    static const char digits[] = "0123456789abcdef";
    char out[2 * MERKLE_HASH + 2], *p = out;
    *p++ = '"';
    for (int i = 0; i < MERKLE_HASH; i++) {
        *p++ = digits[h->b[i] >> 4];
        *p++ = digits[h->b[i] & 15];
    }
    *p = '"';
    buf_add(b, out, sizeof out);
}

void scan_put_hashes(struct buf *b, const struct merkle_hash *h, size_t n)
{
    buf_add_char(b, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(b, ',');
        scan_put_hash(b, &h[i]);
    }
    buf_add_char(b, ']');
}

void scan_put_base64(struct buf *b, const void *p, size_t n)
{
    char text[BASE64_MAX(HEAD_BODY_MAX)];
    if (n > HEAD_BODY_MAX) {
        b->overflow = true;
        return;
    }
    buf_add_char(b, '"');
    buf_add(b, text, base64_encode(p, n, text, false));
    buf_add_char(b, '"');
}

void scan_put_uuid(struct buf *b, struct uuid u)
{
    char text[UUID_TEXT];
    uuid_text(u, text);
    buf_add_char(b, '"');
    buf_add_c(b, text);
    buf_add_char(b, '"');
}
