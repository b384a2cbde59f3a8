/* SPDX-License-Identifier: Apache-2.0 */
/* scim_patch.c - one operation after the other on the tree. */
#include "tenants/identity/scim_patch.h"

#include <stdlib.h>

enum op { OP_ADD, OP_REPLACE, OP_REMOVE };

struct patch {
    struct arena *a;
    const struct scim_resource *r;
    struct sval *resource;
    struct err *e;
};

static enum errc may_write(struct patch *p, const struct scim_path *path, bool takes_away)
{
    const struct scim_attr *at = path->sub ? path->sub : path->attr;
    if (path->attr->mutability == SCIM_READ_ONLY || at->mutability == SCIM_READ_ONLY || (path->sub && at->mutability == SCIM_IMMUTABLE))
        return FAIL(p->e, SCIM_MUTABILITY, "%s cannot be changed", at->name);
    if (takes_away && at->required)
        return FAIL(p->e, SCIM_MUTABILITY, "%s is required", at->name);
    return ERR_OK;
}

/* Whichever item came last to be primary is it. */
static void keep_one_primary(struct patch *p, struct sval *list, const struct sval *winner)
{
    const struct sval *primary = sval_get(winner, "primary");
    if (!primary || !primary->flag)
        return;
    for (struct sval *item = list->first; item; item = item->next)
        if (item != winner && sval_get(item, "primary"))
            sval_set(item, "primary", sval_bool(p->a, false));
}

static bool has_item(const struct sval *list, const struct sval *item)
{
    struct str value = sval_text(item, "value");
    for (const struct sval *i = list->first; i; i = i->next)
        if (sval_eq(i, item) || (value.ptr && item->n == 1 && str_eq(sval_text(i, "value"), value)))
            return true;
    return false;
}

/* Items of these lists are the same when their value is: they are compared once, at the end, because there may be many. */
static bool is_by_value(const struct scim_attr *attr)
{
    const struct scim_attr *value = scim_attr_find(attr->subs, STR("value"));
    return attr->multi && value && value->mutability == SCIM_IMMUTABLE;
}

static enum errc add_items(struct patch *p, const struct scim_attr *attr, struct sval *items)
{
    struct sval *list = sval_get(p->resource, attr->name);
    bool by_value = is_by_value(attr);
    if (!items)
        return ERR_OK;
    if (!list) {
        sval_set(p->resource, attr->name, items);
        return ERR_OK;
    }
    for (struct sval *item = items->first, *next; item; item = next) {
        next = item->next;
        if (!by_value && has_item(list, item))
            continue;
        if (!by_value && list->n >= (size_t)attr->max)
            return FAIL_AT(p->e, INVALID, attr->name, "%s takes at most %d items", attr->name, attr->max);
        sval_append(list, item);
        keep_one_primary(p, list, item);
    }
    return ERR_OK;
}

static void merge(struct sval *into, struct sval *from)
{
    for (struct sval *m = from ? from->first : NULL, *next; m; m = next) {
        next = m->next;
        sval_set(into, m->name, m);
    }
}

/* The value of one sub-attribute, read by its row. */
static enum errc read_sub(struct patch *p, const struct scim_attr *sub, const struct jval *v, struct sval **ret)
{
    return sval_attr(p->a, sub, v, SVAL_INPUT, ret, p->e);
}

/* Without [ ]: of the attribute as a whole, or of one sub-attribute wherever it stands. */
static enum errc write_plain(struct patch *p, enum op op, const struct scim_path *path, const struct jval *v)
{
    struct sval *value, *at = sval_get(p->resource, path->attr->name);
    TRY(may_write(p, path, false));
    if (path->sub) {
        if (path->attr->multi && !at)
            return FAIL(p->e, SCIM_NO_TARGET, "There is no item of %s", path->attr->name);
        for (struct sval *item = path->attr->multi ? at->first : NULL; item; item = item->next) {
            TRY(read_sub(p, path->sub, v, &value));
            sval_set(item, path->sub->name, value);
        }
        if (path->attr->multi)
            return ERR_OK;
        TRY(read_sub(p, path->sub, v, &value));
        struct sval *obj = at ? sval_copy(p->a, at) : sval_new(p->a, SV_OBJECT);
        sval_set(obj, path->sub->name, value);
        sval_set(p->resource, path->attr->name, obj);
        return ERR_OK;
    }
    TRY(sval_attr(p->a, path->attr, v, SVAL_INPUT, &value, p->e));
    if (path->attr->multi && op == OP_ADD)
        return add_items(p, path->attr, value);
    if (path->attr->type == SCIM_COMPLEX && !path->attr->multi && at && value) {
        merge(at, value);
        return ERR_OK;
    }
    if (!value)
        TRY(may_write(p, path, true));
    sval_set(p->resource, path->attr->name, value);
    return ERR_OK;
}

