/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the one description of a C struct: lookup, limits, absence, checks of values, and the boot check.
 *
 * Lookup is linear with the first letter compared first: tables have a dozen rows, and that beats any hash. */
#include "core/table/schema.h"
#include "core/base/assert.h"

#include <inttypes.h>
#include <stdio.h>

enum { DFLT_STR = 1024, DFLT_JSON = 65536, DFLT_BYTES = 1 << 20, DFLT_LIST = 1000, MAX_FIELDS = 256, MAX_SUB_DEPTH = 16 };

const struct field *schema_find(const struct schema *s, struct str name)
{
    for (size_t i = 0; i < s->nfields; i++) {
        const char *n = s->fields[i].name;
        if (name.len && n[0] == name.ptr[0] && strlen(n) == name.len && !memcmp(n, name.ptr, name.len))
            return &s->fields[i];
    }
    return NULL;
}

int name_index(const char *const *names, struct str s)
{
    for (int i = 0; names[i]; i++)
        if (str_eq_c(s, names[i]))
            return i;
    return -1;
}

static bool is_unlimited(const struct field *f)
{
    return f->max < f->min || (f->min == 0 && f->max == 0);
}

int64_t field_min(const struct field *f)
{
    bool number = f->type == FT_I32 || f->type == FT_I64 || f->type == FT_F64;
    if (number && f->min == 0 && f->max == 0)
        return f->type == FT_I32 ? INT32_MIN : INT64_MIN;
    return f->min;
}

int64_t field_max(const struct field *f)
{
    if (!is_unlimited(f))
        return f->max;
    switch (f->type) {
    case FT_I32: return INT32_MAX;
    case FT_STR: return DFLT_STR;
    case FT_JSON: return DFLT_JSON;
    case FT_BYTES: return DFLT_BYTES;
    case FT_LIST: return DFLT_LIST;
    default: return INT64_MAX;
    }
}

bool field_is_absent(const struct field *f, const void *base)
{
    const void *p = field_at(f, base);
    if (f->has)
        return !*((const bool *)base + f->has - 1);
    switch (f->type) {
    case FT_STR:
    case FT_JSON:
    case FT_BYTES: return !((const struct str *)p)->ptr;
    case FT_UUID: return uuid_is_nil(*(const struct uuid *)p);
    case FT_TIME: return ((const struct timestamp *)p)->us == 0;
    case FT_SUB: {
        const char *b = p;
        return f->size == 0 || (b[0] == 0 && !memcmp(b, b + 1, f->size - 1));
    }
    case FT_LIST: return (f->flags & F_NOEMPTY) && !((const struct slice *)p)->n;
    default: return false;
    }
}

void field_set_has(const struct field *f, void *base, bool has)
{
    if (f->has)
        *((bool *)base + f->has - 1) = has;
}

size_t ftype_size(const struct field *list)
{
    switch (list->item) {
    case FT_SUB: return list->sub->size;
    case FT_STR: return sizeof(struct str);
    case FT_UUID: return sizeof(struct uuid);
    case FT_F64: return sizeof(double);
    case FT_I64: return sizeof(int64_t);
    case FT_ENUM: return sizeof(int);
    default: ASSERT(!"list item type"); return 0;
    }
}

/* Characters of UTF-8: every byte that does not continue one. */
static int64_t count_chars(struct str s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += (s.ptr[i] & 0xC0) != 0x80;
    return n;
}

enum errc field_check_str(const struct field *f, struct str s, struct err *e)
{
    /* The limits of a list are those of the list: its strings have the default limit. */
    int64_t min = f->type == FT_LIST ? 0 : field_min(f), max = f->type == FT_LIST ? DFLT_STR : field_max(f);
    int64_t n = (int64_t)s.len < min || (int64_t)s.len > max || min > 0 ? count_chars(s) : 0;
    if (n < min && min == 1)
        return FAIL(e, INVALID, "must not be empty");
    if (n < min)
        return FAIL(e, INVALID, "must have at least %" PRId64 " characters, has %" PRId64, min, n);
    if (n > max)
        return FAIL(e, INVALID, "must have at most %" PRId64 " characters, has %" PRId64, max, n);
    const char *why = "have another form";
    if (f->check && !f->check(s, &why))
        return FAIL(e, INVALID, "must %s", why);
    return ERR_OK;
}

static enum errc fail_range(const struct field *f, const char *got, struct err *e)
{
    if (f->flags & F_SECRET)
        got = "another";
    if (is_unlimited(f) && f->type != FT_I32 && !f->min)
        return FAIL(e, INVALID, "is out of range: %s", got);
    if (is_unlimited(f) && f->type != FT_I32)
        return FAIL(e, INVALID, "must be at least %" PRId64 ", is %s", f->min, got);
    return FAIL(e, INVALID, "must be from %" PRId64 " to %" PRId64 ", is %s", field_min(f), field_max(f), got);
}

static enum errc check_item(const struct field *f, int64_t v, struct err *e)
{
    if ((f->item_min == 0 && f->item_max == 0) || (v >= f->item_min && v <= f->item_max))
        return ERR_OK;
    return FAIL(e, INVALID, "must be from %" PRId64 " to %" PRId64 ", is %" PRId64, f->item_min, f->item_max, v);
}

enum errc field_check_i64(const struct field *f, int64_t v, struct err *e)
{
    if (f->type == FT_LIST)
        return check_item(f, v, e);
    if (v >= field_min(f) && v <= field_max(f))
        return ERR_OK;
    char got[24];
    snprintf(got, sizeof got, "%" PRId64, v);
    return fail_range(f, got, e);
}

