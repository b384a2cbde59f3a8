/* SPDX-License-Identifier: Apache-2.0 */
/* scim_value.c - reading, changing and printing the tree. */
#include "tenants/identity/scim_value.h"

struct sval *sval_new(struct arena *a, enum sval_type type)
{
    struct sval *v = ARENA_NEW(a, struct sval);
    v->type = type;
    return v;
}

struct sval *sval_string(struct arena *a, struct str text)
{
    struct sval *v = sval_new(a, SV_STRING);
    v->text = text;
    return v;
}

struct sval *sval_bool(struct arena *a, bool flag)
{
    struct sval *v = sval_new(a, SV_BOOL);
    v->flag = flag;
    return v;
}

void sval_append(struct sval *list, struct sval *item)
{
    item->next = NULL;
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    list->n++;
}

struct sval *sval_get(const struct sval *obj, const char *name)
{
    if (obj && obj->type == SV_OBJECT)
        for (struct sval *m = obj->first; m; m = m->next)
            if (!strcmp(m->name, name))
                return m;
    return NULL;
}

void sval_remove(struct sval *parent, const struct sval *child)
{
    struct sval *before = NULL;
    for (struct sval *m = parent->first; m; before = m, m = m->next) {
        if (m != child)
            continue;
        *(before ? &before->next : &parent->first) = m->next;
        if (parent->last == m)
            parent->last = before;
        parent->n--;
        return;
    }
}

bool sval_is_empty(const struct sval *v)
{
    return !v || ((v->type == SV_LIST || v->type == SV_OBJECT) && !v->n);
}

void sval_set(struct sval *obj, const char *name, struct sval *v)
{
    struct sval *old = sval_get(obj, name);
    if (old)
        sval_remove(obj, old);
    if (sval_is_empty(v))
        return;
    v->name = name;
    sval_append(obj, v);
}

struct sval *sval_copy(struct arena *a, const struct sval *v)
{
    if (!v)
        return NULL;
    struct sval *ret = sval_new(a, v->type);
    ret->name = v->name;
    ret->text = v->text;
    ret->flag = v->flag;
    for (const struct sval *m = v->first; m; m = m->next)
        sval_append(ret, sval_copy(a, m));
    return ret;
}

bool sval_eq(const struct sval *a, const struct sval *b)
{
    if (sval_is_empty(a) || sval_is_empty(b))
        return sval_is_empty(a) && sval_is_empty(b);
    if (a->type != b->type || a->n != b->n)
        return false;
    if (a->type == SV_STRING)
        return str_eq(a->text, b->text);
    if (a->type == SV_BOOL)
        return a->flag == b->flag;
    const struct sval *y = b->first;
    for (const struct sval *x = a->first; x; x = x->next, y = y->next)
        if (!sval_eq(x, a->type == SV_OBJECT ? sval_get(b, x->name) : y))
            return false;
    return true;
}

struct str sval_text(const struct sval *obj, const char *name)
{
    const struct sval *v = sval_get(obj, name);
    return v && v->type == SV_STRING ? v->text : STR_NULL;
}

static enum errc read_bool(struct arena *a, const struct scim_attr *attr, const struct jval *v, struct sval **ret, struct err *e)
{
    bool flag = jval_bool(v, false);
    if (jval_type(v) == JT_STR && scim_name_eq(jval_str(v), STR("true")))
        flag = true;
    else if (jval_type(v) != JT_BOOL && !(jval_type(v) == JT_STR && scim_name_eq(jval_str(v), STR("false"))))
        return FAIL_AT(e, INVALID, attr->name, "%s must be true or false", attr->name);
    *ret = sval_bool(a, flag);
    return ERR_OK;
}

enum errc sval_check_text(const struct scim_attr *attr, struct str text, struct err *e)
{
    const char *why;
    if (text.len > (size_t)(attr->max ? attr->max : 256))
        return FAIL_AT(e, INVALID, attr->name, "%s is longer than %d bytes", attr->name, attr->max ? attr->max : 256);
    if (text.len && !check_name(text, &why))
        return FAIL_AT(e, INVALID, attr->name, "%s must %s", attr->name, why);
    return ERR_OK;
}

