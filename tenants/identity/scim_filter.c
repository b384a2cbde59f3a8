/* SPDX-License-Identifier: Apache-2.0 */
/* scim_filter.c - a parser by recursive descent, and the judge. */
#include "tenants/identity/scim_filter.h"

struct parser {
    struct arena *a;
    const struct scim_attr *attrs;
    struct str urn, text;
    size_t at;
    int depth;
    struct err *e;
};

static enum errc parse_or(struct parser *p, const struct sfilter **ret);

static void skip(struct parser *p)
{
    while (p->at < p->text.len && p->text.ptr[p->at] == ' ')
        p->at++;
}

static bool take_char(struct parser *p, char c)
{
    skip(p);
    if (p->at >= p->text.len || p->text.ptr[p->at] != c)
        return false;
    p->at++;
    return true;
}

static struct str peek_word(struct parser *p)
{
    skip(p);
    size_t n = p->at;
    while (n < p->text.len && !strchr(" ()[]\"", p->text.ptr[n]) && p->text.ptr[n])
        n++;
    return str_n(p->text.ptr + p->at, n - p->at);
}

static bool take_word(struct parser *p, const char *word)
{
    struct str w = peek_word(p);
    if (!scim_name_eq(w, str_c(word)))
        return false;
    p->at += w.len;
    return true;
}

static enum errc wrong(struct parser *p, const char *what)
{
    return FAIL(p->e, SCIM_FILTER, "The filter is not understood at byte %zu: %s", p->at, what);
}

static struct sfilter *node(struct parser *p, enum sfilter_kind kind, const struct sfilter *a, const struct sfilter *b)
{
    struct sfilter *f = ARENA_NEW(p->a, struct sfilter);
    *f = (struct sfilter){ .kind = kind, .a = a, .b = b };
    return f;
}

static enum errc parse_attr(struct parser *p, struct sfilter *f)
{
    struct str word = peek_word(p), head, rest;
    size_t n = p->urn.len;
    p->at += word.len;
    if (n && word.len > n && word.ptr[n] == ':' && scim_name_eq(str_n(word.ptr, n), p->urn))
        word = str_n(word.ptr + n + 1, word.len - n - 1);
    bool has_sub = str_cut(word, '.', &head, &rest);
    f->attr = scim_attr_find(p->attrs, head);
    f->sub = f->attr && has_sub ? scim_attr_find(f->attr->subs, rest) : NULL;
    if (!f->attr || (has_sub && !f->sub))
        return wrong(p, "there is no such attribute");
    return ERR_OK;
}

/* The JSON string at p->at, read by the one JSON parser there is. */
static enum errc parse_string(struct parser *p, struct str *ret)
{
    size_t end = p->at + 1;
    const struct jval *v;
    struct err ignored;
    while (end < p->text.len && p->text.ptr[end] != '"')
        end += p->text.ptr[end] == '\\' ? 2 : 1;
    if (end >= p->text.len)
        return wrong(p, "the string has no end");
    struct str literal = str_n(p->text.ptr + p->at, end + 1 - p->at);
    if (jval_parse(p->a, str_fmt(p->a, "[%.*s]", STR_ARG(literal)), 0, &v, &ignored) != ERR_OK || jval_type(jval_at(v, 0)) != JT_STR)
        return wrong(p, "that is not a string");
    p->at = end + 1;
    *ret = jval_str(jval_at(v, 0));
    return ERR_OK;
}

static enum errc parse_value(struct parser *p, struct sfilter *f, const struct scim_attr *judged)
{
    bool is_flag = true;
    skip(p);
    if (p->at < p->text.len && p->text.ptr[p->at] == '"') {
        TRY(parse_string(p, &f->text));
        is_flag = scim_name_eq(f->text, STR("true")) || scim_name_eq(f->text, STR("false"));
        f->flag = scim_name_eq(f->text, STR("true"));
    } else if (take_word(p, "null")) {
        f->text = STR_NULL;
        return f->op == SOP_EQ || f->op == SOP_NE ? ERR_OK : wrong(p, "null is equal to something or it is not");
    } else if (take_word(p, "true") || take_word(p, "false")) {
        char last = p->text.ptr[p->at - 2];
        f->flag = last == 'u' || last == 'U';
        f->text = f->flag ? STR("true") : STR("false");
        if (judged->type != SCIM_BOOLEAN)
            return wrong(p, "that attribute is text");
    } else {
        return wrong(p, "a string, true, false or null belongs there");
    }
    if (judged->type == SCIM_BOOLEAN && (!is_flag || (f->op != SOP_EQ && f->op != SOP_NE)))
        return wrong(p, "that attribute is true or false, and only equal to one of them");
    return ERR_OK;
}

