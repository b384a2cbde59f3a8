/* SPDX-License-Identifier: Apache-2.0 */
/* schema_copy.c - a struct and all it points to, in one piece of memory, by its schema.
 *
 * Two passes of the same walk: the first counts, the second copies what the fields name; other members are copied as they are. Text gets a
 * final NUL, lists are aligned like any allocation. */
#include "core/table/schema.h"
#include "core/base/assert.h"

#include <stdlib.h>

enum { ALIGN = 16 };

struct pile {
    char *at;                   /* NULL: only count */
    size_t used;
};

static void *put(struct pile *p, const void *from, size_t n, size_t more)
{
    size_t begin = (p->used + ALIGN - 1) / ALIGN * ALIGN;
    p->used = begin + n + more;
    if (!p->at)
        return NULL;
    if (n)
        memcpy(p->at + begin, from, n);
    memset(p->at + begin + n, 0, more);
    return p->at + begin;
}

static void put_text(struct pile *p, struct str *s)
{
    void *copy = s->ptr ? put(p, s->ptr, s->len, 1) : NULL;
    if (p->at)
        s->ptr = copy;
}

static void put_struct(struct pile *p, const struct schema *s, const void *from, void *to);

static void put_value(struct pile *p, const struct field *f, enum ftype type, const void *from, void *to)
{
    struct str text;
    if (type == FT_STR || type == FT_JSON || type == FT_BYTES) {
        memcpy(&text, from, sizeof text);       /* struct json and struct bytes hold one str */
        put_text(p, &text);
        if (p->at)
            memcpy(to, &text, sizeof text);
    } else if (type == FT_SUB) {
        put_struct(p, f->sub, from, to);
    }
}

static void put_list(struct pile *p, const struct field *f, const struct slice *from, struct slice *to)
{
    size_t size = ftype_size(f);
    char *items = put(p, from->items, from->n * size, 0);
    for (size_t i = 0; i < from->n; i++)
        put_value(p, f, f->item, (const char *)from->items + i * size, items ? items + i * size : NULL);
    if (p->at)
        to->items = from->items ? items : NULL;
}

static void put_struct(struct pile *p, const struct schema *s, const void *from, void *to)
{
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        void *dst = to ? field_at(f, to) : NULL;
        if (f->type == FT_LIST)
            put_list(p, f, field_at(f, from), dst);
        else
            put_value(p, f, f->type, field_at(f, from), dst);
    }
}

void *schema_copy_new(const struct schema *s, const void *obj)
{
    struct pile p = { 0 };
    put(&p, obj, s->size, 0);
    put_struct(&p, s, obj, NULL);
    p = (struct pile){ .at = malloc(p.used) };
    ASSERT(p.at);
    void *copy = put(&p, obj, s->size, 0);
    put_struct(&p, s, obj, copy);
    return copy;
}
