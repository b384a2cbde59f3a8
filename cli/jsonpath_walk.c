/* SPDX-License-Identifier: Apache-2.0 */
/* jsonpath_walk.c - the paths of jsonpath.c: .name, ['name'], [n], [-n], [a:b], [a,b], [*], .*, ..name and [?(@.a == "b")]. One
 * function cuts the next step off a path; checking a path and walking a document both use it. */
#include "cli/jsonpath_int.h"
#include "cli/output.h"

#include <math.h>
#include <stdlib.h>

enum { SUBS_MAX = 16 };
static const int64_t NO_INDEX = INT64_MAX;

enum step_kind { STEP_NAME, STEP_DEEP, STEP_ALL, STEP_INDEX, STEP_SLICE, STEP_FILTER };

struct step {
    enum step_kind kind;
    struct str names[SUBS_MAX];         /* NAME: one or more; DEEP: one */
    int64_t index[SUBS_MAX];            /* INDEX: one or more; SLICE: from, to, by; NO_INDEX where left out */
    size_t n;
    struct str filter;                  /* between ?( and ) */
};

static void add(struct values *v, const struct jval *one)
{
    if (!one)
        return;
    if (v->n == v->room) {
        size_t room = v->room ? 2 * v->room : 16;
        const struct jval **list = ARENA_ARRAY(v->arena, const struct jval *, room);
        memcpy(list, v->list ? v->list : list, v->n * sizeof(*list));
        v->list = list;
        v->room = room;
    }
    v->list[v->n++] = one;
}

struct str jsonpath_skip(struct str s, size_t n)
{
    return str_n(s.ptr + n, s.len - n);
}

/* The length of a quoted text with its quotes; 0: it does not end. */
size_t jsonpath_quoted_len(struct str s)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.ptr[i] == '\\')
            i++;
        else if (s.ptr[i] == s.ptr[0])
            return i + 1;
    }
    return 0;
}

