/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - a board, run ahead, told: own jobs one by one, and of all the sums by zone as they change. */
#include "scheduler/jobs/clock.h"
#include "core/base/assert.h"
#include "scheduler/jobs/outlook.h"
#include "scheduler/jobs/priority_class.h"
#include "scheduler/mirror/board.h"
#include "scheduler/plan/changes.h"
#include "tenants/home/residency_facts.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_US ((int64_t)3600 * 1000000)

SCHEMA_OF(clock_point, "What is held from a moment on", FIELD(clock_point, at, 0, .doc = "From then on"),
    FIELD(clock_point, slots, 0, .doc = "Slots"), FIELD(clock_point, gpus, 0, .doc = "GPUs"));
SCHEMA_OF(clock_line, "Who holds what of a zone", FIELD(clock_line, who, F_ALWAYS, .doc = "own, others, tenant"),
    FIELD_ID(clock_line, tenant_id, "tnt", 0, .doc = "Of who tenant: which"), FIELD(clock_line, name, 0, .doc = "Its name"),
    FIELD_LIST(clock_line, points, &clock_point_schema, 0, .max = CLOCK_POINTS + 2,
               .doc = "As it changes, in the order of time"));
SCHEMA_OF(clock_zone, "A zone", FIELD(clock_zone, zone, F_ALWAYS, .doc = "Its code"),
    FIELD(clock_zone, slots, 0, .doc = "Of its ready machines"), FIELD(clock_zone, gpus, 0, .doc = "Of its ready machines"),
    FIELD_LIST(clock_zone, lines, &clock_line_schema, 0, .max = CLOCK_LINES + 1, .doc = "Who holds what of it"));
