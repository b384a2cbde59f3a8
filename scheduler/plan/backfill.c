/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.c - who is booked, on which machines, and what is told of it. */
#include "scheduler/plan/backfill_int.h"
#include "scheduler/plan/order.h"
#include "scheduler/plan/sight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SECOND_US = 1000000, MINUTE_US = 60000000;
enum { TOLD_MAX = 1000 };

static void count_what_comes(const struct look *l, const struct found *f, struct start_booking *b)
{
    for (size_t i = 0; i < f->ends; i++) {
        const struct snap_end *x = &l->e.items[i];
        if (x->is_first && uuid_eq(x->tenant_id, b->tenant_id)) {
            b->comes_slots += x->all_slots;
            b->comes_gpus += x->all_gpus;
        }
        for (size_t k = 0; k < b->n; k++)
            if (f->seats[k].node == l->at[i]) {
                b->seats[k].comes.slots += x->ask.slots;
                b->seats[k].comes.cpu_milli += x->ask.cpu_milli;
                b->seats[k].comes.memory_bytes += x->ask.memory_bytes;
            }
    }
}

static struct start_booking booking_of(const struct look *l, const struct snap_job *j, const struct found *f)
{
    struct start_booking b = { .tenant_id = j->tenant_id, .job_id = j->job_id, .ask = snap_job_ask(j),
                               .project_id = j->project_id, .is_guarded = l->s->tenants.items[j->tenant].guarded,
                               .class_value = j->class_value, .start_us = f->at_us, .until_us = l->s->now_us + BOOKING_US,
                               .is_exact = true, .n = (size_t)snap_job_nodes(j) };
    snprintf(b.queue, sizeof b.queue, "%.*s", STR_ARG(j->queue));
    for (size_t k = 0; k < b.n; k++)
        b.seats[k] = (struct booked_seat){ .node_id = l->s->nodes.items[f->seats[k].node].node_id,
                                           .devices = f->seats[k].devices };
    count_what_comes(l, f, &b);
    return b;
}

/* Machines that the job may be given: of its own booking, or of nobody's. */
static bool *open_to(const struct look *l, const struct start_booking *own, bool is_own_only)
{
    const struct bookings *b = l->s->bookings;
    bool *only = ARENA_ARRAY(l->a, bool, l->s->nodes.n + 1);
    if (!is_own_only)
        memset(only, true, l->s->nodes.n);
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->items[i].n; k++) {
            const size_t node = look_node(l, b->items[i].seats[k].node_id);
            if (node != SIZE_MAX)
                only[node] = &b->items[i] == own;
        }
    return only;
}

static bool can_be_booked(const struct snap_job *j)
{
    return snap_job_nodes(j) > 1 && snap_job_nodes(j) <= BOOKING_SEATS_MAX && !j->denied.ptr;
}

static bool is_held_up(const struct waiting *w)
{
    return waits_for_room(w) || str_eq(w->reason, STR("Preempting"));
}

bool backfill_wanted(const struct snapshot *s, const struct plan *p)
{
    for (size_t i = 0; i < p->waits.n; i++)
        if (is_held_up(&p->waits.items[i]) && can_be_booked(&s->jobs.items[p->waits.items[i].job]))
            return true;
    return false;
}

void backfill_renew(struct snapshot *s, struct ends e, struct arena *a)
{
    struct bookings *b = s->bookings;
    if (!b->n)
        return;
    snapshot_fill(s);
    const struct look l = look_of(s, e, a);
    for (size_t i = b->n; i-- > 0;) {
        const struct snap_job *j = NULL;
        struct found f;
        for (size_t k = 0; k < s->jobs.n && !j; k++)
            if (uuid_eq(s->jobs.items[k].job_id, b->items[i].job_id) &&
                uuid_eq(s->jobs.items[k].tenant_id, b->items[i].tenant_id))
                j = &s->jobs.items[k];
        if (j && look_find(&l, j, open_to(&l, &b->items[i], true), &f))
            b->items[i] = booking_of(&l, j, &f);
        else
            bookings_drop(b, &b->items[i]);
    }
    arena_free(l.scratch);
}

/* What is placed by this plan runs from now on. */
static struct ends with_places(const struct snapshot *s, const struct plan *p, struct ends e, struct arena *a)
{
    size_t n = e.n;
    for (size_t i = 0; i < p->places.n; i++)
        n += 1 + p->places.items[i].nmore;
    struct ends r = { ARENA_ARRAY(a, struct snap_end, n + 1), e.n };
    if (e.n)
        memcpy(r.items, e.items, e.n * sizeof *e.items);
    for (size_t i = 0; i < p->places.n; i++) {
        const struct placement *x = &p->places.items[i];
        const struct snap_job *j = &s->jobs.items[x->job];
        const int64_t nodes = (int64_t)x->nmore + 1;
        for (size_t k = 0; k <= x->nmore; k++)
            r.items[r.n++] = (struct snap_end){
                .tenant_id = j->tenant_id, .project_id = j->project_id, .queue = j->queue, .ask = snap_job_ask(j), .is_first = !k,
                .node_id = s->nodes.items[k ? x->more[k - 1].node : x->node].node_id,
                .devices = k ? x->more[k - 1].devices : x->devices, .all_slots = k ? 0 : nodes * j->slots,
                .all_gpus = k ? 0 : nodes * j->gpus,
                .ends_us = j->max_runtime_s ? s->now_us + j->max_runtime_s * SECOND_US : INT64_MAX };
    }
    return r;
}

