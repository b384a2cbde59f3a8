/* SPDX-License-Identifier: Apache-2.0 */
/* book.c - the ring of held leases under one lock; every write marks the book dirty and wakes the reporter.
 *
 * Fences look at each lease's own confirmation: the moment its grant arrived, or the moment the report was sent that the API
 * acknowledged - never the moment of the answer, so that a slow network makes the fence earlier, not later. */
#include "workers/agent/book_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/mono_cond.h"

enum { WAIT_MAX_MS = 200, MESSAGE_MAX = 900 };

static const size_t SCRATCH_MAX = (size_t)64 << 20;

struct str book_message_cut(struct str message)
{
    return str_n(message.ptr, message.len < MESSAGE_MAX ? message.len : MESSAGE_MAX);
}

struct book *book_new(const struct clock *clock, int64_t heartbeat_ms)
{
    struct book *b = calloc(1, sizeof *b);
    ASSERT(b);
    b->clock = clock;
    b->heartbeat_us = heartbeat_ms * 1000;
    b->head.prev = b->head.next = &b->head;
    b->scratch = arena_new(SCRATCH_MAX);
    pthread_mutex_init(&b->lock, NULL);
    mono_cond_init(&b->changed);
    return b;
}

void book_free(struct book *b)
{
    if (!b)
        return;
    book_unsettle(b);
    book_fence_all(b);
    arena_free(b->scratch);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

void said_drop_until(struct said_list *l, uint64_t seq)
{
    while (l->head && l->head->seq <= seq) {
        struct said *s = l->head;
        l->head = s->next;
        l->n--;
        free(s);
    }
    if (!l->head)
        l->tail = &l->head;
}

static struct said *said_new(uint64_t seq, int64_t step, const char *stream, struct str text)
{
    struct said *s = malloc(sizeof *s + text.len);
    ASSERT(s);
    *s = (struct said){ .seq = seq, .step = step, .stream = stream, .len = text.len };
    if (text.len)
        memcpy(s->text, text.ptr, text.len);
    return s;
}

static void said_add(struct said_list *l, int64_t step, const char *stream, struct str text, struct book *b)
{
    struct said *s = said_new(++l->last_seq, step, stream, text);
    if (l->n == l->max) {
        bool flies = l->head->seq <= l->flying_seq;     /* lost only if that report is */
        said_drop_until(l, l->head->seq);
        *(flies ? &l->flying_dropped : &l->dropped) += 1;
        b->counts.lines_dropped += !flies;
    }
    *l->tail = s;
    l->tail = &s->next;
    l->n++;
}

/* What a job writes goes to terminals and pages: one line, without control bytes, cut to HELD_LINE_BYTES. With the lock held. */
void book_log(struct held *h, const char *stream, struct str text)
{
    char clean[HELD_LINE_BYTES];
    bool utf8 = str_is_utf8(text) && text.len <= sizeof clean;
    size_t n = text.len < sizeof clean ? text.len : sizeof clean;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        clean[i] = (c < 0x20 && c != '\t') || c == 0x7f || (c >= 0x80 && !utf8) ? '?' : (char)c;
    }
    said_add(&h->logs, 0, stream, str_n(clean, n), h->book);
}

/* Why it ends badly is the log's last line, for who reads only the log. Words stand between the level and the cause, which may begin with
 * a number: "error: 1 row" would look like a measurement. With the lock held. */
static void log_failure(struct held *h, int event, struct str message)
{
    char line[MESSAGE_MAX + 100];
    struct str cut = book_message_cut(message);
    int n;
    if (event == LE_TIMEOUT)
        n = snprintf(line, sizeof line, "error: out of time: the job may run %ld s", (long)h->grant->max_runtime_s);
    else if (event == LE_OOM)
        n = snprintf(line, sizeof line, "error: out of memory: %.*s", STR_ARG(cut));
    else if (event == LE_FAIL)
        n = snprintf(line, sizeof line, "error: the job failed: %.*s", STR_ARG(cut));
    else
        return;
    book_log(h, "stderr", str_n(line, (size_t)n));
}

