/* SPDX-License-Identifier: Apache-2.0 */
/* infer_stats.c - a ring of minutes for each deployment, each with a histogram; found by looking at all, which are few.
 *
 * What is written is what was counted so far, not what came since: a writing whose outcome is not known is repeated without harm.
 * An entry is a writer of its own, so that one which made room and comes back begins rows of its own instead of lowering its old
 * ones. */
#include "serving/infer_stats.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/schema.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTES = INFER_MINUTES, CLASSES = 96, PER_OCTAVE = 4, MINUTE_US = 60000000, SECOND_US = 1000000 };
enum { ROWS_AT_ONCE = 200, WRITERS_MAX = 64 };
static const double LEAST_US = 64;
static const size_t FLUSH_ARENA = (size_t)16 << 20;

struct minute {
    int64_t number;                     /* since 1970; 0: never used */
    uint64_t requests, errors, refused, classes[CLASSES];
    bool is_written;                    /* as it is now */
};
struct entry {
    struct uuid tenant_id, deployment_id, writer_id;
    int64_t last_us;
    struct minute minutes[MINUTES];
};
struct infer_stats {
    const struct app *app;
    pthread_mutex_t lock;               /* guards entries, n */
    pthread_mutex_t flushing;           /* one at a time, so that an older count never follows a newer one */
    struct entry *entries[INFER_STATS_MAX];
    size_t n;
    struct beat *beat;
};
struct infer_hour {
    int64_t since_us, now_us;
    struct minute minutes[MINUTES];     /* oldest first; number is set in each */
};

struct minute_row { int64_t minute, requests, errors, refused; struct slice classes; };
SCHEMA_OF(minute_row, "What one process counted in a minute", FIELD(minute_row, minute, 0, .doc = "Since 1970"),
    FIELD(minute_row, requests, 0, .doc = "Calls"), FIELD(minute_row, errors, 0, .doc = "Without a good answer"),
    FIELD(minute_row, refused, 0, .doc = "Refused"),
    FIELD_I64S(minute_row, classes, 0, .max = CLASSES, .doc = "Good answers by time"));
static const struct stmt minutes_put = { .name = "deployment_minutes_put", .params = "ji", .card = CARD_NONE, .sql =
    "SELECT FROM deployment_minutes_put($1, $2)" };
static const struct stmt minutes_read = { .name = "deployment_minutes", .params = "uuuii", .row = &minute_row_schema,
    .card = CARD_MANY, .sql =
    "SELECT minute, requests, errors, refused, classes FROM deployment_minute\n"
    " WHERE tenant_id = $1 AND deployment_id = $2 AND writer_id IS DISTINCT FROM $3 AND minute >= $4\n"
    " ORDER BY minute DESC LIMIT $5" };
const struct stmt *const infer_stats_stmts[] = { &minutes_put, &minutes_read, NULL };

static int64_t flush_turn(void *ctx, bool is_woken)
{
    struct infer_stats *s = ctx;
    struct err e;
    (void)is_woken;
    if (infer_stats_flush(s, clock_wall_us(s->app->clock), &e) != ERR_OK)
        log_err(LOG_WARN, "inference.stats", &e);
    return INFER_FLUSH_MS * INT64_C(1000);
}

struct infer_stats *infer_stats_new(const struct app *app)
{
    struct infer_stats *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->app = app;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->flushing, NULL);
    s->beat = beat_new("infer-stats", INFER_FLUSH_MS * INT64_C(1000), flush_turn, s);
    return s;
}

void infer_stats_free(struct infer_stats *s)
{
    if (!s)
        return;
    beat_free(s->beat);
    (void)flush_turn(s, false);
    for (size_t i = 0; i < s->n; i++)
        free(s->entries[i]);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->flushing);
    free(s);
}

static struct entry *find(struct infer_stats *s, struct uuid tenant_id, struct uuid deployment_id)
{
    for (size_t i = 0; i < s->n; i++)
        if (uuid_eq(s->entries[i]->deployment_id, deployment_id) && uuid_eq(s->entries[i]->tenant_id, tenant_id))
            return s->entries[i];
    return NULL;
}

static struct entry *entry_new(struct infer_stats *s, struct uuid tenant_id, struct uuid deployment_id, int64_t now_us)
{
    struct entry *e = NULL;
    if (s->n < INFER_STATS_MAX) {
        e = s->entries[s->n++] = malloc(sizeof *e);
        ASSERT(e);
    } else {
        for (size_t i = 0; i < s->n; i++)
            if (!e || s->entries[i]->last_us < e->last_us)
                e = s->entries[i];
    }
    memset(e, 0, sizeof *e);
    e->tenant_id = tenant_id;
    e->deployment_id = deployment_id;
    e->writer_id = uuid_v7(now_us);
    return e;
}

static int class_of(int64_t took_us)
{
    double c = took_us > LEAST_US ? PER_OCTAVE * log2((double)took_us / LEAST_US) : 0;
    return c < CLASSES - 1 ? (int)c : CLASSES - 1;
}

