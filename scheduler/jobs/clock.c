/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - a board, run ahead, told: own jobs one by one; the sums by zone are clock_lines.c's. */
#include "scheduler/jobs/clock_int.h"
#include "core/base/assert.h"
#include "scheduler/jobs/outlook.h"
#include "scheduler/jobs/priority_class.h"
#include "scheduler/plan/changes.h"
#include "tenants/home/residency_facts.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_US ((int64_t)3600 * 1000000)
enum { GRAIN_US = 1000000 };        /* moments so near are one */

SCHEMA_EXTERN(clock_job, "A job that runs or will start", FIELD_ID(clock_job, job_id, "job", 0, .doc = "The job"),
    FIELD(clock_job, name, 0, .doc = "Its name"), FIELD(clock_job, zone, 0, .doc = "Where"),
        FIELD(clock_job, pool, 0, .doc = "Where"),
    FIELD(clock_job, flavor, 0, .doc = "Of the machine"), FIELD(clock_job, slots, 0, .doc = "Slots"),
        FIELD(clock_job, gpus, 0, .doc = "GPUs"),
    FIELD(clock_job, nodes, 0, .doc = "Machines at once, each with so many slots and GPUs; flavor is that of all"),
    FIELD(clock_job, at, 0, .doc = "When it began, or is expected to"),
    FIELD(clock_job, ends_at, 0, .doc = "When it is expected to end; absent: it stays until it is told to stop"),
    FIELD(clock_job, basis, 0, .doc = "Of ends_at. measured: the median of how long its like took; limit: its own longest time"),
    FIELD(clock_job, after, 0,
          .doc = "Of one that waits. now: the next plan starts it; job, others: when that ends; dependency: a job that it waits "
                 "for; begin_at: its own time; turn: nothing ends then, others went first"),
    FIELD_ID(clock_job, after_job_id, "job", 0, .doc = "Of after job and dependency: which"),
    FIELD(clock_job, makes_room, 0, .doc = "Of one that waits: what ended then was sent away for it, its class goes first"),
    FIELD(clock_job, leaves_at, 0, .doc = "When it makes room for another job; then it waits again"),
    FIELD(clock_job, reason, 0, .doc = "Why it waits until then, as a reason of pending jobs"),
        FIELD(clock_job, detail, 0, .doc = "The same with numbers"));
SCHEMA_OF(clock_late, "A job that does not start within the time looked at",
          FIELD_ID(clock_late, job_id, "job", 0, .doc = "The job"),
    FIELD(clock_late, name, 0, .doc = "Its name"), FIELD(clock_late, slots, 0, .doc = "Slots"),
        FIELD(clock_late, gpus, 0, .doc = "GPUs"),
    FIELD(clock_late, reason, 0, .doc = "Why it waits"), FIELD(clock_late, detail, 0, .doc = "The same with numbers"));
SCHEMA_EXTERN(queue_clock, "What will start when, if all goes on as it is", FIELD(queue_clock, at, F_ALWAYS, .doc = "Now"),
    FIELD(queue_clock, until, 0, .doc = "The end of the time looked at"),
    FIELD_LIST(queue_clock, zones, &clock_zone_schema, 0, .max = 1000,
               .doc = "Zones that the tenant may use, and who holds what of them"),
    FIELD_LIST(queue_clock, running, &clock_job_schema, 0, .max = CLOCK_JOBS, .doc = "Own jobs that run, by their expected ends"),
    FIELD_LIST(queue_clock, starts, &clock_job_schema, 0, .max = CLOCK_JOBS,
               .doc = "Own jobs that wait, by their expected starts"),
    FIELD_LIST(queue_clock, late, &clock_late_schema, 0, .max = CLOCK_JOBS, .doc = "Own jobs that do not start within that time"),
    FIELD(queue_clock, others_running, 0, .doc = "Jobs of others that run in those zones"),
    FIELD(queue_clock, others_waiting, 0, .doc = "Jobs of others that wait and may run there, of those looked at"),
    FIELD(queue_clock, is_partial, 0, .doc = "More waits than was looked at, so that late times are guesses"));
SCHEMA_OF(job_change, "A change that would start the job now",
    FIELD(job_change, change, F_ALWAYS,
          .doc = "A field of the job; quota_slots, quota_gpus: the tenant's limit; quota_rule: the nominal of a rule"),
    FIELD(job_change, from, 0, .doc = "As it is"), FIELD(job_change, to, 0,
                                                         .doc = "As it would be, the least change that is enough"),
    FIELD(job_change, zone, 0, .doc = "Where it would start"), FIELD(job_change, pool, 0, .doc = "Where it would start"),
    FIELD(job_change, flavor, 0, .doc = "On which kind of machine"));
