/* SPDX-License-Identifier: Apache-2.0 */
/* bookings.c - a short list like that of claims; what is kept of a machine is taken out of what it has free while a plan places
 * those who may not use it. */
#include "scheduler/plan/bookings.h"

#include <stdlib.h>

static const int64_t SECOND_US = 1000000;

struct start_booking *bookings_find(struct bookings *b, struct uuid tenant_id, struct uuid job_id)
{
    struct start_booking *k = bookings_of(b, tenant_id);
    return k && uuid_eq(k->job_id, job_id) ? k : NULL;
}

struct start_booking *bookings_of(struct bookings *b, struct uuid tenant_id)
{
    for (size_t i = 0; i < b->n; i++)
        if (uuid_eq(b->items[i].tenant_id, tenant_id))
            return &b->items[i];
    return NULL;
}

const struct start_booking *bookings_at(const struct bookings *b, struct uuid node_id)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->items[i].n; k++)
            if (uuid_eq(b->items[i].seats[k].node_id, node_id))
                return &b->items[i];
    return NULL;
}

bool bookings_put(struct bookings *b, const struct start_booking *what)
{
    struct start_booking *old = bookings_of(b, what->tenant_id);
    if (!old && b->n == BOOKINGS_MAX)
        return false;
    if (!old)
        old = &b->items[b->n++];
    *old = *what;
    return true;
}

void bookings_drop(struct bookings *b, struct start_booking *which)
{
    *which = b->items[--b->n];
}

void bookings_settle(struct bookings *b, struct uuid tenant_id, struct uuid job_id)
{
    struct start_booking *k = bookings_find(b, tenant_id, job_id);
    if (k)
        bookings_drop(b, k);
}

void bookings_end(struct bookings *b, int64_t now_us)
{
    for (size_t i = b->n; i-- > 0;)
        if (b->items[i].until_us <= now_us)
            bookings_drop(b, &b->items[i]);
}

bool booking_lets(const struct start_booking *b, const struct snap_job *j, int64_t now_us)
{
    if (uuid_eq(j->tenant_id, b->tenant_id) && (uuid_eq(j->job_id, b->job_id) || j->class_value > b->class_value))
        return true;
    return j->max_runtime_s > 0 && now_us + j->max_runtime_s * SECOND_US + BOOKING_SLACK_US <= b->start_us;
}

static int by_start(const void *a, const void *b)
{
    const struct start_booking *x = a, *y = b;
    if (x->start_us != y->start_us)
        return x->start_us < y->start_us ? -1 : 1;
    return uuid_cmp(x->job_id, y->job_id);
}

static int64_t within(int64_t v, int64_t most)
{
    const int64_t m = v < most ? v : most;
    return m > 0 ? m : 0;
}

static void keep_devices(struct booked_seat *k, struct snap_node *n, bool is_exact)
{
    k->held = is_exact ? k->devices : ~(uint64_t)0;
    k->took.gpus = 0;
    for (int i = 0; i < n->devices.n; i++) {
        if (!(k->held >> i & 1))
            continue;
        k->milli[i] = n->devices.milli[i];
        k->took.gpus += k->milli[i] == GPU_MILLI;
        n->devices.milli[i] = 0;
    }
    k->took.gpus = (int32_t)within(k->took.gpus, n->free_gpus);
    n->free_gpus -= k->took.gpus;
}

static void keep(struct booked_seat *k, struct snap_node *n, const struct start_booking *b)
{
    const struct ask *a = &b->ask, *c = &k->comes;
    k->keeps = true;
    k->took.slots = within(b->is_exact ? a->slots - c->slots : INT64_MAX, n->free_slots);
    k->took.cpu_milli = within(b->is_exact ? a->cpu_milli - c->cpu_milli : INT64_MAX, n->free_cpu_milli);
    k->took.memory_bytes = within(b->is_exact ? a->memory_bytes - c->memory_bytes : INT64_MAX, n->free_memory_bytes);
    n->free_slots -= k->took.slots;
    n->free_cpu_milli -= k->took.cpu_milli;
    n->free_memory_bytes -= k->took.memory_bytes;
    keep_devices(k, n, b->is_exact);
}

static void give_back(struct booked_seat *k, struct snap_node *n)
{
    k->keeps = false;
    n->free_slots += k->took.slots;
    n->free_cpu_milli += k->took.cpu_milli;
    n->free_memory_bytes += k->took.memory_bytes;
    n->free_gpus += k->took.gpus;
    for (int i = 0; i < n->devices.n; i++)
        if (k->held >> i & 1)
            n->devices.milli[i] = k->milli[i];
}

static size_t node_of(const struct snapshot *s, struct uuid id)
{
    size_t i = 0;
    while (i < s->nodes.n && !uuid_eq(s->nodes.items[i].node_id, id))
        i++;
    return i;
}

/* Its tenant's other jobs do not fill the quota and the rules that it waits for, either. */
static void change_quota(struct start_booking *b, struct snapshot *s, bool is_kept)
{
    const int64_t at = snap_tenant_find(s, b->tenant_id), all = (int64_t)b->n, sign = is_kept ? 1 : -1;
    const size_t node = b->seats[0].node;
    if (is_kept) {
        b->kept_slots = within(all * b->ask.slots - (b->is_exact ? b->comes_slots : 0), INT64_MAX);
        b->kept_gpus = within(all * b->ask.gpus - (b->is_exact ? b->comes_gpus : 0), INT64_MAX);
    }
    if (at < 0)
        return;
    s->tenants.items[at].slots_kept += sign * b->kept_slots;
    s->tenants.items[at].gpus_kept += sign * b->kept_gpus;
    if (!b->is_guarded || node >= s->nodes.n)
        return;
    const struct rule_ask ask = { b->tenant_id, b->project_id, str_c(b->queue), s->nodes.items[node].flavor,
                                  s->nodes.items[node].zone, all * b->ask.slots, all * b->ask.gpus };
    (is_kept ? rulebook_take : rulebook_give)(&s->book, &ask);
}

void bookings_begin(struct bookings *b, struct snapshot *s)
{
    qsort(b->items, b->n, sizeof *b->items, by_start);
    for (size_t i = 0; i < b->n; i++) {
        struct start_booking *x = &b->items[i];
        x->keeps = !x->is_started;
        for (size_t k = 0; x->keeps && k < x->n; k++) {
            x->seats[k].node = node_of(s, x->seats[k].node_id);
            x->seats[k].keeps = false;
            if (x->seats[k].node < s->nodes.n)
                keep(&x->seats[k], &s->nodes.items[x->seats[k].node], x);
        }
        if (x->keeps)
            change_quota(x, s, true);
    }
}

bool bookings_show(struct bookings *b, struct snapshot *s, const struct start_booking **ret)
{
    size_t i = b->n;
    while (i > 0 && !b->items[i - 1].keeps)
        i--;
    if (!i)
        return false;
    struct start_booking *x = &b->items[i - 1];
    change_quota(x, s, false);
    for (size_t k = 0; k < x->n; k++)
        if (x->seats[k].keeps)
            give_back(&x->seats[k], &s->nodes.items[x->seats[k].node]);
    x->keeps = false;
    *ret = x;
    return true;
}
