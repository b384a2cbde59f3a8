/* SPDX-License-Identifier: Apache-2.0 */
/* record_read.c - reading, and tying together again what pointers tied: zones to jobs, the rule book, claims, the workload. Each
 * index is compared with what it points into. */
#include "scheduler/replay/record.h"

#include <stdio.h>

enum { ROWS_MAX = 1 << 24 };

#define BAD(in, e, ...) FAIL(e, INVALID, "%.*s: offset %zu: %s", STR_ARG((in)->path), (in)->at, arena_printf((in)->arena, \
    __VA_ARGS__))

/* Where every table that is named once stands in *rows. */
static enum errc read_one(struct tables_in *in, const struct table *t, void *ret, struct err *e)
{
    struct slice rows;
    TRY(tables_read(in, t, 1, &rows, e));
    if (rows.n != 1)
        return BAD(in, e, "table %s has no row", t->name);
    memcpy(ret, rows.items, t->size);
    return ERR_OK;
}

static enum errc read_tenants(struct tables_in *in, struct snapshot *s, struct err *e)
{
    struct slice rows;
    TRY(tables_read(in, &tenant_table, ROWS_MAX, &rows, e));
    s->tenants.items = rows.items;
    s->tenants.n = rows.n;
    for (size_t i = 1; i < rows.n; i++)
        if (uuid_cmp(s->tenants.items[i - 1].tenant_id, s->tenants.items[i].tenant_id) >= 0)
            return BAD(in, e, "the tenants do not stand in the order of their ids");
    return ERR_OK;
}

/* Rows of a list stand together, and the lists in their order. lists: by number - 1. */
static enum errc read_zones(struct tables_in *in, struct slice **lists, size_t *nlists, struct err *e)
{
    struct slice rows;
    TRY(tables_read(in, &zone_table, ROWS_MAX, &rows, e));
    const struct zone_row *z = rows.items;
    struct str *zones = ARENA_ARRAY(in->arena, struct str, rows.n + 1);
    *lists = ARENA_ARRAY(in->arena, struct slice, rows.n + 1);
    *nlists = 0;
    for (size_t i = 0; i < rows.n; i++) {
        const bool is_next = z[i].list == (int64_t)*nlists + 1, is_same = *nlists && z[i].list == (int64_t)*nlists;
        zones[i] = z[i].zone;
        if ((!is_next && !is_same) || (is_same && !z[i].zone.ptr))
            return BAD(in, e, "row %zu of the zones belongs to list %ld, which is not its turn", i + 1, (long)z[i].list);
        if (is_next)
            (*lists)[(*nlists)++].items = &zones[i];
        (*lists)[*nlists - 1].n += z[i].zone.ptr != NULL;
    }
    return ERR_OK;
}

static enum errc read_jobs(struct tables_in *in, struct snapshot *s, const struct slice *lists, size_t nlists, struct err *e)
{
    struct slice rows, of;
    TRY(tables_read(in, &job_table, ROWS_MAX, &rows, e));
    TRY(tables_read(in, &job_zone_table, ROWS_MAX, &of, e));
    s->jobs.items = rows.items;
    s->jobs.n = rows.n;
    if (of.n != rows.n)
        return BAD(in, e, "there are %zu jobs, and zones for %zu", rows.n, of.n);
    for (size_t i = 0; i < rows.n; i++) {
        struct snap_job *j = &s->jobs.items[i];
        const int64_t list = ((const struct job_zone_row *)of.items)[i].list;
        if (j->tenant >= (int64_t)s->tenants.n || list > (int64_t)nlists)
            return BAD(in, e, "job %zu names tenant %ld of %zu and list of zones %ld of %zu", i + 1, (long)j->tenant,
                s->tenants.n,
                       (long)list, nlists);
        if (list)
            j->zones = lists[list - 1];
    }
    return ERR_OK;
}

static enum errc read_book(struct tables_in *in, struct rulebook *b, struct err *e)
{
    struct slice rules, queues;
    TRY(tables_read(in, &rule_table, ROWS_MAX, &rules, e));
    TRY(tables_read(in, &queue_table, ROWS_MAX, &queues, e));
    b->rules.items = rules.items;
    b->rules.n = rules.n;
    b->queues.items = queues.items;
    b->queues.n = queues.n;
    if (rules.n || queues.n)
        rulebook_link(b, in->arena);
    return ERR_OK;
}