SCHEMA_EXTERN(clock_job, "A job that runs or will start", FIELD_ID(clock_job, job_id, "job", 0, .doc = "The job"),
    FIELD(clock_job, name, 0, .doc = "Its name"), FIELD(clock_job, zone, 0, .doc = "Where"),
        FIELD(clock_job, pool, 0, .doc = "Where"),
    FIELD(clock_job, flavor, 0, .doc = "Of the machine"), FIELD(clock_job, slots, 0, .doc = "Slots"),
        FIELD(clock_job, gpus, 0, .doc = "GPUs"),
    FIELD(clock_job, at, 0, .doc = "When it began, or is expected to"),
    FIELD(clock_job, ends_at, 0, .doc = "When it is expected to end; absent: it stays until it is told to stop"),
    FIELD(clock_job, basis, 0, .doc = "Of ends_at. measured: the median of how long its like took; limit: its own longest time"),
    FIELD(clock_job, after, 0,
          .doc = "Of one that waits. now: the next plan starts it; job, others: when that ends; begin_at: its own time; "
                                      "turn: nothing ends then, others went first"),
    FIELD_ID(clock_job, after_job_id, "job", 0, .doc = "Of after job: which"),
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

/* --- lines: sums by zone --- */

struct step { int64_t at_us; int64_t slots, gpus; };

struct lines {
    const struct board *b;
    bool is_platform;
    size_t *line_of;                    /* of the platform: by tenant */
    size_t n;
    struct clock_line *lines;           /* their names */
    struct step *steps;                 /* room for those of one line: there are as many lines as zones times who */
};

/* By tenant: the slots that its jobs hold or want. */
static int64_t *wants_of(const struct board *b, struct arena *a)
{
    int64_t *sums = ARENA_ARRAY(a, int64_t, b->in.base.tenants.n + 1);
    for (size_t i = 0; i < b->in.nlive; i++)
        sums[b->in.live[i].job.tenant] += b->in.live[i].job.slots;
    for (size_t i = 0; i < b->in.base.jobs.n; i++)
        sums[b->in.base.jobs.items[i].tenant] += b->in.base.jobs.items[i].slots;
    return sums;
}

/* A tenant's clock has two lines; the platform's one for each of the tenants that hold or want most, and one for the rest. */
static void find_lines(const struct board *b, bool is_platform, struct arena *a, struct lines *l)
{
    const size_t n = b->in.base.tenants.n;
    *l = (struct lines){ .b = b, .is_platform = is_platform, .line_of = ARENA_ARRAY(a, size_t, n + 1),
                         .lines = ARENA_ARRAY(a, struct clock_line, CLOCK_LINES + 1),
                         .steps = ARENA_ARRAY(a, struct step, 2 * (b->in.nlive + b->in.base.jobs.n) + 1) };
    if (!is_platform) {
        l->lines[l->n++] = (struct clock_line){ .who = STR("own") };
        l->lines[l->n++] = (struct clock_line){ .who = STR("others") };
        return;
    }
    const int64_t *wants = wants_of(b, a);
    for (size_t i = 0; i < n; i++)
        l->line_of[i] = CLOCK_LINES;
    while (l->n < CLOCK_LINES) {
        size_t most = n;
        for (size_t i = 0; i < n; i++)
            if (l->line_of[i] == CLOCK_LINES && wants[i] > 0 && (most == n || wants[i] > wants[most]))
                most = i;
        if (most == n)
            break;
        l->line_of[most] = l->n;
        l->lines[l->n++] = (struct clock_line){ .who = STR("tenant"), .tenant_id = b->tenants[most].tenant_id,
                                                .name = b->tenants[most].name };
    }
    for (size_t i = 0; i < n; i++)
        if (l->line_of[i] == CLOCK_LINES)
            l->line_of[i] = l->n;
    l->lines[l->n++] = (struct clock_line){ .who = STR("others") };
}

static size_t line_of(const struct lines *l, const struct board_tag *tag, int64_t tenant)
{
    return l->is_platform ? l->line_of[tenant] : tag->is_own ? 0 : 1;
}

static int by_time(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

/* Steps into sums, on a grid that bounds their number. */
static struct slice points_of(const struct ahead_in *in, struct step *s, size_t n, struct arena *a)
{
    struct clock_point *p = ARENA_ARRAY(a, struct clock_point, (n < CLOCK_POINTS ? n : CLOCK_POINTS) + 2);
    const int64_t grid = (in->until_us - in->now_us) / CLOCK_POINTS + 1;
    size_t k = 0;
    qsort(s, n, sizeof *s, by_time);
    p[k++].at.us = in->now_us;
    for (size_t i = 0; i < n && s[i].at_us <= in->until_us; i++) {
        const int64_t from = s[i].at_us < in->now_us ? 0 : s[i].at_us - in->now_us;
        const int64_t at_us = in->now_us + (from + grid - 1) / grid * grid;
        if (at_us > p[k - 1].at.us) {
            p[k] = p[k - 1];
            p[k++].at.us = at_us;
        }
        p[k - 1].slots += s[i].slots;
        p[k - 1].gpus += s[i].gpus;
    }
    return (struct slice){ p, k };
}

static void add_steps(struct step *s, size_t *n, int64_t from_us, int64_t until_us, const struct snap_job *j)
{
    s[(*n)++] = (struct step){ from_us, j->slots, j->gpus };
    if (until_us != AHEAD_NEVER)
        s[(*n)++] = (struct step){ until_us, -j->slots, -j->gpus };
}

static struct slice line_points(const struct lines *l, const struct ahead *x, struct str zone, size_t line, struct arena *a)
{
    const struct ahead_in *in = &l->b->in;
    struct step *s = l->steps;
    size_t n = 0;
    for (size_t i = 0; i < in->nlive; i++) {
        const struct ahead_live *h = &in->live[i];
        if (h->machine != AHEAD_NONE && str_eq(h->where->zone, zone) && line_of(l, &l->b->runs[i], h->job.tenant) == line)
            add_steps(s, &n, in->now_us, h->ends_us <= in->now_us ? in->now_us + 1 : h->ends_us, &h->job);
    }
    for (size_t i = 0; i < x->starts.n; i++) {
        const struct ahead_start *h = &x->starts.items[i];
        const struct snap_job *j = &in->base.jobs.items[h->job];
        if (str_eq(in->base.nodes.items[h->machine].zone, zone) && line_of(l, &l->b->waits[h->job], j->tenant) == line)
            add_steps(s, &n, h->at_us, h->ends_us, j);
    }
    return points_of(in, s, n, a);
}

static void tell_zone(const struct lines *l, const struct ahead *x, struct str zone, struct arena *a, struct clock_zone *ret)
{
    struct clock_line *lines = ARENA_ARRAY(a, struct clock_line, l->n);
    *ret = (struct clock_zone){ .zone = zone, .lines = { lines, l->n } };
    for (size_t i = 0; i < l->b->in.base.nodes.n; i++) {
        const struct snap_node *n = &l->b->in.base.nodes.items[i];
        ret->slots += str_eq(n->zone, zone) ? n->slots : 0;
        ret->gpus += str_eq(n->zone, zone) ? n->gpus : 0;
    }
    for (size_t i = 0; i < l->n; i++) {
        lines[i] = l->lines[i];
        lines[i].points = line_points(l, x, zone, i, a);
    }
}

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

static void tell_start(const struct board *b, const struct ahead *x, const struct ahead_start *s, struct clock_job *ret)
{
    const struct snap_job *j = &b->in.base.jobs.items[s->job];
    const struct snap_node *n = &b->in.base.nodes.items[s->machine];
    const struct board_tag *tag = &b->waits[s->job], *after = NULL;
    *ret = (struct clock_job){ .job_id = tag->job_id, .name = tag->name, .zone = n->zone, .pool = n->pool, .flavor = n->flavor,
        .slots = j->slots, .gpus = j->gpus, .at.us = s->at_us, .basis = tag->is_measured ? STR("measured") : STR("limit"),
        .after = STR("turn"), .reason = x->why[s->job].reason, .detail = x->why[s->job].message };
    if (s->ends_us == AHEAD_NEVER)
        ret->basis = STR_NULL;
    else
        ret->ends_at.us = s->ends_us;
    if (s->after != AHEAD_NONE)
        after = s->after < b->in.nlive ? &b->runs[s->after] : &b->waits[x->starts.items[s->after - b->in.nlive].job];
    if (s->at_us == b->in.now_us)
        ret->after = STR("now");
    else if (after && after->is_own) {
        ret->after = STR("job");
        ret->after_job_id = after->job_id;
    } else if (after)
        ret->after = STR("others");
    else if (b->in.waits[s->job].ready_us > b->in.now_us)
        ret->after = STR("begin_at");
}

static int by_end(const void *a, const void *b)
{
    const struct clock_job *x = a, *y = b;
    const int64_t p = x->ends_at.us ? x->ends_at.us : INT64_MAX, q = y->ends_at.us ? y->ends_at.us : INT64_MAX;
    return (p > q) - (p < q);
}

static void tell_running(const struct board *b, const struct residency_facts *f, struct arena *a, struct queue_clock *ret)
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
            .flavor = l->where->flavor, .slots = l->job.slots, .gpus = l->job.gpus, .at = tag->begun_at };
        if (l->ends_us != AHEAD_NEVER) {
            jobs[n].ends_at.us = l->ends_us;
            jobs[n].basis = tag->is_measured ? STR("measured") : STR("limit");
        }
        n++;
    }
    qsort(jobs, n, sizeof *jobs, by_end);
    ret->is_partial |= n > CLOCK_JOBS;
    ret->running = (struct slice){ jobs, n < CLOCK_JOBS ? n : CLOCK_JOBS };
}