static enum errc parse_compare(struct parser *p, const struct sfilter **ret)
{
    static const char *const ops[] = { "eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le", "pr" };
    struct sfilter *f = node(p, SF_COMPARE, NULL, NULL);
    int op = 0;
    TRY(parse_attr(p, f));
    *ret = f;
    if (!f->sub && f->attr->multi && p->at < p->text.len && p->text.ptr[p->at] == '[') {
        struct parser inner = *p;
        inner.at++;
        inner.attrs = f->attr->subs;
        inner.urn = STR_NULL;
        f->kind = SF_ITEM;
        TRY(parse_or(&inner, &f->a));
        p->at = inner.at;
        return take_char(p, ']') ? ERR_OK : wrong(p, "] belongs there");
    }
    while (op <= SOP_PR && !take_word(p, ops[op]))
        op++;
    if (op > SOP_PR)
        return wrong(p, "there is no such operator");
    f->op = (enum sfilter_op)op;
    if (op == SOP_PR)
        return ERR_OK;
    const struct scim_attr *judged = f->sub ? f->sub : f->attr;
    if (judged->type == SCIM_COMPLEX) {
        f->sub = judged->multi ? scim_attr_find(judged->subs, STR("value")) : NULL;
        judged = f->sub;
    }
    return judged ? parse_value(p, f, judged) : wrong(p, "name one of its sub-attributes");
}

static enum errc parse_term(struct parser *p, const struct sfilter **ret)
{
    if (p->depth >= SCIM_FILTER_DEPTH)
        return wrong(p, "it is nested too deep");
    p->depth++;
    size_t start = p->at;
    bool negated = take_word(p, "not");
    if (take_char(p, '(')) {
        const struct sfilter *inner;
        TRY(parse_or(p, &inner));
        if (!take_char(p, ')'))
            return wrong(p, ") belongs there");
        *ret = negated ? node(p, SF_NOT, inner, NULL) : inner;
    } else if (negated) {
        p->at = start;
        return wrong(p, "( follows not");
    } else {
        TRY(parse_compare(p, ret));
    }
    p->depth--;
    return ERR_OK;
}

static enum errc parse_and(struct parser *p, const struct sfilter **ret)
{
    const struct sfilter *right;
    TRY(parse_term(p, ret));
    while (take_word(p, "and")) {
        TRY(parse_term(p, &right));
        *ret = node(p, SF_AND, *ret, right);
    }
    return ERR_OK;
}

static enum errc parse_or(struct parser *p, const struct sfilter **ret)
{
    const struct sfilter *right;
    if (p->depth >= SCIM_FILTER_DEPTH)
        return wrong(p, "it is nested too deep");
    p->depth++;
    TRY(parse_and(p, ret));
    while (take_word(p, "or")) {
        TRY(parse_and(p, &right));
        *ret = node(p, SF_OR, *ret, right);
    }
    p->depth--;
    return ERR_OK;
}