/* NaN is in no range. */
static enum errc check_real(const struct field *f, double v, struct err *e)
{
    if ((f->is_above ? v > f->real_min : v >= f->real_min) && v <= f->real_max)
        return ERR_OK;
    if (f->is_above)
        return FAIL(e, INVALID, "must be above %g and at most %g, is %.9g", f->real_min, f->real_max, v);
    return FAIL(e, INVALID, "must be from %g to %g, is %.9g", f->real_min, f->real_max, v);
}

enum errc field_check_f64(const struct field *f, double v, struct err *e)
{
    if (field_has_real_range(f))
        return check_real(f, v, e);
    if (f->type == FT_LIST || (f->min == 0 && f->max == 0))
        return ERR_OK;
    if (v >= (double)f->min && (is_unlimited(f) || v <= (double)f->max))
        return ERR_OK;
    char got[32];
    snprintf(got, sizeof got, "%.9g", v);
    return fail_range(f, got, e);
}

bool check_slug(struct str s, const char **why)
{
    *why = "be lower-case letters, digits and hyphens, start with no hyphen and have at most 63 characters";
    if (s.len < 1 || s.len > 63 || s.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return true;
}

/* Control characters (C0, DEL, C1), line and paragraph separators, and the bidirectional marks of Unicode UAX #9. */
static bool is_refused_in_name(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F || c == 0x2028 || c == 0x2029 ||
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

bool check_name(struct str s, const char **why)
{
    *why = "be printable text without control or direction characters";
    if (!str_is_utf8(s))
        return false;
    for (size_t i = 0; i < s.len;) {
        unsigned char b = (unsigned char)s.ptr[i];
        int more = b >= 0xF0 ? 3 : b >= 0xE0 ? 2 : b >= 0xC0 ? 1 : 0;
        uint32_t c = more ? b & (0x3Fu >> more) : b;
        for (int k = 1; k <= more; k++)
            c = c << 6 | ((unsigned char)s.ptr[i + (size_t)k] & 0x3F);
        if (is_refused_in_name(c))
            return false;
        i += (size_t)more + 1;
    }
    return true;
}

static bool is_plain_name(const char *n)
{
    for (const char *p = n; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$", *p))
            return false;
    return *n != '\0';
}

static enum errc check_field(const struct schema *s, const struct field *f, struct err *e)
{
#define BAD(...) return FAIL(e, INTERNAL, "schema " __VA_ARGS__)
    bool from_url = f->flags & (F_PATH | F_QUERY);
    enum ftype t = f->type == FT_LIST ? f->item : f->type;
    if (!f->name || !is_plain_name(f->name))
        BAD("%s: a field has no plain name", s->name);
    if (!f->doc || !*f->doc)
        BAD("%s: field %s has no doc", s->name, f->name);
    if (f->offset + f->size > s->size)
        BAD("%s: field %s lies outside the struct", s->name, f->name);
    if (t == FT_ENUM && (!f->names || !f->names[0]))
        BAD("%s: field %s has no enum names", s->name, f->name);
    if (t == FT_SUB && !f->sub)
        BAD("%s: field %s has no sub schema", s->name, f->name);
    if (f->type == FT_SUB && f->sub->size != f->size)
        BAD("%s: field %s is not of type %s", s->name, f->name, f->sub->name);
    if (f->type == FT_LIST && (t == FT_LIST || t == FT_BOOL || t == FT_I32 || t == FT_JSON || t == FT_BYTES || t == FT_TIME))
        BAD("%s: field %s: lists of that type do not exist", s->name, f->name);
    if (from_url && (t == FT_SUB || t == FT_JSON))
        BAD("%s: field %s cannot come from the URL", s->name, f->name);
    if ((f->flags & F_REQ) && f->dflt)
        BAD("%s: field %s is required and has a default", s->name, f->name);
    if ((f->flags & F_LATE) && (!f->dflt || f->has || f->type == FT_LIST || t == FT_SUB || t == FT_JSON))
        BAD("%s: field %s is new to readers of the release before, so it needs a plain default", s->name, f->name);
    if (f->check && t != FT_STR)
        BAD("%s: field %s has a check but is no string", s->name, f->name);
    for (const struct field *o = s->fields; o < f; o++)
        if (!strcmp(o->name, f->name))
            BAD("%s: two fields are named %s", s->name, f->name);
#undef BAD
    return ERR_OK;
}

static enum errc check_default(const struct schema *s, const struct field *f, struct err *e)
{
    if (!f->dflt)
        return ERR_OK;
    struct arena *a = arena_new(s->size + (1 << 16));
    enum errc rc = field_from_text(f, str_c(f->dflt), arena_alloc(a, s->size), a, e);
    arena_free(a);
    return rc ? FAIL(e, INTERNAL, "schema %s: field %s: its default is not a value of it", s->name, f->name) : ERR_OK;
}

static enum errc check_deep(const struct schema *s, int depth, struct err *e)
{
    if (!s->name || !s->doc || !*s->doc)
        return FAIL(e, INTERNAL, "schema %s has no doc", s->name ? s->name : "?");
    if (s->nfields > MAX_FIELDS)
        return FAIL(e, INTERNAL, "schema %s has more than %d fields", s->name, MAX_FIELDS);
    if (depth > MAX_SUB_DEPTH)
        return FAIL(e, INTERNAL, "schema %s is nested too deep, or in itself", s->name);
    for (size_t i = 0; i < s->nfields; i++) {
        TRY(check_field(s, &s->fields[i], e));
        TRY(check_default(s, &s->fields[i], e));
        if (s->fields[i].sub)
            TRY(check_deep(s->fields[i].sub, depth + 1, e));
    }
    return ERR_OK;
}

enum errc schema_check_table(const struct schema *s, struct err *e)
{
    return check_deep(s, 0, e);
}
