/* SPDX-License-Identifier: Apache-2.0 */
/* book_report.c - one report out of all that waits, and what its verdicts mean.
 *
 * A lease gives one item, or two when start and finish wait together. Logs and metrics ride on the last of them. What is in flight is
 * marked by number, so that a line dropped or added meanwhile does no harm; only an answer takes it out of the book. */
#include "workers/agent/book_int.h"

#include <stdio.h>
#include <stdlib.h>
#include "core/json/encode.h"

/* The API takes a body of api.max_body (1 MiB unless set otherwise). A lease is begun below REPORT_BYTES and adds at most LEASE_BYTES and a
 * line of logs, the same of metrics, or half of each and a result of FRAME_MAX. Sizes are counted as if every byte of text were escaped,
 * which is the most that a cleaned line can grow to; a message may hold bytes that become six. */
static const size_t REPORT_BYTES = 500 * 1024, LEASE_BYTES = 160 * 1024;
static const int64_t HELD_MOST_US = 3600000000;
enum { ITEM_COST = 320, LINE_COST = 64, OUTPUT_COST = 160, ESCAPED = 6 };

/* One report as it grows. */
struct draft {
    struct lease_item *items;
    size_t n, bytes;
};

static struct lease_item *add_item(struct draft *d, struct held *h, enum lease_event event)
{
    struct lease_item *it = &d->items[d->n++];
    *it = (struct lease_item){ .tenant_id = h->grant->tenant_id, .attempt_id = h->grant->attempt_id, .fence = h->grant->fence,
                               .event = (int)event, .has_cpu_mj = h->has_cpu_mj, .cpu_mj = h->cpu_mj,
                               .has_gpu_mj = h->has_gpu_mj, .gpu_mj = h->gpu_mj, .has_idle_ms = h->has_idle_ms,
                               .idle_ms = h->idle_ms };
    h->idle_in_flight = h->has_idle_ms;
    d->bytes += ITEM_COST;
    return it;
}

static void add_logs(struct arena *a, struct draft *d, struct lease_item *it, struct held *h)
{
    size_t n = 0, bytes = 0;
    h->logs.flying_seq = 0;
    if (!h->logs.head && !h->logs.dropped)
        return;
    struct lease_log *lines = ARENA_ARRAY(a, struct lease_log, h->logs.n + 1);
    if (h->logs.dropped) {
        lines[n++] = (struct lease_log){ STR("system"), str_fmt(a, "%lu lines dropped", (unsigned long)h->logs.dropped) };
        h->logs.flying_dropped = h->logs.dropped;
        h->logs.dropped = 0;
    }
    for (struct said *s = h->logs.head; s && bytes < LEASE_BYTES; s = s->next) {
        lines[n++] = (struct lease_log){ str_c(s->stream), str_n(s->text, s->len) };
        bytes += 2 * s->len + LINE_COST;
        h->logs.flying_seq = s->seq;
    }
    it->logs = (struct slice){ lines, n };
    d->bytes += bytes;
}

static void add_metrics(struct arena *a, struct draft *d, struct lease_item *it, struct held *h)
{
    size_t n = 0, bytes = 0;
    h->metrics.flying_seq = 0;
    if (!h->metrics.head)
        return;
    struct lease_metric *points = ARENA_ARRAY(a, struct lease_metric, h->metrics.n);
    for (struct said *s = h->metrics.head; s && bytes < LEASE_BYTES; s = s->next) {
        points[n++] = (struct lease_metric){ s->step, { str_n(s->text, s->len) } };
        bytes += s->len + LINE_COST;
        h->metrics.flying_seq = s->seq;
    }
    it->metrics = (struct slice){ points, n };
    d->bytes += bytes;
}

static struct lease_item *add_end(struct draft *d, struct held *h)
{
    struct lease_item *it = add_item(d, h, (enum lease_event)h->end->event);
    *it = *h->end;
    d->bytes += ESCAPED * it->message.len + it->result.text.len + OUTPUT_COST * it->outputs.n;
    return it;
}

static size_t said_bytes(const struct said_list *l)
{
    size_t n = 0;
    for (const struct said *s = l->head; s; s = s->next)
        n += 2 * s->len + LINE_COST;
    return n;
}

static bool is_news(const struct held *h)
{
    return !h->is_known || h->start_waits || h->finish_waits || h->logs.head || h->logs.dropped || h->metrics.head;
}