/* The length up to and with the bracket that closes s[0], quotes and brackets inside skipped; 0: it is not closed. */
size_t jsonpath_bracket_len(struct str s, char open, char close)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"' || s.ptr[i] == '\'') {
            size_t n = jsonpath_quoted_len(jsonpath_skip(s, i));
            if (!n)
                return 0;
            i += n - 1;
        } else if (s.ptr[i] == open) {
            depth++;
        } else if (s.ptr[i] == close && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

static bool index_of(struct str text, int64_t *ret)
{
    text = str_trim(text);
    *ret = NO_INDEX;
    return !text.len || str_to_i64(text, INT32_MIN, INT32_MAX, ret);
}

static bool slice_of(struct str inside, struct step *ret)
{
    struct str part;
    ret->kind = STEP_SLICE;
    ret->index[0] = ret->index[1] = ret->index[2] = NO_INDEX;
    for (bool more = true; more; ret->n++) {
        more = str_cut(inside, ':', &part, &inside);
        if (ret->n == 3 || !index_of(part, &ret->index[ret->n]))
            return false;
    }
    return ret->index[2] == NO_INDEX || ret->index[2] > 0;
}

static bool union_of(struct str inside, struct step *ret)
{
    bool is_name = inside.ptr[0] == '\'' || inside.ptr[0] == '"';
    ret->kind = is_name ? STEP_NAME : STEP_INDEX;
    for (;;) {
        inside = str_trim(inside);
        size_t n = is_name ? (inside.len && (inside.ptr[0] == '\''
            || inside.ptr[0] == '"') ? jsonpath_quoted_len(inside) : 0) : inside.len;
        for (size_t i = 0; !is_name && i < inside.len; i++)
            n = inside.ptr[i] == ',' && i < n ? i : n;
        if (!n || ret->n == SUBS_MAX)
            return false;
        if (is_name)
            ret->names[ret->n++] = str_n(inside.ptr + 1, n - 2);
        else if (!index_of(str_n(inside.ptr, n), &ret->index[ret->n]) || ret->index[ret->n++] == NO_INDEX)
            return false;
        inside = str_trim(jsonpath_skip(inside, n));
        if (!inside.len)
            return true;
        if (inside.ptr[0] != ',')
            return false;
        inside = jsonpath_skip(inside, 1);
    }
}

static bool bracket_step(struct str *p, struct step *ret)
{
    size_t n = jsonpath_bracket_len(*p, '[', ']');
    if (n < 3)
        return false;
    struct str inside = str_trim(str_n(p->ptr + 1, n - 2));
    *p = jsonpath_skip(*p, n);
    if (str_eq_c(inside, "*")) {
        ret->kind = STEP_ALL;
        return true;
    }
    if (inside.len > 3 && inside.ptr[0] == '?') {
        ret->kind = STEP_FILTER;
        struct str in = str_trim(jsonpath_skip(inside, 1));
        ret->filter = str_trim(str_n(in.ptr + 1, in.len > 2 ? in.len - 2 : 0));
        return in.len > 2 && in.ptr[0] == '(' && in.ptr[in.len - 1] == ')' && ret->filter.len;
    }
    bool is_quoted = inside.len && (inside.ptr[0] == '\'' || inside.ptr[0] == '"');
    if (!is_quoted && str_find(inside, ':') >= 0)
        return slice_of(inside, ret);
    return inside.len && union_of(inside, ret);
}

/* Cut one step off *p; false: there is none that this language knows. */
static bool next_step(struct str *p, struct step *ret)
{
    *ret = (struct step){ .kind = STEP_NAME };
    if (p->ptr[0] == '[')
        return bracket_step(p, ret);
    if (p->ptr[0] != '.')
        return false;
    bool is_deep = p->len > 1 && p->ptr[1] == '.';
    *p = jsonpath_skip(*p, is_deep ? 2 : 1);
    if (p->len && p->ptr[0] == '[' && !is_deep)
        return bracket_step(p, ret);
    size_t n = 0;
    while (n < p->len && !strchr(".[ \t)=<>!", p->ptr[n]))
        n += p->ptr[n] == '\\' && n + 1 < p->len ? 2 : 1;
    if (!n)
        return false;
    bool is_all = n == 1 && p->ptr[0] == '*';
    ret->kind = is_all ? STEP_ALL : is_deep ? STEP_DEEP : STEP_NAME;
    ret->names[0] = str_n(p->ptr, n);
    ret->n = 1;
    *p = jsonpath_skip(*p, n);
    return !(is_all && is_deep);
}

/* The member of that name; a backslash keeps the character after it ("a\.b"). `items` of a list is its `data`. */
static const struct jval *member(struct arena *a, const struct jval *v, struct str name, bool is_root)
{
    char *plain = ARENA_ARRAY(a, char, name.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < name.len; i++) {
        i += name.ptr[i] == '\\' && i + 1 < name.len;
        plain[n++] = name.ptr[i];
    }
    const struct jval *found = jval_get(v, plain);
    if (!found && is_root && strcmp(plain, "items") == 0 && jval_type(jval_get(v, "data")) == JT_ARRAY)
        return jval_get(v, "data");
    return found;
}

static void deep(struct values *out, const struct jval *v, struct str name)
{
    add(out, member(out->arena, v, name, false));
    for (struct jval_iter it = jval_iter(v); jval_next(&it);)
        deep(out, it.value, name);
}

static void slice(struct values *out, const struct jval *v, const int64_t index[3])
{
    int64_t n = (int64_t)jval_len(v), from = index[0] == NO_INDEX ? 0 : index[0], to = index[1] == NO_INDEX ? n : index[1];
    int64_t by = index[2] == NO_INDEX ? 1 : index[2];
    from = from < 0 ? from + n : from;
    to = to < 0 ? to + n : to;
    for (int64_t i = from < 0 ? 0 : from; jval_type(v) == JT_ARRAY && i < to && i < n; i += by)
        add(out, jval_at(v, (size_t)i));
}

static bool passes(struct arena *a, const struct jval *root, const struct jval *item, struct str filter);

static void take_step(struct values *out, const struct step *s, const struct jval *root, const struct jval *v)
{
    switch (s->kind) {
    case STEP_NAME:
        for (size_t i = 0; i < s->n; i++)
            add(out, member(out->arena, v, s->names[i], v == root));
        break;
    case STEP_DEEP:
        deep(out, v, s->names[0]);
        break;
    case STEP_INDEX:
        for (size_t i = 0; i < s->n && jval_type(v) == JT_ARRAY; i++) {
            int64_t at = s->index[i] < 0 ? s->index[i] + (int64_t)jval_len(v) : s->index[i];
            add(out, at >= 0 ? jval_at(v, (size_t)at) : NULL);
        }
        break;
    case STEP_SLICE:
        slice(out, v, s->index);
        break;
    default:
        for (struct jval_iter it = jval_iter(v); jval_next(&it);) {
            if (s->kind == STEP_ALL || passes(out->arena, root, it.value, s->filter))
                add(out, it.value);
        }
    }
}

struct values jsonpath_walk(struct arena *a, const struct jval *root, const struct jval *at, struct str path)
{
    struct values now = { .arena = a };
    bool has_sign = path.len && (path.ptr[0] == '$' || path.ptr[0] == '@');
    add(&now, path.len && path.ptr[0] == '$' ? root : at);
    if (has_sign)
        path = jsonpath_skip(path, 1);
    for (struct step s; path.len && next_step(&path, &s);) {
        struct values next = { .arena = a };
        for (size_t i = 0; i < now.n; i++)
            take_step(&next, &s, root, now.list[i]);
        now = next;
    }
    return now;
}

struct condition {
    struct str left, right;
    const char *op;                     /* NULL: LEFT is there */
};

static struct condition condition_of(struct str filter)
{
    static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">", NULL };
    for (size_t i = 0; i < filter.len; i++) {
        char ch = filter.ptr[i];
        size_t n = ch == '"' || ch == '\'' ? jsonpath_quoted_len(jsonpath_skip(filter, i)) : ch == '['
            ? jsonpath_bracket_len(jsonpath_skip(filter, i), '[', ']') : 0;
        if (n) {
            i += n - 1;
            continue;
        }
        for (int o = 0; ops[o]; o++) {
            if (str_starts(jsonpath_skip(filter, i), ops[o]))
                return (struct condition){ str_trim(str_n(filter.ptr, i)), str_trim(jsonpath_skip(filter, i + strlen(ops[o]))),
                                          ops[o] };
        }
    }
    return (struct condition){ .left = str_trim(filter) };
}

