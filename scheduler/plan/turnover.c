/* SPDX-License-Identifier: Apache-2.0 */
/* turnover.c - a line for each machine of the last snapshot, in its order; the next one is merged with it. Sums decay with
 * the time that passed, in integers. */
#include "scheduler/plan/turnover.h"
#include "core/base/assert.h"
#include "scheduler/plan/claims.h"

#include <stdlib.h>
#include <string.h>

enum { PART = 1000 /* of a slot, in which ends are summed */, PLACES_MAX = 16 };

struct line {
    struct uuid node_id;
    int64_t held;                       /* slots, as seen and placed since */
    int64_t ended;                      /* decaying sum, thousandths of a slot */
    int64_t held_us;                    /* decaying sum, slots x time */
};

struct turnover {
    struct line *lines, *spare;
    size_t n, cap;
    int64_t at_us;
};

struct turnover *turnover_new(void)
{
    struct turnover *t = calloc(1, sizeof *t);
    ASSERT(t);
    return t;
}

void turnover_free(struct turnover *t)
{
    if (!t)
        return;
    free(t->lines);
    free(t->spare);
    free(t);
}

static struct line *list_alloc(struct line *old, size_t n)
{
    struct line *l = realloc(old, n * sizeof *l);
    ASSERT(l);
    return l;
}

static int64_t decayed(int64_t sum, int64_t us)
{
    return us >= TURNOVER_US ? 0 : sum - sum / 1000 * us / (TURNOVER_US / 1000);
}

static struct line next_of(const struct line *was, const struct snap_node *n, int64_t us)
{
    const int64_t held = n->slots - n->free_slots, ended = was->held - held;
    return (struct line){ .node_id = n->node_id, .held = held,
                          .ended = decayed(was->ended, us) + (ended > 0 ? ended * PART : 0),
                          .held_us = decayed(was->held_us, us) + was->held * (us < TURNOVER_US ? us : TURNOVER_US) };
}

void turnover_see(struct turnover *t, const struct snapshot *s, int64_t now_us)
{
    size_t at = 0;
    if (!t)
        return;
    const int64_t us = now_us > t->at_us ? now_us - t->at_us : 0;
    if (s->nodes.n > t->cap) {
        t->cap = 2 * s->nodes.n;
        t->lines = list_alloc(t->lines, t->cap);
        t->spare = list_alloc(t->spare, t->cap);
    }
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct snap_node *n = &s->nodes.items[i];
        while (at < t->n && uuid_cmp(t->lines[at].node_id, n->node_id) < 0)
            at++;
        const bool is_known = at < t->n && uuid_eq(t->lines[at].node_id, n->node_id);
        t->spare[i] = is_known ? next_of(&t->lines[at], n, us)
                               : (struct line){ .node_id = n->node_id, .held = n->slots - n->free_slots };
    }
    struct line *seen = t->spare;
    t->spare = t->lines;
    t->lines = seen;
    t->n = s->nodes.n;
    t->at_us = now_us;
}

static int64_t lendable(const struct line *l, int64_t slots)
{
    if (l->ended < PART || l->held_us / l->ended * PART > STAY_MOST_US)
        return 0;
    const int64_t soon = l->ended / PART * LEND_US / TURNOVER_US;
    return soon < LEND_TIMES * slots ? soon : LEND_TIMES * slots;
}

/* Machines of one zone and pool that have a slot free. */
struct group {
    const struct snap_node *of;
    size_t nfree, free;                 /* free: the last of them */
};

static struct group *group_of(struct group *g, size_t *n, const struct snap_node *of)
{
    for (size_t i = 0; i < *n; i++)
        if (str_eq(g[i].of->zone, of->zone) && str_eq(g[i].of->pool, of->pool))
            return &g[i];
    if (*n == PLACES_MAX)
        return NULL;
    g[*n] = (struct group){ .of = of };
    return &g[(*n)++];
}

static bool any_lendable(const struct turnover *t, const struct snapshot *s)
{
    for (size_t i = 0; i < s->nodes.n; i++)
        if (lendable(&t->lines[i], s->nodes.items[i].slots) > 0)
            return true;
    return false;
}

void turnover_lend(const struct turnover *t, struct snapshot *s)
{
    struct group groups[PLACES_MAX];
    size_t n = 0;
    if (!t || (s->claims && s->claims->n))
        return;
    ASSERT(t->n == s->nodes.n);
    if (!any_lendable(t, s))            /* most fleets, most rounds: nothing is compared by name */
        return;
    for (size_t i = 0; i < s->nodes.n; i++) {
        struct group *g = group_of(groups, &n, &s->nodes.items[i]);
        if (g && s->nodes.items[i].free_slots > 0) {
            g->nfree++;
            g->free = i;
        }
    }
    for (size_t i = 0; i < s->nodes.n; i++) {
        struct snap_node *node = &s->nodes.items[i];
        const struct group *g = group_of(groups, &n, node);
        if (!g || node->outsized || node->once || g->nfree > 1 || (g->nfree == 1 && g->free != i))
            continue;
        node->lent = lendable(&t->lines[i], node->slots);
        node->free_slots += node->lent;
    }
}

void turnover_unlend(struct snapshot *s)
{
    for (size_t i = 0; i < s->nodes.n; i++) {
        s->nodes.items[i].free_slots -= s->nodes.items[i].lent;
        s->nodes.items[i].lent = 0;
    }
}

void turnover_place(struct turnover *t, size_t node, int64_t slots)
{
    if (!t)
        return;
    ASSERT(node < t->n);
    t->lines[node].held += slots;
}
