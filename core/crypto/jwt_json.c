/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_json.c - the JSON of the JWT door: the members of one object as spans, and decoders for them. */
#include "core/crypto/jwt_json_int.h"
#include "core/base/json_scan.h"

static bool take_member(struct arena *a, struct json_scan *s, struct jws_object *o)
{
    if (o->n == JWS_JSON_MEMBERS)
        return false;
    struct jws_member *m = &o->m[o->n];
    json_scan_space(s);
    const char *start = s->at;
    size_t n;
    if (!json_scan_string(s, NULL, &n) || !jws_json_string(a, str_n(start, (size_t)(s->at - start)), &m->name)
        || !json_scan_take(s, ':'))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (str_eq(o->m[i].name, m->name))
            return false;
    json_scan_space(s);
    start = s->at;
    if (!json_scan_value(s, JWS_JSON_DEPTH))
        return false;
    m->raw = str_n(start, (size_t)(s->at - start));
    o->n++;
    return true;
}

bool jws_json_object(struct arena *a, struct str text, struct jws_object *ret)
{
    struct json_scan s = { text.ptr, text.ptr + text.len, NULL };
    ret->n = 0;
    if (!str_is_utf8(text) || !json_scan_take(&s, '{'))
        return false;
    if (!json_scan_take(&s, '}')) {
        do {
            if (!take_member(a, &s, ret))
                return false;
        } while (json_scan_take(&s, ','));
        if (!json_scan_take(&s, '}'))
            return false;
    }
    json_scan_space(&s);
    return s.at == s.end;
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
    struct json_scan s = { raw.ptr, raw.ptr + raw.len, NULL };
    char *out = arena_try(a, raw.len);
    if (!out || !json_scan_string(&s, out, &n) || s.at != s.end)
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
    struct json_scan s = { raw.ptr, raw.ptr + raw.len, NULL };
    if (!json_scan_take(&s, '['))
        return false;
    if (json_scan_take(&s, ']'))
        return true;
    do {
        json_scan_space(&s);
        const char *start = s.at;
        size_t n;
        if (*ret_n == max || !json_scan_string(&s, NULL, &n)
            || !jws_json_string(a, str_n(start, (size_t)(s.at - start)), &ret[*ret_n]))
            return false;
        (*ret_n)++;
    } while (json_scan_take(&s, ','));
    return json_scan_take(&s, ']');
}