/* To the minute, so that the words of a job do not change all the time. */
static void say_start(struct waiting *w, int64_t start_us, struct arena *a)
{
    char text[TIME_TEXT];
    const size_t n = time_text((start_us + MINUTE_US - 1) / MINUTE_US * MINUTE_US, text);
    const struct str minute = str_n(text, n > 16 ? 16 : n);     /* 2026-11-21T01:02 */
    w->message = str_fmt(a, "%.*s; its machines are kept for it, and it is to start by %.*sZ, when what runs there has ended",
                         STR_ARG(w->message), STR_ARG(minute));
}

static bool same_ask(const struct snap_job *a, const struct snap_job *b)
{
    return a->tenant == b->tenant && a->shape == b->shape && a->slots == b->slots && a->gpus == b->gpus &&
           a->cpu_milli == b->cpu_milli && a->memory_bytes == b->memory_bytes && a->gpu_milli == b->gpu_milli &&
           a->zones.items == b->zones.items;
}

/* Those who would fit, but for what is kept. Jobs that ask for the same mostly stand one after the other, and are looked at
 * once. */
static void say_kept(const struct snapshot *s, struct plan *p, struct arena *a)
{
    const struct snap_job *last = NULL;
    size_t told = 0, node;
    bool fits = false;
    for (size_t i = 0; s->bookings->n && i < p->waits.n && told < TOLD_MAX; i++) {
        const struct snap_job *j = &s->jobs.items[p->waits.items[i].job];
        struct sight see;
        if (!str_eq(p->waits.items[i].reason, STR("Resources")) || snap_job_nodes(j) > 1)
            continue;
        if (!last || !same_ask(last, j)) {
            told++;
            fits = sight_search(s, &s->tenants.items[j->tenant], j, &node, &see) &&
                   bookings_at(s->bookings, s->nodes.items[node].node_id);
            last = j;
        }
        if (fits)
            p->waits.items[i].message = str_fmt(a, "the machines with room are kept for a job on several machines, before whose "
                                                "start it might not end (max_runtime_seconds %ld)", (long)j->max_runtime_s);
    }
}

static int by_order(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct waiting *x = *(struct waiting *const *)a, *y = *(struct waiting *const *)b;
    const struct snap_job *j = &s->jobs.items[x->job], *k = &s->jobs.items[y->job];
    if (j->tenant != k->tenant)
        return j->tenant < k->tenant ? -1 : 1;
    return order_compare(j, k);
}

/* On the machines of the booking that it has, while they will be free, else on those of nobody. */
static bool book(const struct look *l, const struct snap_job *j, struct start_booking *own, int64_t *ret_start_us)
{
    struct bookings *b = l->s->bookings;
    struct found f;
    if (own && own->is_exact) {         /* this plan has kept to it */
        *ret_start_us = own->start_us;
        return true;
    }
    bool found = own && look_find(l, j, open_to(l, own, true), &f);
    if (own && !found)
        bookings_drop(b, own);
    if (!found && !look_find(l, j, open_to(l, NULL, false), &f))
        return false;
    const struct start_booking more = booking_of(l, j, &f);
    *ret_start_us = more.start_us;
    return bookings_put(b, &more);
}

static size_t candidates(const struct snapshot *s, struct plan *p, struct waiting **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < p->waits.n; i++)
        if (is_held_up(&p->waits.items[i]) && can_be_booked(&s->jobs.items[p->waits.items[i].job]))
            ret[n++] = &p->waits.items[i];
    qsort_r(ret, n, sizeof *ret, by_order, (void *)(uintptr_t)s);
    return n;
}

void backfill_plan(struct snapshot *s, struct plan *p, struct ends e, struct arena *a)
{
    struct bookings *b = s->bookings;
    struct waiting **waits = ARENA_ARRAY(a, struct waiting *, p->waits.n + 1);
    const size_t n = candidates(s, p, waits);
    const struct look l = look_of(s, with_places(s, p, e, a), a);
    for (size_t i = 0; i < n; i++) {
        const struct snap_job *j = &s->jobs.items[waits[i]->job];
        struct start_booking *own = bookings_of(b, j->tenant_id);
        int64_t start_us;
        if (i && s->jobs.items[waits[i - 1]->job].tenant == j->tenant)
            continue;                   /* the first of its tenant has it */
        if (own && !uuid_eq(own->job_id, j->job_id)) {      /* another one goes before it now */
            bookings_drop(b, own);
            own = NULL;
        }
        if (book(&l, j, own, &start_us))
            say_start(waits[i], start_us, a);
    }
    for (size_t i = b->n; i-- > 0;) {
        if (b->items[i].is_exact)
            b->items[i].is_exact = false;       /* what ends from here on is not counted */
        else
            bookings_drop(b, &b->items[i]);     /* its job does not wait any more */
    }
    say_kept(s, p, a);
    arena_free(l.scratch);
}