void end_set(struct held *h, const struct lease_item *end)
{
    struct lease_item own = *end;
    struct str cut = book_message_cut(end->message);
    own.tenant_id = h->grant->tenant_id;
    own.attempt_id = h->grant->attempt_id;
    own.fence = h->grant->fence;
    own.has_exit_code = true;
    own.message = !cut.len ? STR_NULL : str_is_utf8(cut) ? cut : STR("(not UTF-8)");
    free(h->end);
    h->end = schema_copy_new(&lease_item_schema, &own);
    h->finish_waits = true;
    log_failure(h, end->event, end->message);
}

void held_unref(struct held *h)
{
    if (!h || atomic_fetch_sub(&h->refs, 1) > 1)
        return;
    said_drop_until(&h->logs, UINT64_MAX);
    said_drop_until(&h->metrics, UINT64_MAX);
    free(h->endpoint);
    free(h->end);
    free(h->grant);
    fd_closep(&h->wake_fd);
    fd_closep(&h->door);
    free(h);
}

static struct held *held_new(struct book *b, const struct lease_grant *g, bool wake)
{
    struct held *h = calloc(1, sizeof *h);
    ASSERT(h);
    h->refs = 1;
    h->book = b;
    h->grant = schema_copy_new(&lease_grant_schema, g);
    h->wake_fd = wake ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    h->door = -1;
    h->logs = (struct said_list){ .max = HELD_LINES_MAX };
    h->metrics = (struct said_list){ .max = HELD_METRICS_MAX };
    h->logs.tail = &h->logs.head;
    h->metrics.tail = &h->metrics.head;
    h->in_book = true;
    h->taken_us = h->confirmed_us = h->said_us = clock_mono_us(b->clock);
    return h;
}

void book_changed(struct book *b)
{
    b->is_dirty = true;
    pthread_cond_broadcast(&b->changed);
}

static void enter(struct book *b, struct held *h)
{
    h->prev = b->head.prev;
    h->next = &b->head;
    h->prev->next = b->head.prev = h;
    b->counts.live++;
    b->counts.added++;
}

struct held *book_add(struct book *b, const struct lease_grant *g, bool wake)
{
    struct held *h = held_new(b, g, wake);
    h->refs = 2;
    pthread_mutex_lock(&b->lock);
    enter(b, h);
    b->counts.running++;
    b->running_slots += g->slots;
    book_changed(b);
    pthread_mutex_unlock(&b->lock);
    return h;
}

bool book_has(struct book *b, struct uuid attempt_id)
{
    bool has = false;
    pthread_mutex_lock(&b->lock);
    for (struct held *h = b->head.next; h != &b->head && !has; h = h->next)
        has = uuid_eq(h->grant->attempt_id, attempt_id);
    pthread_mutex_unlock(&b->lock);
    return has;
}

void book_add_done(struct book *b, const struct lease_grant *g, bool ok, struct str message)
{
    struct held *h = held_new(b, g, false);
    h->start_waits = h->has_finished = true;
    pthread_mutex_lock(&b->lock);
    end_set(h, &(struct lease_item){ .event = ok ? LE_SUCCEED : LE_FAIL, .exit_code = ok ? 0 : 1, .message = message });
    enter(b, h);
    book_changed(b);
    pthread_mutex_unlock(&b->lock);
}

static void end_running(struct book *b, struct held *h)
{
    if (h->has_finished)
        return;
    h->has_finished = true;
    b->counts.running--;
    b->running_slots -= h->grant->slots;
}

void book_remove(struct book *b, struct held *h)
{
    end_running(b, h);
    h->in_book = false;
    h->prev->next = h->next;
    h->next->prev = h->prev;
    b->counts.live--;
    pthread_cond_broadcast(&b->changed);
    held_unref(h);
}

void book_wake_runner(struct held *h)
{
    uint64_t one = 1;
    if (h->wake_fd >= 0 && write(h->wake_fd, &one, sizeof one) < 0)
        ASSERT(errno == EAGAIN);        /* the counter is full: it is readable already */
}

void book_tell(struct held *h, bool stale)
{
    if (stale)
        h->is_stale = true;
    else
        h->is_cancelled = true;
    book_wake_runner(h);
}