static enum errc read_string(struct arena *a, const struct scim_attr *attr, const struct jval *v, struct sval **ret, struct err *e)
{
    struct str text = jval_str(v);
    if (jval_type(v) != JT_STR)
        return FAIL_AT(e, INVALID, attr->name, "%s must be a string", attr->name);
    TRY(sval_check_text(attr, text, e));
    *ret = text.len || !attr->required ? sval_string(a, text) : NULL;
    return ERR_OK;
}

/* One value of the attribute; for a list, one item. */
static enum errc read_one(struct arena *a, const struct scim_attr *attr, const struct jval *v, enum sval_read how, struct sval **ret,
                          struct err *e)
{
    *ret = NULL;
    if (jval_type(v) == JT_NULL)
        return ERR_OK;
    if (attr->type == SCIM_BOOLEAN)
        return read_bool(a, attr, v, ret, e);
    if (attr->type != SCIM_COMPLEX)
        return read_string(a, attr, v, ret, e);
    if (jval_type(v) != JT_OBJECT)
        return FAIL_AT(e, INVALID, attr->name, "%s must be %s", attr->name, attr->multi ? "a list of objects" : "an object");
    struct sval *obj = sval_new(a, SV_OBJECT);
    for (struct jval_iter it = jval_iter(v); jval_next(&it);) {
        const struct scim_attr *sub = scim_attr_find(attr->subs, str_c(it.name));
        struct sval *value;
        if (!sub || (how == SVAL_INPUT && sub->mutability == SCIM_READ_ONLY))
            continue;
        TRY(read_one(a, sub, it.value, how, &value, e));
        sval_set(obj, sub->name, value);
    }
    *ret = obj->n ? obj : NULL;
    return ERR_OK;
}

enum errc sval_attr(struct arena *a, const struct scim_attr *attr, const struct jval *v, enum sval_read how, struct sval **ret, struct err *e)
{
    if (!attr->multi)
        return read_one(a, attr, v, how, ret, e);
    struct sval *list = sval_new(a, SV_LIST), *item;
    bool many = jval_type(v) == JT_ARRAY;
    if (many && attr->max && jval_len(v) > (size_t)attr->max)
        return FAIL_AT(e, INVALID, attr->name, "%s takes at most %d items", attr->name, attr->max);
    for (size_t i = 0; i < (many ? jval_len(v) : 1); i++) {
        TRY(read_one(a, attr, many ? jval_at(v, i) : v, how, &item, e));
        if (item)
            sval_append(list, item);
    }
    *ret = list->n ? list : NULL;
    return ERR_OK;
}

enum errc sval_resource(struct arena *a, const struct scim_resource *r, const struct jval *v, enum sval_read how, struct sval **ret,
                        struct err *e)
{
    if (jval_type(v) != JT_OBJECT)
        return FAIL(e, MALFORMED, "The body must be a JSON object");
    struct sval *obj = sval_new(a, SV_OBJECT);
    for (struct jval_iter it = jval_iter(v); jval_next(&it);) {
        const struct scim_attr *attr = scim_attr_find(r->attrs, str_c(it.name));
        struct sval *value;
        if (!attr || (how == SVAL_INPUT && attr->mutability == SCIM_READ_ONLY))
            continue;
        if (sval_get(obj, attr->name))
            return FAIL_AT(e, INVALID, attr->name, "%s is given twice", attr->name);
        TRY(sval_attr(a, attr, it.value, how, &value, e));
        sval_set(obj, attr->name, value);
    }
    *ret = obj;
    return ERR_OK;
}

static enum errc check_items(const struct scim_attr *attr, const struct sval *list, struct err *e)
{
    int primaries = 0;
    if (list && attr->max && list->n > (size_t)attr->max)
        return FAIL_AT(e, INVALID, attr->name, "%s takes at most %d items", attr->name, attr->max);
    for (const struct sval *item = list ? list->first : NULL; item; item = item->next) {
        const struct sval *primary = sval_get(item, "primary");
        primaries += primary && primary->flag;
        for (const struct scim_attr *sub = attr->subs; sub->name; sub++)
            if (sub->required && !sval_get(item, sub->name))
                return FAIL_AT(e, INVALID, attr->name, "Every item of %s needs a %s", attr->name, sub->name);
    }
    return primaries <= 1 ? ERR_OK : FAIL_AT(e, INVALID, attr->name, "Only one item of %s can be primary", attr->name);
}