SCHEMA_EXTERN(job_clock, "When a job will start, and what would start it now", FIELD(job_clock, at, F_ALWAYS, .doc = "Now"),
    FIELD(job_clock, state, 0,
          .doc = "now: the next plan starts it; later; late: not within the time looked at; gate: something else keeps it "
                                     "back first; not_waiting"),
    FIELD_SUB(job_clock, start, &clock_job_schema, 0, .doc = "When and where it starts, where that is known"),
    FIELD(job_clock, reason, 0, .doc = "Why not"), FIELD(job_clock, detail, 0, .doc = "The same with numbers"),
    FIELD_LIST(job_clock, changes, &job_change_schema, 0, .max = CLOCK_CHANGES,
               .doc = "Each of these alone would start it now, the least first"),
    FIELD(job_clock, is_partial, 0, .doc = "More waits than was looked at, so that late times are guesses"));

/* --- jobs --- */

/* A tenant is told of its own zones alone, in numbers too; f NULL: the platform. */
static bool is_told(const struct residency_facts *f, struct str zone)
{
    return !f || residency_has_zone(f, zone);
}

static bool may_run_where_told(const struct residency_facts *f, const struct snap_job *j)
{
    const struct str *zones = j->zones.items;
    bool found = !f;
    if (j->zone.ptr)
        return is_told(f, j->zone);
    for (size_t i = 0; i < j->zones.n && !found; i++)
        found = is_told(f, zones[i]);
    return found;
}

/* The job that it waited for last, where that kept it back until then; AHEAD_NONE: none did. */
static size_t last_need(const struct ahead_in *in, const struct ahead *x, const struct ahead_start *s)
{
    const struct ahead_wait *w = s->job < in->base.jobs.n ? &in->waits[s->job] : NULL;
    for (size_t i = 0; w && i < w->nneeds; i++) {
        const struct ahead_need *n = &w->needs[i];
        if (n->job >= in->base.jobs.n && in->live[n->job - in->base.jobs.n].ends_us >= s->at_us - GRAIN_US && !n->begun)
            return n->job;
        for (size_t k = 0; k < x->starts.n && x->starts.items[k].at_us <= s->at_us; k++)
            if (x->starts.items[k].job == n->job &&
                (n->begun ? x->starts.items[k].at_us : x->starts.items[k].ends_us) >= s->at_us - GRAIN_US)
                return n->job;
    }
    return AHEAD_NONE;
}

static void tell_after(const struct board *b, const struct ahead *x, const struct ahead_start *s, struct clock_job *ret)
{
    const struct board_tag *after = NULL;
    const size_t need = last_need(&b->in, x, s);
    ret->after = STR("turn");
    if (need != AHEAD_NONE)
        after = board_tag(b, need);
    else if (s->after != AHEAD_NONE)
        after = s->after < b->in.nlive ? &b->runs[s->after] : board_tag(b, x->starts.items[s->after - b->in.nlive].job);
    if (after && after->is_own)
        ret->after_job_id = after->job_id;
    if (s->at_us == b->in.now_us)
        ret->after = STR("now");
    else if (need != AHEAD_NONE)
        ret->after = STR("dependency");
    else if (after)
        ret->after = after->is_own ? STR("job") : STR("others");
    else if (s->job < b->in.base.jobs.n && b->in.waits[s->job].ready_us > b->in.now_us)
        ret->after = STR("begin_at");
    if (str_eq_c(ret->after, "now"))
        ret->after_job_id = UUID_NIL;
}

static void tell_start(const struct board *b, const struct ahead *x, const struct ahead_start *s, struct clock_job *ret)
{
    const struct snap_job *j = ahead_job(&b->in, s->job);
    const struct snap_node *n = &b->in.base.nodes.items[s->machine];
    const struct board_tag *tag = board_tag(b, s->job);
    *ret = (struct clock_job){ .job_id = tag->job_id, .name = tag->name, .zone = n->zone, .pool = n->pool, .flavor = n->flavor,
        .slots = j->slots, .gpus = j->gpus, .nodes = s->nodes, .at.us = s->at_us,
        .basis = tag->is_measured ? STR("measured") : STR("limit"),
        .makes_room = s->is_made };
    if (s->job < b->in.base.jobs.n) {
        ret->reason = x->why[s->job].reason;
        ret->detail = x->why[s->job].message;
    }
    if (s->ends_us == AHEAD_NEVER)
        ret->basis = STR_NULL;
    else
        ret->ends_at.us = s->ends_us;
    if (s->is_cut)
        ret->leaves_at.us = s->ends_us;
    tell_after(b, x, s, ret);
}

