/* SPDX-License-Identifier: Apache-2.0 */
/* infer_stats.c - a ring of minutes for each deployment, each with a histogram; found by looking at all, which are few.
 *
 * What is written is what was counted so far, not what came since: a writing whose outcome is not known is repeated without harm.
 * An entry is a writer of its own, so that one which made room and comes back begins rows of its own instead of lowering its old
 * ones. */
#include "serving/infer_stats_int.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t FLUSH_ARENA = (size_t)16 << 20;

static const struct stmt minutes_put = { .name = "deployment_minutes_put", .params = "ji", .card = CARD_NONE, .sql =
    "SELECT FROM deployment_minutes_put($1, $2)" };
const struct stmt *const infer_stats_stmts[] = { &minutes_put, &infer_minutes_read, NULL };

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

struct entry *infer_stats_find(struct infer_stats *s, struct uuid tenant_id, struct uuid deployment_id)
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

int infer_class(int64_t took_us)
{
    double c = took_us > INFER_LEAST_US ? PER_OCTAVE * log2((double)took_us / INFER_LEAST_US) : 0;
    return c < CLASSES - 1 ? (int)c : CLASSES - 1;
}

void infer_stats_add(struct infer_stats *s, struct uuid tenant_id, struct uuid deployment_id, int64_t now_us, int64_t took_us,
                     enum infer_end end, const struct infer_text *text)
{
    int64_t number = now_us / MINUTE_US;
    pthread_mutex_lock(&s->lock);
    struct entry *e = infer_stats_find(s, tenant_id, deployment_id);
    if (!e)
        e = entry_new(s, tenant_id, deployment_id, now_us);
    struct minute *m = &e->minutes[number % MINUTES];
    if (m->number != number)
        *m = (struct minute){ .number = number };
    e->last_us = now_us;
    m->requests++;
    m->errors += end == INFER_FAILED;
    m->refused += end == INFER_REFUSED;
    m->classes[infer_class(took_us)] += end == INFER_OK;
    if (text && text->tokens > 0) {
        m->tokens += (uint64_t)text->tokens;
        m->first[infer_class(text->first_us)]++;
        for (int c = 0; c < CLASSES; c++)
            m->gaps[c] += text->gaps[c];
    }
    m->is_written = false;
    pthread_mutex_unlock(&s->lock);
}

/* --- writing --- */

static void add_classes(struct buf *b, const char *name, const uint32_t *classes)
{
    int last = CLASSES;
    while (last > 0 && !classes[last - 1])
        last--;
    buf_printf(b, ",\"%s\":[", name);
    for (int c = 0; c < last; c++)
        buf_printf(b, c ? ",%lu" : "%lu", (unsigned long)classes[c]);
    buf_add_char(b, ']');
}

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
    buf_printf(b, "],\"tokens\":%lu", (unsigned long)m->tokens);
    add_classes(b, "first_classes", m->first);
    add_classes(b, "gap_classes", m->gaps);
    buf_add_char(b, '}');
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
