/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.c - the next thing, or a refusal. */
#include "core/data/json_read.h"

static bool refuse(struct json_scan *s, const char *why)
{
    s->why = why;
    return false;
}

bool json_read_key(struct json_scan *s, const char *key)
{
    size_t n = strlen(key);
    json_scan_space(s);
    if ((size_t)(s->end - s->at) < n + 2 || s->at[0] != '"' || memcmp(s->at + 1, key, n) || s->at[n + 1] != '"')
        return refuse(s, "another member is due here");
    s->at += n + 2;
    return json_scan_take(s, ':');
}

bool json_read_text(struct json_scan *s, struct arena *a, size_t most, struct str *ret)
{
    struct json_scan probe;
    size_t n;
    json_scan_space(s);
    probe = *s;
    if (!json_scan_string(&probe, NULL, &n)) {
        *s = probe;
        return false;
    }
    if (n > most)
        return refuse(s, "a text is too long");
    char *p = arena_try(a, (size_t)(probe.at - s->at) + 1);
    if (!p)
        return refuse(s, "there is no memory for a text");
    if (!json_scan_string(s, p, &n))
        return false;
    *ret = str_n(p, n);
    p[n] = 0;
    return str_is_utf8(*ret) || refuse(s, "a text is no UTF-8");
}

bool json_read_i64(struct json_scan *s, int64_t *ret)
{
    uint64_t v;
    json_scan_space(s);
    bool is_negative = s->at < s->end && *s->at == '-';
    s->at += is_negative;
    if (!json_scan_u64(s, &v))
        return false;
    if (v > INT64_MAX)
        return refuse(s, "a number is too large");
    *ret = is_negative ? -(int64_t)v : (int64_t)v;
    return true;
}

bool json_read_f64(struct json_scan *s, double *ret)
{
    json_scan_space(s);
    const char *from = s->at;
    if (!json_scan_number(s))
        return false;
    return str_to_f64(str_n(from, (size_t)(s->at - from)), ret) || refuse(s, "a number is not finite");
}

bool json_read_more(struct json_scan *s, char close, bool *first)
{
    json_scan_space(s);
    if (s->at < s->end && *s->at == close) {
        s->at++;
        return false;
    }
    bool ok = *first || json_scan_take(s, ',');
    *first = false;
    return ok;
}

bool json_read_i64s(struct json_scan *s, int64_t *ret, size_t most, size_t *ret_n)
{
    size_t n = 0;
    bool first = true, ok = json_scan_take(s, '[');
    s->why = ok ? NULL : s->why;
    while (ok && json_read_more(s, ']', &first)) {
        if (n == most)
            return refuse(s, "a list of numbers is too long");
        ok = json_read_i64(s, &ret[n++]);
    }
    *ret_n = n;
    return ok && s->why == NULL;
}
