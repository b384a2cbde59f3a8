/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - one thread, a list of open streams, a round each second.
 *
 * A stream keeps, per topic, the (id, mark) pairs of the last round, newest first; a round walks both lists side by side. What fell out of
 * the window stays remembered up to KEPT_MAX, so that an old job that is named by a wake-up for its log alone is not told again. */
#include "api/events.h"
#include "api/sse_thread.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"

#include <stdlib.h>

enum { BUFFER_MAX = 256 << 10, ROUND_US = 1000000, ROUND_ARENA = 64 << 20, ROUND_SOFT = 32 << 20, SCRATCH = 4 << 20, KEPT_MAX = 512 };

struct mark { struct uuid id; uint64_t value; };

struct watch {
    struct feed_topic topic;
    struct uuid *projects;
    size_t nprojects;
    struct mark *marks;
    size_t n;
    bool is_begun;
};

struct stream {
    struct sse sse;
    int64_t sent;
    size_t nwatches;
    struct watch watches[FEED_TOPICS_MAX];
};

struct events {
    struct sse_thread t;
    struct uuid woken[FEED_WOKEN_MAX];      /* with nwoken: guarded by the thread's lock */
    size_t nwoken;
};

static void tell(struct stream *s, struct feed_topic t, const struct feed_row *row, struct arena *a, struct buf *b)
{
    buf_printf(b, "id: %ld\ndata: {\"topic\":\"%.*s\",\"id\":", (long)++s->sent, STR_ARG(feed_topic_name(a, t)));
    if (row)
        buf_printf(b, "\"%.*s\",\"kind\":\"%.*s\"}\n\n", STR_ARG(id_text(a, feed_prefix(t.kind), row->id)), STR_ARG(row->state));
    else
        buf_add_c(b, "null,\"kind\":\"ready\"}\n\n");
}

static uint64_t mark_of(const struct feed_row *row)
{
    return str_hash(row->state) * 31 + (uint64_t)row->version;
}

static struct mark *marks_new(const struct mark *from, size_t n)
{
    struct mark *m = malloc((n ? n : 1) * sizeof *m);
    ASSERT(m);
    memcpy(m, from, n * sizeof *m);
    return m;
}

/* Both lists are ordered by id, greatest first. */
static void compare(struct stream *s, struct watch *v, struct slice rows, struct arena *a, struct buf *b)
{
    struct mark now[KEPT_MAX];
    size_t n = 0, k = 0;
    const struct feed_row *row = rows.items;
    for (size_t i = 0; n < KEPT_MAX && (i < rows.n || k < v->n);) {
        int order = i == rows.n ? 1 : k == v->n ? -1 : -memcmp(row[i].id.b, v->marks[k].id.b, 16);
        if (order > 0) {
            now[n++] = v->marks[k++];
            continue;
        }
        now[n] = (struct mark){ row[i].id, mark_of(&row[i]) };
        if (v->is_begun && (order < 0 || now[n].value != v->marks[k].value))
            tell(s, v->topic, &row[i], a, b);
        k += order == 0;
        n++;
        i++;
    }
    free(v->marks);
    v->marks = marks_new(now, n);
    v->n = n;
    if (!v->is_begun)
        tell(s, v->topic, NULL, a, b);
    v->is_begun = true;
}

/* One look for one stream; no lock is held. */
static void serve(struct stream *s, struct feed_round *round, struct arena *scratch, int64_t now_us)
{
    struct err e;
    CLEANUP(buf_releasep) struct buf b = BUF(BUFFER_MAX);
    for (size_t i = 0; i < s->nwatches; i++) {
        struct watch *v = &s->watches[i];
        struct feed_place at = { s->sse.principal->tenant_id, v->projects, v->nprojects };
        struct slice rows;
        enum errc rc = feed_read(round, &at, v->topic, &rows, &e);
        if (rc == ERR_OK)
            compare(s, v, rows, scratch, &b);
        else if (rc != ERR_UNAVAILABLE && rc != ERR_DEADLINE)
            log_err(LOG_WARN, "events.read", &e);
    }
    sse_write(&s->sse, &b, now_us);
}

static void drop(struct sse *base)
{
    struct stream *s = (struct stream *)base;
    for (size_t i = 0; i < s->nwatches; i++) {
        free(s->watches[i].projects);
        free(s->watches[i].marks);
    }
}

