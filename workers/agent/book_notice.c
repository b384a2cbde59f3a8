/* SPDX-License-Identifier: Apache-2.0 */
/* book_notice.c - what others want of held leases: that they end, or make room. */
#include "workers/agent/book_int.h"
#include "core/base/fault.h"

#include <stdio.h>

/* The job's own log says why it ends, for who reads only that. */
void book_preempt(struct held *h, int64_t preempt_ms, struct str reason)
{
    char line[HELD_LINE_BYTES];
    if (h->preempt_us || h->has_finished)
        return;
    h->preempt_us = clock_mono_us(h->book->clock) + preempt_ms * 1000;
    int n = snprintf(line, sizeof line, "this attempt makes room and has %ld s to keep its work: %.*s", (long)(preempt_ms / 1000),
                     STR_ARG(book_message_cut(reason)));
    book_log(h, "system", str_n(line, (size_t)n));
    book_changed(h->book);
    book_wake_runner(h);
}

void book_notify(struct book *b, struct slice notices)
{
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < notices.n; i++) {
        const struct lease_notice *n = (const struct lease_notice *)notices.items + i;
        for (struct held *h = b->head.next; h != &b->head; h = h->next) {
            if (!uuid_eq(h->grant->attempt_id, n->attempt_id) || h->has_finished)
                continue;
            if (n->cancel && !h->is_cancelled)
                book_tell(h, false);
            else if (n->preempt_ms > 0)
                book_preempt(h, n->preempt_ms, n->reason);
        }
    }
    pthread_mutex_unlock(&b->lock);
}

struct slice book_told(struct book *b, struct arena *a)
{
    struct uuid *ids = NULL;
    size_t n = 0;
    pthread_mutex_lock(&b->lock);
    for (struct held *h = b->head.next; h != &b->head && n < LEASE_NOTICES_MAX; h = h->next) {
        if (!h->is_cancelled && !h->preempt_us)
            continue;
        if (!ids)
            ids = ARENA_ARRAY(a, struct uuid, LEASE_NOTICES_MAX);
        ids[n++] = h->grant->attempt_id;
    }
    pthread_mutex_unlock(&b->lock);
    return (struct slice){ ids, n };
}

int64_t held_preempt_us(const struct held *h)
{
    return FAULT("lease_hangs") ? 0 : h->preempt_us;
}