/* false: nothing to say about it now. A finish waits for the report that all its logs fit into. */
static bool add_lease(struct arena *a, struct draft *d, struct held *h, bool due, int64_t now)
{
    bool finish = h->finish_waits && said_bytes(&h->logs) < LEASE_BYTES / 2 && said_bytes(&h->metrics) < LEASE_BYTES / 2;
    if (!is_news(h) && !due)
        return false;
    struct lease_item *last = NULL;
    size_t before = d->n;
    h->start_in_flight = h->start_waits;
    h->finish_in_flight = finish;
    if (h->start_waits) {
        last = add_item(d, h, LE_START);
        last->endpoint = h->endpoint ? str_c(h->endpoint) : STR_NULL;
    }
    if (finish)
        last = add_end(d, h);
    else if (!last)
        last = add_item(d, h, LE_RENEW);
    h->items_in_flight = (int)(d->n - before);
    if (!h->is_known) {
        d->items[before].has_held_ms = true;
        d->items[before].held_ms = now - h->taken_us < HELD_MOST_US ? (now - h->taken_us) / 1000 : HELD_MOST_US / 1000;
    }
    add_logs(a, d, last, h);
    add_metrics(a, d, last, h);
    return true;
}

/* The lease that a refusal has set apart and that has something to say: it makes a report of its own. */
static struct held *find_alone(const struct book *b, bool due)
{
    for (struct held *h = b->head.next; h != &b->head; h = h->next)
        if (h->is_alone && (is_news(h) || due))
            return h;
    return NULL;
}

static void take_off(struct book *b, struct draft *d, struct held *h, bool due, int64_t now)
{
    if (!add_lease(b->scratch, d, h, due, now))
        return;
    h->said_us = now;
    atomic_fetch_add(&h->refs, 1);
    b->flight[b->n_flight++] = h;
}

void held_energy(struct held *h, const int64_t *cpu_mj, const int64_t *gpu_mj)
{
    pthread_mutex_lock(&h->book->lock);
    h->has_cpu_mj = cpu_mj && !h->is_energy_untold;
    h->cpu_mj = cpu_mj ? *cpu_mj : 0;
    h->has_gpu_mj = gpu_mj && !h->is_energy_untold;
    h->gpu_mj = gpu_mj ? *gpu_mj : 0;
    pthread_mutex_unlock(&h->book->lock);
}

void held_idle(struct held *h, int64_t idle_ms)
{
    pthread_mutex_lock(&h->book->lock);
    h->has_idle_ms = !h->is_idle_untold;
    h->idle_in_flight = false;
    h->idle_ms = idle_ms;
    pthread_mutex_unlock(&h->book->lock);
}

bool book_collect(struct book *b, const struct node_identity *n, struct buf *out)
{
    pthread_mutex_lock(&b->lock);
    arena_reset(b->scratch);
    struct draft d = { ARENA_ARRAY(b->scratch, struct lease_item, 2 * REPORT_LEASES_MAX), 0, 0 };
    int64_t now = clock_mono_us(b->clock);
    bool due = false, more = false;
    for (struct held *h = b->head.next; h != &b->head && !due; h = h->next)
        due = now - h->said_us >= b->heartbeat_us;
    b->n_flight = 0;
    struct held *alone = find_alone(b, due);
    if (alone) {
        take_off(b, &d, alone, due, now);
        more = true;
    }
    for (struct held *h = b->head.next; !alone && h != &b->head; h = h->next) {
        if (b->n_flight == REPORT_LEASES_MAX || d.bytes > REPORT_BYTES) {
            more = true;
            break;
        }
        take_off(b, &d, h, due, now);
    }
    b->is_dirty = more;
    b->refused_flying = b->refused;
    const struct lease_report_in report = { n->node_id, n->boot_id, b->refused > 0, b->refused, { d.items, d.n } };
    if (d.n)                            /* with the lock held: the lines are the book's own, and a runner may drop them */
        json_encode(&lease_report_in_schema, &report, out);
    pthread_mutex_unlock(&b->lock);
    return b->n_flight > 0;
}

/* What was in the report under way no longer is. With the lock held. */
static void land(struct said_list *l, bool arrived)
{
    if (arrived)
        said_drop_until(l, l->flying_seq);
    else
        l->dropped += l->flying_dropped;
    l->flying_seq = l->flying_dropped = 0;
}