enum errc sval_check(const struct scim_resource *r, const struct sval *resource, struct err *e)
{
    for (const struct scim_attr *a = r->attrs; a->name; a++) {
        if (a->required && !sval_get(resource, a->name))
            return FAIL_AT(e, INVALID, a->name, "%s is required", a->name);
        if (a->multi)
            TRY(check_items(a, sval_get(resource, a->name), e));
    }
    return ERR_OK;
}

void sval_print_value(const struct sval *v, struct buf *out)
{
    if (v->type == SV_STRING) {
        buf_add_json(out, v->text);
    } else if (v->type == SV_BOOL) {
        buf_add_c(out, v->flag ? "true" : "false");
    } else {
        buf_add_char(out, v->type == SV_LIST ? '[' : '{');
        for (const struct sval *m = v->first; m; m = m->next) {
            if (m != v->first)
                buf_add_char(out, ',');
            if (v->type == SV_OBJECT)
                buf_printf(out, "\"%s\":", m->name);
            sval_print_value(m, out);
        }
        buf_add_char(out, v->type == SV_LIST ? ']' : '}');
    }
}

/* Is the attribute, or with sub its sub-attribute, in the list of paths? *ret_inner: only a sub-attribute of it is. */
static bool is_named(const struct scim_resource *r, struct str list, const struct scim_attr *attr, const struct scim_attr *sub, bool *ret_inner)
{
    struct str one;
    *ret_inner = false;
    for (bool more = list.len > 0; more;) {
        const struct scim_attr *a, *s;
        more = str_cut(list, ',', &one, &list);
        if (!scim_path_find(r, str_trim(one), &a, &s) || a != attr)
            continue;
        if (!s || s == sub)
            return true;
        *ret_inner = *ret_inner || !sub;
    }
    return false;
}

static void print_subs(const struct scim_resource *r, const struct scim_attr *attr, const struct sval *obj, const struct scim_select *sel,
                       bool only, struct buf *out)
{
    bool first = true, inner;
    buf_add_char(out, '{');
    for (const struct sval *m = obj->first; m; m = m->next) {
        const struct scim_attr *sub = scim_attr_find(attr->subs, str_c(m->name));
        if (only ? !is_named(r, sel->attributes, attr, sub, &inner) : is_named(r, sel->excluded, attr, sub, &inner))
            continue;
        buf_printf(out, "%s\"%s\":", first ? "" : ",", m->name);
        sval_print_value(m, out);
        first = false;
    }
    buf_add_char(out, '}');
}

static void print_attr(const struct scim_resource *r, const struct scim_attr *attr, const struct sval *v, const struct scim_select *sel,
                       bool only, struct buf *out)
{
    buf_printf(out, ",\"%s\":", attr->name);
    if (attr->type != SCIM_COMPLEX) {
        sval_print_value(v, out);
    } else if (!attr->multi) {
        print_subs(r, attr, v, sel, only, out);
    } else {
        buf_add_char(out, '[');
        for (const struct sval *item = v->first; item; item = item->next) {
            buf_add_c(out, item == v->first ? "" : ",");
            print_subs(r, attr, item, sel, only, out);
        }
        buf_add_char(out, ']');
    }
}

/* *ret_inner: of it only the sub-attributes that are asked for. */
static bool shows(const struct scim_resource *r, const struct scim_select *sel, const struct scim_attr *attr, bool *ret_inner)
{
    bool ignored;
    *ret_inner = false;
    if (attr->always)
        return true;
    if (sel->attributes.ptr)
        return is_named(r, sel->attributes, attr, NULL, ret_inner) || *ret_inner;
    return !is_named(r, sel->excluded, attr, NULL, &ignored);
}

bool sval_shows(const struct scim_resource *r, const struct scim_select *select, const char *attr)
{
    bool inner;
    return shows(r, select, scim_attr_find(r->attrs, str_c(attr)), &inner);
}

void sval_print(const struct scim_resource *r, const struct sval *resource, const struct scim_select *sel, struct buf *out)
{
    buf_printf(out, "{\"schemas\":[\"%s\"]", r->urn);
    for (const struct scim_attr *attr = r->attrs; attr->name; attr++) {
        const struct sval *v = sval_get(resource, attr->name);
        bool inner = false;
        if (!v || !shows(r, sel, attr, &inner))
            continue;
        print_attr(r, attr, v, sel, inner, out);
    }
    buf_add_char(out, '}');
}