static enum errc read_reserved(struct tables_in *in, struct snapshot *s, struct err *e)
{
    struct slice rows;
    TRY(tables_read(in, &reserved_table, ROWS_MAX, &rows, e));
    const struct reserved *r = s->reserved.items = rows.items;
    s->reserved.n = rows.n;
    for (size_t i = 0; i < rows.n; i++)
        if (i && (uuid_cmp(r[i - 1].node_id, r[i].node_id) > 0 ||
                  (uuid_eq(r[i - 1].node_id, r[i].node_id) && r[i - 1].from_us > r[i].from_us)))
            return BAD(in, e, "the windows of machines do not stand in their order");
    return ERR_OK;
}

static enum errc read_claims(struct tables_in *in, struct slice *rows, struct claims **ret, struct err *e)
{
    struct claims *c = ARENA_NEW(in->arena, struct claims);
    TRY(tables_read(in, &claim_table, CLAIMS_MAX, rows, e));
    struct claim_row *r = rows->items;
    for (size_t i = 0; i < rows->n; i++) {
        if (r[i].queue.len >= sizeof r[i].c.queue || !ask_is_valid(&r[i].c.ask))
            return BAD(in, e, "claim %zu asks for what no job can", i + 1);
        snprintf(r[i].c.queue, sizeof r[i].c.queue, "%.*s", STR_ARG(r[i].queue));
        c->items[c->n++] = r[i].c;
    }
    *ret = c;
    return ERR_OK;
}

static enum errc read_bookings(struct tables_in *in, struct bookings **ret, struct err *e)
{
    struct bookings *b = ARENA_NEW(in->arena, struct bookings);
    struct slice rows, seats;
    size_t k = 0;
    TRY(tables_read(in, &booking_table, BOOKINGS_MAX, &rows, e));
    TRY(tables_read(in, &booked_seat_table, (size_t)BOOKINGS_MAX * BOOKING_SEATS_MAX, &seats, e));
    struct booking_row *r = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        if (r[i].queue.len >= sizeof r[i].b.queue || !ask_is_valid(&r[i].b.ask))
            return BAD(in, e, "booking %zu asks for what no job can", i + 1);
        snprintf(r[i].b.queue, sizeof r[i].b.queue, "%.*s", STR_ARG(r[i].queue));
        for (; r[i].b.n < (size_t)r[i].n && k < seats.n; k++)
            r[i].b.seats[r[i].b.n++] = ((const struct booked_seat_row *)seats.items)[k].seat;
        if (r[i].b.n < (size_t)r[i].n || !r[i].n)
            return BAD(in, e, "booking %zu has fewer machines than it says", i + 1);
        b->items[b->n++] = r[i].b;
    }
    *ret = b;
    return k == seats.n ? ERR_OK : BAD(in, e, "%zu machines are of no booking", seats.n - k);
}

static void free_workload(void *w)
{
    workload_free(w);
}

static enum errc read_workload(struct tables_in *in, const struct cycle_head *h, struct workload **ret, struct err *e)
{
    struct slice asks, futures;
    struct workload_state *w = ARENA_NEW(in->arena, struct workload_state);
    TRY(tables_read(in, &ask_table, WORKLOAD_TYPES_MAX, &asks, e));
    TRY(tables_read(in, &future_table, WORKLOAD_FUTURES * WORKLOAD_STEPS, &futures, e));
    const struct ask_row *r = asks.items;
    *w = (struct workload_state){ .ntypes = asks.n, .ndrawn = (size_t)h->ndrawn, .arrivals = h->arrivals, .next = h->next,
                                  .epoch = (uint32_t)h->epoch, .random = (uint64_t)h->random,
                                  .types = ARENA_ARRAY(in->arena, struct workload_type, asks.n + 1),
                                  .drawn_arrivals = ARENA_ARRAY(in->arena, int64_t, asks.n + 1) };
    for (size_t i = 0; i < asks.n; i++) {
        w->types[i] = (struct workload_type){ r[i].ask, r[i].arrivals };
        w->drawn_arrivals[i] = r[i].drawn;
    }
    for (size_t i = 0; i < futures.n; i++)
        w->drawn[i / WORKLOAD_STEPS][i % WORKLOAD_STEPS] = (uint16_t)((const struct future_row *)futures.items)[i].type;
    *ret = NULL;
    if (!h->has_workload)
        return asks.n || futures.n ? BAD(in, e, "there are asks, but no workload that learned them") : ERR_OK;
    if (futures.n != (h->epoch ? WORKLOAD_FUTURES * WORKLOAD_STEPS : 0) || !(*ret = workload_load(w)))
        return BAD(in, e, "no workload has learned that");
    arena_defer(in->arena, free_workload, *ret);
    return ERR_OK;
}

