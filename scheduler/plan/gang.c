/* SPDX-License-Identifier: Apache-2.0 */
/* gang.c - one walk over the machines for each kind of them. */
#include "scheduler/plan/gang.h"
#include "scheduler/plan/sight.h"

#include <stdlib.h>

bool gang_same_kind(const struct snap_node *a, const struct snap_node *b)
{
    return str_eq(a->zone, b->zone) && str_eq(a->flavor, b->flavor) && str_eq(a->gpu_model, b->gpu_model) &&
           a->gpu_shared == b->gpu_shared && str_eq(a->build, b->build);
}

bool gang_suits(const struct snap_job *j, const struct snap_node *n)
{
    return n->gangs && (n->gang_programs || !j->needs_programs) && str_eq(n->pool, j->pool) &&
           sight_zone_ok(j, n->zone) && snap_job_takes(j, n);
}

bool gang_may_go(const struct snap_job *j, const struct snap_node *n)
{
    return gang_suits(j, n) && reserved_lets(n, j);
}

/* The fullest first: fewest GPUs left, then slots, then the order of the machines. */
static int by_room(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct snap_node *m = &s->nodes.items[x], *n = &s->nodes.items[y];
    if (m->free_gpus != n->free_gpus)
        return m->free_gpus < n->free_gpus ? -1 : 1;
    if (m->free_slots != n->free_slots)
        return m->free_slots < n->free_slots ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Machines of the kind of `first` with room now, into `out`; the first of its kind stands for all. */
static size_t room_of_kind(const struct snapshot *s, const struct snap_job *j, const struct ask *ask, size_t first, size_t *out,
                           struct gang_sight *see)
{
    size_t n = 0;
    int64_t could = 0, kept = 0;
    for (size_t i = first; i < s->nodes.n; i++) {
        const struct snap_node *m = &s->nodes.items[i];
        if (!gang_same_kind(m, &s->nodes.items[first]) || !gang_suits(j, m))
            continue;
        could += snap_node_could(m, ask);
        if (!snap_node_fits(m, ask))
            continue;
        const struct reserved *w = reserved_before(m, j);
        if (!w)
            out[n++] = i;
        else
            see->kept = w;
        kept += w != NULL;
    }
    see->most_could = could > see->most_could ? could : see->most_could;
    see->most_kept = (int64_t)n + kept > see->most_kept ? (int64_t)n + kept : see->most_kept;
    see->most_free = (int64_t)n > see->most_free ? (int64_t)n : see->most_free;
    return n;
}

static bool is_first_of_kind(const struct snapshot *s, const struct snap_job *j, size_t i)
{
    if (!gang_suits(j, &s->nodes.items[i]))
        return false;
    for (size_t k = 0; k < i; k++)
        if (gang_same_kind(&s->nodes.items[k], &s->nodes.items[i]) && gang_suits(j, &s->nodes.items[k]))
            return false;
    return true;
}

bool gang_find(const struct snapshot *s, const struct snap_tenant *t, const struct snap_job *j, struct arena *a,
               struct seat_of **ret, struct gang_sight *see)
{
    const struct ask ask = snap_job_ask(j);
    const size_t wanted = (size_t)snap_job_nodes(j);
    size_t *now = ARENA_ARRAY(a, size_t, s->nodes.n + 1), *best = ARENA_ARRAY(a, size_t, s->nodes.n + 1), nbest = 0;
    *see = (struct gang_sight){ 0 };
    for (size_t i = 0; i < s->nodes.n; i++) {
        if (!is_first_of_kind(s, j, i))
            continue;
        const size_t n = room_of_kind(s, j, &ask, i, now, see);
        const struct rule_ask of = sight_rule_ask(t, j, &s->nodes.items[i]);
        if (n < wanted || (nbest && n >= nbest))
            continue;
        if (t->guarded && rulebook_refuses(&s->book, &of)) {
            see->refused = true;
            continue;
        }
        size_t *was = best;
        best = now;
        now = was;
        nbest = n;
    }
    if (!nbest)
        return false;
    qsort_r(best, nbest, sizeof *best, by_room, (void *)(uintptr_t)s);
    struct seat_of *seats = ARENA_ARRAY(a, struct seat_of, wanted);
    for (size_t i = 0; i < wanted; i++)
        seats[i] = (struct seat_of){ best[i], devices_pick(&s->nodes.items[best[i]].devices, ask.gpus, ask.gpu_milli) };
    *ret = seats;
    return true;
}

size_t gang_find_largest(const struct snapshot *s, const struct snap_tenant *t, const struct snap_job *j, int64_t least,
                         struct arena *a, struct seat_of **ret, struct gang_sight *see)
{
    struct snap_job sized = *j;
    struct str words;
    for (sized.nodes = snap_job_most(j); sized.nodes >= least && sized.nodes > 0; sized.nodes /= 2)
        if ((sized.nodes == snap_job_nodes(j) || sight_quota_allows(t, &sized, a, &words)) &&
            gang_find(s, t, &sized, a, ret, see))
            return (size_t)sized.nodes;
    return 0;
}

void gang_say(const struct snap_job *j, const struct gang_sight *see, int64_t now_us, struct arena *a, struct str *reason,
              struct str *message)
{
    const long nodes = (long)j->nodes;
    if (see->refused) {
        *reason = STR("QuotaExceeded");
        *message = str_fmt(a, "a quota rule does not leave it %ld machines at once, each with %ld slots and %ld GPUs", nodes,
                           (long)j->slots, (long)j->gpus);
    } else if (see->most_could < nodes) {
        *reason = STR("NoMatchingFlavor");
        *message = str_fmt(a, "needs %ld machines of one zone, flavor and version at once, each with %ld slots and %ld GPUs; "
                           "%ld that run parts of such jobs are ready", nodes, (long)j->slots, (long)j->gpus,
                           (long)see->most_could);
    } else if (see->kept && see->most_kept >= nodes) {
        const struct str why = reserved_words(see->kept, j, now_us, a);
        *reason = STR("Reserved");
        *message = str_fmt(a, "needs %ld machines of one zone, flavor and version at once; of those with room %ld are left: %.*s",
                           nodes, (long)see->most_free, STR_ARG(why));
    } else {
        *reason = STR("Resources");
        *message = str_fmt(a, "needs %ld machines of one zone, flavor and version at once, each with %ld slots and %ld GPUs; "
                           "%ld have room now", nodes, (long)j->slots, (long)j->gpus, (long)see->most_free);
    }
}
