/* SPDX-License-Identifier: Apache-2.0 */
/* backfill_look.c - the ends are played one after the other, with the windows of machines that begin and end between them, and of
 * each kind of machines it is counted how many have room by then, so that a search costs one walk over the machines and one over
 * what happens. */
#include "scheduler/plan/backfill_int.h"
#include "scheduler/plan/gang.h"
#include "scheduler/plan/sight.h"

#include <stdlib.h>
#include <string.h>

enum { SCRATCH_BYTES = 256 << 20 };

static int by_time(const void *a, const void *b)
{
    const struct snap_end *x = a, *y = b;
    if (x->ends_us != y->ends_us)
        return x->ends_us < y->ends_us ? -1 : 1;
    return uuid_cmp(x->node_id, y->node_id);
}

static int by_id(const void *a, const void *b)
{
    return uuid_cmp(*(const struct uuid *)a, *(const struct uuid *)b);
}

size_t look_node(const struct look *l, struct uuid id)
{
    const struct place *p = bsearch(&id, l->places, l->s->nodes.n, sizeof *l->places, by_id);
    return p ? p->node : SIZE_MAX;
}

struct look look_of(const struct snapshot *s, struct ends e, struct arena *a)
{
    struct look l = { .s = s, .e = e, .a = a, .scratch = arena_new(SCRATCH_BYTES), .at = ARENA_ARRAY(a, size_t, e.n + 1) };
    l.places = ARENA_ARRAY(a, struct place, s->nodes.n + 1);
    for (size_t i = 0; i < s->nodes.n; i++)
        l.places[i] = (struct place){ s->nodes.items[i].node_id, i };
    qsort(l.places, s->nodes.n, sizeof *l.places, by_id);
    qsort(e.items, e.n, sizeof *e.items, by_time);
    for (size_t i = 0; i < e.n; i++)
        l.at[i] = look_node(&l, e.items[i].node_id);
    return l;
}

/* A moment at which a machine's windows begin or cease to keep the job off. */
struct turn { int64_t at_us; size_t node; };

/* Machines and quotas on the way into the future of one job. */
struct course {
    struct snapshot f;
    const struct snap_job *j;
    struct ask ask;
    size_t *kind;                       /* by machine, from 1; 0: the job may not go there */
    size_t *first, *count;              /* by kind: one machine of it; how many have room */
    size_t nkinds;
    bool *is_open;                      /* by machine: no window keeps it from the job at this moment */
    struct turn *turns;                 /* when that changes, by time */
    size_t nturns;
};

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

static void find_turns(const struct look *l, struct course *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->f.nodes.n; i++)
        n += c->kind[i] ? 2 * c->f.nodes.items[i].nkept : 0;
    c->turns = ARENA_ARRAY(l->scratch, struct turn, n + 1);
    for (size_t i = 0; n && i < c->f.nodes.n; i++)
        for (size_t k = 0; c->kind[i] && k < c->f.nodes.items[i].nkept; k++) {
            const struct reserved *w = &c->f.nodes.items[i].kept[k];
            const int64_t last_us = reserved_last_start(w, c->j);
            if (reserved_is_for(w, c->j))
                continue;
            if (last_us >= l->s->now_us)
                c->turns[c->nturns++] = (struct turn){ last_us + 1, i };
            if (w->until_us > l->s->now_us)
                c->turns[c->nturns++] = (struct turn){ w->until_us, i };
        }
    qsort(c->turns, c->nturns, sizeof *c->turns, by_turn);
}

static struct course begin(const struct look *l, const struct snap_job *j, const bool *only)
{
    const size_t n = l->s->nodes.n;
    arena_reset(l->scratch);
    struct course c = { .f = *l->s, .j = j, .ask = snap_job_ask(j), .kind = ARENA_ARRAY(l->scratch, size_t, n + 1),
                        .first = ARENA_ARRAY(l->scratch, size_t, n + 1), .count = ARENA_ARRAY(l->scratch, size_t, n + 1),
                        .is_open = ARENA_ARRAY(l->scratch, bool, n + 1) };
    c.f.nodes.items = ARENA_ARRAY(l->scratch, struct snap_node, n + 1);
    c.f.tenants.items = ARENA_ARRAY(l->scratch, struct snap_tenant, c.f.tenants.n + 1);
    memcpy(c.f.nodes.items, l->s->nodes.items, n * sizeof *c.f.nodes.items);
    memcpy(c.f.tenants.items, l->s->tenants.items, c.f.tenants.n * sizeof *c.f.tenants.items);
    c.f.book = rulebook_copy(&l->s->book, l->scratch);
    for (size_t i = 0; i < n; i++) {
        struct snap_node *m = &c.f.nodes.items[i];
        size_t k = 0;
        m->gangs &= only[i];
        if (!gang_suits(j, m))
            continue;
        while (k < c.nkinds && !gang_same_kind(m, &c.f.nodes.items[c.first[k]]))
            k++;
        if (k == c.nkinds)
            c.first[c.nkinds++] = i;
        c.kind[i] = k + 1;
        c.is_open[i] = reserved_lets_at(m, j, l->s->now_us);
        c.count[k] += c.is_open[i] && snap_node_fits(m, &c.ask);
    }
    find_turns(l, &c);
    return c;
}

