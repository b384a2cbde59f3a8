/* SPDX-License-Identifier: Apache-2.0 */
/* reserved_fit.c - a window forbids the beginnings of spans that would meet it; who goes over where these begin and end knows at
 * each moment how many machines are free. */
#include "scheduler/plan/reserved_fit.h"

#include <stdlib.h>

/* The first window of the machine, or the end. */
static size_t windows_of(const struct reserved_ask *q, size_t machine, size_t from)
{
    while (from < q->nwindows && uuid_cmp(q->windows[from].node_id, q->ids[machine]) < 0)
        from++;
    return from;
}

size_t reserved_free(const struct reserved_ask *q, bool *is_taken)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < q->n; i++) {
        is_taken[i] = false;
        for (at = windows_of(q, i, at); at < q->nwindows && uuid_eq(q->windows[at].node_id, q->ids[i]); at++)
            is_taken[i] |= q->windows[at].from_us < q->until_us && q->windows[at].until_us > q->from_us;
        n += !is_taken[i];
    }
    return n;
}

/* From then on so many more, or fewer, machines are taken for spans that begin there. */
struct edge { int64_t at_us; int more; };

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->at_us != y->at_us ? (x->at_us < y->at_us ? -1 : 1) : x->more - y->more;
}

bool reserved_next(const struct reserved_ask *q, size_t wanted, struct arena *a, int64_t *ret_from_us)
{
    const int64_t length_us = q->until_us - q->from_us;
    struct edge *e = ARENA_ARRAY(a, struct edge, 2 * q->nwindows + 1);
    size_t n = 0, at = 0, taken = 0;
    *ret_from_us = q->from_us;
    for (size_t i = 0; i < q->n; i++) {
        int64_t open_us = INT64_MIN;    /* until then its beginnings are forbidden: what overlaps counts once */
        for (at = windows_of(q, i, at); at < q->nwindows && uuid_eq(q->windows[at].node_id, q->ids[i]); at++) {
            const struct reserved *w = &q->windows[at];
            int64_t from_us = w->from_us - length_us + 1;
            from_us = from_us > open_us ? from_us : open_us;
            from_us = from_us > q->from_us ? from_us : q->from_us;
            if (w->until_us <= from_us)
                continue;
            e[n++] = (struct edge){ from_us, 1 };
            e[n++] = (struct edge){ w->until_us, -1 };
            open_us = w->until_us;
        }
    }
    if (wanted > q->n)
        return false;
    qsort(e, n, sizeof *e, by_time);
    for (size_t i = 0;;) {
        for (; i < n && e[i].at_us <= *ret_from_us; i++)
            taken = e[i].more > 0 ? taken + 1 : taken - 1;
        if (q->n - taken >= wanted || i == n)
            return true;
        *ret_from_us = e[i].at_us;
    }
}
