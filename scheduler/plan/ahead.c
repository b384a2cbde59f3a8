/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.c - one snapshot for each moment at which something changes, planned and thrown away; what it placed holds room from
 * then on. */
#include "scheduler/plan/ahead.h"
#include "core/base/assert.h"
#include "scheduler/plan/placement.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEP_BYTES = 256 << 20, COARSE = 200, GRAIN_US = 1000000, DEVICES_TEXT = 48 };

struct held { struct ahead_live l; bool has_ended; };

struct run {
    const struct ahead_in *in;
    struct arena *scratch;
    struct held *held;                  /* live, then starts */
    size_t nheld;
    size_t *by_id;                      /* jobs by tenant and id */
    bool *is_placed;                    /* by job */
    struct snapshot s;                  /* of this moment */
    char **devices_text;                /* by machine: room for its `held` */
};

static int compare(const struct snap_job *a, const struct snap_job *b)
{
    int c = uuid_cmp(a->tenant_id, b->tenant_id);
    return c ? c : uuid_cmp(a->job_id, b->job_id);
}

static int by_id(const void *a, const void *b, void *jobs)
{
    const struct snap_job *j = jobs;
    return compare(&j[*(const size_t *)a], &j[*(const size_t *)b]);
}

/* A plan puts its jobs in another order: which of the base it is. */
static size_t job_of(const struct run *r, const struct snap_job *j)
{
    size_t low = 0, high = r->in->base.jobs.n;
    for (;;) {
        ASSERT(low < high);
        const size_t mid = (low + high) / 2;
        const int c = compare(&r->in->base.jobs.items[r->by_id[mid]], j);
        if (!c)
            return r->by_id[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
}

static void copy_book(struct run *r)
{
    const struct rulebook *from = &r->in->base.book;
    r->s.book.rules.items = ARENA_ARRAY(r->scratch, struct rule, from->rules.n + 1);
    for (size_t i = 0; i < from->rules.n; i++) {
        r->s.book.rules.items[i] = from->rules.items[i];
        r->s.book.rules.items[i].used = 0;
    }
    rulebook_link(&r->s.book, r->scratch);
}

/* Room for all at once: a machine with shares of GPUs has thousands of attempts. */
static void make_devices_text(struct run *r)
{
    const size_t n = r->s.nodes.n;
    size_t *many = ARENA_ARRAY(r->scratch, size_t, n + 1);
    r->devices_text = ARENA_ARRAY(r->scratch, char *, n + 1);
    for (size_t i = 0; i < r->nheld; i++)
        if (!r->held[i].has_ended && r->held[i].l.machine != AHEAD_NONE && r->held[i].l.job.gpus > 0)
            many[r->held[i].l.machine]++;
    for (size_t i = 0; i < n; i++)
        if (many[i])
            r->devices_text[i] = ARENA_ARRAY(r->scratch, char, many[i] * DEVICES_TEXT);
}

static void hold(struct run *r, const struct ahead_live *l)
{
    struct snap_tenant *t = &r->s.tenants.items[l->job.tenant];
    const struct ask a = snap_job_ask(&l->job);
    t->slots_used += l->job.slots;
    t->gpus_used += l->job.gpus;
    if (t->guarded) {
        const struct rule_ask ask = { t->tenant_id, l->job.project_id, l->job.queue, l->where->flavor, l->where->zone,
                                      l->job.slots,
                                      l->job.gpus };
        rulebook_take(&r->s.book, &ask);
    }
    if (l->machine == AHEAD_NONE)
        return;
    struct snap_node *n = &r->s.nodes.items[l->machine];
    n->free_slots -= l->job.slots;
    n->free_gpus -= l->job.gpus;
    n->used_cpu_milli += a.cpu_milli;
    n->used_memory_bytes += a.memory_bytes;
    if (l->job.gpus <= 0)
        return;
    char *text = r->devices_text[l->machine];
    const int len = snprintf(text + n->held.len, DEVICES_TEXT, "%s%llu:%lld:%d", n->held.len ? "," : "",
                             (unsigned long long)l->devices, (long long)l->job.gpus, (int)a.gpu_milli);
    n->held = str_n(text, n->held.len + (size_t)len);
}

/* All that is there at that moment, and who may go then. Returns how many wait. */
static size_t look(struct run *r, int64_t at_us)
{
    const struct snapshot *b = &r->in->base;
    size_t n = 0;
    arena_reset(r->scratch);
    r->s = *b;
    r->s.claims = NULL;
    r->s.workload = NULL;
    r->s.nodes.items = ARENA_ARRAY(r->scratch, struct snap_node, b->nodes.n + 1);
    r->s.tenants.items = ARENA_ARRAY(r->scratch, struct snap_tenant, b->tenants.n + 1);
    r->s.jobs.items = ARENA_ARRAY(r->scratch, struct snap_job, b->jobs.n + 1);
    for (size_t i = 0; i < b->nodes.n; i++)
        r->s.nodes.items[i] = b->nodes.items[i];
    for (size_t i = 0; i < b->tenants.n; i++)
        r->s.tenants.items[i] = b->tenants.items[i];
    copy_book(r);
    make_devices_text(r);
    for (size_t i = 0; i < r->nheld; i++)
        if (!r->held[i].has_ended)
            hold(r, &r->held[i].l);
    for (size_t i = 0; i < b->jobs.n; i++)
        if (!r->is_placed[i] && r->in->waits[i].ready_us <= at_us)
            r->s.jobs.items[n++] = b->jobs.items[i];
    return r->s.jobs.n = n;
}

static void begin(struct run *r, const struct ahead_in *in, struct arena *a)
{
    const size_t n = in->base.jobs.n;
    *r = (struct run){ .in = in, .scratch = arena_new(STEP_BYTES), .nheld = in->nlive,
                       .held = ARENA_ARRAY(a, struct held, in->nlive + n + 1),
                       .by_id = ARENA_ARRAY(a, size_t, n + 1), .is_placed = ARENA_ARRAY(a, bool, n + 1) };
    for (size_t i = 0; i < n; i++)
        r->by_id[i] = i;
    qsort_r(r->by_id, n, sizeof *r->by_id, by_id, in->base.jobs.items);
    for (size_t i = 0; i < in->nlive; i++)
        r->held[i] = (struct held){ .l = in->live[i] };
}

/* What ended at this moment: from, below until, on that machine before of the tenant. */
static size_t ended_for(const struct run *r, int64_t after_us, int64_t at_us, size_t machine, int64_t tenant)
{
    size_t ret = AHEAD_NONE;
    for (size_t i = 0; i < r->nheld; i++) {
        const struct ahead_live *l = &r->held[i].l;
        if (!r->held[i].has_ended || l->ends_us <= after_us || l->ends_us > at_us)
            continue;
        if (l->machine == machine)
            return i;
        if (ret == AHEAD_NONE && l->job.tenant == tenant)
            ret = i;
    }
    return ret;
}

static void start(struct run *r, const struct placement *p, int64_t before_us, int64_t at_us, struct ahead *ret)
{
    const size_t job = job_of(r, &r->s.jobs.items[p->job]);
    const struct snap_job *j = &r->in->base.jobs.items[job];
    const int64_t runs_us = r->in->waits[job].runs_us;
    struct ahead_start *s = &ret->starts.items[ret->starts.n++];
    *s = (struct ahead_start){ .job = job, .machine = p->node, .devices = p->devices, .at_us = at_us,
                               .ends_us = runs_us == AHEAD_NEVER ? AHEAD_NEVER : at_us + runs_us,
                               .after = ended_for(r, before_us, at_us, p->node, j->tenant) };
    r->is_placed[job] = true;
    r->held[r->nheld++] = (struct held){ .l = { p->node, &r->in->base.nodes.items[p->node], *j, p->devices, s->ends_us } };
}

static void keep_why(const struct run *r, const struct waiting *w, struct arena *a, struct ahead *ret)
{
    const size_t job = job_of(r, &r->s.jobs.items[w->job]);
    struct waiting *why = &ret->why[job];
    if (!r->in->waits[job].is_told || (str_eq(why->reason, w->reason) && str_eq(why->message, w->message)))
        return;
    *why = (struct waiting){ job, str_dup(a, w->reason), str_dup(a, w->message), w->is_denied };
}

/* The next moment at which something changes; INT64_MAX: none. */
static int64_t next_change(const struct run *r, int64_t at_us)
{
    int64_t next = INT64_MAX, last;
    for (size_t i = 0; i < r->nheld; i++)
        if (!r->held[i].has_ended && r->held[i].l.ends_us < next)
            next = r->held[i].l.ends_us;
    for (size_t i = 0; i < r->in->base.jobs.n; i++)
        if (!r->is_placed[i] && r->in->waits[i].ready_us > at_us && r->in->waits[i].ready_us < next)
            next = r->in->waits[i].ready_us;
    if (next == INT64_MAX)
        return next;
    if (next <= at_us)
        next = at_us + 1;               /* it should have ended already */
    const int64_t grain = (next - r->in->now_us) / COARSE;
    const int64_t until = next + (grain > GRAIN_US ? grain : GRAIN_US);
    last = next;
    for (size_t i = 0; i < r->nheld; i++)
        if (!r->held[i].has_ended && r->held[i].l.ends_us > last && r->held[i].l.ends_us <= until)
            last = r->held[i].l.ends_us;
    return last;
}

static void end_until(struct run *r, int64_t at_us)
{
    for (size_t i = 0; i < r->nheld; i++)
        r->held[i].has_ended |= r->held[i].l.ends_us <= at_us;
}

void ahead_run(const struct ahead_in *in, struct arena *a, struct ahead *ret)
{
    struct run r;
    struct plan plan;
    const size_t n = in->base.jobs.n;
    int64_t at_us = in->now_us, before_us = in->now_us;
    begin(&r, in, a);
    *ret = (struct ahead){ .starts.items = ARENA_ARRAY(a, struct ahead_start, n + 1),
                           .why = ARENA_ARRAY(a, struct waiting, n + 1) };
    for (; at_us <= in->until_us && ret->starts.n < n; before_us = at_us, at_us = next_change(&r, at_us)) {
        if (ret->steps++ == AHEAD_STEPS_MAX) {
            ret->is_cut = true;
            break;
        }
        if (at_us > in->now_us)
            end_until(&r, at_us);
        if (!look(&r, at_us))
            continue;
        placement_plan(&r.s, r.scratch, &plan);
        ret->is_cut |= plan.is_cut;
        for (size_t i = 0; i < plan.waits.n; i++)
            keep_why(&r, &plan.waits.items[i], a, ret);
        for (size_t i = 0; i < plan.places.n; i++)
            start(&r, &plan.places.items[i], before_us, at_us, ret);
    }
    arena_free(r.scratch);
}

bool ahead_starts_now(const struct ahead_in *in, size_t job, size_t *ret_machine)
{
    struct arena *a = arena_new(STEP_BYTES);
    struct run r;
    struct plan plan;
    bool found = false;
    begin(&r, in, a);
    if (look(&r, in->now_us)) {
        placement_plan(&r.s, r.scratch, &plan);
        for (size_t i = 0; i < plan.places.n && !found; i++) {
            found = job_of(&r, &r.s.jobs.items[plan.places.items[i].job]) == job;
            *ret_machine = plan.places.items[i].node;
        }
    }
    arena_free(r.scratch);
    arena_free(a);
    return found;
}
