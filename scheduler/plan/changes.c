/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - a copy of what is planned, one thing in it changed, and the question whether the job starts then. */
#include "scheduler/plan/changes.h"

const char *const change_names[] = { "class", "priority", "zone", "pool", "gpu_models", "memory_bytes", "cpu_milli", "gpus",
                                     "slots",
    "quota_gpus", "quota_slots", "quota_rule", NULL };

enum { PRIORITY_MAX = 1000 };
#define MEMORY_STEP ((int64_t)1 << 20)

struct trial {
    struct ahead_in in;                 /* a copy: its job, its tenant and its rules may be written */
    const struct ahead_in *as_is;
    size_t job;
    struct snap_job *j;
    struct snap_tenant *t;
    struct arena *a;
    struct change *ret;
    size_t n;
};

static void copy(struct trial *t, const struct ahead_in *in, size_t job, struct arena *a)
{
    const struct snapshot *b = &in->base;
    *t = (struct trial){ .in = *in, .as_is = in, .job = job, .a = a };
    t->in.base.jobs.items = ARENA_ARRAY(a, struct snap_job, b->jobs.n);
    t->in.base.tenants.items = ARENA_ARRAY(a, struct snap_tenant, b->tenants.n);
    t->in.base.book.rules.items = ARENA_ARRAY(a, struct rule, b->book.rules.n + 1);
    for (size_t i = 0; i < b->jobs.n; i++)
        t->in.base.jobs.items[i] = b->jobs.items[i];
    for (size_t i = 0; i < b->tenants.n; i++)
        t->in.base.tenants.items[i] = b->tenants.items[i];
    for (size_t i = 0; i < b->book.rules.n; i++)
        t->in.base.book.rules.items[i] = b->book.rules.items[i];
    t->j = &t->in.base.jobs.items[job];
    t->t = &t->in.base.tenants.items[t->j->tenant];
}

static void add(struct trial *t, int what, struct str from, struct str to, size_t machine)
{
    const struct snap_node *n = &t->in.base.nodes.items[machine];
    t->ret[t->n++] = (struct change){ what, from, to, n->zone, n->pool, n->flavor };
}

static struct str digits(struct trial *t, int64_t v)
{
    return str_fmt(t->a, "%lld", (long long)v);
}

/* The job as it is again, for the next trial. */
static void undo(struct trial *t)
{
    *t->j = t->as_is->base.jobs.items[t->job];
    *t->t = t->as_is->base.tenants.items[t->j->tenant];
}

static void try_class(struct trial *t, const struct change_room *room)
{
    const struct change_class *best = NULL;
    size_t where = 0, machine;
    for (size_t i = 0; i < room->nclasses && i < CHANGE_WORDS_MAX; i++) {
        const struct change_class *c = &room->classes[i];
        if (c->value <= t->as_is->base.jobs.items[t->job].class_value || (best && c->value >= best->value))
            continue;
        t->j->cls = c->name;
        t->j->class_value = c->value;
        if (ahead_starts_now(&t->in, t->job, &machine)) {
            best = c;
            where = machine;
        }
    }
    undo(t);
    if (best)
        add(t, CHANGE_CLASS, t->j->cls, best->name, where);
}

static void try_priority(struct trial *t, const struct change_room *room)
{
    size_t machine;
    const int64_t from = t->j->priority, to = room->best_priority + 1;
    if (to <= from || to > PRIORITY_MAX)
        return;
    t->j->priority = to;
    if (ahead_starts_now(&t->in, t->job, &machine))
        add(t, CHANGE_PRIORITY, digits(t, from), digits(t, to), machine);
    undo(t);
}

static void try_zone(struct trial *t, const struct change_room *room)
{
    size_t machine;
    const struct str from = t->j->zone;
    if (!from.ptr || !room->zones.n)
        return;
    t->j->zone = STR_NULL;
    t->j->zones = room->zones;
    t->j->denied = STR_NULL;
    if (ahead_starts_now(&t->in, t->job, &machine))
        add(t, CHANGE_ZONE, from, t->in.base.nodes.items[machine].zone, machine);
    undo(t);
}

static bool is_new(const struct str *list, size_t n, struct str s)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i], s))
            return false;
    return true;
}

static void try_pool(struct trial *t)
{
    struct str seen[CHANGE_WORDS_MAX + 1] = { t->j->pool };
    size_t n = 1, machine;
    const struct str from = t->j->pool;
    for (size_t i = 0; i < t->in.base.nodes.n && n <= CHANGE_WORDS_MAX; i++) {
        const struct str pool = t->in.base.nodes.items[i].pool;
        if (!is_new(seen, n, pool))
            continue;
        seen[n++] = t->j->pool = pool;
        if (ahead_starts_now(&t->in, t->job, &machine)) {
            add(t, CHANGE_POOL, from, pool, machine);
            break;
        }
    }
    undo(t);
}