static bool is_path(struct str side)
{
    return side.len && (side.ptr[0] == '@' || side.ptr[0] == '$' || side.ptr[0] == '.');
}

static bool number_of(struct str text, double *ret)
{
    char copy[64], *end;
    if (!text.len || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *ret = strtod(copy, &end);
    return *end == '\0' && isfinite(*ret);
}

static bool side_is_good(struct str side)
{
    double ignored;
    if (is_path(side))
        return jsonpath_path_is_good(side);
    if (side.len > 1 && (side.ptr[0] == '"' || side.ptr[0] == '\''))
        return jsonpath_quoted_len(side) == side.len;
    return str_eq_c(side, "true") || str_eq_c(side, "false") || number_of(side, &ignored);
}

/* False: a path that leads nowhere. */
static bool side_text(struct arena *a, const struct jval *root, const struct jval *item, struct str side, struct str *ret)
{
    if (is_path(side)) {
        struct values v = jsonpath_walk(a, root, item, side);
        *ret = v.n ? output_text(a, v.list[0]) : STR_NULL;
        return v.n > 0;
    }
    *ret = side.ptr[0] == '"' || side.ptr[0] == '\'' ? str_n(side.ptr + 1, side.len - 2) : side;
    return true;
}

static bool passes(struct arena *a, const struct jval *root, const struct jval *item, struct str filter)
{
    struct condition c = condition_of(filter);
    struct str left, right;
    if (!c.op)
        return jsonpath_walk(a, root, item, c.left).n > 0;
    if (!side_text(a, root, item, c.left, &left) || !side_text(a, root, item, c.right, &right))
        return false;
    double l, r;
    size_t least = left.len < right.len ? left.len : right.len;
    int order = least ? memcmp(left.ptr, right.ptr, least) : 0;
    order = order ? order : left.len < right.len ? -1 : left.len > right.len;
    if (number_of(left, &l) && number_of(right, &r))
        order = l < r ? -1 : l > r;
    switch (c.op[0]) {
    case '=': return order == 0;
    case '!': return order != 0;
    case '<': return c.op[1] ? order <= 0 : order < 0;
    default: return c.op[1] ? order >= 0 : order > 0;
    }
}

bool jsonpath_path_is_good(struct str path)
{
    if (path.len && (path.ptr[0] == '$' || path.ptr[0] == '@'))
        path = jsonpath_skip(path, 1);
    while (path.len) {
        struct step s;
        if (!next_step(&path, &s))
            return false;
        struct condition c = s.kind == STEP_FILTER ? condition_of(s.filter) : (struct condition){ 0 };
        if (s.kind == STEP_FILTER && (c.op ? !side_is_good(c.left) || !side_is_good(c.right) : !is_path(c.left)
            || !jsonpath_path_is_good(c.left)))
            return false;
    }
    return true;
}
