/* SPDX-License-Identifier: Apache-2.0 */
/* book_report.c - one report out of all that waits, and what its verdicts mean.
 *
 * A lease gives one item, or two when start and finish wait together. Logs and metrics ride on the last of them. What is in flight is
 * marked by number, so that a line dropped or added meanwhile does no harm; only an answer takes it out of the book. */
#include "workers/agent/book_int.h"

#include <stdlib.h>

/* The API takes a body of api.max_body (1 MiB unless set otherwise). A lease is begun below REPORT_BYTES and adds at most LEASE_BYTES and a
 * line of logs, the same of metrics, or half of each and a result of FRAME_MAX. */
static const size_t REPORT_BYTES = 500 * 1024, LEASE_BYTES = 160 * 1024;

static void begin_item(struct buf *out, const struct held *h, const char *event)
{
    if (out->ptr[out->len - 1] != '[')
        buf_add_char(out, ',');
    buf_add_c(out, "{\"tenant_id\":\"");
    buf_add_id(out, "tnt", h->grant->tenant_id);
    buf_add_c(out, "\",\"attempt_id\":\"");
    buf_add_id(out, "att", h->grant->attempt_id);
    buf_printf(out, "\",\"fence\":%ld,\"event\":\"%s\"", (long)h->grant->fence, event);
}

static void add_logs(struct buf *out, struct held *h)
{
    size_t from = out->len;
    h->logs.flying_seq = 0;
    if (!h->logs.head && !h->logs.dropped)
        return;
    buf_add_c(out, ",\"logs\":[");
    if (h->logs.dropped) {
        buf_printf(out, "{\"stream\":\"system\",\"text\":\"%lu lines dropped\"}", (unsigned long)h->logs.dropped);
        h->logs.flying_dropped = h->logs.dropped;
        h->logs.dropped = 0;
    }
    for (struct said *s = h->logs.head; s && out->len - from < LEASE_BYTES; s = s->next) {
        if (out->ptr[out->len - 1] != '[')
            buf_add_char(out, ',');
        buf_printf(out, "{\"stream\":\"%s\",\"text\":", s->stream);
        buf_add_json(out, str_n(s->text, s->len));
        buf_add_char(out, '}');
        h->logs.flying_seq = s->seq;
    }
    buf_add_char(out, ']');
}

static void add_metrics(struct buf *out, struct held *h)
{
    size_t from = out->len;
    h->metrics.flying_seq = 0;
    if (!h->metrics.head)
        return;
    buf_add_c(out, ",\"metrics\":[");
    for (struct said *s = h->metrics.head; s && out->len - from < LEASE_BYTES; s = s->next) {
        if (out->ptr[out->len - 1] != '[')
            buf_add_char(out, ',');
        buf_printf(out, "{\"step\":%ld,\"values\":%.*s}", (long)s->step, (int)s->len, s->text);
        h->metrics.flying_seq = s->seq;
    }
    buf_add_char(out, ']');
}

static void add_finish(struct buf *out, const struct held *h)
{
    buf_printf(out, ",\"exit_code\":%ld", (long)h->exit_code);
    if (h->message) {
        buf_add_c(out, ",\"message\":");
        buf_add_json(out, str_c(str_is_utf8(str_c(h->message)) ? h->message : "(not UTF-8)"));
    }
    if (h->result)
        buf_printf(out, ",\"result\":%s", h->result);
    if (h->outputs)
        buf_printf(out, ",\"outputs\":%s", h->outputs);
}

static size_t said_bytes(const struct said_list *l)
{
    size_t n = 0;
    for (const struct said *s = l->head; s; s = s->next)
        n += s->len + 32;
    return n;
}

/* false: nothing to say about it now. A finish waits for the report that all its logs fit into. */
static bool add_lease(struct buf *out, struct held *h, bool due)
{
    bool finish = h->finish_waits && said_bytes(&h->logs) < LEASE_BYTES / 2 && said_bytes(&h->metrics) < LEASE_BYTES / 2;
    bool says = h->logs.head || h->logs.dropped || h->metrics.head;
    if (!h->start_waits && !h->finish_waits && !says && !due)
        return false;
    h->items_in_flight = 1;
    h->start_in_flight = h->start_waits;
    h->finish_in_flight = finish;
    if (h->start_waits) {
        begin_item(out, h, "start");
        if (h->endpoint) {
            buf_add_c(out, ",\"endpoint\":");
            buf_add_json(out, str_c(h->endpoint));
        }
        if (finish) {
            buf_add_char(out, '}');
            h->items_in_flight = 2;
        }
    }
    if (finish) {
        begin_item(out, h, h->event);
        add_finish(out, h);
    } else if (!h->start_waits) {
        begin_item(out, h, "renew");
    }
    add_logs(out, h);
    add_metrics(out, h);
    buf_add_char(out, '}');
    return true;
}

bool book_collect(struct book *b, const struct node_identity *n, struct buf *out)
{
    char boot[UUID_TEXT];
    uuid_text(n->boot_id, boot);
    buf_add_c(out, "{\"node_id\":\"");
    buf_add_id(out, "nod", n->node_id);
    buf_printf(out, "\",\"boot_id\":\"%s\",\"items\":[", boot);
    pthread_mutex_lock(&b->lock);
    int64_t now = clock_mono_us(b->clock);
    bool due = false, more = false;
    for (struct held *h = b->head.next; h != &b->head && !due; h = h->next)
        due = now - h->said_us >= b->heartbeat_us;
    b->n_flight = 0;
    for (struct held *h = b->head.next; h != &b->head; h = h->next) {
        if (b->n_flight == REPORT_LEASES_MAX || out->len > REPORT_BYTES) {
            more = true;
            break;
        }
        if (!add_lease(out, h, due))
            continue;
        h->said_us = now;
        atomic_fetch_add(&h->refs, 1);
        b->flight[b->n_flight++] = h;
    }
    b->is_dirty = more;
    pthread_mutex_unlock(&b->lock);
    buf_add_c(out, "]}");
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
static void settle_one(struct book *b, struct held *h, const struct report_verdict *v, int64_t sent_us)
{
    if (!h->in_book)
        return;
    if (v->is_stale) {
        b->counts.stale++;
        book_tell(h, true);
        book_remove(b, h);
        return;
    }
    h->confirmed_us = sent_us > h->confirmed_us ? sent_us : h->confirmed_us;
    land(&h->logs, true);
    land(&h->metrics, true);
    if (h->start_in_flight)
        h->start_waits = false;
    if (h->finish_in_flight)
        book_remove(b, h);
    else if (h->logs.head || h->metrics.head || h->finish_waits)
        b->is_dirty = true;
    if (v->cancel && !h->finish_in_flight && !h->is_cancelled)
        book_tell(h, false);
}

void book_settle(struct book *b, const struct report_verdict *v, size_t n, int64_t sent_us)
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
    pthread_mutex_unlock(&b->lock);
}

void book_unsettle(struct book *b)
{
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->n_flight; i++) {
        land(&b->flight[i]->logs, false);
        land(&b->flight[i]->metrics, false);
        held_unref(b->flight[i]);
    }
    b->n_flight = 0;
    b->is_dirty = true;
    pthread_mutex_unlock(&b->lock);
}