static int by_end(const void *a, const void *b)
{
    const struct clock_job *x = a, *y = b;
    const int64_t p = x->ends_at.us ? x->ends_at.us : INT64_MAX, q = y->ends_at.us ? y->ends_at.us : INT64_MAX;
    return (p > q) - (p < q);
}

static void tell_running(const struct board *b, const struct residency_facts *f, const struct ahead *x, struct arena *a,
                         struct queue_clock *ret)
{
    struct clock_job *jobs = ARENA_ARRAY(a, struct clock_job, b->in.nlive + 1);
    size_t n = 0;
    for (size_t i = 0; i < b->in.nlive; i++) {
        const struct ahead_live *l = &b->in.live[i];
        const struct board_tag *tag = &b->runs[i];
        ret->others_running += !tag->is_own && is_told(f, l->where->zone);
        if (!tag->is_own)
            continue;
        jobs[n] = (struct clock_job){ .job_id = tag->job_id, .name = tag->name, .zone = l->where->zone, .pool = l->where->pool,
            .flavor = l->where->flavor, .slots = l->job.slots, .gpus = l->job.gpus,
            .nodes = (int64_t)l->nmore + 1, .at = tag->begun_at };
        if (l->ends_us != AHEAD_NEVER) {
            jobs[n].ends_at.us = l->ends_us;
            jobs[n].basis = tag->is_measured ? STR("measured") : STR("limit");
        }
        if (x->leaves_us[i] || l->is_leaving) {
            jobs[n].leaves_at.us = jobs[n].ends_at.us = x->leaves_us[i] ? x->leaves_us[i] : l->ends_us;
            jobs[n].basis = STR_NULL;
        }
        n++;
    }
    qsort(jobs, n, sizeof *jobs, by_end);
    ret->is_partial |= n > CLOCK_JOBS;
    ret->running = (struct slice){ jobs, n < CLOCK_JOBS ? n : CLOCK_JOBS };
}

/* Why it waits to the end; one that was never asked about waits for others. */
static struct str why_late(const struct board *b, const struct ahead *x, size_t i)
{
    return !x->why[i].reason.ptr && b->in.waits[i].nneeds ? str_c(job_reason_names[JR_DEPENDENCY]) : x->why[i].reason;
}

static void tell_waiting(const struct board *b, const struct residency_facts *f, const struct ahead *x, struct arena *a,
                         struct queue_clock *ret)
{
    struct clock_job *starts = ARENA_ARRAY(a, struct clock_job, CLOCK_JOBS);
    struct clock_late *late = ARENA_ARRAY(a, struct clock_late, CLOCK_JOBS);
    bool *is_placed = ARENA_ARRAY(a, bool, b->in.base.jobs.n + 1);
    size_t n = 0, m = 0;
    for (size_t i = 0; i < x->starts.n; i++) {
        if (x->starts.items[i].job < b->in.base.jobs.n)
            is_placed[x->starts.items[i].job] = true;
        if (board_tag(b, x->starts.items[i].job)->is_own && n < CLOCK_JOBS)
            tell_start(b, x, &x->starts.items[i], &starts[n++]);
    }
    for (size_t i = 0; i < b->in.base.jobs.n; i++) {
        const struct snap_job *j = &b->in.base.jobs.items[i];
        const struct board_tag *tag = &b->waits[i];
        ret->others_waiting += !tag->is_own && may_run_where_told(f, j);
        if (tag->is_own && !is_placed[i] && m < CLOCK_JOBS)
            late[m++] = (struct clock_late){ tag->job_id, tag->name, j->slots, j->gpus, why_late(b, x, i), x->why[i].message };
    }
    ret->is_partial |= n == CLOCK_JOBS || m == CLOCK_JOBS;
    ret->starts = (struct slice){ starts, n };
    ret->late = (struct slice){ late, m };
}

enum errc queue_clock_read(struct work *w, int64_t hours, struct queue_clock *ret, struct err *e)
{
    const bool is_platform = uuid_is_nil(w->tenant_id);
    const struct residency_facts *f = NULL;
    struct slice law = { 0 };
    struct board b;
    struct ahead x;
    struct clock_lines l;
    size_t n = 0;
    if (is_platform)
        TRY(residency_law_read(w, &law, e));
    else
        TRY(residency_facts_of(w, &f, e));
    TRY(board_read(w, w->now_us + hours * HOUR_US, &b, e));
    ahead_run(&b.in, w->arena, &x);
    clock_lines_find(&b, is_platform, x.starts.n, w->arena, &l);
    const struct slice all = is_platform ? law : f->zones;
    const struct residency_zone *z = all.items;
    struct clock_zone *zones = ARENA_ARRAY(w->arena, struct clock_zone, all.n + 1);
    for (size_t i = 0; i < all.n; i++)
        if (is_told(f, z[i].code))
            clock_lines_tell(&l, &x, z[i].code, w->arena, &zones[n++]);
    *ret = (struct queue_clock){ .at.us = b.in.now_us, .until.us = b.in.until_us, .zones = { zones, n }, .is_partial = b.is_cut ||
                                 x.is_cut };
    tell_running(&b, f, &x, w->arena, ret);
    tell_waiting(&b, f, &x, w->arena, ret);
    return ERR_OK;
}