void infer_stats_add(struct infer_stats *s, struct uuid tenant_id, struct uuid deployment_id, int64_t now_us, int64_t took_us,
                     enum infer_end end)
{
    int64_t number = now_us / MINUTE_US;
    pthread_mutex_lock(&s->lock);
    struct entry *e = find(s, tenant_id, deployment_id);
    if (!e)
        e = entry_new(s, tenant_id, deployment_id, now_us);
    struct minute *m = &e->minutes[number % MINUTES];
    if (m->number != number)
        *m = (struct minute){ .number = number };
    e->last_us = now_us;
    m->requests++;
    m->errors += end == INFER_FAILED;
    m->refused += end == INFER_REFUSED;
    m->classes[class_of(took_us)] += end == INFER_OK;
    m->is_written = false;
    pthread_mutex_unlock(&s->lock);
}

/* --- writing --- */

static void add_row(struct buf *b, const struct entry *e, const struct minute *m)
{
    char tenant[UUID_TEXT], deployment[UUID_TEXT], writer[UUID_TEXT];
    int last = CLASSES;
    while (last > 0 && !m->classes[last - 1])
        last--;
    uuid_text(e->tenant_id, tenant);
    uuid_text(e->deployment_id, deployment);
    uuid_text(e->writer_id, writer);
    buf_printf(b, "%s{\"tenant_id\":\"%s\",\"deployment_id\":\"%s\",\"writer_id\":\"%s\"", b->len > 1 ? "," : "", tenant,
               deployment, writer);
    buf_printf(b, ",\"minute\":%ld,\"requests\":%lu,\"errors\":%lu,\"refused\":%lu,\"classes\":[", (long)m->number,
               (unsigned long)m->requests, (unsigned long)m->errors, (unsigned long)m->refused);
    for (int c = 0; c < last; c++)
        buf_printf(b, c ? ",%lu" : "%lu", (unsigned long)m->classes[c]);
    buf_add_c(b, "]}");
}

struct taken { struct uuid writer_id; int64_t number; uint64_t requests; };

/* Up to ROWS_AT_ONCE minutes that are not written as they are, as JSON and as what to note once they are. */
static size_t take_rows(struct infer_stats *s, int64_t oldest, struct buf *b, struct taken taken[ROWS_AT_ONCE])
{
    size_t n = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < MINUTES && n < ROWS_AT_ONCE; k++) {
            const struct minute *m = &s->entries[i]->minutes[k];
            if (m->number < oldest || m->is_written)
                continue;
            add_row(b, s->entries[i], m);
            taken[n++] = (struct taken){ s->entries[i]->writer_id, m->number, m->requests };
        }
    pthread_mutex_unlock(&s->lock);
    return n;
}

static void note_written(struct infer_stats *s, const struct taken *t)
{
    for (size_t i = 0; i < s->n; i++) {
        struct minute *m = &s->entries[i]->minutes[t->number % MINUTES];
        if (uuid_eq(s->entries[i]->writer_id, t->writer_id) && m->number == t->number && m->requests == t->requests)
            m->is_written = true;
    }
}

static enum errc put_rows(struct infer_stats *s, struct str rows, int64_t oldest, struct err *e)
{
    struct arena *a = arena_new(FLUSH_ARENA);
    struct work w = { .app = s->app, .arena = a };
    enum errc rc = RUN_SYSTEM(&w, s->app->pool, TX_SINGLE,
                              db_exec(w.tx, &minutes_put, ARGS(A_JSON(rows), A_I64(oldest)), NULL, e), e);
    arena_free(a);
    return rc;
}

enum errc infer_stats_flush(struct infer_stats *s, int64_t now_us, struct err *e)
{
    struct arena *a = arena_new(FLUSH_ARENA);
    struct taken *taken = ARENA_ARRAY(a, struct taken, ROWS_AT_ONCE);
    int64_t oldest = now_us / MINUTE_US - MINUTES + 1;
    enum errc rc = ERR_OK;
    size_t n = ROWS_AT_ONCE;
    pthread_mutex_lock(&s->flushing);
    while (rc == ERR_OK && n == ROWS_AT_ONCE) {
        struct buf b = BUF((size_t)4 << 20);
        buf_add_char(&b, '[');
        n = take_rows(s, oldest, &b, taken);
        buf_add_char(&b, ']');
        if (n)
            rc = put_rows(s, buf_str(&b), oldest, e);
        buf_release(&b);
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < n && rc == ERR_OK; i++)
            note_written(s, &taken[i]);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&s->flushing);
    arena_free(a);
    return rc;
}

/* --- reading --- */

static void add_minute(struct minute *to, const struct minute *m)
{
    to->requests += m->requests;
    to->errors += m->errors;
    to->refused += m->refused;
    for (int c = 0; c < CLASSES; c++)
        to->classes[c] += m->classes[c];
}

static void add_stored(struct minute *to, const struct minute_row *r)
{
    const int64_t *classes = r->classes.items;
    struct minute m = { .requests = (uint64_t)r->requests, .errors = (uint64_t)r->errors, .refused = (uint64_t)r->refused };
    for (size_t c = 0; c < r->classes.n && c < CLASSES; c++)
        m.classes[c] = (uint64_t)classes[c];
    add_minute(to, &m);
}

