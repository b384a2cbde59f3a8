/* SPDX-License-Identifier: Apache-2.0 */
/* timers.c - a binary heap by time. Cancelled and stale leases are found by looking at all, which happens only while some sleep and
 * at most every LOOK_US. */
#include "workers/agent/timers.h"

#include <pthread.h>
#include <stdlib.h>
#include "core/base/assert.h"

enum { LOOK_US = 100000 };

struct timer {
    int64_t at_us;
    struct held *held;
    bool ok;
    char *message;
};

struct timers {
    const struct clock *clock;
    pthread_mutex_t lock;
    struct timer *heap;
    size_t n, cap;
    int64_t look_at_us;
};

struct timers *timers_new(const struct clock *clock)
{
    struct timers *t = calloc(1, sizeof *t);
    ASSERT(t);
    t->clock = clock;
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

static void swap(struct timer *a, struct timer *b)
{
    struct timer c = *a;
    *a = *b;
    *b = c;
}

static void sift_up(struct timers *t, size_t i)
{
    for (; i && t->heap[i].at_us < t->heap[(i - 1) / 2].at_us; i = (i - 1) / 2)
        swap(&t->heap[i], &t->heap[(i - 1) / 2]);
}

static void sift_down(struct timers *t, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < t->n; child++)
            if (t->heap[child].at_us < t->heap[least].at_us)
                least = child;
        if (least == i)
            return;
        swap(&t->heap[i], &t->heap[least]);
        i = least;
    }
}

static void heap_alloc(struct timers *t)
{
    t->cap = t->cap ? t->cap * 2 : 64;
    t->heap = realloc(t->heap, t->cap * sizeof *t->heap);
    ASSERT(t->heap);
}

void timers_add(struct timers *t, struct held *h, int64_t sleep_ms, bool ok, struct str message)
{
    pthread_mutex_lock(&t->lock);
    if (t->n == t->cap)
        heap_alloc(t);
    t->heap[t->n++] = (struct timer){ clock_mono_us(t->clock) + sleep_ms * 1000, h, ok, message.len ? str_dup_heap(message) : NULL };
    sift_up(t, t->n - 1);
    pthread_mutex_unlock(&t->lock);
}

static void end_one(struct timers *t, size_t i, enum lease_event event)
{
    struct timer done = t->heap[i];
    t->heap[i] = t->heap[--t->n];
    if (i < t->n) {
        sift_up(t, i);
        sift_down(t, i);
    }
    held_finish(done.held, &(struct lease_item){ .event = (int)event, .exit_code = done.ok ? 0 : 1, .message = str_c(done.message) });
    held_unref(done.held);
    free(done.message);
}

static bool is_unwanted(const struct held *h)
{
    return held_is_stale(h) || held_is_cancelled(h) || held_preempt_us(h);
}

int64_t timers_run(struct timers *t, bool stopping)
{
    pthread_mutex_lock(&t->lock);
    int64_t now = clock_mono_us(t->clock);
    while (t->n && t->heap[0].at_us <= now)
        end_one(t, 0, t->heap[0].ok ? LE_SUCCEED : LE_FAIL);
    if (t->n && (stopping || now >= t->look_at_us)) {
        t->look_at_us = now + LOOK_US;
        for (size_t i = t->n; i-- > 0;)
            if (i < t->n && (stopping || is_unwanted(t->heap[i].held)))
                end_one(t, i, stopping ? LE_RETURN : held_is_cancelled(t->heap[i].held) ? LE_CANCEL : LE_PREEMPT);
    }
    int64_t next = t->n ? (t->heap[0].at_us < t->look_at_us ? t->heap[0].at_us : t->look_at_us) : INT64_MAX;
    pthread_mutex_unlock(&t->lock);
    return next;
}

void timers_free(struct timers *t)
{
    if (!t)
        return;
    while (t->n)
        end_one(t, t->n - 1, LE_RETURN);
    pthread_mutex_destroy(&t->lock);
    free(t->heap);
    free(t);
}