static void tell_waiting(const struct board *b, const struct residency_facts *f, const struct ahead *x, struct arena *a,
                         struct queue_clock *ret)
{
    struct clock_job *starts = ARENA_ARRAY(a, struct clock_job, CLOCK_JOBS);
    struct clock_late *late = ARENA_ARRAY(a, struct clock_late, CLOCK_JOBS);
    bool *is_placed = ARENA_ARRAY(a, bool, b->in.base.jobs.n + 1);
    size_t n = 0, m = 0;
    for (size_t i = 0; i < x->starts.n; i++) {
        is_placed[x->starts.items[i].job] = true;
        if (b->waits[x->starts.items[i].job].is_own && n < CLOCK_JOBS)
            tell_start(b, x, &x->starts.items[i], &starts[n++]);
    }
    for (size_t i = 0; i < b->in.base.jobs.n; i++) {
        const struct snap_job *j = &b->in.base.jobs.items[i];
        const struct board_tag *tag = &b->waits[i];
        ret->others_waiting += !tag->is_own && may_run_where_told(f, j);
        if (tag->is_own && !is_placed[i] && m < CLOCK_JOBS)
            late[m++] = (struct clock_late){ tag->job_id, tag->name, j->slots, j->gpus, x->why[i].reason, x->why[i].message };
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
    struct lines l;
    size_t n = 0;
    if (is_platform)
        TRY(residency_law_read(w, &law, e));
    else
        TRY(residency_facts_of(w, &f, e));
    TRY(board_read(w, w->now_us + hours * HOUR_US, &b, e));
    ahead_run(&b.in, w->arena, &x);
    find_lines(&b, is_platform, w->arena, &l);
    const struct slice all = is_platform ? law : f->zones;
    const struct residency_zone *z = all.items;
    struct clock_zone *zones = ARENA_ARRAY(w->arena, struct clock_zone, all.n + 1);
    for (size_t i = 0; i < all.n; i++)
        if (is_told(f, z[i].code))
            tell_zone(&l, &x, z[i].code, w->arena, &zones[n++]);
    *ret = (struct queue_clock){ .at.us = b.in.now_us, .until.us = b.in.until_us, .zones = { zones, n }, .is_partial = b.is_cut ||
                                 x.is_cut };
    tell_running(&b, f, w->arena, ret);
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
    ret->reason = x.why[at].reason;
    ret->detail = x.why[at].message;
    for (size_t i = 0; i < x.starts.n; i++)
        if (x.starts.items[i].job == at) {
            tell_start(&b, &x, &x.starts.items[i], &ret->start);
            ret->state = x.starts.items[i].at_us == b.in.now_us ? STR("now") : STR("later");
        }
    if (str_eq_c(ret->state, "now") || b.in.waits[at].ready_us > b.in.now_us)
        return ERR_OK;
    return find_changes(w, job, &b, at, ret, e);
}
