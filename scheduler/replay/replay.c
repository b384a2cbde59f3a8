/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - the recorder writes what the planner says now, so equal decisions are equal bytes; only where they are not, both are
 * read again to name what differs. */
#include "scheduler/replay/replay.h"
#include "scheduler/plan/placement.h"

/* The recorder's only part, as it lies in a file. */
static struct str part_of(struct recorder *r, struct arena *a)
{
    struct buf b = record_take(r);
    struct str copy = STR_NULL;
    if (b.len > FILE_HEAD) {
        tables_seal(b.ptr, b.len, FILE_HEAD);
        copy = str_dup(a, str_n(b.ptr + FILE_HEAD, b.len - FILE_HEAD));
    }
    buf_release(&b);
    return copy;
}

static struct str first_of(const struct table *const *t, const struct slice *was, const struct slice *is, size_t n,
        struct arena *a)
{
    struct str d = STR_NULL;
    for (size_t i = 0; i < n && !d.ptr; i++)
        d = tables_differ(t[i], was[i], is[i], a);
    return d.ptr ? d : STR("its bytes differ in form alone");
}

static enum errc compare_plan(struct str path, const struct cycle *c, struct str is, struct arena *a, struct replay *ret,
        struct err *e)
{
    static const struct table *const tables[] = { &outcome_table, &place_table, &seat_table, &wait_table };
    struct told now;
    TRY(record_told(path, c->plan, a, &ret->was, e));
    if (str_eq(c->plan, is))
        return ERR_OK;
    TRY(record_told(path, is, a, &now, e));
    const struct slice x[] = { ret->was.outcome, ret->was.places, ret->was.seats, ret->was.waits };
    const struct slice y[] = { now.outcome, now.places, now.seats, now.waits };
    ret->difference = first_of(tables, x, y, sizeof tables / sizeof *tables, a);
    return ERR_OK;
}

static enum errc compare_choice(struct str path, const struct cycle *c, struct str is, struct arena *a, struct replay *ret,
                                struct err *e)
{
    static const struct table *const tables[] = { &eviction_table, &making_table, &claim_table };
    struct told_choice now;
    TRY(record_told_choice(path, c->evictions, a, &ret->was_choice, e));
    if (ret->difference.ptr || str_eq(c->evictions, is))
        return ERR_OK;
    TRY(record_told_choice(path, is, a, &now, e));
    const struct slice x[] = { ret->was_choice.evictions, ret->was_choice.making, ret->was_choice.claims };
    const struct slice y[] = { now.evictions, now.making, now.claims };
    ret->difference = first_of(tables, x, y, sizeof tables / sizeof *tables, a);
    return ERR_OK;
}

static void free_recorder(void *r)
{
    recorder_free(r);
}

enum errc replay_run(struct str path, struct cycle *c, struct arena *a, struct replay *ret, struct err *e)
{
    struct recorder *r = recorder_new(UINT32_MAX);
    struct plan p;
    struct preemption x;
    *ret = (struct replay){ .difference = STR_NULL };
    arena_defer(a, free_recorder, r);
    placement_plan(&c->s, a, &p);
    recorder_begin(r);
    record_plan(r, &c->s, &p, a);
    TRY(compare_plan(path, c, part_of(r, a), a, ret, e));
    if (c->has_choice) {
        preempt_plan(&c->s, &p, c->holders, c->s.claims, c->now_us, a, &x);
        recorder_begin(r);
        record_evictions(r, &c->s, &p, c->holders, &x, c->s.claims, a);
        TRY(compare_choice(path, c, part_of(r, a), a, ret, e));
    }
    ret->is_same = !ret->difference.ptr;
    return ERR_OK;
}
