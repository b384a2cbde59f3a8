/* SPDX-License-Identifier: Apache-2.0 */
/* clock_lines.c - what is held of a zone as it changes: sums on a grid of time, by who holds. */
#include "scheduler/jobs/clock_int.h"

#include <stdlib.h>

SCHEMA_OF(clock_point, "What is held from a moment on", FIELD(clock_point, at, 0, .doc = "From then on"),
    FIELD(clock_point, slots, 0, .doc = "Slots"), FIELD(clock_point, gpus, 0, .doc = "GPUs"));
SCHEMA_OF(clock_line, "Who holds what of a zone", FIELD(clock_line, who, F_ALWAYS, .doc = "own, others, tenant"),
    FIELD_ID(clock_line, tenant_id, "tnt", 0, .doc = "Of who tenant: which"), FIELD(clock_line, name, 0, .doc = "Its name"),
    FIELD_LIST(clock_line, points, &clock_point_schema, 0, .max = CLOCK_POINTS + 2,
               .doc = "As it changes, in the order of time"));
SCHEMA_EXTERN(clock_zone, "A zone", FIELD(clock_zone, zone, F_ALWAYS, .doc = "Its code"),
    FIELD(clock_zone, slots, 0, .doc = "Of its ready machines"), FIELD(clock_zone, gpus, 0, .doc = "Of its ready machines"),
    FIELD_LIST(clock_zone, lines, &clock_line_schema, 0, .max = CLOCK_LINES + 1, .doc = "Who holds what of it"));

/* By tenant: the slots that its jobs hold or want. */
static int64_t *wants_of(const struct board *b, struct arena *a)
{
    int64_t *sums = ARENA_ARRAY(a, int64_t, b->in.base.tenants.n + 1);
    for (size_t i = 0; i < b->in.nlive; i++)
        sums[b->in.live[i].job.tenant] += ((int64_t)b->in.live[i].nmore + 1) * b->in.live[i].job.slots;
    for (size_t i = 0; i < b->in.base.jobs.n; i++)
        sums[b->in.base.jobs.items[i].tenant] += snap_job_nodes(&b->in.base.jobs.items[i]) * b->in.base.jobs.items[i].slots;
    return sums;
}

/* A tenant's clock has two lines; the platform's one for each of the tenants that hold or want most, and one for the rest. */
void clock_lines_find(const struct board *b, bool is_platform, size_t nstarts, struct arena *a, struct clock_lines *l)
{
    const size_t n = b->in.base.tenants.n;
    *l = (struct clock_lines){ .b = b, .is_platform = is_platform, .line_of = ARENA_ARRAY(a, size_t, n + 1),
                         .lines = ARENA_ARRAY(a, struct clock_line, CLOCK_LINES + 1),
                         .steps = ARENA_ARRAY(a, struct clock_step, 2 * (b->in.nlive + nstarts) + 1) };
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

static size_t line_of(const struct clock_lines *l, const struct board_tag *tag, int64_t tenant)
{
    return l->is_platform ? l->line_of[tenant] : tag->is_own ? 0 : 1;
}

static int by_time(const void *a, const void *b)
{
    const struct clock_step *x = a, *y = b;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

/* Steps into sums, on a grid that bounds their number. */
static struct slice points_of(const struct ahead_in *in, struct clock_step *s, size_t n, struct arena *a)
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

static void add_steps(struct clock_step *s, size_t *n, int64_t from_us, int64_t until_us, const struct snap_job *j, int64_t nodes)
{
    const int64_t slots = nodes * j->slots, gpus = nodes * j->gpus;
    s[(*n)++] = (struct clock_step){ from_us, slots, gpus };
    if (until_us != AHEAD_NEVER)
        s[(*n)++] = (struct clock_step){ until_us, -slots, -gpus };
}

static struct slice line_points(const struct clock_lines *l, const struct ahead *x, struct str zone, size_t line, struct arena *a)
{
    const struct ahead_in *in = &l->b->in;
    struct clock_step *s = l->steps;
    size_t n = 0;
    for (size_t i = 0; i < in->nlive; i++) {
        const struct ahead_live *h = &in->live[i];
        const int64_t ends_us = x->leaves_us[i] ? x->leaves_us[i] : h->ends_us;
        if (h->machine != AHEAD_NONE && str_eq(h->where->zone, zone) && line_of(l, &l->b->runs[i], h->job.tenant) == line)
            add_steps(s, &n, in->now_us, ends_us <= in->now_us ? in->now_us + 1 : ends_us, &h->job,
                      (int64_t)h->nmore + 1);
    }
    for (size_t i = 0; i < x->starts.n; i++) {
        const struct ahead_start *h = &x->starts.items[i];
        const struct snap_job *j = ahead_job(in, h->job);
        if (str_eq(in->base.nodes.items[h->machine].zone, zone) && line_of(l, board_tag(l->b, h->job), j->tenant) == line)
            add_steps(s, &n, h->at_us, h->ends_us, j, h->nodes);
    }
    return points_of(in, s, n, a);
}

void clock_lines_tell(const struct clock_lines *l, const struct ahead *x, struct str zone, struct arena *a,
                      struct clock_zone *ret)
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
