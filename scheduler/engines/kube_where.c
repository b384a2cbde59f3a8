/* SPDX-License-Identifier: Apache-2.0 */
/* kube_where.c - lists between commas, read once to be checked and once to be written as JSON. */
#include "scheduler/engines/kube_where.h"

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_name(struct str s, size_t most)
{
    bool ok = s.len > 0 && s.len <= most && is_alnum(s.ptr[0]) && is_alnum(s.ptr[s.len - 1]);
    for (size_t i = 0; ok && i < s.len; i++)
        ok = is_alnum(s.ptr[i]) || s.ptr[i] == '-' || s.ptr[i] == '_' || s.ptr[i] == '.';
    return ok;
}

static bool is_key(struct str s)
{
    struct str prefix, name;
    return str_cut(s, '/', &prefix, &name) ? is_name(prefix, 253) && is_name(name, 63) : is_name(s, 63);
}

static bool is_value(struct str s)
{
    return !s.len || is_name(s, 63);
}

bool kube_namespace_check(struct str s)
{
    bool ok = s.len > 0 && s.len <= 63 && s.ptr[0] != '-' && s.ptr[s.len - 1] != '-';
    for (size_t i = 0; ok && i < s.len; i++)
        ok = (s.ptr[i] >= 'a' && s.ptr[i] <= 'z') || (s.ptr[i] >= '0' && s.ptr[i] <= '9') || s.ptr[i] == '-';
    return ok;
}

bool kube_image_check(struct str s, const char **why)
{
    struct str name, sum;
    *why = "be REGISTRY/NAME@sha256: and 64 hex digits: a tag may come to mean another program";
    if (!s.len)
        return true;
    bool ok = str_cut(s, '@', &name, &sum) && name.len > 0 && sum.len == 71 && str_starts(sum, "sha256:");
    for (size_t i = 0; ok && i < name.len; i++)
        ok = is_alnum(name.ptr[i]) || (name.ptr[i] && strchr("._-/:", name.ptr[i]));
    for (size_t i = 7; ok && i < sum.len; i++)
        ok = (sum.ptr[i] >= '0' && sum.ptr[i] <= '9') || (sum.ptr[i] >= 'a' && sum.ptr[i] <= 'f');
    return ok;
}

/* Each item in turn; false: no more. */
static bool next(struct str *rest, struct str *ret)
{
    if (!rest->len)
        return false;
    if (!str_cut(*rest, ',', ret, rest))
        *rest = STR_NULL;
    return true;
}

static bool pair(struct str item, struct str *ret_key, struct str *ret_value)
{
    return str_cut(item, '=', ret_key, ret_value) && is_key(*ret_key) && is_value(*ret_value);
}

bool kube_selector_check(struct str s, const char **why)
{
    struct str rest = s, item, key, value;
    size_t n = 0;
    *why = "be KEY=VALUE between commas, at most 16, of labels as Kubernetes has them";
    while (next(&rest, &item))
        if (++n > KUBE_PAIRS_MAX || !pair(item, &key, &value))
            return false;
    return !str_ends(s, ",");
}

static bool toleration(struct str item, struct str *ret_key, struct str *ret_value, bool *ret_has_value, struct str *ret_effect)
{
    struct str taint;
    if (!str_cut(item, ':', &taint, ret_effect))
        return false;
    *ret_has_value = str_cut(taint, '=', ret_key, ret_value);
    return is_key(*ret_key) && (!*ret_has_value || is_value(*ret_value))
           && (str_eq_c(*ret_effect, "NoSchedule") || str_eq_c(*ret_effect, "PreferNoSchedule")
               || str_eq_c(*ret_effect, "NoExecute"));
}

bool kube_tolerations_check(struct str s, const char **why)
{
    struct str rest = s, item, key, value, effect;
    bool has_value;
    size_t n = 0;
    *why = "be KEY[=VALUE]:NoSchedule, :PreferNoSchedule or :NoExecute between commas, at most 16";
    while (next(&rest, &item))
        if (++n > KUBE_PAIRS_MAX || !toleration(item, &key, &value, &has_value, &effect))
            return false;
    return !str_ends(s, ",");
}

void kube_selector_json(struct str s, struct buf *out)
{
    struct str rest = s, item, key, value;
    const char *sep = "";
    buf_add_char(out, '{');
    while (next(&rest, &item)) {
        if (!pair(item, &key, &value))
            continue;
        buf_add_c(out, sep);
        buf_add_json(out, key);
        buf_add_char(out, ':');
        buf_add_json(out, value);
        sep = ",";
    }
    buf_add_char(out, '}');
}

void kube_tolerations_json(struct str s, struct buf *out)
{
    struct str rest = s, item, key, value, effect;
    const char *sep = "";
    bool has_value;
    buf_add_char(out, '[');
    while (next(&rest, &item)) {
        if (!toleration(item, &key, &value, &has_value, &effect))
            continue;
        buf_printf(out, "%s{\"operator\":\"%s\",\"key\":", sep, has_value ? "Equal" : "Exists");
        buf_add_json(out, key);
        if (has_value) {
            buf_add_c(out, ",\"value\":");
            buf_add_json(out, value);
        }
        buf_add_c(out, ",\"effect\":");
        buf_add_json(out, effect);
        buf_add_char(out, '}');
        sep = ",";
    }
    buf_add_char(out, ']');
}
