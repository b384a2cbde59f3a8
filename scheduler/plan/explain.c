/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - each machine goes through the constraints until one stops it; what is counted is how far it came. */
#include "scheduler/plan/explain.h"
#include "core/base/assert.h"
#include "scheduler/plan/sight.h"

/* The constraints in their order: a machine stops at one of these, or passes all. */
enum { STOP_ZONE, STOP_POOL, STOP_HAS, STOP_FREE = STOP_HAS + MISS_COUNT, STOP_KEPT = STOP_FREE + MISS_COUNT, STOP_RULE,
    STOP_NONE, STOPS };

struct walk {
    const struct snapshot *s;
    const struct snap_tenant *t;
    const struct snap_job *j;
    int64_t stopped[STOPS];             /* machines, by where they stop */
    struct explain *ret;
    const struct rule *rule;            /* the first that refuses a machine with room */
    const struct snap_node *where;
    const struct reserved *kept;        /* the first for which a machine with room is kept */
    struct str few;                     /* words, where too few machines of one kind have room */
};

/* A machine that could never hold it is as near as what it lacks in all; beside one that could, it is not near. */
static void note_miss(struct walk *k, const struct miss *m, bool is_never)
{
    struct explain *r = k->ret;
    if (r->has_nearest && (r->is_never == is_never ? !miss_is_nearer(m, &r->nearest) : is_never))
        return;
    r->has_nearest = true;
    r->is_never = is_never;
    r->nearest = *m;
}

static int stop_of(struct walk *k, const struct snap_node *n)
{
    if (!sight_zone_ok(k->j, n->zone))
        return STOP_ZONE;
    if (!str_eq(n->pool, k->j->pool))
        return STOP_POOL;
    const struct miss has = miss_of(n, k->j, false);
    if (has.lacks) {
        note_miss(k, &has, true);
        return STOP_HAS + (int)miss_first(&has);
    }
    const struct miss now = miss_of(n, k->j, true);
    if (now.lacks) {
        note_miss(k, &now, false);
        return STOP_FREE + (int)miss_first(&now);
    }
    const struct reserved *kept = reserved_before(n, k->j);
    if (kept) {
        k->kept = k->kept ? k->kept : kept;
        return STOP_KEPT;
    }
    const struct rule_ask ask = sight_rule_ask(k->t, k->j, n);
    const struct rule *r = k->t->guarded ? rulebook_refuses(&k->s->book, &ask) : NULL;
    if (r && !k->rule) {
        k->rule = r;
        k->where = n;
    }
    return r ? STOP_RULE : STOP_NONE;
}

static void add_step(struct explain *r, struct str constraint, int64_t machines, struct str detail)
{
    const bool is_last_straw = !machines && (!r->n || r->steps[r->n - 1].machines);
    r->steps[r->n++] = (struct explain_step){ constraint, machines, is_last_straw ? detail : STR_NULL };
}

/* The job has that constraint: asks for it, or stands for it by its slots. */
static bool is_asked(const struct snap_job *j, int what)
{
    const bool is_share = j->gpu_milli > 0 && j->gpu_milli < GPU_MILLI;
    switch (what) {
    case MISS_PROGRAMS:
        return j->needs_programs;
    case MISS_ENGINE:
        return j->engine.len > 0;
    case MISS_MODEL:
        return j->gpus > 0 && j->gpu_models.len > 0;
    case MISS_SHARE:
        return j->gpus > 0 && is_share;
    case MISS_GPUS:
        return j->gpus > 0;
    default:
        return true;
    }
}

static void add_misses(struct walk *k, int first, const char *prefix, int64_t *left, struct arena *a)
{
    for (int i = 0; i < MISS_COUNT; i++) {
        *left -= k->stopped[first + i];
        if (i <= MISS_ENGINE && first == STOP_FREE)         /* it is had or not, and never in use */
            continue;
        if (is_asked(k->j, i) || k->stopped[first + i])
            add_step(k->ret, str_fmt(a, "%s%s", prefix, miss_names[i]), *left, k->ret->lacks);
    }
}