enum errc sfilter_parse(struct arena *a, const struct scim_attr *attrs, struct str urn, struct str text, const struct sfilter **ret,
                        struct err *e)
{
    struct parser p = { .a = a, .attrs = attrs, .urn = urn, .text = text, .e = e };
    if (text.len > SCIM_FILTER_MAX)
        return FAIL(e, SCIM_FILTER, "A filter has at most %d bytes", SCIM_FILTER_MAX);
    TRY(parse_or(&p, ret));
    skip(&p);
    return p.at == text.len ? ERR_OK : wrong(&p, "nothing belongs there");
}

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static int compare(struct str a, struct str b, bool exact)
{
    if (exact)
        return str_cmp(a, b);
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int d = (unsigned char)folded(a.ptr[i]) - (unsigned char)folded(b.ptr[i]);
        if (d)
            return d;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static bool contains(struct str in, struct str what, bool exact)
{
    for (size_t i = 0; i + what.len <= in.len; i++)
        if (!compare(str_n(in.ptr + i, what.len), what, exact))
            return true;
    return false;
}

static bool by_order(enum sfilter_op op, int order)
{
    switch (op) {
    case SOP_GT: return order > 0;
    case SOP_GE: return order >= 0;
    case SOP_LT: return order < 0;
    case SOP_LE: return order <= 0;
    default: return order == 0;
    }
}

static bool compare_value(const struct sfilter *f, const struct scim_attr *judged, const struct sval *v)
{
    if (v->type == SV_BOOL)
        return v->flag == f->flag;
    struct str x = v->text, y = f->text;
    int64_t at, wanted;
    bool exact = judged->case_exact;
    if (judged->type == SCIM_DATETIME && time_parse(x, &at) && time_parse(y, &wanted))
        return by_order(f->op, (at > wanted) - (at < wanted));
    switch (f->op) {
    case SOP_CO: return contains(x, y, exact);
    case SOP_SW: return x.len >= y.len && !compare(str_n(x.ptr, y.len), y, exact);
    case SOP_EW: return x.len >= y.len && !compare(str_n(x.ptr + x.len - y.len, y.len), y, exact);
    default: return by_order(f->op, compare(x, y, exact));
    }
}

/* One value, or one item of a list. `ne` is judged here as eq and turned round. */
static bool match_value(const struct sfilter *f, const struct sval *v)
{
    const struct scim_attr *judged = f->sub ? f->sub : f->attr;
    if (f->sub)
        v = sval_get(v, f->sub->name);
    bool is_there = !sval_is_empty(v) && (v->type != SV_STRING || v->text.len);
    if (f->op == SOP_PR)
        return is_there;
    bool same = f->text.ptr ? is_there && compare_value(f, judged, v) : !is_there;
    return f->op == SOP_NE ? !same : same;
}

static bool match_list(const struct sfilter *f, const struct sval *list)
{
    for (const struct sval *item = list ? list->first : NULL; item; item = item->next)
        if (f->kind == SF_ITEM ? sfilter_match(f->a, item) : match_value(f, item))
            return true;
    return f->kind == SF_COMPARE && !list && (f->op == SOP_NE ? f->text.ptr != NULL : f->op == SOP_EQ && !f->text.ptr);
}

bool sfilter_match(const struct sfilter *f, const struct sval *obj)
{
    switch (f->kind) {
    case SF_AND: return sfilter_match(f->a, obj) && sfilter_match(f->b, obj);
    case SF_OR: return sfilter_match(f->a, obj) || sfilter_match(f->b, obj);
    case SF_NOT: return !sfilter_match(f->a, obj);
    case SF_COMPARE:
    case SF_ITEM: break;
    }
    const struct sval *v = sval_get(obj, f->attr->name);
    return f->attr->multi ? match_list(f, v) : match_value(f, v);
}

struct str sfilter_key(const struct sfilter *f, const char *attr, const char *sub)
{
    if (f->kind == SF_AND) {
        struct str key = sfilter_key(f->a, attr, sub);
        return key.ptr ? key : sfilter_key(f->b, attr, sub);
    }
    if (f->kind == SF_ITEM && sub && !strcmp(f->attr->name, attr))
        return sfilter_key(f->a, sub, NULL);
    bool is_it = f->kind == SF_COMPARE && f->op == SOP_EQ && !strcmp(f->attr->name, attr) && !f->sub == !sub && (!sub || !strcmp(f->sub->name, sub));
    return is_it ? f->text : STR_NULL;
}

bool sfilter_mentions(const struct sfilter *f, const char *attr)
{
    if (f->kind == SF_AND || f->kind == SF_OR)
        return sfilter_mentions(f->a, attr) || sfilter_mentions(f->b, attr);
    return f->kind == SF_NOT ? sfilter_mentions(f->a, attr) : !strcmp(f->attr->name, attr);
}

enum errc sfilter_fill(struct arena *a, const struct sfilter *f, struct sval *obj, bool *ret_fills, struct err *e)
{
    *ret_fills = f->kind == SF_AND || (f->kind == SF_COMPARE && f->op == SOP_EQ && f->text.ptr && !f->sub);
    if (!*ret_fills)
        return ERR_OK;
    if (f->kind == SF_AND) {
        TRY(sfilter_fill(a, f->a, obj, ret_fills, e));
        return *ret_fills ? sfilter_fill(a, f->b, obj, ret_fills, e) : ERR_OK;
    }
    bool is_flag = f->attr->type == SCIM_BOOLEAN;
    if (!is_flag)
        TRY(sval_check_text(f->attr, f->text, e));
    sval_set(obj, f->attr->name, is_flag ? sval_bool(a, f->flag) : sval_string(a, f->text));
    return ERR_OK;
}

enum errc scim_path_parse(struct arena *a, const struct scim_resource *r, struct str text, struct scim_path *ret, struct err *e)
{
    ptrdiff_t open = str_find(text, '['), close = -1;
    *ret = (struct scim_path){ 0 };
    if (text.len > SCIM_FILTER_MAX)
        return FAIL(e, SCIM_PATH, "A path has at most %d bytes", SCIM_FILTER_MAX);
    for (size_t i = text.len; open >= 0 && close < 0 && i-- > (size_t)open;)
        close = text.ptr[i] == ']' ? (ptrdiff_t)i : -1;
    if (open >= 0 && close < 0)
        return FAIL(e, SCIM_PATH, "The path has a [ without ]");
    struct str head = open >= 0 ? str_n(text.ptr, (size_t)open) : text, tail = open >= 0 ? str_n(text.ptr + close + 1, text.len - (size_t)close - 1) : STR("");
    if (!scim_path_find(r, head, &ret->attr, &ret->sub))
        return FAIL(e, SCIM_PATH, "Unknown attribute");
    if (open < 0)
        return ERR_OK;
    if (!ret->attr->multi || ret->sub)
        return FAIL(e, SCIM_PATH, "%s is not a list, so it cannot be filtered", ret->attr->name);
    if (tail.len) {
        ret->sub = tail.ptr[0] == '.' ? scim_attr_find(ret->attr->subs, str_n(tail.ptr + 1, tail.len - 1)) : NULL;
        if (!ret->sub)
            return FAIL(e, SCIM_PATH, "Unknown sub-attribute of %s", ret->attr->name);
    }
    return sfilter_parse(a, ret->attr->subs, STR_NULL, str_n(text.ptr + open + 1, (size_t)(close - open - 1)), &ret->items, e);
}