static void end_one(const struct look *l, struct course *c, size_t i)
{
    const struct snap_end *x = &l->e.items[i];
    struct snap_node *n = l->at[i] == SIZE_MAX ? NULL : &c->f.nodes.items[l->at[i]];
    const size_t kind = n ? c->kind[l->at[i]] : 0;
    if (n) {
        const bool has_fit = kind && snap_node_fits(n, &c->ask);
        snap_node_give(n, &x->ask, x->devices);
        if (kind && c->is_open[l->at[i]])
            c->count[kind - 1] += !has_fit && snap_node_fits(n, &c->ask);
    }
    if (!x->is_first)
        return;
    const struct rule_ask ask = { x->tenant_id, x->project_id, x->queue, n ? n->flavor : STR_NULL, n ? n->zone : STR_NULL,
                                  x->all_slots, x->all_gpus };
    const int64_t t = snap_tenant_find(&c->f, x->tenant_id);
    rulebook_give(&c->f.book, &ask);
    if (t >= 0) {
        c->f.tenants.items[t].slots_used -= x->all_slots;
        c->f.tenants.items[t].gpus_used -= x->all_gpus;
    }
}

static void turn_one(struct course *c, const struct turn *t)
{
    const bool was = c->is_open[t->node], is = reserved_lets_at(&c->f.nodes.items[t->node], c->j, t->at_us);
    c->is_open[t->node] = is;
    if (is != was && snap_node_fits(&c->f.nodes.items[t->node], &c->ask))
        c->count[c->kind[t->node] - 1] += is ? 1 : (size_t)-1;
}

/* The next thing that happens; false: nothing more. */
static bool go_on(const struct look *l, struct course *c, size_t *end, size_t *turn, int64_t *at_us)
{
    const int64_t end_us = *end < l->e.n ? l->e.items[*end].ends_us : INT64_MAX;
    const int64_t turn_us = *turn < c->nturns ? c->turns[*turn].at_us : INT64_MAX;
    *at_us = end_us < turn_us ? end_us : turn_us;
    if (*at_us == INT64_MAX)
        return false;
    if (turn_us < end_us)
        turn_one(c, &c->turns[(*turn)++]);
    else
        end_one(l, c, (*end)++);
    return true;
}

static bool has_room(const struct look *l, const struct course *c)
{
    const struct snap_tenant *t = &c->f.tenants.items[c->j->tenant];
    bool found = false;
    struct str words;
    for (size_t k = 0; k < c->nkinds && !found; k++) {
        const struct rule_ask ask = sight_rule_ask(t, c->j, &c->f.nodes.items[c->first[k]]);
        found = c->count[k] >= (size_t)c->j->nodes && (!t->guarded || !rulebook_refuses(&c->f.book, &ask));
    }
    return found && sight_quota_allows(t, c->j, l->scratch, &words);
}

bool look_find(const struct look *l, const struct snap_job *j, const bool *only, struct found *ret)
{
    struct course c = begin(l, j, only);
    struct gang_sight see;
    struct seat_of *seats;
    size_t n = 0, turn = 0;
    int64_t at_us = l->s->now_us;
    while (!has_room(l, &c))
        if (!go_on(l, &c, &n, &turn, &at_us))
            return false;
    ret->at_us = at_us > l->s->now_us ? at_us : l->s->now_us;
    for (; n < l->e.n && l->e.items[n].ends_us <= ret->at_us; n++)     /* those that end in the same moment */
        end_one(l, &c, n);
    for (size_t i = 0; i < c.f.nodes.n; i++)
        c.f.nodes.items[i].kept_at_us = ret->at_us;
    if (!gang_find(&c.f, &c.f.tenants.items[j->tenant], j, l->scratch, &seats, &see))
        return false;
    memcpy(ret->seats, seats, (size_t)snap_job_nodes(j) * sizeof *seats);
    ret->ends = n;
    return true;
}