/* The verdict of one lease's last item. With the lock held. */
static void settle_one(struct book *b, struct held *h, const struct lease_verdict *v, int64_t sent_us)
{
    if (!h->in_book)
        return;
    if (!str_eq_c(v->verdict, "ok")) {
        b->counts.stale++;
        book_tell(h, true);
        book_remove(b, h);
        return;
    }
    h->confirmed_us = sent_us > h->confirmed_us ? sent_us : h->confirmed_us;
    h->is_known = true;
    h->is_alone = h->is_bare = false;
    land(&h->logs, true);
    land(&h->metrics, true);
    if (h->idle_in_flight)
        h->has_idle_ms = h->idle_in_flight = false;
    if (h->start_in_flight)
        h->start_waits = false;
    if (h->finish_in_flight)
        book_remove(b, h);
    else if (h->logs.head || h->metrics.head || h->finish_waits)
        b->is_dirty = true;
    if (v->cancel && !h->finish_in_flight && !h->is_cancelled)
        book_tell(h, false);
    else if (v->preempt_ms > 0 && !h->finish_in_flight)
        book_preempt(h, v->preempt_ms, v->reason);
}

void book_settle(struct book *b, const struct lease_verdict *v, size_t n, int64_t sent_us)
{
    pthread_mutex_lock(&b->lock);
    size_t at = 0;
    for (size_t i = 0; i < b->n_flight; i++) {
        struct held *h = b->flight[i];
        at += (size_t)h->items_in_flight;
        if (at <= n && uuid_eq(v[at - 1].attempt_id, h->grant->attempt_id))
            settle_one(b, h, &v[at - 1], sent_us);
        else
            b->is_dirty = true;
        land(&h->logs, false);
        land(&h->metrics, false);
        held_unref(h);
    }
    b->n_flight = 0;
    b->refused -= b->refused_flying;
    b->refused_flying = 0;
    pthread_mutex_unlock(&b->lock);
}

/* All of it comes back into the book. With the lock held. */
static void take_back(struct book *b)
{
    for (size_t i = 0; i < b->n_flight; i++) {
        land(&b->flight[i]->logs, false);
        land(&b->flight[i]->metrics, false);
        held_unref(b->flight[i]);
    }
    b->n_flight = 0;
    b->refused_flying = 0;
    b->is_dirty = true;
}

void book_unsettle(struct book *b)
{
    pthread_mutex_lock(&b->lock);
    take_back(b);
    pthread_mutex_unlock(&b->lock);
}

/* Nothing of what was in the report is told again, but that the lease has ended, if it has. With the lock held. */
static void strip(struct held *h, struct str why)
{
    char message[200];
    said_drop_until(&h->logs, h->logs.flying_seq);
    said_drop_until(&h->metrics, h->metrics.flying_seq);
    h->logs.flying_dropped = 0;
    h->is_energy_untold = h->is_idle_untold = true;
    h->has_cpu_mj = h->has_gpu_mj = h->has_idle_ms = false;
    free(h->endpoint);
    h->endpoint = NULL;
    if (h->finish_in_flight) {
        int n = snprintf(message, sizeof message, "the API refused the report of its end: %.*s", STR_ARG(why));
        struct lease_item bare = { .event = h->end->event == LE_SUCCEED ? LE_FAIL : h->end->event, .exit_code = h->end->exit_code,
                                   .message = str_n(message, n < (int)sizeof message ? (size_t)n : sizeof message - 1) };
        end_set(h, &bare);
    }
    h->is_bare = true;
}

enum book_refusal book_refuse(struct book *b, struct str why, struct uuid *ret_attempt)
{
    enum book_refusal ret = BOOK_SPLIT;
    pthread_mutex_lock(&b->lock);
    struct held *h = b->n_flight == 1 ? b->flight[0] : NULL;
    for (size_t i = 0; i < b->n_flight; i++)
        b->flight[i]->is_alone = true;
    if (h && h->in_book) {
        *ret_attempt = h->grant->attempt_id;
        ret = h->is_bare ? BOOK_GIVEN_UP : BOOK_STRIPPED;
        b->counts.refused++;
        b->refused++;
        if (ret == BOOK_STRIPPED) {
            strip(h, why);
        } else {
            book_tell(h, true);
            book_remove(b, h);
        }
    }
    take_back(b);
    pthread_mutex_unlock(&b->lock);
    return ret;
}
