/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - writing. Lists of zones that jobs share stand once, by where they lie in memory: that two jobs share one is
 * something
 * that the planner sees. */
#include "scheduler/replay/record.h"
#include "core/base/assert.h"

#include <stdlib.h>

struct recorder { struct tables_out *out; };

struct recorder *recorder_new(size_t bytes_max)
{
    struct recorder *r = calloc(1, sizeof *r);
    ASSERT(r);
    r->out = tables_out_new(bytes_max);
    return r;
}

void recorder_free(struct recorder *r)
{
    if (r)
        tables_out_free(r->out);
    free(r);
}

void recorder_begin(struct recorder *r)
{
    tables_begin(r->out);
}

/* Each list once, in the order of the first job that has it; by job which one. */
static struct slice zone_lists(const struct snapshot *s, struct arena *a, struct job_zone_row *of)
{
    size_t mask = 15, nlists = 0, nrows = 0;
    while (mask < 2 * s->jobs.n)
        mask = mask * 2 + 1;
    uint32_t *table = ARENA_ARRAY(a, uint32_t, mask + 1);       /* number of the list */
    const struct slice **lists = ARENA_ARRAY(a, const struct slice *, s->jobs.n + 1);
    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct slice *z = &s->jobs.items[i].zones;
        size_t at = ((uintptr_t)z->items >> 4) * 0x9e3779b97f4a7c15u >> 32 & mask;
        if (!z->items)
            continue;
        while (table[at] && lists[table[at] - 1]->items != z->items)
            at = (at + 1) & mask;
        if (!table[at]) {
            lists[nlists++] = z;
            nrows += z->n ? z->n : 1;
            table[at] = (uint32_t)nlists;
        }
        of[i].list = table[at];
    }
    struct zone_row *rows = ARENA_ARRAY(a, struct zone_row, nrows + 1);
    size_t k = 0;
    for (size_t i = 0; i < nlists; i++) {
        if (!lists[i]->n)
            rows[k++].list = (int64_t)i + 1;    /* an empty one: a row without a zone */
        for (size_t j = 0; j < lists[i]->n; j++)
            rows[k++] = (struct zone_row){ (int64_t)i + 1, ((const struct str *)lists[i]->items)[j] };
    }
    return (struct slice){ rows, k };
}

static void add_claims(struct tables_out *o, const struct claims *c, struct arena *a)
{
    const size_t n = c ? c->n : 0;
    struct claim_row *rows = ARENA_ARRAY(a, struct claim_row, n + 1);
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct claim_row){ c->items[i], str_dup(a, str_c(c->items[i].queue)) };
    tables_add(o, &claim_table, rows, n);
}

static void add_bookings(struct tables_out *o, const struct bookings *b, struct arena *a)
{
    const size_t n = b ? b->n : 0;
    struct booking_row *rows = ARENA_ARRAY(a, struct booking_row, n + 1);
    struct booked_seat_row *seats = ARENA_ARRAY(a, struct booked_seat_row, n * BOOKING_SEATS_MAX + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        rows[i] = (struct booking_row){ b->items[i], str_dup(a, str_c(b->items[i].queue)), (int64_t)b->items[i].n };
        for (size_t j = 0; j < b->items[i].n; j++)
            seats[k++].seat = b->items[i].seats[j];
    }
    tables_add(o, &booking_table, rows, n);
    tables_add(o, &booked_seat_table, seats, k);
}

static void add_workload(struct tables_out *o, const struct workload_state *w, struct arena *a)
{
    struct ask_row *asks = ARENA_ARRAY(a, struct ask_row, w->ntypes + 1);
    const size_t nfutures = w->epoch ? WORKLOAD_FUTURES * WORKLOAD_STEPS : 0;
    struct future_row *futures = ARENA_ARRAY(a, struct future_row, nfutures + 1);
    for (size_t i = 0; i < w->ntypes; i++)
        asks[i] = (struct ask_row){ w->types[i].ask, w->types[i].arrivals, i < w->ndrawn ? w->drawn_arrivals[i] : 0 };
    for (size_t i = 0; i < nfutures; i++)
        futures[i].type = w->drawn[i / WORKLOAD_STEPS][i % WORKLOAD_STEPS];
    tables_add(o, &ask_table, asks, w->ntypes);
    tables_add(o, &future_table, futures, nfutures);
}