void held_start(struct held *h, struct str endpoint)
{
    pthread_mutex_lock(&h->book->lock);
    free(h->endpoint);
    h->endpoint = endpoint.len ? str_dup_heap(endpoint) : NULL;
    h->start_waits = true;
    book_changed(h->book);
    pthread_mutex_unlock(&h->book->lock);
}

void held_log(struct held *h, const char *stream, struct str text)
{
    pthread_mutex_lock(&h->book->lock);
    if (h->in_book && !h->has_finished) {
        book_log(h, stream, text);
        book_changed(h->book);
    }
    pthread_mutex_unlock(&h->book->lock);
}

void held_metric(struct held *h, int64_t step, struct str values_json)
{
    if (values_json.len > HELD_LINE_BYTES)
        return;
    pthread_mutex_lock(&h->book->lock);
    if (h->in_book && !h->has_finished) {
        said_add(&h->metrics, step, NULL, values_json, h->book);
        book_changed(h->book);
    }
    pthread_mutex_unlock(&h->book->lock);
}

void held_finish(struct held *h, const struct lease_item *end)
{
    struct book *b = h->book;
    pthread_mutex_lock(&b->lock);
    if (h->in_book && !h->has_finished) {
        end_running(b, h);
        end_set(h, end);
        b->counts.finished++;
        book_changed(b);
    }
    pthread_mutex_unlock(&b->lock);
}

const struct lease_grant *held_grant(const struct held *h)
{
    return h->grant;
}

int held_wake_fd(const struct held *h)
{
    return h->wake_fd;
}

bool held_is_stale(const struct held *h)
{
    return h->is_stale;
}

bool held_is_cancelled(const struct held *h)
{
    return h->is_cancelled;
}

void held_cancel(struct held *h)
{
    book_tell(h, false);
}

/* Real time, at most WAIT_MAX_MS at once, so that a turned clock is noticed. With the lock held. */
static void wait_a_little(struct book *b, int64_t us)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t most = (int64_t)WAIT_MAX_MS * 1000, ns = t.tv_nsec + (us < most ? us : most) * 1000;
    t.tv_sec += ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&b->changed, &b->lock, &t);
}

void book_wait(struct book *b, int64_t until_us)
{
    pthread_mutex_lock(&b->lock);
    int64_t left = until_us - clock_mono_us(b->clock);
    if (!b->is_dirty && left > 0)
        wait_a_little(b, left);
    pthread_mutex_unlock(&b->lock);
}

void book_wake(struct book *b)
{
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

bool book_wait_room(struct book *b, size_t slots, size_t *ret_free)
{
    pthread_mutex_lock(&b->lock);
    if (b->running_slots >= (int64_t)slots)
        wait_a_little(b, (int64_t)WAIT_MAX_MS * 1000);
    int64_t left = (int64_t)slots - b->running_slots;
    *ret_free = left > 0 ? (size_t)left : 0;
    pthread_mutex_unlock(&b->lock);
    return left > 0;
}

static size_t give_up(struct book *b, int64_t before_us)
{
    size_t n = 0;
    pthread_mutex_lock(&b->lock);
    for (struct held *h = b->head.next, *next; h != &b->head; h = next) {
        next = h->next;
        if (h->confirmed_us > before_us)
            continue;
        book_tell(h, true);
        book_remove(b, h);
        b->counts.fenced++;
        n++;
    }
    pthread_mutex_unlock(&b->lock);
    return n;
}

size_t book_fence(struct book *b, int64_t fence_ms)
{
    return give_up(b, clock_mono_us(b->clock) - fence_ms * 1000);
}

void book_fence_all(struct book *b)
{
    give_up(b, INT64_MAX);
}

void book_cancel_all(struct book *b)
{
    pthread_mutex_lock(&b->lock);
    for (struct held *h = b->head.next; h != &b->head; h = h->next)
        if (!h->has_finished)
            book_tell(h, false);
    pthread_mutex_unlock(&b->lock);
}

void book_get_counts(struct book *b, struct book_counts *ret)
{
    pthread_mutex_lock(&b->lock);
    *ret = b->counts;
    pthread_mutex_unlock(&b->lock);
}
