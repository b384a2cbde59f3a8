/* SPDX-License-Identifier: Apache-2.0 */
/* reserved.c - of a machine's windows the first that is not the job's own decides, since they follow one another. */
#include "scheduler/plan/reserved.h"
#include "scheduler/plan/snapshot.h"

#include <stdlib.h>
#include <string.h>

static const int64_t SECOND_US = 1000000;

/* The first row that does not stand before the machine. */
static size_t place_of(const struct snapshot *s, struct uuid id)
{
    size_t low = 0, high = s->reserved.n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (uuid_cmp(s->reserved.items[mid].node_id, id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void reserved_fill(struct snapshot *s)
{
    const struct reserved *r = s->reserved.items;
    const size_t n = s->reserved.n;
    size_t at = 0;
    for (size_t i = 0; n && i < s->nodes.n; i++) {
        struct snap_node *m = &s->nodes.items[i];
        if (!i || uuid_cmp(s->nodes.items[i - 1].node_id, m->node_id) > 0)
            at = place_of(s, m->node_id);       /* they mostly stand by their ids, as the rows do */
        while (at < n && uuid_cmp(r[at].node_id, m->node_id) < 0)
            at++;
        size_t end = at;
        while (end < n && uuid_eq(r[end].node_id, m->node_id))
            end++;
        m->kept = end > at ? &r[at] : NULL;
        m->nkept = end - at;
        m->kept_at_us = s->now_us;
    }
}

bool reserved_is_for(const struct reserved *w, const struct snap_job *j)
{
    return !uuid_is_nil(w->tenant_id) && uuid_eq(w->tenant_id, j->tenant_id) &&
           (uuid_is_nil(w->project_id) || uuid_eq(w->project_id, j->project_id));
}

int64_t reserved_last_start(const struct reserved *w, const struct snap_job *j)
{
    return w->from_us - SECOND_US * (j->max_runtime_s > 0 ? j->max_runtime_s + RESERVED_SLACK_S : RESERVED_HORIZON_S);
}

static const struct reserved *before(const struct snap_node *n, const struct snap_job *j, int64_t at_us)
{
    for (size_t i = 0; i < n->nkept; i++) {
        const struct reserved *w = &n->kept[i];
        if (w->until_us > at_us && !reserved_is_for(w, j))
            return at_us > reserved_last_start(w, j) ? w : NULL;
    }
    return NULL;
}

const struct reserved *reserved_before(const struct snap_node *n, const struct snap_job *j)
{
    return n->nkept ? before(n, j, n->kept_at_us) : NULL;
}

bool reserved_lets_at(const struct snap_node *n, const struct snap_job *j, int64_t at_us)
{
    return !before(n, j, at_us);
}

/* From too late for a window until its end nothing starts. */
int64_t reserved_next_start(const struct snap_node *n, const struct snap_job *j, int64_t at_us)
{
    for (const struct reserved *w = before(n, j, at_us); w; w = before(n, j, at_us))
        at_us = w->until_us;
    return at_us;
}

/* To the minute, UTC. */
static struct str minute_of(int64_t us, struct arena *a)
{
    char text[TIME_TEXT];
    const size_t n = time_text(us, text);
    return str_fmt(a, "%.*sZ", (int)(n > 16 ? 16 : n), text);   /* 2026-11-21T01:02 */
}

struct str reserved_words(const struct reserved *w, const struct snap_job *j, int64_t at_us, struct arena *a)
{
    const struct str until = minute_of(w->until_us, a);
    const char *whom = uuid_is_nil(w->tenant_id) ? "maintenance"
                       : uuid_eq(w->tenant_id, j->tenant_id) ? "another project of the tenant" : "another tenant";
    if (w->from_us <= at_us)
        return str_fmt(a, "the machines with room are kept for %s until %.*s", whom, STR_ARG(until));
    const struct str from = minute_of(w->from_us, a);
    if (!j->max_runtime_s)
        return str_fmt(a, "the machines with room are kept for %s from %.*s until %.*s, and nobody knows when it ends "
                       "(max_runtime_seconds)", whom, STR_ARG(from), STR_ARG(until));
    return str_fmt(a, "the machines with room are kept for %s from %.*s until %.*s, and it might not end before "
                   "(max_runtime_seconds %ld)", whom, STR_ARG(from), STR_ARG(until), (long)j->max_runtime_s);
}

/* What jobs can see of a window: whether one of them may be its own, and how many of their bounds end before it. */
struct seen { struct uuid tenant_id, project_id; size_t ends_before; };
struct kind { const struct seen *seen; size_t n; };

struct bounds { int64_t *items; size_t n; };

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void make_unique(struct bounds *b)
{
    size_t kept = 0;
    qsort(b->items, b->n, sizeof *b->items, by_value);
    for (size_t k = 0; k < b->n; k++)
        if (!kept || b->items[kept - 1] != b->items[k])
            b->items[kept++] = b->items[k];
    b->n = kept;
}

/* The different times before a window at which jobs of the snapshot may not start any more, ascending. */
static struct bounds bounds_of(const struct snapshot *s, struct arena *a)
{
    enum { FIRST = 64 };
    const struct reserved none = { 0 };
    struct bounds b = { ARENA_ARRAY(a, int64_t, FIRST), 0 };
    size_t cap = FIRST;
    for (size_t i = 0; i < s->jobs.n; i++) {
        const int64_t v = -reserved_last_start(&none, &s->jobs.items[i]);
        if (b.n && b.items[b.n - 1] == v)       /* alike ones stand together */
            continue;
        if (b.n == cap) {
            make_unique(&b);
            if (2 * b.n > cap) {
                int64_t *more = ARENA_ARRAY(a, int64_t, 2 * cap);
                memcpy(more, b.items, b.n * sizeof *more);
                b.items = more;
                cap *= 2;
            }
        }
        b.items[b.n++] = v;
    }
    make_unique(&b);
    return b;
}

static size_t see(const struct snapshot *s, const struct snap_node *m, const struct bounds *b, struct seen *out)
{
    size_t n = 0;
    for (size_t i = 0; i < m->nkept; i++) {
        const struct reserved *w = &m->kept[i];
        size_t ends = 0;
        while (ends < b->n && m->kept_at_us + b->items[ends] <= w->from_us)
            ends++;
        if (w->until_us <= m->kept_at_us || ends == b->n)
            continue;                   /* it is over, or so far away that it keeps nobody out */
        const bool is_seen = !uuid_is_nil(w->tenant_id) && snap_tenant_find(s, w->tenant_id) >= 0;
        out[n++] = is_seen ? (struct seen){ w->tenant_id, w->project_id, ends } : (struct seen){ .ends_before = ends };
        if (!is_seen)
            break;                      /* those behind it decide nothing */
    }
    return n;
}

uint32_t *reserved_kinds(const struct snapshot *s, struct arena *a)
{
    enum { KINDS_FIRST = 64 };
    if (!s->reserved.n)
        return NULL;
    const struct bounds b = bounds_of(s, a);
    uint32_t *ret = ARENA_ARRAY(a, uint32_t, s->nodes.n + 1);
    size_t cap = KINDS_FIRST, n = 0;
    struct kind *kinds = ARENA_ARRAY(a, struct kind, cap);
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct snap_node *m = &s->nodes.items[i];
        if (!m->nkept)
            continue;
        struct seen *mine = ARENA_ARRAY(a, struct seen, m->nkept);
        const size_t nmine = see(s, m, &b, mine);
        size_t k = 0;
        while (nmine && k < n && (kinds[k].n != nmine || memcmp(kinds[k].seen, mine, nmine * sizeof *mine) != 0))
            k++;
        if (!nmine)
            continue;
        if (k == cap) {
            struct kind *more = ARENA_ARRAY(a, struct kind, 2 * cap);
            memcpy(more, kinds, n * sizeof *more);
            kinds = more;
            cap *= 2;
        }
        if (k == n)
            kinds[n++] = (struct kind){ mine, nmine };
        ret[i] = (uint32_t)k + 1;
    }
    return ret;
}