/* With [ ] and a value: the matching items, or, for add, a new one that is as the filter says. */
static enum errc write_items(struct patch *p, enum op op, const struct scim_path *path, const struct jval *v)
{
    struct sval *list = sval_get(p->resource, path->attr->name), *value;
    bool found = false;
    TRY(may_write(p, path, false));
    for (struct sval *item = list ? list->first : NULL; item; item = item->next) {
        if (!sfilter_match(path->items, item))
            continue;
        found = true;
        if (path->sub) {
            TRY(read_sub(p, path->sub, v, &value));
            sval_set(item, path->sub->name, value);
        } else {
            TRY(sval_attr(p->a, path->attr, v, SVAL_INPUT, &value, p->e));
            merge(item, value ? value->first : NULL);
        }
        keep_one_primary(p, list, item);
    }
    if (found)
        return ERR_OK;
    struct sval *item = sval_new(p->a, SV_OBJECT), *items = sval_new(p->a, SV_LIST);
    bool fills = op == OP_ADD;
    if (fills)
        TRY(sfilter_fill(p->a, path->items, item, &fills, p->e));
    if (!fills)
        return FAIL(p->e, SCIM_NO_TARGET, "No item of %s matches", path->attr->name);
    if (path->sub) {
        TRY(read_sub(p, path->sub, v, &value));
        sval_set(item, path->sub->name, value);
    } else {
        TRY(sval_attr(p->a, path->attr, v, SVAL_INPUT, &value, p->e));
        merge(item, value ? value->first : NULL);
    }
    sval_append(items, item);
    return add_items(p, path->attr, items);
}

static bool is_wanted_away(const struct scim_path *path, const struct sval *named, const struct sval *item)
{
    if (path->items)
        return sfilter_match(path->items, item);
    for (const struct sval *n = named ? named->first : NULL; n; n = n->next)
        if (str_eq(sval_text(n, "value"), sval_text(item, "value")))
            return true;
    return !named;
}

static enum errc take_away(struct patch *p, const struct scim_path *path, const struct jval *v)
{
    struct sval *at = sval_get(p->resource, path->attr->name), *named = NULL;
    TRY(may_write(p, path, true));
    if (!at)
        return ERR_OK;
    if (!path->attr->multi) {
        struct sval *obj = path->sub ? sval_copy(p->a, at) : NULL;
        if (obj)
            sval_set(obj, path->sub->name, NULL);
        sval_set(p->resource, path->attr->name, obj);
        return ERR_OK;
    }
    if (v && !path->items && !path->sub) {
        TRY(sval_attr(p->a, path->attr, v, SVAL_INPUT, &named, p->e));
        if (!named)
            return ERR_OK;
    }
    struct sval *left = sval_new(p->a, SV_LIST);
    for (struct sval *item = at->first, *next; item; item = next) {
        next = item->next;
        bool hit = is_wanted_away(path, named, item);
        if (hit && path->sub)
            sval_set(item, path->sub->name, NULL);
        if ((!hit || path->sub) && item->n)
            sval_append(left, item);
    }
    sval_set(p->resource, path->attr->name, left);
    return ERR_OK;
}

static enum errc write_path(struct patch *p, enum op op, const struct scim_path *path, const struct jval *v)
{
    return path->items ? write_items(p, op, path, v) : write_plain(p, op, path, v);
}

/* Without a path the value's members are the paths. */
static enum errc write_members(struct patch *p, enum op op, const struct jval *v)
{
    if (jval_type(v) != JT_OBJECT)
        return FAIL_AT(p->e, INVALID, "/Operations", "Without a path the value must be an object");
    for (struct jval_iter it = jval_iter(v); jval_next(&it);) {
        struct scim_path path;
        struct err unknown;
        if (scim_name_eq(str_c(it.name), str_c(p->r->urn)) && jval_type(it.value) == JT_OBJECT) {
            for (struct jval_iter in = jval_iter(it.value); jval_next(&in);)
                if (scim_path_parse(p->a, p->r, str_c(in.name), &path, &unknown) == ERR_OK)
                    TRY(write_path(p, op, &path, in.value));
        } else if (scim_path_parse(p->a, p->r, str_c(it.name), &path, &unknown) == ERR_OK) {
            if (path.attr->mutability != SCIM_READ_ONLY)
                TRY(write_path(p, op, &path, it.value));
        }
    }
    return ERR_OK;
}

/* What SCIM knows and Falaj does not keep: attributes of an extension (enterprise users, a provider's own), and the rest of a
 * core user
 * (RFC 7643 §4.1). Providers send them by path, too, and must not be stopped by it. */