/* Machines of kinds that have too few for a job on several at once. stops: by machine; what is counted there goes. Returns how
 * many. */
static int64_t too_few(struct walk *k, const int64_t *alike, int *stops, struct arena *a)
{
    const struct snapshot *s = k->s;
    size_t *of = ARENA_ARRAY(a, size_t, s->nodes.n + 1), *first = ARENA_ARRAY(a, size_t, s->nodes.n + 1), nkinds = 0;
    int64_t *many = ARENA_ARRAY(a, int64_t, s->nodes.n + 1), gone = 0, most = 0;
    for (size_t i = 0; i < s->nodes.n; i++) {
        size_t m = 0;
        if (stops[i] < STOP_RULE || !gang_suits(k->j, &s->nodes.items[i]))
            continue;
        while (m < nkinds && !gang_same_kind(&s->nodes.items[i], &s->nodes.items[first[m]]))
            m++;
        if (m == nkinds)
            first[nkinds++] = i;
        of[i] = m + 1;
        many[m] += alike[i];
        most = many[m] > most ? many[m] : most;
    }
    for (size_t i = 0; i < s->nodes.n; i++) {
        if (stops[i] < STOP_RULE || (of[i] && many[of[i] - 1] >= snap_job_nodes(k->j)))
            continue;
        k->stopped[stops[i]] -= alike[i];
        gone += alike[i];
    }
    k->few = str_fmt(a, "needs %ld machines of one zone and flavor at once, each with %ld slots and %ld GPUs; %ld have room now",
                     (long)k->j->nodes, (long)k->j->slots, (long)k->j->gpus, (long)most);
    return gone;
}

void explain_job(const struct snapshot *s, const int64_t *alike, const struct snap_tenant *t, const struct snap_job *j,
                 struct arena *a, struct explain *ret)
{
    struct walk k = { .s = s, .t = t, .j = j, .ret = ret };
    struct str words;
    int64_t left = 0;
    int *stops = ARENA_ARRAY(a, int, s->nodes.n + 1);
    *ret = (struct explain){ 0 };
    for (size_t i = 0; i < s->nodes.n; i++) {
        stops[i] = stop_of(&k, &s->nodes.items[i]);
        k.stopped[stops[i]] += alike[i];
        left += alike[i];
    }
    if (k.stopped[STOP_NONE] || k.stopped[STOP_RULE] || k.stopped[STOP_KEPT])
        ret->has_nearest = ret->is_never = false;
    else if (ret->has_nearest)
        ret->lacks = miss_words(&ret->nearest, j, !ret->is_never, a);
    left -= k.stopped[STOP_ZONE];
    add_step(ret, STR("zone"), left, j->denied);
    left -= k.stopped[STOP_POOL];
    add_step(ret, STR("pool"), left, str_fmt(a, "pool %.*s has no ready machine there", STR_ARG(j->pool)));
    add_misses(&k, STOP_HAS, "", &left, a);
    add_misses(&k, STOP_FREE, "free_", &left, a);
    left -= k.stopped[STOP_KEPT];
    if (k.kept)
        add_step(ret, STR("reserved"), left, reserved_words(k.kept, j, s->now_us, a));
    if (snap_job_nodes(j) > 1) {
        left -= too_few(&k, alike, stops, a);
        add_step(ret, STR("nodes"), left, k.few);
    }
    left -= k.stopped[STOP_RULE];
    if (t->guarded) {
        const struct rule_ask ask = sight_rule_ask(t, j, k.where);
        add_step(ret, STR("quota_rule"), left, k.rule ? rulebook_words(&s->book, k.rule, &ask, a) : STR_NULL);
    }
    const bool is_within = sight_quota_allows(t, j, a, &words);
    add_step(ret, STR("quota"), is_within ? left : 0, is_within ? STR_NULL : words);
}

void explain_gate(struct explain *x, struct str constraint, struct str detail)
{
    ASSERT(x->n < EXPLAIN_STEPS);
    add_step(x, constraint, 0, detail);
    x->steps[x->n - 1].detail = detail;         /* it stands even where nothing was left before */
}