/* Passes over a part, whose bytes are kept. */
static enum errc told_in(struct tables_in *in, struct told *ret, struct err *e)
{
    TRY(tables_part_read(in, e));
    TRY(tables_read(in, &outcome_table, 1, &ret->outcome, e));
    TRY(tables_read(in, &place_table, ROWS_MAX, &ret->places, e));
    TRY(tables_read(in, &seat_table, ROWS_MAX, &ret->seats, e));
    TRY(tables_read(in, &wait_table, ROWS_MAX, &ret->waits, e));
    size_t seats = 0;
    for (size_t i = 0; i < ret->places.n; i++)
        seats += (size_t)((const struct place_row *)ret->places.items)[i].more;
    return seats == ret->seats.n ? ERR_OK : BAD(in, e, "the plan names %zu further machines and has %zu", seats, ret->seats.n);
}

static enum errc choice_in(struct tables_in *in, struct told_choice *ret, struct err *e)
{
    struct claims *none;
    TRY(tables_part_read(in, e));
    TRY(tables_read(in, &eviction_table, ROWS_MAX, &ret->evictions, e));
    TRY(tables_read(in, &making_table, ROWS_MAX, &ret->making, e));
    return read_claims(in, &ret->claims, &none, e);
}

static enum errc read_inputs(struct tables_in *in, struct cycle *c, struct err *e)
{
    struct slice nodes, claims, *lists;
    size_t nlists;
    TRY(tables_part_read(in, e));
    TRY(read_one(in, &head_table, &c->head, e));
    TRY(tables_read(in, &node_table, ROWS_MAX, &nodes, e));
    c->s.nodes.items = nodes.items;
    c->s.nodes.n = nodes.n;
    c->s.revision = c->head.revision;
    TRY(read_tenants(in, &c->s, e));
    TRY(read_zones(in, &lists, &nlists, e));
    TRY(read_jobs(in, &c->s, lists, nlists, e));
    TRY(read_book(in, &c->s.book, e));
    if (c->head.has_reserved)
        TRY(read_reserved(in, &c->s, e));
    TRY(read_claims(in, &claims, &c->s.claims, e));
    if (!c->head.has_claims)
        c->s.claims = NULL;
    TRY(read_bookings(in, &c->s.bookings, e));
    if (!c->head.has_bookings)
        c->s.bookings = NULL;
    c->s.now_us = c->head.now_us;
    return read_workload(in, &c->head, &c->s.workload, e);
}

enum errc record_read(struct str path, struct str bytes, struct arena *a, struct cycle *ret, struct err *e)
{
    struct tables_in in;
    struct cycle c = { 0 };
    struct told told;
    struct told_choice choice;
    struct moment_row moment;
    struct slice holders;
    TRY(tables_open(&in, path, bytes, a, e));
    TRY(read_inputs(&in, &c, e));
    c.plan_at = in.at;
    TRY(told_in(&in, &told, e));
    c.plan = str_n(bytes.ptr + c.plan_at, in.at - c.plan_at);
    c.has_choice = tables_has_more(&in);
    if (c.has_choice) {
        TRY(tables_part_read(&in, e));
        TRY(read_one(&in, &moment_table, &moment, e));
        TRY(tables_read(&in, &holder_table, ROWS_MAX, &holders, e));
        c.now_us = moment.now_us;
        c.holders = (struct holders){ holders.items, holders.n };
        c.evictions_at = in.at;
        TRY(choice_in(&in, &choice, e));
        c.evictions = str_n(bytes.ptr + c.evictions_at, in.at - c.evictions_at);
        if (!c.s.claims)
            return BAD(&in, e, "somebody could be sent away, but there is no list of claims");
    }
    TRY(tables_end(&in, e));
    *ret = c;
    return ERR_OK;
}

enum errc record_told(struct str path, struct str bytes, struct arena *a, struct told *ret, struct err *e)
{
    struct tables_in in = { .path = path, .bytes = bytes, .arena = a };
    TRY(told_in(&in, ret, e));
    return tables_end(&in, e);
}

enum errc record_told_choice(struct str path, struct str bytes, struct arena *a, struct told_choice *ret, struct err *e)
{
    struct tables_in in = { .path = path, .bytes = bytes, .arena = a };
    TRY(choice_in(&in, ret, e));
    return tables_end(&in, e);
}