enum errc infer_stats_load(struct work *w, struct infer_stats *s, struct uuid deployment_id, int64_t counted_from_us,
                           int64_t now_us, const struct infer_hour **ret, struct err *e)
{
    struct infer_hour *h = ARENA_NEW(w->arena, struct infer_hour);
    struct uuid writer_id = UUID_NIL;
    struct slice rows = { 0 };
    int64_t last = now_us / MINUTE_US, first = last - MINUTES + 1;
    h->now_us = now_us;
    h->since_us = first * MINUTE_US > counted_from_us ? first * MINUTE_US : counted_from_us;
    for (int i = 0; i < MINUTES; i++)
        h->minutes[i].number = first + i;
    pthread_mutex_lock(&s->lock);
    const struct entry *own = find(s, w->tenant_id, deployment_id);
    for (int i = 0; own && i < MINUTES; i++)
        if (own->minutes[i].number >= first && own->minutes[i].number <= last)
            add_minute(&h->minutes[own->minutes[i].number - first], &own->minutes[i]);
    if (own)
        writer_id = own->writer_id;
    pthread_mutex_unlock(&s->lock);
    const int64_t most = MINUTES * WRITERS_MAX;
    TRY(db_many(w->tx, &minutes_read,
                ARGS(A_UUID(w->tenant_id), A_UUID(deployment_id), A_UUID(writer_id), A_I64(first), A_I64(most)), &rows,
                (size_t)most, e));
    for (size_t i = 0; i < rows.n; i++) {
        const struct minute_row *r = (const struct minute_row *)rows.items + i;
        if (r->minute >= first && r->minute <= last)
            add_stored(&h->minutes[r->minute - first], r);
    }
    *ret = h;
    return ERR_OK;
}

int64_t infer_hour_since(const struct infer_hour *h)
{
    return h->since_us;
}

/* The middle of the class, in the measure in which classes are equally wide. */
static double percentile_ms(const uint64_t *classes, uint64_t total, double part)
{
    uint64_t rank = (uint64_t)ceil(part * (double)total), seen = 0;
    int c = 0;
    for (; c < CLASSES - 1; c++)
        if ((seen += classes[c]) >= rank)
            break;
    return LEAST_US * exp2((c + 0.5) / PER_OCTAVE) / 1000;
}

static uint64_t total_of(const struct minute *m)
{
    uint64_t total = 0;
    for (int c = 0; c < CLASSES; c++)
        total += m->classes[c];
    return total;
}

void infer_hour_window(const struct infer_hour *h, int minutes, struct infer_window *ret)
{
    struct minute sum = { 0 };
    for (int i = MINUTES - minutes; i < MINUTES; i++)
        add_minute(&sum, &h->minutes[i]);
    int64_t begin = h->minutes[MINUTES - minutes].number * MINUTE_US, from = begin > h->since_us ? begin : h->since_us;
    uint64_t total = total_of(&sum);
    *ret = (struct infer_window){ .minutes = minutes, .requests = (int64_t)sum.requests, .errors = (int64_t)sum.errors,
                                  .refused = (int64_t)sum.refused };
    ret->per_second = h->now_us > from ? (double)sum.requests * 1e6 / (double)(h->now_us - from) : 0;
    ret->has_p50_ms = ret->has_p95_ms = ret->has_p99_ms = total > 0;
    if (total == 0)
        return;
    ret->p50_ms = percentile_ms(sum.classes, total, 0.50);
    ret->p95_ms = percentile_ms(sum.classes, total, 0.95);
    ret->p99_ms = percentile_ms(sum.classes, total, 0.99);
}

static struct infer_minute minute_of(const struct infer_hour *h, const struct minute *m)
{
    int64_t begin = m->number * MINUTE_US, end = begin + MINUTE_US;
    int64_t from = begin > h->since_us ? begin : h->since_us, to = end < h->now_us ? end : h->now_us;
    uint64_t total = total_of(m);
    struct infer_minute ret = { .at = { begin }, .requests = (int64_t)m->requests, .errors = (int64_t)m->errors,
                                .refused = (int64_t)m->refused };
    ret.per_second = (double)m->requests * 1e6 / (double)(to - from > SECOND_US ? to - from : SECOND_US);
    ret.has_p50_ms = ret.has_p95_ms = ret.has_p99_ms = total > 0;
    if (total == 0)
        return ret;
    ret.p50_ms = percentile_ms(m->classes, total, 0.50);
    ret.p95_ms = percentile_ms(m->classes, total, 0.95);
    ret.p99_ms = percentile_ms(m->classes, total, 0.99);
    return ret;
}

size_t infer_hour_minutes(const struct infer_hour *h, struct infer_minute ret[INFER_MINUTES])
{
    size_t n = 0;
    for (int i = 0; i < MINUTES; i++)
        if (n || h->minutes[i].requests)
            ret[n++] = minute_of(h, &h->minutes[i]);
    return n;
}