/* Streams that are added meanwhile go to the head of the list: the next round sees them. Called with the lock, gives it back for reading. */
static void run_round(struct events *k, struct arena *arena, struct arena *scratch)
{
    struct feed_round round = { .app = k->t.app, .arena = arena, .nwoken = k->nwoken };
    memcpy(round.woken, k->woken, k->nwoken * sizeof *k->woken);
    k->nwoken = 0;
    for (struct sse *s = k->t.list, *next; s && !k->t.stopping; s = next) {
        pthread_mutex_unlock(&k->t.lock);
        serve((struct stream *)s, &round, scratch, clock_mono_us(&clock_system));
        arena_reset(scratch);
        /* However many tenants watch, what was read for the first ones makes room for the rest. */
        if (arena_used(arena) > ROUND_SOFT) {
            arena_reset(arena);
            round.seen = NULL;
        }
        pthread_mutex_lock(&k->t.lock);
        next = s->next;
        if (s->ended)
            sse_thread_end(&k->t, s);
    }
    arena_reset(arena);
}

static void *events_main(void *arg)
{
    struct events *k = arg;
    pthread_setname_np(pthread_self(), "events");
    struct arena *arena = arena_new(ROUND_ARENA), *scratch = arena_new(SCRATCH);
    pthread_mutex_lock(&k->t.lock);
    while (!k->t.stopping) {
        int64_t next = clock_mono_us(&clock_system) + ROUND_US;
        run_round(k, arena, scratch);
        while (!k->t.stopping && mono_cond_wait(&k->t.changed, &k->t.lock, next))
            continue;
    }
    sse_thread_finish(&k->t);
    arena_free(arena);
    arena_free(scratch);
    return NULL;
}

struct events *events_new(const struct app *app)
{
    struct events *k = calloc(1, sizeof *k);
    ASSERT(k);
    sse_thread_start(&k->t, app, events_main, k, drop);
    return k;
}

void events_stop(struct events *k)
{
    sse_thread_stop(&k->t);
}

void events_free(struct events *k)
{
    if (!k)
        return;
    sse_thread_free(&k->t);
    free(k);
}

void events_wake(struct events *k, struct uuid job_id)
{
    pthread_mutex_lock(&k->t.lock);
    bool is_new = k->t.count > 0 && k->nwoken < FEED_WOKEN_MAX;
    for (size_t i = 0; is_new && i < k->nwoken; i++)
        is_new = !uuid_eq(k->woken[i], job_id);
    if (is_new)
        k->woken[k->nwoken++] = job_id;
    pthread_mutex_unlock(&k->t.lock);
}

/* Room for one more; a place is booked by count, for the list has it only later. */
static enum errc book(struct events *k, const struct principal *p, struct err *e)
{
    size_t own = 0;
    pthread_mutex_lock(&k->t.lock);
    for (const struct sse *s = k->t.list; s; s = s->next)
        own += uuid_eq(s->principal->user_id, p->user_id) && uuid_eq(s->principal->tenant_id, p->tenant_id) && !http_stream_gone(s->x);
    enum errc rc = own >= EVENTS_PER_USER ? FAIL(e, RATE, "You have %d open streams, which is the limit; a page needs one only",
                                                 EVENTS_PER_USER) : sse_thread_book(&k->t, p->tenant_id, EVENTS_MAX, e);
    pthread_mutex_unlock(&k->t.lock);
    return rc;
}

static struct stream *stream_new(const struct event_watch *watches, size_t n)
{
    struct stream *s = calloc(1, sizeof *s);
    ASSERT(s && n <= FEED_TOPICS_MAX);
    for (; s->nwatches < n; s->nwatches++) {
        struct watch *v = &s->watches[s->nwatches];
        struct slice p = watches[s->nwatches].projects;
        v->topic = watches[s->nwatches].topic;
        if (!p.n)
            continue;
        v->nprojects = p.n;
        v->projects = malloc(p.n * sizeof *v->projects);
        ASSERT(v->projects);
        memcpy(v->projects, p.items, p.n * sizeof *v->projects);
    }
    return s;
}

enum errc events_add(struct events *k, struct call *c, const struct event_watch *watches, size_t n, struct err *e)
{
    TRY(book(k, c->principal, e));
    int64_t life_us = EVENTS_LIFE_S * INT64_C(1000000), left_us = c->principal->expires_us - c->work.now_us;
    sse_thread_add(&k->t, &stream_new(watches, n)->sse, c, left_us < life_us ? left_us : life_us, 2 * BUFFER_MAX);
    return ERR_OK;
}
