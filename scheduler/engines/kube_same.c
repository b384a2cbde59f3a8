/* SPDX-License-Identifier: Apache-2.0 */
/* kube_same.c - a walk over what was sent, beside what was stored; as deep as the parser lets documents be. */
#include "scheduler/engines/kube_same.h"

static const struct { const char *suffix; int64_t thousandths; } units[] = {
    { "m", 1 }, { "", 1000 }, { "k", 1000000 }, { "M", 1000000000 }, { "G", 1000000000000 }, { "T", 1000000000000000 },
    { "Ki", 1000LL << 10 }, { "Mi", 1000LL << 20 }, { "Gi", 1000LL << 30 }, { "Ti", 1000LL << 40 },
};

int64_t kube_quantity(struct str s)
{
    size_t n = 0;
    int64_t whole = 0, part = 0, scale = 1;
    for (; n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9'; n++)
        whole = whole > INT64_MAX / 100 ? whole : whole * 10 + (s.ptr[n] - '0');
    if (!n)
        return -1;
    if (n < s.len && s.ptr[n] == '.')
        for (n++; n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9'; n++)
            if (scale < 1000) {
                part = part * 10 + (s.ptr[n] - '0');
                scale *= 10;
            }
    const struct str suffix = str_n(s.ptr + n, s.len - n);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int64_t v, rest;
        if (!str_eq_c(suffix, units[i].suffix))
            continue;
        if (__builtin_mul_overflow(whole, units[i].thousandths, &v) || __builtin_mul_overflow(part, units[i].thousandths, &rest)
            || __builtin_add_overflow(v, rest / scale, &v))
            return INT64_MAX;
        return v;
    }
    return -1;
}

static bool is_same_value(const struct jval *sent, const struct jval *stored, bool is_quantity)
{
    if (jval_type(sent) != jval_type(stored))
        return false;
    switch (jval_type(sent)) {
    case JT_STR: {
        const struct str a = jval_str(sent), b = jval_str(stored);
        return str_eq(a, b) || (is_quantity && kube_quantity(a) >= 0 && kube_quantity(a) == kube_quantity(b));
    }
    case JT_INT:
    case JT_REAL:
        return jval_f64(sent, 0) == jval_f64(stored, 1);
    case JT_BOOL:
        return jval_bool(sent, false) == jval_bool(stored, true);
    default:
        return true;
    }
}

static struct str walk(struct arena *a, struct str path, const struct jval *sent, const struct jval *stored, bool is_quantity)
{
    if (jval_type(sent) != JT_OBJECT && jval_type(sent) != JT_ARRAY)
        return is_same_value(sent, stored, is_quantity) ? STR_NULL : path;
    if (jval_type(sent) != jval_type(stored))       /* an empty one may be left out */
        return jval_len(sent) || jval_type(stored) != JT_NONE ? path : STR_NULL;
    const bool is_list = jval_type(sent) == JT_ARRAY;
    if (is_list && jval_len(sent) != jval_len(stored))
        return path;
    size_t i = 0;
    for (struct jval_iter it = jval_iter(sent); jval_next(&it); i++) {
        const struct jval *other = is_list ? jval_at(stored, i) : jval_get(stored, it.name);
        const bool has_quantities = !is_list && (str_eq_c(str_c(it.name), "requests") || str_eq_c(str_c(it.name), "limits")
                                                || str_eq_c(str_c(it.name), "sizeLimit"));
        const struct str below = is_list ? str_fmt(a, "%.*s[%zu]", STR_ARG(path), i)
                                         : str_fmt(a, "%.*s%s%s", STR_ARG(path), path.len ? "." : "", it.name);
        const struct str differs = walk(a, below, it.value, other, is_quantity || has_quantities);
        if (differs.ptr)
            return differs;
    }
    return STR_NULL;
}

struct str kube_differs(struct arena *a, const struct jval *sent, const struct jval *stored)
{
    return walk(a, STR(""), sent, stored, false);
}