static bool is_passed_over(const struct scim_resource *r, struct str path)
{
    static const char *const words[] = { "title", "nickName", "profileUrl", "userType", "preferredLanguage", "locale",
        "timezone", "password",
                                         "phoneNumbers", "ims", "photos", "addresses", "entitlements", "roles",
                                             "x509Certificates", "groups", NULL };
    struct str urn = str_c(r->urn);
    bool is_own = path.len > urn.len && path.ptr[urn.len] == ':' && scim_name_eq(str_n(path.ptr, urn.len), urn);
    if (!is_own && path.len > 4 && scim_name_eq(str_n(path.ptr, 4), STR("urn:")))
        return true;
    if (r != &scim_user_resource)
        return false;
    if (is_own)
        path = str_n(path.ptr + urn.len + 1, path.len - urn.len - 1);
    size_t n = 0;
    while (n < path.len && path.ptr[n] != '.' && path.ptr[n] != '[')
        n++;
    for (int i = 0; words[i]; i++)
        if (scim_name_eq(str_n(path.ptr, n), str_c(words[i])) && !scim_attr_find(r->attrs, str_c(words[i])))
            return true;
    return false;
}

static enum errc apply(struct patch *p, const struct jval *op)
{
    static const char *const names[] = { "add", "replace", "remove" };
    const struct jval *path_text = NULL, *value = NULL;
    struct str name = STR_NULL;
    struct scim_path path;
    int kind = 0;
    for (struct jval_iter it = jval_iter(op); jval_type(op) == JT_OBJECT && jval_next(&it);) {
        if (scim_name_eq(str_c(it.name), STR("op")))
            name = jval_str(it.value);
        else if (scim_name_eq(str_c(it.name), STR("path")))
            path_text = it.value;
        else if (scim_name_eq(str_c(it.name), STR("value")))
            value = it.value;
    }
    while (kind <= OP_REMOVE && !scim_name_eq(name, str_c(names[kind])))
        kind++;
    if (kind > OP_REMOVE)
        return FAIL_AT(p->e, MALFORMED, "/Operations", "op is add, replace or remove");
    if (path_text && jval_type(path_text) != JT_STR)
        return FAIL(p->e, SCIM_PATH, "A path is a string");
    if (kind != OP_REMOVE && !value)
        return FAIL_AT(p->e, INVALID, "/Operations", "%s needs a value", names[kind]);
    if (!path_text)
        return kind == OP_REMOVE ? FAIL(p->e, SCIM_NO_TARGET, "remove needs a path") : write_members(p, (enum op)kind, value);
    if (is_passed_over(p->r, jval_str(path_text)))
        return ERR_OK;
    TRY(scim_path_parse(p->a, p->r, jval_str(path_text), &path, p->e));
    return kind == OP_REMOVE ? take_away(p, &path, value) : write_path(p, (enum op)kind, &path, value);
}

struct placed { struct sval *item; struct str value; size_t at; };

static int by_value_then_place(const void *x, const void *y)
{
    const struct placed *a = x, *b = y;
    int d = str_cmp(a->value, b->value);
    return d ? d : (a->at > b->at) - (a->at < b->at);
}

/* Of items with the same value the first stays. */
static void drop_doubles(struct arena *a, struct sval *list)
{
    if (sval_is_empty(list))
        return;
    struct placed *all = ARENA_ARRAY(a, struct placed, list->n);
    struct sval *left = sval_new(a, SV_LIST);
    bool *drop = ARENA_ARRAY(a, bool, list->n);
    size_t n = 0;
    for (struct sval *item = list->first; item; item = item->next, n++)
        all[n] = (struct placed){ item, sval_text(item, "value"), n };
    qsort(all, n, sizeof *all, by_value_then_place);
    for (size_t i = 1; i < n; i++)
        drop[all[i].at] = str_eq(all[i].value, all[i - 1].value);
    size_t at = 0;
    for (struct sval *item = list->first, *next; item; item = next, at++) {
        next = item->next;
        if (!drop[at])
            sval_append(left, item);
    }
    list->first = left->first;
    list->last = left->last;
    list->n = left->n;
}

enum errc scim_patch(struct arena *a, const struct scim_resource *r, const struct jval *body, struct sval *resource, struct err *e)
{
    struct patch p = { a, r, resource, e };
    const struct jval *ops = NULL;
    if (jval_type(body) != JT_OBJECT)
        return FAIL(e, MALFORMED, "The body must be a JSON object");
    for (struct jval_iter it = jval_iter(body); jval_next(&it);)
        if (scim_name_eq(str_c(it.name), STR("Operations")))
            ops = it.value;
    if (jval_type(ops) != JT_ARRAY || !jval_len(ops))
        return FAIL_AT(e, MALFORMED, "/Operations", "Operations must be a non-empty list");
    if (jval_len(ops) > SCIM_OPS_MAX)
        return FAIL_AT(e, LIMIT, "/Operations", "A PATCH has at most %d operations", SCIM_OPS_MAX);
    for (size_t i = 0; i < jval_len(ops); i++)
        TRY(apply(&p, jval_at(ops, i)));
    for (const struct scim_attr *attr = r->attrs; attr->name; attr++)
        if (is_by_value(attr))
            drop_doubles(a, sval_get(resource, attr->name));
    return ERR_OK;
}
