/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_json.c - the strict, small JSON reader of the JWT door: a recursive descent that only measures, and decoders for what
 * it measured. */
#include "core/crypto/jwt_json_int.h"

struct scan {
    const char *p, *end;
};

static void skip_space(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
        s->p++;
}

static bool take(struct scan *s, char c)
{
    skip_space(s);
    if (s->p >= s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool take_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool hex4(struct scan *s, unsigned *ret)
{
    uint8_t b[2];
    if (s->end - s->p < 4 || !hex_decode(str_n(s->p, 4), b, 2))
        return false;
    *ret = (unsigned)b[0] << 8 | b[1];
    s->p += 4;
    return true;
}

/* One escape after the backslash, as UTF-8. A lone surrogate or NUL is refused. */
static bool take_escape(struct scan *s, char out[4], size_t *ret_n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    unsigned u = 0, low = 0;
    if (s->p >= s->end)
        return false;
    char c = *s->p++;
    const char *at = c ? strchr(from, c) : NULL;
    if (at) {
        out[0] = to[at - from];
        *ret_n = 1;
        return true;
    }
    if (c != 'u' || !hex4(s, &u) || u == 0 || (u >= 0xdc00 && u <= 0xdfff))
        return false;
    if (u >= 0xd800 && u <= 0xdbff) {
        if (!take_word(s, "\\u") || !hex4(s, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
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

/* A string with its quotes; out NULL only measures. */
static bool take_string(struct scan *s, char *out, size_t *ret_n)
{
    char utf8[4];
    size_t n = 0, len;
    if (!take(s, '"'))
        return false;
    while (s->p < s->end) {
        unsigned char c = (unsigned char)*s->p++;
        if (c == '"') {
            *ret_n = n;
            return true;
        }
        if (c < 0x20)
            return false;
        utf8[0] = (char)c;
        len = 1;
        if (c == '\\' && !take_escape(s, utf8, &len))
            return false;
        if (out)
            memcpy(out + n, utf8, len);
        n += len;
    }
    return false;
}

static bool take_number(struct scan *s)
{
    const char *start = s->p;
    if (s->p < s->end && *s->p == '-')
        s->p++;
    const char *digits = s->p;
    while (s->p < s->end && ((*s->p >= '0' && *s->p <= '9') || strchr(".eE+-", *s->p)) && *s->p)
        s->p++;
    double value;
    bool has_leading_zero = s->p - digits > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
    return s->p > digits && *digits >= '0' && *digits <= '9' && !has_leading_zero
           && str_to_f64(str_n(start, (size_t)(s->p - start)), &value);
}

static bool skip_value(struct scan *s, int depth)
{
    size_t n;
    skip_space(s);
    if (s->p >= s->end || depth > JWS_JSON_DEPTH)
        return false;
    char open = *s->p;
    if (open == '"')
        return take_string(s, NULL, &n);
    if (open != '{' && open != '[')
        return take_word(s, "true") || take_word(s, "false") || take_word(s, "null") || take_number(s);
    char close = open == '{' ? '}' : ']';
    s->p++;
    if (take(s, close))
        return true;
    do {
        if (open == '{' && (!take_string(s, NULL, &n) || !take(s, ':')))
            return false;
        if (!skip_value(s, depth + 1))
            return false;
    } while (take(s, ','));
    return take(s, close);
}

static bool take_member(struct arena *a, struct scan *s, struct jws_object *o)
{
    if (o->n == JWS_JSON_MEMBERS)
        return false;
    struct jws_member *m = &o->m[o->n];
    skip_space(s);
    const char *start = s->p;
    size_t n;
    if (!take_string(s, NULL, &n) || !jws_json_string(a, str_n(start, (size_t)(s->p - start)), &m->name) || !take(s, ':'))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (str_eq(o->m[i].name, m->name))
            return false;
    skip_space(s);
    start = s->p;
    if (!skip_value(s, 1))
        return false;
    m->raw = str_n(start, (size_t)(s->p - start));
    o->n++;
    return true;
}

bool jws_json_object(struct arena *a, struct str text, struct jws_object *ret)
{
    struct scan s = { text.ptr, text.ptr + text.len };
    ret->n = 0;
    if (!str_is_utf8(text) || !take(&s, '{'))
        return false;
    if (!take(&s, '}')) {
        do {
            if (!take_member(a, &s, ret))
                return false;
        } while (take(&s, ','));
        if (!take(&s, '}'))
            return false;
    }
    skip_space(&s);
    return s.p == s.end;
}

struct str jws_json_get(const struct jws_object *o, const char *name)
{
    for (size_t i = 0; i < o->n; i++)
        if (str_eq_c(o->m[i].name, name))
            return o->m[i].raw;
    return STR_NULL;
}

bool jws_json_string(struct arena *a, struct str raw, struct str *ret)
{
    size_t n;
    if (raw.len < 2 || raw.ptr[0] != '"')
        return false;
    struct scan s = { raw.ptr, raw.ptr + raw.len };
    char *out = arena_try(a, raw.len);
    if (!out || !take_string(&s, out, &n) || s.p != s.end)
        return false;
    out[n] = '\0';
    *ret = str_n(out, n);
    return true;
}

bool jws_json_seconds(struct str raw, int64_t *ret)
{
    double v;
    if (!str_to_f64(raw, &v) || !(v >= 0 && v <= 253402300799.0))
        return false;
    *ret = (int64_t)v;
    return true;
}

bool jws_json_strings(struct arena *a, struct str raw, struct str *ret, size_t max, size_t *ret_n)
{
    *ret_n = 0;
    if (raw.len < 2)
        return false;
    struct scan s = { raw.ptr, raw.ptr + raw.len };
    if (!take(&s, '['))
        return false;
    if (take(&s, ']'))
        return true;
    do {
        skip_space(&s);
        const char *start = s.p;
        size_t n;
        if (*ret_n == max || !take_string(&s, NULL, &n)
            || !jws_json_string(a, str_n(start, (size_t)(s.p - start)), &ret[*ret_n]))
            return false;
        (*ret_n)++;
    } while (take(&s, ','));
    return take(&s, ']');
}