static void try_models(struct trial *t)
{
    size_t machine;
    const struct str from = t->j->gpu_models;
    if (!t->j->gpus || !from.len)
        return;
    t->j->gpu_models = STR_NULL;
    if (ahead_starts_now(&t->in, t->job, &machine))
        add(t, CHANGE_GPU_MODELS, from, t->in.base.nodes.items[machine].gpu_model, machine);
    undo(t);
}

/* The value nearest to `from`, a whole number of steps on the way to `to`, with which it starts. `to` itself has been tried:
 * it does. */
static int64_t nearest(struct trial *t, int64_t *value, int64_t from, int64_t to, int64_t step, size_t *machine)
{
    const int64_t way = to > from ? to - from : from - to, sign = to > from ? step : -step;
    int64_t no = 0, yes = way / step;
    size_t where;
    while (yes - no > 1) {
        const int64_t mid = no + (yes - no) / 2;
        *value = from + sign * mid;
        if (ahead_starts_now(&t->in, t->job, &where)) {
            yes = mid;
            *machine = where;
        } else
            no = mid;
    }
    return from + sign * yes;
}

/* Another number of *value, down or up to `limit` in whole steps. */
static void try_number(struct trial *t, int what, int64_t *value, int64_t limit, int64_t step)
{
    const int64_t from = *value, steps = (limit > from ? limit - from : from - limit) / step;
    const int64_t to = limit > from ? from + steps * step : from - steps * step;
    size_t machine;
    if (!steps)
        return;
    *value = to;
    if (ahead_starts_now(&t->in, t->job, &machine)) {
        const int64_t least = nearest(t, value, from, to, step, &machine);
        add(t, what, digits(t, from), digits(t, least), machine);
    }
    *value = from;
}

static int64_t of_all(const struct snap_job *j, int64_t machines, bool of_gpus)
{
    return machines * (of_gpus ? j->gpus : j->slots);
}

/* Room for all that the tenant has waiting. */
static int64_t wanted(const struct trial *t, bool of_gpus)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->in.base.jobs.n; i++)
        if (t->in.base.jobs.items[i].tenant == t->j->tenant)
            sum += of_all(&t->in.base.jobs.items[i], snap_job_nodes(&t->in.base.jobs.items[i]), of_gpus);
    for (size_t i = 0; i < t->in.nlive; i++)
        if (t->in.live[i].job.tenant == t->j->tenant)
            sum += of_all(&t->in.live[i].job, (int64_t)t->in.live[i].nmore + 1, of_gpus);
    return sum;
}

/* The first rule about the job whose nominal, raised, lets it start: a tenant may have rules of a thousand other queues. */
static void try_rules(struct trial *t)
{
    const struct rule_ask ask = { .tenant_id = t->j->tenant_id, .project_id = t->j->project_id, .queue = t->j->queue };
    struct rulebook *b = &t->in.base.book;
    size_t tried = 0, n;
    for (int place = RULE_TENANT; place <= RULE_QUEUE; place++)
        for (int resource = RULE_SLOTS; resource <= RULE_GPUS; resource++) {
            const struct rule *run = rulebook_run(b, &ask, place, resource, &n);
            for (size_t i = 0; run && i < n && tried < CHANGE_WORDS_MAX; i++, tried++) {
                struct rule *r = &b->rules.items[run - b->rules.items + (ptrdiff_t)i];
                const size_t had = t->n;
                try_number(t, CHANGE_RULE, &r->nominal, r->nominal + wanted(t, resource == RULE_GPUS), 1);
                if (t->n > had)
                    return;
            }
        }
}

size_t changes_find(const struct ahead_in *in, size_t job, const struct change_room *room, struct arena *a,
                    struct change ret[CHANGES])
{
    struct trial t;
    copy(&t, in, job, a);
    t.ret = ret;
    try_class(&t, room);
    try_priority(&t, room);
    try_zone(&t, room);
    try_pool(&t);
    try_models(&t);
    if (t.j->memory_bytes)
        try_number(&t, CHANGE_MEMORY, &t.j->memory_bytes, MEMORY_STEP, MEMORY_STEP);
    if (t.j->cpu_milli)
        try_number(&t, CHANGE_CPU, &t.j->cpu_milli, 1, 1);
    if (t.j->gpus > 1)
        try_number(&t, CHANGE_GPUS, &t.j->gpus, 1, 1);
    if (t.j->slots > 1)
        try_number(&t, CHANGE_SLOTS, &t.j->slots, 1, 1);
    if (t.j->gpus)
        try_number(&t, CHANGE_QUOTA_GPUS, &t.t->gpus_limit, t.t->gpus_limit + wanted(&t, true), 1);
    try_number(&t, CHANGE_QUOTA_SLOTS, &t.t->slots_limit, t.t->slots_limit + wanted(&t, false), 1);
    if (t.t->guarded)
        try_rules(&t);
    return t.n;
}