/* --- one job --- */

static size_t find_wait(const struct board *b, struct uuid job_id)
{
    for (size_t i = 0; i < b->in.base.jobs.n; i++)
        if (b->waits[i].is_own && uuid_eq(b->waits[i].job_id, job_id))
            return i;
    return AHEAD_NONE;
}

/* Classes and zones that it may choose, and what would put it before the others of its tenant. */
static enum errc read_room(struct work *w, const struct job *job, const struct board *b, size_t at, struct change_room *ret,
                           struct err *e)
{
    struct slice classes;
    struct outlook o;
    struct job free = *job;
    TRY(priority_class_list(w, STR_NULL, PRIORITY_CLASSES_MAX, &classes, e));
    const struct priority_class *c = classes.items;
    struct change_class *names = ARENA_ARRAY(w->arena, struct change_class, classes.n + 1);
    for (size_t i = 0; i < classes.n; i++)
        names[i] = (struct change_class){ c[i].cls, c[i].value };
    free.zone = STR_NULL;
    TRY(outlook_read(w, &free, &o, e));
    *ret = (struct change_room){ .classes = names, .nclasses = classes.n, .zones = o.snap.jobs.items[0].zones,
                                 .best_priority = INT64_MIN / 2 };
    for (size_t i = 0; i < b->in.base.jobs.n; i++) {
        const struct snap_job *j = &b->in.base.jobs.items[i];
        if (i != at && j->tenant == b->in.base.jobs.items[at].tenant && j->class_value == b->in.base.jobs.items[at].class_value &&
            j->priority > ret->best_priority)
            ret->best_priority = j->priority;
    }
    return ERR_OK;
}

static enum errc find_changes(struct work *w, const struct job *job, const struct board *b, size_t at, struct job_clock *ret,
                              struct err *e)
{
    struct change_room room;
    struct change found[CHANGES];
    TRY(read_room(w, job, b, at, &room, e));
    const size_t n = changes_find(&b->in, at, &room, w->arena, found);
    struct job_change *out = ARENA_ARRAY(w->arena, struct job_change, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct job_change){ str_c(change_names[found[i].what]), found[i].from, found[i].to, found[i].zone,
                                      found[i].pool, found[i].flavor };
    ret->changes = (struct slice){ out, n };
    return ERR_OK;
}

enum errc job_clock_read(struct work *w, const struct job *job, int64_t hours, struct job_clock *ret, struct err *e)
{
    struct board b;
    struct ahead x;
    *ret = (struct job_clock){ .at.us = w->now_us, .state = STR("not_waiting") };
    if (!job_state_waits((enum job_state)job->state))
        return ERR_OK;
    TRY(board_read(w, w->now_us + hours * HOUR_US, &b, e));
    const size_t at = find_wait(&b, job->job_id);
    if (at == AHEAD_NONE) {             /* held back, waits for others, or behind too many of its kind */
        const bool is_gated = job->state != JOB_PENDING || str_eq_c(job->reason, job_reason_names[JR_DEPENDENCY]) ||
                              str_eq_c(job->reason, job_reason_names[JR_BEGIN_TIME]);
        ret->state = is_gated ? STR("gate") : STR("late");
        ret->reason = job->reason;
        ret->detail = job->message;
        ret->is_partial = true;
        return ERR_OK;
    }
    ahead_run(&b.in, w->arena, &x);
    ret->is_partial = b.is_cut || x.is_cut;
    ret->state = STR("late");
    ret->reason = why_late(&b, &x, at);
    ret->detail = x.why[at].message;
    for (size_t i = 0; i < x.starts.n && !ret->start.at.us; i++)
        if (x.starts.items[i].job == at) {
            tell_start(&b, &x, &x.starts.items[i], &ret->start);
            ret->state = x.starts.items[i].at_us == b.in.now_us ? STR("now") : STR("later");
        }
    if (str_eq_c(ret->state, "now") || b.in.waits[at].ready_us > b.in.now_us || b.in.waits[at].nneeds)
        return ERR_OK;
    return find_changes(w, job, &b, at, ret, e);
}
