/* SPDX-License-Identifier: Apache-2.0 */
/* drop_list.c - what retention dropped, read from its own events. */
#include "audit/drop_list.h"
#include <stdio.h>
#include <stdlib.h>
#include "audit/scan_int.h"
#include "core/base/assert.h"

enum { CAP_MIN = 64, NUMBERS = 3 };

static void list_alloc(struct drop_list *l)
{
    size_t cap = l->cap ? 2 * l->cap : CAP_MIN;
    l->items = realloc(l->items, cap * sizeof *l->items);
    ASSERT(l->items);
    l->cap = cap;
}

static bool push(struct drop_list *l, struct drop_range r)
{
    if (l->n == DROP_RANGES_MAX)
        return false;
    if (l->n == l->cap)
        list_alloc(l);
    l->items[l->n++] = r;
    l->is_sorted = false;
    return true;
}

/* "7" or "5-9", beyond the range before. */
static bool take_range(struct str *s, uint64_t after, struct drop_range *ret)
{
    if (!scan_u64(s, &ret->from))
        return false;
    ret->to = ret->from;
    return ret->from > after && (!scan_lit(s, "-") || (scan_u64(s, &ret->to) && ret->to > ret->from));
}

static bool take_text(struct drop_list *l, struct str s, struct drop_range *last, uint64_t *count)
{
    do {
        if (!take_range(&s, last->to, last) || !push(l, *last))
            return false;
        *count += last->to - last->from + 1;
    } while (scan_lit(&s, ","));
    return s.len == 0;
}

bool drop_list_add(struct drop_list *l, const struct audit_view *v, uint64_t tseq)
{
    static const char *const names[NUMBERS] = { "dropped", "from_tseq", "until_tseq" };
    struct drop_range last = { 0 };
    uint64_t count = 0, first = 0;
    if (!str_eq_c(v->code_text, "FLJ-AUD-006S") || v->detail_count <= NUMBERS)
        return false;
    for (int i = 0; i < NUMBERS; i++)
        if (!str_eq_c(v->details[i].name, names[i]) || v->details[i].text.ptr || v->details[i].number < 1)
            return false;
    for (int i = NUMBERS; i < v->detail_count; i++) {
        char name[16];
        size_t at = l->n;
        snprintf(name, sizeof name, "list_%d", i - NUMBERS + 1);
        if (!str_eq_c(v->details[i].name, name) || !v->details[i].text.ptr || !take_text(l, v->details[i].text, &last, &count))
            return false;
        if (i == NUMBERS)
            first = l->items[at].from;
    }
    return count == (uint64_t)v->details[0].number && first == (uint64_t)v->details[1].number &&
            last.to == (uint64_t)v->details[2].number &&
           last.to < tseq;
}

static int by_start(const void *a, const void *b)
{
    const struct drop_range *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorted, and joined where they touch. */
static void settle(struct drop_list *l)
{
    size_t kept = 0;
    if (l->n)
        qsort(l->items, l->n, sizeof *l->items, by_start);
    for (size_t i = 0; i < l->n; i++) {
        struct drop_range *before = kept ? &l->items[kept - 1] : NULL;
        if (before && l->items[i].from <= before->to + 1)
            before->to = l->items[i].to > before->to ? l->items[i].to : before->to;
        else
            l->items[kept++] = l->items[i];
    }
    l->n = kept;
    l->is_sorted = true;
}

bool drop_list_has(struct drop_list *l, uint64_t tseq)
{
    if (!l->is_sorted)
        settle(l);
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->items[mid].to < tseq)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->n && l->items[low].from <= tseq;
}

void drop_list_release(struct drop_list *l)
{
    free(l->items);
    *l = (struct drop_list){ 0 };
}