void record_inputs(struct recorder *r, const struct cycle_head *head, const struct snapshot *s, struct arena *a)
{
    struct tables_out *o = r->out;
    struct workload_state *w = ARENA_NEW(a, struct workload_state);
    struct job_zone_row *of = ARENA_ARRAY(a, struct job_zone_row, s->jobs.n + 1);
    struct cycle_head h = *head;
    if (s->workload)
        workload_save(s->workload, a, w);
    h.revision = s->revision;
    h.has_claims = s->claims;
    h.has_bookings = s->bookings;
    h.has_reserved = s->reserved.n > 0;
    h.now_us = s->now_us;
    h.has_workload = s->workload;
    h.arrivals = w->arrivals;
    h.next = w->next;
    h.ndrawn = (int64_t)w->ndrawn;
    h.epoch = w->epoch;
    h.random = (int64_t)w->random;
    const struct slice zones = zone_lists(s, a, of);
    tables_begin(o);
    tables_part(o);
    tables_add(o, &head_table, &h, 1);
    tables_add(o, &node_table, s->nodes.items, s->nodes.n);
    tables_add(o, &tenant_table, s->tenants.items, s->tenants.n);
    tables_add(o, &zone_table, zones.items, zones.n);
    tables_add(o, &job_table, s->jobs.items, s->jobs.n);
    tables_add(o, &job_zone_table, of, s->jobs.n);
    tables_add(o, &rule_table, s->book.rules.items, s->book.rules.n);
    tables_add(o, &queue_table, s->book.queues.items, s->book.queues.n);
    if (s->reserved.n)
        tables_add(o, &reserved_table, s->reserved.items, s->reserved.n);
    add_claims(o, s->claims, a);
    add_bookings(o, s->bookings, a);
    add_workload(o, w, a);
    tables_part_end(o);
}

void record_plan(struct recorder *r, const struct snapshot *s, const struct plan *p, struct arena *a)
{
    struct tables_out *o = r->out;
    const struct outcome_row outcome = { p->is_cut };
    struct place_row *places = ARENA_ARRAY(a, struct place_row, p->places.n + 1);
    struct wait_row *waits = ARENA_ARRAY(a, struct wait_row, p->waits.n + 1);
    size_t nseats = 0, k = 0;
    for (size_t i = 0; i < p->places.n; i++)
        nseats += p->places.items[i].nmore;
    struct seat_row *seats = ARENA_ARRAY(a, struct seat_row, nseats + 1);
    for (size_t i = 0; i < p->places.n; i++) {
        const struct placement *x = &p->places.items[i];
        places[i] = (struct place_row){ s->jobs.items[x->job].job_id, s->nodes.items[x->node].node_id, x->devices,
            (int64_t)x->nmore };
        for (size_t j = 0; j < x->nmore; j++)
            seats[k++] = (struct seat_row){ s->nodes.items[x->more[j].node].node_id, x->more[j].devices };
    }
    for (size_t i = 0; i < p->waits.n; i++) {
        const struct waiting *x = &p->waits.items[i];
        waits[i] = (struct wait_row){ s->jobs.items[x->job].job_id, x->reason, x->message, x->is_denied };
    }
    tables_part(o);
    tables_add(o, &outcome_table, &outcome, 1);
    tables_add(o, &place_table, places, p->places.n);
    tables_add(o, &seat_table, seats, nseats);
    tables_add(o, &wait_table, waits, p->waits.n);
    tables_part_end(o);
}

void record_holders(struct recorder *r, struct holders h, int64_t now_us)
{
    const struct moment_row moment = { now_us };
    tables_part(r->out);
    tables_add(r->out, &moment_table, &moment, 1);
    tables_add(r->out, &holder_table, h.items, h.n);
    tables_part_end(r->out);
}

void record_evictions(struct recorder *r, const struct snapshot *s, const struct plan *p, struct holders h,
                      const struct preemption *x, const struct claims *claims, struct arena *a)
{
    struct eviction_row *rows = ARENA_ARRAY(a, struct eviction_row, x->evictions.n + 1);
    struct making_row *making = ARENA_ARRAY(a, struct making_row, x->waits.n + 1);
    for (size_t i = 0; i < x->evictions.n; i++)
        rows[i] = (struct eviction_row){ s->jobs.items[x->evictions.items[i].job].job_id,
                                         h.items[x->evictions.items[i].holder].attempt_id };
    for (size_t i = 0; i < x->waits.n; i++)
        making[i].job_id = s->jobs.items[p->waits.items[x->waits.items[i]].job].job_id;
    tables_part(r->out);
    tables_add(r->out, &eviction_table, rows, x->evictions.n);
    tables_add(r->out, &making_table, making, x->waits.n);
    add_claims(r->out, claims, a);
    tables_part_end(r->out);
}

struct buf record_take(struct recorder *r)
{
    return tables_take(r->out);
}
