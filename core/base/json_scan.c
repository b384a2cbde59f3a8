/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.c - a recursive descent that only measures, and a decoder for strings.
 *
 * An escape is never longer decoded than written. */
#include "core/base/json_scan.h"

static bool refuse(struct json_scan *s, const char *why)
{
    s->why = why;
    return false;
}

void json_scan_space(struct json_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

bool json_scan_take(struct json_scan *s, char c)
{
    json_scan_space(s);
    if (s->at >= s->end || *s->at != c)
        return refuse(s, "another character is due here");
    s->at++;
    return true;
}

bool json_scan_word(struct json_scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return refuse(s, "a value is due here");
    s->at += n;
    return true;
}

static bool hex4(struct json_scan *s, unsigned *ret)
{
    uint8_t b[2];
    if (s->end - s->at < 4 || !hex_decode(str_n(s->at, 4), b, 2))
        return refuse(s, "this escape is not JSON");
    *ret = (unsigned)b[0] << 8 | b[1];
    s->at += 4;
    return true;
}

static bool take_escape(struct json_scan *s, char out[4], size_t *ret_n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    unsigned u = 0, low = 0;
    if (s->at >= s->end)
        return refuse(s, "the string is never closed");
    char c = *s->at++;
    const char *hit = c ? strchr(from, c) : NULL;
    if (hit) {
        out[0] = to[hit - from];
        *ret_n = 1;
        return true;
    }
    if (c != 'u')
        return refuse(s, "this escape is not JSON");
    if (!hex4(s, &u))
        return false;
    if (u == 0)
        return refuse(s, "a NUL in a string");
    if (u >= 0xdc00 && u <= 0xdfff)
        return refuse(s, "half a surrogate pair");
    if (u >= 0xd800 && u <= 0xdbff) {
        if (!json_scan_word(s, "\\u") || !hex4(s, &low) || low < 0xdc00 || low > 0xdfff)
            return refuse(s, "half a surrogate pair");
        u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
    }
    size_t n = u < 0x80 ? 1 : u < 0x800 ? 2 : u < 0x10000 ? 3 : 4;
    static const unsigned lead[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; u >>= 6)
        out[i] = (char)(0x80 | (u & 0x3f));
    out[0] = (char)(lead[n] | u);
    *ret_n = n;
    return true;
}

bool json_scan_string(struct json_scan *s, char *out, size_t *ret_n)
{
    char utf8[4];
    size_t n = 0, len;
    if (!json_scan_take(s, '"'))
        return false;
    while (s->at < s->end) {
        unsigned char c = (unsigned char)*s->at;
        if (c < 0x20)
            return refuse(s, "a control character in a string");
        s->at++;
        if (c == '"') {
            *ret_n = n;
            return true;
        }
        utf8[0] = (char)c;
        len = 1;
        if (c == '\\' && !take_escape(s, utf8, &len))
            return false;
        if (out)
            memcpy(out + n, utf8, len);
        n += len;
    }
    return refuse(s, "the string is never closed");
}

static bool digits(struct json_scan *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return s->at > from;
}

static bool one_of(struct json_scan *s, const char *set)
{
    bool hit = s->at < s->end && *s->at && strchr(set, *s->at);
    s->at += hit;
    return hit;
}

bool json_scan_number(struct json_scan *s)
{
    const char *start = s->at;
    double value;
    one_of(s, "-");
    bool ok = one_of(s, "0") || digits(s);
    if (ok && one_of(s, "."))
        ok = digits(s);
    if (ok && one_of(s, "eE")) {
        one_of(s, "+-");
        ok = digits(s);
    }
    return (ok && str_to_f64(str_n(start, (size_t)(s->at - start)), &value)) || refuse(s, "this is no number");
}

bool json_scan_u64(struct json_scan *s, uint64_t *ret)
{
    const char *at = s->at;
    uint64_t v = 0;
    if (at >= s->end || *at < '0' || *at > '9')
        return refuse(s, "a non-negative integer is due here");
    if (*at == '0' && at + 1 < s->end && at[1] >= '0' && at[1] <= '9')
        return refuse(s, "a number with a leading zero");
    for (; at < s->end && *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*at - '0'), &v))
            return refuse(s, "a number beyond 64 bits");
    s->at = at;
    *ret = v;
    return true;
}

bool json_scan_value(struct json_scan *s, int depth)
{
    size_t n;
    json_scan_space(s);
    if (s->at >= s->end || depth < 1)
        return refuse(s, depth < 1 ? "too many levels" : "a value is due here");
    char open = *s->at;
    if (open == '"')
        return json_scan_string(s, NULL, &n);
    if (open != '{' && open != '[')
        return json_scan_word(s, "true") || json_scan_word(s, "false") || json_scan_word(s, "null") || json_scan_number(s);
    char close = open == '{' ? '}' : ']';
    s->at++;
    if (json_scan_take(s, close))
        return true;
    do {
        if (open == '{' && (!json_scan_string(s, NULL, &n) || !json_scan_take(s, ':')))
            return false;
        if (!json_scan_value(s, depth - 1))
            return false;
    } while (json_scan_take(s, ','));
    return json_scan_take(s, close);
}
